"""What a message is in a few words, and how a body, headers and sizes are shown."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.render.html.text import clipped, shown
from mcpconf.wire_message import Kind, read_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.decode import Json
    from mcpconf.wire_message import Message, Side

#: Characters of one body that a page may ever hold; its budget may keep fewer.
KEPT = 16_000
_HEADERS_KEPT = 4_000
_LABEL = 160
TORN = "The log is torn: there was more than is here."


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One JSON value on the wire, read."""

    #: The messages in it; none where it is JSON of another kind.
    messages: tuple[Message, ...]
    label: str
    kind: str
    body: str
    cut: str


def read_spoken(side: Side, exchange: int, value: Json) -> Spoken:
    """What one JSON value says; `exchange` is -1 on stdio."""
    messages = tuple(read_value(side, exchange, value))
    label, kind = _told(messages[0]) if messages else ("JSON, and no message", "other")
    if messages[1:]:
        label += f" and {len(messages) - 1} more in a batch"
    body, cut = body_of(json.dumps(value, ensure_ascii=False, indent=2))
    return Spoken(messages=messages, label=short(label), kind=kind, body=body, cut=cut)


def _told(message: Message) -> tuple[str, str]:
    number = "" if message.id is None else f" #{message.id}"
    if message.kind is Kind.REQUEST:
        name = message.params.get("name") or message.params.get("uri")
        of = f" {name}" if isinstance(name, str) else ""
        return f"{message.method}{of}{number}", "request"
    if message.kind is Kind.NOTIFICATION:
        return f"{message.method}", "notification"
    if message.kind is Kind.RESPONSE:
        return f"result{number}", "result"
    if message.kind is Kind.ERROR:
        error = message.payload.get("error")
        known = error if isinstance(error, dict) else {}
        return f"error{number} {known.get('code')} {known.get('message')}", "error"
    return "neither a request nor an answer", "other"


def short(text: str) -> str:
    """One line of a label."""
    return clipped(" ".join(shown(text).split()), _LABEL)


def body_of(text: str) -> tuple[str, str]:
    """A body as far as a page may hold it, and what of it is missing, in words."""
    text = shown(text)
    if len(text) <= KEPT:
        return text, ""
    return text[:KEPT], f"{len(text) - KEPT} more characters"


def headers_text(headers: Mapping[str, Sequence[str]]) -> str:
    """A header a line, as they stand on the wire."""
    lines = (f"{name}: {each}" for name, values in headers.items() for each in values)
    return clipped(shown("\n".join(lines)), _HEADERS_KEPT)
