"""The gate's answer on a terminal: what must be read there, and what must not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from gate_decision import OFFICIAL, OURS, blamed, both, fails, gate, interrupted
from gate_report import MIDDLE, NEW, PLAIN, drop_check, fail, flake, make_report, warn

from mcpconf.gate_record import GatePolicy, GateResult
from mcpconf.render.gate import render
from mcpconf.render.text import cells

AGAIN = f"    again: nox -s conformance-{MIDDLE} -- --official-scenario {PLAIN}"


def _red() -> GateResult:
    def known(report: dict[str, object]) -> None:
        fail(report, f"official-http {NEW}", PLAIN)

    def worse(report: dict[str, object]) -> None:
        known(report)
        fails(report)
        drop_check(report, OURS, "basics", "required-b")

    return gate(known, worse)


def test_the_first_line_is_the_verdict_and_the_counts() -> None:
    first = render(_red()).splitlines()[0]
    assert first == (
        "Gate: REGRESSED: 1 new failure, 1 missing, 1 known (1 subject-bug), 0 fixed"
    )
    assert render(gate()).splitlines()[0] == (
        "Gate: GREEN: 0 new failures, 0 missing, 0 known, 0 fixed"
    )


def test_a_partial_answer_says_so_first_and_then_what_was_left_out() -> None:
    lines = render(gate(report=make_report(revisions=[MIDDLE]))).splitlines()
    assert lines[0].endswith("(partial)")
    assert lines[1] == f"  not compared: http {'2025-06-18'}: was not run"


def test_a_failure_has_its_name_detail_page_and_the_line_that_shows_it_again() -> None:
    lines = render(_red()).splitlines()
    at = lines.index(f"  {OFFICIAL} / {PLAIN}:required-a")
    assert lines[at - 1] == "New failures (1)"
    assert lines[at + 1 : at + 4] == [
        "    it does not hold",
        "    page: https://a.page/",
        AGAIN,
    ]


def test_what_is_known_is_counted_and_shown_in_full_only() -> None:
    assert "it rounds" not in render(_red())
    full = render(_red(), full=True)
    assert "Known failures (1)" in full
    assert "    expected: it rounds [subject-bug]" in full


def test_a_regression_says_what_to_do_next() -> None:
    named = {"baseline": "my b.json", "report": "runs/1/report.json"}
    text = render(replace(_red(), inputs=named))
    assert "`invoke baseline.diff 'my b.json' runs/1/report.json`" in text
    extract = "`invoke baseline.extract --report runs/1/report.json --out 'my b.json'`"
    assert extract in text
    assert "Next" not in render(gate())


def test_a_hole_is_shown_before_all_findings() -> None:
    text = render(gate(now=both(fails, interrupted)))
    assert text.startswith("Gate: INCOMPLETE: 1 hole, 1 new")
    assert text.index("Not known (1)") < text.index("New failures (1)")


def test_a_refusal_says_nothing_else() -> None:
    """What is counted against another baseline is noise."""
    text = render(
        gate(
            now=both(fails, lambda each: each.update(automaticAuthRequired=True)),
        )
    )
    assert text.startswith("Gate: REFUSED: 1 reason not to compare\n")
    assert "auth mode is assisted and strict" in text
    assert "New failures" not in text


def test_whose_doing_it_is_shown_where_it_is_not_the_clients() -> None:
    result = gate(now=blamed)
    assert "timed-out, by the suite" in render(result)


def test_demands_flaky_and_fixed_results_are_shown() -> None:
    fixed = render(gate(fails, policy=GatePolicy(ratchet=True)))
    assert "Fixed (1)" in fixed
    assert "Demanded (1)" in fixed
    assert "take what is fixed out of the baseline" in fixed
    assert "Flaky (1)" in render(gate(now=lambda each: flake(each, OFFICIAL, PLAIN)))
    assert "1 known" in render(
        gate(
            lambda each: warn(each, OFFICIAL, PLAIN),
            lambda each: warn(each, OFFICIAL, PLAIN),
        )
    )


def test_a_client_cannot_write_lines_or_escapes_of_its_own() -> None:
    result = _red()
    forged = replace(
        result.new_failures[0],
        detail="\x1b[2JGate: GREEN\nGate: GREEN",
        reproduce="again\nGate: GREEN",
        identity=result.new_failures[0].identity._replace(check_id="x\nGate: GREEN"),
    )
    text = render(replace(result, new_failures=(forged,)))
    assert "\x1b" not in text
    assert [each for each in text.splitlines() if each.startswith("Gate:")] == [
        text.splitlines()[0]
    ]


def test_no_line_is_wider_than_the_terminal_but_what_is_to_be_copied() -> None:
    for line in render(_red(), width=60).splitlines():
        is_whole = line.startswith("    again: ") or " " not in line.strip()
        assert is_whole or cells(line) <= 60, line
    assert AGAIN in render(_red(), width=30).splitlines()


@pytest.mark.parametrize("full", [False, True])
def test_a_flood_of_findings_is_cut_and_says_so(*, full: bool) -> None:
    result = _red()
    many = replace(result, new_failures=result.new_failures * 100)
    text = render(many, full=full)
    assert (text.count(AGAIN) == 100) is full
    assert ("and 60 more, in gate.json" in text) is not full
