"""
One program under a deadline; its whole process tree is gone afterwards.

`start` launches, `Running.wait` says how it ended, and what had to be killed. Any
thread may wait or stop; several programs may run at once. A program that cannot be
started is an ordinary end, `EndKind.FAILED_TO_START`, not an exception.

The work is done by a process of its own (`mcpconf.supervisor`), so that it is also
done when this one is killed. Windows has no such account of a tree and is served by
`mcpconf.process_windows`. This module moves bytes and exit codes; it knows nothing of
MCP.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from mcpconf import supervisor_launch
from mcpconf.decode import Reader, parse_json
from mcpconf.errors import DecodeError
from mcpconf.process_record import (
    Ended,
    EndKind,
    Leftover,
    Program,
    SupervisorError,
)
from mcpconf.process_sweep import MARK, sweep
from mcpconf.process_windows import WindowsRunning

if TYPE_CHECKING:
    from types import TracebackType

__all__ = [
    "EndKind",
    "Ended",
    "Leftover",
    "Program",
    "Running",
    "SupervisorError",
    "run",
    "start",
]

SUPERVISOR = Path(supervisor_launch.__file__).with_name("supervisor.py")

#: Linux alone lets a process adopt its orphaned descendants.
HAS_SUBREAPER = sys.platform == "linux"

#: On a machine that is busy beyond reason the supervisor may be late, but not lost.
SLACK_S = 30.0

#: Where an interpreter may need to be told where its own library is.
LOADER_PATHS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


class Running(Protocol):
    """A program that was started. As a context manager it never outlives its block."""

    def wait(self) -> Ended:
        """
        How the program ended; the same record each time.

        :raises SupervisorError: that cannot be known.
        """

    def stop(self) -> None:
        """
        End the program now, from any thread; `wait` then says ``stopped``.

        A program that has ended by itself stays ``exited`` or ``signalled``.
        """

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def start(program: Program) -> Running:
    """Start a program; it is ended at its deadline whether anyone waits or not."""
    if sys.platform == "win32":
        return WindowsRunning(program)
    return Supervised(program)


def run(program: Program) -> Ended:
    """Start a program and wait for its end."""
    with start(program) as running:
        return running.wait()


class Supervised:
    """A program that a supervisor of its own watches over."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._mark = None if HAS_SUBREAPER else secrets.token_hex(16)
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-X", "utf8", SUPERVISOR],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                # The program could read the secrets in its parent's environment.
                env={key: os.environ[key] for key in LOADER_PATHS if key in os.environ},
                # Ctrl-C is for us; we then stop the program.
                start_new_session=True,
                pass_fds=program.pass_fds,
            )
        except OSError as error:
            raise SupervisorError(f"the supervisor cannot start: {error}") from None
        # Taken away from Popen, whose communicate() would close it.
        self._lifeline, self._process.stdin = self._process.stdin, None
        self._lifeline_lock = threading.Lock()
        self._wait_lock = threading.Lock()
        self._end: Ended | SupervisorError | None = None
        if self._lifeline is not None:
            with contextlib.suppress(BrokenPipeError):  # wait() will say why
                self._lifeline.write(self._spec())
                self._lifeline.flush()

    def _spec(self) -> bytes:
        program = self._program
        marked = {} if self._mark is None else {MARK: self._mark}
        spec = {
            "argv": program.argv,
            "cwd": str(program.cwd.absolute()),
            "environment": {**program.environment, **marked},
            "stdout": str(program.stdout.absolute()),
            "stderr": str(program.stderr.absolute()),
            "deadline_s": program.deadline_s,
            "grace_s": program.grace_s,
            "max_output_bytes": program.max_output_bytes,
            "pass_fds": program.pass_fds,
            "subreaper": self._mark is None,
        }
        return json.dumps(spec).encode() + b"\n"

    def stop(self) -> None:
        """End the program now."""
        with self._lifeline_lock, contextlib.suppress(BrokenPipeError):
            if self._lifeline is not None:
                self._lifeline.close()

    def wait(self) -> Ended:
        """How the program ended."""
        with self._wait_lock:
            if self._end is None:
                try:
                    self._end = self._swept(self._answer())
                except SupervisorError as error:
                    self._end = error
                self.stop()  # the lifeline has no one at its other end
        if isinstance(self._end, SupervisorError):
            raise self._end
        return self._end

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._end is None:
            with contextlib.suppress(SupervisorError):
                self.wait()

    def _answer(self) -> Ended:
        program = self._program
        longest = program.deadline_s + program.grace_s + SLACK_S
        longest += supervisor_launch.SETTLE_S + supervisor_launch.REAP_S
        try:
            answer, fault = self._process.communicate(timeout=longest)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            raise SupervisorError(
                f"the supervisor did not answer within {longest:g} s and was killed; "
                f"look for processes of {program.argv[0]}"
            ) from None
        try:
            return Ended.from_json(Reader(parse_json(answer, "supervisor"), "answer"))
        except DecodeError as error:
            said = fault.decode("utf-8", "replace").strip()[-2000:]
            raise SupervisorError(
                f"the supervisor ended with {self._process.returncode} and no answer "
                f"({error}); it said: {said or 'nothing'}"
            ) from None

    def _swept(self, ended: Ended) -> Ended:
        if self._mark is None:
            return ended
        leftovers, error = sweep(self._mark, settle_s=supervisor_launch.SETTLE_S)
        return replace(ended, leftovers=leftovers, error=ended.error or error)
