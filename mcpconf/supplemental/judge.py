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

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcpconf.client.job import DriverVerdict
from mcpconf.process import EndKind
from mcpconf.record import (
    Attribution,
    Check,
    Outcome,
    Policy,
    ScenarioResult,
)
from mcpconf.revision import Era, era_of
from mcpconf.ruling import Ruling, checked, ruling_of, summed_up
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

_DRIVER_EXITS = frozenset({0, 1, 69, 70})


def judge(
    case: SupplementalCase, evidence: Evidence | None, policy: Policy
) -> ScenarioResult:
    """The result of one case; `evidence` is None when it was never launched."""
    if evidence is None:
        ruling = Ruling(Outcome.NOT_RUN, None, "was not run")
        return summed_up(
            case.key, [_check(case, each, ruling) for each in case.checks], policy
        )
    observation = observe(case, evidence)
    ruling_for_all = _ended_badly(evidence) or _not_seen(case, evidence, observation)
    checks = [
        _check(case, each, ruling_for_all or _rule(case, each, observation))
        for each in case.checks
    ]
    harness = _harness_checks(case, evidence, observation, ruling_for_all)
    offered, agreed = _revisions(observation)
    result = _with_harness(summed_up(case.key, checks, policy), harness)
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
    ruling = Ruling(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
    return summed_up(
        case.key, [_check(case, each, ruling) for each in case.checks], Policy()
    )


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


def _ended_badly(evidence: Evidence) -> Ruling | None:
    ended, adapter = evidence.ended, evidence.adapter
    if ended.kind is EndKind.STOPPED:
        return Ruling(Outcome.NOT_RUN, None, "the run was stopped during this case")
    if adapter is None:
        problem = f"no record of the driver: {evidence.adapter_fault}"
        return Ruling(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    if adapter.verdict is DriverVerdict.UNSUPPORTED and not (
        evidence.subject.received or evidence.control.received
    ):
        return Ruling(Outcome.UNSUPPORTED, None, adapter.error or "unsupported")
    return _client_ended_badly(ended, adapter) or _driver_ended_badly(ended, adapter)


def _client_ended_badly(ended: Ended, adapter: AdapterRecord) -> Ruling | None:
    is_broken = adapter.verdict is DriverVerdict.ADAPTER_FAULT
    if is_broken or adapter.end.kind is EndKind.FAILED_TO_START:
        problem = f"the driver broke: {(adapter.error or '').strip()[-500:]}"
        return Ruling(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    if adapter.end.kind is EndKind.SIGNALLED:
        problem = f"the client was killed by {adapter.end.signal}"
        return Ruling(Outcome.CRASHED, Attribution.SUBJECT, problem)
    if EndKind.TIMED_OUT in {ended.kind, adapter.end.kind}:
        problem = f"out of time; {adapter.error or 'the client did not end'}"
        return Ruling(Outcome.TIMED_OUT, Attribution.SUBJECT, problem)
    return None


def _driver_ended_badly(ended: Ended, adapter: AdapterRecord) -> Ruling | None:
    if ended.kind is not EndKind.EXITED or ended.exit_code not in _DRIVER_EXITS:
        problem = f"the driver ended with {ended.signal or ended.exit_code}"
        return Ruling(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    if adapter.results is None or adapter.aftermath is None:
        problem = "the driver did not say what the client answered and left"
        return Ruling(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    return None


def _not_seen(
    case: SupplementalCase, evidence: Evidence, seen: Observation
) -> Ruling | None:
    if seen.subject.truncated or seen.control.truncated:
        problem = "a wire log stops short, so nothing can be said to be absent from it"
        return Ruling(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
    if not seen.subject.received and not seen.control.received:
        return _nothing_sent(evidence, seen)
    eras = _eras(seen.subject) | _eras(seen.control)
    leg = case.key.revision
    if not case.scenario.any_era and eras and leg.era not in eras:
        problem = (
            f"the client opens as the {' and '.join(sorted(eras))} era does; "
            f"{leg.value} is of the {leg.era.value} era"
        )
        return Ruling(Outcome.UNSUPPORTED, Attribution.SUBJECT, problem)
    return _no_control(seen) if case.scenario.has_control else None


def _nothing_sent(evidence: Evidence, seen: Observation) -> Ruling:
    steps = seen.steps.values()
    if all(each.state is StepState.UNSUPPORTED for each in steps):
        return Ruling(Outcome.UNSUPPORTED, None, next(iter(steps)).message)
    code = evidence.adapter.end.exit_code if evidence.adapter else None
    how = f" and exited with {code}: does it know our scenarios?" if code else ""
    problem = f"the client sent nothing{how}"
    return Ruling(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)


def _no_control(seen: Observation) -> Ruling | None:
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
    return Ruling(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)


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


def _rule(case: SupplementalCase, check: CheckDefinition, seen: Observation) -> Ruling:
    steps = [seen.step(name) for name in check.needs]
    for step in steps:
        if step.state is StepState.UNSUPPORTED:
            return Ruling(Outcome.UNSUPPORTED, None, step.message)
    never = [name for name in check.provoked_by if not seen.subject.faults(name)]
    if never:
        problem = f"the client never met the fault ({', '.join(never)})"
        return Ruling(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)
    for step in steps:
        if step.state is StepState.MISSING:
            problem = f"the client was gone before its step {step.id!r}"
            return Ruling(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)
    try:
        finding = check.look(seen)
    except Exception as error:  # noqa: BLE001 (a check of ours that breaks is no verdict)
        problem = f"{case.key}: check {check.id} broke: {error!r}"
        return Ruling(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
    return ruling_of(finding)


def _check(
    case: SupplementalCase, definition: CheckDefinition, ruling: Ruling
) -> Check:
    is_lenient = definition.level is Level.SHOULD
    return checked(
        definition.id,
        ruling,
        demand=definition.sentence,
        level=definition.level.value,
        page=page_address(definition, case.key.revision),
        warns=(Outcome.FAILED,) if is_lenient else (),
    )


def _harness_checks(
    case: SupplementalCase,
    evidence: Evidence,
    seen: Observation,
    ruling: Ruling | None,
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
