"""
Streamable HTTP: which request of which method is answered how.

Three methods and one path. A POST brings one message; at the handshake revisions a GET
opens a session's push stream and a DELETE ends the session; 2026-07-28 has neither, nor
sessions, but headers that mirror the body (`headers`). Every refusal is a `RpcError`
with its HTTP status. The checks of a POST, in their order:

1. ``Host`` and ``Origin`` (403), the path (404), ``Content-Type`` (415)
2. handshake revisions: ``Accept`` (406)
3. the body: too long (413), JSON (400), a message (400)
4. handshake revisions: ``MCP-Protocol-Version`` (400), the session (400, 404);
   2026-07-28, requests only: the mirrors (400)
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import (
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    encode,
    parse,
    refusal,
)
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.headers import (
    BOTH_TYPES,
    VERSION_HEADER,
    check_mirrors,
    is_accepted,
)
from mcpconf.fixture_server.http_access import check_access, path_of
from mcpconf.fixture_server.http_call import JSON_HEADERS, HttpCall
from mcpconf.fixture_server.http_listener import Listener
from mcpconf.fixture_server.http_sessions import Sessions, resume
from mcpconf.fixture_server.session import Session
from mcpconf.revision import Era

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from mcpconf.fixture_server.http_exchange import Exchange
    from mcpconf.fixture_server.options import Options
    from mcpconf.fixture_server.server import Server

    Json = Any

_NOTHING = (("Content-Length", "0"),)
#: Not bound to a session: they open one, or ask whether one is needed.
_OPENING = frozenset({"initialize", "server/discover"})


class Http:
    """The server behind the connections."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._options = server.options
        self._is_stateless = server.options.revision.era is Era.STATELESS
        self._methods = ("POST",) if self._is_stateless else ("GET", "POST", "DELETE")
        self._sessions = Sessions(server.sessions)
        self._is_strict = all(each.checks_headers for each in server.profiles)

    async def respond(self, exchange: Exchange) -> None:
        """Answer one exchange whose body has been read."""
        value: Json = None
        try:
            value, problem = _decoded(exchange)
            self._check_target(exchange)
            if problem is not None and exchange.request.method == "POST":
                self._check_post(exchange)
                raise problem
            await self._serve(exchange, value)
        except RpcError as error:
            await self._refuse(exchange, value, error)

    async def _serve(self, exchange: Exchange, value: Json) -> None:
        method = exchange.request.method
        if path_of(exchange.request.target) == "/healthz":
            await self._health(exchange)
        elif method == "POST":
            self._check_post(exchange)
            await self._post(exchange, value)
        elif method == "GET":
            await self._get(exchange)
        else:
            self._check_version(exchange)
            self._sessions.drop(self._named(exchange))
            await exchange.answer(HTTPStatus.OK, _NOTHING, b"")

    def _check_target(self, exchange: Exchange) -> None:
        request = exchange.request
        check_access(
            request.headers,
            request.target,
            host=self._options.host,
            allowed_origins=self._options.allowed_origins,
        )
        path = path_of(request.target)
        if path == "/healthz" and request.method == "GET":
            return
        if path != self._options.endpoint:
            raise RpcError(METHOD_NOT_FOUND, f"Not found: {path}", status=404)
        if request.method not in self._methods:
            problem = f"Method not allowed: {request.method}"
            raise RpcError(INVALID_REQUEST, problem, status=405)

    def _check_post(self, exchange: Exchange) -> None:
        if not self._is_strict:
            return
        headers = exchange.request.headers
        content_types = headers.get("content-type", ())
        kinds = [each.partition(";")[0].strip().lower() for each in content_types]
        if kinds != ["application/json"]:
            problem = "Invalid request: Content-Type is application/json"
            raise RpcError(INVALID_REQUEST, problem, status=415)
        if not self._is_stateless and not is_accepted(headers, BOTH_TYPES):
            problem = f"Not acceptable: Accept must list {' and '.join(BOTH_TYPES)}"
            raise RpcError(INVALID_REQUEST, problem, status=406)

    def _check_version(self, exchange: Exchange) -> None:
        # Absent, 2025-03-26 is assumed, whose clients do not know the header.
        versions = exchange.request.headers.get(VERSION_HEADER, ())
        is_wrong = versions and list(versions) != [self._options.revision.value]
        if is_wrong and self._is_strict:
            problem = "Invalid request: unsupported MCP-Protocol-Version"
            raise RpcError(INVALID_REQUEST, problem, status=400)

    async def _health(self, exchange: Exchange) -> None:
        health = {"status": "ok", "revision": self._options.revision.value}
        body = json.dumps(health).encode()
        await exchange.answer(HTTPStatus.OK, JSON_HEADERS, body, health)

    async def _get(self, exchange: Exchange) -> None:
        self._check_version(exchange)
        if not is_accepted(exchange.request.headers, ("text/event-stream",)):
            problem = "Not acceptable: Accept must list text/event-stream"
            raise RpcError(INVALID_REQUEST, problem, status=406)
        session = self._named(exchange)
        for event_id in exchange.request.headers.get("last-event-id", ()):
            for profile in self._server.profiles:
                owed = profile.owed(session, event_id)
                if owed is not None:
                    await resume(exchange, owed)
                    return
        for profile in self._server.profiles:
            answer = profile.push_stream()
            if answer is not None:
                await exchange.answer(*answer)
                return
        await self._sessions.hold(session, exchange)

    async def _post(self, exchange: Exchange, value: Json) -> None:
        admitted = self._server.admit(value)
        message = admitted.message
        if admitted.kind == "request":
            await self._request(exchange, self._session(exchange, message), message)
            return
        session = self._session(exchange, message)
        if admitted.kind == "response":
            session.resolve(message)
            await exchange.answer(HTTPStatus.ACCEPTED, _NOTHING, b"")
            return
        await self._notification(exchange, session, message)

    def _session(self, exchange: Exchange, message: Mapping[str, Any]) -> Session:
        headers = exchange.request.headers
        if self._is_stateless:
            if "id" in message and self._is_strict:
                check_mirrors(
                    message,
                    headers,
                    served=self._options.revision.value,
                    schema_of=self._schema_of,
                )
            return Session()
        if "id" in message and message.get("method") in _OPENING:
            return self._sessions.mint()
        self._check_version(exchange)
        return self._named(exchange)

    def _named(self, exchange: Exchange) -> Session:
        headers = exchange.request.headers
        return self._sessions.named_by(headers, or_latest=not self._is_strict)

    def _schema_of(self, name: str) -> Mapping[str, Any] | None:
        tool = self._server.catalogue.named.get(name)
        return None if tool is None else tool.input_schema

    async def _notification(
        self, exchange: Exchange, session: Session, message: Mapping[str, Any]
    ) -> None:
        if message["method"] == "notifications/cancelled":
            params = message.get("params") or {}
            self._sessions.cancel(session, params.get("requestId"))
        await self._server.notified(session, message)
        for profile in self._server.profiles:
            answer = profile.acknowledgement(message)
            if answer is not None:
                await exchange.answer(*answer)
                return
        await exchange.answer(HTTPStatus.ACCEPTED, _NOTHING, b"")

    async def _request(
        self, exchange: Exchange, session: Session, message: Mapping[str, Any]
    ) -> None:
        call = HttpCall(
            exchange,
            session,
            message,
            profiles=self._server.profiles,
            drop_session=lambda: self._sessions.drop(session),
        )
        if call.method == "initialize" and session.id is not None:
            call.opens(session.id, lambda: self._sessions.add(session))
        self._sessions.begin(call)
        try:
            await self._server.handle(call)
            if call.is_cancelled:
                await call.finish()
            # Answered by another task, or never: then until the client gives up.
            await exchange.settled.wait()
        finally:
            self._sessions.over(call)

    async def _refuse(self, exchange: Exchange, value: Json, error: RpcError) -> None:
        headers = list(JSON_HEADERS)
        if error.status == HTTPStatus.METHOD_NOT_ALLOWED:
            headers.append(("Allow", ", ".join(self._methods)))
        answer = refusal(value, error, self._options.revision.era)
        body = b"" if answer is None else encode(answer)
        await exchange.answer(error.status, headers, body, answer)


