"""What a rerun can change of a result, and all that it cannot."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from make import MIDDLE, make_case, make_catalogue, make_check, make_end, make_record

from mcpconf import report, report_schema
from mcpconf.flake import combined, flaky_checks
from mcpconf.record import (
    Attribution,
    CaseKey,
    CheckStatus,
    Outcome,
    ScenarioResult,
    Source,
    Verdict,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.flake import CheckName

KEY = make_case().key
OURS = CaseKey(revision=MIDDLE, scenario="basics", source=Source.SUPPLEMENTAL)
VARIANT = make_case("auth/basic-cimd", variant="auto_cimd").key
A, B = ("official", "a"), ("official", "b")
ADAPTER = ("harness", "harness/tools_call/codex-adapter")
SCHEMA = ("harness", "harness/tools_call/wire-schema")
RUNNER = ("harness", "harness/tools_call/official-runner")
FINAL = (
    Outcome.CRASHED,
    Outcome.TIMED_OUT,
    Outcome.HARNESS_ERROR,
    Outcome.SUITE_DEFECT,
    Outcome.NOT_RUN,
)
GOOD, BAD = CheckStatus.SUCCESS, CheckStatus.FAILURE


def said(
    outcome: Outcome = Outcome.PASSED,
    harness: Sequence[tuple[str, str | None]] = (("adapter", None),),
    key: CaseKey = KEY,
    **checks: CheckStatus,
) -> ScenarioResult:
    """A result of the suite's, by what its checks said."""
    return ScenarioResult(
        key=key,
        outcome=outcome,
        attribution=None if outcome is Outcome.PASSED else Attribution.SUBJECT,
        reason=f"it was {outcome.value}",
        checks=tuple(make_check(each, status) for each, status in checks.items()),
        harness_checks=tuple(harness),
    )


def ours(**outcomes: Outcome) -> ScenarioResult:
    """A result of one of our scenarios, by the outcomes of its checks."""
    passed = all(each is Outcome.PASSED for each in outcomes.values())
    result = said(Outcome.PASSED if passed else Outcome.FAILED, key=OURS)
    checks = [
        make_check(name, GOOD if outcome is Outcome.PASSED else BAD, outcome=outcome)
        for name, outcome in outcomes.items()
    ]
    return replace(result, checks=tuple(checks))


def outcomes_of(result: ScenarioResult) -> dict[str, Outcome | None]:
    return {check.check_id: check.outcome for check in result.checks}


FIRST = said(Outcome.FAILED, a=BAD, b=GOOD)
AGAIN = said(a=GOOD, b=GOOD)


def test_what_failed_and_then_passed_is_flaky_and_keeps_both_results() -> None:
    result = combined(FIRST, [AGAIN], {A})

    assert result.outcome is Outcome.FLAKY
    assert result.attribution is Attribution.SUBJECT
    assert result.reason.startswith("it was failed; ")
    assert outcomes_of(result) == {"a": Outcome.FLAKY, "b": None}
    assert [check.status for check in result.checks] == [BAD, GOOD]
    assert result.reruns == (AGAIN,)
    assert flaky_checks(result) == (A,)


@pytest.mark.parametrize("outcome", FINAL)
def test_a_first_end_that_is_no_failure_of_a_check_is_never_rescued(
    outcome: Outcome,
) -> None:
    first = replace(FIRST, outcome=outcome)

    assert combined(first, [AGAIN, AGAIN], {A}) == replace(first, reruns=(AGAIN, AGAIN))


@pytest.mark.parametrize(
    "again",
    [
        *(said(outcome, a=GOOD) for outcome in FINAL),
        *(said(outcome, a=GOOD) for outcome in (Outcome.FLAKY, Outcome.UNOBSERVED)),
        said(Outcome.UNSUPPORTED, a=GOOD),
        said(Outcome.FAILED, a=BAD),
        said(b=GOOD),
        said(a=CheckStatus.SKIPPED),
        said(a=CheckStatus.WARNING),
        replace(said(a=GOOD), key=VARIANT),
    ],
)
def test_a_rerun_without_evidence_of_a_pass_rescues_nothing(
    again: ScenarioResult,
) -> None:
    assert combined(FIRST, [again], {A}) == replace(FIRST, reruns=(again,))


