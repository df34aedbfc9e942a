"""
What running a case again can change, and what it cannot.

The first result stands. A check that was unexpectedly bad and passes when its case runs
again alone is *flaky*: it still fails, and says so. The rules:

* Only what was unexpected can become flaky. What is known to fail stays as it was.
* A case that crashed, timed out, was stopped, or broke the harness or the suite at
  first is never rescued: the reruns are kept to be read.
* A rerun that ended in one of these ways rescues nothing, nor does one in which the
  check is absent, skipped, or was not earned, or fails in one of its repeats.
* A rerun in which anything is worse than at first rescues nothing either: what is bad
  in it has to be among what was bad at first. Else a client that fails in another way
  at each launch would be flaky only.
* A case is flaky when everything unexpected in it was rescued, and there was something.
"""

from __future__ import annotations

from dataclasses import replace
from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias

from mcpconf.record import Attribution, CheckStatus, Outcome, ReportStatus, Source

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from mcpconf.record import Check, ScenarioResult

#: Source (``official``, ``harness``, ``supplemental``) and check id, as in identities.
CheckName: TypeAlias = tuple[str, str]

HARNESS = "harness"
#: Said of a case only when no other check explains why it did not pass.
_RUNNER = "official-runner"
#: Ends that say nothing of a check, and that a better end does not take back.
_FINAL = frozenset(
    {
        Outcome.CRASHED,
        Outcome.TIMED_OUT,
        Outcome.HARNESS_ERROR,
        Outcome.SUITE_DEFECT,
        Outcome.NOT_RUN,
    }
)
#: Outcomes under which a check that says SUCCESS was earned.
_EARNED = frozenset({Outcome.PASSED, Outcome.FAILED})
_AGAIN = "passed when run again alone"


class _Standing(IntEnum):
    """What a check or statement amounts to in one result, the worst last."""

    PASSES = 0
    #: Skipped, not earned, or absent.
    UNJUDGED = 1
    WARNS = 2
    FAILS = 3


def combined(
    first: ScenarioResult,
    again: Sequence[ScenarioResult],
    checks: AbstractSet[CheckName],
) -> ScenarioResult:
    """
    The first result of a case, with what its reruns showed of the unexpected `checks`.

    Pure. Rerun results are kept with it, whatever they showed.
    """
    kept = replace(first, reruns=tuple(again))
    names = rescued(first, again, checks)
    if not names:
        return kept
    marked = replace(
        kept,
        checks=_checks(first, again, names),
        harness_checks=_harness_checks(first, names),
        flaky_harness=tuple(sorted(_kinds(names))),
    )
    # A scenario that passed but for a check that was missing is no plain pass either.
    if names != checks and first.outcome is not Outcome.PASSED:
        return marked
    return _as_flaky(marked)


def rescued(
    first: ScenarioResult,
    again: Sequence[ScenarioResult],
    checks: AbstractSet[CheckName],
) -> frozenset[CheckName]:
    """
    Those of the unexpected `checks` that passed in one rerun, and not at first.

    They pass together: two checks that fail by turns are never seen to hold. A rerun in
    which anything is bad that was not at first, or that was no run, ends the rescue.
    """
    if any(each.outcome in _FINAL for each in (first, *again)):
        return frozenset()
    if any(_is_worse(each, first) for each in again):
        return frozenset()
    bad = sorted(name for name in checks if not _passes(first, name))
    shown = [frozenset(n for n in bad if _passes(each, n)) for each in again]
    return max(shown, key=len, default=frozenset())


def flaky_checks(result: ScenarioResult) -> tuple[CheckName, ...]:
    """The flaky checks of a combined result, sorted."""
    source = result.key.source.value
    if result.key.variant is not None:
        is_flaky = result.outcome is Outcome.FLAKY
        return ((Source.SUPPLEMENTAL.value, result.key.variant),) if is_flaky else ()
    names = {
        (source, check.check_id)
        for check in result.checks
        if check.outcome is Outcome.FLAKY
    }
    names |= {(HARNESS, kind) for kind in result.flaky_harness}
    return tuple(sorted(names))


def _passes(result: ScenarioResult, name: CheckName) -> bool:
    source, check_id = name
    if result.outcome in _FINAL:
        return False
    if result.key.variant is not None:  # the whole case is one check
        is_meant = name == (Source.SUPPLEMENTAL, result.key.variant)
        return is_meant and result.outcome is Outcome.PASSED
    if source == HARNESS:
        return _holds(result, _kind(check_id))
    if source != result.key.source.value:
        return False
    told = [
        _standing_of(result, each)
        for each in result.checks
        if each.check_id == check_id
    ]
    return _Standing.PASSES in told and max(told) <= _Standing.UNJUDGED


def _is_worse(again: ScenarioResult, first: ScenarioResult) -> bool:
    """Whether anything in `again` is bad, or missing, that was not so in `first`."""
    if first.key.variant is not None:  # it is one check, and has no other
        return False
    before, after = _standings(first), _standings(again)
    return any(
        after.get(name, _Standing.UNJUDGED) > before.get(name, _Standing.UNJUDGED)
        for name in before.keys() | after.keys()
    )


