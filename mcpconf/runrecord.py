"""
The two bookends of a stored run: what was to be done, and how it closed.

``run.json`` is written before anything is launched and holds every choice a judgement
depends on; ``end.json`` is the closing record. Together with the evidence they give the
same report again, byte for byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf import ours
from mcpconf.client.subject import SubjectRecord
from mcpconf.decode import Json, Reader, load_json
from mcpconf.errors import DecodeError
from mcpconf.plan import PlannedCase
from mcpconf.record import (
    AuthMode,
    CaseKey,
    Policy,
    RevisionPolicy,
    Role,
    Source,
    WarningPolicy,
)
from mcpconf.revision import Revision
from mcpconf.selection import Selection
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mcpconf.ours import Case
    from mcpconf.suite.catalogue import Catalogue

SCHEMA = 2

_RUN_KEYS = (
    "schema",
    "run_id",
    "started_at",
    "tool_version",
    "role",
    "subject",
    "suite",
    "catalogue_version",
    "catalogue_digest",
    "policy",
    "auth_mode",
    "selection",
    "cases",
    "command",
)
_CASE_KEYS = ("source", "transport", "revision", "scenario", "variant", "options")
_END_KEYS = (
    "schema",
    "finished_at",
    "complete",
    "faults",
    "open_ports",
    "temporary",
    "digests",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """What one run set out to do."""

    run_id: str
    started_at: str
    tool_version: str
    subject: SubjectRecord
    suite: Json
    catalogue_version: str
    catalogue_digest: str
    policy: Policy
    auth_mode: AuthMode
    selection: Selection
    #: The cases in order: key and the driver options that differ.
    cases: tuple[tuple[CaseKey, tuple[tuple[str, str], ...]], ...]
    #: The words that make this run again, without the selection of scenarios.
    command: tuple[str, ...]

    def to_json(self) -> Json:
        """The stored form."""
        return {
            "schema": SCHEMA,
            "run_id": self.run_id,
            "started_at": self.started_at,
            "tool_version": self.tool_version,
            "role": self.selection.role.value,
            "subject": self.subject.value,
            "suite": self.suite,
            "catalogue_version": self.catalogue_version,
            "catalogue_digest": self.catalogue_digest,
            "policy": {
                "warnings": self.policy.warnings.value,
                "revision": self.policy.revision.value,
            },
            "auth_mode": self.auth_mode.value,
            "selection": self.selection.to_json(),
            "cases": [
                {**key.to_json(), "options": dict(options)}
                for key, options in self.cases
            ],
            "command": list(self.command),
        }

    @classmethod
    def load(cls, path: Path) -> RunRecord:
        """
        Read a stored run record.

        :raises DecodeError: missing, malformed, or of another schema.
        """
        reader = _known(path, _RUN_KEYS)
        policy = reader.key("policy").only("warnings", "revision")
        return cls(
            run_id=reader.key("run_id").string(),
            started_at=reader.key("started_at").string(),
            tool_version=reader.key("tool_version").string(),
            subject=SubjectRecord.from_json(reader.key("subject")),
            suite=reader.key("suite").value,
            catalogue_version=reader.key("catalogue_version").string(),
            catalogue_digest=reader.key("catalogue_digest").string(),
            policy=Policy(
                warnings=policy.key("warnings").word(WarningPolicy),
                revision=policy.key("revision").word(RevisionPolicy),
            ),
            auth_mode=reader.key("auth_mode").word(AuthMode),
            selection=Selection.from_json(
                reader.key("selection"), reader.key("role").word(Role)
            ),
            cases=tuple(_case(each) for each in reader.key("cases").items()),
            command=reader.key("command").strings(),
        )

    def planned(self, catalogue: Catalogue) -> tuple[Case, ...]:
        """
        The cases with their catalogue entries, or our own definitions.

        :raises DecodeError: the run was made with another catalogue.
        """
        if catalogue.digest != self.catalogue_digest:
            raise DecodeError(
                "run.json",
                "catalogue_digest",
                f"is {self.catalogue_digest}, but this mcpconf has "
                f"{catalogue.digest}; rejudge with mcpconf {self.tool_version}",
            )
        planned: list[Case] = []
        for key, options in self.cases:
            if key.source is Source.SUPPLEMENTAL:
                mine = ours.planned(self.selection.role, key)
                if mine is None:
                    raise DecodeError("run.json", "cases", f"{key} is no case of ours")
                planned.append(mine)
                continue
            entry = catalogue.entry(key.revision, key.scenario)
            if entry is None:
                raise DecodeError("run.json", "cases", f"{key} is not in the catalogue")
            planned.append(PlannedCase(key=key, entry=entry, options=dict(options)))
        return tuple(planned)


def _known(path: Path, keys: Sequence[str]) -> Reader:
    reader = Reader(load_json(path), path)
    if reader.key("schema").integer() != SCHEMA:
        reader.key("schema").fail(f"this version reads run schema {SCHEMA}")
    return reader.only(*keys)


def _case(reader: Reader) -> tuple[CaseKey, tuple[tuple[str, str], ...]]:
    variant = reader.only(*_CASE_KEYS).get("variant")
    key = CaseKey(
        source=reader.key("source").word(Source),
        transport=reader.key("transport").word(Transport),
        revision=reader.key("revision").word(Revision),
        scenario=reader.key("scenario").string(),
        variant=variant.string() if variant else None,
    )
    options = tuple(
        (name, value.string()) for name, value in reader.key("options").members()
    )
    return key, options


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRecord:
    """How one run closed."""

    finished_at: str
    #: False when it was stopped before every case had run.
    complete: bool
    #: Cases of which no evidence could be had, and why.
    faults: tuple[str, ...]
    #: Ports of mock servers that still answered afterwards.
    open_ports: tuple[int, ...]
    #: Private directories that were still there afterwards.
    temporary: tuple[str, ...]
    #: ``sha256:`` of every evidence file, by its path in the run's folder.
    digests: Mapping[str, str]

    def to_json(self) -> Json:
        """The stored form."""
        return {
            "schema": SCHEMA,
            "finished_at": self.finished_at,
            "complete": self.complete,
            "faults": list(self.faults),
            "open_ports": list(self.open_ports),
            "temporary": list(self.temporary),
            "digests": dict(self.digests),
        }

    @classmethod
    def load(cls, path: Path) -> EndRecord:
        """
        Read a stored closing record.

        :raises DecodeError: missing or malformed.
        """
        reader = _known(path, _END_KEYS)
        return cls(
            finished_at=reader.key("finished_at").string(),
            complete=reader.key("complete").boolean(),
            faults=reader.key("faults").strings(),
            open_ports=tuple(
                each.integer() for each in reader.key("open_ports").items()
            ),
            temporary=reader.key("temporary").strings(),
            digests={
                name: digest.string()
                for name, digest in reader.key("digests").members()
            },
        )
