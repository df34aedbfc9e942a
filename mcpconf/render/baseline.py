"""Baselines for a reviewer: how one differs from a report, and what was made of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabulate import tabulate

from mcpconf.baseline.entry import ExpectedUnsupported
from mcpconf.render.text import one_line, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpconf.baseline.diff import BaselineDiff, DiffRow
    from mcpconf.baseline.extract import Entry, Extraction

#: Characters of a detail: enough to know it again, and one line of a table.
_DETAIL = 60
_HEADERS = ["Leg", "Check", "Baseline", "Report", "What the report says"]
#: Passing checks that are named before they are counted.
_NAMED = 20


def render_diff(diff: BaselineDiff) -> str:
    """Every difference, the worst first, as tables."""
    groups = (
        ("New: fails or warns, and is not expected to", diff.new),
        ("Missing: expected, and neither passed nor failed", diff.missing),
        ("Changed: expected to fail, and fails in another way", diff.changed),
        ("Fixed: expected to fail, and passes", diff.fixed),
    )
    parts = [f"{title} ({len(rows)})\n{_rows(rows)}" for title, rows in groups if rows]
    if diff.added:
        parts.append("\n".join(_added(diff.added)))
    if diff.is_empty and not diff.caveats:
        parts.append("The report says what the baseline says.")
    for title, lines in (
        ("Not of the same kind", diff.caveats),
        ("Not compared", diff.not_compared),
    ):
        if lines:
            parts.append("\n".join([title, *(f"  {each}" for each in lines)]))
    return printable("\n\n".join(parts)) + "\n"


def _rows(rows: Sequence[DiffRow]) -> str:
    values = [
        [
            str(row.identity.leg),
            row.identity.ref,
            row.before,
            row.after,
            _detail(row),
        ]
        for row in rows
    ]
    return _table(_HEADERS, values)


def _detail(row: DiffRow) -> str:
    """What is so now; and why something was expected, where the baseline says."""
    said = one_line(row.detail, _DETAIL)
    return f"{said} (was: {one_line(row.reason, _DETAIL)})" if row.reason else said


def _table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    # Other people's texts: a line end, or the like, would break the table.
    cells = [[one_line(each, 200) for each in row] for row in rows]
    return tabulate(cells, headers, tablefmt="simple", disable_numparse=True)


def _added(rows: Sequence[DiffRow]) -> Iterator[str]:
    yield f"Added: passes, and is in no list yet ({len(rows)})"
    for row in rows[:_NAMED]:
        yield f"  {one_line(str(row.identity), 200)}"
    if len(rows) > _NAMED:
        yield f"  and {len(rows) - _NAMED} more"


def render_extraction(extraction: Extraction) -> str:
    """What a new baseline holds, and what in it is left for a person to do."""
    baseline = extraction.baseline
    counts = [
        ["Passing", str(len(baseline.passing))],
        ["Expected to fail or to warn", str(len(baseline.failing))],
        ["Scenarios expected to be unsupported", str(len(baseline.unsupported))],
        ["Reasons carried over", str(len(extraction.carried))],
    ]
    parts = [tabulate(counts, tablefmt="plain", disable_numparse=True)]
    groups = (
        ("To review: no reason yet", extraction.unreasoned),
        ("Look again: fails in another way than its reason says", extraction.changed),
        ("Dropped: expected no more", extraction.dropped),
    )
    parts += [
        f"{title} ({len(entries)})\n{_entries(entries)}"
        for title, entries in groups
        if entries
    ]
    if extraction.lost:
        names = "\n".join(f"  {one_line(str(each), 200)}" for each in extraction.lost)
        parts.append(
            f"LOST: passed, and does no more ({len(extraction.lost)})\n{names}"
        )
    return printable("\n\n".join(parts)) + "\n"


def _entries(entries: Sequence[Entry]) -> str:
    return _table(
        ["Leg", "Check", "State", "Reason"], [_entry(each) for each in entries]
    )


def _entry(entry: Entry) -> list[str]:
    explanation = entry.explanation
    is_reviewed = explanation is not None and explanation.is_reviewed
    reason = (
        one_line(explanation.reason, _DETAIL) if explanation and is_reviewed else "-"
    )
    if isinstance(entry, ExpectedUnsupported):
        return [str(entry.leg), entry.scenario, "unsupported", reason]
    identity = entry.identity
    return [
        str(identity.leg),
        identity.ref,
        f"{entry.state.value} ({entry.outcome})",
        reason,
    ]
