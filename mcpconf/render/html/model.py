"""
A report as what a page shows: tables of cells, filters with counts, and failures.

Every string of a client or a suite goes through `shown` here, once; the template and
the script only place text.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcpconf.render.html.text import clipped, shown, shown_all

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Characters of one string of the report.
DETAIL = 6_000
#: Outcomes, worst first; what is named for the reader.
OUTCOMES = {
    "failed": "failed",
    "crashed": "crashed",
    "timed-out": "timed out",
    "unobserved": "unobserved",
    "flaky": "flaky",
    "harness-error": "harness error",
    "suite-defect": "suite defect",
    "not-run": "not run",
    "unsupported": "unsupported",
    "not-applicable": "not applicable",
    "passed": "passed",
}
_OTHERS = {"adapter": "the driver", "harness": "the harness", "suite": "the suite"}
SOURCES = {
    "official": "official suite",
    "supplemental": "mcpconf's own",
    "harness": "harness checks",
}
_TITLES = {"official": "The official suite", "supplemental": "mcpconf's own scenarios"}
_TRANSPORTS = {"stdio": "stdio", "http": "HTTP", "official-http": "HTTP"}
#: Outcomes that are listed with the failures.
_QUIET = {"passed", "unsupported", "not-applicable"}
#: Failing checks that the list for print shows of one case, and of all.
_LISTED, _LISTED_IN_ALL = 25, 1_500
_DETAIL_LISTED = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One case: a scenario in one leg."""

    #: ``stdio/2025-11-25/cancellation``, with ``@variant``: its deep link.
    key: str
    leg: str
    scenario: str
    outcome: str
    attribution: str
    #: Sources of its failing checks; of all where none fails.
    sources: tuple[str, ...]
    passed: int
    total: int
    not_scored: str
    #: What the panel shows, checks included; plain JSON.
    value: Mapping[str, Any]
    evidence: str

    @property
    def href(self) -> str:
        """The fragment that opens it, which is an id of the static list too."""
        return f"#/{quote(self.key, safe='/@:')}"

    @property
    def word(self) -> str:
        """Its outcome in words."""
        return OUTCOMES.get(self.outcome, self.outcome)

    @property
    def count(self) -> str:
        """``12`` where all checks pass, else ``3/12``; empty where nothing ran."""
        if not self.total or self.outcome in {"not-run", "not-applicable"}:
            return ""
        if self.passed == self.total:
            return str(self.total)
        return f"{self.passed}/{self.total}"

    @property
    def is_failure(self) -> bool:
        """Whether the list of failures has it."""
        return self.outcome not in _QUIET


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One scenario in all its legs; None where a leg does not have it."""

    scenario: str
    variant: str
    note: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One leg, and how many of its scenarios passed."""

    transport: str
    revision: str
    passed: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The scenarios of one source, as a table."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One value of a filter, and how many cells have it."""

    value: str
    label: str
    count: int


def key_of(transport: str, revision: str, scenario: str, variant: str | None) -> str:
    """The name of a cell in links and data."""
    suffix = f"@{variant}" if variant else ""
    return shown(f"{transport}/{revision}/{scenario}{suffix}")


def groups_of(report: Mapping[str, Any]) -> tuple[Group, ...]:
    """A table for the official suite and one for ours, where there are any."""
    found = []
    for name, title in _TITLES.items():
        legs = [
            (case, [each for each in case["scenarios"] if each["source"] == name])
            for case in report["cases"]
        ]
        legs = [(case, scenarios) for case, scenarios in legs if scenarios]
        if legs:
            found.append(_group(name, title, legs))
    return tuple(found)


def _group(
    name: str,
    title: str,
    legs: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]],
) -> Group:
    rows: dict[tuple[str, str], list[Cell | None]] = {}
    columns = []
    for index, (case, scenarios) in enumerate(legs):
        checks = _checks_by_scenario(case)
        for scenario in scenarios:
            row = (scenario["scenario"], scenario["variant"] or "")
            cells = rows.setdefault(row, [None] * len(legs))
            cells[index] = _cell(case, scenario, checks.get(row, []))
        outcomes = [each["outcome"] for each in scenarios]
        columns.append(
            Column(
                transport=_TRANSPORTS.get(case["transport"], shown(case["transport"])),
                revision=shown(case["mode"]),
                passed=outcomes.count("passed"),
                total=len(outcomes),
            )
        )
    return Group(
        name=name,
        title=title,
        columns=tuple(columns),
        rows=tuple(
            Row(
                scenario=shown(scenario),
                variant=shown(variant),
                note=_row_note(cells),
                cells=tuple(cells),
            )
            for (scenario, variant), cells in rows.items()
        ),
    )


