"""
A report as GitHub workflow commands: what a reader of a pull request has to see.

GitHub shows ten errors, ten warnings and ten notices a step, so the worst come first
and the last line counts the rest. A command is one line whatever a client wrote: line
ends, and what ends a title, are escaped as the runner demands.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from mcpconf.render import failure
from mcpconf.render.text import one_line
from mcpconf.render.view import GROUPS, RED_GROUPS, by_case, identity_in, trouble, warns
from mcpconf.view import views

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from mcpconf.view import CheckView

    Report = Mapping[str, Any]
    Gate = Mapping[str, Any]

#: What GitHub shows of each level in one step.
LIMIT = 10
_TITLE, _MESSAGE, _COMMAND = 150, 400, 4_000
_LEVELS_BY_GROUP = {"flaky": "warning", "warnings": "notice"}


class Level(StrEnum):
    """How loud an annotation is."""

    ERROR = "error"
    WARNING = "warning"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Annotation:
    level: Level
    title: str
    lines: tuple[str, ...]
    #: The command that runs it again; never clipped.
    again: str | None = None

    def __str__(self) -> str:
        # Each line is clean by itself; the line ends between them are ours.
        lines = [one_line(line, _MESSAGE) for line in self.lines]
        if self.again is not None:
            lines.append(f"again: {one_line(self.again, _COMMAND)}")
        title = _property(one_line(self.title, _TITLE))
        return f"::{self.level} title={title}::{_data(chr(10).join(lines))}"


def render(report: Report, gate: Gate | None = None, *, limit: int = LIMIT) -> str:
    """
    One command a line: at most `limit`, and one that counts what was left out.

    Empty where there is nothing to say.
    """
    found = list(_of_report(report) if gate is None else _of_gate(gate))
    found.sort(key=lambda each: tuple(Level).index(each.level))  # stable
    shown = found[:limit]
    if found[limit:]:
        left = {
            level: sum(each.level is level for each in found[limit:]) for level in Level
        }
        counts = ", ".join(
            f"{number} {level}s" for level, number in left.items() if number
        )
        rest = f"{len(found) - limit} more: {counts}. The report has them all."
        shown.append(
            _Annotation(level=Level.NOTICE, title="MCP conformance", lines=(rest,))
        )
    return "".join(f"{each}\n" for each in shown)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# -- with a gate: only what it finds ---------------------------------------------------


def _of_gate(gate: Gate) -> Iterator[_Annotation]:
    for sentence in trouble(gate):
        title = f"MCP gate {gate['verdict']}"
        yield _Annotation(level=Level.ERROR, title=title, lines=(sentence,))
    for group in (*RED_GROUPS, "flaky", "warnings"):
        level = Level(_LEVELS_BY_GROUP.get(group, "error"))
        for findings in by_case(gate[group]):
            yield _findings(level, GROUPS[group], findings)


def _findings(
    level: Level, what: str, findings: list[Mapping[str, Any]]
) -> _Annotation:
    """One for all findings of a kind in one scenario, or a crash would be all of it."""
    first = findings[0]
    return _Annotation(
        level=level,
        title=f"{what}: {identity_in(first)}",
        lines=(first["detail"], *_more(findings), *_pages(first["pages"])),
        again=first["reproduce"],
    )


def _more(alike: Sequence[object]) -> Iterator[str]:
    if alike[1:]:
        checks = "check" if len(alike) == 2 else "checks"  # noqa: PLR2004 (it and one)
        yield f"and {len(alike) - 1} more {checks} of this scenario"


def _pages(pages: Iterable[str]) -> Iterator[str]:
    yield from (f"page: {page}" for page in pages)


# -- without one: what failed, and why there is no verdict -----------------------------


def _of_report(report: Report) -> Iterator[_Annotation]:
    if report["verdict"] == "INCONCLUSIVE":
        why = [line.strip() for line in failure.no_verdict(report)]
        why += [line.strip() for line in failure.unclosed(report)]
        if not report["complete"] or not why:
            why.insert(0, "not every case has run")
        for line in why:
            title = "MCP conformance: INCONCLUSIVE"
            yield _Annotation(level=Level.ERROR, title=title, lines=(line,))
    for case in report["cases"]:
        for alike in failure.by_scenario(case, "FAIL"):
            yield _scenario(alike)
    for case in report["cases"]:
        for view in filter(warns, views(case)):
            title = f"warning: {view.identity}"
            lines = (view.check["detail"],)
            yield _Annotation(level=Level.NOTICE, title=title, lines=lines)


def _scenario(alike: list[CheckView]) -> _Annotation:
    """One for all failed checks of a scenario; a warning where it only warns."""
    worst = min(alike, key=lambda each: each.is_warning)  # the first that is none
    outcome = worst.scenario["outcome"]
    detail = failure.clip(worst.check["detail"])
    pages = failure.pages_of([worst.check])
    return _Annotation(
        level=Level.WARNING if outcome == "flaky" or worst.is_warning else Level.ERROR,
        title=f"{outcome}: {worst.identity}",
        lines=(detail, *_more(alike), *_pages(pages)),
        again=worst.check["reproduce"],
    )
