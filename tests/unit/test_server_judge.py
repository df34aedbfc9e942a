"""Every rule of the judge of servers, each with a case on both sides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from make import MIDDLE, NEW, make_case, make_check, make_ended
from wire_script import Script, error, initialize, request, result, stateless

from mcpconf.process import EndKind
from mcpconf.record import (
    Attribution,
    CheckStatus,
    Outcome,
    Policy,
    RevisionPolicy,
    ScenarioResult,
    WarningPolicy,
)
from mcpconf.server.era import refused_era
from mcpconf.server.evidence import ServerEvidence
from mcpconf.server.judge import judge
from mcpconf.server.watched import ServerSeen
from mcpconf.wire import WireLog

SUBJECT, SUITE = Attribution.SUBJECT, Attribution.SUITE
HARNESS = Attribution.HARNESS
SERVER = ServerSeen(url="http://127.0.0.1:1/mcp")
FAILURE, WARNING = CheckStatus.FAILURE, CheckStatus.WARNING
SKIPPED = CheckStatus.SKIPPED
WARN = Policy(warnings=WarningPolicy.WARN)
EXACT = Policy(revision=RevisionPolicy.EXACT)

TALK = Script().listen().exchange(stateless("tools/list"), result(tools=[])).log()
#: Something listens, and what it answers is no protocol.
MUTTER = Script().listen().exchange(stateless("tools/list"), {"x": 1}).log()
UNANSWERED = (
    Script().listen().exchange(stateless("tools/list"), status=None, ended="open").log()
)
HUNG_UP = (
    Script()
    .listen()
    .exchange(stateless("tools/list"), status=None, ended="closed")
    .log()
)
NOBODY = (
    Script()
    .exchange("", status=None, ended="closed", aborted=True)
    .exchange("", status=None, ended="closed", aborted=True)
    .log()
)
NOTHING = WireLog(exchanges=(), ports=frozenset(), truncated=False)
#: The suite waits for nothing that a server owes.
SETTLED = Script().listen().exchange(stateless("tools/list"), result()).log()
BROKE = (
    "✓ something\nServer test error: TypeError: x is not iterable\n    at run (a.js:1)"
)


def _evidence(**changes: Any) -> ServerEvidence:
    """What a server leaves that does everything its case asks for."""
    values: dict[str, Any] = {
        "ended": make_ended(),
        "checks": tuple(make_check(each) for each in make_case().entry.checks),
        "checks_fault": None,
        "wire": TALK,
        "diagnostics": None,
        "server": SERVER,
    }
    return ServerEvidence(**{**values, **changes})


def _judged(
    scenario: str = "tools-list", policy: Policy | None = None, **changes: Any
) -> ScenarioResult:
    case = make_case(scenario, NEW)
    return judge(case, _evidence(**changes), policy or Policy())


def _checks(*statuses: CheckStatus) -> tuple[Any, ...]:
    names = make_case().entry.checks
    return tuple(
        make_check(name, status, error=f"{name} is bad")
        for name, status in zip(names, statuses, strict=False)
    )


def test_a_server_that_does_everything_passes() -> None:
    judged = _judged()
    assert (judged.outcome, judged.attribution) == (Outcome.PASSED, None)
    assert judged.harness_checks == (("required-check", None),)
    assert (judged.missing_checks, judged.unknown_checks) == ((), ())
    assert judged.agreed == (NEW.value,)


def test_a_case_that_was_never_launched_was_not_run() -> None:
    judged = judge(make_case(revision=NEW), None, Policy())
    assert (judged.outcome, judged.checks) == (Outcome.NOT_RUN, ())


RED = make_ended(exit_code=1)
LATE = make_check("scenario-timeout", FAILURE)


@pytest.mark.parametrize(
    ("changes", "outcome", "attribution", "reason"),
    [
        pytest.param(
            {"ended": make_ended(EndKind.STOPPED)},
            *(Outcome.NOT_RUN, None, "stopped during this case"),
            id="stopped",
        ),
        pytest.param(
            {"ended": make_ended(EndKind.FAILED_TO_START)},
            *(Outcome.HARNESS_ERROR, HARNESS, "did not start: no such file"),
            id="the suite did not start",
        ),
        pytest.param(
            {
                "server": replace(
                    SERVER,
                    ended=make_ended(EndKind.SIGNALLED),
                    stderr="starting\nsegmentation fault\n\n",
                ),
                "wire": UNANSWERED,
            },
            Outcome.CRASHED,
            SUBJECT,
            "was killed by SIGKILL during this scenario: segmentation fault",
            id="the server was killed",
        ),
        pytest.param(
            {"server": replace(SERVER, ended=make_ended(exit_code=0))},
            *(Outcome.CRASHED, SUBJECT, "exited with 0 during this scenario"),
            id="the server ended, however green the checks",
        ),
        pytest.param(
            {"ended": make_ended(EndKind.TIMED_OUT), "wire": UNANSWERED},
            *(Outcome.TIMED_OUT, SUBJECT, "(tools/list) was never answered"),
            id="our limit, and the server owed an answer",
        ),
        pytest.param(
            {"ended": RED, "checks": (LATE,), "wire": UNANSWERED},
            *(Outcome.TIMED_OUT, SUBJECT, "was never answered by the server"),
            id="the suite's own limit, and the server owed an answer",
        ),
        pytest.param(
            {"ended": make_ended(EndKind.TIMED_OUT), "wire": SETTLED},
            *(Outcome.TIMED_OUT, SUITE, "the suite sent nothing more"),
            id="the suite went on with nothing owed",
        ),
        pytest.param(
            {"ended": make_ended(EndKind.TIMED_OUT), "wire": NOBODY},
            *(Outcome.TIMED_OUT, SUBJECT, "no connection could be made"),
            id="an address that takes no connection",
        ),
        pytest.param(
            {"ended": make_ended(EndKind.TIMED_OUT), "wire": NOTHING},
            *(Outcome.TIMED_OUT, SUITE, "nothing was ever sent"),
            id="the suite hung by itself",
        ),
        pytest.param(
            {"ended": make_ended(EndKind.SIGNALLED)},
            *(Outcome.HARNESS_ERROR, SUITE, "the suite crashed (SIGKILL)"),
            id="the suite was killed",
        ),
        pytest.param(
            {"ended": make_ended(exit_code=3)},
            *(Outcome.HARNESS_ERROR, SUITE, "the suite crashed (exit 3)"),
            id="the suite ended as it never does",
        ),
        pytest.param(
            {"wire": NOTHING},
            *(Outcome.HARNESS_ERROR, HARNESS, "the witness saw nothing"),
            id="no witness",
        ),
        pytest.param(
            {"wire": NOTHING, "checks": ()},
            *(Outcome.HARNESS_ERROR, HARNESS, "the witness saw nothing"),
            id="no witness and no checks",
        ),
        pytest.param(
            {"wire": NOTHING, "checks": _checks(SKIPPED, SKIPPED)},
            *(Outcome.UNOBSERVED, SUITE, "the suite sends nothing and skips it"),
            id="nothing sent and all of it skipped",
        ),
        pytest.param(
            {"wire": NOTHING, "checks": _checks(SKIPPED, CheckStatus.SUCCESS)},
            *(Outcome.HARNESS_ERROR, HARNESS, "the witness saw nothing"),
            id="nothing sent and something succeeded",
        ),
        pytest.param(
            {"wire": NOBODY, "ended": RED, "checks": _checks(FAILURE)},
            *(Outcome.UNOBSERVED, SUBJECT, "no connection"),
            id="nobody listens",
        ),
        pytest.param(
            {"wire": HUNG_UP},
            *(Outcome.UNOBSERVED, SUBJECT, "answered none of 1 requests"),
            id="not one answer, however green the checks",
        ),
        pytest.param(
            {"checks": (), "checks_fault": "no file", "diagnostics": BROKE},
            Outcome.FAILED,
            SUBJECT,
            "broke on an answer of the server: TypeError: x is not iterable",
            id="the suite broke on an answer",
        ),
        pytest.param(
            {"checks": (), "checks_fault": "no file", "diagnostics": "SKIPPED: no"},
            *(Outcome.HARNESS_ERROR, SUITE, "no file"),
            id="the suite wrote no checks and does not say why",
        ),
        pytest.param(
            {
                "checks": (),
                "checks_fault": "no file",
                "diagnostics": BROKE,
                "wire": UNANSWERED,
            },
            *(Outcome.UNOBSERVED, SUBJECT, "answered none"),
            id="the suite broke on no answer at all",
        ),
        pytest.param(
            {"ended": RED, "checks": _checks(FAILURE, FAILURE)},
            *(Outcome.FAILED, SUBJECT, "required-a: required-a is bad (and 1 more)"),
            id="checks failed",
        ),
        pytest.param(
            {"checks": _checks(CheckStatus.SUCCESS, WARNING)},
            *(Outcome.FAILED, SUBJECT, "required-b: required-b is bad"),
            id="a warning counts where the policy says so",
        ),
        pytest.param(
            {"checks": (make_check("wire-schema-harness-error", FAILURE),)},
            *(Outcome.SUITE_DEFECT, SUITE, "the suite says that it sent a message"),
            id="the suite blames itself",
        ),
        pytest.param(
            {"ended": RED},
            *(Outcome.HARNESS_ERROR, SUITE, "as if a check had failed"),
            id="red without a failure",
        ),
        pytest.param(
            {"checks": ()},
            *(Outcome.UNOBSERVED, SUBJECT, "no required check said SUCCESS"),
            id="an empty list",
        ),
        pytest.param(
            {"checks": _checks(SKIPPED, SKIPPED, SKIPPED)},
            *(Outcome.UNOBSERVED, SUBJECT, "no required check said SUCCESS"),
            id="all skipped",
        ),
        pytest.param(
            {"checks": (make_check("silent"),), "wire": MUTTER},
            *(Outcome.UNOBSERVED, SUBJECT, "no required check said SUCCESS"),
            id="a silent check, and no protocol was heard",
        ),
        pytest.param(
            {"checks": (make_check("wire-schema-valid"),)},
            *(Outcome.UNOBSERVED, SUBJECT, "no required check said SUCCESS"),
            id="sound messages alone",
        ),
        pytest.param(
            {"checks": (make_check("silent"),)},
            *(Outcome.PASSED, None, "passed"),
            id="a silent check of a server that was heard",
        ),
        pytest.param(
            {"wire": replace(TALK, truncated=True)},
            *(Outcome.HARNESS_ERROR, HARNESS, "stops short"),
            id="the wire log is cut",
        ),
    ],
)
def test_the_first_rule_that_applies_decides(
    changes: dict[str, Any],
    outcome: Outcome,
    attribution: Attribution | None,
    reason: str,
) -> None:
    judged = _judged(**changes)
    assert (judged.outcome, judged.attribution) == (outcome, attribution)
    assert reason in judged.reason


def test_a_warning_is_forgiven_where_the_policy_forgives_it() -> None:
    checks = _checks(CheckStatus.SUCCESS, WARNING)
    assert _judged(policy=WARN, checks=checks).outcome is Outcome.PASSED


def test_the_stub_for_notifications_points_to_the_scenario_that_looks() -> None:
    judged = _judged(
        "tasks-status-notifications",
        wire=NOTHING,
        checks=(make_check("tasks-status-notifications", SKIPPED),),
    )
    assert (judged.outcome, judged.attribution) == (Outcome.UNOBSERVED, SUITE)
    assert "not observed" in judged.reason
    assert "tasks/notifications" in judged.reason


def test_the_last_words_of_a_server_are_kept() -> None:
    assert (
        _judged(server=replace(SERVER, stderr="a warning")).client_stderr == "a warning"
    )


def test_what_the_server_owed_is_told_of_a_time_out() -> None:
    ended = make_ended(EndKind.TIMED_OUT)
    assert "never answered" in (_judged(ended=ended, wire=UNANSWERED).silence or "")
    assert _judged(ended=ended, wire=SETTLED).silence is None


def test_what_a_failure_explains_needs_no_statement_of_ours() -> None:
    explained = _judged(ended=RED, checks=_checks(FAILURE)).harness_checks
    assert explained == (("required-check", None),)
    alone = _judged(checks=()).harness_checks
    assert [name for name, _ in alone] == ["official-runner", "required-check"]


@pytest.mark.parametrize(
    ("answer", "is_heard"),
    [
        (result(content=[]), True),
        (result(resultType="input_required", requestState="s"), True),
        (result(), False),
        (result(resultType="complete"), False),
        (error(code=-32602, text="Invalid params: user_name is no object"), True),
        (error(code=-32602, text="Unknown tool: test_a"), False),
        (error(code=-32602, text="Tool test_a not found"), False),
        (error(code=-32601, text="tools/call"), False),
        (error(code=-32603, text="internal"), False),
        ({"jsonrpc": "2.0", "id": 1, "error": "no"}, False),
        ({}, False),
    ],
)
def test_a_silent_check_counts_for_a_server_that_was_heard(
    answer: dict[str, Any], is_heard: bool
) -> None:
    log = Script().listen().exchange(stateless("tools/call"), answer).log()
    judged = _judged(checks=(make_check("silent"),), wire=log)
    assert judged.outcome is (Outcome.PASSED if is_heard else Outcome.UNOBSERVED)


# -- sessions are optional ----------------------------------------------------------


def _lifecycle(**headers: str) -> ScenarioResult:
    answer = result(protocolVersion=MIDDLE.value, capabilities={})
    log = (
        Script()
        .listen()
        .exchange(initialize(MIDDLE.value), answer, response_headers=headers)
        .log()
    )
    case = make_case("server-session-lifecycle", MIDDLE)
    return judge(case, _evidence(wire=log, checks=()), Policy())


def test_a_server_without_sessions_has_none_to_end() -> None:
    judged = _lifecycle()
    assert judged.outcome is Outcome.NOT_APPLICABLE
    assert all(name != "required-check" for name, _ in judged.harness_checks)


def test_a_server_with_sessions_must_show_how_they_end() -> None:
    assert _lifecycle(**{"mcp-session-id": "x"}).outcome is Outcome.UNOBSERVED


# -- another era ----------------------------------------------------------------------

SUPPORTED = {"supported": [MIDDLE.value], "requested": NEW.value}
DISCOVER, LIST = stateless("server/discover"), stateless("tools/list")
OLD_STYLE = {**error(code=-32000, text="Bad Request: No session"), "id": None}


def _unsupported(**data: object) -> dict[str, Any]:
    answer = error(code=-32022, text="unsupported")
    return {**answer, "error": {**answer["error"], "data": data}}


@pytest.mark.parametrize(
    ("asked", "answer", "status", "said"),
    [
        (LIST, _unsupported(**SUPPORTED), 400, "-32022: it speaks 2025-11-25"),
        (LIST, _unsupported(supported=[NEW.value]), 400, None),
        (LIST, _unsupported(), 400, None),
        (stateless("tools/list", version="x"), _unsupported(supported=[]), 400, None),
        (DISCOVER, error(code=-32601), 404, "server/discover with -32601"),
        (DISCOVER, error(code=-32601), 403, None),
        (DISCOVER, error(code=-32603), 500, None),
        (LIST, error(code=-32601), 404, None),
        (LIST, OLD_STYLE, 400, "wait for a handshake: Bad Request: No session"),
        (LIST, OLD_STYLE, 200, None),
        (
            LIST,
            error(code=-32600, text="unsupported MCP-Protocol-Version"),
            400,
            "unsupported MCP-Protocol-Version",
        ),
        (LIST, error(code=-32602, text="no protocol version in _meta"), 400, None),
        (LIST, error(code=-32000, text="unknown tool"), 400, None),
        (LIST, {}, 200, None),
    ],
)
def test_a_server_of_the_handshake_era_says_so(
    asked: dict[str, Any], answer: dict[str, Any], status: int, said: str | None
) -> None:
    script = Script().listen().exchange(asked, answer, status=status)
    refusal = refused_era(script.log(), NEW)
    assert refusal is None if said is None else said in (refusal or "")
    judged = _judged(wire=script.log(), ended=RED, checks=_checks(FAILURE))
    is_refused = judged.outcome is Outcome.UNSUPPORTED
    assert is_refused is (said is not None)
    assert is_refused or judged.outcome is Outcome.FAILED


def test_one_result_of_the_era_outweighs_every_refusal() -> None:
    script = Script().listen().exchange(DISCOVER, error(code=-32601), status=404)
    assert refused_era(script.log(), NEW)
    script.exchange(stateless("tools/list", 2), result(2, tools=[]))
    assert refused_era(script.log(), NEW) is None


@pytest.mark.parametrize(
    ("asked", "answer", "status", "is_refused"),
    [
        (initialize(MIDDLE.value), _unsupported(supported=[NEW.value]), 400, True),
        (initialize(MIDDLE.value), error(code=-32601), 404, True),
        (initialize(MIDDLE.value), error(code=-32600), 403, False),
        (initialize(MIDDLE.value), error(code=-32603), 500, False),
        (initialize(MIDDLE.value), error(code="odd"), 400, False),
        (request("tools/list"), error(code=-32601), 404, False),
        (initialize(MIDDLE.value), {}, 200, False),
    ],
)
def test_a_server_of_the_stateless_era_refuses_the_handshake(
    asked: dict[str, Any], answer: dict[str, Any], status: int, is_refused: bool
) -> None:
    log = Script().listen().exchange(asked, answer, status=status).log()
    assert (refused_era(log, MIDDLE) is not None) is is_refused
    evidence = _evidence(wire=log, ended=RED, checks=_checks(FAILURE))
    outcome = judge(make_case(revision=MIDDLE), evidence, Policy()).outcome
    assert outcome is (Outcome.UNSUPPORTED if is_refused else Outcome.FAILED)


@pytest.mark.parametrize(
    ("agreed", "policy", "outcome"),
    [
        (MIDDLE.value, EXACT, Outcome.PASSED),
        ("2025-06-18", Policy(), Outcome.PASSED),
        ("2025-06-18", EXACT, Outcome.UNSUPPORTED),
        (NEW.value, Policy(), Outcome.UNSUPPORTED),
    ],
)
def test_the_revision_that_a_server_settles_on_counts_by_policy(
    agreed: str, policy: Policy, outcome: Outcome
) -> None:
    answer = result(protocolVersion=agreed)
    log = Script().listen().exchange(initialize(MIDDLE.value), answer).log()
    judged = judge(make_case(revision=MIDDLE), _evidence(wire=log), policy)
    assert judged.outcome is outcome


def test_a_made_up_revision_that_is_served_is_no_other_era() -> None:
    """The suite asks for one on purpose, and has a check for it."""
    log = Script().listen().exchange(stateless("a/b", version="1999-01-01"), result())
    judged = _judged(wire=log.log(), ended=RED, checks=_checks(FAILURE))
    assert judged.outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("says", "is_error", "reason"),
    [
        ("Unknown tool: 'test_a'", True, "the server has no tool test_a"),
        ("test_a was not found", True, "the server has no tool test_a"),
        ("oops", True, "every call of test_a is answered with an error of the tool"),
        ("Unknown tool: 'test_a'", False, "passed"),
        ("This is a simple text response for testing.", False, "passed"),
    ],
)
def test_a_tool_that_is_absent_or_always_fails_earns_nothing(
    says: str, is_error: bool, reason: str
) -> None:
    judged = _judged(wire=_called(says, is_error=is_error))

    assert judged.reason.startswith(reason)
    assert judged.outcome is (
        Outcome.PASSED if reason == "passed" else Outcome.UNOBSERVED
    )


def _called(says: str, *, is_error: bool) -> WireLog:
    call = stateless("tools/call", name="test_a", arguments={})
    content = [{"type": "text", "text": says}]
    answer = result(content=content, isError=is_error, resultType="complete")
    return Script().listen().exchange(call, answer).log()


def test_an_error_of_a_tool_is_what_one_scenario_asks_for() -> None:
    case = make_case("tools-call-error", NEW)
    evidence = _evidence(wire=_called("on purpose", is_error=True))
    assert judge(case, evidence, Policy()).outcome is Outcome.PASSED


def test_a_failure_that_is_a_missing_tool_says_so_first() -> None:
    lost = error(code=-32602, text="Unknown tool: test_a")
    log = Script().listen().exchange(stateless("tools/call", name="test_a"), lost).log()
    judged = _judged(ended=RED, checks=_checks(FAILURE), wire=log)
    assert judged.outcome is Outcome.FAILED
    assert judged.reason.startswith("the server has no tool test_a; ")


def test_who_sends_the_suite_elsewhere_has_failed() -> None:
    """The suite follows, and would judge another server."""
    headers = {"location": "http://127.0.0.1:9/mcp?token=secret"}
    away = Script().listen()
    away = away.exchange(
        stateless("tools/list"), "", status=307, response_headers=headers
    )
    log = away.exchange(stateless("tools/list"), result(tools=[])).log()

    judged = _judged(wire=log)

    assert (judged.outcome, judged.attribution) == (Outcome.FAILED, SUBJECT)
    assert "answered with 307 to http://127.0.0.1:9/mcp: " in judged.reason


@pytest.mark.parametrize(
    ("method", "members", "is_heard"),
    [
        ("resources/subscribe", {}, True),
        ("resources/subscribe", {"content": [], "isError": True}, False),
        ("tools/list", {}, False),
        ("prompts/get", {"messages": []}, True),
    ],
)
def test_an_opening_and_a_result_of_another_method_are_no_sign_of_life(
    method: str, members: dict[str, Any], is_heard: bool
) -> None:
    opening = result(protocolVersion=MIDDLE.value, capabilities={})
    log = (
        Script()
        .listen()
        .exchange(initialize(MIDDLE.value), opening)
        .exchange(request(method, 2), result(2, **members))
        .log()
    )
    evidence = _evidence(checks=(make_check("silent"),), wire=log)
    judged = judge(make_case(revision=MIDDLE), evidence, Policy())
    assert judged.outcome is (Outcome.PASSED if is_heard else Outcome.UNOBSERVED)
