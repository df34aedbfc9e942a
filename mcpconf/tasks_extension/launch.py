"""
Launch one case of the tasks extension and store what it left: nothing is decided here.

The probe runs in a process of its own, and records into this one's memory through a
pipe; only what is cleared of secrets is written.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.drain import Drain
from mcpconf.environment import base_environment
from mcpconf.errors import StorageError
from mcpconf.evidence import MAX_WIRE_BYTES, case_dir, text_of
from mcpconf.process import Program, start
from mcpconf.retention import Retention, secrets_of, values_in_query
from mcpconf.server.exchange import How
from mcpconf.server.watched import seen_of
from mcpconf.tasks_extension import evidence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.process import Ended, Running
    from mcpconf.server.watched import WatchedServer
    from mcpconf.tasks_extension.plan import TasksCase

#: Of what a probe records; a log of it never grows beyond what is read back.
_MAX_RECORD = MAX_WIRE_BYTES // 4
#: The drive ends before its process must, so that it can say what it waited for.
_CASE_EXTRA_S = 15.0
_TAIL = 4000
#: How an exchange ends that a server which died leaves behind.
_HUNG_UP = tuple(f'"how": "{each}"'.encode() for each in (How.CUT, How.REFUSED))


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksLaunch:
    """What all cases of a run share."""

    #: Of the server under test.
    url: str
    run_dir: Path
    #: Where the private directories are made; None for the system's place.
    parent: Path | None
    keep_artifacts: bool
    #: Limit of one drive, in seconds.
    timeout_s: float
    #: What the probe may see of the caller's environment.
    environment: Mapping[str, str]
    #: None: only its URL is known.
    server: WatchedServer | None = None


def launch_case(
    launch: TasksLaunch, case: TasksCase, started: Callable[[Running], None]
) -> Ended:
    """
    Run one case to its end, store its evidence; `started` gets the handle to stop it.

    :raises StorageError: the evidence, or the private directory, could not be written.
    :raises SupervisorError: it is not known how the case ended.
    """
    try:
        directory = Path(tempfile.mkdtemp(prefix="mcpconf-case-", dir=launch.parent))
        try:
            ended, recorded = _run(launch, case, directory, started)
            _store(launch, case, directory, ended, recorded)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    except OSError as error:
        place = error.filename or launch.parent or tempfile.gettempdir()
        raise StorageError(place, f"{error.strerror or error}") from None
    return ended


def _run(
    launch: TasksLaunch,
    case: TasksCase,
    directory: Path,
    started: Callable[[Running], None],
) -> tuple[Ended, bytes]:
    pipe = Drain(_MAX_RECORD)
    try:
        program = _program(launch, case, directory, pipe.write)
        with start(program) as running:
            started(running)
            ended = running.wait()
    finally:
        recorded = pipe.finish()
    return ended, recorded


def _program(
    launch: TasksLaunch, case: TasksCase, directory: Path, record_fd: int
) -> Program:
    home, tmp = directory / "home", directory / "tmp"
    for each in (home, tmp):
        each.mkdir()
    job = {
        "scenario": case.key.scenario,
        "url": launch.url,
        "deadline_s": launch.timeout_s,
        "record_fd": record_fd,
    }
    (directory / "job.json").write_text(json.dumps(job), encoding="utf-8")
    return Program(
        argv=(
            *(sys.executable, "-I", "-m", "mcpconf.tasks_extension.probe"),
            str(directory / "job.json"),
        ),
        cwd=directory,
        environment=base_environment(launch.environment, home, tmp),
        stdout=directory / "stdout",
        stderr=directory / "stderr",
        deadline_s=launch.timeout_s + _CASE_EXTRA_S,
        pass_fds=(record_fd,),
    )


def _store(
    launch: TasksLaunch,
    case: TasksCase,
    directory: Path,
    ended: Ended,
    recorded: bytes,
) -> None:
    stderr = text_of(directory / "stderr")
    log = recorded.decode("utf-8", "replace")
    known = secrets_of(launch.environment) | values_in_query(launch.url)
    retention = Retention.of(wire=log, texts=(stderr,), checks=None, secrets=known)
    said = retention.text(stderr).strip()[-_TAIL:]
    # First: evidence says that a case is whole, and artifacts are a part of it.
    if launch.keep_artifacts:
        kept = case_dir(launch.run_dir, case.key) / "artifacts"
        retention.keep_tree(directory, kept)
    exchanges = retention.wire()
    if log and not log.endswith("\n"):
        exchanges = exchanges.removesuffix("\n")  # a torn line stays torn
    evidence.write(
        launch.run_dir,
        case.key,
        evidence.RawEvidence(
            ended=ended,
            exchanges=exchanges,
            probe_stderr=said or None,
            server=seen_of(
                launch.server,
                url=launch.url,
                hung_up=any(mark in recorded for mark in _HUNG_UP),
                cleared=retention.text,
            ),
        ),
    )
