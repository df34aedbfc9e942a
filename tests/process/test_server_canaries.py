"""Servers that do nothing sensible pass nothing, and one that dies has crashed."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING

import pytest

from mcpconf.plan import PlannedCase, select_cases
from mcpconf.process import Ended, EndKind, Program, Running, start
from mcpconf.record import Attribution, CheckStatus, Outcome, Policy, Role
from mcpconf.revision import Revision
from mcpconf.server import local
from mcpconf.server.canaries import judged_canary
from mcpconf.server.case import ServerLaunch, launch_case
from mcpconf.server.evidence import read_case
from mcpconf.server.judge import judge
from mcpconf.suite.catalogue import load_catalogue
from mcpconf.suite.install import install_suite
from mcpconf.tasks_extension.plan import select_tasks

if TYPE_CHECKING:
    from pathlib import Path

    from mcpconf.tasks_extension.plan import TasksCase

pytestmark = [
    pytest.mark.process,
    pytest.mark.suite,
    pytest.mark.skipif(
        sys.platform == "win32", reason="descriptors are not inherited there"
    ),
]

LEGS = (Revision.V2025_11_25, Revision.V2026_07_28)
#: Every so many scenarios; `mcpconf canaries` runs them all.
STRIDE = 31
#: The same, of our own.
OURS_STRIDE = 6
#: Those of which a canary has come closest to a pass: the suite calls some green.
CLOSE = (
    "dns-rebinding-protection",
    "input-required-result-unsupported-methods",
    "input-required-result-validate-input",
    "server-session-lifecycle",
    "server-sse-multiple-streams",
    "tasks-status-notifications",
)


def sample(offset: int) -> tuple[PlannedCase, ...]:
    """Of the suite's, another part for each canary, and the close ones for all."""
    cases = select_cases(load_catalogue(role=Role.SERVER), LEGS)
    return tuple(
        case
        for number, case in enumerate(cases)
        if number % STRIDE == offset or case.key.scenario in CLOSE
    )


@pytest.mark.parametrize("name", local.CANARIES)
def test_a_server_that_does_nothing_sensible_passes_nothing(name: str) -> None:
    offset = local.CANARIES.index(name)
    ours = select_tasks()[offset::OURS_STRIDE]
    cases: tuple[PlannedCase | TasksCase, ...] = (*sample(offset), *ours)
    results = judged_canary(
        install_suite(), name, cases, jobs=2, finished=lambda _: None
    )
    assert [each.key for each in results] == [case.key for case in cases]
    wrong = {Outcome.PASSED, Outcome.NOT_RUN, Outcome.HARNESS_ERROR}
    wrong |= {Outcome.UNSUPPORTED, Outcome.NOT_APPLICABLE, Outcome.SUITE_DEFECT}
    assert not {
        str(each.key): each.outcome for each in results if each.outcome in wrong
    }
    blamed = {each.attribution for each in results if each.checks}
    assert Attribution.SUBJECT in blamed
    (stub,) = [each for each in results if each.key.scenario == CLOSE[-1]]
    assert (stub.outcome, stub.attribution) == (Outcome.UNOBSERVED, Attribution.SUITE)
    found = results[-len(ours) :]
    assert {each.outcome for each in found} == {Outcome.UNOBSERVED}
    assert {each.attribution for each in found} == {Attribution.SUBJECT}


def test_the_close_scenarios_are_close() -> None:
    """The suite gives some canary SUCCESS there, and the catalogue says for what."""
    entries = [case.entry for case in sample(0) if case.key.scenario in CLOSE[1:3]]
    assert entries
    assert all(entry.silent_checks for entry in entries)


DIES = """
import os, socket, sys
listener = socket.socket(fileno=int(sys.argv[1]))
connection, _ = listener.accept()
connection.recv(65536)
print("out of memory", file=sys.stderr, flush=True)
os.abort()
"""


class Dying:
    """A server that is bound to die; who asks how it ended waits for it."""

    pid = 7

    def __init__(self, running: Running, stderr: Path) -> None:
        self._running, self._stderr = running, stderr

    def wait_ended(self, timeout_s: float) -> bool:
        return timeout_s > 0

    def ended(self) -> Ended | None:
        return self._running.wait()

    def stderr_tail(self) -> str:
        return self._stderr.read_text()


def test_a_server_that_dies_of_its_first_request_has_crashed(tmp_path: Path) -> None:
    (case,) = select_cases(
        load_catalogue(role=Role.SERVER), LEGS[1:], requested=("tools-list",)
    )
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        program = Program(
            argv=(sys.executable, "-I", "-c", DIES, str(listener.fileno())),
            cwd=tmp_path,
            environment={"PATH": os.environ["PATH"]},
            stdout=tmp_path / "stdout",
            stderr=tmp_path / "stderr",
            deadline_s=60.0,
            pass_fds=(listener.fileno(),),
        )
        with start(program) as running:
            listener.close()
            launch = ServerLaunch(
                suite=install_suite(),
                url=f"http://127.0.0.1:{port}/mcp",
                run_dir=tmp_path / "run",
                parent=tmp_path,
                keep_artifacts=False,
                timeout_s=20.0,
                environment=dict(os.environ),
                server=Dying(running, tmp_path / "stderr"),
            )
            launch_case(launch, case, lambda _: None)
    stored = read_case(launch.run_dir, case.key)
    assert stored is not None
    assert stored.server.ended is not None
    assert stored.server.ended.kind is EndKind.SIGNALLED
    assert CheckStatus.FAILURE in {check.status for check in stored.checks}
    judged = judge(case, stored, Policy())
    assert (judged.outcome, judged.attribution) == (
        Outcome.CRASHED,
        Attribution.SUBJECT,
    )
    assert "was killed by SIGABRT" in judged.reason
    assert judged.reason.endswith("out of memory")
