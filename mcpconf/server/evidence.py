"""
The files of one official scenario of a server: written by the launcher, read back.

``launch.json``, ``checks.json`` and ``wire.jsonl``, in the folder where a client's case
has them too. The suite is the client here, so the log is of what it sent, and there is
no driver. Everything in it is redacted already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.decode import Json, Reader, load_json
from mcpconf.evidence import LAUNCH, SCHEMA, case_dir, read_seen, text_at, write_seen
from mcpconf.process import Ended
from mcpconf.server.watched import ServerSeen

if TYPE_CHECKING:
    from pathlib import Path

    from mcpconf.record import CaseKey, Check
    from mcpconf.wire import WireLog


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerEvidence:
    """Everything the judge may know of one case."""

    #: How the suite ended.
    ended: Ended
    checks: tuple[Check, ...]
    checks_fault: str | None
    wire: WireLog
    #: The last of what the suite said: stderr, or stdout where that is empty.
    diagnostics: str | None
    server: ServerSeen


@dataclass(frozen=True, slots=True, kw_only=True)
class RawServerCase:
    """What the launcher hands over for one case, redacted, before it is written."""

    ended: Ended
    checks: Json
    checks_fault: str | None
    wire: str
    diagnostics: str | None
    server: ServerSeen


def write_case(run_dir: Path, key: CaseKey, raw: RawServerCase) -> None:
    """
    Write one case; ``launch.json`` comes last and says that the rest is whole.

    :raises StorageError: a file cannot be written.
    """
    launch: Json = {
        "schema": SCHEMA,
        "ended": raw.ended.to_json(),
        "checks_fault": raw.checks_fault,
        "diagnostics": raw.diagnostics,
        "server": raw.server.to_json(),
    }
    directory = case_dir(run_dir, key)
    write_seen(directory, wire=raw.wire, checks=raw.checks, launch=launch)


def read_case(run_dir: Path, key: CaseKey) -> ServerEvidence | None:
    """
    Read one case back; None when it was never launched to its end.

    :raises DecodeError: a file is missing or malformed.
    """
    path = case_dir(run_dir, key) / LAUNCH
    if not path.is_file():
        return None
    launch = Reader(load_json(path), path).only(
        "schema",
        "ended",
        "checks_fault",
        "diagnostics",
        "server",
    )
    if launch.key("schema").integer() != SCHEMA:
        launch.key("schema").fail(f"this version reads evidence schema {SCHEMA}")
    checks_fault = text_at(launch, "checks_fault")
    log, checks = read_seen(path.parent, checks_fault)
    return ServerEvidence(
        ended=Ended.from_json(launch.key("ended")),
        checks=checks,
        checks_fault=checks_fault,
        wire=log,
        diagnostics=text_at(launch, "diagnostics"),
        server=ServerSeen.from_json(launch.key("server")),
    )