def _standings(result: ScenarioResult) -> dict[CheckName, _Standing]:
    """All that a report tells of a result; of repeats the worst."""
    told: dict[CheckName, _Standing] = {}
    is_quiet = result.outcome.report_status is ReportStatus.SKIP
    for kind, problem in result.harness_checks:
        standing = _Standing.PASSES if problem is None else _Standing.FAILS
        told[HARNESS, kind] = _Standing.UNJUDGED if is_quiet else standing
    for check in result.checks:
        name = result.key.source.value, check.check_id
        standing = _standing_of(result, check)
        told[name] = max(standing, told.get(name, standing))
    return told


def _standing_of(result: ScenarioResult, check: Check) -> _Standing:
    outcome = check.outcome or result.outcome
    if outcome.report_status is ReportStatus.SKIP:
        return _Standing.UNJUDGED
    if check.status is CheckStatus.FAILURE:
        return _Standing.FAILS
    if check.status is CheckStatus.WARNING:
        return _Standing.WARNS
    is_earned = check.status is CheckStatus.SUCCESS and outcome in _EARNED
    return _Standing.PASSES if is_earned else _Standing.UNJUDGED


def _holds(result: ScenarioResult, kind: str) -> bool:
    """Whether a statement of the harness was made and is true."""
    if result.outcome not in _EARNED:
        return False
    said = dict(result.harness_checks)
    if kind == _RUNNER and kind not in said:
        return result.outcome is Outcome.PASSED
    return kind in said and said[kind] is None


def _kind(check_id: str) -> str:
    """``harness/tools_call/codex-adapter`` is the statement ``adapter``."""
    label = check_id.rpartition("/")[2]
    return "adapter" if label.endswith("-adapter") else label


def _kinds(names: AbstractSet[CheckName]) -> set[str]:
    return {_kind(check_id) for source, check_id in names if source == HARNESS}


def _checks(
    first: ScenarioResult,
    again: Sequence[ScenarioResult],
    names: AbstractSet[CheckName],
) -> tuple[Check, ...]:
    """The first checks in order, the rescued marked, then those that came later."""
    source = first.key.source.value
    marked = [
        _flaky(first, check)
        if (source, check.check_id) in names
        else _standing(first, check)
        for check in first.checks
    ]
    seen = {check.check_id for check in first.checks}
    late = {
        check.check_id: check
        for each in reversed(again)  # the earliest is kept
        for check in each.checks
        if (source, check.check_id) in names
        and check.check_id not in seen
        and _passes(each, (source, check.check_id))
    }
    marked += [
        replace(
            late[check_id],
            status=CheckStatus.SKIPPED,
            outcome=Outcome.FLAKY,
            error=f"was not seen at first; {_AGAIN}",
        )
        for check_id in sorted(late)
    ]
    return tuple(marked)


def _flaky(first: ScenarioResult, check: Check) -> Check:
    # What reads SUCCESS here was not earned, for the reason that the scenario has.
    is_unearned = check.status is CheckStatus.SUCCESS
    said = first.reason if is_unearned else check.error or check.description
    return replace(check, outcome=Outcome.FLAKY, error=f"{said}; {_AGAIN}")


def _standing(first: ScenarioResult, check: Check) -> Check:
    """A check of the suite that its scenario's first end left unjudged stays so."""
    is_unearned = first.outcome.report_status is ReportStatus.SKIP or (
        first.outcome is Outcome.UNOBSERVED and check.status is CheckStatus.SUCCESS
    )
    if check.outcome is not None or not is_unearned:
        return check
    return replace(check, status=CheckStatus.SKIPPED, outcome=first.outcome)


def _harness_checks(
    first: ScenarioResult, names: AbstractSet[CheckName]
) -> tuple[tuple[str, str | None], ...]:
    """What the harness said at first; all that was rescued has a problem."""
    kinds = _kinds(names)
    is_quiet = first.outcome.report_status is ReportStatus.SKIP
    said = [
        (kind, f"{problem or first.reason}; {_AGAIN}" if kind in kinds else problem)
        for kind, problem in first.harness_checks
        if kind in kinds or not is_quiet  # it was not judged
    ]
    late = kinds - {kind for kind, _ in said}
    return (
        *said,
        *((kind, f"was not seen at first; {_AGAIN}") for kind in sorted(late)),
    )


def _as_flaky(result: ScenarioResult) -> ScenarioResult:
    said = result.reason
    if result.outcome is Outcome.PASSED:
        said = "a check that was expected was not seen"
    return replace(
        result,
        outcome=Outcome.FLAKY,
        # Nobody else's: what is the harness's or the suite's doing is not rescued.
        attribution=Attribution.SUBJECT,
        reason=f"{said}; what was unexpected {_AGAIN}",
    )
