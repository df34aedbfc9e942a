"""
Options become the list of cases to launch.

Names are checked before anything is started, all at once: a scenario no revision
knows, one that only other revisions have, one that ``--no-auth`` leaves out.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.errors import UsageError
from mcpconf.record import CaseKey
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.suite.catalogue import Catalogue, ScenarioEntry


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A scenario driven another way, reported as a supplemental check."""

    name: str
    scenario: str
    revision: Revision
    #: Driver options that differ from the plain case's.
    options: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCase:
    """One case to launch."""

    key: CaseKey
    entry: ScenarioEntry
    options: Mapping[str, str]

    @property
    def is_scored(self) -> bool:
        """Whether it counts for the requirement set."""
        return self.entry.not_scored is None and self.key.variant is None

    @property
    def timing_sensitive(self) -> bool:
        """Whether it must run alone."""
        return self.entry.timing_sensitive


def select_cases(
    catalogue: Catalogue,
    revisions: Sequence[Revision],
    *,
    requested: Sequence[str] = (),
    include_auth: bool = True,
    variants: Sequence[Variant] = (),
) -> tuple[PlannedCase, ...]:
    """
    The cases of the selected revisions, oldest revision first, in upstream's order.

    A requested name counts for every selected revision that has it.

    :raises UsageError: a requested name cannot run in any selected revision.
    """
    _check_names(catalogue, revisions, requested, include_auth=include_auth)
    cases: list[PlannedCase] = []
    for revision in Revision:
        if revision not in revisions:
            continue
        for entry in catalogue.revisions[revision]:
            if requested and entry.scenario not in requested:
                continue
            if entry.auth and not include_auth:
                continue
            key = CaseKey(revision=revision, scenario=entry.scenario)
            cases.append(PlannedCase(key=key, entry=entry, options={}))
            cases += [
                PlannedCase(
                    key=CaseKey(
                        revision=revision,
                        scenario=entry.scenario,
                        variant=variant.name,
                    ),
                    entry=entry,
                    options=variant.options,
                )
                for variant in variants
                if (variant.revision, variant.scenario) == (revision, entry.scenario)
            ]
    if not cases:
        raise UsageError("no scenario is left to run; drop --no-auth or name others")
    return tuple(cases)


def _check_names(
    catalogue: Catalogue,
    revisions: Sequence[Revision],
    requested: Sequence[str],
    *,
    include_auth: bool,
) -> None:
    problems = []
    for name in dict.fromkeys(requested):
        homes = [
            revision
            for revision in Revision
            if catalogue.entry(revision, name) is not None
        ]
        if name in catalogue.unassigned:
            problems.append(f"{name}: no revision asks for it")
        elif not homes:
            problems.append(
                f"{name}: no {catalogue.role} scenario of suite "
                f"{catalogue.suite_version} has this name; {_hint(name, catalogue)}"
            )
        elif not set(homes) & set(revisions):
            problems.append(
                f"{name}: only in {', '.join(homes)}, not in the selected "
                f"{', '.join(revisions)}"
            )
        elif not include_auth and name.startswith("auth/"):
            problems.append(f"{name}: needs authorization; drop --no-auth")
    if problems:
        raise UsageError("; ".join(problems))


def _hint(name: str, catalogue: Catalogue) -> str:
    known = {entry.scenario for each in catalogue.revisions.values() for entry in each}
    alike = difflib.get_close_matches(name, sorted(known), n=1)
    return f"did you mean {alike[0]}?" if alike else "see `invoke suite.scenarios`"
