"""What cannot be compared: which side, which entry, what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from gate_decision import (
    OFFICIAL,
    OURS,
    REFUSED,
    REGRESSED,
    SHIPS,
    A,
    gate,
    refs,
)
from gate_report import (
    APART,
    AUTH,
    GATE_CATALOGUE,
    MIDDLE,
    NEW,
    OLD,
    PLAIN,
    case_of,
    drop_leg,
    drop_scenario,
    fail,
    make_report,
    observed,
    scenario_of,
    warn,
)

from mcpconf.errors import ExitCode
from mcpconf.gate import baseline_of, decide
from mcpconf.gate_record import GatePolicy

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpconf.baseline.entry import (
        Baseline,
    )

    Report = dict[str, Any]


def _suite(report: Report, **changes: Any) -> None:
    report["officialConformance"] |= changes


def _twice(report: Report) -> None:
    listed = report["officialConformance"]["scenarios"]
    listed[MIDDLE] = [AUTH, PLAIN]


def _no_longer_counts(report: Report) -> None:
    scenario_of(report, OFFICIAL, PLAIN)["scored"] = False
    case = case_of(report, OFFICIAL)
    moved = [each for each in case["checks"] if each["scenario"] == PLAIN]
    case["notScored"] += moved
    case["checks"] = [each for each in case["checks"] if each not in moved]


REFUSALS: dict[str, tuple[Callable[[Report], Any], str]] = {
    "another policy for warnings": (
        lambda each: each["policy"].update(warnings="warn"),
        "policy for warnings is fail and warn; run with the baseline's --warnings",
    ),
    "another client": (
        lambda each: each["client"].update(name="codex"),
        "client is command and codex",
    ),
    "another suite": (
        lambda each: _suite(each, gitRef="npm:other@1"),
        "suite is npm:@modelcontextprotocol/conformance@9.9.9 and npm:other@1",
    ),
    "another build of the suite": (
        lambda each: each["officialConformance"].update(
            suite={**each["officialConformance"]["suite"], "integrity": "sha512-y"}
        ),
        "suite integrity is sha512-x and sha512-y",
    ),
    "another catalogue": (
        lambda each: each["officialConformance"]["catalogue"].update(digest="sha256:0"),
        "report: made with the catalogue sha256:0",
    ),
    "another auth mode": (
        lambda each: each.update(automaticAuthRequired=True),
        "auth mode is assisted and strict",
    ),
    "another revision policy": (
        lambda each: each["policy"].update(revision="exact"),
        "revision policy is same-era and exact",
    ),
    "the feature off": (
        lambda each: each.update(modernFeatureEnablement=False),
        "the modern feature was not enabled",
    ),
    "no version": (
        lambda each: each["versionCheck"].update(success=False),
        "did not tell its version",
    ),
    "a leg missing": (lambda each: drop_leg(each, OURS), f"the case {OURS} is missing"),
    "a leg too many": (
        lambda each: each["selection"].update(revisions=[MIDDLE, NEW]),
        f"has a case stdio {OLD}, which its selection leaves out",
    ),
    "a scenario of the suite missing": (
        lambda each: drop_scenario(each, OFFICIAL, PLAIN),
        f"its list of {MIDDLE} scenarios is not the catalogue's: it lacks {PLAIN}",
    ),
    "a scored scenario that no longer counts": (
        _no_longer_counts,
        f"it lacks {PLAIN}",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_cannot_be_compared_is_refused_and_says_what_to_do(name: str) -> None:
    change, said = REFUSALS[name]
    result = gate(now=change)
    assert result.verdict is REFUSED
    assert result.verdict.exit_code is ExitCode.BAD_INPUT
    assert said in "\n".join(result.configuration_errors)
    assert all("; " in each or ": " in each for each in result.configuration_errors)


def test_a_list_of_scenarios_in_another_order_is_refused() -> None:
    run = observed(make_report())
    shuffled = replace(run, scenarios={**run.scenarios, MIDDLE: (AUTH, PLAIN)})
    result = decide(baseline_of(run), shuffled, GatePolicy(), GATE_CATALOGUE)
    assert result.verdict is REFUSED
    assert "in another order, or twice" in result.configuration_errors[0]


@pytest.mark.parametrize("change", [fail, warn])
def test_what_ships_must_be_green(change: Any) -> None:
    """It got worse, which is 1: both sides can be compared very well."""
    result = gate(now=lambda each: change(each, SHIPS, PLAIN))
    assert result.verdict is REGRESSED
    assert refs(result.new_failures) == [A]
    (demand,) = result.demands
    assert demand.startswith(f"{SHIPS} / {A} fails, and {OLD} is a shipping revision")


def test_a_supplemental_failure_where_it_ships_is_an_ordinary_one() -> None:
    result = gate(now=lambda each: fail(each, f"stdio {OLD}", "basics"))
    assert result.verdict is REGRESSED


def test_a_baseline_that_excuses_what_ships_is_refused() -> None:
    def excuses(report: Report) -> None:
        fail(report, SHIPS, PLAIN)

    result = gate(excuses, excuses)
    assert result.verdict is REFUSED
    assert result.configuration_errors[0].startswith(f"baseline: {SHIPS} / {A}")


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        pytest.param(
            lambda each: replace(
                each,
                passing=frozenset(x for x in each.passing if str(x.leg) != OURS),
            ),
            f"baseline: holds no check of {OURS}",
            id="an empty leg",
        ),
        pytest.param(
            lambda each: replace(
                each,
                passing=frozenset(
                    x
                    for x in each.passing
                    if not (str(x.leg) == OFFICIAL and x.scenario == PLAIN)
                ),
            ),
            f"baseline: holds no check of {OFFICIAL} / {PLAIN}",
            id="a scenario without checks",
        ),
        pytest.param(
            lambda each: replace(each, scenarios={**each.scenarios, MIDDLE: (PLAIN,)}),
            f"baseline: its list of {MIDDLE} scenarios is not the catalogue's",
            id="a short list",
        ),
        pytest.param(
            lambda each: replace(
                each,
                passing=each.passing
                | {
                    x._replace(scenario=APART)
                    for x in each.passing
                    if str(x.leg) == OFFICIAL and x.source == "official"
                },
            ),
            f"{OFFICIAL} / {APART} is no scenario that counts there",
            id="a scenario that does not count",
        ),
        pytest.param(
            lambda each: replace(each, scope=replace(each.scope, transports=("http",))),
            f"baseline: holds checks of stdio {OLD}, which its scope leaves out",
            id="checks beyond its scope",
        ),
    ],
)
def test_a_baseline_must_be_complete_for_its_own_scope(
    edit: Callable[[Baseline], Baseline], said: str
) -> None:
    result = gate(edit=edit)
    assert result.verdict is REFUSED
    assert said in "\n".join(result.configuration_errors)
