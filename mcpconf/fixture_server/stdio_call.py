"""One request over stdio, and the stream of lines that all requests share."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import encode
from mcpconf.fixture_server.call import Call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.server import Server
    from mcpconf.fixture_server.session import Session

    Json = Any


class Output:
    """
    The server's standard output: whole lines, each written before anything else is.

    Writing blocks. A client that does not read stops the server, as it would stop any;
    its input is read on by a thread, so that neither waits for the other.
    """

    def __init__(self, server: Server, descriptor: int, connection: int) -> None:
        self._server = server
        self._descriptor = descriptor
        self._connection = connection
        self._is_open = True
        if sys.platform != "win32":  # whoever started us may have left it otherwise
            os.set_blocking(descriptor, True)

    async def push(self, message: Json) -> bool:
        """Write a message as one line, changed by profiles; False: nobody reads."""
        data = encode(message) + b"\n"
        for profile in self._server.profiles:
            changed = profile.line(data)
            data = data if changed is None else changed
        return self.write(data, message)

    def write(self, data: bytes, message: Json) -> bool:
        """Log and write `data` as it is; False: the client has gone."""
        if not self._is_open:
            return False
        # First the log: a process killed between the two has said too much, not less.
        self._server.log.message(
            "sent",
            data.removesuffix(b"\n"),
            message,
            connection=self._connection,
            stream="stdio",
        )
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except (BrokenPipeError, ConnectionResetError):
            self._is_open = False
        return self._is_open

    def cut(self) -> None:
        """End the process at once."""
        self._server.log.write(
            "connection", connection=self._connection, event="closed", by="server"
        )
        os._exit(1)


class StdioCall(Call):
    """A request that came as a line."""

    exchange = None

    def __init__(
        self, message: Mapping[str, Any], session: Session, output: Output
    ) -> None:
        self.message = message
        self.session = session
        self._output = output
        self._is_cancelled = False
        self._waiter: asyncio.Event | None = None

    def cancel(self) -> None:
        """Take note that the client cancelled this request."""
        self._is_cancelled = True
        if self._waiter is not None:
            self._waiter.set()

    async def send(self, message: Json) -> None:
        """Write a message."""
        await self._output.push(message)

    async def respond(self, message: Json, *, status: int = 200) -> None:  # noqa: ARG002 (HTTP's)
        """Write the response."""
        await self._output.push(message)

    async def raw(self, data: bytes, *, message: Json = None) -> None:
        """Write `data` as it is; whoever wants a newline says so."""
        self._output.write(data, message)

    async def cut(self) -> None:
        """End the process at once."""
        self._output.cut()

    async def finish(self) -> None:
        """Do nothing: no stream ends with a request."""

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request of the server and wait for its response."""
        return await self.session.ask(self._output.push, method, params)

    async def cancelled(self) -> str:
        """Wait until ``notifications/cancelled`` names this request."""
        if not self._is_cancelled:
            self._waiter = self._waiter or asyncio.Event()
            await self._waiter.wait()
        return "notification"

    @property
    def is_cancelled(self) -> bool:
        """Whether ``notifications/cancelled`` has named this request."""
        return self._is_cancelled

    @property
    def http(self) -> None:
        """There is no HTTP here."""
        return
