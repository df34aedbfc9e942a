"""
The ladder on Windows, with fakes for what only Windows has.

`FakePopen` is a program that ends when the script says so; the sweep runs against a
fake process table.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from mcpconf import process_windows
from mcpconf.process import EndKind, Leftover, Program, SupervisorError
from mcpconf.process_sweep import MARK, sweep
from mcpconf.process_windows import CTRL_BREAK_EVENT, WindowsRunning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

#: No test waits that long; it only bounds a defect.
PATIENCE_S = 30.0

ACCESS_VIOLATION = 0xC0000005
ENDED_BY_CTRL_BREAK = 0xC000013A


@dataclass
class FakePopen:
    """A program on Windows, as far as `subprocess.Popen` shows it."""

    #: Exits with this by itself, at once.
    exits: int | None = None
    #: Exits with this when it is asked to.
    on_break: int | None = None
    output: bytes = b""
    pid: int = 4711
    returncode: int = -1
    options: dict[str, Any] = field(default_factory=dict)
    said: list[str] = field(default_factory=list)

    def __call__(self, argv: Sequence[str], **options: object) -> FakePopen:
        self.options = {"argv": tuple(argv), **options}
        self.has_ended = threading.Event()
        reading, writing = os.pipe()
        os.write(writing, self.output)
        os.close(writing)
        self.stdout = os.fdopen(reading, "rb")
        reading, writing = os.pipe()
        os.close(writing)
        self.stderr = os.fdopen(reading, "rb")
        if self.exits is not None:
            self.end(self.exits)
        return self

    def end(self, code: int) -> None:
        self.returncode = code
        self.has_ended.set()

    def wait(self, timeout: float | None = None) -> int:
        if not self.has_ended.wait(PATIENCE_S if timeout is None else timeout):
            raise subprocess.TimeoutExpired("fake", timeout or PATIENCE_S)
        return self.returncode

    def send_signal(self, number: int) -> None:
        self.said.append(f"signal {number}")
        if self.on_break is not None:
            self.end(self.on_break)

    def kill(self) -> None:
        self.said.append("kill")
        self.end(1)


@dataclass(eq=False)
class FakeProcess:
    """One entry of a fake process table."""

    pid: int
    mark: str | None = None
    table: list[FakeProcess] = field(default_factory=list)
    is_foreign: bool = False
    #: What it starts when it is killed.
    heir: FakeProcess | None = None
    withstands: bool = False

    def environ(self) -> dict[str, str]:
        if self.is_foreign:
            raise psutil.AccessDenied(self.pid)
        return {} if self.mark is None else {MARK: self.mark}

    def name(self) -> str:
        return f"name{self.pid}"

    def exe(self) -> str:
        return f"/programs/program{self.pid}"

    def kill(self) -> None:
        if self.withstands:
            raise psutil.AccessDenied(self.pid)
        self.table.remove(self)
        if self.heir:
            self.heir.table = self.table
            self.table.append(self.heir)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> list[FakeProcess]:
    """The processes there are, in place of the machine's own."""
    processes: list[FakeProcess] = []

    def wait_procs(
        waited: Iterable[FakeProcess],
        timeout: float,  # noqa: ARG001 - psutil's name
    ) -> tuple[list[FakeProcess], list[FakeProcess]]:
        listed = list(waited)
        alive = [process for process in listed if process in processes]
        return [process for process in listed if process not in alive], alive

    monkeypatch.setattr(psutil, "process_iter", lambda: list(processes))
    monkeypatch.setattr(psutil, "wait_procs", wait_procs)
    monkeypatch.setattr(process_windows, "_below", lambda _: [])
    return processes


@pytest.fixture
def begin(
    tmp_path: Path, table: list[FakeProcess], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., WindowsRunning]:
    """Start a fake program; the table is empty unless the test fills it."""
    assert table == []

    def start(popen: FakePopen, **options: int) -> WindowsRunning:
        monkeypatch.setattr(subprocess, "Popen", popen)
        return WindowsRunning(program(tmp_path, **options))

    return start


