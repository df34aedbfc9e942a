"""A report as JUnit XML: what is red, what is counted, and that it is JUnit at all."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import rendered
import xmlschema
from hypothesis import given, settings
from hypothesis import strategies as st
from junitparser import JUnitXml

from mcpconf.record import Outcome
from mcpconf.render import junit

SCHEMA = xmlschema.XMLSchema(Path(__file__).parent.parent / "data" / "junit.xsd")
STDIO = {"transport": "stdio", "source": "supplemental"}


def _root(value: dict[str, Any], gate: dict[str, Any] | None = None) -> ET.Element:
    content = junit.render(value, gate)
    SCHEMA.validate(content.decode())
    return ET.fromstring(content)  # noqa: S314


def _results(root: ET.Element) -> dict[str, str]:
    """Each testcase, and what it is but passed."""
    found = {}
    for case in root.iter("testcase"):
        said = [f"{each.tag}: {each.get('type')}" for each in case]
        found[str(case.get("name"))] = ", ".join(said) or "passed"
    return found


def _shape(root: ET.Element) -> list[tuple[str, str | None, str | None]]:
    return [(each.tag, each.get("name"), each.get("type")) for each in root.iter()]


def test_every_check_that_counts_is_a_testcase_of_its_leg() -> None:
    value = rendered.mixed()
    root = _root(value)
    suites = {each.get("name"): each for each in root}
    assert list(suites) == ["run", "stdio 2025-11-25", "official-http 2025-11-25"]
    for case in value["cases"]:
        suite = suites[f"{case['transport']} {case['mode']}"]
        names = [each.get("name") for each in suite.iter("testcase")]
        assert names == [check["name"] for check in case["checks"]]
    assert "auth/dpop" not in ET.tostring(root, encoding="unicode")
    first = suites["official-http 2025-11-25"].find("testcase")
    assert first is not None
    assert first.get("classname") == "official-http 2025-11-25.tools_call"


def test_a_failure_is_the_clients_and_a_skip_says_why() -> None:
    results = _results(_root(rendered.mixed()))
    assert results["official/tools_call/RequiredA"] == "failure: warning"
    assert results["official/tools_call/RequiredB"] == "failure: failed"
    assert results["official/tools_call/Silent"] == "passed"
    assert results["supplemental/held/a"] == "passed"
    assert results["supplemental/held/b"] == "skipped: unsupported"
    assert results["supplemental/life/d"] == "failure: timed-out"
    assert results["verdict"] == "passed", "what failed is a testcase of its own"


@pytest.mark.parametrize("attribution", ["harness", "adapter", "suite"])
def test_what_is_not_the_clients_doing_is_an_error(attribution: str) -> None:
    value = rendered.mixed()
    for check in value["cases"][1]["checks"]:
        if check["status"] == "FAIL":
            check["attribution"] = attribution
    results = _results(_root(value))
    assert results["official/tools_call/RequiredB"] == f"error: failed ({attribution})"


@pytest.mark.parametrize("outcome", ["not-run", "harness-error", "suite-defect"])
def test_what_was_never_held_is_an_error_and_no_skip(outcome: str) -> None:
    value = rendered.mixed()
    value["cases"][0]["checks"][1]["outcome"] = outcome
    assert _results(_root(value))["supplemental/held/b"] == f"error: {outcome}"


def test_counts_and_times_are_those_of_the_testcases() -> None:
    root = _root(rendered.mixed())
    total = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in root:
        cases = list(suite.iter("testcase"))
        found = {
            "tests": len(cases),
            "failures": sum(each.find("failure") is not None for each in cases),
            "errors": sum(each.find("error") is not None for each in cases),
            "skipped": sum(each.find("skipped") is not None for each in cases),
        }
        assert {name: int(suite.get(name, "-1")) for name in found} == found
        seconds = sum(float(each.get("time", "nan")) for each in cases)
        assert float(suite.get("time", "nan")) == pytest.approx(seconds)
        total = {name: total[name] + found[name] for name in total}
    assert int(root.get("tests", "-1")) == total["tests"] == 20
    assert int(root.get("failures", "-1")) == total["failures"] == 4
    assert float(root.get("time", "nan")) == pytest.approx(3.5)


def test_a_scenarios_time_is_counted_once() -> None:
    value = rendered.mixed()
    value["cases"][1]["scenarios"][0]["duration_seconds"] = 12.3456
    cases = list(_root(value)[2].iter("testcase"))
    assert [each.get("time") for each in cases[:3]] == ["12.346", "0.000", "0.000"]


def test_readers_of_junit_read_it() -> None:
    document = JUnitXml.fromstring(junit.render(rendered.mixed()).decode())
    assert (document.tests, document.failures, document.errors) == (20, 4, 0)


def test_a_flaky_check_is_never_a_pass() -> None:
    value = rendered.flaky()
    value["cases"][0]["checks"][1]["attribution"] = "harness"
    root = _root(value)
    assert _results(root)["official/tools_call/RequiredA"] == "failure: flaky"
    assert _results(root)["official/tools_call/RequiredB"] == "failure: flaky"
    assert "run again, alone: passed" in ET.tostring(root, encoding="unicode")


def test_an_incomplete_run_is_red_without_a_failing_check() -> None:
    value = rendered.report_of(rendered.good(), complete=False)
    root = _root(value)
    assert _results(root)["verdict"] == "error: inconclusive"
    assert root.get("errors") == "1"
    assert "not every case has run" in ET.tostring(root, encoding="unicode")


def test_a_report_of_nothing_is_red() -> None:
    value = rendered.report_of(rendered.good())
    value |= {"cases": [], "modeSummaries": [], "verdict": "INCONCLUSIVE"}
    assert _root(value).get("errors") == "1"


# -- with a gate -------------------------------------------------------------------


def test_where_the_gate_is_green_nothing_is_red() -> None:
    root = _root(rendered.mixed(), rendered.known_gate())
    assert (root.get("failures"), root.get("errors")) == ("0", "0")
    results = _results(root)
    assert results["official/tools_call/RequiredB"] == "skipped: expected failure"
    assert results["official/tools_call/Silent"] == "passed"
    text = ET.tostring(root, encoding="unicode")
    assert 'message="expected failure: a known bug"' in text
    assert 'message="expected failure: no reason is written down"' in text


def test_what_a_green_gate_did_not_compare_is_skipped_and_says_so() -> None:
    gate = rendered.known_gate(known_failures=())
    results = _results(_root(rendered.mixed(), gate))
    assert results["official/tools_call/RequiredB"] == "skipped: not compared"


def test_a_green_gate_lets_a_flaky_check_be_and_passes_it_not() -> None:
    flaky = (rendered.finding(rendered.identity("required-b")),)
    within = rendered.gate_of(flaky=flaky)
    results = _results(_root(rendered.flaky(), within))
    assert (
        results["official/tools_call/RequiredB"] == "skipped: flaky, within the budget"
    )
    over = rendered.gate_of("REGRESSED", flaky=flaky, demands=("too many are flaky",))
    results = _results(_root(rendered.flaky(), over))
    assert results["official/tools_call/RequiredB"] == "failure: flaky"
    assert results["verdict"] == "failure: gate"


def test_new_and_changed_failures_are_red_whatever_else_is_known() -> None:
    new = rendered.finding(rendered.identity("required-b"), "it passed before")
    changed = rendered.finding(rendered.identity("required-a"), "it got worse")
    gate = rendered.known_gate(
        "REGRESSED", new_failures=(new,), changed_failures=(changed,)
    )
    root = _root(rendered.mixed(), gate)
    results = _results(root)
    assert results["official/tools_call/RequiredB"] == "failure: new failure"
    assert results["official/tools_call/RequiredA"] == "failure: changed failure"
    assert results["supplemental/life/c"] == "skipped: expected failure"
    assert 'message="it passed before"' in ET.tostring(root, encoding="unicode")


def test_a_check_that_is_missing_is_red_be_it_skipped_or_not_there() -> None:
    skipped = rendered.finding(rendered.identity("b", "held", **STDIO))
    absent = rendered.finding(rendered.identity("gone", "elsewhere"), reproduce=None)
    gate = rendered.known_gate("REGRESSED", missing_checks=(skipped, absent))
    root = _root(rendered.mixed(), gate)
    results = _results(root)
    assert results["supplemental/held/b"] == "failure: missing check"
    assert results["official/elsewhere:gone"] == "failure: missing check"
    assert root.get("tests") == "21"


def test_a_warning_that_the_baseline_allows_is_skipped() -> None:
    gate = rendered.known_gate(
        known_failures=(), warnings=(rendered.finding(rendered.identity("required-a")),)
    )
    results = _results(_root(rendered.mixed(), gate))
    assert results["official/tools_call/RequiredA"] == "skipped: warning"


@pytest.mark.parametrize("verdict", ["REFUSED", "INCOMPLETE"])
def test_a_gate_that_cannot_say_is_an_error_and_hides_no_failure(verdict: str) -> None:
    gate = rendered.gate_of(
        verdict, configuration_errors=("another suite",), holes=("one hole",)
    )
    root = _root(rendered.mixed(), gate)
    results = _results(root)
    assert results["verdict"] == "error: gate"
    assert results["official/tools_call/RequiredB"] == "failure: failed"
    text = ET.tostring(root, encoding="unicode")
    assert "cannot be compared: another suite" in text
    assert "the run has a hole: one hole" in text


def test_a_passing_repeat_of_a_failing_check_stays_a_pass() -> None:
    value = rendered.mixed()
    checks = value["cases"][1]["checks"]
    again = copy.deepcopy(checks[2]) | {
        "name": "official/tools_call/RequiredB#2",
        "check_id": "required-b",
    }
    checks.insert(2, again)
    results = _results(_root(value, rendered.known_gate()))
    assert results["official/tools_call/RequiredB"] == "skipped: expected failure"
    assert results["official/tools_call/RequiredB#2"] == "passed"


# -- the schema, and what a client may write -----------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('errors="0" ', ""),
        ('tests="20"', 'tests="many"'),
        ('time="3.500"', 'time="soon"'),
        ('<testcase name="verdict" classname="run" time="0.000" />', "<case />"),
        ('classname="run"', 'group="run"'),
        ("</skipped>", '</skipped><failure type="x"/>'),
        ("<properties>", "<properties><property/>"),
    ],
)
def test_the_schema_refuses_what_is_no_junit(old: str, new: str) -> None:
    text = junit.render(rendered.mixed()).decode()
    SCHEMA.validate(text)
    broken = text.replace(old, new)
    assert broken != text
    with pytest.raises(xmlschema.XMLSchemaValidationError):
        SCHEMA.validate(broken)


@pytest.mark.parametrize("text", rendered.HOSTILE.values(), ids=rendered.HOSTILE)
def test_a_client_adds_no_testcase_and_changes_none(text: str) -> None:
    value = rendered.mixed()
    harmless = _root(rendered.poisoned(value, "harmless"))
    hostile = _root(rendered.poisoned(value, text))
    assert _shape(hostile) == _shape(harmless)
    for element in hostile.iter():
        said = "".join([element.text or "", *element.attrib.values()])
        assert not any(not (each.isprintable() or each == "\n") for each in said)


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(), max_size=60))
def test_no_text_changes_the_shape(text: str) -> None:
    value = rendered.mixed()
    gate = rendered.known_gate()
    harmless = _root(rendered.poisoned(value, "harmless"), gate)
    assert _shape(_root(rendered.poisoned(value, text), gate)) == _shape(harmless)


def test_a_megabyte_of_detail_is_cut() -> None:
    value = rendered.poisoned(rendered.mixed(), rendered.HOSTILE["megabyte"])
    assert len(junit.render(value)) < 200_000


def test_equal_reports_are_equal_bytes() -> None:
    gate = rendered.known_gate()
    assert junit.render(rendered.mixed(), gate) == junit.render(rendered.mixed(), gate)


def test_every_outcome_has_a_place() -> None:
    for outcome in Outcome:
        value = rendered.mixed()
        for case in value["cases"]:
            for check in case["checks"]:
                check["outcome"] = outcome.value
        results = set(_results(_root(value)).values())
        assert any(each != "passed" for each in results)
