"""
The evidence of one supplemental case becomes one outcome a check.

The rules are tried in order; the first that applies decides for every check:

 1. the case was stopped or never launched → not-run
 2. the client says it cannot do this (exit 69), and sent nothing → unsupported
 3. the driver did not start or broke, or left no record → harness-error
 4. the client was killed → crashed; it outlived a step or the drive → timed-out
 5. a server's log stops short → harness-error
 6. no server received a message → unobserved
 7. the client opens as another era does → unsupported (unless that is the subject)
 8. the good server beside the faulty one was not used → unobserved

and then check by check:

 9. a step it needs is not supported → unsupported
10. a fault it is about was never served, or a step it needs not taken → unobserved
11. otherwise the check looks, and says what it found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcpconf.client.job import DriverVerdict
from mcpconf.process import EndKind
from mcpconf.record import (
    Attribution,
    Check,
    CheckStatus,
    Outcome,
    Policy,
    ScenarioResult,
    WarningPolicy,
)
from mcpconf.revision import Era, era_of
from mcpconf.supplemental.finding import Finding, Kind
from mcpconf.supplemental.observation import Observation, StepState
from mcpconf.supplemental.page import page_address
from mcpconf.supplemental.scenario import CheckDefinition, Level
from mcpconf.supplemental.schema import violations
from mcpconf.supplemental.steps import aftermath_of, results_of

if TYPE_CHECKING:
    from mcpconf.evidence import AdapterRecord
    from mcpconf.process import Ended
    from mcpconf.supplemental.evidence import Evidence
    from mcpconf.supplemental.observation import ServerView
    from mcpconf.supplemental.plan import SupplementalCase

_OUTCOMES = {
    Kind.HOLDS: Outcome.PASSED,
    Kind.BROKEN: Outcome.FAILED,
    Kind.UNOBSERVED: Outcome.UNOBSERVED,
    Kind.UNSUPPORTED: Outcome.UNSUPPORTED,
    Kind.NOT_APPLICABLE: Outcome.NOT_APPLICABLE,
}
#: Worst first: what a scenario amounts to when its checks differ.
_ORDER = (
    Outcome.HARNESS_ERROR,
    Outcome.NOT_RUN,
    Outcome.CRASHED,
    Outcome.TIMED_OUT,
    Outcome.FAILED,
    Outcome.UNOBSERVED,
    Outcome.PASSED,
    Outcome.UNSUPPORTED,
    Outcome.NOT_APPLICABLE,
)
_SKIPPED = frozenset({Outcome.UNSUPPORTED, Outcome.NOT_APPLICABLE, Outcome.NOT_RUN})
_DRIVER_EXITS = frozenset({0, 1, 69, 70})


@dataclass(frozen=True, slots=True)
class _Ruling:
    outcome: Outcome
    attribution: Attribution | None
    reason: str


def judge(
    case: SupplementalCase, evidence: Evidence | None, policy: Policy
) -> ScenarioResult:
    """The result of one case; `evidence` is None when it was never launched."""
    if evidence is None:
        ruling = _Ruling(Outcome.NOT_RUN, None, "was not run")
        return _result(
            case, [_check(case, each, ruling) for each in case.checks], policy
        )
    observation = observe(case, evidence)
    ruling_for_all = _ended_badly(evidence) or _not_seen(case, evidence, observation)
    checks = [
        _check(case, each, ruling_for_all or _rule(case, each, observation))
        for each in case.checks
    ]
    harness = _harness_checks(case, evidence, observation, ruling_for_all)
    offered, agreed = _revisions(observation)
    result = _with_harness(_result(case, checks, policy), harness)
    return replace(
        result,
        harness_checks=harness,
        offered=offered,
        agreed=agreed,
        leftovers=tuple(each.name for each in evidence.ended.leftovers),
        duration_s=evidence.ended.duration_s,
        client_stderr=evidence.client_stderr,
    )


def _with_harness(
    result: ScenarioResult, harness: tuple[tuple[str, str | None], ...]
) -> ScenarioResult:
    """
    A scenario whose driver or messages do not hold fails, and says that first.

    What its checks then did not see is a consequence.
    """
    problems = [f"{name}: {problem}" for name, problem in harness if problem]
    is_open = result.outcome in {Outcome.PASSED, Outcome.UNOBSERVED}
    if not is_open or not problems:
        return result
    return replace(
        result,
        outcome=Outcome.FAILED,
        attribution=Attribution.SUBJECT,
        reason=problems[0],
    )


def unreadable(case: SupplementalCase, problem: str) -> ScenarioResult:
    """The result of a case whose evidence is not what we write: our fault."""
    ruling = _Ruling(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
    return _result(case, [_check(case, each, ruling) for each in case.checks], Policy())


def observe(case: SupplementalCase, evidence: Evidence) -> Observation:
    """
    The evidence as checks see it.

    :raises DecodeError: the driver's results are not of the form drivers write.
    """
    adapter = evidence.adapter
    return Observation(
        revision=case.key.revision,
        transport=case.key.transport,
        subject=evidence.subject,
        control=evidence.control,
        steps=results_of(case.scenario.steps, (adapter and adapter.results) or ()),
        aftermath=aftermath_of(adapter.aftermath if adapter else None),
    )


def _ended_badly(evidence: Evidence) -> _Ruling | None:
    ended, adapter = evidence.ended, evidence.adapter
    if ended.kind is EndKind.STOPPED:
        return _Ruling(Outcome.NOT_RUN, None, "the run was stopped during this case")
    if adapter is None:
        problem = f"no record of the driver: {evidence.adapter_fault}"
        return _Ruling(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    if adapter.verdict is DriverVerdict.UNSUPPORTED and not (
        evidence.subject.received or evidence.control.received
    ):
        return _Ruling(Outcome.UNSUPPORTED, None, adapter.error or "unsupported")
    return _client_ended_badly(ended, adapter) or _driver_ended_badly(ended, adapter)


def _client_ended_badly(ended: Ended, adapter: AdapterRecord) -> _Ruling | None:
    is_broken = adapter.verdict is DriverVerdict.ADAPTER_FAULT
    if is_broken or adapter.end.kind is EndKind.FAILED_TO_START:
        problem = f"the driver broke: {(adapter.error or '').strip()[-500:]}"
        return _Ruling(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    if adapter.end.kind is EndKind.SIGNALLED:
        problem = f"the client was killed by {adapter.end.signal}"
        return _Ruling(Outcome.CRASHED, Attribution.SUBJECT, problem)
    if EndKind.TIMED_OUT in {ended.kind, adapter.end.kind}:
        problem = f"out of time; {adapter.error or 'the client did not end'}"
        return _Ruling(Outcome.TIMED_OUT, Attribution.SUBJECT, problem)
    return None


def _driver_ended_badly(ended: Ended, adapter: AdapterRecord) -> _Ruling | None:
    if ended.kind is not EndKind.EXITED or ended.exit_code not in _DRIVER_EXITS:
        problem = f"the driver ended with {ended.signal or ended.exit_code}"
        return _Ruling(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    if adapter.results is None or adapter.aftermath is None:
        problem = "the driver did not say what the client answered and left"
        return _Ruling(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    return None


def _not_seen(
    case: SupplementalCase, evidence: Evidence, seen: Observation
) -> _Ruling | None:
    if seen.subject.truncated or seen.control.truncated:
        problem = "a wire log stops short, so nothing can be said to be absent from it"
        return _Ruling(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
    if not seen.subject.received and not seen.control.received:
        return _nothing_sent(evidence, seen)
    eras = _eras(seen.subject) | _eras(seen.control)
    leg = case.key.revision
    if not case.scenario.any_era and eras and leg.era not in eras:
        problem = (
            f"the client opens as the {' and '.join(sorted(eras))} era does; "
            f"{leg.value} is of the {leg.era.value} era"
        )
        return _Ruling(Outcome.UNSUPPORTED, Attribution.SUBJECT, problem)
    return _no_control(seen) if case.scenario.has_control else None


def _nothing_sent(evidence: Evidence, seen: Observation) -> _Ruling:
    steps = seen.steps.values()
    if all(each.state is StepState.UNSUPPORTED for each in steps):
        return _Ruling(Outcome.UNSUPPORTED, None, next(iter(steps)).message)
    code = evidence.adapter.end.exit_code if evidence.adapter else None
    how = f" and exited with {code}: does it know our scenarios?" if code else ""
    problem = f"the client sent nothing{how}"
    return _Ruling(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)


def _no_control(seen: Observation) -> _Ruling | None:
    """What is refused by a client that gets on with no server shows nothing."""
    step = seen.step("control-call")
    answered = [
        answer
        for request in seen.control.calls("echo")
        if (answer := seen.control.answer_to(request)) and answer.result is not None
    ]
    if step.state is StepState.OK and answered:
        return None
    problem = f"the good server beside it was not used: {step.message or step.state}"
    return _Ruling(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)


def _eras(view: ServerView) -> set[Era]:
    eras = set()
    for each in view.requests():
        if each.method == "initialize":
            eras.add(Era.HANDSHAKE)
        elif each.meta_version is not None:
            eras.add(era_of(each.meta_version))
    return eras


def _revisions(seen: Observation) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which revisions the client offered, and which were agreed, in order."""
    offered: dict[str, None] = {}
    agreed: dict[str, None] = {}
    for view in (seen.control, seen.subject):
        for each in view.requests():
            version: Any = each.meta_version
            if each.method == "initialize":
                version = each.params.get("protocolVersion")
                answer = view.answer_to(each)
                result = answer.result if answer else None
                if isinstance(result, dict):
                    agreed[str(result.get("protocolVersion"))] = None
            if isinstance(version, str):
                offered[version] = None
    return tuple(offered), tuple(agreed)


