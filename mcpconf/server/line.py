"""
The connection of one exchange, which any thread can cut.

Each exchange has a connection of its own: what a server does to one says nothing of
the next, and there is no idle connection that a server may close at the same moment.
To cut is to shut the socket down, which ends every wait for it: for a head that comes
a byte at a time as for a body without an end.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from http.client import HTTPResponse, IncompleteRead
from typing import TYPE_CHECKING, cast

from requests.adapters import HTTPAdapter
from urllib3 import HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

if TYPE_CHECKING:
    from collections.abc import Mapping
    from io import BufferedIOBase, BufferedReader

    from requests import PreparedRequest
    from urllib3 import HTTPConnectionPool

    from mcpconf.server.exchange import How


class Line:
    """The one connection of an exchange."""

    def __init__(self, *, connect_s: float, until: float) -> None:
        """`until` is a time of `time.monotonic`, after which nobody waits."""
        self._connect_s = connect_s
        self._until = until
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        #: Who cut it, and why; None while it was not.
        self.cut_for: How | None = None
        #: Why there is no connection.
        self.refusal: str | None = None

    def dial(self, host: str, port: int) -> socket.socket:
        """
        A connection to the first address of `host` that takes one.

        :raises OSError: none did; `refusal` says what the system said.
        """
        until = min(self._until, time.monotonic() + self._connect_s)
        self.refusal = "the host has no address"
        try:
            places = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError):
            raise ConnectionError(self.refusal) from None
        for family, kind, protocol, _, address in places:
            connection = socket.socket(family, kind, protocol)
            try:
                connection.settimeout(max(0.001, until - time.monotonic()))
                connection.connect(address)
            except TimeoutError:
                connection.close()
                self.refusal = f"nobody answered within {self._connect_s:g} s"
            except OSError as error:
                connection.close()
                self.refusal = (error.strerror or str(error)).lower()
            else:
                return self._taken(connection)
        raise ConnectionError(self.refusal)

    def _taken(self, connection: socket.socket) -> socket.socket:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(max(0.001, self._until - time.monotonic()))
        with self._lock:
            self.refusal = None
            # Of our own: TLS takes the descriptor out of the socket it wraps.
            self._socket = connection.dup()
            if self.cut_for is not None:
                self._shut()
        return connection

    def cut(self, why: How) -> None:
        """End the connection, now or when there is one; the first reason stays."""
        with self._lock:
            if self.cut_for is None:
                self.cut_for = why
            self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):  # the other side was faster
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._socket is not None:
                self._socket.close()
                self._socket = None


class _Head:
    """The lines of an answer's head; its own end is not that of the connection."""

    def __init__(self, stream: BufferedIOBase) -> None:
        self._stream = stream
        self._is_first = True
        self.close = stream.close

    def readline(self, limit: int) -> bytes:
        line = self._stream.readline(limit)
        # What is wrong with the first one, http.client tells better.
        if not self._is_first and len(line) < limit and not line.endswith(b"\n"):
            raise IncompleteRead(line)
        self._is_first = False
        return line


class _Response(HTTPResponse):
    """http.client takes the end of the connection for the end of the head."""

    def begin(self) -> None:
        stream = self.fp
        self.fp = cast("BufferedReader", _Head(stream))
        try:
            super().begin()
        finally:
            if self.fp is not None:
                self.fp = stream


def _plain(line: Line) -> type[HTTPConnection]:
    class Plain(HTTPConnection):
        response_class = _Response

        def _new_conn(self) -> socket.socket:
            return line.dial(self.host, self.port)

    return Plain


def _encrypted(line: Line) -> type[HTTPSConnection]:
    class Encrypted(HTTPSConnection):
        response_class = _Response

        def _new_conn(self) -> socket.socket:
            return line.dial(self.host, self.port or 443)

    return Encrypted


class LineAdapter(HTTPAdapter):
    """Sends one request of `requests` over one line."""

    def __init__(self, line: Line) -> None:
        self._line = line
        super().__init__(pool_connections=1, pool_maxsize=1)

    def get_connection_with_tls_context(
        self,
        request: PreparedRequest,
        verify: bool | str | None,  # noqa: FBT001 (not ours)
        proxies: Mapping[str, str] | None = None,
        cert: tuple[str, str] | str | None = None,
    ) -> HTTPConnectionPool:
        """The pool of the request's URL, whose only connection is the line."""
        pool = cast(
            "HTTPConnectionPool",
            super().get_connection_with_tls_context(request, verify, proxies, cert),
        )
        is_encrypted = isinstance(pool, HTTPSConnectionPool)
        pool.ConnectionCls = (
            _encrypted(self._line) if is_encrypted else _plain(self._line)
        )
        return pool
