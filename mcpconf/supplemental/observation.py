"""
What was seen of one scenario: the wire logs of its servers and the client's results.

Decoded once, at the door; checks ask it questions and never see a file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from mcpconf.decode import Reader, parse_json
from mcpconf.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcpconf.decode import Json
    from mcpconf.revision import Revision
    from mcpconf.transport import Transport


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One message on the wire, in either direction."""

    t_ms: float
    pid: int
    connection: int
    #: HTTP's exchange; None on stdio.
    exchange: int | None
    #: Position in the log: what came first.
    index: int
    bytes: int
    sha256: str
    #: The decoded message; None when it is not JSON, or too long to be kept.
    message: Any
    text: str | None
    cut: bool
    #: ``json``, ``sse``, ``push``, ``stdio`` for what the server sent; else None.
    stream: str | None = None

    def _member(self, name: str) -> Any:
        return self.message.get(name) if isinstance(self.message, dict) else None

    @property
    def method(self) -> str | None:
        """Its method, where it is a request or a notification."""
        method = self._member("method")
        return method if isinstance(method, str) else None

    @property
    def id(self) -> Any:
        """Its id; None where there is none."""
        return self._member("id")

    @property
    def params(self) -> dict[str, Any]:
        """Its params; empty where there are none."""
        params = self._member("params")
        return params if isinstance(params, dict) else {}

    @property
    def meta(self) -> dict[str, Any]:
        """``params._meta``; empty where there is none."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @property
    def meta_version(self) -> str | None:
        """The protocol version that a stateless request names in its ``_meta``."""
        version = self.meta.get("io.modelcontextprotocol/protocolVersion")
        return version if isinstance(version, str) else None

    @property
    def result(self) -> Any:
        """Its result, where it is an answer."""
        return self._member("result")

    @property
    def error(self) -> Any:
        """Its error, where it is one."""
        return self._member("error")

    @property
    def is_request(self) -> bool:
        """A method and an id."""
        return (
            isinstance(self.message, dict)
            and self.method is not None
            and "id" in self.message
        )

    @property
    def is_notification(self) -> bool:
        """A method and no id."""
        return self.method is not None and "id" not in self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One HTTP request and how it was answered."""

    id: int
    connection: int
    t_ms: float
    method: str
    target: str
    headers: Mapping[str, tuple[str, ...]]
    status: int | None = None
    response_headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: ``complete``, ``client-closed``, ``server-cut``; None when it never ended.
    how: str | None = None

    def header(self, name: str) -> str | None:
        """The only value of a request header; None when absent or repeated."""
        values = self.headers.get(name.lower(), ())
        return values[0] if len(values) == 1 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Anything else that a server put on record."""

    t_ms: float
    pid: int
    index: int
    type: str
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerView:
    """What one server saw and did, over all its processes."""

    received: tuple[Seen, ...] = ()
    sent: tuple[Seen, ...] = ()
    exchanges: tuple[Exchange, ...] = ()
    events: tuple[Event, ...] = ()
    #: The last line was torn: the server was killed while writing.
    truncated: bool = False

    def requests(self, *methods: str) -> tuple[Seen, ...]:
        """The client's requests, of these methods or of all, in order."""
        return tuple(
            each
            for each in self.received
            if each.is_request and (not methods or each.method in methods)
        )

    def notifications(self, *methods: str) -> tuple[Seen, ...]:
        """The client's notifications, of these methods or of all, in order."""
        return tuple(
            each
            for each in self.received
            if each.is_notification and (not methods or each.method in methods)
        )

    def calls(self, tool: str) -> tuple[Seen, ...]:
        """The client's ``tools/call`` requests of one tool, in order."""
        requests = self.requests("tools/call")
        return tuple(each for each in requests if each.params.get("name") == tool)

    def answer_to(self, request: Seen) -> Seen | None:
        """The first answer the server sent under the request's id."""
        for each in self.sent:
            if (
                each.index > request.index
                and each.connection == request.connection
                and each.exchange == request.exchange
                and each.method is None
                and each.id == request.id
                and type(each.id) is type(request.id)
            ):
                return each
        return None

    def exchange_of(self, seen: Seen) -> Exchange | None:
        """The HTTP exchange a message travelled in."""
        return next((e for e in self.exchanges if e.id == seen.exchange), None)

    def of_type(self, kind: str) -> tuple[Event, ...]:
        """Records of one type: ``start``, ``connection``, ``fault`` and so on."""
        return tuple(each for each in self.events if each.type == kind)

    def faults(self, profile: str) -> tuple[Event, ...]:
        """The provocations of one profile that were really served."""
        faults = self.of_type("fault")
        return tuple(each for each in faults if each.value.get("profile") == profile)