def program(
    place: Path, *, deadline_s: float = PATIENCE_S, max_output_bytes: int = 1000
) -> Program:
    return Program(
        argv=("client.exe", "--fast"),
        cwd=place,
        environment={"HOME": "here"},
        stdout=place / "stdout",
        stderr=place / "stderr",
        deadline_s=deadline_s,
        grace_s=0.1,
        max_output_bytes=max_output_bytes,
    )


def test_an_exit_is_reported_with_its_code(
    begin: Callable[..., WindowsRunning],
) -> None:
    popen = FakePopen(exits=3)

    ended = begin(popen).wait()

    assert (ended.kind, ended.exit_code, ended.signal) == (EndKind.EXITED, 3, None)
    assert ended.cpu_s is None  # unknown is not zero
    assert popen.said == []


def test_a_program_starts_in_a_group_of_its_own_with_a_mark(
    begin: Callable[..., WindowsRunning], tmp_path: Path
) -> None:
    popen = FakePopen(exits=0)

    begin(popen).wait()

    environment = popen.options["env"]
    assert popen.options["argv"] == ("client.exe", "--fast")
    assert popen.options["cwd"] == tmp_path
    assert popen.options["stdin"] == subprocess.DEVNULL
    assert popen.options["creationflags"] == 0x200
    assert environment.keys() == {"HOME", MARK}
    assert len(environment[MARK]) == 32


def test_an_access_violation_is_a_signal_and_not_an_exit(
    begin: Callable[..., WindowsRunning],
) -> None:
    ended = begin(FakePopen(exits=ACCESS_VIOLATION)).wait()

    assert (ended.kind, ended.exit_code) == (EndKind.SIGNALLED, None)
    assert ended.signal == "0xC0000005"


def test_a_hang_is_asked_to_end_at_the_deadline(
    begin: Callable[..., WindowsRunning],
) -> None:
    popen = FakePopen(on_break=ENDED_BY_CTRL_BREAK)

    ended = begin(popen, deadline_s=0).wait()

    assert (ended.kind, ended.signal) == (EndKind.TIMED_OUT, "0xC000013A")
    assert popen.said == [f"signal {CTRL_BREAK_EVENT}"]


def test_a_program_deaf_to_ctrl_break_is_killed_after_the_grace(
    begin: Callable[..., WindowsRunning],
) -> None:
    popen = FakePopen()
    with begin(popen) as running:
        running.stop()
        ended = running.wait()

    assert ended.kind is EndKind.STOPPED
    assert ended.duration_s >= 0.1
    assert popen.said == [f"signal {CTRL_BREAK_EVENT}", "kill"]


def test_leaving_the_block_stops_the_program(
    begin: Callable[..., WindowsRunning],
) -> None:
    popen = FakePopen(on_break=0)
    with begin(popen) as running:
        pass

    assert running.wait().kind is EndKind.STOPPED


def test_an_output_is_counted_and_cut(
    begin: Callable[..., WindowsRunning], tmp_path: Path
) -> None:
    ended = begin(FakePopen(exits=0, output=b"0123456789"), max_output_bytes=4).wait()

    assert (ended.stdout_bytes, ended.stderr_bytes) == (10, 0)
    assert (tmp_path / "stdout").read_bytes() == b"0123"
    assert (tmp_path / "stderr").read_bytes() == b""


def test_what_the_sweep_finds_is_reported(
    begin: Callable[..., WindowsRunning], table: list[FakeProcess]
) -> None:
    popen = FakePopen()
    with begin(popen) as running:
        mark = popen.options["env"][MARK]
        table += [FakeProcess(8, mark, table), FakeProcess(9, "other", table)]
        popen.end(0)
        ended = running.wait()

    assert [leftover.pid for leftover in ended.leftovers] == [8]
    assert [process.pid for process in table] == [9]


