"""
A server started for a test: on a port of its own, ready, and gone afterwards.

It is ready when it has answered a real request of MCP. Its whole tree of processes is
ended with it, which `mcpconf.process` sees to; and nobody answers at the port before
it is started, nor after it was stopped.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf import process
from mcpconf.errors import UsageError
from mcpconf.process import Ended, EndKind, Program, SupervisorError
from mcpconf.server.identity import (
    IdentityError,
    ServerIdentity,
    check_url,
    identify,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpconf.revision import Revision

__all__ = ["RunningServer", "ServerIdentity", "check_url", "identify", "started"]

_PIDFILE = Path(__file__).with_name("pidfile.py")

#: A server lives as long as its run. If the run is killed, its supervisor ends it.
_LIFE_S = 24 * 3600.0
#: From the request to end until the end by force; a server may close its sessions.
_GRACE_S = 5.0
#: Of each output, the first bytes. What a server says last is what explains its end.
_OUTPUT_BYTES = 16 * 1024 * 1024
_TAIL_CHARS = 2000

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
        #: Both are known once it is ready.
        self.url = ""
        self.identity: ServerIdentity
        self._directory = program.stderr.parent
        self._stderr = program.stderr
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

    def stderr_tail(self) -> str:
        """The last of what it has written to standard error. Not redacted."""
        try:
            with self._stderr.open("rb") as stream:
                size = stream.seek(0, 2)
                stream.seek(max(0, size - 4 * _TAIL_CHARS))
                text = stream.read().decode("utf-8", "replace")
        except OSError:
            return ""
        return text.strip()[-_TAIL_CHARS:]

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
        if self.url and _host(self.port):
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
    ready_s: float = 30.0,
    path: str = "/mcp",
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
    port = free_port()
    words = _words(command, port, revision, environment)
    if _host(port):
        raise UsageError(
            f"port {port} answers before the server was started; another server would "
            "be tested; end it, or try again"
        )
    program = _program(words, directory, environment)
    server = RunningServer(words, port, program)
    try:
        _wait_ready(server, path, revision, ready_s)
        yield server
    finally:
        server.stop()


#: Ports that were given away; between that and the server's listening they are free.
_given: set[int] = set()
_given_lock = threading.Lock()


def free_port() -> int:
    """A port on which nobody listens now, and that nobody in this process was given."""
    while True:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = int(one.getsockname()[1])
        with _given_lock:
            if port not in _given:
                _given.add(port)
                return port


def _words(
    command: str, port: int, revision: Revision, environment: Mapping[str, str]
) -> tuple[str, ...]:
    try:
        split = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--server-command: {error}: {command}") from None
    if not split:
        raise UsageError("--server-command: is empty; name a program")
    if not any("{port}" in word for word in split):
        raise UsageError(
            "--server-command: must say {port} where the server's port belongs, as in "
            "'my-server --port {port}'"
        )
    found = shutil.which(split[0], path=environment.get("PATH", ""))
    if found is None:
        raise UsageError(f"--server-command: there is no program {split[0]!r}")
    filled = (
        word.replace("{port}", str(port)).replace("{revision}", revision.value)
        for word in split
    )
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
    server: RunningServer, path: str, revision: Revision, ready_s: float
) -> None:
    """
    Ask until the server answers; its end, or an answer that will not change, ends it.

    :raises UsageError: it did not get ready.
    """
    until = time.monotonic() + ready_s
    pause = _FIRST_PAUSE_S
    problem = f"nobody listens at port {server.port}"
    while (left := until - time.monotonic()) > 0:
        host = _host(server.port)
        if host is not None:
            url = f"http://{host}:{server.port}{path}"
            limit_s = min(left, _LOOK_S)
            try:
                server.identity = identify(url, revision=revision, timeout_s=limit_s)
            except IdentityError as error:
                problem = str(error)
                if not error.is_early:
                    raise UsageError(_failure(server, problem)) from None
            else:
                _check_running(server)
                server.url = url
                return
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
    said = server.stderr_tail()
    tail = f"; it said last:\n{said}" if said else "; it said nothing on stderr"
    return f"--server-command: {shlex.join(server.command)}: {problem}{tail}"


def _host(port: int) -> str | None:
    """The host at which a port of this machine takes connections, if any."""
    is_at_six = _takes("::1", port)
    # Looked at last: a server that listens at both must not seem to be at ::1 alone.
    if _takes("127.0.0.1", port):
        return "127.0.0.1"
    # Not localhost, which on many machines is no name of it.
    return "[::1]" if is_at_six else None


def _takes(address: str, port: int) -> bool:
    with contextlib.suppress(OSError):  # refused, or no such protocol here
        socket.create_connection((address, port), timeout=2.0).close()
        return True
    return False
