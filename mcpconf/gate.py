"""
The gate: a baseline and a report in, one answer out; it reads and writes nothing.

Precedence is REFUSED, INCOMPLETE, REGRESSED, GREEN: what cannot be compared is not
compared, and what is not known is not good. Whatever was found is listed all the same.
Neighbours: `gate_config` (can both be compared), `gate_scope` (which part), `gate_hole`
(what is not known), `gate_compare` (check by check).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpconf.baseline.entry import (
    Baseline,
    CheckPolicy,
    CheckState,
    ExpectedFailure,
    ExpectedUnsupported,
    Explanation,
    FailureClass,
    WarningRules,
)
from mcpconf.baseline.fit import unfit, unsupported_scenarios
from mcpconf.errors import UsageError
from mcpconf.gate_compare import compare
from mcpconf.gate_config import configuration_errors, shipping_failures
from mcpconf.gate_hole import FATAL, holes, is_blind, known_unsupported, sentence
from mcpconf.gate_record import GateFinding, GateResult, GateVerdict, UnexpectedCase
from mcpconf.gate_scope import Comparison, case_of, name_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpconf.gate_compare import Findings
    from mcpconf.gate_record import GatePolicy
    from mcpconf.gate_scope import CaseName
    from mcpconf.identity import CheckIdentity
    from mcpconf.observed import ObservedRun
    from mcpconf.suite.catalogue import Catalogue


def decide(
    baseline: Baseline, run: ObservedRun, policy: GatePolicy, catalogue: Catalogue
) -> GateResult:
    """Whether anything got worse, and everything there is to say about it."""
    comparison = Comparison(baseline, run, catalogue)
    found = compare(comparison)
    result = GateResult(
        verdict=GateVerdict.GREEN,
        policy=policy,
        scope="whole" if comparison.is_whole else "partial",
        not_compared=comparison.not_compared,
        configuration_errors=configuration_errors(comparison),
        holes=holes(comparison),
        new_failures=_sorted(found.new),
        missing_checks=_sorted(found.missing),
        changed_failures=_sorted(found.changed),
        known_failures=_sorted(found.known),
        fixed_checks=_sorted(found.fixed),
        warnings=_sorted(found.warnings),
        flaky=_sorted(found.flaky),
        new_checks=_sorted(found.beyond),
        known_unsupported=tuple(known_unsupported(comparison)),
        unreasoned=tuple(_unreasoned(baseline)),
        demands=(*shipping_failures(comparison), *_demands(found, policy)),
    )
    return replace(result, verdict=_verdict(result))


def refusals(
    baseline: Baseline, run: ObservedRun, catalogue: Catalogue
) -> tuple[str, ...]:
    """Why the two cannot be compared; that is known before anything is run."""
    return configuration_errors(Comparison(baseline, run, catalogue))


def unexpected(
    baseline: Baseline, run: ObservedRun, catalogue: Catalogue
) -> tuple[UnexpectedCase, ...]:
    """
    The cases of a run that are worse than expected, in the report's order.

    A crash and a time-out always are, and what is flaky already is not. What is known
    to fail is never among their checks, so that nothing rescues it.
    """
    found = compare(Comparison(baseline, run, catalogue))
    by_case: dict[CaseName, set[CheckIdentity]] = {}
    for each in (*found.new, *found.missing, *found.changed):
        checks = by_case.setdefault(case_of(each.identity), set())
        if each.identity not in baseline.failing:  # known to fail: never rescued
            checks.add(each.identity)
    cases = []
    for case in run.cases:
        name = name_of(case)
        is_fatal = case.outcome in FATAL and case.counts
        if name in by_case or is_fatal:
            leg, scenario, variant = name
            cases.append(
                UnexpectedCase(
                    leg=leg,
                    scenario=scenario,
                    variant=variant,
                    checks=tuple(sorted(by_case.get(name, ()))),
                )
            )
    return tuple(cases)


def baseline_of(run: ObservedRun) -> Baseline:
    """
    A whole report as the baseline side: what passes and fails, without reasons.

    :raises UsageError: it is a part, has holes, crashes or flaky results; all at once.
    """
    problems = [*unfit(run), *(sentence(each) for each in run.cases if is_blind(each))]
    if problems:
        raise UsageError(
            f"the report cannot stand for a baseline: {'; '.join(problems)}; "
            "give another one, or a file of `invoke baseline.extract`"
        )
    bad = (CheckState.FAIL, CheckState.WARNING)
    return Baseline(
        version=1,
        client=run.client,
        client_version=run.client_version,
        suite=run.suite,
        strict_auth=run.strict_auth,
        scope=run.scope,
        scenarios=run.scenarios,
        passing=frozenset(
            identity
            for identity, check in run.checks.items()
            if CheckState.PASS in check.states
        ),
        failing={
            identity: ExpectedFailure(
                identity=identity, state=check.worst, outcome=check.outcome
            )
            for identity, check in run.checks.items()
            if check.worst in bad
        },
        unsupported=tuple(_unsupported(run)),
        warnings=WarningRules(default=CheckPolicy(run.warnings)),
        revision_policy=run.revision_policy,
    )


def _unsupported(run: ObservedRun) -> Iterator[ExpectedUnsupported]:
    for each in unsupported_scenarios(run):
        yield ExpectedUnsupported(
            leg=each.leg,
            scenario=each.scenario,
            explanation=Explanation(
                reason=f"unsupported in the report itself: {each.reason}",
                failure_class=FailureClass.UNREVIEWED,
                link=None,
                since=run.started_at[:10],
            ),
        )


def _sorted(findings: Iterable[GateFinding]) -> tuple[GateFinding, ...]:
    return tuple(sorted(findings, key=lambda each: (each.identity, each.detail)))


def _verdict(result: GateResult) -> GateVerdict:
    if result.configuration_errors:
        return GateVerdict.REFUSED
    if result.holes:
        return GateVerdict.INCOMPLETE
    is_red = (
        result.new_failures
        or result.missing_checks
        or result.changed_failures
        or result.demands
    )
    return GateVerdict.REGRESSED if is_red else GateVerdict.GREEN


def _demands(found: Findings, policy: GatePolicy) -> Iterator[str]:
    if policy.ratchet and found.fixed:
        yield (
            f"expected failures that pass now: {len(found.fixed)}; take them out of "
            "the baseline, so that they cannot fail again unseen"
        )
    cases = {case_of(each.identity) for each in found.flaky}
    if len(cases) > policy.flaky_budget:
        yield (
            f"flaky cases: {len(cases)}, and the budget is {policy.flaky_budget}: "
            "make them steady, or raise it"
        )


def _unreasoned(baseline: Baseline) -> Iterator[str]:
    """Entries that nobody has looked at; version 1 has no place for a reason."""
    if baseline.version == 1:
        return
    for identity, entry in sorted(baseline.failing.items()):
        if entry.explanation is None or not entry.explanation.is_reviewed:
            yield str(identity)
    for each in sorted(baseline.unsupported, key=lambda one: (one.leg, one.scenario)):
        if not each.explanation.is_reviewed:
            yield f"{each.leg} / {each.scenario}"
