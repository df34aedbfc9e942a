"""Which cases are run again, for which checks, and how the plan of it is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from make import MIDDLE, make_case, make_check

from mcpconf import rerun
from mcpconf.errors import DecodeError
from mcpconf.gate_record import UnexpectedCase
from mcpconf.identity import CheckIdentity, Leg
from mcpconf.record import Attribution, CaseKey, CheckStatus, Outcome, ScenarioResult
from mcpconf.render.progress import LiveProgress
from mcpconf.rerun import MAX_CASES, Entry, Plan, Reruns
from mcpconf.storage import json_bytes

if TYPE_CHECKING:
    from pathlib import Path

A, B = ("official", "a"), ("official", "b")
RUNNER = ("harness", "harness/tools_call/official-runner")
GOOD, BAD = CheckStatus.SUCCESS, CheckStatus.FAILURE


def said(
    outcome: Outcome = Outcome.PASSED, *, key: CaseKey, **checks: CheckStatus
) -> ScenarioResult:
    """A result by what its checks said."""
    return ScenarioResult(
        key=key,
        outcome=outcome,
        attribution=None if outcome is Outcome.PASSED else Attribution.SUBJECT,
        reason=f"it was {outcome.value}",
        checks=tuple(make_check(each, status) for each, status in checks.items()),
    )


def worse(scenario: str, *check_ids: str, leg: str = "official-http") -> UnexpectedCase:
    return UnexpectedCase(
        leg=Leg(leg, MIDDLE.value),
        scenario=scenario,
        variant=None,
        checks=tuple(
            CheckIdentity(MIDDLE.value, leg, "official", scenario, each)
            for each in check_ids
        ),
    )


def asking(*cases: UnexpectedCase) -> Reruns:
    return Reruns(
        unexpected=lambda _report: cases, baseline="b.json", digest="sha256:0"
    )


def results_of(*cases: Any) -> dict[str, ScenarioResult]:
    return {
        str(case.key): said(Outcome.FAILED, key=case.key, a=BAD, b=BAD)
        for case in cases
    }


def test_the_cases_that_are_run_again_are_in_the_order_of_the_plan() -> None:
    cases = [make_case(name) for name in ("x", "y", "z")]
    asked = asking(worse("z", "b"), worse("x", "a"), worse("z", "a"))

    plan = rerun.planned(asked, cases, results_of(*cases), {})

    assert plan is not None
    assert plan.rounds == (
        (Entry(cases[0].key, frozenset({A})), Entry(cases[2].key, frozenset({A, B}))),
    )
    assert (plan.baseline, plan.digest, plan.note) == ("b.json", "sha256:0", None)


@pytest.mark.parametrize(
    "asked",
    [
        asking(),
        asking(worse("another", "a")),
        asking(worse("x", "a", leg="stdio")),
        asking(worse("never-run", "a")),
    ],
)
def test_what_did_not_run_is_not_run_again(asked: Reruns) -> None:
    cases = [make_case("x"), make_case("never-run")]

    assert rerun.planned(asked, cases, results_of(cases[0]), {}) is None


@pytest.mark.parametrize("more", [0, 1])
def test_more_cases_than_the_bound_are_no_flake(more: int) -> None:
    cases = [make_case(f"x{number}") for number in range(MAX_CASES + more)]
    asked = asking(*(worse(case.key.scenario, "a") for case in cases))

    plan = rerun.planned(asked, cases, results_of(*cases), {})

    assert plan is not None
    if more:
        assert plan.rounds == ()
        assert "26 cases are not as b.json expects them" in (plan.note or "")
        results = results_of(*cases)
        assert rerun.confirmed(plan, results, []) == results
    else:
        assert plan.note is None
        assert [len(each) for each in plan.rounds] == [MAX_CASES]


def test_only_where_time_is_measured_is_there_a_second_round() -> None:
    cases = [
        make_case("slow", timing_sensitive=True),
        make_case("saved", timing_sensitive=True),
        make_case("quick"),
    ]
    results = results_of(*cases)
    names = frozenset({A, B})
    plan = Plan(
        baseline="b.json",
        digest="sha256:0",
        rounds=(tuple(Entry(case.key, names) for case in cases),),
    )
    again = {
        str(cases[0].key): said(Outcome.FAILED, key=cases[0].key, a=GOOD, b=BAD),
        str(cases[1].key): said(key=cases[1].key, a=GOOD, b=GOOD),
        str(cases[2].key): said(Outcome.FAILED, key=cases[2].key, a=BAD, b=BAD),
    }

    longer = rerun.extended(plan, cases, results, [again])

    assert longer.rounds[1] == (Entry(cases[0].key, frozenset({B})),)
    # Two confirmations are enough, whatever they showed.
    assert rerun.extended(longer, cases, results, [again, {}]) == longer
    found = rerun.confirmed(
        longer,
        results,
        [again, {str(cases[0].key): said(key=cases[0].key, a=GOOD, b=GOOD)}],
    )
    assert [each.outcome for each in found.values()] == [
        Outcome.FLAKY,
        Outcome.FLAKY,
        Outcome.FAILED,
    ]
    assert [len(each.reruns) for each in found.values()] == [2, 1, 1]


# reruns.json

CASES = [make_case("x", timing_sensitive=True), make_case("y", variant="v")]
STORED = Plan(
    baseline="b.json",
    digest="sha256:0",
    rounds=(
        tuple(Entry(case.key, frozenset({A, RUNNER})) for case in CASES),
        (Entry(CASES[0].key, frozenset({A})),),
    ),
)


def test_a_plan_reads_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "reruns.json"
    path.write_bytes(json_bytes(STORED.to_json()))

    assert rerun.load_plan(path, [case.key for case in CASES]) == STORED


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"schema": 1', '"schema": 2', "schema: this version reads"),
        ('"name": "b.json"', '"name": 1', "baseline.name: expected a string"),
        ('"note": null', '"more": null', "unknown key more"),
        ('"scenario": "x"', '"scenario": "../x"', "case: is no case of this run"),
        ('"scenario": "x"', '"scenario": 7', "case: is no case of this run"),
        ('"variant": "v"', '"variant": null', "case: is no case of this run"),
        ('"official",\n            "a"', '"mine", "a"', "is no pair of a source"),
        ('"official",\n            "a"', '"official"', "is no pair of a source"),
    ],
)
def test_a_plan_of_another_run_is_refused_with_its_place(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    text = json_bytes(STORED.to_json()).decode()
    assert old in text
    path = tmp_path / "reruns.json"
    path.write_text(text.replace(old, new), "utf-8")

    with pytest.raises(DecodeError) as caught:
        rerun.load_plan(path, [case.key for case in CASES])

    assert "reruns.json" in str(caught.value)
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("rounds", "problem"),
    [
        ([[0], [0], [0]], "more than 2 times"),
        ([[0, 0]], "is there twice"),
        ([[0], [1]], "was not run again for these checks before"),
        ([[2], [2]], "was not run again for these checks before"),
    ],
)
def test_rounds_that_cannot_have_been_are_refused(
    tmp_path: Path, rounds: list[list[int]], problem: str
) -> None:
    entries = [Entry(case.key, frozenset({A})) for case in CASES]
    entries.append(Entry(CASES[0].key, frozenset()))
    plan = replace(
        STORED,
        rounds=tuple(tuple(entries[each] for each in numbers) for numbers in rounds),
    )
    path = tmp_path / "reruns.json"
    path.write_bytes(json_bytes(plan.to_json()))

    with pytest.raises(DecodeError, match=problem):
        rerun.load_plan(path, [case.key for case in CASES])


def test_a_crash_without_checks_is_run_again_once_and_rescued_by_nothing() -> None:
    case = make_case("x", timing_sensitive=True)
    results = {str(case.key): said(Outcome.CRASHED, key=case.key)}

    plan = rerun.planned(asking(worse("x")), [case], results, {})

    assert plan is not None
    assert plan.rounds == ((Entry(case.key, frozenset()),),)
    again = [{str(case.key): said(key=case.key, a=GOOD)}]
    assert rerun.extended(plan, [case], results, again) == plan
    (found,) = rerun.confirmed(plan, results, again).values()
    assert found.outcome is Outcome.CRASHED
    assert len(found.reruns) == 1


def test_a_terminal_shows_reruns_as_such(capsys: pytest.CaptureFixture[str]) -> None:
    case = make_case()
    with LiveProgress(1) as progress:
        for _ in range(2):
            progress.started(case)
            progress.finished(said(Outcome.FAILED, key=case.key))
        (task,) = progress._progress.tasks
        assert (task.completed, task.total) == (2, 2)
    told = " ".join(capsys.readouterr().out.split())
    assert f"{case.key} failed {case.key} (again) failed" in told
