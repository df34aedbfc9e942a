"""What holds of every first result, every rerun, and whatever was unexpected."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpconf.flake import combined, flaky_checks
from mcpconf.record import (
    Attribution,
    CaseKey,
    Check,
    CheckStatus,
    Outcome,
    Policy,
    ReportStatus,
    ScenarioResult,
    Source,
    WarningPolicy,
)
from mcpconf.report_check import status_of
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from random import Random

    from mcpconf.flake import CheckName

pytestmark = pytest.mark.property
bounded = settings(max_examples=250, deadline=None)

SUITES = CaseKey(revision=Revision.V2025_11_25, scenario="tools_call")
OURS = replace(SUITES, source=Source.SUPPLEMENTAL)
IDS = ("a", "b", "c")
KINDS = ("adapter", "wire-schema", "official-runner")
#: Those that a rerun can change, and that change something, come up more often.
FIRST = [
    *(each for each in Outcome if each is not Outcome.FLAKY),
    *(Outcome.PASSED, Outcome.PASSED, Outcome.FAILED, Outcome.FAILED),
    *(Outcome.UNOBSERVED, Outcome.UNSUPPORTED),
]
#: What a check of ours says under each outcome.
SAYS = {Outcome.PASSED: CheckStatus.SUCCESS, Outcome.FAILED: CheckStatus.FAILURE}
FINAL = frozenset(
    {
        Outcome.CRASHED,
        Outcome.TIMED_OUT,
        Outcome.HARNESS_ERROR,
        Outcome.SUITE_DEFECT,
        Outcome.NOT_RUN,
    }
)

policies = st.builds(Policy, warnings=st.sampled_from(WarningPolicy))
statuses = st.sampled_from(
    [each for each in CheckStatus if each is not CheckStatus.INFO]
)
outcomes = st.sampled_from(FIRST)
harnesses = st.dictionaries(st.sampled_from(KINDS), st.sampled_from([None, "it broke"]))


def check_of(name: str, status: CheckStatus, outcome: Outcome | None = None) -> Check:
    return Check(
        check_id=name, name=name, status=status, description=name, outcome=outcome
    )


def results(key: CaseKey) -> st.SearchStrategy[ScenarioResult]:
    """Any result of a case: more than a judge would ever say."""
    if key.source is Source.SUPPLEMENTAL:
        said = st.dictionaries(st.sampled_from(IDS), outcomes).map(
            lambda told: tuple(
                check_of(name, SAYS.get(outcome, CheckStatus.SKIPPED), outcome)
                for name, outcome in told.items()
            )
        )
    else:
        said = st.dictionaries(st.sampled_from(IDS), statuses).map(
            lambda told: tuple(check_of(*each) for each in told.items())
        )
    return st.builds(
        ScenarioResult,
        key=st.just(key),
        outcome=outcomes,
        attribution=st.sampled_from([None, Attribution.SUBJECT]),
        reason=st.just("as it was"),
        checks=said,
        harness_checks=harnesses.map(lambda told: tuple(told.items())),
    )


KEYS = (SUITES, OURS, replace(SUITES, variant="v"))
RESULTS = {key: results(key) for key in KEYS}


@st.composite
def launches(
    draw: st.DrawFn,
) -> tuple[ScenarioResult, list[ScenarioResult], frozenset[CheckName]]:
    """A first result, its reruns, and the names of what was unexpected."""
    key = draw(st.sampled_from(KEYS))
    names: list[CheckName] = [(key.source.value, each) for each in IDS]
    names += [("harness", f"harness/tools_call/{each}") for each in KINDS[1:]]
    names += [("harness", "harness/tools_call/codex-adapter")]
    if key.variant is not None:  # the whole case is one check
        names = [("supplemental", key.variant)]
    return (
        draw(RESULTS[key]),
        draw(st.lists(RESULTS[key], max_size=2)),
        draw(st.frozensets(st.sampled_from(names))),
    )


def reported(result: ScenarioResult, policy: Policy) -> dict[str, ReportStatus]:
    """Every check of a result, as a report tells it."""
    return {
        check.check_id: status_of(check, check.outcome or result.outcome, policy)
        if result.key.source is Source.SUPPLEMENTAL
        else status_of(check, result.outcome, policy)
        for check in result.checks
    }


def harness(result: ScenarioResult) -> dict[str, ReportStatus]:
    """Every statement of the harness, as a report tells it."""
    is_quiet = result.outcome.report_status is ReportStatus.SKIP
    told = {}
    for kind, problem in result.harness_checks:
        status = ReportStatus.PASS if problem is None else ReportStatus.FAIL
        if is_quiet and kind not in result.flaky_harness:
            status = ReportStatus.SKIP
        told[kind] = status
    return told


def kind_of(name: CheckName) -> str:
    label = name[1].rpartition("/")[2]
    return "adapter" if label == "codex-adapter" else label


@bounded
@given(launches(), policies)
def test_what_was_not_unexpected_is_never_rescued(
    case: tuple[ScenarioResult, list[ScenarioResult], frozenset[CheckName]],
    policy: Policy,
) -> None:
    first, again, names = case
    result = combined(first, again, names)

    before, after = reported(first, policy), reported(result, policy)
    meant = {check_id for source, check_id in names if source == first.key.source}
    others = set(after) - meant
    assert {each: before[each] for each in others} == {
        each: after[each] for each in others
    }
    told = harness(first)
    known = {kind_of(name) for name in names if name[0] == "harness"}
    for kind, status in harness(result).items():
        if kind not in known:
            assert status == told[kind]


@bounded
@given(launches(), policies)
def test_what_did_not_pass_at_first_is_never_told_as_a_pass(
    case: tuple[ScenarioResult, list[ScenarioResult], frozenset[CheckName]],
    policy: Policy,
) -> None:
    first, again, names = case
    result = combined(first, again, names)

    for before, after in (
        (reported(first, policy), reported(result, policy)),
        (harness(first), harness(result)),
    ):
        for name, status in after.items():
            if status is ReportStatus.PASS:
                assert before[name] is ReportStatus.PASS
    flaky = {check_id for _, check_id in flaky_checks(result)}
    told = reported(result, policy) | harness(result)
    if first.key.variant is None:
        assert {told[each] for each in flaky} <= {ReportStatus.FAIL}
    if result.outcome is Outcome.FLAKY:
        assert flaky
        assert result.outcome.report_status is ReportStatus.FAIL


@bounded
@given(launches())
def test_a_rerun_in_which_anything_else_is_bad_rescues_nothing(
    case: tuple[ScenarioResult, list[ScenarioResult], frozenset[CheckName]],
) -> None:
    first, again, names = case

    def told(result: ScenarioResult) -> dict[str, ReportStatus]:
        return reported(result, Policy()) | harness(result)

    def bad(result: ScenarioResult) -> set[str]:
        statuses = told(result)
        missing = {
            name
            for name, status in told(first).items()
            if status is ReportStatus.PASS
            and statuses.get(name) is not ReportStatus.PASS
        }
        failing = {n for n, status in statuses.items() if status is ReportStatus.FAIL}
        return failing | missing

    if first.key.variant is None and all(bad(each) - bad(first) for each in again):
        assert combined(first, again, names) == replace(first, reruns=tuple(again))


@bounded
@given(launches(), st.randoms(use_true_random=False))
def test_the_order_of_checks_does_not_matter(
    case: tuple[ScenarioResult, list[ScenarioResult], frozenset[CheckName]],
    random: Random,
) -> None:
    first, again, names = case

    def shuffled(result: ScenarioResult) -> ScenarioResult:
        checks, said = list(result.checks), list(result.harness_checks)
        random.shuffle(checks)
        random.shuffle(said)
        return replace(result, checks=tuple(checks), harness_checks=tuple(said))

    one = combined(first, again, names)
    two = combined(shuffled(first), [shuffled(each) for each in again], names)

    assert (one.outcome, one.reason) == (two.outcome, two.reason)
    assert flaky_checks(one) == flaky_checks(two)
    by_id = [
        {check.check_id: (check.status, check.outcome) for check in each.checks}
        for each in (one, two)
    ]
    assert by_id[0] == by_id[1]
    assert dict(one.harness_checks) == dict(two.harness_checks)


@bounded
@given(launches(), policies, st.data())
def test_expecting_one_failure_more_makes_no_other_check_pass(
    case: tuple[ScenarioResult, list[ScenarioResult], frozenset[CheckName]],
    policy: Policy,
    data: st.DataObject,
) -> None:
    first, again, names = case
    fewer = data.draw(st.frozensets(st.sampled_from(sorted(names)))) if names else names
    more, less = combined(first, again, names), combined(first, again, fewer)

    told = reported(more, policy)
    for name, status in reported(less, policy).items():
        if status is ReportStatus.PASS:
            assert told[name] is ReportStatus.PASS
    assert len(flaky_checks(less)) <= len(fewer)


@bounded
@given(launches())
def test_an_end_that_is_not_about_checks_stays_and_keeps_its_reruns(
    case: tuple[ScenarioResult, list[ScenarioResult], frozenset[CheckName]],
) -> None:
    first, again, names = case
    result = combined(first, again, names)

    assert result.reruns == tuple(again)
    if first.outcome in FINAL or all(each.outcome in FINAL for each in again):
        assert result == replace(first, reruns=tuple(again))
