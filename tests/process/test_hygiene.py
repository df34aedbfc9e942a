"""A run's private place, and what still holds its ports: with real processes."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mcpconf.hygiene import ports_still_held, private_dir, sweep

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.process

#: Listens on a free port, prints it, and waits for the end of its input.
LISTENER = (
    "import socket, sys; s = socket.create_server(('127.0.0.1', 0));"
    "print(s.getsockname()[1], flush=True); sys.stdin.read()"
)


def test_a_private_directory_is_closed_to_others_and_gone_afterwards(
    tmp_path: Path,
) -> None:
    with private_dir(tmp_path) as private:
        assert private.stat().st_mode & 0o077 == 0
        (private / "secret").write_text("x")
    assert list(tmp_path.iterdir()) == []


def _ended_pid() -> int:
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    return done.pid


def test_what_a_killed_run_left_is_swept_by_the_next(tmp_path: Path) -> None:
    stale = tmp_path / f"mcpconf-run-{_ended_pid()}-abc123"
    stale.mkdir()
    (stale / "token").write_text("secret")
    with private_dir(tmp_path):
        assert not stale.exists()


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(f"mcpconf-run-{os.getpid()}-abc", id="of a run that lives"),
        pytest.param("mcpconf-run-x-abc", id="of no process"),
        pytest.param("somebody-elses", id="of somebody else"),
    ],
)
def test_what_belongs_to_others_is_left_alone(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    assert sweep(tmp_path) == ()
    assert (tmp_path / name).is_dir()


@pytest.mark.parametrize("inside", [True, False])
def test_a_port_counts_only_when_a_process_of_the_run_holds_it(
    tmp_path: Path, *, inside: bool
) -> None:
    private = tmp_path / "private"
    private.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", LISTENER],
        cwd=private if inside else tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as listener:
        assert listener.stdout is not None
        port = int(listener.stdout.readline())
        held = ports_still_held({port}, private)
        assert held == ((port,) if inside else ())
        assert ports_still_held({port + 1}, private) == ()
        listener.communicate()
