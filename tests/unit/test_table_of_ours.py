"""A report on our own scenarios: what was not judged, what failed, and how strongly."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from make import MIDDLE, by_key, make_catalogue, make_check, make_end, make_record

from mcpconf import report, report_schema
from mcpconf.record import (
    Attribution,
    CaseKey,
    Check,
    CheckStatus,
    Outcome,
    Policy,
    ScenarioResult,
    Source,
    WarningPolicy,
)
from mcpconf.render.progress import LineProgress, LiveProgress
from mcpconf.render.table import render
from mcpconf.revision import Revision
from mcpconf.supplemental.plan import SupplementalCase
from mcpconf.supplemental.scenario import Scenario
from mcpconf.transport import Transport

if TYPE_CHECKING:
    import pytest

CATALOGUE = make_catalogue()
PAGE = "https://spec.example/lifecycle"
WARN = Policy(warnings=WarningPolicy.WARN)
STATUSES = {
    Outcome.PASSED: CheckStatus.SUCCESS,
    Outcome.FAILED: CheckStatus.FAILURE,
    Outcome.UNOBSERVED: CheckStatus.FAILURE,
    Outcome.UNSUPPORTED: CheckStatus.SKIPPED,
    Outcome.NOT_APPLICABLE: CheckStatus.SKIPPED,
}


def _our_check(
    name: str, outcome: Outcome = Outcome.PASSED, said: str | None = None, **more: Any
) -> Check:
    values: dict[str, Any] = {
        "status": STATUSES[outcome],
        "error": said,
        "pages": (PAGE,),
        "outcome": outcome,
        "demand": f"A client does {name}.",
        "level": "MUST",
    }
    return make_check(name, **{**values, **more})


def _lacks(name: str, said: str) -> Check:
    return _our_check(name, Outcome.UNSUPPORTED, said)


def _warns(name: str) -> Check:
    status = CheckStatus.WARNING
    return _our_check(name, Outcome.FAILED, "it did not", status=status, level="SHOULD")


def _ours(
    scenario: str, *checks: Check, outcome: Outcome = Outcome.PASSED
) -> ScenarioResult:
    is_quiet = STATUSES[outcome] is not CheckStatus.FAILURE
    key = CaseKey(
        revision=Revision(MIDDLE),
        scenario=scenario,
        source=Source.SUPPLEMENTAL,
        transport=Transport.STDIO,
    )
    return ScenarioResult(
        key=key,
        outcome=outcome,
        attribution=None if is_quiet else Attribution.SUBJECT,
        reason=outcome.value,
        checks=checks,
    )


def _our_report(*results: ScenarioResult, policy: Policy | None = None) -> Any:
    cases: list[Any] = [
        SupplementalCase(
            key=each.key,
            scenario=Scenario(name=each.key.scenario, title="x", checks=(), steps=()),
        )
        for each in results
    ]
    record = make_record(CATALOGUE, cases, policy=policy or Policy())
    built = report.build(record, cases, by_key(*results), CATALOGUE, make_end())
    report_schema.validate(built.value)
    return built.value


def _our_page(*results: ScenarioResult, **more: Any) -> str:
    return render(_our_report(*results, **more), full=False)


def test_what_of_ours_was_not_judged_is_listed_by_reason() -> None:
    page = _our_page(
        _ours("held", _our_check("a"), _lacks("b", "lists no prompts")),
        *(
            _ours(name, _lacks("c", "cannot"), outcome=Outcome.UNSUPPORTED)
            for name in ("one", "two", "three", "four")
        ),
        _ours(
            "roots",
            _our_check("d", Outcome.NOT_APPLICABLE, "declares no roots"),
            outcome=Outcome.NOT_APPLICABLE,
        ),
    )
    assert page.startswith("MCP conformance: CONFORMANT")
    assert "Ours:   6 scenarios over stdio, 5 not judged\n" in page
    assert "1/1 (100%), 5 not judged  " in page, "scenarios"
    assert "1/1 (100%), 6 not judged\n" in page, "checks"
    assert page.partition("\nNot judged\n")[2].splitlines() == [
        "  stdio 2025-11-25: 6 of 7 checks",
        "    4 unsupported: cannot (one, two, three and 1 more)",
        "    1 unsupported: lists no prompts (held)",
        "    1 not-applicable: declares no roots (roots)",
    ]


def test_where_all_was_judged_no_section_says_otherwise() -> None:
    page = _our_page(_ours("held", _our_check("a")))
    assert "not judged" not in page.lower()


def test_a_failure_of_ours_says_its_demand_and_how_strong_it_is() -> None:
    failing = _ours(
        "life",
        _our_check("a", Outcome.FAILED, "it did not"),
        _warns("b"),
        _our_check("c", Outcome.FAILED, "nor that"),
        outcome=Outcome.FAILED,
    )
    details = _our_page(failing).partition("Failure details\n")[2].splitlines()
    assert details[1:6] == [
        "    - a and 1 more check: it did not",
        "      MUST: A client does a.",
        "      SHOULD: A client does b.",
        "    - c: nor that",
        "      MUST: A client does c.",
    ]
    assert f"      page: {PAGE}" in details
    assert details[-1] == "  2 MUST and 1 SHOULD failed"


def test_no_page_is_cited_for_what_no_page_demands() -> None:
    demand = "A client takes it. (No page demands it.)"
    check = _our_check("a", Outcome.FAILED, "it did not", demand=demand)
    page = _our_page(_ours("life", check, outcome=Outcome.FAILED))
    assert f"      MUST: {demand}\n" in page
    assert "page: " not in page


def test_what_is_about_no_check_in_particular_leaves_demands_unproven() -> None:
    checks = [_our_check(each, Outcome.UNOBSERVED, "sent nothing") for each in "abc"]
    page = _our_page(_ours("life", *checks, outcome=Outcome.UNOBSERVED))
    assert "      leaves 3 MUST and 0 SHOULD unproven\n" in page
    assert "A client does" not in page


def test_a_forgiven_warning_is_shown() -> None:
    result = _ours("life", _our_check("a"), _warns("b"))
    page = _our_page(result, policy=WARN)
    assert page.startswith("MCP conformance: CONFORMANT")
    assert "Failure details" not in page
    place = "supplemental/2025-11-25/stdio/life"
    assert page.partition("\nWarnings\n")[2].splitlines() == [
        "  stdio 2025-11-25 / life",
        "    - b (warning): it did not",
        "      SHOULD: A client does b.",
        f"      page: {PAGE}",
        f"      evidence: runs/20261130T000000Z-abcdef/{place}",
    ]


def test_a_warning_that_fails_is_no_forgiven_one() -> None:
    page = _our_page(_ours("life", _warns("b"), outcome=Outcome.FAILED))
    assert "\nWarnings\n" not in page
    assert "  0 MUST and 1 SHOULD failed\n" in page


def test_the_header_speaks_of_what_ran() -> None:
    ours = _our_page(_ours("life", _our_check("a")))
    assert "Ours:   1 scenario over stdio\n" in ours
    assert "Suite: " not in ours
    assert "Scope: " not in ours


def test_a_pass_says_what_of_it_was_not_judged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    whole = _ours("whole", _our_check("a"))
    result = _ours("part", _warns("a"), _our_check("b"), _lacks("c", "cannot"))
    told = "passed with 1 warning (1 of 3 checks not judged)"
    stream = io.StringIO()
    progress = LineProgress(2, stream)
    progress.finished(whole)
    progress.finished(result)
    assert stream.getvalue().splitlines() == [
        "[1/2] 2025-11-25/stdio/whole passed 0.0s",
        f"[2/2] 2025-11-25/stdio/part {told} 0.0s",
    ]
    with LiveProgress(2) as live:
        live.finished(whole)
        live.finished(result)
    live_lines = " ".join(capsys.readouterr().out.split())
    assert f"stdio/part {told}" in live_lines
    assert "stdio/whole" not in live_lines
    scenarios = _our_report(whole, result, policy=WARN)["cases"][0]["scenarios"]
    assert [each["reason"] for each in scenarios] == ["passed", told]


def test_a_check_of_ours_carries_its_demand_whatever_came_of_it() -> None:
    result = _ours("life", _our_check("a"), _warns("b"), _lacks("c", "cannot"))
    checks = _our_report(result, policy=WARN)["cases"][0]["checks"]
    assert [(each["level"], each["demand"]) for each in checks] == [
        ("MUST", "A client does a."),
        ("SHOULD", "A client does b."),
        ("MUST", "A client does c."),
    ]


def test_a_report_from_before_demands_is_still_printed() -> None:
    check = _our_check("a", Outcome.FAILED, "it did not")
    stored = _our_report(_ours("life", check, outcome=Outcome.FAILED))
    for each in stored["cases"][0]["checks"]:
        del each["demand"], each["level"]
    report_schema.validate(stored)
    page = render(stored, full=True)
    assert "    - a: it did not\n" in page
    assert "SHOULD failed" not in page
