"""
Evidence becomes an outcome, by rules that read nothing but the evidence.

The rules are tried in order; the first that applies decides:

 1. the run was stopped, or the case never launched → not-run
 2. the manifest or the driver says the client cannot do it → unsupported
 3. the suite did not start → harness-error
 4. the driver broke → harness-error (adapter)
 5. the client was killed, or it or the suite outlived its time → crashed, timed-out
 6. the suite crashed, or its ``checks.json`` is missing or malformed → harness-error
 7. no witness of any server → harness-error; no traffic of the client → unobserved
 8. the client speaks another era's revision, or agrees on one → unsupported
 9. a check failed → failed, or suite-defect where upstream is known to be wrong
10. an expected refusal did not happen where it should → failed or unobserved
11. the driver's own steps failed → failed
12. a message of the client broke its revision's schema → failed
13. no required check said SUCCESS → unobserved
14. no message of the client names a revision → unobserved
15. the wire log stops short → harness-error
16. otherwise → passed

Rules 10, 13 and 14 are also statements of the harness, each with a name of its own: an
earlier rule that decides, or a failure that is known, hides none of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpconf import wire
from mcpconf.client.job import DriverVerdict
from mcpconf.process import Ended, EndKind
from mcpconf.record import (
    Attribution,
    Check,
    CheckStatus,
    Outcome,
    Policy,
    RevisionPolicy,
    ScenarioResult,
    WarningPolicy,
)
from mcpconf.revision import era_of
from mcpconf.suite.defect import known_defect
from mcpconf.suite.rejection import (
    REJECTIONS,
    not_reached,
    rejection_problem,
    went_on,
)
from mcpconf.wire_schema import violations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpconf.evidence import AdapterRecord, CaseEvidence
    from mcpconf.plan import PlannedCase

    #: What the harness says of a case: a name, and what is wrong, if anything.
    _Statement = tuple[str, str | None]

#: The suite ends with 0 (green) or 1 (red); anything else is a crash of its own.
_SUITE_EXITS = (0, 1)
#: The statements of rule 10, and of rules 13 and 14.
REFUSAL_REACHED, EXPECTED_REFUSAL = "refusal-reached", "expected-refusal"
REQUIRED_CHECK, REVISION_NAMED = "required-check", "revision-named"


@dataclass(frozen=True, slots=True)
class _Finding:
    outcome: Outcome
    attribution: Attribution | None
    reason: str


def judge(
    case: PlannedCase,
    evidence: CaseEvidence | None,
    policy: Policy,
    *,
    unsupported: str | None = None,
) -> ScenarioResult:
    """
    The result of one case.

    `evidence` is None when the case was never launched; `unsupported` is the
    manifest's word, if it has one.
    """
    if unsupported is not None:
        finding = _Finding(Outcome.UNSUPPORTED, None, unsupported)
        return _result(case, finding, evidence, policy)
    if evidence is None:
        finding = _Finding(Outcome.NOT_RUN, None, "was not run")
        return _result(case, finding, None, policy)
    early = _ended_badly(evidence) or _not_seen(case, evidence, policy)
    if early is not None:
        return _result(case, early, evidence, policy)
    finding = _checked(case, evidence, policy)
    stated = tuple(_stated(case, evidence))
    return _result(case, finding, evidence, policy, stated)


def _ended_badly(evidence: CaseEvidence) -> _Finding | None:
    if evidence.ended.kind is EndKind.STOPPED:
        return _Finding(Outcome.NOT_RUN, None, "the run was stopped during this case")
    if evidence.ended.kind is EndKind.FAILED_TO_START:
        problem = f"the suite did not start: {evidence.ended.error}"
        return _Finding(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
    adapter = evidence.adapter
    if adapter is not None:
        finding = _client_ended_badly(adapter)
        if finding is not None:
            return finding
    if evidence.ended.kind is EndKind.TIMED_OUT or (
        adapter is not None and adapter.end.kind is EndKind.TIMED_OUT
    ):
        return _timed_out(evidence)
    return _suite_ended_badly(evidence)


def _client_ended_badly(adapter: AdapterRecord) -> _Finding | None:
    if adapter.verdict is DriverVerdict.UNSUPPORTED:
        return _Finding(Outcome.UNSUPPORTED, None, adapter.error or "unsupported")
    if adapter.verdict is DriverVerdict.ADAPTER_FAULT:
        problem = f"the driver broke: {(adapter.error or '').strip()[-500:]}"
        return _Finding(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    if adapter.end.kind is EndKind.SIGNALLED:
        problem = f"the client was killed by {adapter.end.signal}"
        return _Finding(Outcome.CRASHED, Attribution.SUBJECT, problem)
    if adapter.end.kind is EndKind.FAILED_TO_START:
        problem = f"the client did not start: {adapter.error}"
        return _Finding(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    return None


def _suite_ended_badly(evidence: CaseEvidence) -> _Finding | None:
    ended = evidence.ended
    if ended.kind is EndKind.SIGNALLED or ended.exit_code not in _SUITE_EXITS:
        problem = f"the suite crashed ({ended.signal or f'exit {ended.exit_code}'})"
        return _Finding(Outcome.HARNESS_ERROR, Attribution.SUITE, problem)
    if evidence.adapter is None:
        problem = f"no record of the driver: {evidence.adapter_fault}"
        return _Finding(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    if evidence.checks_fault is not None:
        return _Finding(Outcome.HARNESS_ERROR, Attribution.SUITE, evidence.checks_fault)
    return None


def _timed_out(evidence: CaseEvidence) -> _Finding:
    silence = wire.silence_of(evidence.wire)
    if evidence.adapter is None:
        blame, who = Attribution.ADAPTER, "the driver left no record"
    elif evidence.adapter.end.kind is not EndKind.TIMED_OUT:
        blame, who = Attribution.SUITE, "the client had ended and the suite went on"
        who += f"; {silence.description}" if silence else ""
    elif silence is not None and silence.side == "server":
        blame, who = Attribution.SUITE, silence.description
    else:
        blame = Attribution.SUBJECT
        who = silence.description if silence else "nothing was ever sent"
    return _Finding(Outcome.TIMED_OUT, blame, f"out of time; {who}")


def _not_seen(
    case: PlannedCase, evidence: CaseEvidence, policy: Policy
) -> _Finding | None:
    if not evidence.wire.ports and not evidence.wire.exchanges:
        problem = "the witness saw no server: it was not loaded into the suite"
        return _Finding(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
    if not wire.is_live(evidence.wire):
        problem = f"the client sent nothing{_how_it_ended(evidence)}"
        return _Finding(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)
    revision = case.key.revision
    seen = wire.revisions_of(evidence.wire)
    eras = wire.eras_of(evidence.wire)
    if eras and revision.era not in eras:
        problem = (
            f"the client opens as the {' and '.join(sorted(eras))} era does, offering "
            f"{', '.join(seen.offered)}; {revision.value} is of the {revision.era} era"
        )
        return _Finding(Outcome.UNSUPPORTED, Attribution.SUBJECT, problem)
    foreign = [each for each in seen.agreed if era_of(each) is not revision.era]
    if foreign:
        problem = f"{', '.join(foreign)} was agreed, of another era"
        return _Finding(Outcome.UNSUPPORTED, Attribution.SUBJECT, problem)
    if policy.revision is RevisionPolicy.EXACT:
        others = [each for each in seen.agreed if each != revision.value]
        if others:
            problem = f"{', '.join(others)} was agreed, not {revision.value}"
            return _Finding(Outcome.UNSUPPORTED, Attribution.SUBJECT, problem)
    return None


def _how_it_ended(evidence: CaseEvidence) -> str:
    code = evidence.adapter.end.exit_code if evidence.adapter else None
    return f" and exited with {code}: did it start at all?" if code else ""


def is_failing(check: Check, policy: Policy) -> bool:
    """Whether one check counts against the scenario under the warning policy."""
    return check.status is CheckStatus.FAILURE or (
        check.status is CheckStatus.WARNING and policy.warnings is WarningPolicy.FAIL
    )


def _checked(case: PlannedCase, evidence: CaseEvidence, policy: Policy) -> _Finding:
    return (
        _check_failed(case, evidence, policy)
        or _not_refused(case, evidence)
        or _drive_failed(case, evidence)
        or _nothing_required(case, evidence)
        or _never_opened(evidence)
        or _cut_short(evidence)
        or _Finding(Outcome.PASSED, None, "passed")
    )


def _check_failed(
    case: PlannedCase, evidence: CaseEvidence, policy: Policy
) -> _Finding | None:
    failing = [check for check in evidence.checks if is_failing(check, policy)]
    if not failing:
        return None
    first = failing[0]
    defects = [known_defect(case.key.scenario, check) for check in failing]
    if all(defects):
        problem = f"{first.check_id}: {defects[0]}"
        return _Finding(Outcome.SUITE_DEFECT, Attribution.SUITE, problem)
    more = f" (and {len(failing) - 1} more)" if len(failing) > 1 else ""
    problem = f"{first.check_id}: {first.error or first.description}{more}"
    return _Finding(Outcome.FAILED, Attribution.SUBJECT, problem)


def _not_refused(case: PlannedCase, evidence: CaseEvidence) -> _Finding | None:
    problem, is_subjects = rejection_problem(case.key.scenario, evidence.wire)
    if problem is None:
        return None
    outcome = Outcome.FAILED if is_subjects else Outcome.UNOBSERVED
    return _Finding(outcome, Attribution.SUBJECT, problem)


def _drive_failed(case: PlannedCase, evidence: CaseEvidence) -> _Finding | None:
    adapter = evidence.adapter
    if (
        adapter is not None
        and adapter.verdict is DriverVerdict.CLIENT_ERROR
        # A program of the launch contract may end with an error where it must refuse.
        and not (case.entry.allow_client_error and adapter.driver == "command")
    ):
        problem = f"the client failed: {adapter.error}"
        return _Finding(Outcome.FAILED, Attribution.SUBJECT, problem)
    broken = _schema_problem(case, evidence)
    if broken is not None:
        return _Finding(Outcome.FAILED, Attribution.SUBJECT, broken)
    return None


def _nothing_required(case: PlannedCase, evidence: CaseEvidence) -> _Finding | None:
    succeeded = {
        check.check_id
        for check in evidence.checks
        if check.status is CheckStatus.SUCCESS
    }
    if succeeded & case.entry.required:
        return None
    problem = "no required check said SUCCESS"
    return _Finding(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)


def _never_opened(evidence: CaseEvidence) -> _Finding | None:
    """A program that only fetches metadata, say, speaks no revision's protocol."""
    if wire.has_opened(evidence.wire):
        return None
    problem = "no message of the client names the revision it speaks"
    return _Finding(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)


