"""
One HTTP/1.1 connection: requests in, bytes out, and who ended it.

`h11` parses and frames. Everything is bounded: the header section, the body, the time a
request may take to arrive, and the time a client may take to read what it is sent. This
module knows nothing of JSON-RPC.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING

import h11

from mcpconf.fixture_server.sse_writer import PIECE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MAX_BODY = 1024 * 1024
#: Room for many long ``Mcp-Param-*``.
MAX_HEAD = 64 * 1024
#: Seconds between requests, for a request to arrive, and for a client to read on.
IDLE_S, ARRIVE_S, READ_ON_S = 300.0, 10.0, 30.0
#: How long, and for how many bytes, a refused body is read after its answer: closing
#: at once would reset the connection, and the client might never see the answer.
_LINGER_S, _LINGER_BYTES = 2.0, 16 * MAX_BODY


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, its body not yet read."""

    method: str
    target: str
    http_version: str
    #: As sent, in order, with lower-case names.
    pairs: Sequence[tuple[str, str]]
    #: Lower-case name → values.
    headers: Mapping[str, Sequence[str]]


class BadRequestError(Exception):
    """What came cannot be answered but with `status` and a closed connection."""

    def __init__(self, status: int, problem: str) -> None:
        super().__init__(problem)
        self.status = status


