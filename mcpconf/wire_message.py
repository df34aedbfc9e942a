"""
The JSON-RPC messages inside the exchanges, and which answers which.

A message is told by its own members, not by its URL: the same ports serve OAuth, whose
bodies are JSON too. Only what was kept whole is read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn

from mcpconf.sse import parse_events

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpconf.decode import Json
    from mcpconf.wire_log import Exchange, WireLog

#: The member of a stateless request's `_meta` that names its revision.
META_REVISION = "io.modelcontextprotocol/protocolVersion"


class Side(StrEnum):
    """Who sent a message, or owes one."""

    CLIENT = "client"
    SERVER = "server"


class Kind(StrEnum):
    """What a JSON-RPC message is, by its members."""

    REQUEST = "request"
    NOTIFICATION = "notification"
    RESPONSE = "response"
    ERROR = "error"
    #: It says that it is JSON-RPC, and is none of these.
    INVALID = "invalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One JSON-RPC message, as it was sent."""

    direction: Side
    #: The id of the exchange that carried it.
    exchange: int
    kind: Kind
    method: str | None
    id: Json
    payload: Mapping[str, Json]
    #: It came in an array.
    batched: bool = False

    @property
    def is_answer(self) -> bool:
        """Whether it answers a request, well or badly."""
        return self.kind in {Kind.RESPONSE, Kind.ERROR}

    @property
    def params(self) -> Mapping[str, Json]:
        """The parameters; empty where there are none, or something else stands."""
        params = self.payload.get("params")
        return params if isinstance(params, dict) else {}

    @property
    def meta_revision(self) -> str | None:
        """The revision that the message itself names, as stateless ones do."""
        meta = self.params.get("_meta")
        named = meta.get(META_REVISION) if isinstance(meta, dict) else None
        return named if isinstance(named, str) else None


def client_exchanges(log: WireLog) -> tuple[Exchange, ...]:
    """The exchanges that the client began, and not our driver."""
    return tuple(each for each in log.exchanges if not each.driver)


def messages(log: WireLog) -> tuple[Message, ...]:
    """All messages, exchange by exchange, the client's before the server's."""
    return tuple(
        message
        for exchange in client_exchanges(log)
        for message in (*_sent(exchange), *_received(exchange))
    )


def response_type(exchange: Exchange) -> str:
    """The media type of the response, without parameters."""
    value = exchange.response_header("content-type") or ""
    return value.partition(";")[0].strip().lower()


def parse_body(body: str) -> Json:
    """
    A body as JSON; duplicate keys are the sender's business.

    :raises ValueError: it is not JSON.
    """

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is not JSON")

    try:
        value: Json = json.loads(body, parse_constant=refuse)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    return value


def _sent(exchange: Exchange) -> Iterator[Message]:
    if exchange.request_whole and not exchange.aborted:
        yield from _read(Side.CLIENT, exchange, exchange.request_body)


def _received(exchange: Exchange) -> Iterator[Message]:
    body = exchange.response_body or ""
    if response_type(exchange) == "application/json":
        yield from _read(Side.SERVER, exchange, body)
    elif response_type(exchange) == "text/event-stream":
        for event in parse_events(body):
            if event.name == "message":
                yield from _read(Side.SERVER, exchange, event.data)


def _read(side: Side, exchange: Exchange, body: str) -> Iterator[Message]:
    try:
        value = parse_body(body)
    except ValueError:
        return
    yield from read_value(side, exchange.id, value)


def read_value(side: Side, exchange: int, value: Json) -> Iterator[Message]:
    """The messages in one JSON value; it may be none, or an array of them."""
    for payload in value if isinstance(value, list) else [value]:
        if not isinstance(payload, dict):
            continue
        kind = _kind(payload)
        if kind is None:
            continue
        method = payload.get("method")
        yield Message(
            direction=side,
            exchange=exchange,
            kind=kind,
            method=method if isinstance(method, str) else None,
            id=payload.get("id"),
            payload=payload,
            batched=isinstance(value, list),
        )


def _kind(payload: Mapping[str, Json]) -> Kind | None:
    """What an object is; `None` where it has nothing to do with JSON-RPC."""
    if isinstance(payload.get("method"), str):
        return Kind.REQUEST if "id" in payload else Kind.NOTIFICATION
    # An OAuth error has `error` too, but neither of these.
    if "jsonrpc" not in payload and "id" not in payload:
        return None
    if "result" in payload:
        return Kind.RESPONSE
    if "error" in payload:
        return Kind.ERROR
    return Kind.INVALID if "jsonrpc" in payload else None


class Dialogue:
    """Which message answers which, on both sides of one log."""

    def __init__(self, log: WireLog) -> None:
        self.messages = messages(log)
        self._ports = {each.id: each.port for each in log.exchanges}
        self._by_exchange: dict[tuple[int, Side, str], Message] = {}
        self._by_port: dict[tuple[int, Side, str], Message] = {}
        asked = {
            (each.exchange, id_key(each.id))
            for each in self.messages
            if each.direction is Side.CLIENT and each.kind is Kind.REQUEST
        }
        for each in filter(lambda message: message.is_answer, self.messages):
            place = (each.direction, id_key(each.id))
            self._by_exchange.setdefault((each.exchange, *place), each)
            # Ids begin anew in each session: an answer to the request beside it
            # answers no other.
            if each.direction is Side.CLIENT or (each.exchange, place[1]) not in asked:
                port = self._ports[each.exchange]
                self._by_port.setdefault((port, *place), each)

    def answer_to(self, request: Message) -> Message | None:
        """
        The other side's answer, if it came.

        The server's comes with the request or, after a disconnection, on another
        stream of the same server; the client's comes in an exchange of its own.
        """
        side = Side.SERVER if request.direction is Side.CLIENT else Side.CLIENT
        place = (side, id_key(request.id))
        return self._by_exchange.get((request.exchange, *place)) or self._by_port.get(
            (self._ports[request.exchange], *place)
        )

    def question_of(self, answer: Message) -> Message | None:
        """The server's request that a message of the client answers, if it was seen."""
        port = self._ports[answer.exchange]
        for each in self.messages:
            if (
                each.direction is Side.SERVER
                and each.kind is Kind.REQUEST
                and self._ports[each.exchange] == port
                and id_key(each.id) == id_key(answer.id)
            ):
                return each
        return None


def id_key(value: Json) -> str:
    """Equal for equal ids only; to Python ``1``, ``1.0`` and ``True`` are the same."""
    return json.dumps(value)
