"""
Which checks there are: the suite's, ours, the harness's, and those of variants.

A baseline may only name what a run can say. Whatever else it names is a typing error,
or a check that is gone, and would silently excuse nothing for ever.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpconf.client.manifest import COMMAND, MANIFESTS
from mcpconf.identity import HTTP, LABELS, OFFICIAL_HTTP, STDIO, CheckIdentity, Leg
from mcpconf.record import CaseKey, Source
from mcpconf.revision import Revision
from mcpconf.suite.rejection import REJECTIONS
from mcpconf.supplemental.plan import planned
from mcpconf.supplemental.registry import SCENARIOS
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from mcpconf.plan import Variant
    from mcpconf.suite.catalogue import Catalogue

#: The package that the catalogues are of.
SUITE_PACKAGE = "@modelcontextprotocol/conformance"
#: What the harness says of every scenario of the suite.
_OF_THE_SUITES = (
    "wire-schema",
    "required-check",
    "revision-named",
    "official-runner",
)
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
    case = planned(_key(leg, scenario))
    if case is None or source == "official":
        return frozenset()
    if source == "supplemental":
        return frozenset(check.id for check in case.checks)
    return _harness(scenario, client, "wire-schema")


def _official_checks(
    catalogue: Catalogue, leg: Leg, scenario: str, source: str, client: str | None
) -> frozenset[str]:
    entry = catalogue.entry(Revision(leg.revision), scenario)
    if source == "supplemental":
        return frozenset(each.name for each in _variants(client, leg, scenario))
    if entry is None or entry.not_scored is not None:
        return frozenset()
    if source == "official":
        return frozenset(entry.checks)
    labels = list(_OF_THE_SUITES)
    rejection = REJECTIONS.get(scenario)
    if rejection is not None:
        labels += ["refusal-reached"]
        labels += ["expected-refusal"] if rejection.forbidden else []
    return _harness(scenario, client, *labels)


def _key(leg: Leg, scenario: str) -> CaseKey:
    return CaseKey(
        revision=Revision(leg.revision),
        scenario=scenario,
        source=Source.SUPPLEMENTAL,
        transport=_TRANSPORTS[leg.transport],
    )


def _variants(client: str | None, leg: Leg, scenario: str) -> list[Variant]:
    manifests = (
        MANIFESTS.values() if client is None else [MANIFESTS.get(client, COMMAND)]
    )
    return [
        variant
        for manifest in manifests
        for variant in manifest.variants
        if (variant.revision.value, variant.scenario) == (leg.revision, scenario)
    ]


def _harness(scenario: str, client: str | None, *labels: str) -> frozenset[str]:
    manifests = (
        (COMMAND, *MANIFESTS.values())
        if client is None
        else (MANIFESTS.get(client, COMMAND),)
    )
    every = (*labels, *(manifest.adapter_check for manifest in manifests))
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
        if scenario not in SCENARIOS:
            hint = did_you_mean(scenario, SCENARIOS)
            return f"no scenario of ours is called {scenario!r}{hint}"
        if planned(_key(leg, scenario)) is None:
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
            f"no client scenario of suite {self.catalogue.suite_version} is called"
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
    ours = {
        f"{scenario.name}:{check.id}"
        for scenario in SCENARIOS.values()
        for check in scenario.checks
    }
    return frozenset(suites | ours)
