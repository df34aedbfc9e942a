"""Outcomes become a report: its fields, its statuses, its verdict, its schema."""

from __future__ import annotations

import copy
import json
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from make import (
    MIDDLE,
    NEW,
    OLD,
    SUITE,
    by_key,
    make_adapter,
    make_case,
    make_catalogue,
    make_check,
    make_end,
    make_ended,
    make_entry,
    make_evidence,
    make_exchange,
    make_log,
    make_opening,
    make_record,
    with_status,
)

from mcpconf import gate, report, report_check, report_schema
from mcpconf.client.job import DriverVerdict
from mcpconf.errors import DecodeError, ExitCode
from mcpconf.gate_record import GatePolicy, GateVerdict
from mcpconf.judge import judge
from mcpconf.observed import observe
from mcpconf.process import EndKind
from mcpconf.record import (
    Attribution,
    AuthMode,
    CheckStatus,
    Outcome,
    Policy,
    ReportStatus,
    ScenarioResult,
    Source,
    Verdict,
    WarningPolicy,
)
from mcpconf.report_assembly import Report
from mcpconf.selection import Selection
from mcpconf.storage import json_bytes, write_json
from mcpconf.summary import ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcpconf.evidence import CaseEvidence
    from mcpconf.observed import ObservedRun
    from mcpconf.plan import PlannedCase
    from mcpconf.runrecord import EndRecord, RunRecord
    from mcpconf.suite.catalogue import Catalogue
    from mcpconf.wire import WireLog

CATALOGUE = make_catalogue()
END = make_end()
PLAIN, AUTH = make_case(), make_case("auth/basic-cimd")
APART = make_case("auth/dpop", not_scored="extension")
VARIANT = make_case("auth/basic-cimd", variant="auto_cimd")
WARN = Policy(warnings=WarningPolicy.WARN)


def _judged(case: PlannedCase, **changes: Any) -> ScenarioResult:
    return judge(case, replace(make_evidence(case), **changes), Policy())


def _failed(case: PlannedCase) -> ScenarioResult:
    evidence = with_status(
        make_evidence(case), "required-b", CheckStatus.FAILURE, error="it did not"
    )
    return judge(case, evidence, Policy())


def _build(
    cases: Sequence[PlannedCase] = (PLAIN, AUTH),
    results: Sequence[ScenarioResult] | None = None,
    end: EndRecord | None = END,
    **changes: Any,
) -> Report:
    record: RunRecord = make_record(CATALOGUE, cases, **changes)
    if results is None:
        results = [_judged(case) for case in cases]
    built = report.build(record, cases, by_key(*results), CATALOGUE, end)
    report_schema.validate(built.value)
    return built


# -- the seed's fields -------------------------------------------------------------

#: Schema 4 as the original harness wrote it.
TOP = {
    "schemaVersion",
    "role",
    "success",
    "startedAt",
    "finishedAt",
    "codexBinary",
    "codexVersion",
    "modernFeatureEnablement",
    "automaticAuthRequired",
    "officialConformance",
    "versionCheck",
    "summary",
    "modeSummaries",
    "testMatrix",
    "cases",
    "artifacts",
}
OFFICIAL = {"repository", "gitRef", "scope", "authenticationIncluded", "scenarios"}
MODE_SUMMARY = {
    "mode",
    "checks",
    "officialChecks",
    "officialNonAuthChecks",
    "officialAuthChecks",
    "officialNonAuthScenarios",
    "officialAuthScenarios",
    "harnessChecks",
    "supplementalChecks",
    "transportCases",
}
CASE = {"transport", "mode", "success", "duration_seconds", "checks", "diagnostics"}
CHECK = {
    "name",
    "success",
    "detail",
    "status",
    "source",
    "scenario",
    "check_id",
    "category",
}


def test_a_report_has_every_field_of_schema_four() -> None:
    value = _build((PLAIN, AUTH, VARIANT)).value
    assert value["schemaVersion"] == 4
    assert set(value) >= TOP
    assert set(value["officialConformance"]) >= OFFICIAL
    assert set(value["versionCheck"]) == {"success", "detail"}
    assert set(value["summary"]) == {"passed", "failed", "total"}
    (summary,) = value["modeSummaries"]
    assert set(summary) == MODE_SUMMARY | {"transport", "supplementalScenarios"}
    for name in set(summary) - {"mode", "transport"}:
        assert set(summary[name]) == {"passed", "total", "percentage"}
    (case,) = value["cases"]
    assert set(case) >= CASE
    assert case["checks"]
    for check in case["checks"]:
        assert set(check) >= CHECK
    assert set(value["testMatrix"]) == {"columns", "rows"}
    assert set(value["testMatrix"]["columns"][0]) == {"key", "transport", "mode"}
    assert set(value["testMatrix"]["rows"][0]) == {"test", "results"}


