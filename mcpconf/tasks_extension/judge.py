"""
The evidence of one case becomes one outcome a check.

The rules are tried in order; the first that applies decides for every check:

1. the case was stopped or never launched → not-run
2. the server ended during the case → crashed
3. the probe did not start, broke, or left no end of its record → harness-error, or
   timed-out where it was the server that it waited for
4. the drive's time was over → timed-out, by the server where it was the server that
   took the time

and then, check by check, what `mcpconf.tasks_extension.rule` says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpconf.process import EndKind
from mcpconf.record import (
    Attribution,
    Check,
    Outcome,
    Policy,
    ScenarioResult,
)
from mcpconf.ruling import Ruling, checked, ruling_of, summed_up
from mcpconf.server.exchange import How
from mcpconf.tasks_extension.definition import REVISION, Level
from mcpconf.tasks_extension.rule import finding_of
from mcpconf.tasks_extension.session import result_in

if TYPE_CHECKING:
    from mcpconf.tasks_extension.definition import TaskCheck
    from mcpconf.tasks_extension.evidence import Evidence
    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.plan import TasksCase

#: What may be no more than a warning, by how strongly it is asked for.
_WARNINGS = {
    Level.MUST: frozenset[Outcome](),
    Level.SHOULD: frozenset({Outcome.FAILED}),
    Level.POLICY: frozenset({Outcome.FAILED, Outcome.UNOBSERVED}),
}


def judge(case: TasksCase, evidence: Evidence | None, policy: Policy) -> ScenarioResult:
    """The result of one case; `evidence` is None when it was never launched."""
    if evidence is None:
        return _alike(case, Ruling(Outcome.NOT_RUN, None, "was not run"), policy)
    seen = evidence.observation
    ruling = _ended_badly(evidence)
    if ruling is not None:
        result = _alike(case, ruling, policy)
    else:
        checks = [_check(check, _rule(case, check, seen)) for check in case.checks]
        result = summed_up(case.key, checks, policy)
    is_spoken = any(result_in(each) is not None for each in seen.exchanges)
    is_ours = ruling is not None and ruling.outcome is Outcome.HARNESS_ERROR
    return replace(
        result,
        harness_checks=(("probe", ruling.reason if ruling and is_ours else None),),
        offered=(REVISION.value,) if seen.exchanges else (),
        agreed=(REVISION.value,) if is_spoken else (),
        leftovers=tuple(each.name for each in evidence.ended.leftovers),
        duration_s=evidence.ended.duration_s,
        diagnostics=evidence.probe_stderr,
        client_stderr=evidence.server.stderr,  # the subject's, whoever it is
    )


def unreadable(case: TasksCase, problem: str) -> ScenarioResult:
    """The result of a case whose evidence is not what we write: our fault."""
    ruling = Ruling(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
    return _alike(case, ruling, Policy())


def _ended_badly(evidence: Evidence) -> Ruling | None:
    ended, seen = evidence.ended, evidence.observation
    if ended.kind is EndKind.STOPPED:
        return Ruling(Outcome.NOT_RUN, None, "the run was stopped during this case")
    crash = evidence.server.crash
    if crash is not None:
        return Ruling(Outcome.CRASHED, Attribution.SUBJECT, crash)
    if seen.driver_error is not None:
        return _fault(f"the drive broke: {seen.driver_error.strip()[-500:]}")
    if seen.out_of_time is not None:
        return _out_of_time(seen, f"out of time before {seen.out_of_time}")
    if ended.kind is EndKind.TIMED_OUT:
        return _out_of_time(seen, "the probe outlived its limit")
    return _probe_ended_badly(evidence)


def _probe_ended_badly(evidence: Evidence) -> Ruling | None:
    ended = evidence.ended
    if ended.kind is not EndKind.EXITED or ended.exit_code != 0:
        how = ended.error or ended.signal or f"exit code {ended.exit_code}"
        said = (evidence.probe_stderr or "").strip()[-300:]
        return _fault(f"the probe ended with {how}; it said: {said or 'nothing'}")
    if not evidence.is_whole:
        return _fault("the record of the drive stops short, so nothing can be judged")
    return None


def _fault(problem: str) -> Ruling:
    return Ruling(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)


def _out_of_time(seen: Observation, problem: str) -> Ruling:
    """By whom: the server, where some answer never came or all of them took so long."""
    silent = [each for each in seen.exchanges if each.how is How.TIMED_OUT]
    if silent:
        problem = f"{problem}; {silent[0].label} was not answered to its end"
        return Ruling(Outcome.TIMED_OUT, Attribution.SUBJECT, problem)
    waited_ms = sum(each.t1_ms - each.t0_ms for each in seen.exchanges)
    passed_ms = max((each.t1_ms for each in seen.exchanges), default=0.0)
    if passed_ms and waited_ms * 2 >= passed_ms:
        problem = f"{problem}; {waited_ms / 1000:.1f} s of it were the server's"
        return Ruling(Outcome.TIMED_OUT, Attribution.SUBJECT, problem)
    return Ruling(Outcome.TIMED_OUT, Attribution.HARNESS, problem)


def _rule(case: TasksCase, check: TaskCheck, seen: Observation) -> Ruling:
    try:
        finding = finding_of(case.scenario, check, seen)
    except Exception as error:  # noqa: BLE001 (a check of ours that breaks is no verdict)
        return _fault(f"{case.key}: check {check.id} broke: {error!r}")
    return ruling_of(finding)


def _check(definition: TaskCheck, ruling: Ruling) -> Check:
    return checked(
        definition.id,
        ruling,
        demand=definition.sentence,
        level=definition.level.value,
        page=definition.page,
        warns=_WARNINGS[definition.level],
    )


def _alike(case: TasksCase, ruling: Ruling, policy: Policy) -> ScenarioResult:
    """The result where one ruling is about every check."""
    return summed_up(case.key, [_check(each, ruling) for each in case.checks], policy)
