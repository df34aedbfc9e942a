"""The shards of a run, merged, are the run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from make import by_key, make_catalogue, make_check, make_end, make_record

from mcpconf import report
from mcpconf.errors import DecodeError, UsageError
from mcpconf.merge import merge
from mcpconf.record import Attribution, CheckStatus, Outcome, ScenarioResult
from mcpconf.report_schema import validate
from mcpconf.revision import Revision
from mcpconf.selection import Selection, Shard, select

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.ours import Case

pytestmark = pytest.mark.property

CATALOGUE = make_catalogue()
SELECTION = Selection(
    revisions=(Revision.V2025_11_25, Revision.V2026_07_28),
    supplemental=("basics", "metadata"),
)
PLAN = select(SELECTION, CATALOGUE)


@st.composite
def _results(draw: st.DrawFn) -> list[ScenarioResult]:
    results = []
    for case in PLAN:
        outcome = draw(st.sampled_from(Outcome))
        blame = st.sampled_from(Attribution)
        results.append(
            ScenarioResult(
                key=case.key,
                outcome=outcome,
                attribution=None if outcome is Outcome.PASSED else draw(blame),
                reason=draw(st.sampled_from(["", "it did not"])),
                checks=tuple(
                    make_check(f"check-{number}", status)
                    for number, status in enumerate(
                        draw(st.lists(st.sampled_from(CheckStatus), max_size=3))
                    )
                    if status is not CheckStatus.INFO
                ),
                harness_checks=(("adapter", draw(st.sampled_from([None, "broke"]))),),
                duration_s=draw(st.floats(0, 60).map(lambda each: round(each, 3))),
                diagnostics=draw(st.sampled_from([None, "said"])),
            )
        )
    return results


def _report(
    cases: Sequence[Case], results: Sequence[ScenarioResult], shard: Shard | None
) -> dict[str, Any]:
    selection = Selection(
        revisions=SELECTION.revisions, supplemental=SELECTION.supplemental, shard=shard
    )
    record = make_record(
        CATALOGUE,
        cases,
        selection=selection,
        run_id=f"run-{shard.index if shard else 0}",
    )
    kept = [each for each in results if each.key in {case.key for case in cases}]
    return report.build(record, cases, by_key(*kept), CATALOGUE, make_end()).value


def _shards(results: Sequence[ScenarioResult], of: int) -> list[tuple[str, Any]]:
    shards = [Shard(index, of) for index in range(1, of + 1)]
    return [
        (f"shard-{each}.json", _report(PLAN[each.index - 1 :: of], results, each))
        for each in shards
    ]


def _without_names(value: Any) -> Any:
    """Without what tells a merged report from one that was never divided."""
    if isinstance(value, dict):
        left_out = {"run", "artifacts", "evidence"}
        return {
            name: _without_names(each)
            for name, each in value.items()
            if name not in left_out
        }
    if isinstance(value, list):
        return [_without_names(each) for each in value]
    return value


@settings(max_examples=40, deadline=None)
@given(results=_results(), of=st.integers(1, 5), data=st.data())
def test_shards_in_any_order_merge_to_the_whole_run(
    results: list[ScenarioResult], of: int, data: st.DataObject
) -> None:
    shards = data.draw(st.permutations(_shards(results, of)))
    merged = merge(shards, CATALOGUE)
    validate(merged.value)
    whole = _report(PLAN, results, None)
    assert _without_names(merged.value) == _without_names(whole)


RESULTS = [
    ScenarioResult(key=case.key, outcome=Outcome.PASSED, attribution=None, reason="")
    for case in PLAN
]


def test_evidence_of_a_merged_report_is_in_its_shards_folder() -> None:
    merged = merge(_shards(RESULTS, 2), CATALOGUE).value
    places = {
        each["evidence"] for case in merged["cases"] for each in case["scenarios"]
    }
    folders = {"/".join(place.split("/")[:2]) for place in places}
    assert folders == {"runs/run-1", "runs/run-2"}
    assert merged["run"]["shards"] == ["run-1", "run-2"]
    assert merged["artifacts"] is None


def _changed(report: Any, *path: str, value: Any) -> Any:
    *above, last = path
    for name in above:
        report = report[name]
    report[last] = value


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda shards: shards.pop(), "shard 3/3 is missing"),
        (lambda shards: shards.append(shards[0]), "shard 1/3 is given 2 times"),
        (
            lambda shards: _changed(shards[1][1], "client", "sha256", value="0" * 64),
            "shard-2/3.json: another client than shard-1/3.json",
        ),
        (
            lambda shards: _changed(shards[2][1], "policy", "warnings", value="warn"),
            "shard-3/3.json: another policy",
        ),
        (
            lambda shards: _changed(shards[0][1], "selection", "shard", value=None),
            "shard-1/3.json: is no shard",
        ),
        (
            lambda shards: _changed(
                shards[0][1], "selection", "shard", value={"index": 1, "of": 4}
            ),
            "shards of different runs: of 3 and of 4",
        ),
        (
            lambda shards: shards[1][1]["cases"][0].update(scenarios=[], checks=[]),
            "is in no shard, and should be in one",
        ),
    ],
)
def test_what_are_not_the_parts_of_one_run_is_refused(
    change: Any, problem: str
) -> None:
    shards = _shards(RESULTS, 3)
    assert merge(shards, CATALOGUE).value["complete"]
    change(shards)
    with pytest.raises(UsageError, match=problem):
        merge(shards, CATALOGUE)


def test_one_shard_that_was_stopped_leaves_the_whole_without_a_verdict() -> None:
    shards = _shards(RESULTS, 2)
    assert merge(shards, CATALOGUE).value["verdict"] == "CONFORMANT"
    shards[1][1]["closing"] = None
    merged = merge(shards, CATALOGUE).value
    assert (merged["complete"], merged["verdict"]) == (False, "INCONCLUSIVE")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda case: case["scenarios"].append(case["scenarios"][0]),
            "shard-1/2.json: stdio 2025-11-25: basics: twice",
        ),
        (
            lambda case: case["scenarios"].clear(),
            "shard-1/2.json: stdio 2025-11-25: basics: has checks, and is not listed",
        ),
    ],
)
def test_a_shard_at_odds_with_itself_is_refused(change: Any, problem: str) -> None:
    """What no gate takes as it is must not be laundered by a merge."""
    shards = _shards(RESULTS, 2)
    change(shards[0][1]["cases"][0])
    for case in shards[0][1]["cases"][:1]:
        case["checks"] = case["checks"] or [
            {"scenario": "basics", "source": "harness", "check_id": None, "name": "x"}
        ]
    with pytest.raises(DecodeError, match=problem):
        merge(shards, CATALOGUE)


def test_a_row_of_another_shard_is_refused() -> None:
    shards = _shards(RESULTS, 2)
    stolen = shards[1][1]["cases"][0]["scenarios"][0]
    leg = shards[1][1]["cases"][0]
    for case in shards[0][1]["cases"]:
        if (case["transport"], case["mode"]) == (leg["transport"], leg["mode"]):
            case["scenarios"].append(stolen)
            break
    else:
        shards[0][1]["cases"].append(leg)
    with pytest.raises(UsageError, match="is in another shard, too"):
        merge(shards, CATALOGUE)