HELD = (("adapter", None),)
BROKEN = (("adapter", "it broke"),)


@pytest.mark.parametrize(
    "again",
    [
        said(Outcome.FAILED, a=GOOD, b=BAD),  # another check fails
        said(a=GOOD, b=CheckStatus.WARNING),
        said(Outcome.FAILED, a=GOOD, b=GOOD, new=BAD),
        said(a=GOOD, b=GOOD, new=CheckStatus.WARNING),
        said(a=GOOD),  # `b` is missing
        said(a=GOOD, b=CheckStatus.SKIPPED),
        said(Outcome.FAILED, BROKEN, a=GOOD, b=GOOD),
        said(Outcome.FAILED, (*HELD, ("wire-schema", "no")), a=GOOD, b=GOOD),
        said(Outcome.FAILED, (*HELD, ("official-runner", "no")), a=GOOD, b=GOOD),
        said(Outcome.PASSED, (), a=GOOD, b=GOOD),  # the driver is silent
    ],
)
def test_a_rerun_in_which_something_else_is_bad_rescues_nothing(
    again: ScenarioResult,
) -> None:
    assert combined(FIRST, [again], {A}) == replace(FIRST, reruns=(again,))
    # A rerun that is no worse does; not one after it: there was such a launch.
    assert flaky_checks(combined(FIRST, [AGAIN], {A})) == (A,)
    assert flaky_checks(combined(FIRST, [again, AGAIN], {A})) == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (CheckStatus.WARNING, BAD),
        (CheckStatus.SKIPPED, BAD),
        (CheckStatus.SKIPPED, CheckStatus.WARNING),
    ],
)
def test_what_was_not_good_and_is_worse_now_counts_as_bad(
    before: CheckStatus, after: CheckStatus
) -> None:
    first = said(Outcome.FAILED, a=BAD, b=before)
    again = said(Outcome.FAILED, a=GOOD, b=after)

    assert combined(first, [again], {A}) == replace(first, reruns=(again,))


@pytest.mark.parametrize("order", [1, -1])
def test_of_repeats_the_worst_counts_as_bad(order: int) -> None:
    repeats = (make_check("b", BAD), make_check("b"))[::order]
    again = replace(said(Outcome.FAILED, a=GOOD), checks=(make_check("a"), *repeats))

    assert combined(FIRST, [again], {A}) == replace(FIRST, reruns=(again,))


def test_what_was_not_judged_at_first_was_not_bad() -> None:
    first = said(Outcome.UNSUPPORTED, a=BAD, b=BAD)
    again = said(Outcome.FAILED, a=GOOD, b=BAD)

    assert combined(first, [again], {A}) == replace(first, reruns=(again,))


def test_what_was_bad_at_first_may_be_so_again() -> None:
    first = said(Outcome.FAILED, BROKEN, a=BAD, known=BAD, w=CheckStatus.WARNING)
    again = said(Outcome.FAILED, BROKEN, a=GOOD, known=BAD, w=CheckStatus.WARNING)

    assert flaky_checks(combined(first, [again], {A})) == (A,)


