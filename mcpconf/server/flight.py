"""
One exchange while it happens: sent, then read until it ends or is ended.

Whatever a server does, `Flight.run` returns within the time it was given, has read no
more than the limits allow, and leaves no connection.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from http.client import HTTPException, IncompleteRead, RemoteDisconnected
from typing import TYPE_CHECKING

import requests
import urllib3

from mcpconf.decode import parse_json
from mcpconf.errors import DecodeError
from mcpconf.server.exchange import Exchange, Form, How, Received
from mcpconf.server.line import Line, LineAdapter
from mcpconf.server.sse import EventReader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mcpconf.decode import Json

#: Small, so that what one step decompresses is small too.
_CHUNK = 16 * 1024
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """The most that one exchange may take, whatever the server does."""

    connect_s: float = 5.0
    #: From the start to the end of the answer, unless a request says otherwise.
    answer_s: float = 15.0
    #: Of the body, decompressed.
    body_bytes: int = 8 * 1024 * 1024
    #: Of a stream, of any name.
    events: int = 10_000
    #: Kept of what is no JSON, and of each header's value.
    text_chars: int = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What one exchange sends."""

    label: str
    method: str
    url: str
    #: As spelled on the wire.
    headers: Mapping[str, str]
    body: bytes
    #: The body as the record shows it.
    sent: Json
    timeout_s: float


class _EndedError(Exception):
    """The exchange ended in a way that is not complete."""

    def __init__(self, how: How, problem: str | None) -> None:
        super().__init__(how, problem)
        self.how, self.problem = how, problem


