"""
An HTTP fixture server inside this process, and none of it left afterwards.

It runs in a thread with an event loop of its own, on a port that the system chooses.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from mcpconf.errors import FixtureError
from mcpconf.fixture_server.http import listening
from mcpconf.fixture_server.log import Log
from mcpconf.fixture_server.server import Server

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mcpconf.fixture_server.options import Options

#: Longer than an announcement takes when every client is slow to read.
_PATIENCE_S = 60.0


class Running:
    """A server that is running; made by `serving`."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = asyncio.Event()
        self._started: Future[str] = Future()
        #: Exceptions that are bugs of the server, in their order.
        self.bugs: list[BaseException] = []
        self._thread = threading.Thread(
            target=self._run, name="mcpconf fixture server", daemon=True
        )

    def start(self) -> None:
        """
        Start the thread; returns when the server listens.

        :raises UsageError: the address cannot be had.
        """
        self._thread.start()
        self.url = self._started.result()

    def stop(self) -> None:
        """End the server and its thread; again is nothing."""
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop ended by itself
                self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return urlsplit(self.url).port or 0

    def announce(self, method: str, params: Mapping[str, Any]) -> int:
        """`Server.announce`, from any thread."""
        if self._loop is None:
            return 0  # not started: nobody to tell
        told = asyncio.run_coroutine_threadsafe(
            self._server.announce(method, params), self._loop
        )
        return told.result(_PATIENCE_S)

    def _run(self) -> None:
        try:
            asyncio.run(self._main())
        except BaseException as error:  # noqa: BLE001 (raised in the other thread)
            if self._started.done():
                self.bugs.append(error)
            else:
                self._started.set_exception(error)

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(self._caught)
        async with listening(self._server) as url:
            self._started.set_result(url)
            await self._stop.wait()

    def _caught(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self.bugs.append(context.get("exception") or RuntimeError(context["message"]))


@contextmanager
def serving(options: Options, log: Log | Path | None = None) -> Iterator[Running]:
    """
    Serve `options` until the block is left; then no thread, connection or port is left.

    :raises FixtureError: on leaving: there was an exception that is a bug of ours.
    :raises UsageError: the address cannot be had.
    :raises OSError: the log cannot be written.
    """
    log = log if isinstance(log, Log) else Log(log)
    try:
        running = Running(Server(options, log))
        try:
            running.start()
            yield running
        finally:
            running.stop()
    finally:
        log.close()
    if running.bugs:
        bug = running.bugs[0]
        raise FixtureError(f"the fixture server broke: {bug!r}") from bug
