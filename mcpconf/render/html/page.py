"""
One report, one file: styles, scripts and data inside, and nothing fetched.

The file's own policy (CSP) allows the very styles and scripts that are in it, by
digest, and nothing else: text of a client that became markup would still not run.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from mcpconf.render.html.budget import TRANSCRIPT_BYTES, pack_transcripts, packed
from mcpconf.render.html.gate import view_gate
from mcpconf.render.html.model import (
    OUTCOMES,
    SOURCES,
    attributions,
    cells_of,
    choices_of,
    failures_of,
    groups_of,
)
from mcpconf.render.html.text import shown, shown_all
from mcpconf.view import role_word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.decode import Json
    from mcpconf.render.html.model import Cell
    from mcpconf.render.html.transcript import Transcript

_TEMPLATE = "page.html.j2"
_STYLE = "page.css"
#: In the head: whether there are scripts must be known before anything is drawn.
_FIRST = "first.js"
_SCRIPTS = ("dom.js", "data.js", "filter.js", "wire.js", "panel.js", "main.js")
_VERDICTS = {
    "CONFORMANT": "Conformant",
    "NOT_CONFORMANT": "Not conformant",
    "INCONCLUSIVE": "Inconclusive",
}
_META = 400


@cache
def _asset(name: str) -> str:
    place = resources.files("mcpconf.render.html") / "page" / name
    return place.read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _digest(text: str) -> str:
    found = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{found}'"


def _policy(style: str, *scripts: str) -> str:
    allowed = " ".join(map(_digest, scripts))
    return (
        f"default-src 'none'; style-src {_digest(style)}; script-src {allowed}; "
        "base-uri 'none'; form-action 'none'"
    )


def _embedded(value: Mapping[str, object]) -> Markup:
    """JSON for a script element: no character of it can end the element."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    for each in "<>&":
        text = text.replace(each, f"\\u{ord(each):04x}")
    return Markup(text)  # noqa: S704 (escaped in the line above)


def _moment(stamp: str) -> str:
    """``2026-11-30 15:31:27 UTC``; what is no time stays as it is."""
    try:
        return f"{datetime.fromisoformat(stamp).astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    except ValueError:
        return stamp


def _took(begun: str, ended: str | None) -> str:
    if ended is None:
        return "not known: it never finished"
    try:
        taken = datetime.fromisoformat(ended) - datetime.fromisoformat(begun)
    except (TypeError, ValueError):
        return f"until {ended}"
    minutes, seconds = divmod(round(taken.total_seconds()), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def _lead(cells: Sequence[Cell]) -> str:
    """The results in one sentence."""
    counts = Counter(each.outcome for each in cells)
    others = ", ".join(
        f"{counts[name]} {word}"
        for name, word in OUTCOMES.items()
        if counts[name] and name != "passed"
    )
    noun = "result" if len(cells) == 1 else "results"
    passed = f"{counts['passed']} of {len(cells)} {noun} passed"
    return f"{passed}; {others}." if others else f"{passed}."


def _head(report: Mapping[str, Any]) -> Json:
    """What the head of the page says of the run."""
    official = report["officialConformance"]
    closing = report["closing"] or {}
    ports = closing.get("openPorts", ())
    value: dict[str, Json] = {
        "verdict": _VERDICTS.get(report["verdict"], report["verdict"]),
        "tone": report["verdict"].lower(),
        "complete": report["complete"],
        "role": role_word(report),
        "client": report["client"].get("title") or report["client"].get("name"),
        "version": report["codexVersion"],
        "suite": official["gitRef"],
        "scope": official["scope"],
        "auth": "strict" if report["automaticAuthRequired"] else "assisted",
        "warnings": report["policy"]["warnings"],
        "revision_policy": report["policy"]["revision"],
        "run": report["run"]["id"],
        "shards": list(report["run"].get("shards", ())),
        "tool": report["run"]["mcpconf"],
        "started": _moment(report["startedAt"]),
        "took": _took(report["startedAt"], report["finishedAt"]),
        "problems": [
            *closing.get("faults", ()),
            *(f"port {port} still answers" for port in ports),
            *(f"{name} was not deleted" for name in closing.get("temporary", ())),
        ],
    }
    return shown_all(value, _META)


def render(
    report: Mapping[str, Any],
    transcripts: Mapping[str, Transcript],
    gate: Mapping[str, Any] | None = None,
    *,
    transcript_bytes: int = TRANSCRIPT_BYTES,
) -> str:
    """
    A report of schema 4 as one HTML file; equal input gives equal text.

    `transcripts` are those of `load_transcripts`; a case without one says so. `gate` is
    a stored ``gate.json``. All transcripts together take at most `transcript_bytes`.
    The text has no lone surrogate: it can be written as UTF-8.
    """
    groups = groups_of(report)
    whose = attributions(role_word(report))
    cells = tuple(cells_of(groups))
    failed = {shown(each.evidence) for each in cells if each.is_failure}
    named = {shown(name): each for name, each in transcripts.items()}
    data = {
        "report": packed(
            {
                "cells": {each.key: each.value for each in cells},
                "outcomes": OUTCOMES,
                "attributions": whose,
                "sources": SOURCES,
            }
        ),
        "transcripts": pack_transcripts(named, failed, transcript_bytes),
    }
    style, first = _asset(_STYLE), _asset(_FIRST)
    script = "\n".join(map(_asset, _SCRIPTS))
    return (
        _environment()
        .get_template(_TEMPLATE)
        .render(
            policy=Markup(_policy(style, first, script)),  # noqa: S704 (digests)
            style=Markup(style),  # noqa: S704 (ours)
            first=Markup(first),  # noqa: S704 (ours)
            script=Markup(script),  # noqa: S704 (ours)
            data=_embedded(data),
            head=_head(report),
            gate=None
            if gate is None
            else view_gate(gate, {each.key for each in cells}),
            groups=groups,
            choices=choices_of(groups, role_word(report)),
            outcomes=OUTCOMES,
            attributions=whose,
            failures=tuple(failures_of(groups)),
            total=len(cells),
            lead=_lead(cells),
        )
    )
