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
    from collections.abc import Callable, Collection, Mapping, Sequence

    from mcpconf.client.subject import Subject
    from mcpconf.decode import Json
    from mcpconf.plan import PlannedCase
    from mcpconf.process import Ended
    from mcpconf.suite.install import Suite

WITNESS = Path(__file__).parent / "suite" / "witness.cjs"
ENTRY = Path(__file__).parent / "client" / "entry.py"

#: Each budget is smaller than the one outside it, so that the inner diagnosis survives:
#: request < drive < suite's own limit < case.
_SUITE_EXTRA_S, CASE_EXTRA_S = 4.0, 10.0
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
    return launch_privately(
        launch.parent,
        lambda directory, witness_fd: _program(launch, case, directory, witness_fd),
        lambda directory, ended, wire: _store(launch, case, directory, ended, wire),
        started,
    )


def launch_privately(
    parent: Path | None,
    program: Callable[[Path, int], Program],
    store: Callable[[Path, Ended, bytes], None],
    started: Callable[[Running], None],
) -> Ended:
    """
    Run the `program` of a new directory and the witness's descriptor, and `store` it.

    The directory, which has a `home` and a `tmp`, is deleted whatever happens.

    :raises StorageError: the evidence, or the private directory, could not be written.
    :raises SupervisorError: it is not known how the program ended.
    """
    try:
        directory = Path(tempfile.mkdtemp(prefix="mcpconf-case-", dir=parent))
        try:
            for name in ("home", "tmp"):
                (directory / name).mkdir()
            pipe = Drain(evidence.MAX_WIRE_BYTES // 4)
            try:
                with start(program(directory, pipe.write)) as running:
                    started(running)
                    ended = running.wait()
            finally:
                wire = wire_of(pipe)
            store(directory, ended, wire)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    except OSError as error:
        place = error.filename or parent or tempfile.gettempdir()
        raise StorageError(place, f"{error.strerror or error}") from None
    return ended


def suite_program(
    suite: Suite,
    case: PlannedCase,
    words: Sequence[str],
    directory: Path,
    *,
    witness: Path,
    witness_fd: int,
    environment: Mapping[str, str],
    limit_s: float,
    deadline_s: float,
) -> Program:
    """
    The suite's command for one case; `words` come before what every case needs.

    `limit_s` is the suite's own, `deadline_s` ours.
    """
    argv = [*suite.argv_prefix, *words]
    environment = {**environment, "MCPCONF_WITNESS_FD": str(witness_fd)}
    if suite.node is not None:
        argv[1:1] = ["--require", str(witness)]
        # Where Node keeps compiled code between starts.
        compiled = cache.cache_dir() / "compiled" / suite.node.version
        environment["MCPCONF_COMPILE_CACHE"] = str(compiled)
    argv += ["--scenario", case.key.scenario]
    argv += ["--spec-version", case.key.revision.value]
    if case.entry.not_scored is not None:
        argv += ["--force"]  # extensions are on no revision's time line
    argv += ["--timeout", str(round(limit_s * 1000)), "--output-dir", "out"]
    return Program(
        argv=tuple(argv),
        cwd=directory,
        environment=environment,
        stdout=directory / "stdout",
        stderr=directory / "stderr",
        deadline_s=deadline_s,
        pass_fds=(witness_fd,),
    )


def _program(
    launch: SuiteLaunch, case: PlannedCase, directory: Path, witness_fd: int
) -> Program:
    home, tmp = directory / "home", directory / "tmp"
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
    return suite_program(
        launch.suite,
        case,
        ("client", "--command", command),
        directory,
        witness=WITNESS,
        witness_fd=witness_fd,
        environment=base,
        limit_s=launch.timeout_s + _SUITE_EXTRA_S,
        deadline_s=launch.timeout_s + CASE_EXTRA_S,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteOutput:
    """What a suite wrote in a case's directory; `retention` clears it of secrets."""

    retention: Retention
    checks: Json
    checks_fault: str | None
    #: The last of what it said, cleared.
    diagnostics: str | None


def suite_output(
    directory: Path,
    wire: bytes,
    texts: Sequence[str] = (),
    secrets: Collection[str] = (),
) -> SuiteOutput:
    """
    Read what the suite left; `texts` are of others, and may name secrets too.

    `secrets` are known before.
    """
    stdout = evidence.text_of(directory / "stdout")
    stderr = evidence.text_of(directory / "stderr")
    checks, fault = find_checks(directory / "out")
    retention = Retention.of(
        wire=wire.decode("utf-8", "replace"),
        texts=(stdout, stderr, *texts),
        checks=checks,
        secrets=secrets,
    )
    return SuiteOutput(
        retention=retention,
        checks=retention.json(checks),
        checks_fault=fault and retention.text(fault),
        diagnostics=tail(retention.text(stderr or stdout)),
    )


def tail(text: str) -> str | None:
    """The end of what a program said, for a report; None: it said nothing."""
    return text.strip()[-_TAIL:] or None


def _store(
    launch: SuiteLaunch, case: PlannedCase, directory: Path, ended: Ended, wire: bytes
) -> None:
    output = suite_output(directory, wire)
    retention = output.retention
    written = evidence.bytes_of(directory / evidence.ADAPTER)
    adapter, adapter_fault = evidence.adapter_of(written)
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
            checks=output.checks,
            checks_fault=output.checks_fault,
            wire=retention.wire(),
            diagnostics=output.diagnostics,
            client_stderr=tail(retention.text(_client_stderr(directory / "out"))),
        ),
    )


def _client_stderr(out_dir: Path) -> str:
    """What the suite kept of the client's stderr, in the folder of its checks."""
    found = sorted(out_dir.rglob("stderr.txt")) if out_dir.is_dir() else []
    return evidence.text_of(found[0])[-_TAIL:] if found and found[0].is_file() else ""
