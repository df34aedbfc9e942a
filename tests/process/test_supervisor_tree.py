"""The process table, read from a real kernel."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mcpconf import supervisor_tree
from mcpconf.supervisor_tree import (
    Process,
    descendants,
    own_children,
    own_living_children,
    read_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
]

RENAMES_ITSELF = """
import sys
with open("/proc/self/comm", "w") as comm:
    comm.write("a) S 1 (b")
sys.stdout.write("!")
sys.stdout.flush()
sys.stdin.read()
"""


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process with a misleading name, which waits for its input to end."""
    command = [sys.executable, "-I", "-S", "-c", RENAMES_ITSELF]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.read(1) == b"!"
        yield process


def test_a_name_cannot_pose_as_other_fields(child: subprocess.Popen[bytes]) -> None:
    process = Process(child.pid)

    assert process.name == "a) S 1 (b"
    assert process.parent == os.getpid()
    assert process.group == os.getpgid(child.pid)


def test_a_child_is_found_both_ways(child: subprocess.Popen[bytes]) -> None:
    assert child.pid in [process.pid for process in descendants()]
    assert child.pid in own_children()


def test_children_are_found_where_the_kernel_does_not_list_them(
    child: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read(path: str) -> bytes:
        if path.endswith("/children"):
            raise FileNotFoundError(path)
        return read_file(path)

    monkeypatch.setattr(supervisor_tree, "read_file", read)

    assert child.pid in own_children()


def test_a_zombie_is_a_child_but_does_not_live(child: subprocess.Popen[bytes]) -> None:
    assert child.pid in [process.pid for process in own_living_children()]
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    assert child.pid in own_children()
    assert child.pid not in [process.pid for process in own_living_children()]


def test_a_pid_that_passed_to_another_process_gets_no_signal(
    child: subprocess.Popen[bytes],
) -> None:
    process = Process(child.pid)
    process.started -= 1
    process.signal(signal.SIGKILL)
    child.communicate(b"", timeout=30.0)
    assert child.returncode == 0


def test_a_pid_that_did_not_change_hands_gets_the_signal(
    child: subprocess.Popen[bytes],
) -> None:
    Process(child.pid).signal(signal.SIGKILL)
    assert child.wait(timeout=30.0) == -signal.SIGKILL


def test_a_process_that_has_ended_gets_no_signal(
    child: subprocess.Popen[bytes],
) -> None:
    process = Process(child.pid)
    child.communicate(timeout=30.0)

    process.signal(signal.SIGKILL)  # no exception
