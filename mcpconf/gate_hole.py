"""
Why a run tells nothing, or not enough: the difference between incomplete and regressed.

A hole is never filled by a baseline, but for a scenario of the suite that it says the
client does not do at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.gate_scope import counts, name_of
from mcpconf.identity import OFFICIAL_HTTP
from mcpconf.record import Attribution, Outcome, ReportStatus, Verdict

if TYPE_CHECKING:
    from mcpconf.gate_scope import Comparison
    from mcpconf.observed import ObservedScenario

#: Never accepted, whatever a baseline says.
FATAL = frozenset({Outcome.CRASHED.value, Outcome.TIMED_OUT.value})
_NOTHING_KNOWN = frozenset(
    {Outcome.HARNESS_ERROR.value, Outcome.SUITE_DEFECT.value, Outcome.NOT_RUN.value}
)


def is_blind(scenario: ObservedScenario) -> bool:
    """Whether a case that counts says nothing of the client: not its doing."""
    if not counts(scenario):
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
    for scenario in unsupported:
        is_known = (scenario.leg, scenario.scenario) in listed
        if not is_known and comparison.covers_case(name_of(scenario)):
            more = "; where that is known, the baseline must list it as unsupported"
            found.append(sentence(scenario) + more)
    is_explained = unsupported or any(
        each.outcome == Outcome.FLAKY.value for each in run.cases
    )
    if not found and not is_explained and run.verdict == Verdict.INCONCLUSIVE.value:
        found.append(
            "the report's verdict is INCONCLUSIVE and none of its results says why: "
            "use `invoke report.rejudge` on its run folder"
        )
    return tuple(found)


def _is_unsupported(scenario: ObservedScenario) -> bool:
    return (
        scenario.leg.transport == OFFICIAL_HTTP
        and scenario.outcome == Outcome.UNSUPPORTED.value
        and counts(scenario)
    )


def sentence(scenario: ObservedScenario) -> str:
    """Which case, how it ended, whose doing it is, and why."""
    variant = f" ({scenario.variant})" if scenario.variant else ""
    blame = f", by the {scenario.attribution}" if scenario.attribution else ""
    name = f"{scenario.leg} / {scenario.scenario}{variant}"
    return f"{name}: {scenario.outcome}{blame}: {scenario.reason}"
