"""
What a check of ours found becomes an outcome, and those of a scenario become one.

The same for checks of a client and of a server; what they look at is their own affair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.record import (
    Attribution,
    Check,
    CheckStatus,
    Outcome,
    ScenarioResult,
    WarningPolicy,
)
from mcpconf.supplemental.finding import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from mcpconf.record import CaseKey, Policy
    from mcpconf.supplemental.finding import Finding

_OUTCOMES = {
    Kind.HOLDS: Outcome.PASSED,
    Kind.BROKEN: Outcome.FAILED,
    Kind.UNOBSERVED: Outcome.UNOBSERVED,
    Kind.UNSUPPORTED: Outcome.UNSUPPORTED,
    Kind.NOT_APPLICABLE: Outcome.NOT_APPLICABLE,
}
#: Worst first: what a scenario amounts to when its checks differ.
_ORDER = (
    Outcome.HARNESS_ERROR,
    Outcome.NOT_RUN,
    Outcome.CRASHED,
    Outcome.TIMED_OUT,
    Outcome.FAILED,
    Outcome.UNOBSERVED,
    Outcome.PASSED,
    Outcome.UNSUPPORTED,
    Outcome.NOT_APPLICABLE,
)
_SKIPPED = frozenset({Outcome.UNSUPPORTED, Outcome.NOT_APPLICABLE, Outcome.NOT_RUN})


@dataclass(frozen=True, slots=True)
class Ruling:
    """What is decided of one check, or of all of a case."""

    outcome: Outcome
    attribution: Attribution | None
    reason: str


def ruling_of(finding: Finding) -> Ruling:
    """What a finding amounts to; whatever is bad is the subject's doing."""
    outcome = _OUTCOMES[finding.kind]
    is_quiet = outcome is Outcome.PASSED or outcome in _SKIPPED
    return Ruling(outcome, None if is_quiet else Attribution.SUBJECT, finding.detail)


def checked(
    check_id: str,
    ruling: Ruling,
    *,
    demand: str,
    level: str,
    page: str,
    warns: Collection[Outcome],
) -> Check:
    """
    One check, decided.

    `demand` is what is asked for, in our words, `level` how strongly, `page` by which
    page. `warns` are the outcomes that are no more than a warning at that level.
    """
    if ruling.outcome is Outcome.PASSED:
        status = CheckStatus.SUCCESS
    elif ruling.outcome in _SKIPPED:
        status = CheckStatus.SKIPPED
    elif ruling.outcome in warns:
        status = CheckStatus.WARNING
    else:
        status = CheckStatus.FAILURE
    is_good = status is CheckStatus.SUCCESS
    return Check(
        check_id=check_id,
        name=check_id,
        status=status,
        description=ruling.reason if is_good else demand,
        error=None if is_good else ruling.reason,
        pages=(page,),
        outcome=ruling.outcome,
        attribution=ruling.attribution,
        demand=demand,
        level=level,
    )


def summed_up(key: CaseKey, checks: Sequence[Check], policy: Policy) -> ScenarioResult:
    """The scenario as a whole: its worst check, and how many there are like it."""

    def weight(check: Check) -> int:
        forgiven = (
            check.status is CheckStatus.WARNING
            and policy.warnings is WarningPolicy.WARN
        )
        outcome = Outcome.PASSED if forgiven else check.outcome
        return _ORDER.index(outcome or Outcome.HARNESS_ERROR)

    worst = min(checks, key=weight)
    outcome = _ORDER[weight(worst)]
    passed = outcome is Outcome.PASSED
    others = sum(check.outcome is outcome for check in checks) - 1
    more = f" (and {others} more)" if others else ""
    reason = f"{worst.check_id}: {worst.error}{more}"
    if len({check.error for check in checks}) == 1:  # it is about none in particular
        reason = worst.error or reason
    return ScenarioResult(
        key=key,
        outcome=outcome,
        attribution=None if passed else worst.attribution,
        reason="passed" if passed else reason,
        checks=tuple(checks),
    )
