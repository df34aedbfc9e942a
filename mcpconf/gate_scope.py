"""
Which part of a baseline one run can be held to, and what is left out.

A run of a part (one revision, one transport, some scenarios, a shard) is compared in
that part alone. What the run claims to hold decides, not what is found in it: a
scenario that is gone is missing, and no part.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpconf.baseline.legs import legs_of
from mcpconf.identity import OFFICIAL_HTTP, Leg, variant_of
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from mcpconf.baseline.entry import Baseline
    from mcpconf.identity import CheckIdentity
    from mcpconf.observed import ObservedRun, ObservedScenario
    from mcpconf.suite.catalogue import Catalogue

#: Leg, scenario and variant: what one case is.
CaseName = tuple[Leg, str, "str | None"]


def case_of(identity: CheckIdentity) -> CaseName:
    """The case a check is made in; a variant is one supplemental check of the suite."""
    variant = variant_of(identity.transport, identity.source, identity.check_id)
    return identity.leg, identity.scenario, variant


def name_of(scenario: ObservedScenario) -> CaseName:
    """The name of one case of a report."""
    return scenario.leg, scenario.scenario, scenario.variant


@dataclass(slots=True)
class Comparison:
    """What of a baseline and a run is held against each other."""

    baseline: Baseline
    run: ObservedRun
    catalogue: Catalogue
    held: frozenset[Leg] = field(init=False)
    claimed: frozenset[Leg] = field(init=False)
    _present: frozenset[CaseName] = field(init=False)
    _known: dict[tuple[str, str, str, str | None], bool] = field(init=False)

    def __post_init__(self) -> None:
        self.held = legs_of(self.baseline.scope)
        self.claimed = legs_of(self.run.scope)
        self._present = frozenset(map(name_of, self.run.cases))
        self._known = {}

    def covers(self, identity: CheckIdentity) -> bool:
        """Whether both sides are asked about one check."""
        variant = variant_of(identity.transport, identity.source, identity.check_id)
        key = (identity.transport, identity.revision, identity.scenario, variant)
        known = self._known.get(key)
        if known is None:
            name = (identity.leg, identity.scenario, variant)
            known = self._known[key] = self.covers_case(name)
        return known

    def covers_case(self, name: CaseName) -> bool:
        """Whether both sides are asked about one case."""
        leg, scenario, _ = name
        if leg not in self.held or leg not in self.claimed:
            return False
        if self.run.selected and scenario not in self.run.selected:
            return False
        if self.run.shard is not None and name not in self._present:
            return False
        return self._has_authentication or not self._is_auth(leg, scenario)

    @property
    def _has_authentication(self) -> bool:
        return self.baseline.scope.authentication and self.run.scope.authentication

    def _is_auth(self, leg: Leg, scenario: str) -> bool:
        if leg.transport != OFFICIAL_HTTP:
            return False
        entry = self.catalogue.entry(Revision(leg.revision), scenario)
        return entry is not None and entry.auth

    @property
    def is_whole(self) -> bool:
        """Whether what was asked for is what the baseline holds: no less, no more."""
        return not (
            self.held ^ self.claimed
            or self.run.selected
            or self.run.shard
            or self._lacks_authentication
        )

    @property
    def _lacks_authentication(self) -> bool:
        is_held = any(leg.transport == OFFICIAL_HTTP for leg in self.held)
        wanted = is_held and self.baseline.scope.authentication
        return wanted and not self.run.scope.authentication

    @property
    def not_compared(self) -> tuple[str, ...]:
        """What of the baseline was not run, and what of the run no baseline holds."""
        lines = [f"{leg}: was not run" for leg in sorted(self.held - self.claimed)]
        if self._lacks_authentication:
            lines.append("official scenarios with authorization: were not run")
        if self.run.selected:
            names = ", ".join(self.run.selected)
            lines.append(f"all scenarios but {names}: were not run")
        if self.run.shard is not None:
            index, of = self.run.shard
            lines.append(f"all shards but {index} of {of}: were not run")
        lines += [
            f"{leg}: the baseline does not hold it"
            for leg in sorted(self.claimed - self.held)
        ]
        runs_auth = OFFICIAL_HTTP in self.run.scope.labels
        if (
            runs_auth
            and self.run.scope.authentication
            and not self.baseline.scope.authentication
        ):
            lines.append(
                "official scenarios with authorization: the baseline holds none"
            )
        apart = sum(not each.counts for each in self.run.cases)
        if apart:
            lines.append(f"{apart} results that the suite does not count")
        return tuple(lines)
