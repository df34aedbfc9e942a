"""
The witness's log, decoded: every HTTP exchange of the suite's servers.

A log may stop short, because the suite was killed or the runner kept no more; that is
said. In all else it has the witness's form, or is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from mcpconf.decode import Reader, parse_json
from mcpconf.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: The User-Agent of our driver where it plays the browser; never a sign of life.
DRIVER_AGENT = "mcpconf-browser"


class Ended(StrEnum):
    """How a response ended."""

    FINISHED = "finished"
    #: The connection went first; the log cannot tell who let it go.
    CLOSED = "closed"
    #: It was still open when the suite ended.
    OPEN = "open"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One HTTP request, and what was seen of its response."""

    id: int
    port: int
    method: str
    url: str
    request_headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    request_body: str = ""
    #: False where more was sent than the witness kept.
    request_whole: bool = True
    #: The client broke off before the end of its body.
    aborted: bool = False
    #: When the request was complete.
    started_ms: float
    #: `None` where no head was written.
    status: int | None = None
    response_headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: `None` where the end of the response is not in the log.
    response_body: str | None = None
    response_whole: bool = True
    #: When the head was written: before `started_ms` where the server did not wait for
    #: the request's body.
    answered_ms: float | None = None
    ended: Ended | None = None
    ended_ms: float | None = None

    @property
    def driver(self) -> bool:
        """
        Whether our own driver sent it, which fetches pages and speaks no MCP.

        A client that borrows the name for its messages does not hide them.
        """
        is_page = self.method == "GET" and not any(
            name.startswith("mcp-") for name in self.request_headers
        )
        return is_page and self.request_header("user-agent") == DRIVER_AGENT

    def request_header(self, name: str) -> str | None:
        """The first value of a request header, by its lower-case name."""
        return next(iter(self.request_headers.get(name, ())), None)

    def response_header(self, name: str) -> str | None:
        """The first value of a response header, by its lower-case name."""
        return next(iter(self.response_headers.get(name, ())), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class WireLog:
    """Everything the witness wrote about one scenario."""

    #: In the order in which the requests were complete.
    exchanges: tuple[Exchange, ...]
    #: Every port a server of the suite listened on.
    ports: frozenset[int]
    #: The last line was torn: there was more than is here.
    truncated: bool


@dataclass(slots=True)
class _Records:
    """The records of a log by exchange, while it is read."""

    ports: set[int] = field(default_factory=set)
    requests: dict[int, Reader] = field(default_factory=dict)
    heads: dict[int, Reader] = field(default_factory=dict)
    ends: dict[int, Reader] = field(default_factory=dict)

    def add(self, record: Reader) -> None:
        kind = record.key("type").string()
        if kind in {"listen", "close"}:
            record.only("type", "t", "port").key("t").number()
            self.ports.add(record.key("port").integer())
            return
        places = {
            "request": self.requests,
            "response-start": self.heads,
            "response": self.ends,
        }
        if kind not in places:
            record.key("type").fail("is no record of the witness")
        number = record.key("id")
        if number.integer() in places[kind]:
            number.fail(f"has a second {kind}")
        places[kind][number.integer()] = record


def parse_wire(lines: bytes | str, source: Path | str) -> WireLog:
    """
    Decode the witness's log.

    A last line that is not JSON is what a killed suite leaves: dropped, and said to be.

    :raises DecodeError: a line is not a record of the witness.
    """
    text = lines.decode("utf-8", "replace") if isinstance(lines, bytes) else lines
    # Not `splitlines`: JSON leaves U+2028 and its like unescaped inside strings.
    pieces = text.removesuffix("\n").split("\n") if text else []
    records, truncated = _Records(), False
    for number, line in enumerate(pieces, start=1):
        try:
            value = parse_json(line, source)
        except DecodeError as error:
            if number < len(pieces):
                raise DecodeError(source, f"line {number}", error.problem) from None
            truncated = True
        else:
            records.add(Reader(value, source, f"line {number}"))
    # A response whose request is missing is left out: the suite was killed after it
    # had answered and before the request's body was complete.
    exchanges = [
        _exchange(request, records.heads.get(number), records.ends.get(number))
        for number, request in records.requests.items()
    ]
    return WireLog(
        exchanges=tuple(sorted(exchanges, key=lambda each: (each.started_ms, each.id))),
        ports=frozenset(records.ports),
        truncated=truncated,
    )


def _exchange(request: Reader, head: Reader | None, end: Reader | None) -> Exchange:
    request.only(
        *("type", "t", "id", "port", "remote_port", "http", "method", "url"),
        *("headers", "body", "bytes", "truncated", "aborted"),
    )
    if head:
        head.only("type", "t", "id", "status", "headers")
    if end:
        end.only("type", "t", "id", "body", "bytes", "truncated", "ended")
    return Exchange(
        id=request.key("id").integer(),
        port=request.key("port").integer(),
        method=request.key("method").string(),
        url=request.key("url").string(),
        request_headers=_headers(request.key("headers")),
        request_body=request.key("body").string(),
        request_whole=not request.key("truncated").boolean(),
        aborted=request.key("aborted").boolean(),
        started_ms=request.key("t").number(),
        status=head.key("status").integer() if head else None,
        response_headers=_headers(head.key("headers")) if head else {},
        response_body=end.key("body").string() if end else None,
        response_whole=not end.key("truncated").boolean() if end else True,
        answered_ms=head.key("t").number() if head else None,
        ended=_ended(end.key("ended")) if end else None,
        ended_ms=end.key("t").number() if end else None,
    )


def _headers(headers: Reader) -> dict[str, tuple[str, ...]]:
    return {
        name: each.strings() if isinstance(each.value, list) else (each.string(),)
        for name, each in headers.members()
    }


def _ended(reader: Reader) -> Ended:
    try:
        return Ended(reader.string())
    except ValueError:
        reader.fail("is no way for a response to end")