def _decoded(exchange: Exchange) -> tuple[Json, RpcError | None]:
    """The body as JSON, on record whatever becomes of it; or why it is none."""
    value, problem = None, None
    if exchange.body or exchange.request.method == "POST":
        try:
            value = parse(exchange.body)
        except RpcError as error:
            problem = error
        exchange.log_received(value)
    return value, problem


async def serve(server: Server, _: Options, ready: Callable[[str], None]) -> None:
    """
    Serve until SIGTERM or SIGINT, then end in good order; `ready` is told the URL.

    :raises UsageError: the address cannot be had.
    """
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop(number: int) -> None:
        server.log.write("signal", name=signal.Signals(number).name)
        stopped.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):  # Windows: just ends
            loop.add_signal_handler(number, stop, number)
    async with listening(server) as url:
        ready(url)
        await stopped.wait()


@asynccontextmanager
async def listening(server: Server) -> AsyncIterator[str]:
    """
    A server that answers at the URL, until the block is left.

    :raises UsageError: the address cannot be had.
    """
    options = server.options
    listener = Listener(server, Http(server).respond)
    port = await listener.start()
    host = f"[{options.host}]" if ":" in options.host else options.host
    try:
        yield f"http://{host}:{port}{options.endpoint}"
    finally:
        await listener.stop()
        server.log.write("exit", code=0)
