"""
Which checks there are: the suite's, ours, the harness's, and those of variants.

A baseline may only name what a run can say. Whatever else it names is a typing error,
or a check that is gone, and would silently excuse nothing for ever.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpconf import ours
from mcpconf.client.manifest import COMMAND, MANIFESTS, SERVER, Manifest
from mcpconf.identity import HTTP, LABELS, OFFICIAL_HTTP, STDIO, CheckIdentity, Leg
from mcpconf.record import CaseKey, Role, Source
from mcpconf.revision import Revision
from mcpconf.suite.rejection import REJECTIONS, is_to_let_in
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from mcpconf.plan import Variant
    from mcpconf.suite.catalogue import Catalogue

#: The package that the catalogues are of.
SUITE_PACKAGE = "@modelcontextprotocol/conformance"
#: What the harness says of every scenario of the suite.
_OF_THE_SUITES = {
    Role.CLIENT: (
        "wire-schema",
        "required-check",
        "revision-named",
        "official-runner",
    ),
    Role.SERVER: ("required-check", "official-runner"),
}
_TRANSPORTS = {STDIO: Transport.STDIO, HTTP: Transport.HTTP}


def pinned_git_ref(catalogue: Catalogue) -> str:
    """How a report names the suite that a catalogue was made of."""
    return f"npm:{SUITE_PACKAGE}@{catalogue.suite_version}"


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """An ending for a sentence: the nearest name, or nothing."""
    alike = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean {alike[0]}?" if alike else ""


def known_checks(
    catalogue: Catalogue,
    leg: Leg,
    scenario: str,
    source: str,
    *,
    client: str | None = None,
) -> frozenset[str]:
    """
    The check ids that a report can have of one scenario in one leg; empty: none.

    `client` is a manifest's name; None, as in version 1, stands for any client.
    """
    if leg.transport == OFFICIAL_HTTP:
        return _official_checks(catalogue, leg, scenario, source, client)
    role = catalogue.role
    case = ours.planned(role, _key(leg, scenario))
    if case is None or source == "official":
        return frozenset()
    if source == "supplemental":
        return frozenset(check.id for check in case.checks)
    label = "wire-schema" if role is Role.CLIENT else "probe"
    return _harness(role, scenario, client, label)


def _official_checks(
    catalogue: Catalogue, leg: Leg, scenario: str, source: str, client: str | None
) -> frozenset[str]:
    entry = catalogue.entry(Revision(leg.revision), scenario)
    if source == "supplemental":
        named = _variants(catalogue.role, client, leg, scenario)
        return frozenset(each.name for each in named)
    if entry is None or entry.not_scored is not None:
        return frozenset()
    if source == "official":
        return frozenset(entry.checks)
    labels = list(_OF_THE_SUITES[catalogue.role])
    rejection = REJECTIONS.get(scenario)
    if rejection is not None:
        labels += ["refusal-reached"]
        labels += ["expected-refusal"] if rejection.forbidden else []
    labels += ["authorization-used"] if is_to_let_in(entry) else []
    return _harness(catalogue.role, scenario, client, *labels)


def _key(leg: Leg, scenario: str) -> CaseKey:
    return CaseKey(
        revision=Revision(leg.revision),
        scenario=scenario,
        source=Source.SUPPLEMENTAL,
        transport=_TRANSPORTS[leg.transport],
    )


def _manifests(role: Role, client: str | None) -> tuple[Manifest, ...]:
    if role is Role.SERVER:
        return (SERVER,)
    if client is None:
        return (COMMAND, *MANIFESTS.values())
    return (MANIFESTS.get(client, COMMAND),)


def _variants(role: Role, client: str | None, leg: Leg, scenario: str) -> list[Variant]:
    return [
        variant
        for manifest in _manifests(role, client)
        for variant in manifest.variants
        if (variant.revision.value, variant.scenario) == (leg.revision, scenario)
    ]


def _harness(
    role: Role, scenario: str, client: str | None, *labels: str
) -> frozenset[str]:
    drivers = _manifests(role, client) if role is Role.CLIENT else ()
    every = (*labels, *(each.adapter_check for each in drivers))
    return frozenset(f"harness/{scenario}/{label}" for label in every)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownChecks:
    """Judges identities against one catalogue and one client."""

    catalogue: Catalogue
    #: None: any client.
    client: str | None
    #: Of `LABELS`: whose scenarios and check ids are judged at all.
    transports: Collection[str] = LABELS
    #: A baseline has many checks of each scenario.
    _found: dict[tuple[str, ...], frozenset[str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def problem(self, identity: CheckIdentity) -> str | None:
        """Why no run can have this check; None where one can."""
        if identity.transport not in self.transports:
            return None
        # No `Leg` here: there may be a hundred thousand identities.
        scenario, source = identity.scenario, identity.source
        key = (identity.transport, identity.revision, source, scenario)
        if key not in self._found:
            self._found[key] = known_checks(
                self.catalogue, identity.leg, scenario, source, client=self.client
            )
        ids = self._found[key]
        if identity.check_id in ids:
            return None
        problem = self.scenario_problem(identity.leg, scenario, source)
        if problem is not None:
            return problem
        hint = did_you_mean(identity.check_id, ids)
        return f"{scenario!r} has no {source} check {identity.check_id!r} here{hint}"

    def scenario_problem(self, leg: Leg, scenario: str, source: str) -> str | None:
        """Why no run has this scenario in this leg; None where one has."""
        if leg.transport not in self.transports:
            return None
        if leg.transport == OFFICIAL_HTTP:
            return self._official_problem(leg, scenario)
        if source == "official":
            return f"the suite's scenarios run over {OFFICIAL_HTTP}, never {leg}"
        role = self.catalogue.role
        if scenario not in ours.scenarios(role):
            hint = did_you_mean(scenario, ours.scenarios(role))
            return f"no scenario of ours is called {scenario!r}{hint}"
        if ours.planned(role, _key(leg, scenario)) is None:
            return f"the scenario {scenario!r} does not run in the leg {leg}"
        return None

    def _official_problem(self, leg: Leg, scenario: str) -> str | None:
        entry = self.catalogue.entry(Revision(leg.revision), scenario)
        if entry is not None and entry.not_scored is None:
            return None
        if entry is not None:
            return (
                f"{scenario!r} runs without counting at {leg.revision}"
                f" ({entry.not_scored}); nothing of it belongs in a baseline"
            )
        every = self.catalogue.revisions
        homes = [
            revision.value
            for revision, entries in every.items()
            if any(each.scenario == scenario for each in entries)
        ]
        if homes:
            return f"{scenario!r} is only in {', '.join(homes)}, not in {leg.revision}"
        names = {each.scenario for entries in every.values() for each in entries}
        return (
            f"no {self.catalogue.role} scenario of suite"
            f" {self.catalogue.suite_version} is called"
            f" {scenario!r}{did_you_mean(scenario, names)}"
        )


def warning_refs(catalogue: Catalogue) -> frozenset[str]:
    """Every ``scenario:check-id`` that may warn, at any revision."""
    suites = {
        f"{entry.scenario}:{check_id}"
        for entries in catalogue.revisions.values()
        for entry in entries
        for check_id in entry.checks
        if entry.not_scored is None
    }
    mine = {
        f"{scenario.name}:{check.id}"
        for scenario in ours.scenarios(catalogue.role).values()
        for check in scenario.checks
    }
    return frozenset(suites | mine)
