"""A part of a baseline, held against a run of that part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from gate_decision import (
    A_OURS,
    GREEN,
    OFFICIAL,
    OURS,
    REFUSED,
    REGRESSED,
    A,
    fails,
    gate,
    refs,
)
from gate_report import (
    APART,
    MIDDLE,
    NEW,
    PLAIN,
    drop_check,
    drop_scenario,
    end_as,
    fail,
    make_report,
)
from whole_report import CATALOGUE, whole_report
from whole_report import MIDDLE as MIDDLE_ALONE

from mcpconf.gate import baseline_of, decide
from mcpconf.gate_record import GatePolicy
from mcpconf.observed import observe
from mcpconf.selection import Selection, Shard

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpconf.gate_record import GateResult

    Report = dict[str, Any]


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        pytest.param(
            {"revisions": [MIDDLE]}, f"stdio {NEW}: was not run", id="--revision"
        ),
        pytest.param(
            {"transports": ["http"]}, f"{OURS}: was not run", id="--transport"
        ),
        pytest.param(
            {"sources": ["official"]}, f"{OURS}: was not run", id="--only official"
        ),
        pytest.param(
            {"authentication": False},
            "with authorization: were not run",
            id="--no-auth",
        ),
        pytest.param(
            {"sources": ["official"], "scenarios": [PLAIN]},
            f"all scenarios but {PLAIN}: were not run",
            id="--scenario",
        ),
    ],
)
def test_a_part_is_compared_in_what_was_run_and_called_partial(
    selection: dict[str, Any], said: str
) -> None:
    report = make_report(**selection)
    good = gate(report=report)
    assert good.verdict is GREEN, (good.configuration_errors, good.missing_checks)
    assert good.scope == "partial"
    assert said in "\n".join(good.not_compared)
    bad = gate(now=fails, report=make_report(**selection))
    assert refs(bad.new_failures) == [A]
    assert bad.verdict is REGRESSED


def test_a_named_scenario_without_its_checks_is_missing_not_left_out() -> None:
    report = make_report(sources=["supplemental"], scenarios=["basics"])
    drop_check(report, OURS, "basics", "required-a")
    assert refs(gate(report=report).missing_checks) == [A_OURS]


def test_a_named_scenario_that_is_gone_from_one_leg_is_missing_there() -> None:
    report = make_report(sources=["supplemental"], scenarios=["basics", "registration"])
    drop_scenario(report, OURS, "basics")
    missing = gate(report=report).missing_checks
    assert refs(missing) == [
        "basics:harness/basics/command-adapter",
        A_OURS,
        "basics:required-b",
    ]
    assert missing[0].detail.endswith("the report does not have it, nor its scenario")


def test_a_named_scenario_that_is_nowhere_is_refused() -> None:
    report = make_report(sources=["supplemental"], scenarios=["basics", "registration"])
    for leg in [(x["transport"], x["mode"]) for x in report["cases"]]:
        drop_scenario(report, " ".join(leg), "registration")
    result = gate(report=report)
    assert result.verdict is REFUSED
    assert "registration was asked for and has no result" in str(result)


SECOND = Selection(revisions=MIDDLE_ALONE.revisions, shard=Shard(2, 3))


def _shard_gate(change: Callable[[Report], object] = lambda _: None) -> GateResult:
    whole = observe(whole_report(), "whole.json")
    shard = whole_report(selection=SECOND)
    change(shard)
    return decide(
        baseline_of(whole), observe(shard, "shard.json"), GatePolicy(), CATALOGUE
    )


def test_a_shard_is_partial_and_judged_by_the_cases_it_has() -> None:
    good = _shard_gate()
    assert (good.verdict, good.configuration_errors) == (GREEN, ())
    assert good.scope == "partial"
    assert "all shards but 2 of 3: were not run" in good.not_compared
    missing = _shard_gate(lambda each: each["cases"][0]["checks"].pop(0))
    assert missing.verdict is REGRESSED
    assert len(missing.missing_checks) == 1


def test_a_shard_that_lacks_a_case_of_its_own_is_refused() -> None:
    """Else it would be one case fewer, and nobody would know."""

    def cut(report: Report) -> None:
        case = report["cases"][0]
        gone = case["scenarios"].pop()["scenario"]
        case["checks"] = [x for x in case["checks"] if x["scenario"] != gone]

    result = _shard_gate(cut)
    assert result.verdict is REFUSED
    assert "the shard lacks: stdio 2025-11-25 / " in str(result.configuration_errors)


def test_what_the_baseline_does_not_hold_is_named_and_not_compared() -> None:
    base = make_report(sources=["official"])
    result = gate(base=base, now=lambda each: fail(each, OURS, "basics"))
    assert result.verdict is GREEN
    assert result.scope == "partial"
    assert f"{OURS}: the baseline does not hold it" in result.not_compared


def test_a_crash_is_red_even_where_the_baseline_does_not_hold_the_leg() -> None:
    base = make_report(sources=["official"])
    result = gate(base=base, now=lambda each: end_as(each, OURS, "basics", "crashed"))
    assert refs(result.new_failures) == ["basics:harness/basics/official-runner"]
    assert result.verdict is REGRESSED


def test_a_run_that_has_nothing_in_common_with_the_baseline_is_refused() -> None:
    base = make_report(sources=["official"])
    result = gate(base=base, report=make_report(sources=["supplemental"]))
    assert result.verdict is REFUSED
    assert "have nothing in common" in result.configuration_errors[0]


def test_what_does_not_count_is_not_compared() -> None:
    def worse(report: Report) -> None:
        fail(report, OFFICIAL, APART)

    assert gate(now=worse).verdict is GREEN
