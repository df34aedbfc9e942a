"""
What must hold between the entries of a baseline, whichever version it is.

Each function takes what was read and adds what is wrong; nothing is raised here.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from mcpconf.baseline.entry import CheckPolicy, CheckState
from mcpconf.baseline.legs import legs_of
from mcpconf.identity import OFFICIAL_HTTP, CheckIdentity, Leg

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpconf.baseline.entry import Scope, WarningRules
    from mcpconf.baseline.known import KnownChecks
    from mcpconf.baseline.problem import Problems

    #: An identity, and where the file names it.
    Placed = tuple[str, CheckIdentity]
    #: Leg, source and scenario of a check.
    Place = tuple[Leg, str, str]

#: Scenarios that a message names before it counts.
_NAMED = 5


def unique(problems: Problems, placed: Iterable[Placed]) -> frozenset[CheckIdentity]:
    """The identities of one list, which may hold each once."""
    first: dict[CheckIdentity, str] = {}
    for where, identity in placed:
        if identity in first:
            problems.add(where, f"{identity} is listed already, at {first[identity]}")
        else:
            first[identity] = where
    return frozenset(first)


def places_of(placed: Iterable[Placed]) -> frozenset[Place]:
    """Where the identities are, each place once: they are far fewer than checks."""
    raw = {
        (each.transport, each.revision, each.source, each.scenario)
        for _, each in placed
    }
    return frozenset(
        (Leg(transport, revision), source, scenario)
        for transport, revision, source, scenario in raw
    )


def possible(
    problems: Problems,
    placed: Iterable[Placed],
    known: KnownChecks,
    scope: Scope,
    scenarios: Mapping[str, Sequence[str]],
) -> None:
    """Every entry names a check that a run of this scope can have."""
    found: dict[tuple[str, ...], str | None] = {}
    for where, identity in placed:
        place = (
            identity.transport,
            identity.revision,
            identity.source,
            identity.scenario,
        )
        if place not in found:
            found[place] = _misplaced(identity, known, scope, scenarios)
        problem = found[place]
        if problem is None:
            problem = known.problem(identity)
        if problem is not None:
            problems.add(where, problem)


def _misplaced(
    identity: CheckIdentity,
    known: KnownChecks,
    scope: Scope,
    scenarios: Mapping[str, Sequence[str]],
) -> str | None:
    leg, source, scenario = identity.leg, identity.source, identity.scenario
    problem = outside(leg, scope) or known.scenario_problem(leg, scenario, source)
    if problem is None and is_suites(leg, source):
        problem = not_listed(leg.revision, scenario, scenarios)
    return problem


def is_suites(leg: Leg, source: str) -> bool:
    """Whether checks are of a scenario of the suite, and not of a variant of one."""
    return leg.transport == OFFICIAL_HTTP and source != "supplemental"


def outside(leg: Leg, scope: Scope) -> str | None:
    """Why a leg is none of a scope's; None where it is one."""
    if leg in legs_of(scope):
        return None
    legs = f"{' and '.join(scope.labels)} at {', '.join(scope.revisions)}"
    return f"the leg {leg} is outside of the baseline's scope ({legs})"


def not_listed(
    revision: str, scenario: str, scenarios: Mapping[str, Sequence[str]]
) -> str | None:
    """Why a scenario of the suite is none of a baseline's; None where it is one."""
    if scenario in scenarios.get(revision, ()):
        return None
    return f"the baseline's scope does not have the scenario {scenario!r} at {revision}"


def whole(
    problems: Problems,
    places: Iterable[Place],
    unsupported: Iterable[tuple[Leg, str]],
    scope: Scope,
    scenarios: Mapping[str, Sequence[str]],
) -> None:
    """Every leg has a check, and so has every scored scenario of the suite."""
    seen: defaultdict[Leg, set[str]] = defaultdict(set)
    for leg, source, scenario in places:
        if leg.transport != OFFICIAL_HTTP or is_suites(leg, source):
            seen[leg].add(scenario)
    for leg, scenario in unsupported:
        seen[leg].add(scenario)
    for leg in sorted(legs_of(scope), key=lambda each: (each.revision, each.transport)):
        if not seen[leg]:
            problems.add("checks", f"the leg {leg} has no check")
            continue
        is_official = leg.transport == OFFICIAL_HTTP
        wanted = scenarios.get(leg.revision, ()) if is_official else ()
        missing = [each for each in wanted if each not in seen[leg]]
        if missing:
            problems.add(
                "checks",
                f"{leg} has no check of {_names(missing)}; extract the baseline"
                " from a whole run",
            )


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def is_shipping_failure(
    identity: CheckIdentity,
    state: CheckState,
    shipping: Sequence[str],
    warnings: WarningRules,
) -> bool:
    """Whether a check that may not fail, since its revision ships, does."""
    is_red = state is CheckState.FAIL or (
        state is CheckState.WARNING and warnings.of(identity) is CheckPolicy.FAIL
    )
    return (
        is_suites(identity.leg, identity.source)
        and is_red
        and identity.revision in shipping
    )


def green_where_shipping(
    problems: Problems,
    failing: Iterable[tuple[str, CheckIdentity, CheckState]],
    shipping: Sequence[str],
    warnings: WarningRules,
) -> None:
    """What ships is green: no baseline excuses a failure of it."""
    for where, identity, state in failing:
        if is_shipping_failure(identity, state, shipping, warnings):
            problems.add(
                where,
                f"{identity.ref} fails at {identity.revision}, which ships and must be"
                " green; mend it, or take the revision out of shipping",
            )
