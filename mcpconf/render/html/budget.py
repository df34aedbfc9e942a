"""
Transcripts, packed into a page of bounded size.

Every case is compressed by itself, so that a page opens at once and unpacks what is
looked at. Where all of it would be too much, bodies and then messages are cut, of what
passed before of what failed; what was cut is said where it is missing.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.render.html.text import shown_all
from mcpconf.render.html.transcript import Way

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from mcpconf.decode import Json
    from mcpconf.render.html.transcript import Moment, Step, Transcript

#: Bytes that all transcripts of one page may take, as they stand in it.
TRANSCRIPT_BYTES = 3_500_000
#: Of one string; more than a share can ask for.
_CHARACTERS = 200_000
_ARROWS = {Way.TO_SERVER: ">", Way.TO_CLIENT: "<", Way.ASIDE: "-"}


@dataclass(frozen=True, slots=True)
class Share:
    """How much of one case is kept."""

    #: Messages and events.
    moments: int
    #: Characters of a body, headers, or a value.
    characters: int


#: Shares of a case that did not pass and of one that did; the first that fits is taken.
SHARES = (
    (Share(5_000, 16_000), Share(5_000, 16_000)),
    (Share(2_000, 16_000), Share(400, 6_000)),
    (Share(1_000, 8_000), Share(200, 2_000)),
    (Share(400, 4_000), Share(60, 600)),
    (Share(150, 1_000), Share(20, 200)),
    (Share(60, 200), Share(0, 0)),
    (Share(0, 0), Share(0, 0)),
)


def packed(value: object) -> str:
    """A value as base64 of zlib of JSON: equal values are equal text."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def pack_transcripts(
    transcripts: Mapping[str, Transcript],
    failed: Collection[str],
    limit: int = TRANSCRIPT_BYTES,
) -> dict[str, str]:
    """
    Every transcript, packed, in at most `limit` bytes together.

    `failed` names those that get the larger share. Only where even the fact that they
    were cut takes more than `limit` is that exceeded.
    """
    found: dict[str, str] = {}
    for larger, smaller in SHARES:
        found = {
            name: packed(_value(each, larger if name in failed else smaller))
            for name, each in transcripts.items()
        }
        if sum(map(len, found.values())) <= limit:
            break
    return found


def _value(transcript: Transcript, share: Share) -> Json:
    """The form the page's script reads; times are relative to the first moment."""
    starts = [each.t_ms for each in transcript.moments]
    starts += [each.t_ms for each in transcript.steps if each.t_ms is not None]
    start = min(starts, default=0.0)
    moments = transcript.moments[: share.moments]
    value: Json = {
        "evidence": transcript.evidence,
        "missing": transcript.missing,
        "faults": list(transcript.faults),
        "steps": [_step(each, share, start) for each in transcript.steps],
        "moments": [_moment(each, share, start) for each in moments],
        "left": len(transcript.moments) - len(moments),
        "endings": list(transcript.endings),
        "end": transcript.client_end,
    }
    # Whoever made it: no character of it acts on the page.
    return shown_all(value, _CHARACTERS)


def _step(step: Step, share: Share, start: float) -> dict[str, Json]:
    value, more = _cut(step.value, share)
    return {
        "name": step.name,
        "state": step.state,
        "detail": _cut(step.detail, share)[0],
        "t": None if step.t_ms is None else round(step.t_ms - start, 1),
        "took": step.took_ms,
        "value": value,
        "cut": more,
    }


def _moment(moment: Moment, share: Share, start: float) -> dict[str, Json]:
    body, more = _cut(moment.body, share)
    headers, _ = _cut(moment.headers, share)
    value: dict[str, Json] = {
        "t": round(moment.t_ms - start, 1),
        "way": _ARROWS[moment.way],
        "label": moment.label,
        "kind": moment.kind,
        "party": moment.party,
        "carrier": moment.carrier,
        "headers": headers,
        "body": body,
        "size": moment.size,
        "cut": "; ".join(filter(None, (more, moment.cut))),
    }
    return {name: each for name, each in value.items() if each not in {"", None}}


def _cut(text: str, share: Share) -> tuple[str, str]:
    if len(text) <= share.characters:
        return text, ""
    return text[: share.characters], f"{len(text) - share.characters} characters cut"
