"""
Launch one official scenario against a server, and store what it left; no decisions.

The suite runs in a private directory of its own, and the witness inside it notes what
it sent and got. The server is somebody else's to start and stop; where it is a program
of ours to watch, how it fared during the case is a part of the evidence.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.case import (
    CASE_EXTRA_S,
    launch_privately,
    suite_output,
    suite_program,
)
from mcpconf.environment import base_environment
from mcpconf.evidence import case_dir
from mcpconf.retention import secrets_of, values_in_query
from mcpconf.server.evidence import RawServerCase, write_case
from mcpconf.server.watched import WatchedServer, seen_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.plan import PlannedCase
    from mcpconf.process import Ended, Program, Running
    from mcpconf.suite.install import Suite

WITNESS = Path(__file__).parent.parent / "suite" / "witness_server.cjs"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLaunch:
    """What the cases of one server share."""

    suite: Suite
    url: str
    run_dir: Path
    #: Where the private directories are made; None for the system's place.
    parent: Path | None
    keep_artifacts: bool
    #: The suite's own limit of one scenario, in seconds.
    timeout_s: float
    #: What the suite may see of the caller's environment.
    environment: Mapping[str, str]
    #: None: only its URL is known.
    server: WatchedServer | None = None


def launch_case(
    launch: ServerLaunch, case: PlannedCase, started: Callable[[Running], None]
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


def _program(
    launch: ServerLaunch, case: PlannedCase, directory: Path, witness_fd: int
) -> Program:
    return suite_program(
        launch.suite,
        case,
        ("server", "--url", launch.url),
        directory,
        witness=WITNESS,
        witness_fd=witness_fd,
        environment=base_environment(
            launch.environment, directory / "home", directory / "tmp"
        ),
        limit_s=launch.timeout_s,
        deadline_s=launch.timeout_s + CASE_EXTRA_S,
    )


def _store(
    launch: ServerLaunch, case: PlannedCase, directory: Path, ended: Ended, wire: bytes
) -> None:
    known = secrets_of(launch.environment) | values_in_query(launch.url)
    output = suite_output(directory, wire, secrets=known)
    # First: evidence says that a case is whole, and artifacts are a part of it.
    if launch.keep_artifacts:
        kept = case_dir(launch.run_dir, case.key) / "artifacts"
        output.retention.keep_tree(directory, kept)
    write_case(
        launch.run_dir,
        case.key,
        RawServerCase(
            ended=ended,
            checks=output.checks,
            checks_fault=output.checks_fault,
            wire=output.retention.wire(),
            diagnostics=output.diagnostics,
            server=seen_of(
                launch.server,
                url=launch.url,
                hung_up=has_hung_up(wire),
                cleared=output.retention.text,
            ),
        ),
    )


def has_hung_up(wire: bytes) -> bool:
    """Whether the server left a request without an answer; it may have died of it."""
    lines = wire.splitlines()
    heads, ends = (
        sum(line.startswith(b'{"type":"%b"' % kind) for line in lines)
        for kind in (b"response-start", b"response")
    )
    return heads < ends