def test_a_report_names_checks_as_the_original_harness_did() -> None:
    failed = judge(AUTH, replace(make_evidence(AUTH), wire=make_log()), Policy())
    results = [_judged(PLAIN), failed, _judged(VARIANT)]
    value = _build((PLAIN, AUTH, VARIANT), results, client="codex").value
    names = [check["name"] for check in value["cases"][0]["checks"]]
    assert names == [
        "official/tools_call/RequiredA",
        "official/tools_call/RequiredB",
        "official/tools_call/Silent",
        "harness/tools_call/codex-adapter",
        "harness/tools_call/wire-schema",
        "harness/tools_call/required-check",
        "harness/tools_call/revision-named",
        "official/auth/basic-cimd/RequiredA",
        "official/auth/basic-cimd/RequiredB",
        "official/auth/basic-cimd/Silent",
        "harness/auth/basic-cimd/codex-adapter",
        "harness/auth/basic-cimd/official-runner",
        "supplemental/auth/basic-cimd/auto_cimd",
    ]
    sources = {
        check["name"].partition("/")[0]: check for check in value["cases"][0]["checks"]
    }
    assert {name: each["source"] for name, each in sources.items()} == {
        "official": "official",
        "harness": "harness",
        "supplemental": "supplemental",
    }
    assert sources["official"]["check_id"] == "silent"
    assert sources["harness"]["check_id"] is None
    assert sources["supplemental"]["check_id"] == "auto_cimd"
    assert sources["supplemental"]["scenario"] == "auth/basic-cimd"


def test_two_checks_of_one_name_stay_apart_in_the_matrix() -> None:
    twins = (make_check(), make_check("required-b", name="RequiredA"))
    value = _build((PLAIN,), [_judged(PLAIN, checks=twins)]).value
    rows = [row["test"] for row in value["testMatrix"]["rows"]]
    assert "official/tools_call/RequiredA" in rows
    assert "official/tools_call/RequiredA#2" in rows


def test_a_report_identifies_the_suite_that_really_ran() -> None:
    pinned = _build().value["officialConformance"]
    assert pinned["gitRef"] == "npm:@modelcontextprotocol/conformance@9.9.9"
    assert isinstance(SUITE, dict)
    other = _build(suite={**SUITE, "source": "override", "version": None})
    assert other.value["officialConformance"]["gitRef"] == "sha256:" + "e" * 64


@pytest.mark.parametrize("include", [True, False])
def test_a_report_says_whether_authorization_was_included(include: bool) -> None:
    selection = Selection(revisions=(MIDDLE,), authentication=include)
    official = _build(selection=selection).value["officialConformance"]
    assert official["authenticationIncluded"] is include
    assert ("non-auth" in official["scope"]) is not include


def test_a_report_on_chosen_scenarios_does_not_speak_for_all() -> None:
    whole = (make_case(), make_case("auth/basic-cimd"))
    catalogue = make_catalogue()

    def scope(*cases: PlannedCase) -> str:
        record = make_record(catalogue, cases)
        value = report.build(record, cases, {}, catalogue, make_end()).value
        said: str = value["officialConformance"]["scope"]
        return said

    assert scope(*whole) == "all versioned client scenarios"
    assert scope(whole[0]) == "selected versioned client scenarios"


@pytest.mark.parametrize("mode", AuthMode)
def test_automatic_auth_is_required_in_strict_mode_only(mode: AuthMode) -> None:
    value = _build(auth_mode=mode).value
    assert value["automaticAuthRequired"] is (mode is AuthMode.STRICT)


# -- statuses ----------------------------------------------------------------------

P, F, S = ReportStatus.PASS, ReportStatus.FAIL, ReportStatus.SKIP
#: Outcome → the report's status of a check that says SUCCESS, FAILURE, SKIPPED.
STATUSES = {
    Outcome.PASSED: (P, F, S),
    Outcome.FAILED: (P, F, S),
    Outcome.SUITE_DEFECT: (P, F, S),
    Outcome.FLAKY: (P, F, S),
    Outcome.UNOBSERVED: (S, F, S),
    Outcome.TIMED_OUT: (S, F, S),
    Outcome.CRASHED: (S, F, S),
    Outcome.HARNESS_ERROR: (S, F, S),
    Outcome.NOT_APPLICABLE: (S, S, S),
    Outcome.UNSUPPORTED: (S, S, S),
    Outcome.NOT_RUN: (S, S, S),
}