class Protocol(asyncio.StreamReaderProtocol):
    """Streams that say at once, reading or not, that the client has gone."""

    def __init__(
        self,
        opened: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Connection],
    ) -> None:
        self.connection: Connection | None = None

        def connected(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> None:
            self.connection = opened(reader, writer)

        super().__init__(asyncio.StreamReader(limit=PIECE_BYTES), connected)

    def eof_received(self) -> bool | None:
        """Tell the connection: a client that closed its half is taken to be gone."""
        if self.connection is not None:
            self.connection.client_left()
        return super().eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the connection."""
        if self.connection is not None:
            self.connection.is_gone = True
            self.connection.client_left()
        super().connection_lost(exc)


class Connection:
    """Reads one request after the other, and writes what answers it."""

    def __init__(
        self, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        #: Its name in the log.
        self.number = number
        self._reader = reader
        self._writer = writer
        self._h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD)
        #: Until the first byte of a request; then it has to arrive in time.
        self._idle: asyncio.Timeout | None = None
        self._is_read_out = False
        #: We closed it, or are about to.
        self.is_closed = False
        #: The client closed the connection, or its half of it, before we did.
        self.is_left = False
        #: The transport is closed, and asyncio has forgotten its event loop.
        self.is_gone = False
        #: Called when the client leaves.
        self.on_left: Callable[[], None] | None = None

    def client_left(self) -> None:
        """The protocol saw the end of what the client sends."""
        if self.is_left or self.is_closed:
            return
        self.is_left = True
        if self.on_left is not None:
            self.on_left()

    async def head(self) -> Request | None:
        """
        The next request, None when there will be none.

        :raises BadRequestError: it is not HTTP, too long, or did not arrive in time.
        """
        try:
            async with asyncio.timeout(IDLE_S) as self._idle:
                event = await self._event()
        except TimeoutError:
            if self._idle is None:  # it began
                raise BadRequestError(408, "the head did not arrive") from None
            return None
        except BadRequestError:
            if self._is_read_out:
                return None
            raise
        self._idle = None
        if not isinstance(event, h11.Request):
            return None
        pairs = [(n.decode(), v.decode("latin-1")) for n, v in event.headers]
        grouped: dict[str, list[str]] = {}
        for name, value in pairs:
            grouped.setdefault(name, []).append(value)
        return Request(
            method=event.method.decode(),
            target=event.target.decode("latin-1"),
            http_version=event.http_version.decode(),
            pairs=pairs,
            headers=grouped,
        )

    async def body(self, request: Request) -> bytes:
        """
        The body of the `request` that `head` gave.

        :raises BadRequestError: it is too long, or did not arrive.
        """
        size = sum(map(int, request.headers.get("content-length", ())))
        if size > MAX_BODY:
            raise _too_long()
        parts: list[bytes] = []
        size = 0
        try:
            async with asyncio.timeout(ARRIVE_S):
                while isinstance(event := await self._event(), h11.Data):
                    parts.append(bytes(event.data))
                    size += len(event.data)
                    if size > MAX_BODY:
                        raise _too_long()
        except TimeoutError:
            raise BadRequestError(408, "the body did not arrive") from None
        return b"".join(parts)

    async def start(
        self, status: int, headers: Sequence[tuple[str, str]], body: bytes | None
    ) -> None:
        """Send a whole answer, or with a `body` of None only its head: a stream."""
        event = h11.Response(
            status_code=status, reason=_phrase(status), headers=list(headers)
        )
        data = self._h11.send(event) or b""
        if body is not None:
            if body:
                data += self._h11.send(h11.Data(data=body)) or b""
            data += self._h11.send(h11.EndOfMessage()) or b""
        await self._write(data)

    async def start_bare(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        """Send a head without any framing; only the end of the connection ends it."""
        lines = [f"HTTP/1.1 {status} {_phrase(status)}"]
        lines += [f"{name}: {value}" for name, value in headers]
        self._h11.send_failed()
        await self._write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    async def data(self, piece: bytes) -> None:
        """Send one piece of a stream, and wait until the client has made room."""
        if self._h11.our_state is h11.SEND_BODY and piece:
            await self._write(self._h11.send(h11.Data(data=piece)) or b"")

    async def end(self) -> None:
        """End a stream in good order."""
        if self._h11.our_state is h11.SEND_BODY:
            await self._write(self._h11.send(h11.EndOfMessage()) or b"")

    def next_request(self) -> bool:
        """Get ready for another request; False: there can be none."""
        done = self._h11.our_state is h11.DONE and self._h11.their_state is h11.DONE
        if done and not self._writer.transport.is_closing():
            self._h11.start_next_cycle()
            return True
        return False

    async def close(self) -> None:
        """Let what was written out, then close; a client that does not read is cut."""
        transport = self._writer.transport
        self.is_closed = True
        try:
            async with asyncio.timeout(READ_ON_S):
                if self._h11.their_state in (h11.SEND_BODY, h11.ERROR):
                    await self._linger()
                transport.close()
                await self._writer.wait_closed()
        except (TimeoutError, OSError):
            self.abort()

    def abort(self) -> None:
        """Close at once; what was not written is lost."""
        self.is_closed = True
        if not self.is_gone:  # a transport that is gone has no event loop to ask
            self._writer.transport.abort()

    async def _linger(self) -> None:
        if self.is_left or not self._writer.can_write_eof():
            return
        self._writer.write_eof()
        left = _LINGER_BYTES
        try:
            async with asyncio.timeout(_LINGER_S):
                while left > 0 and (data := await self._reader.read(PIECE_BYTES)):
                    left -= len(data)
        except TimeoutError:
            return

    async def _event(self) -> h11.Event | type[h11.NEED_DATA | h11.PAUSED]:
        while True:
            try:
                event = self._h11.next_event()
            except h11.RemoteProtocolError as error:
                status = error.error_status_hint
                raise BadRequestError(status, f"not HTTP/1.1: {error}") from None
            if event is not h11.NEED_DATA:
                return event
            await self._receive()

    async def _receive(self) -> None:
        if self._h11.they_are_waiting_for_100_continue:
            go_on = h11.InformationalResponse(
                status_code=100, reason="Continue", headers=[]
            )
            await self._write(self._h11.send(go_on) or b"")
        try:
            data = await self._reader.read(PIECE_BYTES)
        except OSError:  # reset
            data = b""
        self._is_read_out = not data
        if self._idle is not None and data:
            self._idle.reschedule(asyncio.get_running_loop().time() + ARRIVE_S)
            self._idle = None
        self._h11.receive_data(data)

    async def _write(self, data: bytes) -> None:
        transport = self._writer.transport
        if transport.is_closing():
            return
        self._writer.write(data)
        if transport.get_write_buffer_size() <= PIECE_BYTES:
            return
        try:
            async with asyncio.timeout(READ_ON_S):
                await self._writer.drain()
        except TimeoutError:
            self.abort()
        except OSError:
            self.client_left()


def _too_long() -> BadRequestError:
    return BadRequestError(413, f"a body has at most {MAX_BODY} bytes")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
