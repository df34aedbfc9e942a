"""
The files of one case: written once by the launcher, read by the judge.

``launch.json``      how the probe ended
``exchanges.jsonl``  every exchange of the drive, and how the drive ended

Everything in here is redacted already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.decode import Json, Reader, load_json, parse_json
from mcpconf.errors import DecodeError
from mcpconf.evidence import EXCHANGES, LAUNCH, case_dir, read_log
from mcpconf.process import Ended
from mcpconf.server.exchange import Exchange
from mcpconf.server.watched import ServerSeen
from mcpconf.storage import write_json, write_whole
from mcpconf.tasks_extension.observation import Observation

if TYPE_CHECKING:
    from pathlib import Path

    from mcpconf.record import CaseKey

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything the judge may know of one case."""

    ended: Ended
    observation: Observation
    #: Whether the drive told how it ended; if not, it was killed or the log is cut.
    is_whole: bool
    server: ServerSeen
    #: The last of what the probe wrote to stderr.
    probe_stderr: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RawEvidence:
    """What the launcher hands over, redacted, before it is written."""

    ended: Ended
    exchanges: str
    probe_stderr: str | None
    server: ServerSeen


def write(run_dir: Path, key: CaseKey, raw: RawEvidence) -> None:
    """
    Write one case; ``launch.json`` comes last and says that the rest is whole.

    :raises StorageError: a file could not be written.
    """
    directory = case_dir(run_dir, key)
    log = raw.exchanges.encode("utf-8", "backslashreplace")
    write_whole(directory / EXCHANGES, log)
    launch: Json = {
        "schema": SCHEMA,
        "ended": raw.ended.to_json(),
        "probe_stderr": raw.probe_stderr,
        "server": raw.server.to_json(),
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
        "schema", "ended", "probe_stderr", "server"
    )
    if launch.key("schema").integer() != SCHEMA:
        launch.key("schema").fail(f"this version reads evidence schema {SCHEMA}")
    said = launch.get("probe_stderr")
    path = directory / EXCHANGES
    observation, is_whole = parse_exchanges(read_log(path), path)
    return Evidence(
        ended=Ended.from_json(launch.key("ended")),
        observation=observation,
        is_whole=is_whole,
        probe_stderr=said.string() if said else None,
        server=ServerSeen.from_json(launch.key("server")),
    )


def parse_exchanges(content: bytes, source: Path | str) -> tuple[Observation, bool]:
    """
    Decode what a probe recorded, and whether it recorded its end.

    Its last line may be torn, where it was killed or its log was cut.

    :raises DecodeError: another line is no record, or is behind the end.
    """
    lines = content.decode("utf-8", "replace").split("\n")
    torn = lines.pop()  # nothing, where the last line is whole
    exchanges: list[Exchange] = []
    end: Reader | None = None
    for number, line in enumerate(lines, 1):
        record = Reader(_decoded(line, number, source), source, f"line {number}")
        record.only("exchange", "end")
        if end is not None:
            record.fail("is behind the end of the drive")
        end = record.get("end")
        if end is None:
            exchanges.append(Exchange.from_json(record.key("exchange")))
    error = end.only("error", "out_of_time").get("error") if end else None
    out_of_time = end.get("out_of_time") if end else None
    observation = Observation(
        exchanges=tuple(exchanges),
        driver_error=error.string() if error else None,
        out_of_time=out_of_time.string() if out_of_time else None,
    )
    return observation, end is not None and not torn


def _decoded(line: str, number: int, source: Path | str) -> Json:
    try:
        return parse_json(line, source)
    except DecodeError as error:
        raise DecodeError(source, f"line {number}", error.problem) from None