class Flight:
    """One exchange; `run` once, `cut` from any thread."""

    def __init__(
        self,
        request: Request,
        limits: HttpLimits,
        *,
        origin: float,
        take: Callable[[Received], bool],
    ) -> None:
        """`take` gets each message as it comes, and says whether it was the last."""
        self._request = request
        self._limits = limits
        self._origin = origin
        self._take = take
        self._start = time.monotonic()
        self._line = Line(
            connect_s=limits.connect_s, until=self._start + request.timeout_s
        )
        self._received: list[Received] = []
        self._headers: Mapping[str, str] = {}
        self._form = Form.NONE
        self._text: str | None = None
        #: None until the answer's head has come.
        self.status: int | None = None

    def cut(self) -> None:
        """End the exchange because nobody wants more of it."""
        self._line.cut(How.CLOSED_BY_US)

    def run(self) -> Exchange:
        """Send, read to the end, and say what it was."""
        timer = threading.Timer(
            self._request.timeout_s, self._line.cut, (How.TIMED_OUT,)
        )
        timer.name, timer.daemon = "mcpconf watchdog", True
        timer.start()
        how, problem = How.COMPLETE, None
        try:
            self._converse()
        except _EndedError as end:
            how, problem = end.how, end.problem
        except _FAULTS as error:
            how, problem = self._fault(error)
        finally:
            timer.cancel()
            timer.join()
            self._line.close()
        return self._exchange(how, problem)

    def _exchange(self, how: How, problem: str | None) -> Exchange:
        request = self._request
        return Exchange(
            label=request.label,
            t0_ms=self._ms(self._start),
            t1_ms=self._ms(time.monotonic()),
            method=request.method,
            sent_headers={k.lower(): v for k, v in request.headers.items()},
            sent=request.sent,
            status=self.status,
            headers=self._headers,
            form=self._form,
            received=tuple(self._received),
            text=self._text,
            how=how,
            problem=problem,
        )

    def _ms(self, moment: float) -> float:
        return round(1000 * (moment - self._origin), 3)

    def _converse(self) -> None:
        request = self._request
        prepared = requests.Request(request.method, request.url).prepare()
        # As they are: a server is also sent what no honest client would send.
        prepared.headers = requests.structures.CaseInsensitiveDict(request.headers)
        prepared.body = request.body
        prepared.headers["Content-Length"] = str(len(request.body))
        adapter = LineAdapter(self._line)
        try:
            with adapter.send(
                prepared, stream=True, timeout=request.timeout_s
            ) as answer:
                self._read(answer)
        finally:
            adapter.close()

    def _read(self, answer: requests.Response) -> None:
        most = self._limits.text_chars
        self._headers = {
            name.lower(): value[:most] for name, value in answer.headers.items()
        }
        self.status = answer.status_code
        if self.status in _REDIRECTS and "location" in self._headers:
            place = self._headers["location"][:200]
            problem = f"HTTP {self.status} redirects to {place}, which is not followed"
            self._form = Form.EMPTY
            raise _EndedError(How.REDIRECTED, problem)
        kind = self._headers.get("content-type", "").partition(";")[0].strip().lower()
        chunks = self._chunks(answer.raw)
        if kind == "text/event-stream":
            self._form = Form.SSE
            self._read_events(chunks)
        else:
            self._read_body(chunks, is_json=kind == "application/json")

    def _chunks(self, raw: urllib3.HTTPResponse) -> Iterator[bytes]:
        """The body as it comes, bounded, to its own end."""
        size = 0
        while chunk := raw.read1(_CHUNK, decode_content=True):
            self._check_cut()
            size += len(chunk)
            if size > self._limits.body_bytes:
                problem = f"the body is larger than {self._limits.body_bytes} bytes"
                raise _EndedError(How.TOO_LARGE, problem)
            yield chunk
        self._check_cut()

    def _check_cut(self) -> None:
        why = self._line.cut_for
        if why is How.TIMED_OUT:
            raise _EndedError(why, self._late())
        if why is not None:
            raise _EndedError(why, None)

    def _late(self) -> str:
        what = "no whole head" if self.status is None else "no end of the answer"
        # What was left of a drive's time is no round number.
        within_s = float(f"{self._request.timeout_s:.3g}")
        return f"{what} within {within_s:g} s"

    def _read_events(self, chunks: Iterator[bytes]) -> None:
        reader = EventReader()
        count = 0
        try:
            for chunk in chunks:
                for event in reader.feed(chunk):
                    count += 1
                    if count > self._limits.events:
                        problem = f"the stream has more than {count - 1} events"
                        raise _EndedError(How.TOO_LARGE, problem)
                    # One without data only tells an id, to whom would reconnect.
                    is_message = event.name == "message" and event.data
                    if is_message and self._got(event.data, f"event {count}"):
                        return
        except UnicodeDecodeError:
            problem = f"the stream is not UTF-8 after {count} events"
            raise _EndedError(How.MALFORMED, problem) from None
        if reader.is_inside:
            problem = "the stream ended inside an event, which an empty line ends"
            raise _EndedError(How.MALFORMED, problem)

    def _read_body(self, chunks: Iterator[bytes], *, is_json: bool) -> None:
        body = bytearray()
        try:
            for chunk in chunks:
                body += chunk
        except BaseException:
            self._keep(body)
            raise
        if is_json and body:
            self._form = Form.JSON
            self._got(bytes(body), "body")
        else:
            self._keep(body)

    def _keep(self, body: bytearray) -> None:
        self._form = Form.OTHER if body else Form.EMPTY
        if body:
            most = self._limits.text_chars
            self._text = bytes(body[: 4 * most]).decode("utf-8", "replace")[:most]

    def _got(self, text: str | bytes, place: str) -> bool:
        """Take one message; whether it was the last that is wanted."""
        try:
            message = parse_json(text, place)
        except DecodeError as error:
            if self._form is Form.JSON:
                self._form = Form.OTHER
            most = self._limits.text_chars
            if isinstance(text, bytes):
                text = text[: 4 * most].decode("utf-8", "replace")
            self._text = text[:most]
            raise _EndedError(How.MALFORMED, f"no valid JSON: {error}") from None
        received = Received(t_ms=self._ms(time.monotonic()), message=message)
        self._received.append(received)
        return self._take(received)

    def _fault(self, error: Exception) -> tuple[How, str | None]:
        """What an exception of the libraries means."""
        try:
            self._check_cut()
        except _EndedError as end:
            return end.how, end.problem
        if self._line.refusal is not None:
            return How.REFUSED, f"no connection: {self._line.refusal}"
        # Those of requests are OSErrors too, and only wrap the others.
        causes = [
            each
            for each in _causes(error)
            if not isinstance(each, requests.RequestException)
        ] or [error]
        if any(isinstance(each, urllib3.exceptions.SSLError) for each in causes):
            return How.TLS, f"no encrypted connection: {_innermost(causes)}"
        if any(isinstance(each, _TIMEOUTS) for each in causes):
            return How.TIMED_OUT, self._late()
        where = "before an answer" if self.status is None else "within the answer"
        if any(isinstance(each, _LOSSES) for each in causes):
            return How.CUT, f"the connection was lost {where}"
        return How.MALFORMED, f"no valid HTTP {where}: {_innermost(causes)}"


_FAULTS = (
    requests.RequestException,
    urllib3.exceptions.HTTPError,
    HTTPException,
    OSError,
)
_TIMEOUTS = (TimeoutError, urllib3.exceptions.TimeoutError)
_LOSSES = (
    RemoteDisconnected,
    IncompleteRead,
    urllib3.exceptions.IncompleteRead,
    OSError,
)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and all it was made of, the outermost first."""
    waiting, seen = [error], set[int]()
    while waiting:
        each = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        inner = (*each.args, getattr(each, "reason", None), each.__cause__)
        waiting += [one for one in inner if isinstance(one, BaseException)]


def _innermost(causes: Sequence[BaseException]) -> str:
    """What the first cause says, as one line of printable text."""
    said = str(causes[-1])[:200] or type(causes[-1]).__name__
    return "".join(each if each.isprintable() else "?" for each in said)
