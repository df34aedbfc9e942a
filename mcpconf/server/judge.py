"""
Evidence of a server becomes an outcome, by rules that read nothing but the evidence.

The rules are tried in order; the first that applies decides:

 1. the run was stopped, or the case never launched → not-run
 2. the suite did not start → harness-error
 3. the server ended during the case → crashed
 4. the suite ran out of time → timed-out, by the server where it owed an answer
 5. the suite was killed or ended as it never does → harness-error (suite)
 6. the suite skipped every check and sent nothing → unobserved (suite)
 7. the witness saw nothing at all → harness-error
 8. no connection, or not one HTTP answer → unobserved; a redirect → failed
 9. the server says that it speaks another era → unsupported
10. no sound ``checks.json``: the suite broke on what the server answered → failed;
    it did not say so → harness-error (suite)
11. a check failed → failed, or suite-defect where upstream is known to be wrong
12. the suite ended with 1, and no check failed → harness-error (suite)
13. there was nothing to look at, as the specification permits → not-applicable
14. no check said SUCCESS that counts, or the tools that were called are not there,
    which a server may say in a result → unobserved
15. the wire log stops short → harness-error
16. otherwise → passed

A check that the catalogue calls silent counts only for a server that was heard: some
server that speaks no MCP earns it too, or one that does nothing. That the server's
messages fit their schema never counts, since it is true of none at all.

Rule 14 is also a statement of the harness, as for clients: what the suite says of the
server's messages and their schema is a check of its own. An inner limit of the suite
ends with the check ``scenario-timeout``, which is rule 4 and not rule 11.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpconf import wire
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
from mcpconf.record import Attribution, CheckStatus, Outcome, ScenarioResult
from mcpconf.revision import Era
from mcpconf.server import heard
from mcpconf.server.era import refused_era

if TYPE_CHECKING:
    from mcpconf.plan import PlannedCase
    from mcpconf.record import Policy
    from mcpconf.server.evidence import ServerEvidence
    from mcpconf.wire import WireLog

#: How the suite says that its own limit was reached.
TIMEOUT_CHECK = "scenario-timeout"
#: The suite's own look at every message of the server.
SCHEMA_CHECK = "wire-schema-valid"
#: Where the suite says what it broke on.
_BROKE = "Server test error:"
_NO_CONNECTION = "no connection could be made to the server's address"
#: Scenarios whose checks are always skipped, and what looks instead.
_STUBS = {
    "tasks-status-notifications": (
        "; tasks/notifications of ours looks at these notifications"
    ),
}
#: Where an error of the tool is what is asked for.
_TOOL_ERROR = "tools-call-error"
_SESSION_LIFECYCLE = "server-session-lifecycle"
_SESSION = "mcp-session-id"


def judge(
    case: PlannedCase, evidence: ServerEvidence | None, policy: Policy
) -> ScenarioResult:
    """The result of one case; `evidence` is None when it was never launched."""
    if evidence is None:
        finding = Finding(Outcome.NOT_RUN, None, "was not run")
        return _result(case, finding, None, policy)
    early = (
        _ended_badly(evidence)
        or _not_seen(case, evidence)
        or _other_era(case, evidence, policy)
        or _no_checks(evidence)
    )
    if early is not None:
        return _result(case, early, evidence, policy)
    finding = _checked(case, evidence, policy)
    untold = untold_requirement(case.entry, evidence.checks)
    if untold is not None and _nothing_counts(case, evidence) is None:
        untold = None
    stated = (REQUIRED_CHECK, untold)
    is_stated = finding.outcome is not Outcome.NOT_APPLICABLE
    return _result(case, finding, evidence, policy, (stated,) if is_stated else ())


def _ended_badly(evidence: ServerEvidence) -> Finding | None:
    ended = evidence.ended
    if ended.kind is EndKind.STOPPED:
        return Finding(Outcome.NOT_RUN, None, "the run was stopped during this case")
    if ended.kind is EndKind.FAILED_TO_START:
        problem = f"the suite did not start: {ended.error}"
        return Finding(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
    crash = evidence.server.crash
    if crash is not None:
        return Finding(Outcome.CRASHED, Attribution.SUBJECT, crash)
    is_late = ended.kind is EndKind.TIMED_OUT or any(
        check.check_id == TIMEOUT_CHECK and check.status is CheckStatus.FAILURE
        for check in evidence.checks
    )
    return _timed_out(evidence.wire) if is_late else suite_crashed(ended)


def _timed_out(log: WireLog) -> Finding:
    if log.exchanges and not log.ports:
        problem = f"out of time; {_NO_CONNECTION}"
        return Finding(Outcome.TIMED_OUT, Attribution.SUBJECT, problem)
    silence = wire.silence_of(log)
    is_servers = silence is not None and silence.side is wire.Side.SERVER
    blame = Attribution.SUBJECT if is_servers else Attribution.SUITE
    who = silence.description if silence else "nothing was ever sent"
    # The suite is the client of this log.
    who = who if is_servers else who.replace("the client", "the suite")
    return Finding(Outcome.TIMED_OUT, blame, f"out of time; {who}")


def _not_seen(case: PlannedCase, evidence: ServerEvidence) -> Finding | None:
    log = evidence.wire
    if not log.exchanges and not log.ports:
        if _is_all_skipped(evidence):
            hint = _STUBS.get(case.key.scenario, "")
            problem = f"not observed: the suite sends nothing and skips it{hint}"
            return Finding(Outcome.UNOBSERVED, Attribution.SUITE, problem)
        problem = (
            "the witness saw nothing: it was not loaded, or the suite sent nothing"
        )
        return Finding(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)
    if not log.ports:
        return Finding(Outcome.UNOBSERVED, Attribution.SUBJECT, _NO_CONNECTION)
    if not _is_answered(log):
        problem = f"the server answered none of {len(log.exchanges)} requests"
        return Finding(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)
    elsewhere = heard.redirected(log)
    if elsewhere is not None:
        problem = f"{elsewhere}: what follows is another server's"
        return Finding(Outcome.FAILED, Attribution.SUBJECT, problem)
    return None


def _is_all_skipped(evidence: ServerEvidence) -> bool:
    statuses = {check.status for check in evidence.checks}
    return statuses == {CheckStatus.SKIPPED}


def _is_answered(log: WireLog) -> bool:
    return any(exchange.status is not None for exchange in log.exchanges)


def _other_era(
    case: PlannedCase, evidence: ServerEvidence, policy: Policy
) -> Finding | None:
    revision = case.key.revision
    refusal = refused_era(evidence.wire, revision)
    if refusal is not None:
        problem = f"{refusal}; {revision.value} is of the {revision.era} era"
        return Finding(Outcome.UNSUPPORTED, Attribution.SUBJECT, problem)
    if revision.era is Era.STATELESS:
        return None  # requests of made-up revisions are part of its scenarios
    agreed = wire.revisions_of(evidence.wire).agreed
    return foreign_revision(agreed, revision, policy)


def _no_checks(evidence: ServerEvidence) -> Finding | None:
    """Rule 10; here the server has answered something."""
    if evidence.checks_fault is None:
        return None
    said = _broken_on(evidence.diagnostics)
    if said is None:
        return Finding(Outcome.HARNESS_ERROR, Attribution.SUITE, evidence.checks_fault)
    problem = f"the suite broke on an answer of the server: {said}"
    return Finding(Outcome.FAILED, Attribution.SUBJECT, problem)


def _broken_on(diagnostics: str | None) -> str | None:
    """What the suite's own report of its end says; None where it made none."""
    for line in reversed((diagnostics or "").splitlines()):
        before, mark, said = line.partition(_BROKE)
        if mark and not before.strip():
            return said.strip() or "it does not say on what"
    return None


