"""
Launch one supplemental case and store what it left: no decision is made here.

HTTP servers live in this process for as long as the case does; a stdio server is
started by the client, which is told its command. Every server writes its own wire log
into the case's private directory, from where it is stored with the run.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mcpconf.client.manifest import passed_environment
from mcpconf.drain import Drain
from mcpconf.environment import base_environment
from mcpconf.errors import StorageError
from mcpconf.evidence import adapter_of, case_dir, text_of
from mcpconf.fixture_server.log import Log
from mcpconf.fixture_server.options import Limits, Options
from mcpconf.process import Program, start
from mcpconf.retention import Retention
from mcpconf.supplemental import evidence
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.case import Launch
    from mcpconf.decode import Json
    from mcpconf.process import Ended, Running
    from mcpconf.supplemental.plan import SupplementalCase

_ENTRY = Path(__file__).parent.parent / "client" / "entry.py"
#: As a file it starts sooner than as a module, and needs no site-packages.
_SERVER = Path(__file__).parent.parent / "fixture_server" / "__main__.py"
#: The drive ends before the case does, so that its record survives.
_CASE_EXTRA_S = 10.0
_TAIL = 4000
_NAMES = ("subject", "control")
#: Of a driver's record, which holds all that a client answered.
_MAX_RECORD = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Left:
    """What one launch left, raw."""

    ended: Ended
    #: The driver's record.
    record: bytes
    #: The wire logs by server.
    logs: Mapping[str, bytes]


def launch_case(
    launch: Launch, case: SupplementalCase, started: Callable[[Running], None]
) -> Ended:
    """
    Run one case to its end, store its evidence; `started` gets the handle to stop it.

    :raises StorageError: the evidence, or the private directory, could not be written.
    :raises SupervisorError: it is not known how the case ended.
    :raises FixtureError: a server of ours broke.
    """
    try:
        directory = Path(tempfile.mkdtemp(prefix="mcpconf-case-", dir=launch.parent))
        try:
            left = _run(launch, case, directory, started)
            _store(launch, case, directory, left)
        finally:
            shutil.rmtree(directory, ignore_errors=True)
    except OSError as error:
        place = error.filename or launch.parent or tempfile.gettempdir()
        raise StorageError(place, f"{error.strerror or error}") from None
    return left.ended


def _run(
    launch: Launch,
    case: SupplementalCase,
    directory: Path,
    started: Callable[[Running], None],
) -> _Left:
    for name in ("home", "tmp"):
        (directory / name).mkdir()
    names = _NAMES if case.scenario.has_control else _NAMES[:1]
    record = Drain(_MAX_RECORD)
    with ExitStack() as files:
        sinks = {
            name: files.enter_context(_sink(case, directory, name)) for name in names
        }
        try:
            with ExitStack() as running_servers:
                servers = {
                    name: _server(running_servers, case, name, sinks[name])
                    for name in names
                }
                program = _program(launch, case, directory, servers, record.write)
                with start(program) as running:
                    started(running)
                    ended = running.wait()
        finally:
            said = record.finish()
        logs = {name: _content(sink) for name, sink in sinks.items()}
    return _Left(ended, said, logs)


def _sink(case: SupplementalCase, directory: Path, name: str) -> IO[bytes]:
    """
    A file for a wire log. Over HTTP it has no name that a client could find.

    A stdio server is started by the client, which must be told where its log is.
    """
    if case.key.transport is Transport.HTTP:
        return tempfile.TemporaryFile(buffering=0)
    return (directory / f"{name}.jsonl").open("x+b", buffering=0)


def _content(sink: IO[bytes]) -> bytes:
    sink.seek(0)
    return sink.read()


def _options(case: SupplementalCase, name: str) -> Options:
    scenario, leg = case.scenario, case.key.revision
    if name == "control":
        return Options(revision=leg, transport=case.key.transport)
    limits: Mapping[str, Any] = scenario.limits  # names and kinds are tested
    return Options(
        revision=scenario.server_revision.get(leg, leg),
        transport=case.key.transport,
        profiles=scenario.profiles,
        limits=Limits(**limits),
    )


def _server(
    stack: ExitStack, case: SupplementalCase, name: str, sink: IO[bytes]
) -> dict[str, Json]:
    """The server `name`, as the client is told of it; running already over HTTP."""
    options = _options(case, name)
    if case.key.transport is Transport.HTTP:
        from mcpconf.fixture_server.inprocess import serving  # noqa: PLC0415 (0.1 s)

        return {"url": stack.enter_context(serving(options, Log.to(sink))).url}
    words = [sys.executable, "-I", "-S", str(_SERVER)]
    words += ["--revision", options.revision.value]
    words += ["--transport", options.transport.value]
    for profile in options.profiles:
        words += ["--profile", profile]
    for limit, value in case.scenario.limits.items() if name == "subject" else ():
        words += [f"--{limit.replace('_', '-')}", f"{value:g}"]
    words += ["--log", str(sink.name)]
    argv: list[Json] = [*words]
    return {"argv": argv, "env": dict(case.scenario.server_environment)}


def _program(
    launch: Launch,
    case: SupplementalCase,
    directory: Path,
    servers: Mapping[str, Mapping[str, Json]],
    record_fd: int,
) -> Program:
    scenario, manifest = case.scenario, launch.subject.manifest
    home, tmp = directory / "home", directory / "tmp"
    base = base_environment(launch.environment, home, tmp)
    job: Json = {
        "kind": "supplemental",
        "driver": manifest.driver,
        "argv": list(launch.subject.argv),
        "home": str(home),
        "tmp": str(tmp),
        "shared": None if launch.shared is None else str(launch.shared),
        # A program of the user's own may be named relative to where they stand.
        "cwd": str(home if manifest.driver == "codex" else Path.cwd()),
        "report": str(directory / "adapter.json"),
        "report_fd": record_fd,
        "scenario": scenario.name,
        "revision": case.key.revision.value,
        "transport": case.key.transport.value,
        "deadline_s": launch.timeout_s,
        "request_s": min(scenario.request_timeout_s, launch.timeout_s),
        "request_timeout_s": min(scenario.request_timeout_s, launch.timeout_s),
        "environment": {
            **base,
            **passed_environment(manifest),
            **scenario.client_environment,
        },
        "options": dict(scenario.options),
        "servers": {name: dict(server) for name, server in servers.items()},
        "steps": [
            {"id": step.id, "verb": step.verb, **step.arguments}
            for step in scenario.steps
        ],
    }
    (directory / "job.json").write_text(json.dumps(job), encoding="utf-8")
    return Program(
        argv=(sys.executable, "-I", "-S", str(_ENTRY), str(directory / "job.json")),
        cwd=directory,
        environment=base,
        stdout=directory / "stdout",
        stderr=directory / "stderr",
        deadline_s=launch.timeout_s + _CASE_EXTRA_S,
        pass_fds=(record_fd,),
    )


def _store(
    launch: Launch, case: SupplementalCase, directory: Path, left: _Left
) -> None:
    adapter, adapter_fault = adapter_of(left.record)
    stderr = text_of(directory / "stderr")
    retention = Retention.of(wire="", texts=(stderr,), checks=None)
    said = retention.text(stderr).strip()[-_TAIL:]
    # First: evidence says that a case is whole, and artifacts are a part of it.
    if launch.keep_artifacts:
        kept = case_dir(launch.run_dir, case.key) / "artifacts"
        retention.keep_tree(directory, kept)
    subject, control = (
        Retention.of(
            wire=left.logs.get(name, b"").decode("utf-8", "replace"),
            texts=(),
            checks=None,
        ).wire()
        for name in _NAMES
    )
    evidence.write(
        launch.run_dir,
        case.key,
        evidence.RawEvidence(
            ended=left.ended,
            adapter=retention.json(adapter),
            adapter_fault=adapter_fault,
            subject=subject,
            control=control,
            client_stderr=said or None,
        ),
    )