def test_a_child_that_dropped_its_mark_is_known_by_its_parent(
    begin: Callable[..., WindowsRunning],
    table: list[FakeProcess],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table.append(FakeProcess(8, None, table))
    monkeypatch.setattr(process_windows, "_below", lambda pid: table * (pid == 4711))

    with begin(FakePopen(on_break=0)) as running:
        running.stop()
        ended = running.wait()

    assert [leftover.pid for leftover in ended.leftovers] == [8]
    assert table == []


def test_a_program_that_cannot_start_is_an_end_and_not_an_exception(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise FileNotFoundError(2, "The system cannot find the file specified")

    monkeypatch.setattr(subprocess, "Popen", refuse)
    with WindowsRunning(program(tmp_path)) as running:
        ended = running.wait()

    assert ended.kind is EndKind.FAILED_TO_START
    assert "cannot find the file specified: client.exe" in (ended.error or "")


def test_an_output_that_cannot_be_written_is_an_error_before_the_start(
    begin: Callable[..., WindowsRunning], tmp_path: Path
) -> None:
    (tmp_path / "stderr").mkdir()
    popen = FakePopen(exits=0)

    with pytest.raises(SupervisorError, match="an output cannot be written"):
        begin(popen)
    assert popen.options == {}


def test_a_fault_of_ours_reaches_who_waits(
    begin: Callable[..., WindowsRunning], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(process_windows, "sweep", fail)
    popen = FakePopen(exits=0)

    with pytest.raises(RuntimeError, match="a fault of ours"):
        begin(popen).wait()
    assert popen.said == ["kill"]


def test_descriptors_are_refused_rather_than_forgotten(tmp_path: Path) -> None:
    asked = Program(
        argv=("client.exe",),
        cwd=tmp_path,
        environment={},
        stdout=tmp_path / "stdout",
        stderr=tmp_path / "stderr",
        deadline_s=1.0,
        pass_fds=(7,),
    )
    with pytest.raises(ValueError, match="passes no descriptors on"):
        WindowsRunning(asked)


def test_a_sweep_kills_only_what_bears_the_mark(table: list[FakeProcess]) -> None:
    table += [
        FakeProcess(1, None, table),
        FakeProcess(2, "ours", table),
        FakeProcess(3, "theirs", table),
        FakeProcess(4, "ours", table, is_foreign=True),
    ]

    leftovers, error = sweep("ours", settle_s=0.0)

    assert leftovers == (Leftover(pid=2, name="name2", description="program2"),)
    assert error is None
    assert [process.pid for process in table] == [1, 3, 4]


def test_a_sweep_goes_on_until_nothing_is_left(table: list[FakeProcess]) -> None:
    """A process may start another at the moment it is killed."""
    third = FakeProcess(3, "ours")
    second = FakeProcess(2, "ours", heir=third)
    table.append(FakeProcess(1, "ours", table, heir=second))

    leftovers, error = sweep("ours", settle_s=0.0)

    assert [leftover.pid for leftover in leftovers] == [1]
    assert (error, table) == (None, [])


def test_a_sweep_names_who_withstood(table: list[FakeProcess]) -> None:
    table.append(FakeProcess(5, "ours", table, withstands=True))

    leftovers, error = sweep("ours", settle_s=0.0)

    assert [leftover.pid for leftover in leftovers] == [5]
    assert error == "could not be killed: 5"


def test_a_sweep_finds_a_real_process_by_its_mark() -> None:
    """The one test here without fakes: psutil reads marks on this platform."""
    mark = os.urandom(8).hex()
    with subprocess.Popen(
        [sys.executable, "-I", "-c", "input()"],
        env=os.environ | {MARK: mark},
        stdin=subprocess.PIPE,
    ) as real:
        leftovers, error = sweep(mark, settle_s=0.0)

    assert [leftover.pid for leftover in leftovers] == [real.pid]
    assert error is None
