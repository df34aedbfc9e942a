"""
The program of one drive: ``python -I -m mcpconf.tasks_extension.probe JOB``.

It writes one record a line into a pipe that its job names: each exchange when it has
ended, and in the end how the drive ended. What has no such end was killed.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from typing import IO, TYPE_CHECKING

from mcpconf.decode import Reader, load_json
from mcpconf.tasks_extension.drive import run_scenario
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.tasks_extension.session import OutOfTime

if TYPE_CHECKING:
    from mcpconf.decode import Json
    from mcpconf.server.exchange import Exchange

#: The end of a drive by a fault of ours (sysexits: internal software error).
BROKE = 70
_USAGE = 64


def main(arguments: list[str]) -> int:
    """Drive one scenario; 0 it is recorded, 64 usage, 70 the drive itself broke."""
    if len(arguments) != len(("program", "job")):
        sys.stderr.write("usage: probe JOB\n")
        return _USAGE
    job = Reader(load_json(Path(arguments[1])), arguments[1])
    with os.fdopen(job.key("record_fd").integer(), "wb", buffering=0) as stream:
        error, out_of_time = _drive(job, stream)
        _write(stream, {"end": {"error": error, "out_of_time": out_of_time}})
    return 0 if error is None else BROKE


def _drive(job: Reader, stream: IO[bytes]) -> tuple[str | None, str | None]:
    """What broke in the drive, and the step that its time was over before."""

    def record(exchange: Exchange) -> None:
        _write(stream, {"exchange": exchange.to_json()})

    try:
        run_scenario(
            SCENARIOS[job.key("scenario").string()],
            job.key("url").string(),
            record,
            deadline_s=job.key("deadline_s").number(),
        )
    except OutOfTime as over:
        return None, str(over)
    except Exception:  # noqa: BLE001 (a fault of ours, whatever it is)
        return traceback.format_exc(), None
    return None, None


def _write(stream: IO[bytes], record: Json) -> None:
    line = memoryview(json.dumps(record).encode("ascii") + b"\n")
    while line:  # one call need not take all
        line = line[stream.write(line) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv))
