"""
The rules that hold for a client and for a server: what the suite's checks amount to.

Each is a pure function of what it is given, and says what it found, or None. The order
in which they are tried is the judges' affair.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.process import EndKind
from mcpconf.record import (
    Attribution,
    CheckStatus,
    Outcome,
    RevisionPolicy,
    WarningPolicy,
)
from mcpconf.revision import era_of
from mcpconf.suite.defect import known_defect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.process import Ended
    from mcpconf.record import Check, Policy
    from mcpconf.revision import Revision
    from mcpconf.suite.catalogue import ScenarioEntry
    from mcpconf.wire import WireLog

#: The statement that a check of the catalogue said SUCCESS.
REQUIRED_CHECK = "required-check"
#: The suite ends with 0 (green) or 1 (red); anything else is a crash of its own.
_SUITE_EXITS = (0, 1)
#: Kept of a check's text in a reason: some are a page of JSON.
_MOST = 500


@dataclass(frozen=True, slots=True)
class Finding:
    """What one rule says of a case."""

    outcome: Outcome
    attribution: Attribution | None
    #: One sentence a reader can act on.
    reason: str


def suite_crashed(ended: Ended) -> Finding | None:
    """The suite ended in a way that it never ends by itself."""
    if ended.kind is not EndKind.SIGNALLED and ended.exit_code in _SUITE_EXITS:
        return None
    problem = f"the suite crashed ({ended.signal or f'exit {ended.exit_code}'})"
    return Finding(Outcome.HARNESS_ERROR, Attribution.SUITE, problem)


def foreign_revision(
    agreed: Sequence[str], revision: Revision, policy: Policy
) -> Finding | None:
    """A revision was agreed that the policy does not count for this leg."""
    foreign = [each for each in agreed if era_of(each) is not revision.era]
    if foreign:
        problem = f"{', '.join(foreign)} was agreed, of another era"
        return Finding(Outcome.UNSUPPORTED, Attribution.SUBJECT, problem)
    others = [each for each in agreed if each != revision.value]
    if others and policy.revision is RevisionPolicy.EXACT:
        problem = f"{', '.join(others)} was agreed, not {revision.value}"
        return Finding(Outcome.UNSUPPORTED, Attribution.SUBJECT, problem)
    return None


def is_failing(check: Check, policy: Policy) -> bool:
    """Whether one check counts against the scenario under the warning policy."""
    return check.status is CheckStatus.FAILURE or (
        check.status is CheckStatus.WARNING and policy.warnings is WarningPolicy.FAIL
    )


def check_failed(
    scenario: str, checks: Sequence[Check], policy: Policy
) -> Finding | None:
    """A check counts against the scenario, or upstream is known to be wrong in it."""
    failing = [check for check in checks if is_failing(check, policy)]
    if not failing:
        return None
    first = failing[0]
    defects = [known_defect(scenario, check) for check in failing]
    if all(defects):
        problem = f"{first.check_id}: {defects[0]}"
        return Finding(Outcome.SUITE_DEFECT, Attribution.SUITE, problem)
    more = f" (and {len(failing) - 1} more)" if len(failing) > 1 else ""
    problem = f"{first.check_id}: {_line(first.error or first.description)}{more}"
    return Finding(Outcome.FAILED, Attribution.SUBJECT, problem)


def _line(text: str) -> str:
    """One line that a reader can take in; the check itself has the whole text."""
    return textwrap.shorten(text, _MOST, placeholder=" […]")


def nothing_required(entry: ScenarioEntry, checks: Sequence[Check]) -> Finding | None:
    """No check said SUCCESS that doing nothing does not earn."""
    succeeded = {
        check.check_id for check in checks if check.status is CheckStatus.SUCCESS
    }
    if succeeded & entry.required:
        return None
    problem = "no required check said SUCCESS"
    return Finding(Outcome.UNOBSERVED, Attribution.SUBJECT, problem)


def untold_requirement(entry: ScenarioEntry, checks: Sequence[Check]) -> str | None:
    """
    The same as a statement, where no check says it.

    A required check that fails says so itself: known, it must not hide the others.
    """
    is_told = any(
        check.status is CheckStatus.FAILURE and check.check_id in entry.required
        for check in checks
    )
    untold = None if is_told else nothing_required(entry, checks)
    return None if untold is None else untold.reason


def cut_short(log: WireLog) -> Finding | None:
    """What must not be on the wire may be in the part that is missing."""
    if not log.truncated:
        return None
    problem = "the wire log stops short, so nothing can be said to be absent from it"
    return Finding(Outcome.HARNESS_ERROR, Attribution.HARNESS, problem)


def leftovers_of(ended: Ended) -> tuple[str, ...]:
    """Who had to be killed, and who could not be."""
    names = tuple(each.name for each in ended.leftovers)
    survived = ended.error if ended.kind is not EndKind.FAILED_TO_START else None
    return (*names, survived) if survived else names
