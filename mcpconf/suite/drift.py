"""
What a new version of the suite asks that the old one did not, and the reverse.

Read before any result of the new version is compared: a check that vanished is not a
check that passes.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpconf.suite.catalogue import Catalogue, ScenarioEntry

#: Two names at least this alike, one gone and one new, are shown as a renaming.
_ALIKE = 0.75


@dataclass(frozen=True, slots=True, order=True)
class Drift:
    """One difference."""

    revision: str
    scenario: str
    #: ``added``, ``removed``, ``renamed`` or ``changed``.
    kind: str
    detail: str

    def __str__(self) -> str:
        return f"{self.revision} {self.kind:8} {self.scenario}: {self.detail}"


def compare(old: Catalogue, new: Catalogue) -> tuple[Drift, ...]:
    """Every difference in scenarios and checks, in report order; empty when alike."""
    found = []
    for revision in Revision:
        before = {entry.scenario: entry for entry in old.revisions[revision]}
        after = {entry.scenario: entry for entry in new.revisions[revision]}
        for kind, name, other in _names(set(before), set(after)):
            detail = f"scenario, now {other}" if other else "scenario"
            found.append(Drift(revision.value, name, kind, detail))
        for name, entry in before.items():
            if name in after:
                found += _entries(revision, entry, after[name])
    for kind, name, other in _names(set(old.unassigned), set(new.unassigned)):
        detail = "in no requirement set" + (f", now {other}" if other else "")
        found.append(Drift("any revision", name, kind, detail))
    return tuple(sorted(found))


def _names(before: set[str], after: set[str]) -> Iterator[tuple[str, str, str | None]]:
    gone, fresh = sorted(before - after), sorted(after - before)
    for name in gone:
        alike = difflib.get_close_matches(name, fresh, n=1, cutoff=_ALIKE)
        if alike:
            fresh.remove(alike[0])
            yield "renamed", name, alike[0]
        else:
            yield "removed", name, None
    for name in fresh:
        yield "added", name, None


def _entries(
    revision: Revision, before: ScenarioEntry, after: ScenarioEntry
) -> Iterator[Drift]:
    where = (revision.value, before.scenario)
    for kind, name, other in _names(set(before.checks), set(after.checks)):
        detail = f"check {name}, now {other}" if other else f"check {name}"
        yield Drift(*where, kind, detail)
    for name in ("not_scored", "auth", "timing_sensitive", "allow_client_error"):
        was, now = getattr(before, name), getattr(after, name)
        if was != now:
            yield Drift(*where, "changed", f"{name} was {was}, is {now}")
    for name in sorted(set(before.silent_checks) ^ set(after.silent_checks)):
        if name in before.checks and name in after.checks:
            how = "earns" if name in after.silent_checks else "no longer earns"
            yield Drift(*where, "changed", f"silence {how} {name}")
