"""
A listening socket and its connections; stopping it leaves none of them.

Each connection is a task that answers one exchange after the other. An exception that
is no refusal is a bug of ours: the client gets a 500, and the event loop's exception
handler the exception.
"""

from __future__ import annotations

import asyncio
import errno
from functools import lru_cache
from http import HTTPStatus
from typing import TYPE_CHECKING

from mcpconf.errors import UsageError
from mcpconf.fixture_server.admission import INVALID_REQUEST, encode, refusal
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.http_call import JSON_HEADERS
from mcpconf.fixture_server.http_connection import (
    BadRequestError,
    Connection,
    Protocol,
    Request,
)
from mcpconf.fixture_server.http_exchange import Exchange
from mcpconf.redaction import redact_text

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcpconf.fixture_server.options import Options
    from mcpconf.fixture_server.server import Server

INTERNAL_ERROR = -32603
#: What stands for a request that could not be read.
_UNREAD = Request(method="", target="", http_version="", pairs=(), headers={})


class Listener:
    """Accepts connections of one server."""

    def __init__(
        self, server: Server, respond: Callable[[Exchange], Awaitable[None]]
    ) -> None:
        """`respond` answers an exchange whose body has been read."""
        self._options = server.options
        self._profiles = [each.name for each in server.profiles]
        self._log = server.log
        self._respond = respond
        self._connections = 0
        self._exchanges = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._listening: asyncio.Server | None = None

    async def start(self) -> int:
        """
        Listen; the port.

        :raises UsageError: the address cannot be had.
        """
        host, port = self._options.host, self._options.port
        loop = asyncio.get_running_loop()
        try:
            self._listening = await loop.create_server(
                lambda: Protocol(self._opened), host, port
            )
        except (OSError, UnicodeError) as error:
            if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
                problem = f"{host}:{port}: in use; choose another --port"
            else:
                problem = f"{host}:{port}: cannot listen there ({error})"
            raise UsageError(problem) from error
        chosen: int = self._listening.sockets[0].getsockname()[1]
        self._log.start(
            {
                "revision": self._options.revision.value,
                "transport": self._options.transport.value,
                "profiles": self._profiles,
            }
        )
        return chosen

    async def stop(self) -> None:
        """Cancel what is going on, close every connection and the socket."""
        if self._listening is None:
            return
        self._listening.close()
        tasks = tuple(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._listening.wait_closed()

    def _opened(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Connection:
        self._connections += 1
        connection = Connection(self._connections, reader, writer)
        task = asyncio.get_running_loop().create_task(self._run(connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return connection

    async def _run(self, connection: Connection) -> None:
        self._record(connection, "opened", "client")
        try:
            while await self._exchange(connection):
                pass
            await connection.close()
        except Exception as bug:  # noqa: BLE001 (reported)
            asyncio.get_running_loop().call_exception_handler(
                {"message": "a bug of the fixture server", "exception": bug}
            )
        finally:
            connection.abort()  # nothing, where it was closed
            by = "client" if connection.is_left else "server"
            self._record(connection, "closed", by)

    def _record(self, connection: Connection, event: str, by: str) -> None:
        self._log.write("connection", connection=connection.number, event=event, by=by)

    async def _exchange(self, connection: Connection) -> bool:
        """Serve one exchange; False: it was the last."""
        request, problem = _UNREAD, None
        try:
            request = await connection.head() or _UNREAD
            if request is _UNREAD:
                return False
        except BadRequestError as error:
            problem = error
        self._exchanges += 1
        exchange = Exchange(self._exchanges, connection, request, self._log)
        try:
            if problem is None:
                await self._serve(exchange, connection)
            else:
                await _refuse(exchange, problem.status, str(problem), self._options)
        finally:
            exchange.abandon()
        return connection.next_request()

    async def _serve(self, exchange: Exchange, connection: Connection) -> None:
        request = exchange.request
        self._log.headers(
            "request",
            request.pairs,
            exchange=exchange.number,
            connection=connection.number,
            http=request.http_version,
            method=request.method,
            target=_cleared(request.target),
        )
        try:
            exchange.body = await connection.body(request)
        except BadRequestError as error:
            await _refuse(exchange, error.status, str(error), self._options)
            return
        try:
            await self._respond(exchange)
        except Exception:
            await _refuse(exchange, 500, "Internal error", self._options)
            raise


@lru_cache(maxsize=64)
def _cleared(target: str) -> str:
    return redact_text(target)


async def _refuse(
    exchange: Exchange, status: int, problem: str, options: Options
) -> None:
    code = (
        INTERNAL_ERROR
        if status == HTTPStatus.INTERNAL_SERVER_ERROR
        else INVALID_REQUEST
    )
    error = RpcError(code, problem, status=status)
    answer = refusal(None, error, options.revision.era)
    headers = [*JSON_HEADERS, ("Connection", "close")]
    await exchange.answer(status, headers, encode(answer), answer)