def _row_note(cells: Sequence[Cell | None]) -> str:
    """Why a scenario counts in none of its legs."""
    reasons = {each.not_scored for each in cells if each}
    return next(iter(reasons)) if len(reasons) == 1 else ""


def _checks_by_scenario(
    case: Mapping[str, Any],
) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """The checks of each case; that of a variant bears the variant as its id."""
    variants = {
        (each["scenario"], each["variant"])
        for each in case["scenarios"]
        if each["variant"]
    }
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for check in (*case["checks"], *case["notScored"]):
        row = (check["scenario"] or "", check["check_id"] or "")
        is_variant = check["source"] == "supplemental" and row in variants
        found.setdefault(row if is_variant else (row[0], ""), []).append(check)
    return found


def _cell(
    case: Mapping[str, Any],
    scenario: Mapping[str, Any],
    checks: Sequence[Mapping[str, Any]],
) -> Cell:
    failing = [each for each in checks if each["status"] == "FAIL"]
    merged: Any = {**scenario, "checks": list(checks)}
    value: Any = shown_all(merged, DETAIL)
    variant = scenario["variant"]
    leg = f"{_TRANSPORTS.get(case['transport'], case['transport'])} {case['mode']}"
    return Cell(
        key=key_of(case["transport"], case["mode"], scenario["scenario"], variant),
        leg=shown(leg),
        scenario=shown(scenario["scenario"] + (f"@{variant}" if variant else "")),
        outcome=shown(scenario["outcome"]),
        attribution=shown(scenario["attribution"] or ""),
        sources=tuple(sorted({each["source"] for each in failing or checks}))
        or (scenario["source"],),
        passed=sum(each["status"] == "PASS" for each in checks),
        total=len(checks),
        not_scored=shown(scenario["not_scored"] or ""),
        value=value,
        evidence=scenario["evidence"],
    )


def cells_of(groups: Sequence[Group]) -> Iterator[Cell]:
    """Every cell of every table."""
    for group in groups:
        for row in group.rows:
            yield from filter(None, row.cells)


def attributions(role: str) -> dict[str, str]:
    """Whose doing something is, in words; `role` is of the program under test."""
    return {"subject": f"the {role}", **_OTHERS}


def choices_of(groups: Sequence[Group], role: str) -> dict[str, tuple[Choice, ...]]:
    """The filters: each value that occurs, with its count."""
    cells = tuple(cells_of(groups))
    named = (
        ("outcome", OUTCOMES, Counter(each.outcome for each in cells)),
        (
            "attribution",
            attributions(role),
            Counter(each.attribution for each in cells),
        ),
        ("source", SOURCES, Counter(s for each in cells for s in each.sources)),
    )
    return {
        name: tuple(
            Choice(value=value, label=labels.get(value, value), count=counts[value])
            for value in (*labels, *sorted(set(counts) - {*labels, ""}))
            if counts[value]
        )
        for name, labels, counts in named
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCheck:
    """One check that failed, as the list of failures shows it."""

    name: str
    level: str
    is_warning: bool
    detail: str
    demand: str
    pages: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One case that did not pass, for paper and for readers without scripts."""

    cell: Cell
    checks: tuple[FailedCheck, ...]
    #: Failing checks that are not listed.
    left: int


def failures_of(groups: Sequence[Group]) -> Iterator[Failure]:
    """Every case that did not pass, with as many failing checks as a page can bear."""
    room = _LISTED_IN_ALL
    for cell in cells_of(groups):
        if not cell.is_failure:
            continue
        failing = [each for each in cell.value["checks"] if each["status"] == "FAIL"]
        listed = failing[: min(_LISTED, room)]
        room -= len(listed)
        yield Failure(
            cell=cell,
            checks=tuple(map(_failed_check, listed)),
            left=len(failing) - len(listed),
        )


def _failed_check(check: Mapping[str, Any]) -> FailedCheck:
    return FailedCheck(
        name=check["check_id"] or check["name"],
        level=check.get("level") or "",
        is_warning=check.get("suite_status") == "WARNING",
        detail=clipped(check["detail"] or "", _DETAIL_LISTED),
        demand=check.get("demand") or "",
        pages=tuple(check.get("pages", ())),
    )
