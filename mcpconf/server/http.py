"""
An HTTP client of MCP that records: each request becomes one `Exchange`.

It never raises for what a server does, and never waits longer than it was told. It
takes nothing from the environment, neither proxies nor passwords, keeps no cookies,
follows no redirect, and tries nothing twice. Any number of threads may use it.
"""

from __future__ import annotations

import functools
import json
import re
import threading
import time
from typing import TYPE_CHECKING, Self

from mcpconf.decode import parse_json
from mcpconf.errors import DecodeError
from mcpconf.server.exchange import is_response
from mcpconf.server.flight import Flight, HttpLimits, Request

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.decode import Json
    from mcpconf.server.exchange import Exchange, Received

__all__ = ["Client", "HttpLimits", "OpenStream"]

_HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    # A compressed stream of events may wait in the compressor.
    "Accept-Encoding": "identity",
    "User-Agent": "mcpconf",
}

#: RFC 9110, section 5: a token, then what is not a control character.
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t -~\x80-\xff]*")


class Client:
    """A client of one URL. As a context manager it leaves no thread."""

    def __init__(
        self,
        url: str,
        *,
        record: Callable[[Exchange], None],
        limits: HttpLimits | None = None,
    ) -> None:
        """`record` gets every exchange when it has ended, one at a time."""
        self.url = url
        self._record_one = record
        self._limits = limits or HttpLimits()
        self._origin = time.monotonic()
        self._record_lock = threading.Lock()
        self._lock = threading.Lock()
        self._flights: set[Flight] = set()
        self._streams: list[OpenStream] = []
        self._is_closed = False

    def post(
        self,
        label: str,
        message: Json | bytes,
        *,
        headers: Mapping[str, str | None] | None = None,
        timeout_s: float | None = None,
        method: str = "POST",
    ) -> Exchange:
        """
        Send one message and read the whole answer.

        A stream is read until the response to the message's id, or to its end. A
        message in bytes is sent as it is; with none, there is no body. A header
        whose value is None is not sent. `method` is that of HTTP.

        :raises ValueError: a header that HTTP cannot carry, or the client is closed.
        """
        request = self._request(label, message, headers, timeout_s, method)

        def is_last(received: Received) -> bool:
            message = received.message
            return isinstance(message, dict) and is_response(message, request.sent)

        with self._lock:
            flight = self._flight(request, is_last)
            self._flights.add(flight)
        try:
            exchange = flight.run()
        finally:
            with self._lock:
                self._flights.discard(flight)
        self.record(exchange)
        return exchange

    def open(
        self,
        label: str,
        message: Json | bytes,
        *,
        headers: Mapping[str, str | None] | None = None,
        timeout_s: float | None = None,
    ) -> OpenStream:
        """
        Send one message and return at once; a thread reads until the answer ends.

        :raises ValueError: as `post`.
        """
        request = self._request(label, message, headers, timeout_s, "POST")
        stream = OpenStream(self.record)
        with self._lock:
            stream.start(self._flight(request, stream.take))
            self._streams.append(stream)
        return stream

    def record(self, exchange: Exchange) -> None:
        """Pass an exchange on, after whichever is being passed on."""
        with self._record_lock:
            self._record_one(exchange)

    def close(self) -> None:
        """End whatever is going on, and wait for it; again is nothing."""
        with self._lock:
            self._is_closed = True
            flights, streams = list(self._flights), list(self._streams)
        for flight in flights:
            flight.cut()
        for stream in streams:
            stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _flight(self, request: Request, take: Callable[[Received], bool]) -> Flight:
        if self._is_closed:
            raise ValueError("the client is closed")
        return Flight(request, self._limits, origin=self._origin, take=take)

    def _request(
        self,
        label: str,
        message: Json | bytes,
        headers: Mapping[str, str | None] | None,
        timeout_s: float | None,
        method: str,
    ) -> Request:
        if isinstance(message, bytes):
            body, sent = message, _shown(message)
        else:
            body = json.dumps(message, ensure_ascii=False).encode()
            sent = message
        return Request(
            label=label,
            method=method,
            url=self.url,
            headers=_merged(_HEADERS, headers or {}),
            body=body,
            sent=sent,
            timeout_s=self._limits.answer_s if timeout_s is None else timeout_s,
        )


class OpenStream:
    """An answer that a thread reads while others look at what has come."""

    def __init__(self, record: Callable[[Exchange], None]) -> None:
        self._record = record
        self._changed = threading.Condition()
        self._received: list[Received] = []
        self._exchange: Exchange | None = None
        self._is_recorded = False
        self._flight: Flight
        self._thread: threading.Thread

    def start(self, flight: Flight) -> None:
        """Begin to read."""
        self._flight = flight
        self._thread = threading.Thread(
            target=self._run, name="mcpconf stream", daemon=True
        )
        self._thread.start()

    def take(self, received: Received) -> bool:
        """Take one message; a stream goes on until it ends by itself."""
        with self._changed:
            self._received.append(received)
            self._changed.notify_all()
        return False

    def _run(self) -> None:
        exchange = self._flight.run()
        with self._changed:
            self._exchange = exchange
            self._changed.notify_all()

    def wait(
        self, wanted: Callable[[Mapping[str, Json]], bool], timeout_s: float
    ) -> Mapping[str, Json] | None:
        """
        The first message that is `wanted`, among past ones too.

        None: the time or the stream is over. `wanted` must not use the stream.
        """
        looked = 0
        until = time.monotonic() + timeout_s
        with self._changed:
            while True:
                for received in self._received[looked:]:
                    message = received.message
                    if isinstance(message, dict) and wanted(message):
                        return message
                looked = len(self._received)
                left = until - time.monotonic()
                if self._exchange is not None or left <= 0:
                    return None
                self._changed.wait(left)

    def wait_quiet(self, quiet_s: float, at_most_s: float) -> None:
        """Return when no message came for `quiet_s`, or the time or stream is over."""
        until = time.monotonic() + at_most_s
        with self._changed:
            while self._exchange is None:
                count = len(self._received)
                left = min(quiet_s, until - time.monotonic())
                if not self._changed.wait_for(
                    functools.partial(self._is_past, count), left
                ):
                    return

    def _is_past(self, count: int) -> bool:
        return self._exchange is not None or len(self._received) > count

    def close(self) -> Exchange:
        """Close it, unless it has ended, and record it; again is the same exchange."""
        self._flight.cut()
        self._thread.join()
        with self._changed:
            is_first, self._is_recorded = not self._is_recorded, True
            exchange = self._exchange
        if exchange is None:
            raise RuntimeError("the thread that read a stream broke; see its traceback")
        if is_first:
            self._record(exchange)
        return exchange


def _shown(body: bytes) -> Json:
    """A body as JSON, or as text where it is none."""
    try:
        return parse_json(body, "body")
    except DecodeError:
        return body.decode("utf-8", "replace")


def _merged(
    given: Mapping[str, str], changes: Mapping[str, str | None]
) -> dict[str, str]:
    """Headers with some replaced, whatever their case, and those of None removed."""
    changed = {name.lower() for name in changes}
    merged = {
        name: value for name, value in given.items() if name.lower() not in changed
    }
    merged |= {name: value for name, value in changes.items() if value is not None}
    for name, value in merged.items():
        if not (_NAME.fullmatch(name) and _VALUE.fullmatch(value)):
            raise ValueError(f"HTTP cannot carry the header {name!r}: {value!r}")
    return merged
