"""
Why a run tells nothing, or not enough: the difference between incomplete and regressed.

A hole is never filled by a baseline, but for a scenario of the suite that it says the
client does not do at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.gate_scope import name_of
from mcpconf.identity import OFFICIAL_HTTP
from mcpconf.record import Attribution, Outcome, ReportStatus, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpconf.gate_scope import Comparison
    from mcpconf.observed import ObservedScenario

#: Never accepted, whatever a baseline says.
FATAL = frozenset({Outcome.CRASHED.value, Outcome.TIMED_OUT.value})
_NOTHING_KNOWN = frozenset(
    {Outcome.HARNESS_ERROR.value, Outcome.SUITE_DEFECT.value, Outcome.NOT_RUN.value}
)
_NOT_DONE = frozenset({Outcome.UNSUPPORTED.value, Outcome.NOT_APPLICABLE.value})


def is_blind(scenario: ObservedScenario) -> bool:
    """Whether a case that counts says nothing of the client: not its doing."""
    if not scenario.counts:
        return False
    if scenario.outcome in _NOTHING_KNOWN:
        return True
    is_bad = Outcome(scenario.outcome).report_status is ReportStatus.FAIL
    # Run again, it passed: then whose doing it was the first time tells nothing.
    is_flaky = scenario.outcome == Outcome.FLAKY.value
    return is_bad and not is_flaky and scenario.attribution != Attribution.SUBJECT.value


def holes(comparison: Comparison) -> tuple[str, ...]:
    """Why the run is incomplete, one sentence each, in the report's order."""
    run = comparison.run
    found = []
    if not run.is_complete:
        found.append("the report is not complete: it was stopped before its end")
    found += [f"the run ended badly: {fault}" for fault in run.faults]
    for scenario in run.cases:
        if is_blind(scenario):
            found.append(sentence(scenario))
    listed = {(each.leg, each.scenario) for each in comparison.baseline.unsupported}
    unsupported = [each for each in run.cases if _is_unsupported(each)]
    told = set()
    if unsupported:
        known = (*comparison.baseline.passing, *comparison.baseline.failing)
        told = {(each.leg, each.scenario) for each in known}
    for scenario in unsupported:
        # What it did once and does no more is lost, and no hole.
        is_known = (scenario.leg, scenario.scenario) in listed | told
        if not is_known and comparison.covers_case(name_of(scenario)):
            more = "; where that is known, the baseline must list it as unsupported"
            found.append(sentence(scenario) + more)
    if not run.selected and run.shard is None:  # a part may hold just what it lacks
        found += _undone(run.cases)
    is_explained = unsupported or any(
        each.outcome in {Outcome.FLAKY.value, Outcome.NOT_APPLICABLE.value}
        for each in run.cases
    )
    if not found and not is_explained and run.verdict == Verdict.INCONCLUSIVE.value:
        found.append(
            "the report's verdict is INCONCLUSIVE and none of its results says why: "
            "use `invoke report.rejudge` on its run folder"
        )
    return tuple(found)


def known_unsupported(comparison: Comparison) -> Iterator[str]:
    """The unsupported scenarios that are no hole, because the baseline lists them."""
    why = {
        (each.leg, each.scenario): each.explanation.reason
        for each in comparison.baseline.unsupported
    }
    for each in comparison.run.cases:
        name = (each.leg, each.scenario)
        if name in why and _is_unsupported(each):
            yield f"{each.leg} / {each.scenario}: {why[name]}"


def _undone(cases: Sequence[ObservedScenario]) -> Iterator[str]:
    """Legs of ours in which the client did nothing at all."""
    legs = dict.fromkeys(each.leg for each in cases)
    for leg in legs:
        outcomes = {each.outcome for each in cases if each.leg == leg}
        if leg.transport != OFFICIAL_HTTP and outcomes <= _NOT_DONE:
            said = next(each.reason for each in cases if each.leg == leg)
            yield f"{leg}: the client did none of its scenarios: {said}"


def _is_unsupported(scenario: ObservedScenario) -> bool:
    return (
        scenario.leg.transport == OFFICIAL_HTTP
        and scenario.outcome == Outcome.UNSUPPORTED.value
        and scenario.counts
    )


def sentence(scenario: ObservedScenario) -> str:
    """Which case, how it ended, whose doing it is, and why."""
    variant = f" ({scenario.variant})" if scenario.variant else ""
    blame = f", by the {scenario.attribution}" if scenario.attribution else ""
    name = f"{scenario.leg} / {scenario.scenario}{variant}"
    return f"{name}: {scenario.outcome}{blame}: {scenario.reason}"
