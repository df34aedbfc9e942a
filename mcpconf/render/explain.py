"""One check on a terminal: what it asks, what is expected of it, what was seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.render.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpconf.baseline.explain import CheckExplained, Demand, Expected, Latest

#: Characters of one text of others.
_TEXT = 1000


def render_explained(explained: CheckExplained) -> str:
    """The whole page."""
    parts = ["\n".join(_head(explained))]
    groups = (
        ("What it asks", (_demand(each) for each in explained.demands)),
        ("What the baseline expects", (_expected(each) for each in explained.expected)),
        ("What the report says", (_latest(each) for each in explained.latest)),
    )
    for title, texts in groups:
        lines = [line for text in texts for line in text]
        if lines:
            parts.append("\n".join([title, *lines]))
    parts.append(f"Run it again\n  {explained.reproduce}")
    return printable("\n\n".join(parts)) + "\n"


def _head(explained: CheckExplained) -> Iterator[str]:
    yield f"{explained.ref} ({', '.join(explained.sources)})"
    if explained.title is not None:
        yield f"Served:  {explained.title}"
    yield f"Applies: {', '.join(str(each) for each in explained.legs)}"


def _demand(demand: Demand) -> Iterator[str]:
    level = f"{demand.level}: " if demand.level is not None else ""
    yield f"  {', '.join(demand.revisions)}"
    yield f"    {level}{one_line(demand.sentence, _TEXT)}"
    if demand.looks_for is not None:
        yield f"    Looked for: {one_line(demand.looks_for, _TEXT)}"
    for page in demand.pages:
        yield f"    Page: {one_line(page, _TEXT)}"


def _expected(expected: Expected) -> Iterator[str]:
    yield f"  {expected.leg}: {expected.state}"
    why = expected.explanation
    if why is None:
        return
    whose = f"{why.failure_class.value}, since {why.since}"
    yield f"    {whose}: {one_line(why.reason, _TEXT)}"
    if why.link is not None:
        yield f"    Link: {one_line(why.link, _TEXT)}"
    if why.expires is not None:
        yield f"    Refused from {why.expires} on"


def _latest(latest: Latest) -> Iterator[str]:
    yield f"  {latest.leg}: {latest.state} ({latest.outcome})"
    yield f"    {one_line(latest.detail, _TEXT)}"
    yield f"    Evidence: {one_line(latest.evidence, _TEXT)}"