def _rule(case: SupplementalCase, check: CheckDefinition, seen: Observation) -> _Ruling:
    steps = [seen.step(name) for name in check.needs]
    for step in steps:
        if step.state is StepState.UNSUPPORTED:
            return _Ruling(Outcome.UNSUPPORTED, None, step.message)
    never = [name for name in check.provoked_by if not seen.subject.faults(name)]
    if never:
        problem = f"the client never met the fault ({', '.join(never)})"
        return _Ruling(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)
    for step in steps:
        if step.state is StepState.MISSING:
            problem = f"the client was gone before its step {step.id!r}"
            return _Ruling(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)
    try:
        finding = check.look(seen)
    except Exception as error:  # noqa: BLE001 (a check of ours that breaks is no verdict)
        problem = f"{case.key}: check {check.id} broke: {error!r}"
        return _Ruling(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
    return _ruling_of(finding)


def _ruling_of(finding: Finding) -> _Ruling:
    outcome = _OUTCOMES[finding.kind]
    is_quiet = outcome is Outcome.PASSED or outcome in _SKIPPED
    return _Ruling(outcome, None if is_quiet else Attribution.SUBJECT, finding.detail)


def _check(
    case: SupplementalCase, definition: CheckDefinition, ruling: _Ruling
) -> Check:
    if ruling.outcome is Outcome.PASSED:
        status = CheckStatus.SUCCESS
    elif ruling.outcome in _SKIPPED:
        status = CheckStatus.SKIPPED
    elif ruling.outcome is Outcome.FAILED and definition.level is Level.SHOULD:
        status = CheckStatus.WARNING
    else:
        status = CheckStatus.FAILURE
    is_good = status is CheckStatus.SUCCESS
    return Check(
        check_id=definition.id,
        name=definition.id,
        status=status,
        description=ruling.reason if is_good else definition.sentence,
        error=None if is_good else ruling.reason,
        pages=(page_address(definition, case.key.revision),),
        outcome=ruling.outcome,
        attribution=ruling.attribution,
        demand=definition.sentence,
        level=definition.level.value,
    )


def _result(
    case: SupplementalCase, checks: list[Check], policy: Policy
) -> ScenarioResult:
    """The scenario as a whole: its worst check, and how many there are like it."""

    def weight(check: Check) -> int:
        forgiven = (
            check.status is CheckStatus.WARNING
            and policy.warnings is WarningPolicy.WARN
        )
        outcome = Outcome.PASSED if forgiven else check.outcome
        return _ORDER.index(outcome or Outcome.HARNESS_ERROR)

    worst = min(checks, key=weight)
    outcome = _ORDER[weight(worst)]
    passed = outcome is Outcome.PASSED
    others = sum(check.outcome is outcome for check in checks) - 1
    more = f" (and {others} more)" if others else ""
    reason = f"{worst.check_id}: {worst.error}{more}"
    if len({check.error for check in checks}) == 1:  # it is about none in particular
        reason = worst.error or reason
    return ScenarioResult(
        key=case.key,
        outcome=outcome,
        attribution=None if passed else worst.attribution,
        reason="passed" if passed else reason,
        checks=tuple(checks),
    )


def _harness_checks(
    case: SupplementalCase,
    evidence: Evidence,
    seen: Observation,
    ruling: _Ruling | None,
) -> tuple[tuple[str, str | None], ...]:
    """The driver's result, and the schema of what the client sent."""
    adapter = evidence.adapter
    said: str | None
    if adapter is None:
        said = evidence.adapter_fault
    elif adapter.verdict is DriverVerdict.DONE:
        said = None
    else:
        said = adapter.error or adapter.verdict.value
    checks: list[tuple[str, str | None]] = [("adapter", said)]
    if ruling is None:
        steps = case.scenario.steps
        asked = [e.arguments["offer"] for e in steps if "offer" in e.arguments]
        asked += _revisions(seen)[1]  # what a server of ours made it agree to
        found = [
            each
            for view in (seen.control, seen.subject)
            for each in violations(view, case.key.revision, asked=asked)
        ]
        problem = None
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            problem = f"{found[0].method or 'a message'}: {found[0].problem}{more}"
        checks.append(("wire-schema", problem))
    return tuple(checks)
