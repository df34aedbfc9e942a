"""
Check by check: what a run shows against what a baseline expects.

The table, for one check that both sides are asked about:

=================  ==================  ==========================================
the run            the baseline        so it is
=================  ==================  ==========================================
FAIL               nothing, or PASS    a new failure
FAIL               WARNING             a changed failure
FAIL               FAIL                known; changed where it ended worse
WARNING            nothing, or PASS    a new failure
WARNING            WARNING or FAIL     known; changed where it ended worse
PASS alone         FAIL or WARNING     fixed
PASS alone         nothing             a new check
SKIP, or nothing   anything            missing
FAIL or WARNING,   PASS beside FAIL    missing as well: it never passes any more
and no PASS        or WARNING
=================  ==================  ==========================================

A warning that the baseline's policy forgives is only listed. A failure that was rescued
is flaky, unless it is known. A crash or a time-out is never known. A case that says
nothing of the client is a hole, and none of its checks is judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpconf.baseline.entry import CheckPolicy, CheckState
from mcpconf.gate_hole import FATAL, is_blind
from mcpconf.gate_record import GateFinding
from mcpconf.gate_scope import case_of, name_of
from mcpconf.identity import CheckIdentity
from mcpconf.record import Outcome, ReportStatus

if TYPE_CHECKING:
    from mcpconf.baseline.entry import Explanation
    from mcpconf.gate_scope import Comparison
    from mcpconf.observed import ObservedCheck, ObservedScenario

#: Worse and worse. A failure that becomes another one further on is a regression.
_WORSE = ("failed", "unobserved", "timed-out", "crashed")
_LIVE = frozenset({Outcome.PASSED.value, Outcome.FAILED.value})
_GOOD = frozenset({CheckState.PASS})


@dataclass(slots=True)
class Findings:
    """What the comparison found, unsorted."""

    new: list[GateFinding] = field(default_factory=list)
    missing: list[GateFinding] = field(default_factory=list)
    changed: list[GateFinding] = field(default_factory=list)
    known: list[GateFinding] = field(default_factory=list)
    fixed: list[GateFinding] = field(default_factory=list)
    warnings: list[GateFinding] = field(default_factory=list)
    flaky: list[GateFinding] = field(default_factory=list)
    beyond: list[GateFinding] = field(default_factory=list)


def compare(comparison: Comparison) -> Findings:
    """All findings of the checks and scenarios that both sides are asked about."""
    return _Comparer(comparison).found


class _Comparer:
    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison
        self.baseline, self.run = comparison.baseline, comparison.run
        self.cases = {name_of(each): each for each in self.run.cases}
        self.found = Findings()
        passing, failing = self.baseline.passing, self.baseline.failing
        for identity, check in self.run.checks.items():
            is_good = check.states == _GOOD and identity in passing
            if is_good and identity not in failing:
                continue  # almost all of them
            if comparison.covers(identity):
                self._check(identity, check)
        self._absent()
        self._scenarios()

    def _check(self, identity: CheckIdentity, check: ObservedCheck) -> None:
        case = self.cases[case_of(identity)]
        if is_blind(case):
            return
        if CheckState.FAIL in check.states:
            self._bad(identity, check, case, CheckState.FAIL)
        elif CheckState.WARNING in check.states:
            if self.baseline.warnings.of(identity) is CheckPolicy.WARN:
                self.found.warnings.append(self._finding(check, check.detail))
                return
            self._bad(identity, check, case, CheckState.WARNING)
        elif CheckState.PASS in check.states:
            self._good(identity, check, case)
        else:
            self._gone(identity, check, f"it was not judged: {check.outcome}")

    def _bad(
        self,
        identity: CheckIdentity,
        check: ObservedCheck,
        case: ObservedScenario,
        state: CheckState,
    ) -> None:
        entry = self.baseline.failing.get(identity)
        is_fatal = case.outcome in FATAL
        if entry is None:
            is_rescued = check.is_flaky and not is_fatal
            group = self.found.flaky if is_rescued else self.found.new
            group.append(self._finding(check, check.detail))
            return
        problem = None
        if is_fatal:
            problem = f"{case.outcome}, which no baseline accepts"
        elif state is CheckState.FAIL and entry.state is CheckState.WARNING:
            problem = "failed, and was expected to warn"
        elif _rank(check.outcome) > _rank(entry.outcome):
            problem = f"{check.outcome}, and was expected to have {entry.outcome}"
        if problem is not None:
            self.found.changed.append(
                self._finding(check, f"{problem}: {check.detail}", entry.explanation)
            )
            return
        self.found.known.append(self._finding(check, check.detail, entry.explanation))
        is_lost = CheckState.PASS not in check.states and not check.is_flaky
        if is_lost and identity in self.baseline.passing:
            problem = (
                "passed beside failing, and now only fails; where that is known, take "
                "it out of the baseline's passing checks"
            )
            self.found.missing.append(self._finding(check, problem))

    def _good(
        self, identity: CheckIdentity, check: ObservedCheck, case: ObservedScenario
    ) -> None:
        entry = self.baseline.failing.get(identity)
        if entry is None:
            if identity not in self.baseline.passing:
                self.found.beyond.append(self._finding(check, check.detail))
            return
        if case.outcome not in _LIVE:
            return  # it was not run to its end, and that is told of its scenario
        detail = "passes now: take it out of the baseline's failing checks"
        self.found.fixed.append(self._finding(check, detail, entry.explanation))

    def _gone(self, identity: CheckIdentity, check: ObservedCheck, why: str) -> None:
        entry = self.baseline.failing.get(identity)
        if identity in self.baseline.passing:
            detail = f"passed, and {why}"
        elif entry is not None:
            detail = f"was expected to fail, and {why}"
        else:
            return
        explanation = entry.explanation if entry else None
        self.found.missing.append(self._finding(check, detail, explanation))

    def _absent(self) -> None:
        """What the baseline expects and the report does not have."""
        baseline = self.baseline
        absent = baseline.passing.difference(self.run.checks)
        absent |= baseline.failing.keys() - self.run.checks.keys()
        for identity in absent:
            if not self.comparison.covers(identity):
                continue
            case = self.cases.get(case_of(identity))
            if case is not None and is_blind(case):
                continue
            why = "the report does not have it, nor its scenario"
            if case is not None:
                why = (
                    f"the report does not have it; its scenario ended as {case.outcome}"
                )
            entry = baseline.failing.get(identity)
            expected = "passed" if entry is None else "was expected to fail"
            reason, failure_class = _said(entry.explanation if entry else None)
            self.found.missing.append(
                GateFinding(
                    identity=identity,
                    detail=f"{expected}, and {why}",
                    attribution=case.attribution if case else None,
                    reproduce=case.reproduce if case else None,
                    reason=reason,
                    failure_class=failure_class,
                )
            )

    def _scenarios(self) -> None:
        """What no check says of a case: how it ended, where that is bad."""
        found = self.found
        red = {case_of(each.identity) for each in (*found.new, *found.changed)}
        mild = (*found.flaky, *found.known)
        told = red | {case_of(each.identity) for each in mild}
        forgiven = {case_of(each.identity) for each in found.warnings}
        for name, case in self.cases.items():
            if not case.counts or is_blind(case):
                continue
            detail = f"{case.outcome}: {case.reason}"
            if case.outcome in FATAL:
                if name not in red:
                    found.new.append(_of_case(case, detail))
            elif not self.comparison.covers_case(name):
                continue
            elif case.outcome == Outcome.FLAKY.value:
                if name not in told:
                    found.flaky.append(_of_case(case, detail))
            elif _is_bad(case) and name not in told:
                # A forgiven warning may be all that failed; it explains no silence.
                is_warned = case.outcome == Outcome.FAILED.value and name in forgiven
                if not is_warned:
                    found.new.append(_of_case(case, detail))
        self._supported()

    def _supported(self) -> None:
        """Scenarios that the client was known not to do, and now does."""
        for entry in self.baseline.unsupported:
            case = self.cases.get((entry.leg, entry.scenario, None))
            if case is None or case.outcome not in _LIVE:
                continue
            detail = "is supported now: take it out of the baseline's unsupported ones"
            self.found.fixed.append(_of_case(case, detail, entry.explanation))

    @staticmethod
    def _finding(
        check: ObservedCheck, detail: str, explanation: Explanation | None = None
    ) -> GateFinding:
        reason, failure_class = _said(explanation)
        return GateFinding(
            identity=check.identity,
            detail=detail,
            attribution=check.attribution,
            reproduce=check.reproduce,
            pages=check.pages,
            reason=reason,
            failure_class=failure_class,
        )


def _is_bad(case: ObservedScenario) -> bool:
    return Outcome(case.outcome).report_status is ReportStatus.FAIL


def _rank(outcome: str) -> int:
    return _WORSE.index(outcome) if outcome in _WORSE else 0


def _said(explanation: Explanation | None) -> tuple[str | None, str | None]:
    """Reason and class, where the baseline gives them."""
    if explanation is None:
        return None, None
    return explanation.reason, explanation.failure_class.value


def _of_case(
    case: ObservedScenario, detail: str, explanation: Explanation | None = None
) -> GateFinding:
    """A finding about a case as a whole, under the name its runner check would have."""
    name = f"harness/{case.scenario}/official-runner"
    is_variant = case.variant is not None
    reason, failure_class = _said(explanation)
    return GateFinding(
        identity=CheckIdentity(
            case.leg.revision,
            case.leg.transport,
            "supplemental" if is_variant else "harness",
            case.scenario,
            case.variant or name,
        ),
        detail=detail,
        attribution=case.attribution,
        reproduce=case.reproduce,
        reason=reason,
        failure_class=failure_class,
    )
