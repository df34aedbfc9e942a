"""
Small whole reports for the gate: good by default, each fault asked for by name.

Three revisions by three transports. What is built is what the report of a conformant
client holds, and follows the shipped schema; a test changes the one thing it is about.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from make import SUITE, make_catalogue, make_entry

from mcpconf import summary
from mcpconf.observed import observe
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.observed import ObservedRun
    from mcpconf.suite.catalogue import Catalogue

OLD, MIDDLE, NEW = (each.value for each in Revision)
STDIO, HTTP, OFFICIAL = "stdio", "http", "official-http"
#: Scenarios of ours; these names are those of real ones.
OURS = ("basics", "registration")
#: The suite's: plain, with authorization, and one that does not count.
PLAIN, AUTH, APART = "tools_call", "auth/basic-cimd", "auth/dpop"
VARIANT = "auto_cimd"

GATE_CATALOGUE: Catalogue = make_catalogue(
    {
        each: (
            make_entry(PLAIN),
            make_entry(AUTH),
            make_entry(APART, not_scored="extension"),
        )
        for each in Revision
    }
)

Report = dict[str, Any]


def make_report(
    *,
    revisions: Sequence[str] = (OLD, MIDDLE, NEW),
    transports: Sequence[str] = (STDIO, "http"),
    sources: Sequence[str] = ("official", "supplemental"),
    authentication: bool = True,
    scenarios: Sequence[str] = (),
    shard: tuple[int, int] | None = None,
    warnings: str = "fail",
    catalogue: Catalogue = GATE_CATALOGUE,
) -> Report:
    """The report of a client that does everything, over what was selected."""
    legs = [
        (transport, revision)
        for transport in (STDIO, HTTP, OFFICIAL)
        for revision in revisions
        if (transport in transports and "supplemental" in sources)
        or (transport == OFFICIAL and "http" in transports and "official" in sources)
    ]
    cases = [_case(*leg, scenarios, authentication=authentication) for leg in legs]
    cases = [case for case in cases if case["scenarios"]]
    report: Report = {
        "schemaVersion": 4,
        "role": "client",
        "startedAt": "2026-11-30T00:00:00.000+00:00",
        "finishedAt": "2026-11-30T00:01:00.000+00:00",
        "codexBinary": "/opt/client",
        "codexVersion": "client 1.0",
        "client": {
            "name": "command",
            "title": "a program of your own",
            "driver": "command",
            "binary": "/opt/client",
            "sha256": "c" * 64,
            "version": "client 1.0",
            "source": "given",
            "features": {},
        },
        "modernFeatureEnablement": True,
        "automaticAuthRequired": False,
        "officialConformance": {
            "repository": "modelcontextprotocol/conformance",
            "gitRef": "npm:@modelcontextprotocol/conformance@9.9.9",
            "scope": "all versioned client scenarios",
            "authenticationIncluded": authentication,
            "scenarios": {revision: [] for revision in revisions},
            "suite": SUITE,
            "catalogue": {"version": "9.9.9", "digest": catalogue.digest},
        },
        "versionCheck": {"success": True, "detail": "client 1.0"},
        "cases": cases,
        "floor": {},
        "policy": {"warnings": warnings, "revision": "same-era"},
        "selection": {
            "revisions": list(revisions),
            "transports": list(transports),
            "sources": list(sources),
            "authentication": authentication,
            "scenarios": list(scenarios),
            "shard": shard and {"index": shard[0], "of": shard[1]},
        },
        "run": {"id": "20261130T000000Z-abcdef", "mcpconf": "0.1.0", "shards": []},
        "artifacts": "runs/20261130T000000Z-abcdef",
        "closing": {"complete": True, "faults": [], "openPorts": [], "temporary": []},
        "complete": True,
    }
    return settle(report)


def settle(report: Report) -> Report:
    """The same report, its lists and summaries as its results now give them."""
    listed = report["officialConformance"]["scenarios"]
    for case in report["cases"]:
        scored = [each for each in case["scenarios"] if each["scored"]]
        if case["transport"] == OFFICIAL:
            listed[case["mode"]] = [each["scenario"] for each in scored]
        is_good = all(each["outcome"] == "passed" for each in scored)
        case["success"] = is_good
        case["verdict"] = "CONFORMANT" if is_good else "NOT_CONFORMANT"
    passed = sum(case["success"] for case in report["cases"])
    total = len(report["cases"])
    verdict = "CONFORMANT" if passed == total else "NOT_CONFORMANT"
    if not report["complete"]:
        verdict = "INCONCLUSIVE"
    return report | {
        "verdict": verdict,
        "success": verdict == "CONFORMANT",
        "summary": {"passed": passed, "failed": total - passed, "total": total},
        "modeSummaries": summary.mode_summaries(report["cases"]),
        "testMatrix": summary.test_matrix(report["cases"]),
    }


def observed(report: Report) -> ObservedRun:
    """The report as the gate sees it."""
    return observe(settle(report), "report.json")


def _case(
    transport: str, revision: str, wanted: Sequence[str], *, authentication: bool
) -> Report:
    source = "official" if transport == OFFICIAL else "supplemental"
    names = [PLAIN, AUTH, APART] if source == "official" else list(OURS)
    case: Report = {
        "transport": transport,
        "mode": revision,
        "success": True,
        "verdict": "CONFORMANT",
        "duration_seconds": 1.0,
        "checks": [],
        "notScored": [],
        "scenarios": [],
        "diagnostics": None,
    }
    for name in names:
        if (wanted and name not in wanted) or (name == AUTH and not authentication):
            continue
        if name == APART and not authentication:
            continue
        is_scored = name != APART
        case["scenarios"].append(_scenario(name, source, revision, scored=is_scored))
        case["checks" if is_scored else "notScored"] += _checks(name, source)
        if name == AUTH and revision == NEW:
            entry = _scenario(name, source, revision, scored=False, variant=VARIANT)
            case["scenarios"].append(entry)
            case["checks"].append(_variant_check(name))
    return case


def _scenario(
    name: str, source: str, revision: str, *, scored: bool, variant: str | None = None
) -> Report:
    return {
        "scenario": name,
        "source": source,
        "variant": variant,
        "category": _category(name),
        "scored": scored,
        "not_scored": "extension" if name == APART else None,
        "outcome": "passed",
        "attribution": None,
        "reason": "passed",
        "revision": {"leg": revision, "offered": [revision], "agreed": [revision]},
        "silence": None,
        "client_stderr": None,
        "leftovers": [],
        "missing_checks": [],
        "unknown_checks": [],
        "duration_seconds": 1.0,
        "evidence": f"cases/{revision}/{name}",
        "reproduce": f"nox -s conformance-{revision} -- --{source}-scenario {name}",
        "timing_sensitive": False,
        "reruns": [],
        "diagnostics": None,
    }


def _category(name: str) -> str:
    return "auth" if name.startswith("auth/") else "non-auth"


def _checks(name: str, source: str) -> list[Report]:
    values = []
    for check_id in ("required-a", "required-b"):
        value = _check(f"{source}/{name}/{check_id}", source, name, check_id)
        value |= {"suite_status": "SUCCESS", "count": 1, "pages": ["https://a.page/"]}
        if source == "supplemental":
            value |= {"outcome": "passed", "demand": "It does.", "level": "MUST"}
        values.append(value)
    label = "command-adapter"
    return [*values, _check(f"harness/{name}/{label}", "harness", name, None)]


def _variant_check(name: str) -> Report:
    return _check(f"supplemental/{name}/{VARIANT}", "supplemental", name, VARIANT)


def _check(name: str, source: str, scenario: str, check_id: str | None) -> Report:
    return {
        "name": name,
        "success": True,
        "detail": "it holds",
        "status": "PASS",
        "source": source,
        "scenario": scenario,
        "check_id": check_id,
        "category": _category(scenario),
    }


# --- the one thing a test is about -------------------------------------------------


def case_of(report: Report, leg: str) -> Report:
    """The case of ``stdio 2025-06-18``."""
    transport, revision = leg.split()
    return next(
        each
        for each in report["cases"]
        if (each["transport"], each["mode"]) == (transport, revision)
    )


def scenario_of(
    report: Report, leg: str, name: str, variant: str | None = None
) -> Report:
    """One entry of a case's scenarios."""
    entries = case_of(report, leg)["scenarios"]
    return next(
        each
        for each in entries
        if (each["scenario"], each["variant"]) == (name, variant)
    )


