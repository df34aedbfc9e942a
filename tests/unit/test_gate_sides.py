"""Which answer wins, a report as a baseline, and what is run again."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from gate_decision import (
    GREEN,
    INCOMPLETE,
    NEWEST,
    OFFICIAL,
    OURS,
    REFUSED,
    A,
    blamed,
    both,
    crash,
    fails,
    gate,
    interrupted,
    refs,
    unsupported,
    warns,
)
from gate_report import (
    GATE_CATALOGUE,
    MIDDLE,
    PLAIN,
    drop_check,
    fail,
    flake,
    make_report,
    observed,
)

from mcpconf.baseline.entry import (
    CheckState,
)
from mcpconf.errors import ExitCode, UsageError
from mcpconf.gate import baseline_of, decide, unexpected
from mcpconf.gate_record import GatePolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpconf.observed import ObservedRun

    Report = dict[str, Any]


def test_refused_wins_over_incomplete_and_that_over_regressed() -> None:
    def worse(report: Report) -> None:
        fails(report)
        interrupted(report)

    incomplete = gate(now=worse)
    assert incomplete.verdict is INCOMPLETE
    assert incomplete.verdict.exit_code is ExitCode.HARNESS
    assert refs(incomplete.new_failures) == [A]
    refused = gate(
        now=both(worse, lambda each: each.update(automaticAuthRequired=True))
    )
    assert refused.verdict is REFUSED
    assert refused.holes
    assert refs(refused.new_failures) == [A]


def test_a_verdict_that_nothing_in_the_report_explains_is_a_hole() -> None:
    run = replace(observed(make_report()), verdict="INCONCLUSIVE")
    result = decide(
        baseline_of(observed(make_report())), run, GatePolicy(), GATE_CATALOGUE
    )
    assert result.verdict is INCOMPLETE


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param(interrupted, "did not end", id="stopped"),
        pytest.param(crash, "crashed", id="crash"),
        pytest.param(blamed, "by the suite", id="a hole"),
        pytest.param(lambda each: flake(each, OFFICIAL, PLAIN), "flaky", id="flaky"),
        pytest.param(
            lambda each: each["selection"].update(scenarios=[PLAIN]),
            "only some scenarios",
            id="a selection",
        ),
    ],
)
def test_a_report_that_says_too_little_cannot_stand_for_a_baseline(
    change: Callable[[Report], Any], said: str
) -> None:
    report = make_report()
    change(report)
    with pytest.raises(UsageError, match=said):
        baseline_of(observed(report))


def test_a_report_with_an_unsupported_scenario_stands_for_a_baseline() -> None:
    report = make_report()
    unsupported(report)
    run = observed(report)
    assert decide(baseline_of(run), run, GatePolicy(), GATE_CATALOGUE).verdict is GREEN


def test_a_version_1_baseline_knows_one_word_for_warnings_and_failures() -> None:
    report = make_report()
    warns(report)
    run = observed(report)
    held = {x for x in run.checks if x.transport != "http"}
    whole = baseline_of(run)
    baseline = replace(
        whole,
        client=None,
        suite=replace(whole.suite, integrity=None, catalogue=None),
        scope=replace(whole.scope, transports=("stdio", "official-http")),
        passing=whole.passing & held,
        failing={
            name: replace(each, state=CheckState.FAIL, outcome="failed")
            for name, each in whole.failing.items()
        },
    )
    result = decide(baseline, run, GatePolicy(), GATE_CATALOGUE)
    assert refs(result.known_failures) == [A]
    assert result.verdict is GREEN
    assert f"http {MIDDLE}: the baseline does not hold it" in result.not_compared


def _unexpected(run: ObservedRun, base: Report) -> list[tuple[str, list[str]]]:
    baseline = baseline_of(observed(base))
    cases = unexpected(baseline, run, GATE_CATALOGUE)
    return [
        (f"{each.leg} / {each.scenario}", [x.check_id for x in each.checks])
        for each in cases
    ]


def test_what_is_worse_than_expected_is_unexpected_and_known_failures_never() -> None:
    base, report = make_report(), make_report()
    fail(base, NEWEST, PLAIN)
    fail(report, NEWEST, PLAIN)
    fail(report, OFFICIAL, PLAIN)
    drop_check(report, OURS, "basics", "required-b")
    assert _unexpected(observed(report), base) == [
        (f"{OURS} / basics", ["required-b"]),
        (f"{OFFICIAL} / {PLAIN}", ["required-a"]),
    ]


def test_a_crash_is_unexpected_even_where_it_is_a_hole() -> None:
    report = make_report()
    blamed(report)
    assert _unexpected(observed(report), make_report()) == [
        (f"{OFFICIAL} / {PLAIN}", [])
    ]


def test_what_is_flaky_already_is_not_unexpected() -> None:
    report = make_report()
    flake(report, OFFICIAL, PLAIN)
    assert _unexpected(observed(report), make_report()) == []
