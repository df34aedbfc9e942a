"""
One program under a deadline on Windows, where no process adopts another's orphans.

The same promise as `mcpconf.process` makes, kept by threads of this process: the
deadline holds whether anyone waits or not, and what the program started is found by
its parents and by its mark. It is not kept when this process is killed.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import subprocess
import threading
import time
from concurrent.futures import Future
from typing import IO, TYPE_CHECKING, Self, TypeVar

import psutil

from mcpconf.process_record import Ended, EndKind, Program, SupervisorError
from mcpconf.process_sweep import MARK, sweep

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

# The values of winbase.h, which Python defines on Windows only.
CREATE_NEW_PROCESS_GROUP = 0x00000200
CTRL_BREAK_EVENT = 1

#: Exit codes from here on are NTSTATUS errors: an access violation is 0xC0000005.
FIRST_NTSTATUS_ERROR = 0xC0000000

#: How long what a program started may outlive it without being called a leftover.
SETTLE_S = 0.5

#: All holders of the pipes are gone by then, so reading ends at once.
DRAIN_S = 2.0

CHUNK = 65536


class WindowsRunning:
    """A program that threads of this process watch over."""

    def __init__(self, program: Program) -> None:
        if program.pass_fds:
            raise ValueError("Windows passes no descriptors on; name a file instead")
        self._program = program
        self._mark = secrets.token_hex(16)
        self._events: queue.SimpleQueue[EndKind] = queue.SimpleQueue()
        self._end: Future[Ended] = Future()
        self._outputs = (
            _Output(program.stdout, program.max_output_bytes),
            _Output(program.stderr, program.max_output_bytes),
        )
        self._started = time.monotonic()
        try:
            process = subprocess.Popen(
                program.argv,
                cwd=program.cwd,
                env={**program.environment, MARK: self._mark},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                creationflags=CREATE_NEW_PROCESS_GROUP,
            )
        except (OSError, ValueError) as error:
            self._end.set_result(self._failed(f"{error}: {program.argv[0]}"))
            return
        assert process.stdout is not None  # noqa: S101 - Popen was asked for both
        assert process.stderr is not None  # noqa: S101
        _in_thread(self._outputs[0].copy, process.stdout)
        _in_thread(self._outputs[1].copy, process.stderr)
        _in_thread(self._announce_exit, process)
        _in_thread(self._oversee, process)

    def wait(self) -> Ended:
        """How the program ended."""
        return self._end.result()

    def stop(self) -> None:
        """End the program now."""
        self._events.put(EndKind.STOPPED)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.wait()

    def _announce_exit(self, process: subprocess.Popen[bytes]) -> None:
        process.wait()
        self._events.put(EndKind.EXITED)

    def _oversee(self, process: subprocess.Popen[bytes]) -> None:
        try:
            self._end.set_result(self._climb(process))
        except BaseException as error:  # noqa: BLE001 - it belongs to who waits
            process.kill()
            self._end.set_exception(error)

    def _climb(self, process: subprocess.Popen[bytes]) -> Ended:
        program = self._program
        known: list[psutil.Process] = []
        try:
            kind = self._events.get(timeout=program.deadline_s)
        except queue.Empty:
            kind = EndKind.TIMED_OUT
        settle_s = SETTLE_S
        if kind is not EndKind.EXITED:
            known = _below(process.pid)
            settle_s = program.grace_s
            with contextlib.suppress(OSError):  # it has just ended
                process.send_signal(CTRL_BREAK_EVENT)
            try:
                process.wait(program.grace_s)
            except subprocess.TimeoutExpired:
                settle_s = 0.0  # the others had the same time
                process.kill()
                process.wait()
        duration_s = time.monotonic() - self._started
        leftovers, error = sweep(self._mark, known, settle_s=settle_s)
        for output in self._outputs:
            output.is_complete.wait(DRAIN_S)
        code, signal = process.returncode, None
        if code >= FIRST_NTSTATUS_ERROR:
            code, signal = None, f"0x{code:08X}"
            kind = EndKind.SIGNALLED if kind is EndKind.EXITED else kind
        return Ended(
            kind=kind,
            exit_code=code,
            signal=signal,
            duration_s=round(duration_s, 4),
            leftovers=leftovers,
            stdout_bytes=self._outputs[0].total,
            stderr_bytes=self._outputs[1].total,
            error=error,
            cpu_s=None,
            supervisor_cpu_s=None,
        )

    def _failed(self, error: str) -> Ended:
        return Ended(
            kind=EndKind.FAILED_TO_START,
            exit_code=None,
            signal=None,
            duration_s=round(time.monotonic() - self._started, 4),
            leftovers=(),
            stdout_bytes=0,
            stderr_bytes=0,
            error=error,
            cpu_s=None,
            supervisor_cpu_s=None,
        )


def _below(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:  # it has ended; the mark tells the rest
        return []


class _Output:
    """One output of the program: its first bytes are kept, all bytes are counted."""

    def __init__(self, path: Path, limit: int) -> None:
        self.total = 0
        #: Set once the pipe has ended; a stranger to the tree may hold it for ever.
        self.is_complete = threading.Event()
        self._room = limit
        self._path = path
        try:
            path.write_bytes(b"")
        except OSError as error:
            raise SupervisorError(f"an output cannot be written: {error}") from None

    def copy(self, stream: IO[bytes]) -> None:
        """Read to the end."""
        with stream, self._path.open("wb", buffering=0) as file:
            while chunk := os.read(stream.fileno(), CHUNK):
                self.total += len(chunk)
                file.write(chunk[: self._room])
                self._room -= min(self._room, len(chunk))
        self.is_complete.set()


def _in_thread(work: Callable[[T], None], subject: T) -> None:
    threading.Thread(target=work, args=(subject,), daemon=True).start()
