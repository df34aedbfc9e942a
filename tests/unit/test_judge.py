"""Every rule of the judge, each with a case on both sides."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from make import (
    MIDDLE,
    NEW,
    OLD,
    make_adapter,
    make_case,
    make_check,
    make_ended,
    make_evidence,
    make_exchange,
    make_log,
    make_opening,
    with_status,
)

from mcpconf.client.job import DriverVerdict
from mcpconf.judge import judge
from mcpconf.process import EndKind, Leftover
from mcpconf.record import (
    Attribution,
    CheckStatus,
    Outcome,
    Policy,
    RevisionPolicy,
    ScenarioResult,
    WarningPolicy,
)
from mcpconf.suite.rejection import REJECTIONS
from mcpconf.wire import DRIVER_AGENT, WireLog
from mcpconf.wire import Ended as ResponseEnd

if TYPE_CHECKING:
    from mcpconf.evidence import AdapterRecord, CaseEvidence
    from mcpconf.plan import PlannedCase
    from mcpconf.record import Check
    from mcpconf.revision import Revision
    from mcpconf.wire import Exchange

SUBJECT, ADAPTER = Attribution.SUBJECT, Attribution.ADAPTER
HARNESS, SUITE = Attribution.HARNESS, Attribution.SUITE
WARN = Policy(warnings=WarningPolicy.WARN)
EXACT = Policy(revision=RevisionPolicy.EXACT)
GOOD = make_evidence()
NEGATIVE = "Client reconnected too early (-12ms instead of 500ms)."
EARLY = "Client reconnected too early (120ms instead of 500ms)."
#: The harness's own checks of a client that does everything.
HOLDS = (
    ("adapter", None),
    ("wire-schema", None),
    ("required-check", None),
    ("revision-named", None),
)
#: An answer without a protocol message: the client is alive, and says no revision.
PLAIN = make_log(make_exchange(1, "GET", "/mcp"))
#: The opening without the capabilities that every revision asks for.
BROKEN = make_log(
    replace(
        make_opening(MIDDLE),
        request_body=make_opening(MIDDLE).request_body.replace('"capabilities"', '"x"'),
    )
)
UNANSWERED = make_log(
    make_exchange(1, status=None, response_body=None, ended=None, ended_ms=None)
)

#: Asks in the stateless way, and is told that nobody here speaks it.
REFUSED_PROBE = replace(
    make_opening(NEW.value),
    response_body=json.dumps(
        {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}
    ),
)


def test_a_client_that_does_everything_passes() -> None:
    """The positive control: without it, every refusal below would be worthless."""
    result = judge(make_case(), GOOD, Policy())
    assert (result.outcome, result.attribution) == (Outcome.PASSED, None)
    assert result.harness_checks == HOLDS
    assert result.missing_checks == result.unknown_checks == ()


RULES = [
    # 1. the run was stopped, or the case never launched
    pytest.param({"ended": make_ended(EndKind.STOPPED)}, Outcome.NOT_RUN, None, id="1"),
    # 2. the driver says the client cannot do it
    pytest.param(
        {"adapter": make_adapter(DriverVerdict.UNSUPPORTED)},
        Outcome.UNSUPPORTED,
        None,
        id="2-driver",
    ),
    # 3. the suite or the launch broke
    pytest.param(
        {"ended": make_ended(EndKind.FAILED_TO_START)},
        Outcome.HARNESS_ERROR,
        HARNESS,
        id="3-suite-did-not-start",
    ),
    pytest.param(
        {"ended": make_ended(EndKind.SIGNALLED)},
        Outcome.HARNESS_ERROR,
        SUITE,
        id="3-suite-killed",
    ),
    pytest.param(
        {"ended": make_ended(exit_code=134)},
        Outcome.HARNESS_ERROR,
        SUITE,
        id="3-suite-aborted",
    ),
    pytest.param(
        {"ended": make_ended(exit_code=2)},
        Outcome.HARNESS_ERROR,
        SUITE,
        id="3-suite-exit-2",
    ),
    pytest.param(
        {"ended": make_ended(exit_code=1)}, Outcome.PASSED, None, id="3-suite-red"
    ),
    # 4. the driver broke
    pytest.param(
        {"adapter": make_adapter(DriverVerdict.ADAPTER_FAULT)},
        Outcome.HARNESS_ERROR,
        ADAPTER,
        id="4-fault",
    ),
    pytest.param(
        {"adapter": None, "adapter_fault": "it was never written"},
        Outcome.HARNESS_ERROR,
        ADAPTER,
        id="4-no-record",
    ),
    pytest.param(
        {
            "adapter": make_adapter(
                DriverVerdict.CLIENT_ERROR, kind=EndKind.FAILED_TO_START
            )
        },
        Outcome.HARNESS_ERROR,
        ADAPTER,
        id="4-client-did-not-start",
    ),
    pytest.param(
        {"adapter": make_adapter(kind=EndKind.STOPPED)},
        Outcome.PASSED,
        None,
        id="4-stopped-on-purpose",
    ),
    # 5. the client was killed, or outlived its time
    pytest.param(
        {"adapter": make_adapter(kind=EndKind.SIGNALLED)},
        Outcome.CRASHED,
        SUBJECT,
        id="5-crash-though-done",
    ),
    pytest.param(
        {"adapter": make_adapter(DriverVerdict.CLIENT_ERROR, kind=EndKind.SIGNALLED)},
        Outcome.CRASHED,
        SUBJECT,
        id="5-crash",
    ),
    pytest.param(
        {"adapter": make_adapter(DriverVerdict.CLIENT_ERROR, kind=EndKind.TIMED_OUT)},
        Outcome.TIMED_OUT,
        SUBJECT,
        id="5-driver-timed-out",
    ),
    pytest.param(
        {"adapter": make_adapter(kind=EndKind.TIMED_OUT)},
        Outcome.TIMED_OUT,
        SUBJECT,
        id="5-timed-out-though-done",
    ),
    pytest.param(
        {"ended": make_ended(EndKind.TIMED_OUT)},
        Outcome.TIMED_OUT,
        SUITE,  # the client had ended in time: it was the suite that went on
        id="5-case-timed-out",
    ),
    pytest.param(
        {"ended": make_ended(EndKind.TIMED_OUT, exit_code=0)},
        Outcome.TIMED_OUT,
        SUITE,
        id="5-case-timed-out-and-exited-0",
    ),
    pytest.param(
        {
            "ended": make_ended(EndKind.TIMED_OUT),
            "adapter": make_adapter(kind=EndKind.TIMED_OUT),
        },
        Outcome.TIMED_OUT,
        SUBJECT,
        id="5-case-timed-out-with-the-client",
    ),
    pytest.param(
        {
            "ended": make_ended(EndKind.TIMED_OUT),
            "adapter": None,
            "adapter_fault": "it was never written",
        },
        Outcome.TIMED_OUT,
        ADAPTER,
        id="5-timed-out-without-record",
    ),
    pytest.param(
        {"adapter": make_adapter(kind=EndKind.TIMED_OUT), "wire": UNANSWERED},
        Outcome.TIMED_OUT,
        SUITE,
        id="5-timed-out-waiting-for-the-server",
    ),
    pytest.param(
        {"adapter": make_adapter(kind=EndKind.TIMED_OUT), "wire": make_log()},
        Outcome.TIMED_OUT,
        SUBJECT,
        id="5-timed-out-in-silence",
    ),
    # 6. checks.json is missing or malformed
    pytest.param(
        {"checks": (), "checks_fault": "the suite wrote no checks.json"},
        Outcome.HARNESS_ERROR,
        SUITE,
        id="6",
    ),
    # 7. no traffic of the client
    pytest.param({"wire": make_log()}, Outcome.UNOBSERVED, SUBJECT, id="7-silence"),
    pytest.param(
        {
            "wire": make_log(
                make_exchange(request_headers={"user-agent": (DRIVER_AGENT,)})
            )
        },
        Outcome.UNOBSERVED,
        SUBJECT,
        id="7-only-our-driver",
    ),
    pytest.param(
        {"wire": PLAIN}, Outcome.UNOBSERVED, SUBJECT, id="14-no-revision-named"
    ),
    pytest.param(
        {
            "wire": make_log(
                make_exchange(request_headers={"mcp-protocol-version": (MIDDLE.value,)})
            )
        },
        Outcome.UNOBSERVED,
        SUBJECT,
        id="14-a-header-alone",
    ),
    # 8. the client speaks another era's revision
    pytest.param(
        {"wire": make_log(make_opening(NEW))},
        Outcome.UNSUPPORTED,
        SUBJECT,
        id="8-other-era",
    ),
    pytest.param(
        {"wire": make_log(make_opening(NEW), make_opening(MIDDLE, number=2))},
        Outcome.UNSUPPORTED,
        SUBJECT,
        id="8-both-eras-agreed",
    ),
    pytest.param(
        {"wire": make_log(REFUSED_PROBE, make_opening(MIDDLE, number=2))},
        Outcome.PASSED,
        None,
        id="8-another-era-only-probed",
    ),
    pytest.param(
        {"wire": WireLog(exchanges=(), ports=frozenset(), truncated=False)},
        Outcome.HARNESS_ERROR,
        HARNESS,
        id="7-no-witness",
    ),
    # 9. a check failed
    pytest.param(
        {"checks": (make_check(), make_check("silent", CheckStatus.FAILURE))},
        Outcome.FAILED,
        SUBJECT,
        id="9-failure",
    ),
    pytest.param(
        {"checks": (make_check(), make_check("new-in-suite", CheckStatus.FAILURE))},
        Outcome.FAILED,
        SUBJECT,
        id="9-unknown-check-fails",
    ),
    pytest.param(
        {"checks": (make_check(), make_check("required-b", CheckStatus.SKIPPED))},
        Outcome.PASSED,
        None,
        id="9-skipped",
    ),
    # 11. the driver's own steps failed
    pytest.param(
        {"adapter": make_adapter(DriverVerdict.CLIENT_ERROR)},
        Outcome.FAILED,
        SUBJECT,
        id="11",
    ),
    # 12. a message of the client broke its revision's schema
    pytest.param({"wire": BROKEN}, Outcome.FAILED, SUBJECT, id="12"),
    # 13. no required check said SUCCESS
    pytest.param({"checks": ()}, Outcome.UNOBSERVED, SUBJECT, id="13-no-check"),
    pytest.param(
        {"checks": (make_check("silent"),)},
        Outcome.UNOBSERVED,
        SUBJECT,
        id="13-only-what-silence-earns",
    ),
    pytest.param(
        {"checks": (make_check("nobody-knows"),)},
        Outcome.UNOBSERVED,
        SUBJECT,
        id="13-only-unknown-checks",
    ),
    pytest.param(
        {"checks": (make_check(status=CheckStatus.SKIPPED), make_check("silent"))},
        Outcome.UNOBSERVED,
        SUBJECT,
        id="13-skipped-is-no-success",
    ),
    # 14. otherwise
    pytest.param({"checks": (make_check(),)}, Outcome.PASSED, None, id="14"),
]


@pytest.mark.parametrize(("changes", "outcome", "attribution"), RULES)
def test_each_rule_gives_its_outcome_and_attribution(
    changes: dict[str, Any], outcome: Outcome, attribution: Attribution | None
) -> None:
    result = judge(make_case(), replace(GOOD, **changes), Policy())
    assert (result.outcome, result.attribution) == (outcome, attribution)
    assert result.reason


@pytest.mark.parametrize(("changes", "outcome", "attribution"), RULES)
def test_a_result_that_is_not_a_pass_has_a_failing_check_or_is_skipped(
    changes: dict[str, Any], outcome: Outcome, attribution: Attribution | None
) -> None:
    """Nothing is red without a line that says why, nothing green with one."""
    del attribution
    result = judge(make_case(), replace(GOOD, **changes), Policy())
    problems = [name for name, problem in result.harness_checks if problem is not None]
    failing = [each for each in result.checks if each.status is CheckStatus.FAILURE]
    assert bool(problems or failing) is (outcome is not Outcome.PASSED)


def test_a_case_that_was_never_launched_is_not_run() -> None:
    result = judge(make_case(), None, Policy())
    assert (result.outcome, result.attribution) == (Outcome.NOT_RUN, None)


def test_the_manifest_rules_a_case_out_before_any_evidence_is_read() -> None:
    for evidence in (None, GOOD):
        result = judge(make_case(), evidence, Policy(), unsupported="no steps for it")
        assert (result.outcome, result.reason) == (
            Outcome.UNSUPPORTED,
            "no steps for it",
        )


ORDER = [
    # The earlier rule of each pair decides.
    ("stopped", {"ended": make_ended(EndKind.STOPPED)}, Outcome.NOT_RUN),
    (
        "unsupported",
        {"adapter": make_adapter(DriverVerdict.UNSUPPORTED, kind=EndKind.SIGNALLED)},
        Outcome.UNSUPPORTED,
    ),
    (
        "adapter-fault",
        {"adapter": make_adapter(DriverVerdict.ADAPTER_FAULT, kind=EndKind.TIMED_OUT)},
        Outcome.HARNESS_ERROR,
    ),
    (
        "crash",
        {
            "adapter": make_adapter(kind=EndKind.SIGNALLED),
            "ended": make_ended(EndKind.TIMED_OUT),
        },
        Outcome.CRASHED,
    ),
    (
        "time-out",
        {
            "adapter": make_adapter(kind=EndKind.TIMED_OUT),
            "checks": (),
            "checks_fault": "none",
        },
        Outcome.TIMED_OUT,
    ),
    (
        "checks-fault",
        {"checks": (), "checks_fault": "none", "wire": make_log()},
        Outcome.HARNESS_ERROR,
    ),
    (
        "silence",
        {
            "wire": make_log(),
            "checks": (make_check(status=CheckStatus.FAILURE),),
        },
        Outcome.UNOBSERVED,
    ),
    (
        "era",
        {
            "wire": make_log(make_opening(NEW)),
            "checks": (make_check(status=CheckStatus.FAILURE),),
        },
        Outcome.UNSUPPORTED,
    ),
    (
        "drive-before-schema",
        {"adapter": make_adapter(DriverVerdict.CLIENT_ERROR), "wire": BROKEN},
        Outcome.FAILED,
    ),
    ("schema-before-required", {"wire": BROKEN, "checks": ()}, Outcome.FAILED),
    (
        "failure",
        {
            "adapter": make_adapter(DriverVerdict.CLIENT_ERROR),
            "checks": (make_check(status=CheckStatus.FAILURE),),
        },
        Outcome.FAILED,
    ),
]


@pytest.mark.parametrize(
    ("changes", "outcome"), [pytest.param(c, o, id=name) for name, c, o in ORDER]
)
def test_the_first_rule_that_applies_decides(
    changes: dict[str, Any], outcome: Outcome
) -> None:
    assert judge(make_case(), replace(GOOD, **changes), Policy()).outcome is outcome


def _all_success(case: PlannedCase, wire: WireLog) -> CaseEvidence:
    return make_evidence(case, wire=wire)


@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_client_that_does_nothing_is_unobserved_whatever_the_suite_says(
    exit_code: int,
) -> None:
    """All checks SUCCESS, exit 0, a content driver: and not a byte on the wire."""
    for scenario in ("tools_call", *REJECTIONS):
        case = make_case(scenario, NEW, allow_client_error=True)
        evidence = replace(
            _all_success(case, make_log()), ended=make_ended(exit_code=exit_code)
        )
        assert judge(case, evidence, WARN).outcome is Outcome.UNOBSERVED


# -- expected refusals -------------------------------------------------------------


def _flow(*paths: str) -> tuple[Exchange, ...]:
    """The opening of a stateless client, then requests by `METHOD path`."""
    rest = [
        make_exchange(number, *path.split(" ", 1))
        for number, path in enumerate(paths, start=2)
    ]
    return (make_opening(NEW), *rest)


RESOURCE = "GET /.well-known/oauth-protected-resource/mcp"
SERVER = "GET /.well-known/oauth-authorization-server"
AUTHORIZE, TOKEN = "GET /authorize?client_id=x", "POST /token"
REFUSED = {
    "auth/resource-mismatch": (RESOURCE,),
    "auth/metadata-issuer-mismatch": (RESOURCE, SERVER),
    **dict.fromkeys(
        (
            "auth/iss-supported-missing",
            "auth/iss-wrong-issuer",
            "auth/iss-unexpected",
            "auth/iss-normalized",
        ),
        (RESOURCE, SERVER, AUTHORIZE),
    ),
    "auth/scope-retry-limit": (RESOURCE, SERVER, AUTHORIZE, TOKEN),
}
#: Those in which something must not follow.
ENDING = [name for name, each in REJECTIONS.items() if each.forbidden]


def _refusing(
    scenario: str, *paths: str, driver: str = "command", **changes: Any
) -> ScenarioResult:
    case = make_case(scenario, NEW, allow_client_error=True)
    evidence = make_evidence(
        case,
        wire=make_log(*_flow(*paths)),
        adapter=make_adapter(DriverVerdict.CLIENT_ERROR, driver=driver),
        ended=make_ended(exit_code=0),
    )
    return judge(case, replace(evidence, **changes), Policy())


def test_every_expected_refusal_is_tried_here() -> None:
    assert set(REFUSED) == set(REJECTIONS)


@pytest.mark.parametrize("scenario", REFUSED)
def test_a_refusal_where_it_belongs_passes(scenario: str) -> None:
    result = _refusing(scenario, *REFUSED[scenario])
    assert result.outcome is Outcome.PASSED
    refused = [("refusal-reached", None)]
    if REJECTIONS[scenario].forbidden:  # else it could not be broken, and says nothing
        refused += [("expected-refusal", None)]
    holds = (*HOLDS[:2], *refused, *HOLDS[2:])
    assert result.harness_checks == holds, "the error is excused"


@pytest.mark.parametrize("scenario", REFUSED)
def test_an_error_before_the_thing_to_refuse_is_unobserved(scenario: str) -> None:
    result = _refusing(scenario, *REFUSED[scenario][:-1])
    assert (result.outcome, result.attribution) == (Outcome.UNOBSERVED, SUBJECT)
    assert "nothing was refused" in result.reason


@pytest.mark.parametrize("scenario", REFUSED)
def test_a_flow_without_one_message_of_the_revision_is_no_pass(scenario: str) -> None:
    """Fetching metadata is no MCP: no message says which revision it is about."""
    log = make_log(*_flow(*REFUSED[scenario])[1:])
    result = _refusing(scenario, wire=log)
    assert (result.outcome, result.attribution) == (Outcome.UNOBSERVED, SUBJECT)
    assert "revision" in result.reason


@pytest.mark.parametrize("scenario", ENDING)
@pytest.mark.parametrize("further", [AUTHORIZE, TOKEN])
def test_a_flow_that_goes_on_after_it_had_to_stop_fails(
    scenario: str, further: str
) -> None:
    if further in REFUSED[scenario]:
        further = TOKEN
    result = _refusing(scenario, *REFUSED[scenario], further)
    assert (result.outcome, result.attribution) == (Outcome.FAILED, SUBJECT)


@pytest.mark.parametrize("scenario", REFUSED)
def test_a_log_that_is_cut_short_shows_no_refusal(scenario: str) -> None:
    log = make_log(*_flow(*REFUSED[scenario]), truncated=True)
    result = _refusing(scenario, wire=log)
    assert result.outcome is Outcome.UNOBSERVED


@pytest.mark.parametrize("scenario", REFUSED)
@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        pytest.param(
            {"adapter": make_adapter(kind=EndKind.TIMED_OUT)},
            Outcome.TIMED_OUT,
            id="driver-time-out",
        ),
        pytest.param(
            {"ended": make_ended(EndKind.TIMED_OUT, exit_code=1)},
            Outcome.TIMED_OUT,
            id="case-time-out",
        ),
        pytest.param(
            {
                "adapter": make_adapter(
                    DriverVerdict.CLIENT_ERROR, kind=EndKind.SIGNALLED
                )
            },
            Outcome.CRASHED,
            id="crash",
        ),
        pytest.param({"checks": ()}, Outcome.UNOBSERVED, id="no-check"),
    ],
)
def test_neither_a_time_out_nor_a_crash_is_a_refusal(
    scenario: str, changes: dict[str, Any], outcome: Outcome
) -> None:
    """Everything else is as in the passing case above."""
    result = _refusing(scenario, *REFUSED[scenario], **changes)
    assert result.outcome is outcome


def test_a_client_error_is_excused_only_where_the_suite_allows_it() -> None:
    error = make_adapter(DriverVerdict.CLIENT_ERROR, driver="command")
    for allowed, outcome in ((True, Outcome.PASSED), (False, Outcome.FAILED)):
        case = make_case(allow_client_error=allowed)
        result = judge(case, make_evidence(case, adapter=error), Policy())
        assert result.outcome is outcome


def test_a_codex_error_is_never_excused() -> None:
    """Its driver says `done` where the refusal was the right one."""
    error = make_adapter(DriverVerdict.CLIENT_ERROR, driver="codex")
    case = make_case(allow_client_error=True)
    result = judge(case, make_evidence(case, adapter=error), Policy())
    assert (result.outcome, result.attribution) == (Outcome.FAILED, SUBJECT)
    result = judge(
        case, make_evidence(case, adapter=make_adapter(driver="codex")), Policy()
    )
    assert result.outcome is Outcome.PASSED


# -- what no failure hides ---------------------------------------------------------

#: A check that fails, beside one that a pass needs: rule 9 decides, before 10 to 16.
FAILING = (make_check(), make_check("silent", CheckStatus.FAILURE))
NO_SUCCESS = "no required check said SUCCESS"
NO_REVISION = "no message of the client names the revision it speaks"
NOT_WHOLE = "the wire log stops short, so nothing can be said to be absent from it"
WENT_ON = "a token request was made, although the flow had to stop before it"
#: What is stated of rules 13 and 14 where there is nothing to say against it.
ENOUGH: dict[str, str | None] = {"required-check": None, "revision-named": None}


def _statements(result: ScenarioResult) -> dict[str, str | None]:
    """What is stated of rules 10, 13 and 14; each name once."""
    names = {"refusal-reached", "expected-refusal", *ENOUGH}
    said = [each for each in result.harness_checks if each[0] in names]
    assert len(said) == len(dict(said))
    return dict(said)


def _not_reached(scenario: str) -> str:
    stage = REJECTIONS[scenario].reached
    return f"nothing shows that {stage}, so nothing was refused"


@pytest.mark.parametrize("scenario", ENDING)
def test_a_failure_hides_no_refusal_that_did_not_happen(scenario: str) -> None:
    """The failure may be a known one; that the client went on is not."""
    for paths, said in (((), None), ((TOKEN,), WENT_ON)):
        result = _refusing(scenario, *REFUSED[scenario], *paths, checks=FAILING)
        assert (result.outcome, result.reason) == (
            Outcome.FAILED,
            "silent: what silent says",
        )
        assert _statements(result) == {
            "refusal-reached": None,
            "expected-refusal": said,
            **ENOUGH,
        }


@pytest.mark.parametrize("scenario", REFUSED)
def test_a_failure_hides_no_flow_that_never_came_to_what_it_must_refuse(
    scenario: str,
) -> None:
    """And who never came there is not said to have stopped in time."""
    result = _refusing(scenario, *REFUSED[scenario][:-1], checks=FAILING)
    assert result.outcome is Outcome.FAILED
    said = {"refusal-reached": _not_reached(scenario), **ENOUGH}
    assert _statements(result) == said


@pytest.mark.parametrize("scenario", ENDING)
@pytest.mark.parametrize("checks", [FAILING, FAILING[:1]])
def test_that_the_thing_to_refuse_was_not_reached_hides_no_flow_that_goes_on(
    scenario: str, checks: tuple[Check, ...]
) -> None:
    """A client may leave out what it must look at, and ask for a token all the same."""
    result = _refusing(scenario, TOKEN, checks=checks)
    assert (result.outcome, result.attribution) == (Outcome.FAILED, SUBJECT)
    assert _statements(result) == {
        "refusal-reached": _not_reached(scenario),
        "expected-refusal": WENT_ON,
        **ENOUGH,
    }


def test_what_decides_of_a_refusal_is_stated_as_well() -> None:
    for scenario, complete in REFUSED.items():
        missing = _refusing(scenario, *complete[:-1])
        assert missing.outcome is Outcome.UNOBSERVED
        said = {"refusal-reached": missing.reason, **ENOUGH}
        assert _statements(missing) == said
    for scenario in ENDING:
        further = _refusing(scenario, *REFUSED[scenario], TOKEN)
        assert further.outcome is Outcome.FAILED
        assert _statements(further) == {
            "refusal-reached": None,
            "expected-refusal": further.reason,
            **ENOUGH,
        }


def test_a_forgiven_warning_hides_no_refusal_that_did_not_happen() -> None:
    case = make_case("auth/iss-wrong-issuer", NEW, allow_client_error=True)
    flow = make_log(*_flow(RESOURCE, SERVER, AUTHORIZE, TOKEN))
    warned = with_status(
        make_evidence(case, wire=flow), "required-b", CheckStatus.WARNING
    )
    for policy in (WARN, Policy()):
        result = judge(case, warned, policy)
        assert result.outcome is Outcome.FAILED
        said = {"refusal-reached": None, "expected-refusal": WENT_ON, **ENOUGH}
        assert _statements(result) == said


def test_no_refusal_is_stated_where_none_is_expected() -> None:
    case = make_case("auth/basic-cimd", NEW)
    for paths in ((), (RESOURCE, SERVER, AUTHORIZE, TOKEN)):
        evidence = make_evidence(case, wire=make_log(*_flow(*paths)))
        assert _statements(judge(case, evidence, Policy())) == ENOUGH


@pytest.mark.parametrize("scenario", REFUSED)
def test_a_log_that_is_cut_short_states_only_what_it_shows(scenario: str) -> None:
    """What is missing may be in the part that is missing; the client is not blamed."""
    complete = REFUSED[scenario]
    reached: dict[str, str | None] = {"refusal-reached": None}
    went_on: dict[str, str | None] = {"expected-refusal": WENT_ON}
    table: list[tuple[tuple[str, ...], dict[str, str | None]]] = [
        (complete[:-1], {}),
        (complete, reached),
    ]
    if scenario in ENDING:
        table += [((*complete, TOKEN), reached | went_on), ((TOKEN,), went_on)]
    for paths, said in table:
        log = make_log(*_flow(*paths), truncated=True)
        result = _refusing(scenario, wire=log, checks=FAILING)
        assert _statements(result) == said | ENOUGH, paths


#: Each of rules 13 and 14 on both sides; no other changes with it.
LACKING = [
    ({}, {}),
    ({"checks": FAILING[1:]}, {"required-check": NO_SUCCESS}),
    (
        {"checks": (make_check(status=CheckStatus.SKIPPED), FAILING[1])},
        {"required-check": NO_SUCCESS},
    ),
    # A required check that failed says so itself; one that warns may be forgiven.
    ({"checks": (make_check(status=CheckStatus.FAILURE),)}, {}),
    ({"checks": (make_check("required-b", CheckStatus.FAILURE), FAILING[1])}, {}),
    (
        {"checks": (make_check(status=CheckStatus.WARNING),)},
        {"required-check": NO_SUCCESS},
    ),
    ({"wire": PLAIN}, {"revision-named": NO_REVISION}),
    (
        {"checks": FAILING[1:], "wire": PLAIN},
        {"required-check": NO_SUCCESS, "revision-named": NO_REVISION},
    ),
    # That the log is not whole is no statement.
    ({"wire": replace(GOOD.wire, truncated=True)}, {}),
    ({"wire": replace(PLAIN, truncated=True)}, {"revision-named": NO_REVISION}),
]


@pytest.mark.parametrize(("changes", "said"), LACKING)
def test_a_failure_hides_neither_silent_checks_nor_an_unnamed_revision(
    changes: dict[str, Any], said: dict[str, str | None]
) -> None:
    evidence = replace(GOOD, **{"checks": FAILING, **changes})
    result = judge(make_case(), evidence, Policy())
    assert result.outcome is Outcome.FAILED
    assert _statements(result) == ENOUGH | said


@pytest.mark.parametrize(
    ("changes", "name"),
    [({"checks": ()}, "required-check"), ({"wire": PLAIN}, "revision-named")],
)
def test_what_decides_for_want_of_evidence_is_stated_as_well(
    changes: dict[str, Any], name: str
) -> None:
    result = judge(make_case(), replace(GOOD, **changes), Policy())
    assert result.outcome is Outcome.UNOBSERVED
    assert _statements(result) == ENOUGH | {name: result.reason}


def test_a_log_that_is_cut_short_decides_and_is_no_statement() -> None:
    cut = replace(GOOD, wire=replace(GOOD.wire, truncated=True))
    result = judge(make_case(), cut, Policy())
    assert (result.outcome, result.attribution) == (Outcome.HARNESS_ERROR, HARNESS)
    assert _statements(result) == ENOUGH
    assert ("official-runner", NOT_WHOLE) in result.harness_checks
    assert len(result.harness_checks) == len(HOLDS) + 1


@pytest.mark.parametrize(
    "changes",
    [
        {"ended": make_ended(EndKind.STOPPED)},
        {"ended": make_ended(EndKind.SIGNALLED)},
        {"ended": make_ended(EndKind.TIMED_OUT)},
        {"adapter": make_adapter(DriverVerdict.UNSUPPORTED)},
        {"adapter": make_adapter(DriverVerdict.ADAPTER_FAULT)},
        {"adapter": make_adapter(kind=EndKind.SIGNALLED)},
        {"checks": (), "checks_fault": "none"},
        {"wire": make_log()},
        {"wire": make_log(make_opening(MIDDLE))},
    ],
)
def test_nothing_is_stated_of_a_case_that_never_came_so_far(
    changes: dict[str, Any],
) -> None:
    scenario = "auth/iss-wrong-issuer"
    result = _refusing(scenario, *REFUSED[scenario], **changes)
    assert result.outcome not in {Outcome.PASSED, Outcome.FAILED}
    assert _statements(result) == {}
    case = make_case(scenario, NEW)
    ruled_out = judge(case, make_evidence(case), Policy(), unsupported="no steps")
    assert _statements(ruled_out) == {}


# -- policies ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "policy", "outcome"),
    [
        (CheckStatus.WARNING, Policy(), Outcome.FAILED),
        (CheckStatus.WARNING, WARN, Outcome.PASSED),
        (CheckStatus.FAILURE, Policy(), Outcome.FAILED),
        (CheckStatus.FAILURE, WARN, Outcome.FAILED),
    ],
)
def test_a_warning_fails_under_the_policy_that_says_so(
    status: CheckStatus, policy: Policy, outcome: Outcome
) -> None:
    evidence = with_status(GOOD, "required-b", status)
    assert judge(make_case(), evidence, policy).outcome is outcome


def test_a_warning_alone_is_no_success_under_either_policy() -> None:
    evidence = replace(GOOD, checks=(make_check(status=CheckStatus.WARNING),))
    assert judge(make_case(), evidence, WARN).outcome is Outcome.UNOBSERVED
    assert judge(make_case(), evidence, Policy()).outcome is Outcome.FAILED


def test_a_tolerated_warning_does_not_hide_why_a_scenario_is_red() -> None:
    evidence = replace(GOOD, checks=(make_check(status=CheckStatus.WARNING),))
    result = judge(make_case(), evidence, WARN)
    assert ("official-runner", result.reason) in result.harness_checks


@pytest.mark.parametrize(
    ("leg", "offered", "agreed", "same_era", "exact"),
    [
        (MIDDLE, MIDDLE, MIDDLE, Outcome.PASSED, Outcome.PASSED),
        (MIDDLE, OLD, OLD, Outcome.PASSED, Outcome.UNSUPPORTED),
        (OLD, MIDDLE, OLD, Outcome.PASSED, Outcome.PASSED),
        (OLD, MIDDLE, MIDDLE, Outcome.PASSED, Outcome.UNSUPPORTED),
        (NEW, NEW, NEW, Outcome.PASSED, Outcome.PASSED),
        (NEW, MIDDLE, MIDDLE, Outcome.UNSUPPORTED, Outcome.UNSUPPORTED),
        (OLD, NEW, NEW, Outcome.UNSUPPORTED, Outcome.UNSUPPORTED),
    ],
)
def test_another_revision_counts_as_the_policy_says_and_another_era_never(
    leg: Revision,
    offered: Revision,
    agreed: Revision,
    same_era: Outcome,
    exact: Outcome,
) -> None:
    case = make_case(revision=leg)
    evidence = make_evidence(case, wire=make_log(make_opening(offered, agreed)))
    result = judge(case, evidence, Policy())
    assert result.outcome is same_era
    assert (result.offered, result.agreed) == ((offered.value,), (agreed.value,))
    assert judge(case, evidence, EXACT).outcome is exact


def test_an_offer_that_nobody_agreed_to_still_shows_the_era() -> None:
    refused = replace(make_opening(NEW), status=400, response_body="")
    result = judge(make_case(), replace(GOOD, wire=make_log(refused)), Policy())
    assert (result.outcome, result.agreed) == (Outcome.UNSUPPORTED, ())
    assert NEW.value in result.reason


# -- defects of the suite ----------------------------------------------------------


@pytest.mark.parametrize(
    ("failures", "outcome", "attribution"),
    [
        ((NEGATIVE,), Outcome.SUITE_DEFECT, SUITE),
        ((NEGATIVE, NEGATIVE), Outcome.SUITE_DEFECT, SUITE),
        ((EARLY,), Outcome.FAILED, SUBJECT),
        ((NEGATIVE, EARLY), Outcome.FAILED, SUBJECT),
        ((EARLY, NEGATIVE), Outcome.FAILED, SUBJECT),
        ((), Outcome.PASSED, None),
    ],
)
def test_a_defect_of_the_suite_explains_a_failure_only_when_it_explains_all(
    failures: tuple[str, ...], outcome: Outcome, attribution: Attribution | None
) -> None:
    case = make_case("sse-retry")
    evidence = make_evidence(
        case,
        checks=(
            make_check(),
            *(
                make_check(f"timing-{number}", CheckStatus.FAILURE, error=error)
                for number, error in enumerate(failures)
            ),
        ),
    )
    result = judge(case, evidence, Policy())
    assert (result.outcome, result.attribution) == (outcome, attribution)


# -- what goes with an outcome -----------------------------------------------------


def test_a_result_names_promised_checks_that_never_came_and_strange_ones() -> None:
    evidence = replace(GOOD, checks=(make_check(), make_check("strange")))
    result = judge(make_case(), evidence, Policy())
    assert result.outcome is Outcome.PASSED
    assert result.missing_checks == ("required-b", "silent")
    assert result.unknown_checks == ("strange",)


def test_missing_checks_are_not_counted_where_the_scenario_never_ran_through() -> None:
    evidence = replace(GOOD, checks=(), wire=make_log())
    result = judge(make_case(), evidence, Policy())
    assert (result.outcome, result.missing_checks) == (Outcome.UNOBSERVED, ())
    failed = with_status(GOOD, "required-a", CheckStatus.FAILURE)
    failed = replace(failed, checks=failed.checks[:1])
    assert judge(make_case(), failed, Policy()).missing_checks == (
        "required-b",
        "silent",
    )


@pytest.mark.parametrize(
    ("adapter", "fault", "said"),
    [
        (make_adapter(), None, None),
        (make_adapter(DriverVerdict.CLIENT_ERROR), None, "it was client-error"),
        (make_adapter(DriverVerdict.ADAPTER_FAULT), None, "it was adapter-fault"),
        (make_adapter(DriverVerdict.CLIENT_ERROR, error=""), None, "client-error"),
        (None, "it was never written", "it was never written"),
    ],
)
def test_the_adapter_check_holds_only_when_the_driver_did_its_part(
    adapter: AdapterRecord | None, fault: str | None, said: str | None
) -> None:
    evidence = replace(GOOD, adapter=adapter, adapter_fault=fault)
    assert judge(make_case(), evidence, Policy()).harness_checks[0] == (
        "adapter",
        said,
    )


def test_a_message_against_the_schema_is_named_whatever_else_went_wrong() -> None:
    table: list[tuple[dict[str, Any], Outcome]] = [
        ({}, Outcome.FAILED),
        ({"ended": make_ended(EndKind.TIMED_OUT)}, Outcome.TIMED_OUT),
    ]
    for changes, outcome in table:
        result = judge(make_case(), replace(GOOD, wire=BROKEN, **changes), Policy())
        assert result.outcome is outcome
        problem = dict(result.harness_checks)["wire-schema"]
        assert problem is not None
        assert "params.capabilities" in problem


def test_a_required_refusal_is_no_excuse_for_a_broken_message() -> None:
    body = BROKEN.exchanges[0].request_body
    broken = replace(make_opening(NEW), request_body=body)
    flow = (broken, *_flow(*REFUSED["auth/resource-mismatch"]))
    result = _refusing("auth/resource-mismatch", wire=make_log(*flow))
    assert (result.outcome, result.attribution) == (Outcome.FAILED, SUBJECT)


def test_the_runner_check_appears_only_where_nothing_else_explains_the_outcome() -> (
    None
):
    silent = judge(make_case(), replace(GOOD, wire=make_log()), Policy())
    assert silent.harness_checks == (
        ("adapter", None),
        ("official-runner", "the client sent nothing"),
    )
    failed = with_status(GOOD, "required-a", CheckStatus.FAILURE)
    assert judge(make_case(), failed, Policy()).harness_checks == HOLDS


def test_a_result_carries_what_the_launch_left() -> None:
    ended = make_ended(
        leftovers=(Leftover(pid=7, name="sleeper", description="sleeper x"),),
        duration_s=2.25,
    )
    result = judge(make_case(), replace(GOOD, ended=ended, diagnostics="said"), WARN)
    assert result.leftovers == ("sleeper",)
    assert (result.duration_s, result.diagnostics) == (2.25, "said")


def test_a_result_says_who_fell_silent() -> None:
    open_stream = replace(
        make_opening(MIDDLE), response_body=None, ended=ResponseEnd.OPEN, status=None
    )
    evidence = replace(
        GOOD, ended=make_ended(EndKind.TIMED_OUT), wire=make_log(open_stream)
    )
    result = judge(make_case(), evidence, Policy())
    assert result.silence is not None
    assert result.silence in result.reason


def test_judging_twice_gives_the_same_result() -> None:
    assert judge(make_case(), GOOD, Policy()) == judge(make_case(), GOOD, Policy())
