"""
What a report has that a baseline does not expect, check by check; pure.

For a reviewer: nothing is decided here. Only what was run is compared, so that a run of
one revision does not make every other one missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpconf.baseline.entry import CheckState
from mcpconf.baseline.legs import legs_of
from mcpconf.errors import UsageError
from mcpconf.identity import OFFICIAL_HTTP, CheckIdentity, Leg
from mcpconf.record import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpconf.baseline.entry import Baseline, ExpectedFailure
    from mcpconf.observed import ObservedCheck, ObservedRun

#: Stands for the check where a whole scenario is meant.
WHOLE_SCENARIO = "(whole scenario)"
#: What stands for a side that has no such check.
ABSENT = "-"
_RED = frozenset({CheckState.FAIL, CheckState.WARNING})


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """One check that is not as the baseline has it."""

    #: Its check id is `WHOLE_SCENARIO` where the client does not do a scenario at all.
    identity: CheckIdentity
    #: ``FAIL (failed)``: state and outcome; ``unsupported``; `ABSENT`.
    before: str
    after: str
    #: Why the baseline expects it, where it says.
    reason: str | None
    #: What the report says of it.
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineDiff:
    """Every difference, in groups; each sorted by identity."""

    #: Fails or warns, and is not expected to.
    new: tuple[DiffRow, ...]
    #: Is expected to fail or to warn, and passes.
    fixed: tuple[DiffRow, ...]
    #: Is expected, and was not seen to pass, to fail or to warn.
    missing: tuple[DiffRow, ...]
    #: Is expected to fail, and fails in another way.
    changed: tuple[DiffRow, ...]
    #: Passes, and is in no list yet.
    added: tuple[DiffRow, ...]
    #: Legs that only one side has.
    not_compared: tuple[str, ...]
    #: Client, suite or modes that differ, so that differences may mean little.
    caveats: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        """Whether both sides say the same, where they can be compared."""
        return not (
            self.new or self.fixed or self.missing or self.changed or self.added
        )


@dataclass(slots=True)
class _Groups:
    """Rows on their way into a `BaselineDiff`."""

    new: list[DiffRow] = field(default_factory=list)
    fixed: list[DiffRow] = field(default_factory=list)
    missing: list[DiffRow] = field(default_factory=list)
    changed: list[DiffRow] = field(default_factory=list)
    added: list[DiffRow] = field(default_factory=list)


def diff(baseline: Baseline, run: ObservedRun) -> BaselineDiff:
    """
    How a report differs from a baseline.

    :raises UsageError: one is of a client, the other of a server.
    """
    mine, theirs = baseline.scope.role, run.scope.role
    if mine is not theirs:
        raise UsageError(f"the baseline is of a {mine}, the report of a {theirs}")
    groups = _Groups()
    compared = _Compared.of(baseline, run)
    identities = {*baseline.passing, *baseline.failing, *run.checks}
    for identity in sorted(identities):
        if compared.has(identity.leg, identity.scenario):
            _sort_in(groups, baseline, run, identity)
    _unsupported(groups, baseline, run, compared)
    return BaselineDiff(
        new=_sorted(groups.new),
        fixed=_sorted(groups.fixed),
        missing=_sorted(groups.missing),
        changed=_sorted(groups.changed),
        added=_sorted(groups.added),
        not_compared=compared.left_out,
        caveats=tuple(_caveats(baseline, run)),
    )


def _caveats(baseline: Baseline, run: ObservedRun) -> Iterator[str]:
    modes = {True: "strict", False: "assisted"}
    is_first = baseline.version == 1
    for what, mine, theirs in (
        (baseline.scope.role.value, baseline.client or run.client, run.client),
        ("suite", baseline.suite.git_ref, run.suite.git_ref),
        ("authorization", modes[baseline.strict_auth], modes[run.strict_auth]),
        (
            "revision policy",
            run.revision_policy if is_first else baseline.revision_policy,
            run.revision_policy,
        ),
    ):
        if mine != theirs:
            yield f"{what}: the baseline's is {mine}, the report's {theirs}"
    if not run.is_complete:
        yield "the report is of a run that did not end"


def _sorted(rows: list[DiffRow]) -> tuple[DiffRow, ...]:
    return tuple(sorted(rows, key=lambda row: row.identity))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Compared:
    """Which legs, and which scenarios in them, both sides are about."""

    legs: frozenset[Leg]
    left_out: tuple[str, ...]
    #: Scenarios that were run; None where every one of a leg was.
    scenarios: frozenset[tuple[Leg, str]] | None

    @classmethod
    def of(cls, baseline: Baseline, run: ObservedRun) -> _Compared:
        mine, theirs = (legs_of(each) for each in (baseline.scope, run.scope))
        is_part = (
            run.selected
            or run.shard is not None
            or run.scope.authentication is not baseline.scope.authentication
        )
        ran = frozenset((each.leg, each.scenario) for each in run.cases)
        return cls(
            legs=mine & theirs,
            left_out=(
                *(f"{leg}: only in the baseline" for leg in sorted(mine - theirs)),
                *(f"{leg}: only in the report" for leg in sorted(theirs - mine)),
            ),
            scenarios=ran if is_part else None,
        )

    def has(self, leg: Leg, scenario: str) -> bool:
        return leg in self.legs and (
            self.scenarios is None or (leg, scenario) in self.scenarios
        )


def _sort_in(
    groups: _Groups, baseline: Baseline, run: ObservedRun, identity: CheckIdentity
) -> None:
    expected = baseline.failing.get(identity)
    passes = identity in baseline.passing
    seen = run.checks.get(identity)
    after = seen.worst if seen is not None else CheckState.SKIP
    before = ABSENT
    if expected is not None:
        before = _state(expected.state, expected.outcome)
    elif passes:
        before = CheckState.PASS.value
    explanation = expected.explanation if expected is not None else None
    row = DiffRow(
        identity=identity,
        before=before,
        after=ABSENT if seen is None else _seen(seen),
        reason=explanation.reason if explanation is not None else None,
        detail="not in the report" if seen is None else seen.detail,
    )
    if expected is None and after in _RED:
        groups.new.append(row)
    elif expected is None and after is CheckState.PASS:
        groups.added.extend([] if passes else [row])
    elif expected is None:
        groups.missing.extend([row] if passes else [])
    elif after is CheckState.PASS:
        groups.fixed.append(row)
    elif after is CheckState.SKIP:
        groups.missing.append(row)
    elif seen is not None and _is_changed(expected, seen, baseline.version):
        groups.changed.append(row)


def _state(state: CheckState, outcome: str) -> str:
    return f"{state.value} ({outcome})"


def _seen(check: ObservedCheck) -> str:
    worst = check.worst
    return _state(worst, check.outcome) if worst in _RED else worst.value


def _is_changed(expected: ExpectedFailure, seen: ObservedCheck, version: int) -> bool:
    # Version 1 has one word for failing and warning, and none for how.
    if version == 1:
        return seen.outcome not in {Outcome.FAILED, Outcome.PASSED}
    return (expected.state, expected.outcome) != (seen.worst, seen.outcome)


def _unsupported(
    groups: _Groups, baseline: Baseline, run: ObservedRun, compared: _Compared
) -> None:
    """Scenarios of the suite that a client does not do at all."""
    expected = {(each.leg, each.scenario): each for each in baseline.unsupported}
    ran = {
        (each.leg, each.scenario): each
        for each in run.cases
        if each.leg.transport == OFFICIAL_HTTP and each.is_scored
    }
    for leg, scenario in sorted({*expected, *ran}):
        if not compared.has(leg, scenario):
            continue
        entry, case = expected.get((leg, scenario)), ran.get((leg, scenario))
        is_so = case is not None and case.outcome == Outcome.UNSUPPORTED
        if is_so is (entry is not None):
            continue
        row = DiffRow(
            identity=CheckIdentity(
                leg.revision, leg.transport, "official", scenario, WHOLE_SCENARIO
            ),
            before=ABSENT if entry is None else Outcome.UNSUPPORTED.value,
            after=ABSENT if case is None else case.outcome,
            reason=entry.explanation.reason if entry is not None else None,
            detail="not in the report" if case is None else case.reason,
        )
        if entry is None:
            groups.new.append(row)
        elif case is None:
            groups.missing.append(row)
        else:
            is_fixed = case.outcome == Outcome.PASSED
            (groups.fixed if is_fixed else groups.changed).append(row)