def _cut_short(evidence: CaseEvidence) -> _Finding | None:
    """What must not be on the wire may be in the part that is missing."""
    if not evidence.wire.truncated:
        return None
    problem = "the wire log stops short, so nothing can be said to be absent from it"
    return _Finding(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)


def _stated(case: PlannedCase, evidence: CaseEvidence) -> Iterator[_Statement]:
    """Rules 10, 13 and 14 of a case that came so far, whatever decides it."""
    scenario, log = case.key.scenario, evidence.wire
    if scenario in REJECTIONS:
        missing, further = not_reached(scenario, log), went_on(scenario, log)
        # What is missing may be in the part of the log that was cut off.
        if missing is None or not log.truncated:
            yield REFUSAL_REACHED, missing
        ends = REJECTIONS[scenario].forbidden  # else nothing is named that may not be
        if ends and (further or (missing is None and not log.truncated)):
            yield EXPECTED_REFUSAL, further
    # A required check that fails says so itself: known, it must not hide the others.
    is_told = any(
        check.status is CheckStatus.FAILURE and check.check_id in case.entry.required
        for check in evidence.checks
    )
    untold = None if is_told else _nothing_required(case, evidence)
    yield REQUIRED_CHECK, None if untold is None else untold.reason
    unnamed = _never_opened(evidence)
    yield REVISION_NAMED, None if unnamed is None else unnamed.reason