def checks_of(report: Report, leg: str, name: str) -> list[Report]:
    """The checks of one scenario that count or, where it does not, do not."""
    case = case_of(report, leg)
    both = [*case["checks"], *case["notScored"]]
    return [each for each in both if each["scenario"] == name]


def check_of(report: Report, leg: str, name: str, check_id: str) -> Report:
    """One check, by its id, or by the end of its name (``adapter``)."""
    return next(
        each
        for each in checks_of(report, leg, name)
        if each["check_id"] == check_id or each["name"].endswith(check_id)
    )


def end_as(
    report: Report,
    leg: str,
    name: str,
    outcome: str,
    *,
    attribution: str | None = "subject",
    variant: str | None = None,
) -> None:
    """A scenario ends otherwise; where nothing was earned, nothing is judged."""
    entry = scenario_of(report, leg, name, variant)
    entry |= {"outcome": outcome, "attribution": attribution, "reason": f"it {outcome}"}
    if outcome in {"failed", "flaky", "passed", "suite-defect"}:
        return
    for check in checks_of(report, leg, name):
        if (check["check_id"] if _is_variants(check) else None) != variant:
            continue
        is_bad = _is_variants(check) and outcome not in {"unsupported", "not-run"}
        check |= {"status": "FAIL" if is_bad else "SKIP", "success": not is_bad}
        if is_bad:
            check |= {"attribution": attribution, **_places(entry)}
        if "outcome" in check:
            check["outcome"] = outcome


