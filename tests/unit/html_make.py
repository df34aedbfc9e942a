"""Reports and transcripts for the tests of the page; each fault asked for by name."""

from __future__ import annotations

from typing import Any

from mcpconf.render.html import Moment, Step, Transcript
from mcpconf.render.html.transcript import Way

REVISION = "2025-11-25"
PAGE = "https://spec.example/lifecycle"
#: Everything a client could put into a string to get out of it.
HOSTILE = (
    "</script><script>window.hacked=1</script>"
    '"><img src=x onerror="window.hacked=1"> {{ 7*7 }} <!-- '
    "\u202egnp.exe \x1b[31m \x00 \ud800 \u2028 \ufeff&amp; "
)


def make_check(
    check_id: str | None = "one", status: str = "PASS", **changes: Any
) -> Any:
    """A check of ours."""
    scenario = changes.pop("scenario", "basics")
    value = {
        "name": f"supplemental/{scenario}/{check_id}",
        "scenario": scenario,
        "check_id": check_id,
        "source": "supplemental",
        "category": "non-auth",
        "status": status,
        "success": status == "PASS",
        "suite_status": {"PASS": "SUCCESS", "FAIL": "FAILURE"}.get(status, "SKIPPED"),
        "outcome": {"PASS": "passed", "FAIL": "failed"}.get(status, "unsupported"),
        "detail": f"what was found of {check_id}",
        "level": "MUST",
        "demand": f"A client does {check_id}.",
        "pages": [PAGE],
        "count": 1,
    }
    if status == "FAIL":
        value |= {
            "attribution": "subject",
            "reproduce": f"nox -s conformance -- --supplemental-scenario {scenario}",
            "evidence": f"supplemental/{REVISION}/stdio/{scenario}",
        }
    return {**value, **changes}


def make_scenario(name: str = "basics", **changes: Any) -> Any:
    """A scenario of ours on stdio that passed."""
    value = {
        "scenario": name,
        "source": "supplemental",
        "variant": None,
        "category": "non-auth",
        "scored": True,
        "not_scored": None,
        "outcome": "passed",
        "attribution": None,
        "reason": changes.get("outcome", "passed"),
        "revision": {"leg": REVISION, "offered": [REVISION], "agreed": [REVISION]},
        "silence": None,
        "client_stderr": None,
        "leftovers": [],
        "missing_checks": [],
        "unknown_checks": [],
        "duration_seconds": 1.25,
        "evidence": f"supplemental/{REVISION}/stdio/{name}",
        "reproduce": f"nox -s conformance -- --supplemental-scenario {name}",
        "timing_sensitive": False,
        "reruns": [],
    }
    return {**value, **changes}


def make_case(
    scenarios: Any, checks: Any, transport: str = "stdio", mode: str = REVISION
) -> Any:
    """One leg."""
    return {
        "transport": transport,
        "mode": mode,
        "success": False,
        "verdict": "NOT_CONFORMANT",
        "duration_seconds": 1.0,
        "checks": checks,
        "notScored": [],
        "scenarios": scenarios,
        "diagnostics": None,
    }


def make_report(*cases: Any, **changes: Any) -> Any:
    """The members that a page reads."""
    value = {
        "schemaVersion": 4,
        "role": "client",
        "success": False,
        "verdict": "NOT_CONFORMANT",
        "complete": True,
        "startedAt": "2026-11-30T15:31:27.250+00:00",
        "finishedAt": "2026-11-30T15:33:13.261+00:00",
        "codexVersion": "acme 1.2.3",
        "client": {"name": "acme", "title": "Acme Client"},
        "automaticAuthRequired": False,
        "officialConformance": {"gitRef": "npm:suite@9.9.9", "scope": "everything"},
        "policy": {"warnings": "fail", "revision": "same-era"},
        "run": {"id": "run-1", "mcpconf": "0.1.0", "shards": []},
        "artifacts": "runs/run-1",
        "closing": {"complete": True, "faults": [], "openPorts": [], "temporary": []},
        "cases": list(cases),
    }
    return {**value, **changes}


def make_small_report(**changes: Any) -> Any:
    """
    Four scenarios: two of ours over stdio and HTTP, two of the suite.

    ``basics`` passes on stdio and fails over HTTP, ``dies-early`` crashes and is not
    supported; of the suite, ``tools_call`` passes and ``sse-retry`` is our own fault.
    """
    stdio = make_case(
        [
            make_scenario(),
            make_scenario(
                "dies-early",
                outcome="crashed",
                attribution="subject",
                reason="it died of SIGSEGV",
                silence="the client owed an answer to ping",
            ),
        ],
        [
            make_check(),
            make_check("two", detail="a needle in the hay"),
            make_check("alive", "FAIL", scenario="dies-early", outcome="crashed"),
            make_check("kept", scenario="dies-early"),
        ],
    )
    http = make_case(
        [
            make_scenario(
                outcome="failed",
                attribution="subject",
                evidence=f"supplemental/{REVISION}/http/basics",
                reason="one: it did not",
            ),
            make_scenario(
                "dies-early",
                outcome="unsupported",
                evidence=f"supplemental/{REVISION}/http/dies-early",
            ),
        ],
        [
            make_check("one", "FAIL", reproduce="nox -s one -- --only one"),
            make_check("two"),
            make_check("alive", "SKIP", scenario="dies-early"),
        ],
        transport="http",
    )
    official = make_case(
        [
            make_scenario("tools_call", source="official", evidence="cases/x/tools"),
            make_scenario(
                "sse-retry",
                source="official",
                outcome="harness-error",
                attribution="harness",
                evidence="cases/x/sse-retry",
            ),
        ],
        [
            make_check(scenario="tools_call", source="official"),
            make_check(
                None,
                "FAIL",
                scenario="sse-retry",
                source="harness",
                name="harness/sse-retry/wire-schema",
                attribution="harness",
            ),
        ],
        transport="official-http",
    )
    return make_report(stdio, http, official, **changes)


