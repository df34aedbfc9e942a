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
15. where authorization is to succeed, no request of the client was let in → unobserved
16. the wire log stops short → harness-error
17. otherwise → passed

Rules 10 and 13 to 15 are also statements of the harness, each with a name of its own:
an earlier rule that decides, or a failure that is known, hides none of them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpconf import wire
from mcpconf.client.job import DriverVerdict
from mcpconf.judge_rule import (
    REQUIRED_CHECK,
    Finding,
    check_failed,
    cut_short,
    foreign_revision,
    is_failing,
    leftovers_of,
    nothing_required,
    suite_crashed,
    untold_requirement,
)
from mcpconf.process import EndKind
from mcpconf.record import Attribution, Outcome, Policy, ScenarioResult
from mcpconf.suite.rejection import (
    REJECTIONS,
    is_to_let_in,
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

__all__ = [
    "AUTHORIZATION_USED",
    "EXPECTED_REFUSAL",
    "REFUSAL_REACHED",
    "REQUIRED_CHECK",
    "REVISION_NAMED",
    "judge",
]

#: The statements of rule 10, and of rules 14 and 15.
REFUSAL_REACHED, EXPECTED_REFUSAL = "refusal-reached", "expected-refusal"
REVISION_NAMED, AUTHORIZATION_USED = "revision-named", "authorization-used"


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
        finding = Finding(Outcome.UNSUPPORTED, None, unsupported)
        return _result(case, finding, evidence, policy)
    if evidence is None:
        finding = Finding(Outcome.NOT_RUN, None, "was not run")
        return _result(case, finding, None, policy)
    early = _ended_badly(evidence) or _not_seen(case, evidence, policy)
    if early is not None:
        return _result(case, early, evidence, policy)
    finding = _checked(case, evidence, policy)
    stated = tuple(_stated(case, evidence))
    return _result(case, finding, evidence, policy, stated)


def _ended_badly(evidence: CaseEvidence) -> Finding | None:
    if evidence.ended.kind is EndKind.STOPPED:
        return Finding(Outcome.NOT_RUN, None, "the run was stopped during this case")
    if evidence.ended.kind is EndKind.FAILED_TO_START:
        problem = f"the suite did not start: {evidence.ended.error}"
        return Finding(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
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


def _client_ended_badly(adapter: AdapterRecord) -> Finding | None:
    if adapter.verdict is DriverVerdict.UNSUPPORTED:
        return Finding(Outcome.UNSUPPORTED, None, adapter.error or "unsupported")
    if adapter.verdict is DriverVerdict.ADAPTER_FAULT:
        problem = f"the driver broke: {(adapter.error or '').strip()[-500:]}"
        return Finding(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    if adapter.end.kind is EndKind.SIGNALLED:
        problem = f"the client was killed by {adapter.end.signal}"
        return Finding(Outcome.CRASHED, Attribution.SUBJECT, problem)
    if adapter.end.kind is EndKind.FAILED_TO_START:
        problem = f"the client did not start: {adapter.error}"
        return Finding(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    return None


def _suite_ended_badly(evidence: CaseEvidence) -> Finding | None:
    ended = evidence.ended
    if crash := suite_crashed(ended):
        return crash
    if evidence.adapter is None:
        problem = f"no record of the driver: {evidence.adapter_fault}"
        return Finding(Outcome.HARNESS_ERROR, Attribution.ADAPTER, problem)
    if evidence.checks_fault is not None:
        return Finding(Outcome.HARNESS_ERROR, Attribution.SUITE, evidence.checks_fault)
    return None


def _timed_out(evidence: CaseEvidence) -> Finding:
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
    return Finding(Outcome.TIMED_OUT, blame, f"out of time; {who}")


def _not_seen(
    case: PlannedCase, evidence: CaseEvidence, policy: Policy
) -> Finding | None:
    if not evidence.wire.ports and not evidence.wire.exchanges:
        problem = "the witness saw no server: it was not loaded into the suite"
        return Finding(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
    if not wire.is_live(evidence.wire):
        problem = f"the client sent nothing{_how_it_ended(evidence)}"
        return Finding(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)
    revision = case.key.revision
    seen = wire.revisions_of(evidence.wire)
    eras = wire.eras_of(evidence.wire)
    if eras and revision.era not in eras:
        problem = (
            f"the client opens as the {' and '.join(sorted(eras))} era does, offering "
            f"{', '.join(seen.offered)}; {revision.value} is of the {revision.era} era"
        )
        return Finding(Outcome.UNSUPPORTED, Attribution.SUBJECT, problem)
    return foreign_revision(seen.agreed, revision, policy)


def _how_it_ended(evidence: CaseEvidence) -> str:
    code = evidence.adapter.end.exit_code if evidence.adapter else None
    return f" and exited with {code}: did it start at all?" if code else ""


def _checked(case: PlannedCase, evidence: CaseEvidence, policy: Policy) -> Finding:
    return (
        check_failed(case.key.scenario, evidence.checks, policy)
        or _not_refused(case, evidence)
        or _drive_failed(case, evidence)
        or nothing_required(case.entry, evidence.checks)
        or _never_opened(evidence)
        or _never_let_in(case, evidence)
        or cut_short(evidence.wire)
        or Finding(Outcome.PASSED, None, "passed")
    )


def _not_refused(case: PlannedCase, evidence: CaseEvidence) -> Finding | None:
    problem, is_subjects = rejection_problem(case.key.scenario, evidence.wire)
    if problem is None:
        return None
    outcome = Outcome.FAILED if is_subjects else Outcome.UNOBSERVED
    return Finding(outcome, Attribution.SUBJECT, problem)


def _drive_failed(case: PlannedCase, evidence: CaseEvidence) -> Finding | None:
    adapter = evidence.adapter
    if (
        adapter is not None
        and adapter.verdict is DriverVerdict.CLIENT_ERROR
        # A program of the launch contract may end with an error where it must refuse.
        and not (case.entry.allow_client_error and adapter.driver == "command")
    ):
        problem = f"the client failed: {adapter.error}"
        return Finding(Outcome.FAILED, Attribution.SUBJECT, problem)
    broken = _schema_problem(case, evidence)
    if broken is not None:
        return Finding(Outcome.FAILED, Attribution.SUBJECT, broken)
    return None


def _never_opened(evidence: CaseEvidence) -> Finding | None:
    """A program that only fetches metadata, say, speaks no revision's protocol."""
    if wire.has_opened(evidence.wire):
        return None
    problem = "no message of the client names the revision it speaks"
    return Finding(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)


def _never_let_in(case: PlannedCase, evidence: CaseEvidence) -> Finding | None:
    """A token that was granted, and never used, shows nothing of its use."""
    dialogue = wire.Dialogue(evidence.wire)
    asked = (
        each
        for each in dialogue.messages
        if each.direction is wire.Side.CLIENT and each.kind is wire.Kind.REQUEST
    )
    is_let_in = any(
        answer is not None and answer.kind is wire.Kind.RESPONSE
        for answer in map(dialogue.answer_to, asked)
    )
    if is_let_in or not is_to_let_in(case.entry):
        return None
    problem = "no request of the client was let in with what it was granted"
    return Finding(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)


def _stated(case: PlannedCase, evidence: CaseEvidence) -> Iterator[_Statement]:
    """Rules 10 and 13 to 15 of a case that came so far, whatever decides it."""
    scenario, log = case.key.scenario, evidence.wire
    if scenario in REJECTIONS:
        missing, further = not_reached(scenario, log), went_on(scenario, log)
        # What is missing may be in the part of the log that was cut off.
        if missing is None or not log.truncated:
            yield REFUSAL_REACHED, missing
        ends = REJECTIONS[scenario].forbidden  # else nothing is named that may not be
        if ends and (further or (missing is None and not log.truncated)):
            yield EXPECTED_REFUSAL, further
    yield REQUIRED_CHECK, untold_requirement(case.entry, evidence.checks)
    unnamed = _never_opened(evidence)
    yield REVISION_NAMED, None if unnamed is None else unnamed.reason
    if is_to_let_in(case.entry):
        unused = _never_let_in(case, evidence)
        yield AUTHORIZATION_USED, None if unused is None else unused.reason


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
    finding: Finding,
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
        leftovers=leftovers_of(evidence.ended),
        missing_checks=(
            tuple(sorted(set(case.entry.checks) - ids)) if is_complete else ()
        ),
        unknown_checks=tuple(sorted(ids - set(case.entry.checks))),
        duration_s=evidence.ended.duration_s,
        diagnostics=evidence.diagnostics,
        client_stderr=evidence.client_stderr,
    )


def _harness_checks(
    case: PlannedCase, finding: Finding, evidence: CaseEvidence, policy: Policy
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