def _is_variants(check: Report) -> bool:
    return check["source"] == "supplemental" and "suite_status" not in check


def _places(entry: Report) -> Report:
    return {"reproduce": entry["reproduce"], "evidence": entry["evidence"]}


def fail(
    report: Report,
    leg: str,
    name: str,
    check_id: str = "required-a",
    *,
    suite_status: str = "FAILURE",
    outcome: str = "failed",
    attribution: str = "subject",
) -> Report:
    """One check fails, and its scenario with it."""
    end_as(report, leg, name, outcome, attribution=attribution)
    return fail_check(
        report, leg, name, check_id, suite_status=suite_status, attribution=attribution
    )


def fail_check(
    report: Report,
    leg: str,
    name: str,
    check_id: str = "required-a",
    *,
    suite_status: str = "FAILURE",
    attribution: str = "subject",
) -> Report:
    """One check fails, whatever its scenario says."""
    check = check_of(report, leg, name, check_id)
    entry = scenario_of(report, leg, name)
    check |= {
        "status": "FAIL",
        "success": False,
        "detail": "it does not hold",
        "attribution": attribution,
        **_places(entry),
    }
    if "suite_status" in check:
        check["suite_status"] = suite_status
    if "outcome" in check:
        check["outcome"] = entry["outcome"]
    return check


def warn(report: Report, leg: str, name: str, check_id: str = "required-a") -> Report:
    """One check warns, which the policy of the run may forgive."""
    if report["policy"]["warnings"] == "fail":
        return fail(report, leg, name, check_id, suite_status="WARNING")
    check = check_of(report, leg, name, check_id)
    check |= {"status": "SKIP", "suite_status": "WARNING", "detail": "it should"}
    if "outcome" in check:
        check["outcome"] = "failed"
    return check


def flake(report: Report, leg: str, name: str, check_id: str = "required-a") -> Report:
    """One check failed at first and passed when run again."""
    check = fail(report, leg, name, check_id, outcome="flaky")
    check["outcome"] = "flaky"
    scenario_of(report, leg, name)["reruns"] = [
        {
            "outcome": "passed",
            "attribution": None,
            "reason": "passed",
            "evidence": "reruns/1",
            "checks": {each["name"]: "PASS" for each in checks_of(report, leg, name)},
        }
    ]
    return check


def drop_check(report: Report, leg: str, name: str, check_id: str) -> None:
    """One check is not there any more."""
    case_of(report, leg)["checks"].remove(check_of(report, leg, name, check_id))


def drop_scenario(report: Report, leg: str, name: str) -> None:
    """A scenario is not there any more, nor are its checks."""
    case = case_of(report, leg)
    for member in ("scenarios", "checks", "notScored"):
        case[member] = [each for each in case[member] if each["scenario"] != name]


def drop_leg(report: Report, leg: str) -> None:
    """A case is not there any more."""
    report["cases"].remove(case_of(report, leg))