def test_a_rerun_of_ours_in_which_another_check_fails_rescues_nothing() -> None:
    first = ours(mine=Outcome.FAILED, other=Outcome.PASSED)
    again = ours(mine=Outcome.PASSED, other=Outcome.FAILED)

    result = combined(first, [again], {("supplemental", "mine")})

    assert result == replace(first, reruns=(again,))


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("other", [BAD, CheckStatus.WARNING])
def test_a_check_passes_only_where_none_of_its_repeats_is_bad(
    other: CheckStatus, order: int
) -> None:
    repeats = (make_check("a", GOOD), make_check("a", other))[::order]
    again = replace(AGAIN, checks=(*repeats, make_check("b")))
    fine = replace(AGAIN, checks=(*AGAIN.checks, make_check("a", CheckStatus.SKIPPED)))

    assert combined(FIRST, [again], {A}) == replace(FIRST, reruns=(again,))
    assert combined(FIRST, [fine], {A}).outcome is Outcome.FLAKY
    # At first it did not pass either, and may be rescued.
    twice = replace(FIRST, checks=again.checks)
    assert combined(twice, [AGAIN], {A}).outcome is Outcome.FLAKY


def test_no_rerun_rescues_nothing() -> None:
    assert combined(FIRST, [], {A}) == FIRST


def test_either_of_two_reruns_will_do() -> None:
    result = combined(FIRST, [FIRST, AGAIN], {A})

    assert result.outcome is Outcome.FLAKY
    assert result.reruns == (FIRST, AGAIN)


@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.CRASHED])
def test_a_rerun_that_was_none_ends_the_rescue(outcome: Outcome) -> None:
    bad = said(outcome)

    assert combined(FIRST, [bad, AGAIN], {A}) == replace(FIRST, reruns=(bad, AGAIN))


def test_what_fails_by_turns_is_never_seen_to_hold() -> None:
    first = said(Outcome.FAILED, a=BAD, b=BAD)
    turns = [
        said(Outcome.FAILED, a=GOOD, b=BAD),
        said(Outcome.FAILED, a=BAD, b=GOOD),
    ]

    assert combined(first, turns, {A, B}).outcome is Outcome.FAILED
    whole = [turns[0], said(a=GOOD, b=GOOD)]
    assert combined(first, whole, {A, B}).outcome is Outcome.FLAKY


def test_what_is_known_to_fail_stays_as_it_was() -> None:
    first = said(Outcome.FAILED, a=BAD, known=BAD)

    result = combined(first, [said(a=GOOD, known=GOOD)], {A})

    assert outcomes_of(result) == {"a": Outcome.FLAKY, "known": None}
    assert result.checks[1] == first.checks[1]
    assert result.outcome is Outcome.FLAKY


def test_a_case_of_which_a_part_was_rescued_still_failed() -> None:
    first = said(Outcome.FAILED, a=BAD, b=BAD)

    result = combined(first, [said(Outcome.FAILED, a=GOOD, b=BAD)], {A, B})

    assert (result.outcome, result.reason) == (Outcome.FAILED, first.reason)
    assert outcomes_of(result) == {"a": Outcome.FLAKY, "b": None}


def test_where_nothing_was_unexpected_nothing_is_rescued() -> None:
    assert combined(FIRST, [AGAIN], frozenset()).outcome is Outcome.FAILED


def test_a_check_that_did_not_fail_is_not_rescued() -> None:
    assert combined(FIRST, [AGAIN], {B}).outcome is Outcome.FAILED


def test_a_check_that_was_missing_at_first_is_there_as_flaky() -> None:
    first = said(b=GOOD)

    result = combined(first, [said(b=GOOD), AGAIN], {A})

    assert outcomes_of(result) == {"b": None, "a": Outcome.FLAKY}
    assert result.checks[1].status is CheckStatus.SKIPPED
    assert "was not seen at first" in (result.checks[1].error or "")
    assert result.outcome is Outcome.FLAKY
    assert result.attribution is Attribution.SUBJECT


def test_a_pass_that_holds_a_flaky_check_is_no_pass() -> None:
    """`b` stays missing; `a` came back."""
    result = combined(said(), [said(a=GOOD)], {A, B})

    assert result.outcome is Outcome.FLAKY
    assert outcomes_of(result) == {"a": Outcome.FLAKY}