def _checked(case: PlannedCase, evidence: ServerEvidence, policy: Policy) -> Finding:
    return (
        _check_failed(case, evidence, policy)
        or _red_for_nothing(evidence)
        or _nothing_to_see(case, evidence)
        or _nothing_counts(case, evidence)
        or cut_short(evidence.wire)
        or Finding(Outcome.PASSED, None, "passed")
    )


def _check_failed(
    case: PlannedCase, evidence: ServerEvidence, policy: Policy
) -> Finding | None:
    finding = check_failed(case.key.scenario, evidence.checks, policy)
    absent = heard.lacking_tools(evidence.wire)
    if finding is None or absent is None:
        return finding
    # The suite says what it did not find, and not that there was nobody to give it.
    return replace(finding, reason=f"the server has no tool {absent}; {finding.reason}")


def _red_for_nothing(evidence: ServerEvidence) -> Finding | None:
    """A server's scenario is red for its FAILURE checks alone."""
    is_red = evidence.ended.exit_code != 0
    if not is_red or any(
        check.status is CheckStatus.FAILURE for check in evidence.checks
    ):
        return None
    problem = "the suite ended as if a check had failed, and none did"
    return Finding(Outcome.HARNESS_ERROR, Attribution.SUITE, problem)


def _nothing_counts(case: PlannedCase, evidence: ServerEvidence) -> Finding | None:
    finding = nothing_required(case.entry, evidence.checks)
    is_earned = any(
        check.status is CheckStatus.SUCCESS and check.check_id != SCHEMA_CHECK
        for check in evidence.checks
    )
    if not is_earned or not heard.is_heard(evidence.wire):
        return finding
    absent, failing = heard.absent_tools(evidence.wire), None
    if case.key.scenario != _TOOL_ERROR:
        failing = heard.failing_tools(evidence.wire)
    if absent is None and failing is None:
        return None
    problem = f"the server has no tool {absent}: it answers so, in a result"
    if absent is None:
        problem = f"every call of {failing} is answered with an error of the tool"
    return Finding(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)


