"""
What a program that is started as a server may do to whoever started it.

Its lines, its stderr, its beginning and its end. Every process of a scenario's server
has the same profiles and begins anew.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from typing import TYPE_CHECKING

from mcpconf.fixture_server.admission import encode
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.fixture_server.profile.own_tool import OwnTool
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.log import Log
    from mcpconf.fixture_server.options import Options

_STDIO = frozenset({Transport.STDIO})
_STDOUT, _STDERR = 1, 2
_NOISE = b"Starting the server...\n\n{not a message\n"
_MORE_NOISE = b"Working...\n"
_PIECE = b"noise on stderr, which is no sign of an error: " + b"-" * 976 + b"\n"


class StdoutNoise(Profile):
    """Lines on stdout that are no messages."""

    name, title = "stdout-noise", "lines that are no messages come on stdout"
    transports = _STDIO

    async def before_start(self) -> None:
        """Say something first."""
        self.fault("before the first message")
        os.write(_STDOUT, _NOISE)

    def line(self, data: bytes) -> bytes | None:
        """Say something before every message."""
        return _MORE_NOISE + data


class StderrFlood(Profile):
    """More on stderr than a pipe holds, before the first call is answered."""

    name, title = "stderr-flood", "a flood on stderr comes before the answer of a call"
    transports = _STDIO
    _is_over = False

    async def intercept(self, call: Call) -> bool:
        """Write it all, once; this blocks everything for as long as nobody reads."""
        if call.method == "tools/call" and not self._is_over:
            self._is_over = True
            self.fault(f"{self.limits.stderr_bytes} bytes", call)
            for _ in range(-(-self.limits.stderr_bytes // len(_PIECE))):
                os.write(_STDERR, _PIECE)
        return False


class SlowStart(Profile):
    """A server that takes its time to begin."""

    name, title = "slow-start", "nothing is answered for a while"
    transports = _STDIO
    _since: float | None = None

    async def intercept(self, call: Call) -> bool:
        """Wait, for so long after the first request; whoever comes in between, too."""
        now = asyncio.get_running_loop().time()
        if self._since is None:
            self._since = now
            self.fault(f"for {self.limits.delay_s:g} s", call)
        await asyncio.sleep(self._since + self.limits.delay_s - now)
        return False


class EarlyExit(Profile):
    """A server that ends before it has answered anything."""

    name, title = "early-exit", "the server exits before its first answer"
    transports = _STDIO

    async def intercept(self, call: Call) -> bool:
        """Leave at the first request."""
        self.fault(f"at {call.method}", call)
        os.write(_STDERR, b"fixture server: something is missing, giving up\n")
        self.log.write("exit", code=3)
        os._exit(3)


class ExitAfterCalls(Profile):
    """A server that dies of one call too many."""

    name, title = "exit-after-calls", "the server exits at one call too many"
    transports = _STDIO

    def __init__(self, options: Options, log: Log) -> None:
        super().__init__(options, log)
        self._calls = 0

    async def intercept(self, call: Call) -> bool:
        """Leave without an answer when `Limits.calls` were answered."""
        self._calls += call.method == "tools/call"
        if self._calls > self.limits.calls:
            self.fault(f"at call {self._calls}", call)
            await call.cut()
        return False


class LongLine(OwnTool):
    """One very long line."""

    name, title = "long-line", "one line is very long"
    transports = _STDIO

    async def serve(self, call: Call) -> None:
        """`Limits.line_bytes` of a message, nearly all of it spaces in the JSON."""
        message = self.response(call)
        spaces = b" " * self.limits.line_bytes
        await call.raw(b"{" + spaces + encode(message)[1:] + b"\n", message=message)


class CrlfLine(OwnTool):
    """A line that ends as text files of some systems do."""

    name, title = "crlf-line", "a line ends with CR LF"
    transports = _STDIO

    async def serve(self, call: Call) -> None:
        """One line."""
        message = self.response(call)
        await call.raw(encode(message) + b"\r\n", message=message)


class InvalidUtf8(OwnTool):
    """A message in no encoding."""

    name, title = "invalid-utf8", "a line is not UTF-8"
    transports = _STDIO
    text = "in no encoding"

    async def serve(self, call: Call) -> None:
        """One line, with two bytes in it that no character has."""
        line = encode(self.response(call)).replace(b"no enc", b"no \xff\xfe enc")
        await call.raw(line + b"\n")


class PartialLine(OwnTool):
    """Half a message, and the end of the server."""

    name, title = "partial-line", "the server exits inside a line"
    transports = _STDIO

    async def serve(self, call: Call) -> None:
        """Half a line, then leave."""
        line = encode(self.response(call))
        await call.raw(line[: len(line) // 2])
        await call.cut()


class UnendedLine(OwnTool):
    """A whole message, but for its line end."""

    name, title = "unended-line", "the last line has no end"
    transports = _STDIO

    async def serve(self, call: Call) -> None:
        """A line without its end, then leave."""
        message = self.response(call)
        await call.raw(encode(message), message=message)
        await call.cut()


class SlowExit(Profile):
    """A server that needs a moment to leave, and leaves by itself."""

    name, title = "slow-exit", "the server needs a moment to exit"
    transports = _STDIO

    async def at_end_of_input(self) -> None:
        """Take the moment."""
        self.fault(f"takes {self.limits.delay_s:g} s")
        await asyncio.sleep(self.limits.delay_s)


class IgnoresEof(Profile):
    """A server that stays when its input ends."""

    name, title = "ignores-eof", "the server stays when its input ends"
    transports = _STDIO

    async def at_end_of_input(self) -> None:
        """Stay."""
        self.fault("its input ended, and it stays")
        await asyncio.sleep(self.limits.linger_s)


class IgnoresSigterm(Profile):
    """A server that SIGTERM does not end."""

    name, title = "ignores-sigterm", "SIGTERM does not end the server"
    transports = _STDIO

    @property
    def ignores_sigterm(self) -> bool:
        """It is logged, as every signal is."""
        return True


class LeavesChild(Profile):
    """A server that starts a program and leaves it behind."""

    name, title = "leaves-child", "the server leaves a child behind when it exits"
    transports = _STDIO

    async def before_start(self) -> None:
        """Start it, in our process group and with nothing of ours open."""
        program = f"import time; time.sleep({self.limits.linger_s})"
        child = subprocess.Popen(  # noqa: ASYNC220 (nobody waits for it)
            (sys.executable, "-I", "-S", "-c", program),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.fault(f"pid {child.pid}")


PROFILES: tuple[type[Profile], ...] = (
    StdoutNoise,
    StderrFlood,
    SlowStart,
    EarlyExit,
    ExitAfterCalls,
    LongLine,
    CrlfLine,
    InvalidUtf8,
    PartialLine,
    UnendedLine,
    SlowExit,
    IgnoresEof,
    IgnoresSigterm,
    LeavesChild,
)
