"""
Rows of scenarios become a report: legs, verdicts, sums.

A row is one case as a report holds it. What a run makes and what a merge of shards
reads are the same rows, so both give the same report.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpconf import summary
from mcpconf.record import Attribution, Outcome, Source, Verdict
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.errors import ExitCode
    from mcpconf.selection import Selection
    from mcpconf.suite.catalogue import Catalogue

#: The groups of a report's cases in order, and the original's word for each.
LABELS = {
    (Source.SUPPLEMENTAL, Transport.STDIO): "stdio",
    (Source.SUPPLEMENTAL, Transport.HTTP): "http",
    (Source.OFFICIAL, Transport.HTTP): "official-http",
}
#: Of a leg's diagnostics, the last of which are kept.
_DIAGNOSTICS = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report and what it amounts to."""

    value: dict[str, Any]
    verdict: Verdict

    @property
    def exit_code(self) -> ExitCode:
        """What the process ends with."""
        return self.verdict.exit_code


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case of a report: its scenario's entry, and its checks."""

    #: One of `LABELS`.
    transport: str
    revision: str
    scenario: Mapping[str, Any]
    checks: tuple[Mapping[str, Any], ...]

    @property
    def counts(self) -> bool:
        """Whether its checks count; a variant's does, as a supplemental one."""
        scenario = self.scenario
        return scenario["not_scored"] is None or scenario["variant"] is not None


def assemble(
    head: Mapping[str, Any],
    rows: Sequence[Row],
    selection: Selection,
    catalogue: Catalogue,
    closing: Mapping[str, Any] | None,
) -> Report:
    """
    The report of `rows`, which are in the order of the plan.

    `head` has the members that say who was judged, by what; `closing` is None while the
    run goes on.
    """
    complete = closing is not None and closing["complete"]
    verdicts = [] if complete else [Verdict.INCONCLUSIVE]
    if closing and any(closing[each] for each in ("openPorts", "temporary", "faults")):
        verdicts.append(Verdict.INCONCLUSIVE)
    built = []
    for transport in LABELS.values():
        for revision in selection.revisions:
            mine = [
                row
                for row in rows
                if (row.transport, row.revision) == (transport, revision.value)
            ]
            if mine:
                verdict = _verdict_of(mine)
                built.append(_case(transport, revision.value, mine, verdict))
                if not _is_beside(mine, rows):
                    verdicts.append(verdict)
    verdict = _combined(verdicts)
    passed = sum(case["success"] for case in built)
    value = {
        **head,
        "success": verdict is Verdict.CONFORMANT,
        "verdict": verdict.value,
        "complete": complete,
        "officialConformance": {
            **head["officialConformance"],
            **_scope(rows, selection, catalogue),
        },
        "summary": {
            "passed": passed,
            "failed": len(built) - passed,
            "total": len(built),
        },
        "modeSummaries": summary.mode_summaries(built),
        "testMatrix": summary.test_matrix(built),
        "cases": built,
        "closing": closing,
    }
    return Report(value=value, verdict=verdict)


def _scope(
    rows: Sequence[Row], selection: Selection, catalogue: Catalogue
) -> dict[str, Any]:
    """Which scored scenarios of the suite are in it, and whether that is all."""
    scenarios: dict[str, list[str]] = {each.value: [] for each in selection.revisions}
    for row in rows:
        if row.scenario["source"] == "official" and row.scenario["scored"]:
            scenarios[row.revision].append(row.scenario["scenario"])
    wanted = {
        revision.value: list(
            catalogue.scored(revision, authentication=selection.authentication)
        )
        for revision in selection.revisions
    }
    scope = (
        f"all versioned {selection.role} scenarios"
        if selection.authentication
        else f"versioned non-auth {selection.role} scenarios"
    )
    if scenarios != wanted:
        scope = f"selected {scope.removeprefix('all ')}"
    return {"scope": scope, "scenarios": scenarios}


def _case(
    transport: str, revision: str, rows: Sequence[Row], verdict: Verdict
) -> dict[str, Any]:
    diagnostics = [
        f"{row.scenario['scenario']}:\n{row.scenario['diagnostics']}"
        for row in rows
        if row.scenario["diagnostics"]
    ]
    durations = [row.scenario["duration_seconds"] for row in rows]
    return {
        "transport": transport,
        "mode": revision,
        "success": verdict is Verdict.CONFORMANT,
        "verdict": verdict.value,
        "duration_seconds": round(sum(durations), 3),
        "checks": [check for row in rows if row.counts for check in row.checks],
        "notScored": [check for row in rows if not row.counts for check in row.checks],
        "scenarios": [row.scenario for row in rows],
        "diagnostics": "\n\n".join(diagnostics)[-_DIAGNOSTICS:] or None,
    }


def _combined(verdicts: Sequence[Verdict]) -> Verdict:
    """A run with a hole in it has no verdict; else one failure is enough."""
    for verdict in (Verdict.INCONCLUSIVE, Verdict.NOT_CONFORMANT):
        if verdict in verdicts:
            return verdict
    return Verdict.CONFORMANT if verdicts else Verdict.INCONCLUSIVE


def _verdict_of(rows: Sequence[Row]) -> Verdict:
    """Over what is scored; a variant that does not pass is a failure too."""
    scored = [row for row in rows if row.scenario["not_scored"] is None]
    # Where nothing scored was selected, what was selected is judged.
    return _combined(
        [_verdict_on(row) for row in scored or rows if not _is_left_out(row)]
    )


def _is_beside(leg: Sequence[Row], rows: Sequence[Row]) -> bool:
    """
    Whether a leg is about what the program need not have, beside legs that are not.

    A server without an extension has no verdict on it, and loses none for that.
    """

    def applies(row: Row) -> bool:
        return Outcome(row.scenario["outcome"]) is not Outcome.NOT_APPLICABLE

    return not any(map(applies, leg)) and any(map(applies, rows))


def _is_left_out(row: Row) -> bool:
    """
    Whether a result leaves the verdict alone.

    A feature that a client lacks leaves a hole in the suite's requirement set, but none
    in ours: no revision asks for every verb.
    """
    outcome = Outcome(row.scenario["outcome"])
    is_ours = row.scenario["source"] == Source.SUPPLEMENTAL.value
    return outcome is Outcome.NOT_APPLICABLE or (
        is_ours and outcome is Outcome.UNSUPPORTED
    )


def _verdict_on(row: Row) -> Verdict:
    outcome = Outcome(row.scenario["outcome"])
    if outcome is Outcome.PASSED:
        return Verdict.CONFORMANT
    # Whatever is not the subject's doing says nothing about the subject.
    is_subjects = row.scenario["attribution"] == Attribution.SUBJECT.value
    if outcome.is_inconclusive or not is_subjects:
        return Verdict.INCONCLUSIVE
    return Verdict.NOT_CONFORMANT
