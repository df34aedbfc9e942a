"""
The sessions of the handshake revisions over HTTP: minted, named, dropped.

``initialize`` mints one; every later message names it in ``Mcp-Session-Id``: 400 where
it does not, 404 where the session is unknown or ended, and the client starts afresh.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import INVALID_REQUEST, encode
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.headers import SESSION_HEADER
from mcpconf.fixture_server.session import Session
from mcpconf.fixture_server.sse_writer import KEEP_ALIVE, event

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Json = Any
    from mcpconf.fixture_server.http_call import HttpCall
    from mcpconf.fixture_server.http_exchange import Exchange

#: Seconds between two comments on a push stream on which nothing happens.
KEEP_ALIVE_S = 15.0


class Sessions:
    """The sessions that are alive, their push streams and their unanswered calls."""

    def __init__(self, told: set[Session]) -> None:
        """`told` is kept up to date: the sessions that announcements go to."""
        self._told = told
        self._alive: dict[str, Session] = {}
        self._streams: dict[Session, Exchange] = {}
        self._calls: dict[tuple[Session, Any], HttpCall] = {}

    @staticmethod
    def mint() -> Session:
        """A session that is not alive yet: its ``initialize`` may still be refused."""
        session_id = secrets.token_hex(16)
        return Session(session_id[:8], session_id)

    def add(self, session: Session) -> None:
        """From now on requests can name it."""
        if session.id is not None:
            self._alive[session.id] = session
            self._told.add(session)

    def named_by(
        self, headers: Mapping[str, Sequence[str]], *, or_latest: bool = False
    ) -> Session:
        """
        The session that a request names, or without a name the latest.

        :raises RpcError: HTTP 400 or 404.
        """
        names = headers.get(SESSION_HEADER.lower(), ())
        if not names and or_latest and self._alive:
            return list(self._alive.values())[-1]
        if len(names) != 1:
            problem = f"Invalid request: {SESSION_HEADER} is required, once"
            raise RpcError(INVALID_REQUEST, problem, status=400)
        session = self._alive.get(names[0])
        if session is None:
            raise RpcError(INVALID_REQUEST, "Session not found", status=404)
        return session

    def drop(self, session: Session) -> None:
        """Forget a session; its push stream ends."""
        self._told.discard(session)
        if session.id is not None:
            self._alive.pop(session.id, None)
        stream = self._streams.pop(session, None)
        if stream is not None:
            stream.settled.set()

    def begin(self, call: HttpCall) -> None:
        """Let `cancel` find a call."""
        self._calls[call.session, call.id] = call

    def over(self, call: HttpCall) -> None:
        """Forget a call."""
        if self._calls.get((call.session, call.id)) is call:
            del self._calls[call.session, call.id]

    def cancel(self, session: Session, request_id: Json) -> None:
        """``notifications/cancelled`` names a request; unknown ones are ignored."""
        if isinstance(request_id, str | int):
            call = self._calls.get((session, request_id))
            if call is not None:
                call.cancel()

    async def hold(self, session: Session, exchange: Exchange) -> None:
        """
        Serve a session's push stream until the client leaves or the session ends.

        :raises RpcError: HTTP 409: the session has one already.
        """
        if session in self._streams:
            problem = "Invalid request: the session has a stream already"
            raise RpcError(INVALID_REQUEST, problem, status=409)

        async def push(message: Json) -> bool:
            return await _push(exchange, message)

        self._streams[session], session.push = exchange, push
        try:
            await exchange.open_stream()
            await _keep_alive(exchange)
        finally:
            session.push = None
            if self._streams.get(session) is exchange:
                del self._streams[session]
        await exchange.end()


async def resume(exchange: Exchange, message: Json) -> None:
    """Serve a stream of one message that an earlier stream ended without."""
    await exchange.open_stream()
    await _push(exchange, message)
    await exchange.end()


async def _push(exchange: Exchange, message: Json) -> bool:
    data = encode(message)
    async with exchange.lock:
        if exchange.is_lost or exchange.settled.is_set():
            return False
        exchange.log_sent(data, message, "push")
        await exchange.write((event(data),))
    return True


async def _keep_alive(exchange: Exchange) -> None:
    while not exchange.settled.is_set():
        try:
            async with asyncio.timeout(KEEP_ALIVE_S):
                await exchange.settled.wait()
        except TimeoutError:
            async with exchange.lock:
                await exchange.write((KEEP_ALIVE,))