def make_moments(count: int = 3, body: str = '{\n  "id": 1\n}') -> tuple[Moment, ...]:
    """A conversation of alternating messages, a step and a fault before it."""
    aside = (
        Moment(t_ms=100.0, way=Way.ASIDE, label="step connect", kind="step"),
        Moment(t_ms=101.0, way=Way.ASIDE, label="fault late: served", kind="fault"),
    )
    said = (
        Moment(
            t_ms=102.5 + number,
            way=Way.TO_CLIENT if number % 2 else Way.TO_SERVER,
            label=f"result #{number}" if number % 2 else f"tools/call #{number}",
            kind="result" if number % 2 else "request",
            carrier="POST /mcp",
            headers="accept: */*",
            body=body,
            size=len(body),
        )
        for number in range(count)
    )
    return (*aside, *said)


def make_transcript(evidence: str, **changes: Any) -> Transcript:
    """Evidence that was read."""
    values: dict[str, Any] = {
        "evidence": f"runs/run-1/{evidence}",
        "steps": (
            Step(name="start", state="ok", detail="ready"),
            Step(name="connect", state="ok", t_ms=100.0, took_ms=4.5, value="{}"),
        ),
        "moments": make_moments(),
        "endings": ("The client never answered ping (id 7)",),
        "client_end": "The client exited with 0.",
    }
    return Transcript(**{**values, **changes})


def make_transcripts(report: Any) -> dict[str, Transcript]:
    """Evidence of every scenario of a report."""
    return {
        each["evidence"]: make_transcript(each["evidence"])
        for case in report["cases"]
        for each in case["scenarios"]
    }


def make_hostile_report() -> Any:
    """Every string that a client or a suite has a say in tries to get out."""
    check = make_check(
        HOSTILE,
        "FAIL",
        scenario=HOSTILE,
        detail=HOSTILE + "x" * 20_000,
        demand=HOSTILE,
        pages=["javascript:window.hacked=1", f"https://x.example/{HOSTILE}"],
        reproduce=HOSTILE,
    )
    scenario = make_scenario(
        HOSTILE,
        outcome="failed",
        attribution="subject",
        reason=HOSTILE,
        silence=HOSTILE,
        client_stderr=HOSTILE,
        leftovers=[HOSTILE],
        missing_checks=[HOSTILE],
        unknown_checks=[HOSTILE],
        evidence=f"supplemental/{HOSTILE}",
        reproduce=HOSTILE,
    )
    return make_report(
        make_case([scenario], [check]),
        codexVersion=HOSTILE,
        client={"name": HOSTILE, "title": HOSTILE},
        closing={"faults": [HOSTILE], "openPorts": [], "temporary": [HOSTILE]},
    )


def make_hostile_transcript(evidence: str) -> Transcript:
    """The wire of a client that tries to get out."""
    moment = Moment(
        t_ms=1.0,
        way=Way.TO_SERVER,
        label=HOSTILE,
        kind="request",
        party=HOSTILE,
        carrier=HOSTILE,
        headers=HOSTILE,
        body=HOSTILE,
        cut=HOSTILE,
    )
    return make_transcript(
        evidence,
        faults=(HOSTILE,),
        steps=(Step(name=HOSTILE, state="error", detail=HOSTILE, value=HOSTILE),),
        moments=(moment,),
        endings=(HOSTILE,),
        client_end=HOSTILE,
    )


def make_gate(**changes: Any) -> Any:
    """A stored gate with one new failure and one known."""
    finding: dict[str, Any] = {
        "mode": REVISION,
        "transport": "http",
        "source": "supplemental",
        "scenario": "basics",
        "check_id": "one",
        "detail": "passes in the baseline and fails now",
        "attribution": "subject",
        "reproduce": "nox",
        "pages": [],
        "reason": None,
    }
    value = {
        "kind": "mcpconf-gate-v1",
        "success": False,
        "verdict": "REGRESSED",
        "scope": "partial",
        "newFailures": [finding],
        "knownFailures": [{**finding, "scenario": "gone", "reason": "a known bug"}],
        "demands": [],
        "notCompared": ["stdio 2026-07-28 was not run"],
    }
    return {**value, **changes}