def test_what_was_unobserved_is_rescued_only_where_it_was_seen() -> None:
    """`c` said SUCCESS in silence, and no baseline asked for it."""
    first = said(Outcome.UNOBSERVED, a=GOOD, c=GOOD, d=CheckStatus.WARNING)

    result = combined(first, [AGAIN], {A})

    assert result.outcome is Outcome.FLAKY
    assert outcomes_of(result) == {
        "a": Outcome.FLAKY,
        "c": Outcome.UNOBSERVED,
        "d": None,
    }
    assert result.checks[1].status is CheckStatus.SKIPPED
    assert "it was unobserved" in (result.checks[0].error or "")


def test_what_was_not_asked_stays_unjudged_when_its_case_is_flaky() -> None:
    first = said(
        Outcome.UNSUPPORTED, (("adapter", "no"), ("wire-schema", None)), a=BAD, c=BAD
    )

    result = combined(first, [said(a=GOOD, c=GOOD)], {A})

    assert result.outcome is Outcome.FLAKY
    assert outcomes_of(result) == {"a": Outcome.FLAKY, "c": Outcome.UNSUPPORTED}
    assert result.checks[1].status is CheckStatus.SKIPPED
    assert result.harness_checks == ()


# What the harness says of a case


@pytest.mark.parametrize(
    ("name", "kind", "again"),
    [
        (ADAPTER, "adapter", (("adapter", None),)),
        (SCHEMA, "wire-schema", (("wire-schema", None),)),
        (RUNNER, "official-runner", ()),
    ],
)
def test_a_statement_of_the_harness_that_then_held_is_flaky(
    name: CheckName, kind: str, again: Sequence[tuple[str, str | None]]
) -> None:
    first = said(Outcome.FAILED, ((kind, "it broke"),), a=GOOD)

    result = combined(first, [said(Outcome.PASSED, again, a=GOOD)], {name})

    assert result.outcome is Outcome.FLAKY
    assert result.flaky_harness == (kind,)
    ((_, problem),) = result.harness_checks
    assert (problem or "").startswith("it broke; ")
    assert flaky_checks(result) == (("harness", kind),)


@pytest.mark.parametrize(
    ("name", "again"),
    [
        (SCHEMA, said(a=GOOD)),
        (SCHEMA, said(Outcome.PASSED, (("wire-schema", "again"),))),
        (SCHEMA, said(Outcome.UNOBSERVED, (("wire-schema", None),))),
        (ADAPTER, said(Outcome.PASSED, ())),
        (RUNNER, said(Outcome.FAILED, ())),
        (RUNNER, said(Outcome.UNOBSERVED, ())),
    ],
)
def test_a_statement_of_the_harness_is_not_rescued_by_silence(
    name: CheckName, again: ScenarioResult
) -> None:
    kinds = ("adapter", "wire-schema", "official-runner")
    first = said(Outcome.FAILED, [(kind, "it broke") for kind in kinds])

    assert combined(first, [again], {name}) == replace(first, reruns=(again,))


def test_a_statement_that_was_not_made_at_first_is_there_as_flaky() -> None:
    first = said(Outcome.UNOBSERVED, (("adapter", None),))
    again = said(Outcome.PASSED, (("adapter", None), ("wire-schema", None)))

    result = combined(first, [again], {SCHEMA})

    assert result.outcome is Outcome.FLAKY
    assert dict(result.harness_checks)["adapter"] is None
    assert "not seen at first" in (dict(result.harness_checks)["wire-schema"] or "")