def _nothing_to_see(case: PlannedCase, evidence: ServerEvidence) -> Finding | None:
    """Sessions are optional; where there is none, the suite says no more than INFO."""
    if case.key.scenario != _SESSION_LIFECYCLE or evidence.checks:
        return None
    opened = {
        each.exchange
        for each in wire.messages(evidence.wire)
        if each.kind is wire.Kind.RESPONSE and "protocolVersion" in _result_of(each)
    }
    answers = [each for each in evidence.wire.exchanges if each.id in opened]
    if not answers or any(each.response_header(_SESSION) for each in answers):
        return None
    problem = "the server opens no session, which is its choice; there is none to end"
    return Finding(Outcome.NOT_APPLICABLE, None, problem)


def _result_of(message: wire.Message) -> dict[str, object]:
    result = message.payload.get("result")
    return dict(result) if isinstance(result, dict) else {}


def _result(
    case: PlannedCase,
    finding: Finding,
    evidence: ServerEvidence | None,
    policy: Policy,
    stated: tuple[tuple[str, str | None], ...] = (),
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
    ids = {check.check_id for check in evidence.checks}
    is_complete = finding.outcome in {Outcome.PASSED, Outcome.FAILED}
    is_explained = finding.outcome is Outcome.PASSED or any(
        is_failing(check, policy) for check in evidence.checks
    )
    runner = () if is_explained else (("official-runner", finding.reason),)
    return replace(
        result,
        checks=evidence.checks,
        harness_checks=(*runner, *stated),
        offered=seen.offered,
        agreed=seen.agreed,
        silence=_silence(finding, evidence.wire),
        leftovers=leftovers_of(evidence.ended),
        missing_checks=(
            tuple(sorted(set(case.entry.checks) - ids - {TIMEOUT_CHECK}))
            if is_complete
            else ()
        ),
        unknown_checks=tuple(sorted(ids - set(case.entry.checks))),
        duration_s=evidence.ended.duration_s,
        diagnostics=evidence.diagnostics,
        client_stderr=evidence.server.stderr,  # the subject's, whoever it is
    )


def _silence(finding: Finding, log: WireLog) -> str | None:
    """Who owed what, where the server is said to have fallen silent."""
    is_hung = finding.outcome in {Outcome.TIMED_OUT, Outcome.UNOBSERVED}
    silence = wire.silence_of(log) if is_hung else None
    is_servers = silence is not None and silence.side is wire.Side.SERVER
    return silence.description if silence and is_servers else None