@pytest.mark.parametrize("outcome", Outcome)
def test_a_check_is_credited_only_where_it_was_earned(outcome: Outcome) -> None:
    said = (CheckStatus.SUCCESS, CheckStatus.FAILURE, CheckStatus.SKIPPED)
    statuses = tuple(
        report_check.status_of(make_check(status=each), outcome, Policy())
        for each in said
    )
    assert statuses == STATUSES[outcome]


@pytest.mark.parametrize(
    ("outcome", "policy", "status"),
    [
        (Outcome.FAILED, Policy(), F),
        (Outcome.PASSED, WARN, S),
        (Outcome.FAILED, WARN, S),
        (Outcome.NOT_RUN, Policy(), S),
        (Outcome.UNSUPPORTED, WARN, S),
    ],
)
def test_a_warning_is_reported_as_the_policy_says(
    outcome: Outcome, policy: Policy, status: ReportStatus
) -> None:
    check = make_check(status=CheckStatus.WARNING)
    assert report_check.status_of(check, outcome, policy) is status


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Outcome.PASSED, P),
        (Outcome.FAILED, F),
        (Outcome.NOT_APPLICABLE, S),
        (Outcome.UNSUPPORTED, S),
        (Outcome.UNOBSERVED, F),
        (Outcome.TIMED_OUT, F),
        (Outcome.CRASHED, F),
        (Outcome.HARNESS_ERROR, F),
        (Outcome.SUITE_DEFECT, F),
        (Outcome.NOT_RUN, S),
    ],
)
def test_each_outcome_has_one_status_of_schema_four(
    outcome: Outcome, status: ReportStatus
) -> None:
    assert outcome.report_status is status


EVIDENCE: list[tuple[str, dict[str, Any]]] = [
    ("passed", {}),
    ("failed", {"checks": (make_check(status=CheckStatus.FAILURE, error="no"),)}),
    ("warning", {"checks": (make_check(status=CheckStatus.WARNING),)}),
    ("unobserved", {"wire": make_log()}),
    ("unsupported", {"wire": make_log(make_opening(NEW))}),
    ("timed-out", {"ended": make_ended(EndKind.TIMED_OUT)}),
    ("crashed", {"adapter": make_adapter(kind=EndKind.SIGNALLED)}),
    ("client-error", {"adapter": make_adapter(DriverVerdict.CLIENT_ERROR)}),
    ("adapter-fault", {"adapter": make_adapter(DriverVerdict.ADAPTER_FAULT)}),
    ("suite-crash", {"ended": make_ended(EndKind.SIGNALLED)}),
    ("no-checks", {"checks": (), "checks_fault": "none"}),
    (
        "stopped",
        {
            "ended": make_ended(EndKind.STOPPED),
            "checks": (make_check(status=CheckStatus.FAILURE),),
        },
    ),
]


@pytest.mark.parametrize("policy", [Policy(), WARN], ids=["fail", "warn"])
@pytest.mark.parametrize(
    "changes", [c for _, c in EVIDENCE], ids=[n for n, _ in EVIDENCE]
)
def test_success_agrees_with_status_and_status_with_the_outcome(
    changes: dict[str, Any], policy: Policy
) -> None:
    """Schema 4: success is false for FAIL only; a red scenario has a red check."""
    evidence: CaseEvidence = replace(make_evidence(PLAIN), **changes)
    result = judge(PLAIN, evidence, policy)
    value = _build((PLAIN,), [result], policy=policy).value
    checks = value["cases"][0]["checks"]
    for check in checks:
        assert check["success"] is (check["status"] != "FAIL")
    is_red = any(check["status"] == "FAIL" for check in checks)
    assert is_red is (result.outcome.report_status is ReportStatus.FAIL)


def test_a_failed_check_says_whose_doing_it_is_and_how_to_see_it_again() -> None:
    value = _build((PLAIN,), [_failed(PLAIN)]).value
    (failing,) = [c for c in value["cases"][0]["checks"] if c["status"] == "FAIL"]
    assert failing["attribution"] == "subject"
    assert failing["detail"] == "it did not"
    assert failing["evidence"] == "cases/2025-11-25/tools_call"
    assert failing["suite_status"] == "FAILURE"


def test_a_fault_of_ours_is_never_pinned_on_the_subject() -> None:
    fault = make_adapter(DriverVerdict.ADAPTER_FAULT)
    result = _judged(PLAIN, adapter=fault)
    value = _build((PLAIN,), [result]).value
    blamed = [c for c in value["cases"][0]["checks"] if c["status"] == "FAIL"]
    assert {each["attribution"] for each in blamed} == {"adapter"}


