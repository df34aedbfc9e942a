"""
What one version of the suite asks of a client or of a server, revision by revision.

A catalogue is generated from the suite itself (`mcpconf.survey`), committed, and
read here. It says which scenarios count for a revision, which run without counting and
why, and which check ids each has been seen to emit.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from mcpconf.decode import Reader, parse_json
from mcpconf.errors import DecodeError
from mcpconf.origin import role_of
from mcpconf.record import Role
from mcpconf.revision import Revision
from mcpconf.storage import json_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcpconf.decode import Json

SCHEMA = 1
#: The version every default run uses.
PINNED_VERSION = "0.2.0-alpha.12"

_KEYS = (
    "schema",
    "role",
    "suite_version",
    "integrity",
    "revisions",
    "unassigned",
    "floors",
)
_ENTRY_KEYS = (
    "scenario",
    "not_scored",
    "auth",
    "timing_sensitive",
    "allow_client_error",
    "checks",
    "silent_checks",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioEntry:
    """One scenario at one revision."""

    scenario: str
    #: Why it runs without counting (upstream's word), or None when it is scored.
    not_scored: str | None
    auth: bool
    #: Must run alone: the suite measures delays.
    timing_sensitive: bool
    #: Upstream lets the client end with an error here (an expected rejection).
    allow_client_error: bool
    #: Every check id some reference program made it emit, INFO apart.
    checks: tuple[str, ...]
    #: Those that a program which does nothing sensible gets SUCCESS for: a client that
    #: sends nothing; a server that never answers, closes or says ``{}`` to everything.
    silent_checks: tuple[str, ...]

    @property
    def required(self) -> frozenset[str]:
        """The check ids one of which must say SUCCESS before the scenario passes."""
        return frozenset(self.checks) - frozenset(self.silent_checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Floor:
    """What the suite itself credits a program that barely does anything."""

    scenarios: int
    checks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """The scenarios of one suite version for one role."""

    role: Role = Role.CLIENT
    suite_version: str
    integrity: str
    revisions: Mapping[Revision, tuple[ScenarioEntry, ...]]
    #: Scenarios of the role that the suite knows and no revision asks for.
    unassigned: tuple[str, ...]
    #: Revision → canary name → what it scores by the suite's own counting.
    floors: Mapping[Revision, Mapping[str, Floor]]

    def entry(self, revision: Revision, scenario: str) -> ScenarioEntry | None:
        """The entry of one scenario, or None when the revision has no such scenario."""
        for entry in self.revisions[revision]:
            if entry.scenario == scenario:
                return entry
        return None

    def scored(
        self, revision: Revision, *, authentication: bool = True
    ) -> tuple[str, ...]:
        """The scenarios that count for a revision, in upstream's order."""
        return tuple(
            entry.scenario
            for entry in self.revisions[revision]
            if entry.not_scored is None and (authentication or not entry.auth)
        )

    @property
    def digest(self) -> str:
        """``sha256:`` over the stored bytes: equal catalogues have one digest."""
        return f"sha256:{hashlib.sha256(json_bytes(to_json(self))).hexdigest()}"


def to_json(catalogue: Catalogue) -> Json:
    """The stored form; that it is a client's goes without saying."""
    role: dict[str, Json] = {}
    if catalogue.role is Role.SERVER:
        role = {"role": catalogue.role.value}
    return {
        "schema": SCHEMA,
        **role,
        "suite_version": catalogue.suite_version,
        "integrity": catalogue.integrity,
        "revisions": {
            revision.value: [
                {
                    "scenario": entry.scenario,
                    "not_scored": entry.not_scored,
                    "auth": entry.auth,
                    "timing_sensitive": entry.timing_sensitive,
                    "allow_client_error": entry.allow_client_error,
                    "checks": list(entry.checks),
                    "silent_checks": list(entry.silent_checks),
                }
                for entry in entries
            ]
            for revision, entries in catalogue.revisions.items()
        },
        "unassigned": list(catalogue.unassigned),
        "floors": {
            revision.value: {
                name: {"scenarios": floor.scenarios, "checks": floor.checks}
                for name, floor in floors.items()
            }
            for revision, floors in catalogue.floors.items()
        },
    }


def from_json(value: Json, source: Path | str) -> Catalogue:
    """
    Decode a stored catalogue.

    :raises DecodeError: not of this form, or a scenario listed twice.
    """
    reader = Reader(value, source).only(*_KEYS)
    if reader.key("schema").integer() != SCHEMA:
        reader.key("schema").fail(f"this version reads catalogue schema {SCHEMA}")
    revisions = {}
    for name, entries in reader.key("revisions").members():
        revision = _revision(name, entries)
        decoded = tuple(_entry(each) for each in entries.items())
        names = [entry.scenario for entry in decoded]
        if len(set(names)) != len(names):
            entries.fail("lists a scenario twice")
        revisions[revision] = decoded
    floors = {
        _revision(name, floors): {
            canary: Floor(
                scenarios=floor.key("scenarios").integer(),
                checks=floor.key("checks").integer(),
            )
            for canary, floor in floors.members()
        }
        for name, floors in reader.key("floors").members()
    }
    missing = sorted(set(Revision) - set(revisions))
    if missing:
        reader.key("revisions").fail(f"lacks {', '.join(missing)}")
    return Catalogue(
        role=role_of(reader),
        suite_version=reader.key("suite_version").string(),
        integrity=reader.key("integrity").string(),
        revisions=revisions,
        unassigned=reader.key("unassigned").strings(),
        floors=floors,
    )


def _revision(name: str, reader: Reader) -> Revision:
    try:
        return Revision(name)
    except ValueError:
        known = ", ".join(Revision)
        raise DecodeError(
            reader.source, reader.where, f"unknown revision; known: {known}"
        ) from None


def _entry(reader: Reader) -> ScenarioEntry:
    reader.only(*_ENTRY_KEYS)
    reason = reader.get("not_scored")
    return ScenarioEntry(
        scenario=reader.key("scenario").string(),
        not_scored=reason.string() if reason else None,
        auth=reader.key("auth").boolean(),
        timing_sensitive=reader.key("timing_sensitive").boolean(),
        allow_client_error=reader.key("allow_client_error").boolean(),
        checks=reader.key("checks").strings(),
        silent_checks=reader.key("silent_checks").strings(),
    )


def file_name(version: str, role: Role) -> str:
    """What the catalogue of a suite version is called in the package's data."""
    prefix = "" if role is Role.CLIENT else f"{role.value}-"
    return f"{prefix}catalogue-{version}.json"


def load_catalogue(
    version: str = PINNED_VERSION, role: Role = Role.CLIENT
) -> Catalogue:
    """
    The committed catalogue of a suite version for a role.

    :raises DecodeError: there is none, or it is malformed.
    """
    name = file_name(version, role)
    resource = files("mcpconf") / "data" / "suite" / name
    if not resource.is_file():
        raise DecodeError(name, "", f"no {role} catalogue of suite version {version}")
    return from_json(parse_json(resource.read_bytes(), name), name)
