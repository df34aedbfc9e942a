"""
Launch one case and store what it left: no decision is made here.

A case runs in a private directory of its own, with its own home and temporary
directory. The witness speaks through a pipe into memory; what the suite and the driver
wrote is read, cleared of secrets, and only then stored with the run. The directory is
deleted, whatever happened.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf import cache, evidence
from mcpconf.client.manifest import passed_environment
from mcpconf.drain import Drain
from mcpconf.environment import base_environment
from mcpconf.errors import StorageError
from mcpconf.launcher import write_launcher
from mcpconf.process import Program, Running, start
from mcpconf.retention import Retention
from mcpconf.suite.checks import find_checks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.client.subject import Subject
    from mcpconf.decode import Json
    from mcpconf.plan import PlannedCase
    from mcpconf.process import Ended
    from mcpconf.suite.install import Suite

WITNESS = Path(__file__).parent / "suite" / "witness.cjs"
ENTRY = Path(__file__).parent / "client" / "entry.py"

#: Each budget is smaller than the one outside it, so that the inner diagnosis survives:
#: request < drive < suite's own limit < case.
_SUITE_EXTRA_S, _CASE_EXTRA_S = 4.0, 10.0
_REQUEST_SHARE = 1 / 3
_TAIL = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What all cases of a run share, whoever wrote them."""

    subject: Subject
    run_dir: Path
    #: Where the private directories are made; None for the system's place.
    parent: Path | None
    keep_artifacts: bool
    #: Limit of one drive, in seconds.
    timeout_s: float
    auth: str
    #: What the suite and the client may see of the caller's environment.
    environment: Mapping[str, str]
    #: Where drivers keep what every case of the run would make anew; None: nowhere.
    shared: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteLaunch(Launch):
    """What the suite's cases share."""

    suite: Suite


def wire_of(pipe: Drain) -> bytes:
    """What the witness wrote; torn where it was cut, by chance behind a whole line."""
    wire = pipe.finish()
    return wire + b"{" if pipe.is_cut else wire


def launch_case(
    launch: SuiteLaunch, case: PlannedCase, started: Callable[[Running], None]
) -> Ended:
    """
    Run one case to its end, store its evidence; `started` gets the handle to stop it.

    :raises StorageError: the evidence, or the private directory, could not be written.
    :raises SupervisorError: it is not known how the case ended.
    """
    try:
        return _launch_case(launch, case, started)
    except OSError as error:
        place = error.filename or launch.parent or tempfile.gettempdir()
        raise StorageError(place, f"{error.strerror or error}") from None


def _launch_case(
    launch: SuiteLaunch, case: PlannedCase, started: Callable[[Running], None]
) -> Ended:
    directory = Path(tempfile.mkdtemp(prefix="mcpconf-case-", dir=launch.parent))
    try:
        pipe = Drain(evidence.MAX_WIRE_BYTES // 4)
        try:
            program = _program(launch, case, directory, pipe.write)
            with start(program) as running:
                started(running)
                ended = running.wait()
        finally:
            wire = wire_of(pipe)
        _store(launch, case, directory, ended, wire)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return ended


def _program(
    launch: SuiteLaunch, case: PlannedCase, directory: Path, witness_fd: int
) -> Program:
    home, tmp = directory / "home", directory / "tmp"
    for each in (home, tmp):
        each.mkdir()
    base = base_environment(launch.environment, home, tmp)
    job: Json = {
        "driver": launch.subject.manifest.driver,
        "argv": list(launch.subject.argv),
        "home": str(home),
        # A program of the user's own may be named relative to where they stand.
        "cwd": str(home if launch.subject.manifest.driver == "codex" else Path.cwd()),
        "report": str(directory / "adapter.json"),
        "scenario": case.key.scenario,
        "revision": case.key.revision.value,
        "deadline_s": launch.timeout_s,
        "request_s": launch.timeout_s * _REQUEST_SHARE,
        "environment": {**base, **passed_environment(launch.subject.manifest)},
        "options": {
            "auth": launch.auth,
            "client_registration": None,
            "defaults": "client",
            **case.options,
        },
    }
    (directory / "job.json").write_text(json.dumps(job), encoding="utf-8")
    command = write_launcher(
        directory,
        (sys.executable, "-I", "-S", str(ENTRY), str(directory / "job.json")),
    )
    suite = launch.suite
    words = [*suite.argv_prefix, "client", "--command", command]
    environment = {**base, "MCPCONF_WITNESS_FD": str(witness_fd)}
    if suite.node is not None:
        words[1:1] = ["--require", str(WITNESS)]
        # Where Node keeps compiled code between starts.
        compiled = cache.cache_dir() / "compiled" / suite.node.version
        environment["MCPCONF_COMPILE_CACHE"] = str(compiled)
    words += ["--scenario", case.key.scenario]
    words += ["--spec-version", case.key.revision.value]
    if case.entry.not_scored is not None:
        words += ["--force"]  # extensions are on no revision's time line
    limit_s = launch.timeout_s + _SUITE_EXTRA_S
    words += ["--timeout", str(round(limit_s * 1000)), "--output-dir", "out"]
    return Program(
        argv=tuple(words),
        cwd=directory,
        environment=environment,
        stdout=directory / "stdout",
        stderr=directory / "stderr",
        deadline_s=launch.timeout_s + _CASE_EXTRA_S,
        pass_fds=(witness_fd,),
    )


def _store(
    launch: SuiteLaunch, case: PlannedCase, directory: Path, ended: Ended, wire: bytes
) -> None:
    stdout = evidence.text_of(directory / "stdout")
    stderr = evidence.text_of(directory / "stderr")
    checks, checks_fault = find_checks(directory / "out")
    written = evidence.bytes_of(directory / evidence.ADAPTER)
    adapter, adapter_fault = evidence.adapter_of(written)
    retention = Retention.of(
        wire=wire.decode("utf-8", "replace"), texts=(stdout, stderr), checks=checks
    )
    diagnostics = retention.text(stderr or stdout).strip()[-_TAIL:]
    said = retention.text(_client_stderr(directory / "out")).strip()[-_TAIL:]
    # First: evidence says that a case is whole, and artifacts are a part of it.
    if launch.keep_artifacts:
        kept = evidence.case_dir(launch.run_dir, case.key) / "artifacts"
        retention.keep_tree(directory, kept)
    evidence.write_case(
        launch.run_dir,
        case.key,
        evidence.RawCase(
            ended=ended,
            adapter=retention.json(adapter),
            adapter_fault=adapter_fault,
            checks=retention.json(checks),
            checks_fault=checks_fault and retention.text(checks_fault),
            wire=retention.wire(),
            diagnostics=diagnostics or None,
            client_stderr=said or None,
        ),
    )


def _client_stderr(out_dir: Path) -> str:
    """What the suite kept of the client's stderr, in the folder of its checks."""
    found = sorted(out_dir.rglob("stderr.txt")) if out_dir.is_dir() else []
    return evidence.text_of(found[0])[-_TAIL:] if found and found[0].is_file() else ""
