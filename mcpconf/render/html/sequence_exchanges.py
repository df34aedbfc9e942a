"""
The record of our own requests to a server, as a sequence.

The record has the time of every message that was received, so that what came on a
stream stands between the requests among which it came.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpconf.render.html.sequence import body_of, headers_text, read_spoken, short
from mcpconf.render.html.transcript import Moment, Way
from mcpconf.server.exchange import How
from mcpconf.wire_message import Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpconf.decode import Json
    from mcpconf.server.exchange import Exchange

_ORDINARY = (How.COMPLETE, How.CLOSED_BY_US)


def exchanges_sequence(
    exchanges: Iterable[Exchange],
) -> tuple[tuple[Moment, ...], tuple[str, ...]]:
    """What passed between us and the server, and what did not end as it should."""
    known = tuple(exchanges)
    moments = [
        moment for number, each in enumerate(known) for moment in _moments(number, each)
    ]
    moments.sort(key=lambda each: each.t_ms)  # stable: a request before its answer
    endings = tuple(
        short(f"{each.label}: {each.problem or each.how.value}")
        for each in known
        if each.how not in _ORDINARY
    )
    return tuple(moments), endings


def _moments(number: int, exchange: Exchange) -> Iterator[Moment]:
    headers = {name: (value,) for name, value in exchange.sent_headers.items()}
    yield _said(
        Side.CLIENT,
        number,
        exchange.t0_ms,
        exchange.sent,
        carrier=f"{exchange.method} ({exchange.label})",
        headers=headers_text(headers),
    )
    if exchange.status is None:
        return
    answered = {name: (value,) for name, value in exchange.headers.items()}
    carrier, head = f"HTTP {exchange.status}", headers_text(answered)
    if not exchange.received:
        yield _said(
            Side.SERVER,
            number,
            exchange.t1_ms,
            exchange.text or "",
            carrier=carrier,
            headers=head,
        )
    for each in exchange.received:
        yield _said(
            Side.SERVER, number, each.t_ms, each.message, carrier=carrier, headers=head
        )
        carrier, head = "event of the same stream", ""


def _said(
    side: Side, number: int, t_ms: float, value: Json, *, carrier: str, headers: str
) -> Moment:
    spoken = None if isinstance(value, str) else read_spoken(side, number, value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    body, cut = (spoken.body, spoken.cut) if spoken else body_of(text)
    is_message = spoken is not None and bool(spoken.messages)
    return Moment(
        t_ms=t_ms,
        way=Way.TO_SERVER if side is Side.CLIENT else Way.TO_CLIENT,
        label=spoken.label if spoken and is_message else short(carrier),
        kind=spoken.kind if spoken and is_message else "http",
        carrier=short(carrier) if is_message else "",
        headers=headers,
        body=body,
        size=len(text.encode("utf-8", "replace")) if text else None,
        cut=cut,
    )
