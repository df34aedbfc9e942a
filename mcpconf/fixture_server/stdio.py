"""
The stdio transport: a message a line, many requests at a time, one task each.

The process is the connection. It ends 0 when its input ends, and 128 and the signal's
number on SIGTERM or SIGINT; a profile may be more stubborn.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import PARSE_ERROR, parse, refusal
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.lines import Line, LineSplitter
from mcpconf.fixture_server.session import Session
from mcpconf.fixture_server.stdio_call import Output, StdioCall
from mcpconf.revision import Era

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from types import FrameType

    from mcpconf.fixture_server.server import Server

    Json = Any

_CHUNK = 256 * 1024
#: Bytes that are read before they are looked at: what a client can write while it
#: does not read.
_AHEAD = 64 * 1024 * 1024
#: What is still being answered when the input ends has this long.
_GRACE_S = 0.5


async def serve(server: Server, *, stdin: int = 0, stdout: int = 1) -> int:
    """
    Serve until the input ends; the exit code.

    :raises Exception: what no client should be able to cause: a fault of ours.
    """
    return await _Stdio(server, stdin, stdout).run()


class _Stdio:
    def __init__(self, server: Server, stdin: int, stdout: int) -> None:
        self._server = server
        self._log = server.log
        self._stdin = stdin
        self._pid = os.getpid()
        self._output = Output(server, stdout, self._pid)
        self._session = Session(name=f"stdio {self._pid}")
        self._session.push = self._output.push
        self._calls: dict[str | int, StdioCall] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._splitter = LineSplitter()
        self._ahead = 0
        self._changed = threading.Condition()
        self._ended: asyncio.Future[None] = asyncio.Future()

    async def run(self) -> int:
        options = self._server.options
        self._log.start(
            {
                "revision": options.revision.value,
                "transport": options.transport.value,
                "profiles": list(options.profiles),
                "environment": sorted(os.environ),
            }
        )
        self._heed_signals()
        for profile in self._server.profiles:
            await profile.before_start()
        self._log.write("connection", connection=self._pid, event="opened", by="client")
        self._server.sessions.add(self._session)
        # A thread, since a file or a terminal cannot be waited for everywhere.
        reader = threading.Thread(
            target=self._read, args=(asyncio.get_running_loop(),), daemon=True
        )
        reader.start()
        await self._ended
        self._log.write("connection", connection=self._pid, event="closed", by="client")
        for profile in self._server.profiles:
            await profile.at_end_of_input()
        await self._wind_up()
        self._log.write("exit", code=0)
        return 0

    async def _wind_up(self) -> None:
        self._server.subscriptions.end()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_GRACE_S)
        for task in self._tasks:
            task.cancel()

    def _heed_signals(self) -> None:
        ignored = {
            signal.SIGTERM: any(
                profile.ignores_sigterm for profile in self._server.profiles
            )
        }

        def heed(number: int, _frame: FrameType | None) -> None:
            # Not the loop's handler: this one also comes while a write blocks.
            self._log.write("signal", name=signal.Signals(number).name)
            if not ignored.get(signal.Signals(number), False):
                self._log.write("exit", code=128 + number)
                os._exit(128 + number)

        for each in (signal.SIGTERM, signal.SIGINT):
            signal.signal(each, heed)

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read to the end, in a thread of its own."""
        chunk = b" "
        while chunk:
            with self._changed:
                self._changed.wait_for(lambda: self._ahead < _AHEAD)
            try:
                chunk = os.read(self._stdin, _CHUNK)
            except OSError:
                chunk = b""
            with self._changed:
                self._ahead += len(chunk)
            try:
                loop.call_soon_threadsafe(self._take, chunk)
            except RuntimeError:  # the loop is closed: nobody listens any more
                return

    def _take(self, chunk: bytes) -> None:
        with self._changed:
            self._ahead -= len(chunk)
            self._changed.notify()
        for line in self._splitter.feed(chunk) if chunk else self._splitter.close():
            self._receive(line)
        if not chunk and not self._ended.done():
            self._ended.set_result(None)

    def _receive(self, line: Line) -> None:
        value = None
        try:
            value = parse(line.data if line.is_whole else b"")  # too long is no JSON
            self._log_received(line, value)
            admitted = self._server.admit(value)
        except RpcError as error:
            if error.code == PARSE_ERROR:
                self._log_received(line, None)
            answer = refusal(value, error, self._server.era)
            if answer is not None:
                self._start(self._send(answer))
            return
        # A task for each, in the order received: what does not wait is done in order.
        if admitted.kind == "request":
            self._start(self._answer(admitted.message))
        elif admitted.kind == "notification":
            self._start(self._notified(admitted.message))
        else:
            self._session.resolve(admitted.message)

    def _log_received(self, line: Line, value: Json) -> None:
        self._log.message("received", line.data, value, connection=self._pid)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._over)

    def _over(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        fault = task.exception()
        if fault is not None and not self._ended.done():
            self._ended.set_exception(fault)

    async def _send(self, message: dict[str, Any]) -> None:
        await self._output.push(message)

    async def _answer(self, message: dict[str, Any]) -> None:
        session = (
            Session(name=self._session.name)
            if self._server.era is Era.STATELESS
            else self._session
        )
        call = StdioCall(message, session, self._output)
        self._calls[call.id] = call
        try:
            await self._server.handle(call)
        finally:
            if self._calls.get(call.id) is call:
                del self._calls[call.id]

    async def _notified(self, message: dict[str, Any]) -> None:
        if message["method"] == "notifications/cancelled":
            named = message.get("params", {}).get("requestId")
            call = self._calls.get(named) if isinstance(named, str | int) else None
            if call is not None:
                call.cancel()
        await self._server.notified(self._session, message)
