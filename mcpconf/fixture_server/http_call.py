"""
A request that came over HTTP, and the two forms of its answer.

A lone `respond` is plain JSON. Whatever is sent before it opens an event stream, which
`respond` then ends. A profile may ask for a stream, and may frame its events.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import encode
from mcpconf.fixture_server.call import Call
from mcpconf.fixture_server.headers import SESSION_HEADER
from mcpconf.fixture_server.sse_writer import event

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mcpconf.fixture_server.http_exchange import Exchange
    from mcpconf.fixture_server.profile.base import Profile
    from mcpconf.fixture_server.session import Session

    Json = Any

JSON_HEADERS = (("Content-Type", "application/json"),)


class Levers:
    """What only HTTP has: see `Call.http`."""

    def __init__(self, exchange: Exchange, drop: Callable[[], None]) -> None:
        self._exchange = exchange
        self._drop = drop

    @property
    def headers(self) -> Mapping[str, Sequence[str]]:
        """The request's headers: lower-case name → values."""
        return self._exchange.request.headers

    async def answer(
        self, status: int, headers: Sequence[tuple[str, str]], body: bytes | None
    ) -> None:
        """Answer with exactly this; nothing is added but framing."""
        await self._exchange.answer(status, headers, body)

    def drop_session(self) -> None:
        """Forget the session: later requests in its name get 404."""
        self._drop()


class HttpCall(Call):
    """One admitted request of one exchange."""

    def __init__(
        self,
        exchange: Exchange,
        session: Session,
        message: Mapping[str, Any],
        *,
        profiles: Sequence[Profile],
        drop_session: Callable[[], None],
    ) -> None:
        self.message = message
        self.session = session
        self.exchange = exchange.number
        self._headers: tuple[tuple[str, str], ...] = ()
        self._opened: Callable[[], None] | None = None
        self._to = exchange
        self._profiles = profiles
        self._levers = Levers(exchange, drop_session)
        self._is_cancelled = asyncio.Event()

    def opens(self, session_id: str, opened: Callable[[], None]) -> None:
        """An answer that is a result, or a stream, opens the session of this name."""
        self._headers = ((SESSION_HEADER, session_id),)
        self._opened = opened

    def cancel(self) -> None:
        """``notifications/cancelled`` named this request."""
        self._is_cancelled.set()

    @property
    def is_cancelled(self) -> bool:
        """Whether it did."""
        return self._is_cancelled.is_set()

    async def send(self, message: Json) -> None:
        """Send one message as an event."""
        async with self._to.lock:
            await self._event(message)

    async def respond(self, message: Json, *, status: int = 200) -> None:
        """Send the response: as JSON, or as the last event of the stream."""
        if not self._to.is_stream and not self._wants_stream(status):
            is_result = isinstance(message, dict) and "result" in message
            headers = [*JSON_HEADERS, *(self._opening() if is_result else ())]
            await self._to.answer(status, headers, encode(message), message)
            return
        async with self._to.lock:
            await self._event(message)
            await self._to.end()

    async def raw(self, data: bytes, *, message: Json = None) -> None:
        """Put bytes on the stream as they are."""
        async with self._to.lock:
            await self._open_stream()
            if not self._is_silent():
                self._to.log_sent(data, message, "sse")
                await self._to.write((data,))

    async def cut(self) -> None:
        """Close the connection."""
        await self._to.cut()

    async def finish(self) -> None:
        """End the stream without a response; where none was opened, an empty one."""
        async with self._to.lock:
            await self._open_stream()
            await self._to.end()

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Ask on this request's stream; the answer comes in a POST of its own."""
        return await self.session.ask(self.send, method, params)

    async def cancelled(self) -> str:
        """Wait for ``notifications/cancelled``, or for the client to leave."""
        left = asyncio.ensure_future(self._to.settled.wait())
        named = asyncio.ensure_future(self._is_cancelled.wait())
        try:
            while not (self._to.is_left or self.is_cancelled):
                if left.done():  # over: nobody can cancel it by leaving any more
                    await named
                else:
                    await asyncio.wait(
                        (left, named), return_when=asyncio.FIRST_COMPLETED
                    )
        finally:
            left.cancel()
            named.cancel()
        return "notification" if self.is_cancelled else "closed"

    @property
    def http(self) -> Levers:
        """HTTP's own levers."""
        return self._levers

    def _opening(self) -> tuple[tuple[str, str], ...]:
        if self._opened is not None:
            self._opened()
            self._opened = None
        return self._headers

    async def _open_stream(self) -> None:
        if not self._to.is_begun:
            await self._to.open_stream(self._opening())

    def _wants_stream(self, status: int) -> bool:
        # An error with a status of its own cannot be said on a stream.
        return status == HTTPStatus.OK and any(
            profile.opens_stream(self) for profile in self._profiles
        )

    def _is_silent(self) -> bool:
        return not self._to.is_stream or self._to.is_lost

    async def _event(self, message: Json) -> None:
        await self._open_stream()
        if self._is_silent():
            return
        data = encode(message)
        self._to.log_sent(data, message, "sse")
        await self._to.write(self._framed(data))

    def _framed(self, data: bytes) -> Iterable[bytes]:
        for profile in self._profiles:
            framed = profile.frame(self, data.decode())
            if framed is not None:
                return framed
        return (event(data),)