def _stated(scenario: str, **changes: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The scenario beside a failure, and what the harness states of it, by label."""
    case = make_case(scenario, NEW)
    failure = make_check("silent", CheckStatus.FAILURE)
    changes = {"checks": (make_check(), failure), **changes}
    (value,) = _build((case,), [_judged(case, **changes)]).value["cases"]
    prefix = f"harness/{scenario}/"
    stated = {
        each["name"].removeprefix(prefix): each
        for each in value["checks"]
        if each["name"].startswith(prefix)
    }
    return value["scenarios"][0], stated


def _authorizing(*paths: str, truncated: bool = False) -> WireLog:
    exchanges = [
        make_exchange(number, *path.split(" ", 1))
        for number, path in enumerate(paths, start=2)
    ]
    return make_log(make_opening(NEW), *exchanges, truncated=truncated)


AUTHORIZE, TOKEN = "GET /authorize", "POST /token"
WENT_ON = "a token request was made, although the flow had to stop before it"
UNREACHED = (
    "nothing shows that an authorization request was made, so nothing was refused"
)
SILENT = {"checks": (make_check("silent", CheckStatus.FAILURE),)}


@pytest.mark.parametrize(
    ("changes", "label", "status", "detail"),
    [
        ({}, "refusal-reached", "FAIL", UNREACHED),
        ({}, "expected-refusal", None, None),
        (
            {"wire": _authorizing(AUTHORIZE)},
            "refusal-reached",
            "PASS",
            "the client came as far as what it must refuse",
        ),
        (
            {"wire": _authorizing(AUTHORIZE)},
            "expected-refusal",
            "PASS",
            "it went no further than what it must refuse",
        ),
        (
            {"wire": _authorizing(AUTHORIZE, TOKEN)},
            "expected-refusal",
            "FAIL",
            WENT_ON,
        ),
        ({"wire": _authorizing(TOKEN)}, "refusal-reached", "FAIL", UNREACHED),
        ({"wire": _authorizing(TOKEN)}, "expected-refusal", "FAIL", WENT_ON),
        ({"wire": _authorizing(truncated=True)}, "refusal-reached", None, None),
        (
            {"wire": _authorizing(AUTHORIZE, truncated=True)},
            "expected-refusal",
            None,
            None,
        ),
        ({}, "required-check", "PASS", "a required check said SUCCESS or FAILURE"),
        (SILENT, "required-check", "FAIL", "no required check said SUCCESS"),
        ({}, "revision-named", "PASS", "a message of the client names its revision"),
        (
            {"wire": make_log(make_exchange(1, "GET", "/mcp"))},
            "revision-named",
            "FAIL",
            "no message of the client names the revision it speaks",
        ),
    ],
)
def test_each_statement_has_a_check_of_its_own_beside_a_failure(
    changes: dict[str, Any], label: str, status: str | None, detail: str | None
) -> None:
    """A baseline that knows the failure does not know these."""
    scenario, stated = _stated("auth/iss-wrong-issuer", **changes)
    assert (scenario["outcome"], scenario["attribution"]) == ("failed", "subject")
    if status is None:
        assert label not in stated
        return
    check = stated[label]
    assert (check["status"], check["detail"]) == (status, detail)
    assert (check["source"], check["check_id"]) == ("harness", None)
    assert check.get("attribution") == ("subject" if status == "FAIL" else None)


def test_what_is_not_stated_at_all_has_no_check() -> None:
    _, stated = _stated("tools_call", wire=_authorizing(truncated=True))
    labels = {"command-adapter", "wire-schema", "required-check", "revision-named"}
    assert set(stated) == labels
    assert {each["status"] for each in stated.values()} == {"PASS"}


def test_going_on_is_the_clients_whoever_the_case_is_blamed_on() -> None:
    """What nothing shows may be missing for the reason that decided the case."""
    blamed = {
        "adapter": "harness",
        "wire-schema": "subject",
        "refusal-reached": "harness",
        "expected-refusal": "subject",
        "required-check": "harness",
        "revision-named": "harness",
    }
    result = replace(
        _judged(PLAIN),
        outcome=Outcome.HARNESS_ERROR,
        attribution=Attribution.HARNESS,
        harness_checks=tuple((name, "no") for name in blamed),
    )
    checks = report_check.harness_checks(make_record(CATALOGUE, ()), PLAIN, result)
    assert [each["attribution"] for each in checks] == list(blamed.values())


def _observed(log: WireLog) -> tuple[ObservedRun, Catalogue]:
    """A whole run of the suite in which one refusal is red for another reason."""
    refusing = make_entry("auth/iss-wrong-issuer")
    catalogue = make_catalogue({NEW: (make_entry(), refusing)})
    cases, results = [], []
    for revision, entries in catalogue.revisions.items():
        for entry in entries:
            case = make_case(entry.scenario, revision)
            evidence = make_evidence(case)
            if entry is refusing:
                evidence = with_status(evidence, "silent", CheckStatus.FAILURE)
                evidence = replace(evidence, wire=log)
            cases.append(case)
            results.append(judge(case, evidence, Policy()))
    selection = Selection(sources=(Source.OFFICIAL,))
    record = make_record(catalogue, cases, selection=selection)
    built = report.build(record, cases, by_key(*results), catalogue, END)
    return observe(built.value, "report.json"), catalogue


@pytest.mark.parametrize(
    ("before", "now", "new", "missing"),
    [
        # Known: it never comes so far. That hides no flow that goes on.
        (_authorizing(), _authorizing(), [], []),
        (_authorizing(), _authorizing(TOKEN), ["expected-refusal"], []),
        (_authorizing(), _authorizing(AUTHORIZE, TOKEN), ["expected-refusal"], []),
        # Known: it goes on. That hides no flow that never comes so far.
        (
            _authorizing(AUTHORIZE, TOKEN),
            _authorizing(),
            ["refusal-reached"],
            ["expected-refusal"],
        ),
        # What a cut log cannot show is missed, not blamed.
        (
            _authorizing(AUTHORIZE),
            _authorizing(AUTHORIZE, truncated=True),
            [],
            ["expected-refusal"],
        ),
    ],
)
def test_a_known_statement_excuses_no_other(
    before: WireLog, now: WireLog, new: list[str], missing: list[str]
) -> None:
    (known, catalogue), (run, _) = _observed(before), _observed(now)
    answer = gate.decide(gate.baseline_of(known), run, GatePolicy(), catalogue)
    name = "auth/iss-wrong-issuer"
    for found, labels in ((answer.new_failures, new), (answer.missing_checks, missing)):
        prefix = f"harness/{name}/"
        said = {each.identity.check_id.removeprefix(prefix) for each in found}
        assert said == set(labels)
    is_green = not (new or missing)
    assert answer.verdict is (GateVerdict.GREEN if is_green else GateVerdict.REGRESSED)


def test_a_reproduction_is_one_line_that_a_shell_reads_back() -> None:
    record = make_record(CATALOGUE, (PLAIN,))
    line = report_check.reproduction(record, PLAIN)
    assert "\n" not in line
    assert shlex.split(line) == [
        *("nox", "-s", "conformance-2025-11-25", "--"),
        *("--client-command", "./client --fast"),
        *("--official-scenario", "tools_call"),
    ]
    value = _build((PLAIN,), [_failed(PLAIN)]).value
    assert value["cases"][0]["scenarios"][0]["reproduce"] == line


# -- the verdict -------------------------------------------------------------------

C, N, I = Verdict  # noqa: E741 (three verdicts in a table)


def _result(case: PlannedCase, outcome: Outcome) -> ScenarioResult:
    blame = None if outcome.report_status is not F else Attribution.SUBJECT
    return replace(_judged(case), outcome=outcome, attribution=blame)


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        (Outcome.PASSED, Outcome.PASSED, C),
        (Outcome.PASSED, Outcome.NOT_APPLICABLE, C),
        (Outcome.PASSED, Outcome.FAILED, N),
        (Outcome.PASSED, Outcome.UNOBSERVED, N),
        (Outcome.PASSED, Outcome.TIMED_OUT, N),
        (Outcome.PASSED, Outcome.CRASHED, N),
        (Outcome.PASSED, Outcome.UNSUPPORTED, I),
        (Outcome.PASSED, Outcome.HARNESS_ERROR, I),
        (Outcome.PASSED, Outcome.SUITE_DEFECT, I),
        (Outcome.PASSED, Outcome.NOT_RUN, I),
        (Outcome.FAILED, Outcome.UNSUPPORTED, I),
        (Outcome.FAILED, Outcome.HARNESS_ERROR, I),
    ],
)
def test_a_hole_decides_before_a_failure_and_a_failure_before_a_pass(
    first: Outcome, second: Outcome, verdict: Verdict
) -> None:
    for pair in ((first, second), (second, first)):
        results = [_result(PLAIN, pair[0]), _result(AUTH, pair[1])]
        built = _build((PLAIN, AUTH), results)
        assert built.verdict is verdict
        assert built.value["success"] is (verdict is C)
        assert built.value["summary"] == {
            "passed": int(verdict is C),
            "failed": int(verdict is not C),
            "total": 1,
        }


@pytest.mark.parametrize(
    ("attribution", "verdict"),
    [
        (Attribution.SUBJECT, N),
        (Attribution.SUITE, I),
        (Attribution.ADAPTER, I),
        (Attribution.HARNESS, I),
    ],
)
def test_what_is_not_the_subjects_doing_says_nothing_about_the_subject(
    attribution: Attribution, verdict: Verdict
) -> None:
    late = replace(_result(AUTH, Outcome.TIMED_OUT), attribution=attribution)
    assert _build((PLAIN, AUTH), [_judged(PLAIN), late]).verdict is verdict


def test_the_verdict_is_taken_over_all_revisions() -> None:
    old, new = make_case(revision=OLD), make_case(revision=NEW)
    for results, verdict in (
        ([_judged(old), _judged(new)], C),
        ([_judged(old), _failed(new)], N),
        ([_judged(old), _result(new, Outcome.UNSUPPORTED)], I),
    ):
        built = _build((old, new), results)
        assert built.verdict is verdict
        assert [case["mode"] for case in built.value["cases"]] == [OLD, NEW]


@pytest.mark.parametrize(
    ("verdict", "code"),
    [(C, ExitCode.CONFORMANT), (N, ExitCode.NOT_CONFORMANT), (I, ExitCode.HARNESS)],
)
def test_each_verdict_has_its_exit_code(verdict: Verdict, code: ExitCode) -> None:
    assert Report(value={}, verdict=verdict).exit_code is code


@pytest.mark.parametrize(
    "end",
    [
        None,
        make_end(complete=False),
        make_end(faults=("tools_call: no evidence",)),
        make_end(open_ports=(4000,)),
        make_end(temporary=("mcpconf-case-x",)),
    ],
    ids=["no-closing-record", "stopped", "fault", "open-port", "left-behind"],
)
@pytest.mark.parametrize("is_red", [False, True])
def test_a_run_that_did_not_close_cleanly_has_no_verdict(
    end: EndRecord | None, is_red: bool
) -> None:
    results = [_failed(PLAIN) if is_red else _judged(PLAIN)]
    built = _build((PLAIN,), results, end)
    assert built.verdict is I
    assert built.exit_code is ExitCode.HARNESS
    assert built.value["success"] is False


def test_a_report_without_a_closing_record_says_that_it_is_incomplete() -> None:
    value = _build(end=None).value
    assert (value["complete"], value["finishedAt"], value["closing"]) == (
        False,
        None,
        None,
    )
    assert _build().value["complete"] is True


def test_a_case_without_a_result_leaves_a_closed_run_without_verdict() -> None:
    built = _build((PLAIN, AUTH), [_judged(PLAIN)])
    assert built.verdict is I
    outcomes = [each["outcome"] for each in built.value["cases"][0]["scenarios"]]
    assert outcomes == ["passed", "not-run"]


def test_a_scenario_the_driver_has_no_steps_for_is_unsupported() -> None:
    strange = make_case("scenario-of-tomorrow")
    built = _build((PLAIN, strange), [_judged(PLAIN)], client="codex")
    scenario = built.value["cases"][0]["scenarios"][1]
    assert (scenario["outcome"], built.verdict) == ("unsupported", I)
    record = make_record(CATALOGUE, (strange,), client="command")
    assert report.declared_unsupported(record, strange) is None


# -- what does not count -----------------------------------------------------------


@pytest.mark.parametrize(
    "outcome", [o for o in Outcome if o is not Outcome.NOT_APPLICABLE]
)
def test_what_is_not_scored_never_counts(outcome: Outcome) -> None:
    alone = _build((PLAIN,)).value
    built = _build((PLAIN, APART), [_judged(PLAIN), _result(APART, outcome)])
    assert built.verdict is C
    for name in ("summary", "modeSummaries", "testMatrix"):
        assert built.value[name] == alone[name], name
    (case,) = built.value["cases"]
    assert case["checks"] == alone["cases"][0]["checks"]
    assert {check["scenario"] for check in case["notScored"]} == {"auth/dpop"}
    scenarios = built.value["officialConformance"]["scenarios"]
    assert scenarios == {"2025-11-25": ["tools_call"]}
    assert case["scenarios"][1]["not_scored"] == "extension"


def test_what_is_not_scored_does_not_make_up_for_what_is() -> None:
    built = _build((PLAIN, APART), [_failed(PLAIN), _judged(APART)])
    assert built.verdict is N


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (Outcome.PASSED, C),
        (Outcome.FAILED, N),
        (Outcome.UNSUPPORTED, I),
        (Outcome.NOT_APPLICABLE, I),
    ],
)
def test_where_nothing_scored_was_selected_the_selection_is_judged(
    outcome: Outcome, verdict: Verdict
) -> None:
    built = _build((APART,), [_result(APART, outcome)])
    assert built.verdict is verdict
    for name in ("officialNonAuthScenarios", "officialAuthScenarios", "checks"):
        assert built.value["modeSummaries"][0][name]["total"] == 0


def test_a_run_of_nothing_has_no_verdict() -> None:
    built = _build((), [])
    assert (built.verdict, built.value["cases"]) == (I, [])


def test_a_variant_is_a_supplemental_check_and_no_scored_scenario() -> None:
    results = [_judged(AUTH), _failed(VARIANT)]
    built = _build((AUTH, VARIANT), results)
    (summary,) = built.value["modeSummaries"]
    assert summary["officialAuthScenarios"] == ratio(1, 1)
    assert summary["supplementalChecks"] == ratio(0, 1)
    assert built.verdict is N


def test_skipped_checks_are_in_no_ratio() -> None:
    evidence = with_status(make_evidence(PLAIN), "silent", CheckStatus.SKIPPED)
    value = _build((PLAIN,), [judge(PLAIN, evidence, Policy())]).value
    assert value["modeSummaries"][0]["officialChecks"] == ratio(2, 2)


def test_ratios_are_split_by_category() -> None:
    (summary,) = _build((PLAIN, AUTH), [_judged(PLAIN), _failed(AUTH)]).value[
        "modeSummaries"
    ]
    assert summary["officialNonAuthChecks"] == ratio(3, 3)
    assert summary["officialAuthChecks"] == ratio(2, 3)
    assert summary["officialNonAuthScenarios"] == ratio(1, 1)
    assert summary["officialAuthScenarios"] == ratio(0, 1)
    assert summary["harnessChecks"] == ratio(9, 9)
    assert summary["checks"] == ratio(14, 15)
    assert summary["transportCases"] == ratio(0, 1)


@pytest.mark.parametrize(
    ("passed", "total", "percentage"), [(0, 0, 0.0), (1, 3, 33.3), (2, 2, 100.0)]
)
def test_a_ratio_has_one_decimal(passed: int, total: int, percentage: float) -> None:
    assert ratio(passed, total) == {
        "passed": passed,
        "total": total,
        "percentage": percentage,
    }


def test_a_test_that_a_revision_does_not_have_is_not_available_there() -> None:
    old, new = make_case(revision=OLD), make_case("auth/basic-cimd", NEW)
    value = _build((old, new)).value
    rows = {row["test"]: row["results"] for row in value["testMatrix"]["rows"]}
    assert rows["official/tools_call/RequiredA"] == {
        "official-http:2025-06-18": "PASS",
        "official-http:2026-07-28": "N/A",
    }


def test_another_revision_than_the_leg_is_shown_with_the_scenario() -> None:
    result = _judged(PLAIN, wire=make_log(make_opening(MIDDLE, OLD)))
    value = _build((PLAIN,), [result]).value
    assert value["cases"][0]["scenarios"][0]["revision"] == {
        "leg": "2025-11-25",
        "offered": ["2025-11-25"],
        "agreed": ["2025-06-18"],
    }


# -- the same bytes, and the schema ------------------------------------------------


def test_the_same_inputs_give_the_same_bytes() -> None:
    results = [_judged(PLAIN), _failed(AUTH), _judged(VARIANT)]
    cases = (PLAIN, AUTH, VARIANT)
    once = json_bytes(_build(cases, results).value)
    again = json_bytes(_build(cases, list(reversed(results))).value)
    assert once == again


def _whole() -> dict[str, Any]:
    built = _build((PLAIN, AUTH, VARIANT, APART), None)
    assert built.verdict is C
    return built.value


def _set(*path: str | int, to: object) -> Callable[[dict[str, Any]], None]:
    def change(value: Any) -> None:
        for step in path[:-1]:
            value = value[step]
        value[path[-1]] = to

    return change


def _drop(*path: str | int) -> Callable[[dict[str, Any]], None]:
    def change(value: Any) -> None:
        for step in path[:-1]:
            value = value[step]
        del value[path[-1]]

    return change


FIRST = ("cases", 0, "checks", 0)
DEFECTS = {
    "another-schema": _set("schemaVersion", to=5),
    "unknown-key": _set("extra", to=1),
    "no-complete": _drop("complete"),
    "no-closing": _drop("closing"),
    "no-cases": _set("cases", to=[]),
    "unknown-verdict": _set("verdict", to="GREEN"),
    "conformant-without-success": _set("success", to=False),
    "conformant-but-incomplete": _set("complete", to=False),
    "complete-without-closing-record": _set("closing", to=None),
    "complete-but-never-finished": _set("finishedAt", to=None),
    "complete-against-its-closing-record": _set("closing", "complete", to=False),
    "conformant-over-a-red-case": _set("cases", 0, "verdict", to="NOT_CONFORMANT"),
    "case-red-and-green": _set("cases", 0, "success", to=False),
    "check-red-and-green": _set(*FIRST, "success", to=False),
    "failure-without-attribution": _set(*FIRST, "status", to="FAIL"),
    "unknown-status": _set(*FIRST, "status", to="OK"),
    "unknown-source": _set(*FIRST, "source", to="rumour"),
    "official-without-id": _set(*FIRST, "check_id", to=None),
    "official-without-suite-status": _drop(*FIRST, "suite_status"),
    "check-without-detail": _drop(*FIRST, "detail"),
    "count-of-nothing": _set(*FIRST, "count", to=0),
    "unknown-mode": _set("cases", 0, "mode", to="2024-11-05"),
    "unknown-outcome": _set("cases", 0, "scenarios", 0, "outcome", to="fine"),
    "failed-without-attribution": _set(
        "cases", 0, "scenarios", 0, "outcome", to="failed"
    ),
    "case-without-scenarios": _set("cases", 0, "scenarios", to=[]),
    "negative-count": _set("summary", "failed", to=-1),
    "over-a-hundred-percent": _set("modeSummaries", 0, "checks", "percentage", to=101),
    "short-digest": _set("client", "sha256", to="abc"),
    "catalogue-digest": _set("officialConformance", "catalogue", "digest", to="abc"),
}


def test_a_report_of_ours_follows_the_shipped_schema() -> None:
    report_schema.validate(_whole())


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defective_report_does_not_follow_the_schema(name: str) -> None:
    value = copy.deepcopy(_whole())
    DEFECTS[name](value)
    with pytest.raises(report_schema.ReportError, match=r"report: \$"):
        report_schema.validate(value)


def test_every_field_of_a_report_is_required() -> None:
    for name in _whole():
        value = _whole()
        del value[name]
        with pytest.raises(report_schema.ReportError):
            report_schema.validate(value)


def test_a_stored_report_is_read_back_as_it_was(tmp_path: Path) -> None:
    value = _whole()
    write_json(tmp_path / "report.json", value)
    assert report_schema.load_report(tmp_path / "report.json") == value


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"schemaVersion": 4}', '{"a": 1, "a": 2}']
)
def test_a_report_that_is_none_is_refused_with_its_path(
    tmp_path: Path, content: str
) -> None:
    path = tmp_path / "report.json"
    path.write_text(content, "utf-8")
    with pytest.raises(DecodeError, match=r"report\.json"):
        report_schema.load_report(path)


def test_a_report_cut_short_by_a_crash_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    content = json_bytes(_whole())
    for share in (1, len(content) // 2, len(content) - 2):
        path.write_bytes(content[:share])
        with pytest.raises(DecodeError):
            report_schema.load_report(path)


def test_the_schema_names_every_outcome_and_revision_we_have() -> None:
    schema: Any = report_schema.load_schema()
    scenario = schema["$defs"]["scenario"]["properties"]
    assert scenario["outcome"]["enum"] == [each.value for each in Outcome]
    assert schema["$defs"]["case"]["properties"]["mode"]["enum"] == [OLD, MIDDLE, NEW]
    assert schema["$defs"]["verdict"]["enum"] == [each.value for each in Verdict]
    attributions = schema["$defs"]["attribution"]["enum"]
    assert attributions == [each.value for each in Attribution]
    assert json.loads(json_bytes(schema)) == schema


def test_a_floor_is_shown_for_every_revision_of_the_run() -> None:
    value = _build((PLAIN,)).value
    assert value["floor"] == {"2025-11-25": {"null": {"scenarios": 0, "checks": 1}}}


def test_an_entry_of_the_catalogue_is_scored_only_without_reason_and_variant() -> None:
    assert PLAIN.is_scored
    assert not APART.is_scored
    assert not VARIANT.is_scored
    assert make_entry().not_scored is None
