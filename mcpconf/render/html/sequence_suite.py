"""
The witness's log of the suite's servers, as a sequence.

The witness keeps a response whole, with the times of its head and its end. The events
of a stream bear no times of their own: an answer is put at the end of its stream, all
that goes before it at the beginning, and each says that its time is not known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.render.html.ending import Ledger
from mcpconf.render.html.sequence import (
    TORN,
    body_of,
    headers_text,
    read_spoken,
    short,
)
from mcpconf.render.html.transcript import Moment, Way
from mcpconf.sse import parse_events
from mcpconf.wire_log import Ended
from mcpconf.wire_message import Side, parse_body, response_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpconf.render.html.sequence import Spoken
    from mcpconf.wire_log import Exchange, WireLog

_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A request, an answer, or one event of an answer."""

    t_ms: float
    side: Side
    exchange: Exchange
    carrier: str
    headers: str
    text: str
    spoken: Spoken | None
    note: str = ""


def suite_sequence(log: WireLog) -> tuple[tuple[Moment, ...], tuple[str, ...]]:
    """What passed between the client and the suite's servers, and who owed what."""
    ports = {each.port for each in log.exchanges}
    parties = {port: f"server :{port}" if len(ports) > 1 else "" for port in ports}
    parts = [part for exchange in log.exchanges for part in _parts(exchange)]
    ledger = Ledger()
    said = [
        (message, parties[part.exchange.port])
        for part in parts
        if part.spoken and not part.exchange.driver
        for message in part.spoken.messages
    ]
    # The order in which a stream's events came between other exchanges is not known,
    # so all questions are put before any answer.
    for message, party in sorted(said, key=lambda pair: pair[0].is_answer):
        ledger.note(message, party)
    parts.sort(key=lambda part: part.t_ms)  # stable: a request before its answer
    unanswered = tuple(
        short(f"The server never answered {each.method} {each.url}.")
        for each in log.exchanges
        if each.status is None
    )
    torn = (TORN,) if log.truncated else ()
    moments = tuple(_moment(part, parties) for part in parts)
    return moments, (*torn, *ledger.endings(), *unanswered)


def _parts(exchange: Exchange) -> Iterator[_Part]:
    yield _Part(
        t_ms=exchange.started_ms,
        side=Side.CLIENT,
        exchange=exchange,
        carrier=short(f"{exchange.method} {exchange.url}"),
        headers=headers_text(exchange.request_headers),
        text=exchange.request_body,
        spoken=_read(Side.CLIENT, exchange, exchange.request_body),
        note=_request_note(exchange),
    )
    if exchange.status is None:
        return
    # A server that does not wait for the body answers before the request is whole.
    head_ms = max(exchange.answered_ms or 0.0, exchange.started_ms)
    body = exchange.response_body or ""
    is_stream = response_type(exchange) == _STREAM
    yield _Part(
        t_ms=head_ms,
        side=Side.SERVER,
        exchange=exchange,
        carrier=f"HTTP {exchange.status}",
        headers=headers_text(exchange.response_headers),
        text="" if is_stream else body,
        spoken=None if is_stream else _read(Side.SERVER, exchange, body),
        note=_response_note(exchange),
    )
    if is_stream:
        yield from _events(exchange, body, head_ms)


def _events(exchange: Exchange, body: str, head_ms: float) -> Iterator[_Part]:
    end_ms = head_ms if exchange.ended_ms is None else max(exchange.ended_ms, head_ms)
    at = head_ms
    for event in parse_events(body):
        spoken = _read(Side.SERVER, exchange, event.data)
        if spoken and any(each.is_answer for each in spoken.messages):
            at = end_ms
        yield _Part(
            t_ms=at,
            side=Side.SERVER,
            exchange=exchange,
            carrier="event of a stream, its own time unknown",
            headers="",
            text=event.data,
            spoken=spoken,
        )


def _read(side: Side, exchange: Exchange, text: str) -> Spoken | None:
    try:
        value = parse_body(text)
    except ValueError:
        return None
    return read_spoken(side, exchange.id, value)


def _request_note(exchange: Exchange) -> str:
    if exchange.aborted:
        return "the client broke off before the end of its body"
    return "" if exchange.request_whole else "the witness kept no more of it"


def _response_note(exchange: Exchange) -> str:
    if exchange.response_body is None:
        return "the end of the response is not in the log"
    if exchange.ended is Ended.OPEN:
        return "still open when the suite ended"
    if exchange.ended is Ended.CLOSED:
        return "the connection closed before its end"
    return "" if exchange.response_whole else "the witness kept no more of it"


def _moment(part: _Part, parties: Mapping[int, str]) -> Moment:
    party = parties[part.exchange.port]
    if part.exchange.driver:
        party = f"{party} the driver, as the browser".strip()
    spoken = part.spoken if part.spoken and part.spoken.messages else None
    body, cut = (spoken.body, spoken.cut) if spoken else body_of(part.text)
    if part.spoken and not spoken:  # JSON of OAuth and the like reads better in lines
        body, cut = part.spoken.body, part.spoken.cut
    return Moment(
        t_ms=part.t_ms,
        way=Way.TO_SERVER if part.side is Side.CLIENT else Way.TO_CLIENT,
        label=spoken.label if spoken else part.carrier,
        kind=spoken.kind if spoken else "http",
        party=party,
        carrier=part.carrier if spoken else "",
        headers=part.headers,
        body=body,
        size=len(part.text.encode("utf-8", "replace")) if part.text else None,
        cut="; ".join(filter(None, (cut, part.note))),
    )
