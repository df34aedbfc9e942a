"""
The files of one supplemental case: written once by the launcher, read by the judge.

``launch.json``    how the driver's process ended
``adapter.json``   what the driver did and what the client answered
``subject.jsonl``  the wire log of the server with the faults
``control.jsonl``  the wire log of the good server beside it, where there is one

Everything in here is redacted already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.decode import Json, Reader, load_json
from mcpconf.evidence import (
    ADAPTER,
    CONTROL,
    LAUNCH,
    SUBJECT,
    AdapterRecord,
    case_dir,
    parse_adapter,
    read_log,
)
from mcpconf.process import Ended
from mcpconf.storage import write_json, write_whole
from mcpconf.supplemental.observation import ServerView, parse_log

if TYPE_CHECKING:
    from pathlib import Path

    from mcpconf.record import CaseKey

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything the judge may know of one case."""

    ended: Ended
    adapter: AdapterRecord | None
    adapter_fault: str | None
    subject: ServerView
    control: ServerView
    client_stderr: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEvidence:
    """What the launcher hands over, redacted, before it is written."""

    ended: Ended
    adapter: Json
    adapter_fault: str | None
    subject: str
    control: str
    client_stderr: str | None


def write(run_dir: Path, key: CaseKey, raw: RawEvidence) -> None:
    """Write one case; ``launch.json`` comes last and says that the rest is whole."""
    directory = case_dir(run_dir, key)
    for name, text in ((SUBJECT, raw.subject), (CONTROL, raw.control)):
        write_whole(directory / name, text.encode("utf-8", "backslashreplace"))
    if raw.adapter is not None:
        write_json(directory / ADAPTER, raw.adapter)
    launch: Json = {
        "schema": SCHEMA,
        "ended": raw.ended.to_json(),
        "adapter_fault": raw.adapter_fault,
        "client_stderr": raw.client_stderr,
    }
    write_json(directory / LAUNCH, launch)


def read(run_dir: Path, key: CaseKey) -> Evidence | None:
    """
    Read one case back; None when it was never launched to its end.

    :raises DecodeError: a file is missing or malformed.
    """
    directory = case_dir(run_dir, key)
    if not (directory / LAUNCH).is_file():
        return None
    launch = Reader(load_json(directory / LAUNCH), directory / LAUNCH).only(
        "schema", "ended", "adapter_fault", "client_stderr"
    )
    if launch.key("schema").integer() != SCHEMA:
        launch.key("schema").fail(f"this version reads evidence schema {SCHEMA}")
    adapter_fault, said = launch.get("adapter_fault"), launch.get("client_stderr")
    adapter = None
    if adapter_fault is None:
        adapter = parse_adapter(load_json(directory / ADAPTER), directory / ADAPTER)
    return Evidence(
        ended=Ended.from_json(launch.key("ended")),
        adapter=adapter,
        adapter_fault=adapter_fault.string() if adapter_fault else None,
        subject=_log(directory / SUBJECT),
        control=_log(directory / CONTROL),
        client_stderr=said.string() if said else None,
    )


def _log(path: Path) -> ServerView:
    return parse_log(read_log(path), path)
