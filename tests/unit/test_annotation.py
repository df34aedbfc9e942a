"""A report as workflow commands: the worst first, ten at most, one line each."""

from __future__ import annotations

import re
from typing import Any

import pytest
import rendered
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpconf.render.annotation import render

#: What the runner reads as one command: a level, a title without ends in it, a message.
COMMAND = re.compile(r"::(error|warning|notice) title=([^:,\r\n]*)::([^\r\n]*)")


def _read(page: str) -> list[tuple[str, str, str]]:
    """Level, title and message of every line, as GitHub shows them."""
    found = []
    for line in page.splitlines():
        match = COMMAND.fullmatch(line)
        assert match is not None, line
        level, title, message = match.groups()
        for escape, plain in (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n")):
            title = title.replace(escape, plain)
            message = message.replace(escape, plain)
        found.append((level, title.replace("%25", "%"), message.replace("%25", "%")))
    return found


def _new(number: int) -> tuple[Any, ...]:
    return tuple(
        rendered.finding(rendered.identity("required-a", f"one-{index}"))
        for index in range(number)
    )


def test_without_a_gate_each_failing_scenario_is_one() -> None:
    value = rendered.mixed()
    life, call = _read(render(value))
    assert life[:2] == ("error", "failed: stdio 2025-11-25 / life:c")
    assert call[:2] == (
        "error",
        "failed: official-http 2025-11-25 / tools_call:required-b",
    )
    assert call[2].splitlines() == [
        "it did not",
        "and 1 more check of this scenario",
        f"page: {rendered.PAGE}",
        f"again: {value['cases'][1]['checks'][1]['reproduce']}",
    ]


def test_where_all_is_well_nothing_is_said() -> None:
    assert not render(rendered.report_of(rendered.good()))
    assert not render(rendered.mixed(), rendered.known_gate())


def test_what_only_warns_and_what_is_flaky_is_a_warning() -> None:
    assert [each[:2] for each in _read(render(rendered.flaky()))] == [
        ("warning", "flaky: official-http 2025-11-25 / tools_call:required-b")
    ]
    value = rendered.mixed()
    value["cases"][1]["checks"][1] |= {"status": "PASS", "suite_status": "SUCCESS"}
    levels = [level for level, *_ in _read(render(value))]
    assert levels == ["error", "warning"]


def test_an_error_comes_before_a_warning_that_was_found_first() -> None:
    value = rendered.mixed()
    for check in value["cases"][0]["checks"]:
        check["suite_status"] = "WARNING"
    assert [each[:2] for each in _read(render(value))] == [
        ("error", "failed: official-http 2025-11-25 / tools_call:required-b"),
        ("warning", "failed: stdio 2025-11-25 / life:c"),
    ]


def test_a_run_without_a_verdict_is_an_error() -> None:
    value = rendered.report_of(rendered.good(), complete=False)
    assert _read(render(value)) == [
        ("error", "MCP conformance: INCONCLUSIVE", "not every case has run")
    ]


def test_a_gates_trouble_and_findings_come_in_the_order_of_their_weight() -> None:
    gate = rendered.known_gate(
        "REFUSED",
        flaky=(rendered.finding(rendered.identity("a", "flaky")),),
        warnings=(rendered.finding(rendered.identity("a", "warns")),),
        missing_checks=(rendered.finding(rendered.identity("a", "gone")),),
        changed_failures=(rendered.finding(rendered.identity("a", "worse")),),
        new_failures=(rendered.finding(rendered.identity("a", "new")),),
        configuration_errors=("the suite is another",),
    )
    where = "official-http 2025-11-25"
    assert [each[:2] for each in _read(render(rendered.mixed(), gate))] == [
        ("error", "MCP gate REFUSED"),
        ("error", f"new failure: {where} / new:a"),
        ("error", f"changed failure: {where} / worse:a"),
        ("error", f"missing check: {where} / gone:a"),
        ("warning", f"flaky: {where} / flaky:a"),
        ("notice", f"warning: {where} / warns:a"),
    ]


def test_the_findings_of_one_scenario_are_one() -> None:
    findings = tuple(rendered.finding(rendered.identity(each)) for each in "abc")
    gate = rendered.gate_of("REGRESSED", new_failures=findings)
    (only,) = _read(render(rendered.mixed(), gate))
    assert "and 2 more checks of this scenario" in only[2]


@pytest.mark.parametrize("limit", [0, 1, 10])
def test_at_most_the_limit_is_shown_and_the_rest_is_counted(limit: int) -> None:
    gate = rendered.gate_of(
        "REGRESSED",
        new_failures=_new(30),
        flaky=(rendered.finding(rendered.identity("x")),),
    )
    found = _read(render(rendered.mixed(), gate, limit=limit))
    assert len(found) == limit + 1
    rest = f"{31 - limit} more: {30 - limit} errors, 1 warnings."
    assert found[-1][0] == "notice"
    assert found[-1][2].startswith(rest)
    whole = _read(render(rendered.mixed(), gate, limit=31))
    assert "more:" not in whole[-1][2]


def test_ends_of_lines_and_of_titles_are_escaped() -> None:
    check = rendered.identity("a,b:c%0A::error::x", "s")
    gate = rendered.gate_of(
        "REGRESSED", new_failures=(rendered.finding(check, "100%\n::error::no"),)
    )
    page = render(rendered.mixed(), gate)
    assert page.count("\n") == 1
    assert "s%3Aa%2Cb%3Ac%250A%3A%3Aerror%3A%3Ax::100%25 ::error::no%0A" in page


def test_a_command_to_be_copied_is_not_clipped() -> None:
    again = f"nox -s conformance -- --client-command {'x' * 900}"
    found = rendered.finding(rendered.identity("a"), reproduce=again)
    gate = rendered.gate_of("REGRESSED", new_failures=(found,))
    assert f"again: {again}\n" in render(rendered.mixed(), gate)


@pytest.mark.parametrize("text", rendered.HOSTILE.values(), ids=rendered.HOSTILE)
def test_a_client_adds_no_annotation_and_changes_no_title(text: str) -> None:
    value = rendered.mixed()
    titles = [each[:2] for each in _read(render(rendered.poisoned(value, "harmless")))]
    page = render(rendered.poisoned(value, text))
    assert [each[:2] for each in _read(page)] == titles
    assert "##[" not in page
    assert all(line.isprintable() for line in page.splitlines())


@settings(max_examples=60, deadline=None)
@given(st.text(st.characters(), max_size=60))
def test_no_text_adds_an_annotation(text: str) -> None:
    value = rendered.mixed()
    titles = [each[:2] for each in _read(render(rendered.poisoned(value, "harmless")))]
    page = render(rendered.poisoned(value, text))
    assert [each[:2] for each in _read(page)] == titles


def test_equal_reports_are_equal_lines() -> None:
    gate = rendered.gate_of("REGRESSED", new_failures=_new(20))
    value = rendered.mixed()
    assert render(value, gate) == render(rendered.mixed(), gate)