# A variant is one check, and ours are judged one by one


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.UNOBSERVED])
def test_a_variant_is_flaky_as_a_whole(outcome: Outcome) -> None:
    name = ("supplemental", "auto_cimd")
    first, again = said(outcome, key=VARIANT, a=BAD), said(key=VARIANT, a=GOOD)

    assert combined(first, [again], {name}).outcome is Outcome.FLAKY
    assert flaky_checks(combined(first, [again], {name})) == (name,)
    # Its checks are in no report, so nobody can mean them, or miss them.
    fewer = said(Outcome.PASSED, (), VARIANT, b=CheckStatus.WARNING)
    assert combined(first, [fewer], {name}).outcome is Outcome.FLAKY
    assert combined(first, [again], {A}).outcome is outcome
    assert combined(first, [replace(first)], {name}).outcome is outcome


@pytest.mark.parametrize(
    ("first", "again", "flaky"),
    [
        (Outcome.FAILED, Outcome.PASSED, True),
        (Outcome.UNOBSERVED, Outcome.PASSED, True),
        (Outcome.UNSUPPORTED, Outcome.PASSED, True),
        (Outcome.NOT_APPLICABLE, Outcome.PASSED, True),
        (Outcome.FAILED, Outcome.UNOBSERVED, False),
        (Outcome.FAILED, Outcome.UNSUPPORTED, False),
    ],
)
def test_our_checks_are_rescued_each_by_its_own_outcome(
    first: Outcome, again: Outcome, flaky: bool
) -> None:
    name = ("supplemental", "mine")
    one = ours(mine=first, known=Outcome.FAILED)
    two = ours(mine=again, known=Outcome.UNOBSERVED)

    result = combined(one, [two], {name})

    assert (result.outcome is Outcome.FLAKY) is flaky
    assert (flaky_checks(result) == (name,)) is flaky
    assert result.checks[1] == one.checks[1]


@pytest.mark.parametrize("outcome", FINAL)
def test_a_rerun_that_broke_rescues_none_of_our_checks(outcome: Outcome) -> None:
    """A check of ours may have passed before another one broke."""
    first = ours(mine=Outcome.FAILED)
    again = replace(ours(mine=Outcome.PASSED), outcome=outcome)

    result = combined(first, [again], {("supplemental", "mine")})

    assert result == replace(first, reruns=(again,))


# In a report


def _reported(result: ScenarioResult) -> dict[str, Any]:
    case = make_case()
    catalogue = make_catalogue()
    built = report.build(
        make_record(catalogue, [case]),
        [case],
        {str(case.key): result},
        catalogue,
        make_end(),
    )
    report_schema.validate(built.value)
    assert built.verdict is Verdict.NOT_CONFORMANT
    return built.value


def test_a_flaky_check_is_reported_as_failing_and_says_that_it_is_flaky() -> None:
    first = said(Outcome.FAILED, (("adapter", "it broke"),), a=BAD, b=GOOD)
    (leg,) = _reported(combined(first, [AGAIN], {A, ADAPTER}))["cases"]

    told = {
        check["name"]: (check["status"], check.get("outcome"))
        for check in leg["checks"]
    }
    assert told == {
        "official/tools_call/A": ("FAIL", "flaky"),
        "official/tools_call/B": ("PASS", None),
        "harness/tools_call/command-adapter": ("FAIL", "flaky"),
    }
    (scenario,) = leg["scenarios"]
    assert scenario["outcome"] == "flaky"
    (again,) = scenario["reruns"]
    assert again["evidence"] == "reruns/1/cases/2025-11-25/tools_call"
    assert again["checks"]["official/tools_call/A"] == "PASS"


def test_no_first_silence_is_reported_as_a_pass_of_what_was_rescued() -> None:
    first = said(Outcome.UNOBSERVED, a=GOOD, c=GOOD)
    (leg,) = _reported(combined(first, [AGAIN], {A}))["cases"]

    told = {check["check_id"]: check["status"] for check in leg["checks"]}
    assert (told["a"], told["c"]) == ("FAIL", "SKIP")


def test_flaky_checks_of_a_plain_result_are_none() -> None:
    assert flaky_checks(AGAIN) == ()
    assert flaky_checks(replace(AGAIN, key=VARIANT)) == ()
