"""What a report has that a baseline does not expect."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from make import MIDDLE, NEW
from make_baseline import (
    BAD,
    FAILED,
    HARNESS,
    OFFICIAL,
    REVIEWED,
    SKIPPED,
    SUPPLEMENTAL,
    WARNED,
    make_baseline,
    make_observed,
    make_run,
    narrowed,
)

from mcpconf.baseline.diff import WHOLE_SCENARIO, BaselineDiff, diff
from mcpconf.baseline.entry import CheckState
from mcpconf.identity import Leg
from mcpconf.render.baseline import render_diff

if TYPE_CHECKING:
    from mcpconf.observed import ObservedRun

LEG = Leg("official-http", NEW)


def _diff(run: ObservedRun, version: int = 2) -> BaselineDiff:
    return diff(make_baseline(version=version), run)


def _without(run: ObservedRun, *gone: object) -> ObservedRun:
    checks = {key: each for key, each in run.checks.items() if key not in gone}
    return replace(run, checks=checks)


def test_a_report_does_not_differ_from_the_baseline_made_of_it() -> None:
    for version in (1, 2):
        assert _diff(make_run(BAD), version).is_empty


def test_a_failure_that_nobody_expects_is_new() -> None:
    (row,) = _diff(make_run({**BAD, HARNESS: FAILED})).new
    assert (row.identity, row.before, row.after) == (HARNESS, "PASS", "FAIL (failed)")
    warned = _diff(make_run({**BAD, HARNESS: WARNED})).new
    assert [each.after for each in warned] == ["WARNING (failed)"]


def test_a_failure_that_is_gone_is_fixed_and_its_reason_is_shown() -> None:
    found = _diff(make_run({OFFICIAL: FAILED}))
    (row,) = found.fixed
    assert (row.identity, row.before, row.after) == (
        SUPPLEMENTAL,
        "WARNING (failed)",
        "PASS",
    )
    assert row.reason == REVIEWED.reason
    assert found == replace(found, new=(), missing=(), changed=(), added=())


def test_a_check_that_no_longer_passes_nor_fails_is_missing() -> None:
    skipped = _diff(make_run({**BAD, HARNESS: SKIPPED})).missing
    assert [(each.before, each.after) for each in skipped] == [("PASS", "SKIP")]
    gone = _diff(_without(make_run(BAD), HARNESS)).missing
    assert [(each.before, each.after) for each in gone] == [("PASS", "-")]
    failing = _diff(_without(make_run(BAD), OFFICIAL)).missing
    assert [each.before for each in failing] == ["FAIL (failed)"]
    quiet = _diff(make_run({**BAD, OFFICIAL: SKIPPED})).missing
    assert [each.after for each in quiet] == ["SKIP"]


def test_a_failure_in_another_way_is_changed() -> None:
    for state, outcome in (
        (CheckState.FAIL, "failed"),
        (CheckState.WARNING, "unobserved"),
    ):
        (row,) = _diff(make_run({**BAD, SUPPLEMENTAL: (state, outcome)})).changed
        assert row.after == f"{state.value} ({outcome})"


def test_version_1_knows_no_warning_but_what_is_worse_than_failed() -> None:
    assert _diff(make_run(BAD), version=1).changed == ()
    worse = {**BAD, OFFICIAL: (CheckState.FAIL, "unobserved")}
    (row,) = _diff(make_run(worse), version=1).changed
    assert (row.before, row.reason) == ("FAIL (failed)", None)


def test_a_check_that_passes_and_is_in_no_list_is_added() -> None:
    run = make_run(BAD)
    new = HARNESS._replace(check_id="harness/tools_call/official-runner")
    found = _diff(replace(run, checks={**run.checks, new: make_observed(new)}))
    assert [each.identity for each in found.added] == [new]
    skipped = make_observed(new, *SKIPPED)
    assert _diff(replace(run, checks={**run.checks, new: skipped})).is_empty


def test_a_scenario_that_is_not_done_is_new_and_one_that_is_again_is_fixed() -> None:
    skipped = {
        each: SKIPPED
        for each in make_run().checks
        if each.leg == LEG and each.scenario == "tools_call"
    }
    undone = make_run({**BAD, **skipped}, {(LEG, "tools_call"): "unsupported"})
    found = _diff(undone)
    (row,) = found.new
    assert (row.identity.check_id, row.after) == (WHOLE_SCENARIO, "unsupported")
    assert {each.identity for each in found.missing} == set(skipped)
    baseline = make_baseline(undone)
    assert diff(baseline, undone).is_empty
    (fixed,) = diff(baseline, make_run(BAD)).fixed
    assert (fixed.before, fixed.after) == ("unsupported", "passed")
    failing = make_run(BAD, {(LEG, "tools_call"): "failed"})
    assert [each.after for each in diff(baseline, failing).changed] == ["failed"]
    gone = replace(undone, cases=tuple(c for c in undone.cases if c.leg != LEG))
    assert [each.after for each in diff(baseline, gone).missing] == ["-"]


def test_only_what_was_run_is_compared() -> None:
    part = _diff(narrowed(make_run(BAD), revisions=(MIDDLE,), transports=("stdio",)))
    assert part.is_empty
    assert len(part.not_compared) == 8
    run = make_run(BAD)
    one = Leg("stdio", MIDDLE)
    named = replace(
        _without(run, *(each for each in run.checks if each.leg != one)),
        cases=tuple(each for each in run.cases if each.leg == one),
        selected=("basics",),
    )
    assert _diff(named).is_empty
    # A whole run that lost its cases is no part of one.
    assert _diff(replace(named, selected=())).missing
    assert _diff(replace(named, selected=(), shard=(1, 2))).is_empty


def test_sides_of_another_kind_are_compared_with_a_word_of_warning() -> None:
    run = make_run(BAD)
    assert _diff(run).caveats == ()
    other = replace(run, client="python-sdk", strict_auth=True, is_complete=False)
    assert _diff(other).caveats == (
        "client: the baseline's is codex, the report's python-sdk",
        "authorization: the baseline's is assisted, the report's strict",
        "the report is of a run that did not end",
    )


# -- shown -------------------------------------------------------------------------


def test_a_reviewer_reads_every_group() -> None:
    run = make_run({OFFICIAL: (CheckState.FAIL, "unobserved"), HARNESS: FAILED})
    gone = HARNESS._replace(scenario="auth/basic-cimd", check_id=OFFICIAL.check_id)
    text = render_diff(_diff(_without(run, OFFICIAL._replace(check_id="silent"), gone)))
    heads = [line for line in text.splitlines() if line.endswith("(1)")]
    assert [line.split(":")[0] for line in heads] == [
        "New",
        "Missing",
        "Changed",
        "Fixed",
    ]
    assert "official-http 2026-07-28" in text
    assert "FAIL (unobserved)" in text


def test_nothing_to_see_is_said() -> None:
    text = render_diff(_diff(make_run(BAD)))
    assert text == "The report says what the baseline says.\n"


def test_a_long_list_of_what_passes_is_counted() -> None:
    baseline = make_baseline()
    less = replace(baseline, passing=frozenset(sorted(baseline.passing)[30:]))
    text = render_diff(diff(less, make_run(BAD)))
    assert "Added: passes, and is in no list yet (30)" in text
    assert "  and 10 more" in text


def test_a_detail_is_one_line_that_does_nothing() -> None:
    run = make_run(BAD)
    rude = make_observed(HARNESS, *FAILED, detail="a\x1b[2J\n::error::b" * 99)
    text = render_diff(_diff(replace(run, checks={**run.checks, HARNESS: rude})))
    assert "\x1b" not in text
    assert len(text.splitlines()) == 4
