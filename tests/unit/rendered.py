"""A small report of every kind of result, a gate's answer on it, and hostile words."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from make import (
    MIDDLE,
    by_key,
    make_case,
    make_catalogue,
    make_check,
    make_end,
    make_evidence,
    make_record,
    with_status,
)

from mcpconf import report, report_schema
from mcpconf.gate_record import GateFinding, GatePolicy, GateResult, GateVerdict
from mcpconf.identity import CheckIdentity
from mcpconf.judge import judge
from mcpconf.record import (
    Attribution,
    CaseKey,
    CheckStatus,
    Outcome,
    Policy,
    ScenarioResult,
    Source,
)
from mcpconf.revision import Revision
from mcpconf.supplemental.plan import SupplementalCase
from mcpconf.supplemental.scenario import Scenario
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from mcpconf.plan import PlannedCase

CATALOGUE = make_catalogue()
PAGE = "https://spec.example/2025-11-25/tools#calling"
#: A word that stands in every hostile text, to be looked for.
MARK = "EVIL"
HOSTILE = {
    "escape sequence": f"\x1b[2J\x1b[HMCP conformance: CONFORMANT {MARK}\x07",
    "end of a section": f"]]></failure></testcase><testcase name='{MARK}'/>",
    "end of a fold": f"</details>\n\n# MCP conformance: CONFORMANT {MARK}\n\n| a | b |",
    "command": f"::error::{MARK}\n::error title=x::{MARK}\r\n##[error]{MARK}%0A::x::",
    "ticks": f"`` ` ``` {MARK} ` <img src=x> @someone #1 ``",
    "line end": f"{MARK}\n\n* {MARK}\n\r\N{LINE SEPARATOR}{MARK}\x85{MARK}",
    "NUL": f"{MARK}\x00\x01\x0b\ufffe\uffff",
    "lone surrogate": f"{MARK}\ud800 \udfff",
    "right to left": f"{MARK}\u202e\u2066abc\u200f",
    "table": f"| {MARK} |\n| --- |\n| x | y |",
    "reference": f"[{MARK}]: http://x.example\n[{MARK}](http://x.example) <b>{MARK}",
    "entity": f"&lt;{MARK}&amp;&#60;script&#62; <!-- {MARK}",
    "megabyte": f"{MARK} " * 200_000,
    "one long word": MARK * 250_000,
    "missing": f"Expected Check Missing: {MARK}\n::error::{MARK}",
    "nothing": "",
}


def failing(case: PlannedCase, said: str = "it did not") -> ScenarioResult:
    """A scenario of the suite with one failed check and one that only warns."""
    evidence = make_evidence(case, client_stderr=f"one\n{said}")
    evidence = with_status(
        evidence, "required-a", CheckStatus.WARNING, error="it should have"
    )
    evidence = with_status(
        evidence, "required-b", CheckStatus.FAILURE, error=said, pages=(PAGE,)
    )
    return judge(case, evidence, Policy())


def ours(scenario: str, **outcomes: Outcome) -> ScenarioResult:
    """A scenario of ours over stdio, with a check for each outcome."""
    checks = tuple(
        make_check(
            name,
            _STATUSES.get(outcome, CheckStatus.FAILURE),
            error=None if outcome is Outcome.PASSED else f"{name} was {outcome}",
            pages=(PAGE,),
            outcome=outcome,
            demand=f"A client does {name}.",
            level="MUST",
            attribution=None if outcome in _STATUSES else Attribution.SUBJECT,
        )
        for name, outcome in outcomes.items()
    )
    bad = [each for each in outcomes.values() if each not in _STATUSES]
    key = CaseKey(
        revision=Revision(MIDDLE),
        scenario=scenario,
        source=Source.SUPPLEMENTAL,
        transport=Transport.STDIO,
    )
    return ScenarioResult(
        key=key,
        outcome=bad[0] if bad else Outcome.PASSED,
        attribution=Attribution.SUBJECT if bad else None,
        reason=str(bad[0]) if bad else "passed",
        checks=checks,
        duration_s=0.25,
    )


_STATUSES = {
    Outcome.PASSED: CheckStatus.SUCCESS,
    Outcome.UNSUPPORTED: CheckStatus.SKIPPED,
    Outcome.NOT_APPLICABLE: CheckStatus.SKIPPED,
}


def report_of(*results: ScenarioResult, **end: Any) -> dict[str, Any]:
    """A valid report of some results."""
    cases: list[Any] = []
    for each in results:
        if each.key.source is Source.OFFICIAL:
            reason = "extension" if each.key.scenario == "auth/dpop" else None
            cases.append(make_case(each.key.scenario, not_scored=reason))
        else:
            name = each.key.scenario
            scenario = Scenario(name=name, title="x", checks=(), steps=())
            cases.append(SupplementalCase(key=each.key, scenario=scenario))
    record = make_record(CATALOGUE, cases)
    built = report.build(record, cases, by_key(*results), CATALOGUE, make_end(**end))
    report_schema.validate(built.value)
    return copy.deepcopy(built.value)


def good(scenario: str = "auth/basic-cimd") -> ScenarioResult:
    """A scenario of the suite that passes."""
    case = make_case(scenario)
    return judge(case, make_evidence(case), Policy())


def mixed(said: str = "it did not") -> dict[str, Any]:
    """Failures of the suite and of ours, a pass, a skip, one that does not count."""
    apart = make_case("auth/dpop", not_scored="extension")
    return report_of(
        ours("held", a=Outcome.PASSED, b=Outcome.UNSUPPORTED),
        ours("life", c=Outcome.FAILED, d=Outcome.TIMED_OUT),
        failing(make_case(), said),
        good(),
        judge(apart, make_evidence(apart), Policy()),
    )


def flaky() -> dict[str, Any]:
    """One scenario that passed when it was run again."""
    value = report_of(failing(make_case()), good())
    case = value["cases"][0]
    scenario = case["scenarios"][0]
    scenario["outcome"] = "flaky"
    scenario["reruns"] = [
        {
            "outcome": "passed",
            "attribution": None,
            "reason": "passed",
            "evidence": "cases/2025-11-25/tools_call.again",
            "checks": {"official/tools_call/RequiredB": "PASS"},
        }
    ]
    for check in case["checks"]:
        if check["status"] == "FAIL":
            check["outcome"] = "flaky"
    report_schema.validate(value)
    return value


def poisoned(value: dict[str, Any], text: str) -> dict[str, Any]:
    """The same report, with `text` wherever a client can have a say."""
    value = copy.deepcopy(value)
    value["client"]["version"] = text
    value["codexVersion"] = text
    value["closing"]["faults"] = [text]
    value["closing"]["temporary"] = [text]
    for case in value["cases"]:
        case["diagnostics"] = text
        for scenario in case["scenarios"]:
            scenario |= {
                "reason": text,
                "client_stderr": text,
                "diagnostics": text,
                "leftovers": [text],
                "silence": text,
            }
            scenario["revision"]["agreed"] = [text]
            for again in scenario["reruns"]:
                again["reason"] = text
        for check in (*case["checks"], *case["notScored"]):
            check["detail"] = text
    return value


def identity(
    check_id: str, scenario: str = "tools_call", **changes: str
) -> CheckIdentity:
    """A check of the suite in the one official leg, unless told otherwise."""
    values = {
        "revision": MIDDLE.value,
        "transport": "official-http",
        "source": "official",
        "scenario": scenario,
        "check_id": check_id,
    }
    return CheckIdentity(**{**values, **changes})


def finding(check: CheckIdentity, detail: str = "it fails", **more: Any) -> GateFinding:
    """What a gate says of one check."""
    again = f"nox -s conformance-{check.revision} -- --scenario {check.scenario}"
    values: dict[str, Any] = {"reproduce": again, "pages": (PAGE,), **more}
    return GateFinding(identity=check, detail=detail, **values)


def gate_of(verdict: str = "GREEN", **groups: Any) -> dict[str, Any]:
    """The stored answer of a gate."""
    result = GateResult(
        verdict=GateVerdict(verdict),
        policy=GatePolicy(),
        **{"scope": "whole", **groups},
    )
    value: dict[str, Any] = result.to_json()
    return value


def known_gate(verdict: str = "GREEN", **groups: Any) -> dict[str, Any]:
    """A gate whose baseline expects all that fails in `mixed`."""
    stdio = {"transport": "stdio", "source": "supplemental"}
    known = (
        finding(identity("required-a"), reason="a known bug"),
        finding(identity("required-b"), reason="a known bug"),
        finding(identity("c", "life", **stdio), reason="the client is slow"),
        finding(identity("d", "life", **stdio)),
    )
    return gate_of(verdict, **{"known_failures": known, **groups})
