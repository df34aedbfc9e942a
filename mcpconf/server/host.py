"""
A server started for a test: on a port of its own, ready, and gone afterwards.

It is ready when it has answered a real request of MCP, or, where it need not speak,
when it takes connections. Its whole tree of processes is ended with it, which
`mcpconf.process` sees to; and nobody answers at the port before it is started, nor
after it was stopped.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf import process
from mcpconf.errors import UsageError
from mcpconf.process import Ended, EndKind, Program, SupervisorError
from mcpconf.redaction import redact_text
from mcpconf.server.choice import ENDPOINT
from mcpconf.server.identity import (
    IdentityError,
    ServerIdentity,
    check_url,
    identify,
)
from mcpconf.server.port import free_port, host_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpconf.revision import Revision

__all__ = [
    "RunningServer",
    "ServerIdentity",
    "check_url",
    "identify",
    "listening",
    "started",
]

_PIDFILE = Path(__file__).with_name("pidfile.py")

#: A server lives as long as its run. If the run is killed, its supervisor ends it.
_LIFE_S = 24 * 3600.0
#: From the request to end until the end by force; a server may close its sessions.
_GRACE_S = 5.0
#: Of each output, the first bytes. What a server says last is what explains its end.
_OUTPUT_BYTES = 16 * 1024 * 1024
_TAIL_BYTES = 64 * 1024
#: Of what it said before it failed, a message shows this much.
_SHOWN_CHARS = 2000

_READY_S = 30.0
#: Between two looks at a server that does not answer yet.
_FIRST_PAUSE_S, _LONGEST_PAUSE_S = 0.02, 0.5
#: For one look. Who accepts a connection and then says nothing is asked again.
_LOOK_S = 10.0
#: From the end of the program until all that it has left is ended, and that is told.
_SETTLE_S = 30.0


class RunningServer:
    """A server under test that was started here; `stop` leaves nothing of it."""

    def __init__(self, words: tuple[str, ...], port: int, program: Program) -> None:
        self.command = words
        self.port = port
        #: Known once it is ready.
        self.url = ""
        #: The same, but only of one that is asked.
        self.identity: ServerIdentity
        self._directory = program.stderr.parent
        self._stderr = program.stderr
        #: Of its standard error: so much is of cases that are over.
        self._heard = 0
        self._over = threading.Event()
        self._end: Ended | SupervisorError | None = None
        self._running = process.start(program)
        self._waiter = threading.Thread(
            target=self._wait, name="mcpconf server", daemon=True
        )
        self._waiter.start()

    def _wait(self) -> None:
        try:
            self._end = self._running.wait()
        except SupervisorError as error:
            self._end = error
        self._over.set()

    @property
    def pid(self) -> int | None:
        """The process that the command became; not known on Windows."""
        try:
            return int((self._directory / "pid").read_text("ascii"))
        except (OSError, ValueError):
            return None

    def wait_ended(self, timeout_s: float) -> bool:
        """Whether it ends within a time."""
        return self._over.wait(timeout_s)

    def ended(self) -> Ended | None:
        """
        How it ended; None while it runs.

        :raises SupervisorError: that cannot be known.
        """
        if isinstance(self._end, SupervisorError):
            raise self._end
        return self._end

    def turn_page(self) -> None:
        """Forget what it has written to standard error: the next case begins."""
        start, written = self._last_bytes()
        # A line that is not whole yet is of the next case, and whole there.
        self._heard = start + written.rfind(b"\n") + 1

    def stderr_tail(self) -> str:
        """
        The last of what it has written to standard error since the page was turned.

        Not redacted. It is of whole lines: of half a line nobody could tell what is
        secret, for its name may be in the other half.
        """
        start, written = self._last_bytes()
        if start > self._heard:
            written = written.partition(b"\n")[2]
        return written.decode("utf-8", "replace").strip()

    def _last_bytes(self) -> tuple[int, bytes]:
        """The last of the page, and where in the file it begins."""
        try:
            with self._stderr.open("rb") as stream:
                size = stream.seek(0, 2)
                start = stream.seek(max(self._heard, size - _TAIL_BYTES))
                return start, stream.read()
        except OSError:
            return self._heard, b""

    def stop(self) -> None:
        """
        End its whole tree; again is nothing.

        :raises SupervisorError: a part of it may be alive, or its port is still taken.
        """
        self._running.stop()
        self._waiter.join()
        ended = self.ended()
        if (
            ended is not None
            and ended.error
            and ended.kind is not EndKind.FAILED_TO_START
        ):
            raise SupervisorError(f"the server was not wholly ended: {ended.error}")
        # Who never got ready may have failed because another had taken the port.
        if self.url and host_of(self.port):
            raise SupervisorError(
                f"port {self.port} is still answered after the server was stopped; "
                "look for a process of it that left its tree"
            )


@contextmanager
def started(
    command: str,
    *,
    revision: Revision,
    directory: Path,
    environment: Mapping[str, str],
    ready_s: float = _READY_S,
    path: str = ENDPOINT,
) -> Iterator[RunningServer]:
    """
    Start a server, wait until it is ready, and end it when the block is left.

    `command` is cut into words as a POSIX shell does, but no shell runs it. In each
    word ``{port}`` stands for the port it is to listen on, and ``{revision}`` for the
    revision it is tested at. It runs where the caller stands; `directory` takes its
    outputs. `environment` is all it gets.

    :raises UsageError: the command cannot be run as it is, or no server got ready.
    :raises SupervisorError: something of it may be left.
    """
    with _running(command, revision, directory, environment) as server:

        def asked(url: str, limit_s: float) -> str | None:
            try:
                server.identity = identify(url, revision=revision, timeout_s=limit_s)
            except IdentityError as error:
                if not error.is_early:
                    raise UsageError(_failure(server, str(error))) from None
                return str(error)
            return None

        _wait_ready(server, path, ready_s, asked)
        yield server


@contextmanager
def listening(
    command: str, *, directory: Path, environment: Mapping[str, str]
) -> Iterator[RunningServer]:
    """
    As `started`, for a server that need not speak: it takes connections, and is ready.

    :raises UsageError: the command cannot be run as it is, or nobody listens.
    :raises SupervisorError: something of it may be left.
    """
    with _running(command, None, directory, environment) as server:
        _wait_ready(server, ENDPOINT, _READY_S, lambda _, __: None)
        yield server


@contextmanager
def _running(
    command: str,
    revision: Revision | None,
    directory: Path,
    environment: Mapping[str, str],
) -> Iterator[RunningServer]:
    """A server that may not be ready yet."""
    port = free_port()
    words = _words(command, port, revision, environment)
    if host_of(port):
        raise UsageError(
            f"port {port} answers before the server was started; another server would "
            "be tested; end it, or try again"
        )
    program = _program(words, directory, environment)
    server = RunningServer(words, port, program)
    try:
        yield server
    finally:
        server.stop()


def _words(
    command: str,
    port: int,
    revision: Revision | None,
    environment: Mapping[str, str],
) -> tuple[str, ...]:
    try:
        split = shlex.split(command)
    except ValueError as error:
        problem = redact_text(f"--server-command: {error}: {command}")
        raise UsageError(problem) from None
    if not split:
        raise UsageError("--server-command: is empty; name a program")
    if not any("{port}" in word for word in split):
        raise UsageError(
            "--server-command: must say {port} where the server's port belongs, as in "
            "'my-server --port {port}'"
        )
    found = shutil.which(split[0], path=environment.get("PATH", ""))
    if found is None:
        problem = redact_text(f"there is no program {split[0]!r}")
        raise UsageError(f"--server-command: {problem}")
    filled = [word.replace("{port}", str(port)) for word in split]
    if revision is not None:
        filled = [word.replace("{revision}", revision.value) for word in filled]
    return tuple(filled)


def _program(
    words: tuple[str, ...], directory: Path, environment: Mapping[str, str]
) -> Program:
    directory.mkdir(parents=True, exist_ok=True)
    pid = directory / "pid"
    pid.unlink(missing_ok=True)
    argv = words
    if sys.platform != "win32":  # where no process becomes another
        note = (sys.executable, "-I", "-S", str(_PIDFILE), str(pid.absolute()))
        argv = (*note, *words)
    return Program(
        argv=argv,
        cwd=Path.cwd(),
        # Not the allow-list that clients get: a server is started as its developer
        # starts it, and `uv run my-server` needs its caller's home and caches.
        environment=environment,
        stdout=directory / "stdout",
        stderr=directory / "stderr",
        deadline_s=_LIFE_S,
        grace_s=_GRACE_S,
        max_output_bytes=_OUTPUT_BYTES,
    )


def _wait_ready(
    server: RunningServer,
    path: str,
    ready_s: float,
    look: Callable[[str, float], str | None],
) -> None:
    """
    Wait until someone listens and a `look` finds it ready; its end ends that too.

    `look` gets the URL and so many seconds, and says what is missing, or None.

    :raises UsageError: it did not get ready, or `look` says that it never will.
    """
    until = time.monotonic() + ready_s
    pause = _FIRST_PAUSE_S
    problem = f"nobody listens at port {server.port}"
    while (left := until - time.monotonic()) > 0:
        host = host_of(server.port)
        if host is not None:
            url = f"http://{host}:{server.port}{path}"
            missing = look(url, min(left, _LOOK_S))
            if missing is None:
                _check_running(server)
                server.url = url
                return
            problem = missing
        if server.wait_ended(min(pause, max(0.0, until - time.monotonic()))):
            break
        pause = min(2 * pause, _LONGEST_PAUSE_S)
    _check_running(server)
    problem = f"it was not ready within {ready_s:g} s: {problem}"
    raise UsageError(_failure(server, problem))


def _check_running(server: RunningServer) -> None:
    """
    Refuse who has ended: whatever answers is then another.

    :raises UsageError: it has ended.
    """
    if server.pid is not None and not _exists(server.pid):
        server.wait_ended(_SETTLE_S)
    ended = server.ended()
    if ended is None:
        return
    if ended.kind is EndKind.EXITED:
        how = f"it exited with {ended.exit_code} instead of serving in the foreground"
    elif ended.kind is EndKind.SIGNALLED:
        how = f"it was killed by {ended.signal}"
    else:
        how = f"it {ended.kind.value.replace('-', ' ')}: {ended.error or 'no reason'}"
    raise UsageError(_failure(server, how))


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it has become someone else
        return True
    return True


def _failure(server: RunningServer, problem: str) -> str:
    """The message of a failure; nobody redacts it later."""
    said = redact_text(server.stderr_tail())[-_SHOWN_CHARS:]
    tail = f"; it said last:\n{said}" if said else "; it said nothing on stderr"
    command = redact_text(shlex.join(server.command))
    return f"--server-command: {command}: {redact_text(problem)}{tail}"