def _schema_problem(case: PlannedCase, evidence: CaseEvidence) -> str | None:
    """The first message of the client that breaks the schema of its revision."""
    found = violations(evidence.wire, case.key.revision.value)
    if not found:
        return None
    first, more = found[0], len(found) - 1
    also = f" (and {more} more)" if more else ""
    return f"{first.method or 'a message'} at {first.revision}: {first.problem}{also}"


def _result(
    case: PlannedCase,
    finding: _Finding,
    evidence: CaseEvidence | None,
    policy: Policy,
    stated: tuple[_Statement, ...] = (),
) -> ScenarioResult:
    result = ScenarioResult(
        key=case.key,
        outcome=finding.outcome,
        attribution=finding.attribution,
        reason=finding.reason,
    )
    if evidence is None:
        return result
    seen = wire.revisions_of(evidence.wire)
    is_hung = finding.outcome in {Outcome.TIMED_OUT, Outcome.UNOBSERVED}
    silence = wire.silence_of(evidence.wire) if is_hung else None
    ids = {check.check_id for check in evidence.checks}
    is_complete = finding.outcome in {Outcome.PASSED, Outcome.FAILED}
    return replace(
        result,
        checks=evidence.checks,
        harness_checks=(
            *_harness_checks(case, finding, evidence, policy),
            *stated,
        ),
        offered=seen.offered,
        agreed=seen.agreed,
        silence=silence.description if silence else None,
        leftovers=_leftovers(evidence.ended),
        missing_checks=(
            tuple(sorted(set(case.entry.checks) - ids)) if is_complete else ()
        ),
        unknown_checks=tuple(sorted(ids - set(case.entry.checks))),
        duration_s=evidence.ended.duration_s,
        diagnostics=evidence.diagnostics,
        client_stderr=evidence.client_stderr,
    )


def _leftovers(ended: Ended) -> tuple[str, ...]:
    """Who had to be killed, and who could not be."""
    names = tuple(each.name for each in ended.leftovers)
    survived = ended.error if ended.kind is not EndKind.FAILED_TO_START else None
    return (*names, survived) if survived else names


def _harness_checks(
    case: PlannedCase, finding: _Finding, evidence: CaseEvidence, policy: Policy
) -> tuple[_Statement, ...]:
    """The driver's result, the schema of what was sent, what no check explains."""
    adapter = evidence.adapter
    if adapter is None:
        said: str | None = evidence.adapter_fault
    elif adapter.verdict is DriverVerdict.DONE or finding.outcome is Outcome.PASSED:
        said = None  # a pass excuses the error that an expected refusal ends with
    else:
        said = adapter.error or adapter.verdict.value
    checks: list[_Statement] = [("adapter", said)]
    broken = None
    if wire.is_live(evidence.wire):
        broken = _schema_problem(case, evidence)
        checks.append(("wire-schema", broken))
    explained = (
        said is not None
        or broken is not None
        or any(is_failing(check, policy) for check in evidence.checks)
    )
    if finding.outcome is not Outcome.PASSED and not explained:
        checks.append(("official-runner", finding.reason))
    return tuple(checks)