class StepState(StrEnum):
    """What became of one step."""

    OK = "ok"
    ERROR = "error"
    UNSUPPORTED = "unsupported"
    TIMED_OUT = "timed-out"
    #: Never taken: the client was gone by then.
    MISSING = "missing"


@dataclass(frozen=True, slots=True, kw_only=True)
class StepResult:
    """What the client said of one step, and what its driver saw then."""

    id: str
    verb: str
    state: StepState
    value: Any = None
    #: ``rpc``, ``refused``, ``transport``, ``timeout``, ``other``.
    error_kind: str | None = None
    error_code: int | None = None
    #: The error's message, or why it is unsupported.
    message: str = ""
    t0_ms: float = 0.0
    t1_ms: float = 0.0
    #: Open file descriptors of the client afterwards; None where it cannot be told.
    fds: int | None = None
    #: Names of the client's descendants afterwards.
    children: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """What was left when the client had ended, after a grace period."""

    #: Processes of its tree that still lived.
    survivors: tuple[str, ...] = ()
    #: Files in its temporary directory.
    temporary: tuple[str, ...] = ()
    #: Ports it still listened on at its last step.
    listening: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Everything a check may know."""

    revision: Revision
    transport: Transport
    subject: ServerView
    control: ServerView
    steps: Mapping[str, StepResult]
    aftermath: Aftermath = field(default_factory=Aftermath)

    @property
    def is_stateless(self) -> bool:
        """Whether the leg is of the stateless era."""
        return self.revision.era.value == "stateless"

    def step(self, name: str) -> StepResult:
        """
        One step's result.

        :raises KeyError: the scenario has no such step.
        """
        return self.steps[name]


def parse_log(content: bytes, source: Path | str) -> ServerView:
    """
    Decode a server's wire log.

    A line that is not JSON is what a killed server leaves: dropped, and said.

    :raises DecodeError: a line is not a record of the log.
    """
    text = content.decode("utf-8", "replace")
    lines = text.removesuffix("\n").split("\n") if text else []
    received: list[Seen] = []
    sent: list[Seen] = []
    exchanges: dict[int, dict[str, Any]] = {}
    events: list[Event] = []
    truncated = False
    for index, line in enumerate(lines):
        try:
            value = parse_json(line, source)
        except DecodeError:
            truncated = True  # what a server that is killed while writing leaves
            continue
        record = Reader(value, source, f"line {index + 1}")
        kind = record.key("type").string()
        if kind == "received":
            received.append(_seen(record, index))
        elif kind == "sent":
            sent.append(_seen(record, index))
        elif kind == "request":
            exchanges[record.key("exchange").integer()] = _request(record)
        elif kind in {"response", "finished"}:
            _amend(exchanges, record, kind)
        else:
            events.append(_event(record, index, kind))
    return ServerView(
        received=tuple(received),
        sent=tuple(sent),
        exchanges=tuple(Exchange(**each) for each in exchanges.values()),
        events=tuple(events),
        truncated=truncated,
    )


def _seen(record: Reader, index: int) -> Seen:
    exchange, text, stream = (
        record.get("exchange"),
        record.get("text"),
        record.get("stream"),
    )
    return Seen(
        t_ms=record.key("t").number(),
        pid=record.key("pid").integer(),
        connection=record.key("connection").integer(),
        exchange=exchange.integer() if exchange else None,
        index=index,
        bytes=record.key("bytes").integer(),
        sha256=record.key("sha256").string(),
        message=record.key("message").value,
        text=text.string() if text else None,
        cut=record.key("cut").boolean(),
        stream=stream.string() if stream else None,
    )


def _headers(record: Reader) -> dict[str, tuple[str, ...]]:
    return {name: each.strings() for name, each in record.key("headers").members()}


def _request(record: Reader) -> dict[str, Any]:
    return {
        "id": record.key("exchange").integer(),
        "connection": record.key("connection").integer(),
        "t_ms": record.key("t").number(),
        "method": record.key("method").string(),
        "target": record.key("target").string(),
        "headers": _headers(record),
    }


def _amend(exchanges: dict[int, dict[str, Any]], record: Reader, kind: str) -> None:
    number = record.key("exchange")
    exchange = exchanges.get(number.integer())
    if exchange is None:
        number.fail("names an exchange that has no request")
    elif kind == "response":
        exchange["status"] = record.key("status").integer()
        exchange["response_headers"] = _headers(record)
    else:
        exchange["how"] = record.key("how").string()


def _event(record: Reader, index: int, kind: str) -> Event:
    value: Json = record.value
    return Event(
        t_ms=record.key("t").number(),
        pid=record.key("pid").integer(),
        index=index,
        type=kind,
        value=value if isinstance(value, dict) else {},
    )
