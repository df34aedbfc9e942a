"""Evidence of a supplemental case becomes outcomes: every rule, none of them a pass."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from make import make_ended

from mcpconf.client.job import DriverVerdict
from mcpconf.errors import DecodeError
from mcpconf.evidence import AdapterRecord, ClientEnd
from mcpconf.process import EndKind
from mcpconf.record import (
    Attribution,
    CaseKey,
    CheckStatus,
    Outcome,
    Policy,
    Source,
    WarningPolicy,
)
from mcpconf.revision import Revision
from mcpconf.supplemental.evidence import Evidence
from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
    unsupported,
)
from mcpconf.supplemental.judge import judge, unreadable
from mcpconf.supplemental.observation import ServerView, parse_log
from mcpconf.supplemental.plan import SupplementalCase
from mcpconf.supplemental.scenario import (
    CONTROL,
    CheckDefinition,
    Level,
    Scenario,
    call,
    connect,
)
from mcpconf.transport import Transport

ENDED = make_ended()


def make_check(
    finding: Finding | Exception, *, level: Level = Level.MUST, **more: Any
) -> CheckDefinition:
    def look(_seen: object) -> Finding:
        if isinstance(finding, Exception):
            raise finding
        return finding

    return CheckDefinition(
        id="one",
        sentence="A client does it.",
        page="basic/lifecycle",
        level=level,
        looks_for="it",
        look=look,
        broken=("some",),
        **more,
    )


def make_case(*checks: CheckDefinition, **more: Any) -> SupplementalCase:
    scenario = Scenario(
        name="x",
        title="x",
        checks=checks,
        steps=more.pop("steps", (connect(), call("echo", {"text": "x"}))),
        **more,
    )
    key = CaseKey(
        revision=Revision.V2025_11_25,
        scenario="x",
        source=Source.SUPPLEMENTAL,
        transport=Transport.STDIO,
    )
    return SupplementalCase(key=key, scenario=scenario)


def record(kind: str, t: float = 1.0, **members: Any) -> dict[str, Any]:
    return {"t": t, "pid": 7, "type": kind, **members}


def message(kind: str, value: Any, t: float = 1.0) -> dict[str, Any]:
    return record(
        kind,
        t,
        exchange=None,
        connection=7,
        bytes=1,
        sha256="0",
        message=value,
        text=None,
        cut=False,
        **({"stream": "stdio"} if kind == "sent" else {}),
    )


INITIALIZE = message(
    "received",
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "c", "version": "1"},
        },
    },
)


def view(*records: dict[str, Any]) -> ServerView:
    return parse_log("".join(json.dumps(r) + "\n" for r in records).encode(), "log")


def result(step_id: str, **members: Any) -> dict[str, Any]:
    return {"id": step_id, "t0_ms": 1, "t1_ms": 2, "fds": 3, "children": [], **members}


def ok(step_id: str, value: Any = None) -> dict[str, Any]:
    return result(step_id, ok=True, value=value or {})


def make_evidence(**changes: Any) -> Evidence:
    results = changes.pop("results", (ok("connect"), ok("call")))
    adapter = AdapterRecord(
        driver="command",
        verdict=DriverVerdict.DONE,
        end=ClientEnd(kind=EndKind.EXITED, exit_code=0, signal=None),
        error=None,
        steps=(),
        results=tuple(results),
        aftermath={"survivors": [], "temporary": [], "listening": []},
    )
    adapter = replace(adapter, **changes.pop("adapter", {}))
    evidence = Evidence(
        ended=ENDED,
        adapter=adapter,
        adapter_fault=None,
        subject=view(INITIALIZE),
        control=ServerView(),
        client_stderr=None,
    )
    return replace(evidence, **changes)


def judged(
    case: SupplementalCase, evidence: Evidence | None = None, **more: Any
) -> Any:
    return judge(case, evidence or make_evidence(**more), Policy())


HELD = make_case(make_check(holds("seen")))


@pytest.mark.parametrize(
    ("finding", "outcome", "status"),
    [
        (holds("seen"), Outcome.PASSED, CheckStatus.SUCCESS),
        (broken("not so"), Outcome.FAILED, CheckStatus.FAILURE),
        (unobserved("never"), Outcome.UNOBSERVED, CheckStatus.FAILURE),
        (unsupported("no verb"), Outcome.UNSUPPORTED, CheckStatus.SKIPPED),
        (not_applicable("undeclared"), Outcome.NOT_APPLICABLE, CheckStatus.SKIPPED),
    ],
)
def test_a_finding_is_an_outcome(
    finding: Finding, outcome: Outcome, status: CheckStatus
) -> None:
    found = judged(make_case(make_check(finding)))
    assert (found.outcome, found.checks[0].status) == (outcome, status)
    assert found.checks[0].outcome is outcome
    said = found.checks[0].error or found.checks[0].description
    assert said == finding.detail


def test_a_should_that_is_broken_is_a_warning_and_its_policy_decides() -> None:
    case = make_case(make_check(broken("not so"), level=Level.SHOULD))
    assert judged(case).outcome is Outcome.FAILED
    assert judged(case).checks[0].status is CheckStatus.WARNING
    tolerant = Policy(warnings=WarningPolicy.WARN)
    forgiven = judge(case, make_evidence(), tolerant)
    assert forgiven.outcome is Outcome.PASSED
    assert forgiven.standing == "passed with 1 warning"


def test_a_check_says_what_it_demands_and_how_strongly() -> None:
    for finding in (holds("so"), broken("not so"), unsupported("cannot")):
        case = make_case(make_check(finding, level=Level.SHOULD))
        (check,) = judged(case).checks
        assert (check.level, check.demand) == ("SHOULD", "A client does it.")


def test_what_was_not_seen_of_a_should_is_no_warning() -> None:
    case = make_case(make_check(unobserved("never"), level=Level.SHOULD))
    assert judged(case).checks[0].status is CheckStatus.FAILURE


@pytest.mark.parametrize(
    ("changes", "outcome", "attribution"),
    [
        ({"ended": replace(ENDED, kind=EndKind.STOPPED)}, Outcome.NOT_RUN, None),
        (
            {
                "adapter": {"verdict": DriverVerdict.UNSUPPORTED, "error": "no"},
                "subject": ServerView(),
            },
            Outcome.UNSUPPORTED,
            None,
        ),
        (
            {"adapter": {"verdict": DriverVerdict.ADAPTER_FAULT, "error": "oops"}},
            Outcome.HARNESS_ERROR,
            Attribution.ADAPTER,
        ),
        (
            {
                "adapter": {
                    "end": ClientEnd(
                        kind=EndKind.FAILED_TO_START, exit_code=None, signal=None
                    )
                }
            },
            Outcome.HARNESS_ERROR,
            Attribution.ADAPTER,
        ),
        (
            {
                "adapter": {
                    "end": ClientEnd(
                        kind=EndKind.SIGNALLED, exit_code=None, signal="SIGSEGV"
                    )
                }
            },
            Outcome.CRASHED,
            Attribution.SUBJECT,
        ),
        (
            {
                "adapter": {
                    "end": ClientEnd(
                        kind=EndKind.TIMED_OUT, exit_code=None, signal=None
                    )
                }
            },
            Outcome.TIMED_OUT,
            Attribution.SUBJECT,
        ),
        (
            {"ended": replace(ENDED, kind=EndKind.TIMED_OUT)},
            Outcome.TIMED_OUT,
            Attribution.SUBJECT,
        ),
        (
            {"ended": replace(ENDED, exit_code=9)},
            Outcome.HARNESS_ERROR,
            Attribution.ADAPTER,
        ),
        (
            {"adapter": {"aftermath": None}},
            Outcome.HARNESS_ERROR,
            Attribution.ADAPTER,
        ),
        ({"subject": ServerView()}, Outcome.UNOBSERVED, Attribution.SUBJECT),
        (
            {"subject": replace(view(INITIALIZE), truncated=True)},
            Outcome.HARNESS_ERROR,
            Attribution.HARNESS,
        ),
    ],
)
def test_nothing_passes_where_the_drive_went_wrong(
    changes: dict[str, Any], outcome: Outcome, attribution: Attribution | None
) -> None:
    assert judged(HELD).outcome is Outcome.PASSED  # the good case first
    found = judged(HELD, **changes)
    assert (found.outcome, found.attribution) == (outcome, attribution)
    assert found.checks[0].outcome is outcome


def test_who_gives_up_after_the_first_message_is_judged_by_what_was_seen() -> None:
    gave_up = {"verdict": DriverVerdict.UNSUPPORTED, "error": "exit 69"}
    found = judged(make_case(make_check(broken("not so"))), adapter=gave_up)
    assert found.outcome is Outcome.FAILED
    found = judged(HELD, adapter=gave_up)
    assert found.outcome is Outcome.FAILED  # the driver's own check says why
    assert ("adapter", "exit 69") in found.harness_checks


def test_who_says_unsupported_to_every_step_cannot_do_the_scenario() -> None:
    results = (result("connect", unsupported="no"), result("call", unsupported="no"))
    found = judged(HELD, results=results, subject=ServerView())
    assert (found.outcome, found.reason) == (Outcome.UNSUPPORTED, "no")


def test_a_broken_contract_is_said_before_what_was_not_seen() -> None:
    adapter = {"verdict": DriverVerdict.CLIENT_ERROR, "error": "line 1 is not JSON"}
    found = judged(HELD, adapter=adapter, results=(), subject=ServerView())
    assert found.outcome is Outcome.FAILED
    assert found.reason == "adapter: line 1 is not JSON"


def test_evidence_that_is_not_ours_is_a_fault_of_the_harness() -> None:
    found = unreadable(HELD, "subject.jsonl: line 2: t: is missing")
    assert (found.outcome, found.attribution) == (
        Outcome.HARNESS_ERROR,
        Attribution.HARNESS,
    )


def test_a_driver_without_a_record_is_our_fault() -> None:
    evidence = replace(make_evidence(), adapter=None, adapter_fault="never written")
    found = judge(HELD, evidence, Policy())
    assert found.outcome is Outcome.HARNESS_ERROR
    assert "never written" in found.reason


def test_a_case_that_was_not_launched_was_not_run() -> None:
    assert judge(HELD, None, Policy()).outcome is Outcome.NOT_RUN


def test_a_client_of_another_era_is_unsupported_unless_that_is_the_subject() -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    modern = message(
        "received",
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "server/discover",
            "params": {"_meta": meta},
        },
    )
    assert judged(HELD, subject=view(modern)).outcome is Outcome.UNSUPPORTED
    tolerant = make_case(make_check(holds("seen")), any_era=True)
    assert judged(tolerant, subject=view(modern)).checks[0].outcome is Outcome.PASSED


def test_a_refusal_counts_only_beside_a_good_server_that_was_used() -> None:
    case = make_case(
        make_check(holds("refused")), has_control=True, steps=(*CONTROL, connect())
    )
    results = (ok("control-connect"), ok("control-call"), ok("connect"))
    echo = {"name": "echo", "arguments": {"text": "control"}}
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": echo}
    answer = {"jsonrpc": "2.0", "id": 2, "result": {"content": []}}
    good = view(INITIALIZE, message("received", asked), message("sent", answer))
    assert judged(case, results=results, control=good).outcome is Outcome.PASSED
    unused = judged(case, results=results, control=view(INITIALIZE))
    assert unused.outcome is Outcome.UNOBSERVED
    failed = result("control-call", ok=False, error={"kind": "other", "message": "no"})
    lost = judged(case, results=(results[0], failed, results[2]), control=good)
    assert lost.outcome is Outcome.UNOBSERVED


def test_a_fault_that_was_never_served_is_unobserved() -> None:
    case = make_case(make_check(holds("x"), provoked_by=("sse-cr",)))
    assert judged(case).outcome is Outcome.UNOBSERVED
    served = record("fault", profile="sse-cr", detail="", exchange=None)
    assert judged(case, subject=view(INITIALIZE, served)).outcome is Outcome.PASSED


@pytest.mark.parametrize(
    ("results", "outcome"),
    [
        ((ok("connect"),), Outcome.UNOBSERVED),
        ((ok("connect"), result("call", unsupported="no verb")), Outcome.UNSUPPORTED),
        ((ok("connect"), ok("call")), Outcome.PASSED),
    ],
)
def test_a_step_that_is_needed_decides(results: Any, outcome: Outcome) -> None:
    case = make_case(make_check(holds("seen"), needs=("call",)))
    assert judged(case, results=results).outcome is outcome


def test_what_a_client_cannot_do_outweighs_a_fault_it_could_not_meet() -> None:
    check = make_check(holds("seen"), needs=("call",), provoked_by=("sse-cr",))
    results = (ok("connect"), result("call", unsupported="no verb"))
    found = judged(make_case(check), results=results)
    assert found.outcome is Outcome.UNSUPPORTED


def test_a_check_of_ours_that_breaks_is_no_verdict() -> None:
    found = judged(make_case(make_check(RuntimeError("bug"))))
    assert found.outcome is Outcome.HARNESS_ERROR
    assert found.attribution is Attribution.HARNESS


def test_a_client_that_fails_at_its_end_fails_a_scenario_whose_checks_hold() -> None:
    adapter = {"verdict": DriverVerdict.CLIENT_ERROR, "error": "exit 3"}
    found = judged(HELD, adapter=adapter)
    assert found.outcome is Outcome.FAILED
    assert ("adapter", "exit 3") in found.harness_checks


def test_a_message_that_breaks_its_schema_fails_the_scenario() -> None:
    bad = message("received", {"jsonrpc": "2.0", "id": None, "method": "ping"})
    found = judged(HELD, subject=view(INITIALIZE, bad))
    assert found.outcome is Outcome.FAILED
    assert dict(found.harness_checks)["wire-schema"]


def test_a_driver_that_writes_nonsense_is_found_out() -> None:
    with pytest.raises(DecodeError, match=r"results\[0\]"):
        judged(HELD, results=({"id": "connect", "t0_ms": "soon"},))


def test_a_log_with_a_line_that_is_no_record_is_refused() -> None:
    with pytest.raises(DecodeError, match="line 1"):
        parse_log(b"[]\n{}\n", "log")
    for torn in (
        b'\n{"t": 1, "pi',
        b'\n{"t": 1, "pi\n' + json.dumps(INITIALIZE).encode(),
    ):
        view = parse_log(json.dumps(INITIALIZE).encode() + torn, "log")
        assert view.truncated
        assert view.received
