"""
One request and its answer: plain, or a stream of pieces; logged from end to end.

Nothing here raises because the client has gone: what cannot be sent any more is
dropped, and `how` says so in the log.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.sse_writer import STREAM_HEADERS, pieces

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from mcpconf.fixture_server.http_connection import Connection, Request
    from mcpconf.fixture_server.log import Log

    Json = Any


_BODILESS = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)


class Exchange:
    """The answer is given once: by `answer`, or by `open_stream` and what follows."""

    def __init__(
        self, number: int, connection: Connection, request: Request, log: Log
    ) -> None:
        self.number = number
        self.request = request
        self.body = b""
        #: ``complete``, ``client-closed``, ``server-cut``; None while it lasts.
        self.how: str | None = None
        #: The stream was opened; its head is on the way.
        self.is_stream = False
        #: Held while one message is written, since several tasks may have some.
        self.lock = asyncio.Lock()
        #: Over, or left by the client, whichever is first.
        self.settled = asyncio.Event()
        self.is_left = False
        self._is_begun = False
        self._is_current = True
        self._connection = connection
        self._log = log
        connection.on_left = self._left

    @property
    def connection_number(self) -> int:
        """The connection's number in the log."""
        return self._connection.number

    @property
    def is_begun(self) -> bool:
        """Whether an answer has begun."""
        return self._is_begun

    @property
    def is_over(self) -> bool:
        """Whether the answer has ended, one way or the other."""
        return self.how is not None

    @property
    def is_lost(self) -> bool:
        """Whether nothing that is sent now would get anywhere."""
        return self.is_over or self.is_left or self._connection.is_closed

    def _left(self) -> None:
        self.is_left = True
        self.settled.set()

    async def answer(
        self,
        status: int,
        headers: Sequence[tuple[str, str]],
        body: bytes | None,
        message: Json = None,
    ) -> None:
        """
        Give a whole answer; with a `body` of None not even its length.

        `message` is what the body amounts to, for the log.
        """
        if self._is_begun:
            return
        self._is_begun = True
        if body is not None and not _has_length(status, headers):
            headers = [*headers, ("Content-Length", str(len(body)))]
        self._log_head(status, headers)
        if body:
            self.log_sent(body, message, "json")
        left = self.is_left
        if body is not None or status in _BODILESS:
            await self._connection.start(status, headers, body or b"")
        else:
            await self._connection.start_bare(status, headers)
        self._finish(self._ending(left=left))

    async def open_stream(self, headers: Sequence[tuple[str, str]] = ()) -> None:
        """Send the head of an event stream, unless an answer has begun."""
        if self._is_begun:
            return
        self._is_begun = self.is_stream = True
        headers = [*STREAM_HEADERS, *headers]
        if self.request.http_version != "1.0":  # where the end of the connection does
            headers.append(("Transfer-Encoding", "chunked"))
        self._log_head(HTTPStatus.OK, headers)
        await self._connection.start(HTTPStatus.OK, headers, None)

    async def write(self, chunks: Iterable[bytes]) -> None:
        """Write to the stream; each of `chunks` is flushed by itself."""
        for chunk in chunks:
            for piece in pieces(chunk):
                if self.is_over or self._connection.is_closed:
                    return
                await self._connection.data(piece)

    async def end(self) -> None:
        """End the stream in good order."""
        if not self.is_stream or self.is_over:
            return
        left = self.is_left
        await self._connection.end()
        self._finish(self._ending(left=left))

    async def cut(self) -> None:
        """Close the connection, whatever the answer has come to."""
        if self._is_current:
            if not self.is_over:
                self._finish("client-closed" if self.is_left else "server-cut")
            await self._connection.close()

    def abandon(self) -> None:
        """The connection turns to the next exchange, or ends: what is open is cut."""
        self._is_current = False
        if not self.is_over:
            self._finish("client-closed" if self.is_left else "server-cut")

    def log_received(self, message: Json) -> None:
        """Put the request's body on record."""
        self._log.message(
            "received",
            self.body,
            message,
            connection=self.connection_number,
            exchange=self.number,
        )

    def log_sent(self, raw: bytes, message: Json, stream: str) -> None:
        """Put on record what is about to be sent, before the client can react to it."""
        self._log.message(
            "sent",
            raw,
            message,
            connection=self.connection_number,
            exchange=self.number,
            stream=stream,
        )

    def _ending(self, *, left: bool) -> str:
        if left:
            return "client-closed"
        return "server-cut" if self._connection.is_closed else "complete"

    def _log_head(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        self._log.headers("response", headers, exchange=self.number, status=status)

    def _finish(self, how: str) -> None:
        self.how = how
        self._connection.on_left = None
        self._log.write("finished", exchange=self.number, how=how)
        self.settled.set()


def _has_length(status: int, headers: Sequence[tuple[str, str]]) -> bool:
    """Whether a body's end is said already; a chunked one says it itself."""
    framing = {"content-length", "transfer-encoding"}
    return status in _BODILESS or any(name.lower() in framing for name, _ in headers)
