"""
What the wire shows: who was alive, which revisions were spoken, who fell silent.

Each answer is a pure function of the redacted log: a secret reads ``[REDACTED]`` there,
and none of them depends on one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcpconf.revision import Era, era_of
from mcpconf.wire_log import DRIVER_AGENT, Ended, Exchange, WireLog, parse_wire
from mcpconf.wire_message import (
    Dialogue,
    Kind,
    Message,
    Side,
    client_exchanges,
    messages,
    response_type,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "DRIVER_AGENT",
    "Dialogue",
    "Ended",
    "Exchange",
    "Kind",
    "Message",
    "Revisions",
    "Side",
    "Silence",
    "WireLog",
    "client_exchanges",
    "eras_of",
    "has_opened",
    "is_live",
    "messages",
    "parse_wire",
    "revisions_of",
    "silence_of",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Revisions:
    """The revisions seen on the wire, each once, in the order they first appeared."""

    offered: tuple[str, ...]
    agreed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Whose turn it was when nothing more came."""

    #: The side that owed the next message.
    side: Side
    #: The exchange it was owed in, or after; `None` where there was none at all.
    exchange: int | None
    #: One line for a reader.
    description: str


def is_live(log: WireLog) -> bool:
    """Whether the client was seen at all."""
    return bool(client_exchanges(log))


def eras_of(log: WireLog) -> frozenset[Era]:
    """
    The eras in which the client's messages are written, whatever date they name.

    An ``initialize`` is the handshake's, also where it offers a stateless revision.
    """
    return frozenset(
        Era.HANDSHAKE if each.meta_revision is None else era_of(offer)
        for each in messages(log)
        if (offer := _offer(each)) is not None
    )


def has_opened(log: WireLog) -> bool:
    """Whether a message of the client, and not a header alone, names its revision."""
    return any(_offer(each) is not None for each in messages(log))


def revisions_of(log: WireLog) -> Revisions:
    """
    The revisions the client offered, and those a server agreed to.

    A header counts as an offer only where no message makes one: clients send it with
    probes too, and there it need not be what they then offer.
    """
    dialogue = Dialogue(log)
    offered, agreed = list[str](), list[str]()
    for request in dialogue.messages:
        named = _offer(request)
        if named is None:
            continue
        offered.append(named)
        answer = dialogue.answer_to(request)
        if answer is None or answer.kind is not Kind.RESPONSE:
            continue
        if request.meta_revision is not None:
            agreed.append(named)
        elif (version := agreed_version(answer)) is not None:
            agreed.append(version)
    if not offered:
        offered = [
            version
            for exchange in client_exchanges(log)
            if (version := exchange.request_header("mcp-protocol-version")) is not None
        ]
    return Revisions(
        offered=tuple(dict.fromkeys(offered)), agreed=tuple(dict.fromkeys(agreed))
    )


def _offer(message: Message) -> str | None:
    """The revision that a message of the client offers, in the way of either era."""
    if message.direction is Side.SERVER:
        return None
    version = message.params.get("protocolVersion")
    if message.meta_revision is None and message.method == "initialize":
        return version if isinstance(version, str) else None
    return message.meta_revision


def agreed_version(answer: Message) -> str | None:
    """The revision that the answer to an ``initialize`` settles."""
    result = answer.payload.get("result")
    version = result.get("protocolVersion") if isinstance(result, dict) else None
    return version if isinstance(version, str) else None


def silence_of(log: WireLog) -> Silence | None:
    """
    Whose turn it was at the end of the log; meant for a scenario that hung.

    A request of the server that has no answer comes first, because the server waits
    for it before it goes on. `None`: nothing listened, so nobody owed anything.
    """
    exchanges = client_exchanges(log)
    if not exchanges:
        if not log.ports:
            return None
        return Silence(
            side=Side.CLIENT,
            exchange=None,
            description="the client sent nothing to the server that was listening",
        )
    dialogue = Dialogue(log)
    unanswered = [
        each
        for each in dialogue.messages
        if each.direction is Side.SERVER
        and each.kind is Kind.REQUEST
        and dialogue.answer_to(each) is None
    ]
    if unanswered:
        last = unanswered[-1]
        return Silence(
            side=Side.CLIENT,
            exchange=last.exchange,
            description=f"the client did not answer the server's {last.method}",
        )
    for exchange in reversed(exchanges):
        problem = _debt(exchange, exchanges, dialogue)
        if problem is not None:
            return Silence(
                side=Side.SERVER,
                exchange=exchange.id,
                description=f"{_title(exchange, dialogue)} {problem}",
            )
    final = exchanges[-1]
    if final.aborted:
        description = f"the client broke off {_title(final, dialogue)} in its body"
    else:
        end = f"was answered with {final.status}" if final.status else "was given up"
        description = f"{_title(final, dialogue)} {end}; the client sent nothing more"
    return Silence(side=Side.CLIENT, exchange=final.id, description=description)


def _debt(
    exchange: Exchange, exchanges: tuple[Exchange, ...], dialogue: Dialogue
) -> str | None:
    """What the server still owed in one exchange, if it owed anything."""
    if exchange.aborted or exchange.ended is Ended.FINISHED:
        return None
    # A client that is killed closes everything; one that goes on had given it up.
    if exchange.ended is Ended.CLOSED and any(
        each.started_ms > (exchange.ended_ms or 0) for each in exchanges
    ):
        return None
    if exchange.status is None:
        return "was never answered by the server"
    requests = list(_requests(exchange, dialogue))
    is_stream = response_type(exchange) == "text/event-stream"
    # A stream to listen on is answered when it ends; that it stands is no debt, nor
    # is an answer that lies beyond what the witness kept.
    is_settled = all(
        each.method == "subscriptions/listen" or dialogue.answer_to(each)
        for each in requests
    )
    if not exchange.response_whole and exchange.ended is Ended.OPEN and not is_stream:
        return "is still being answered"
    if not exchange.response_whole or (is_settled and (requests or is_stream)):
        return None
    return f"got {exchange.status} and no answer after it"


def _requests(exchange: Exchange, dialogue: Dialogue) -> Iterator[Message]:
    for each in dialogue.messages:
        if (
            each.exchange == exchange.id
            and each.direction is Side.CLIENT
            and each.kind is Kind.REQUEST
        ):
            yield each


def _title(exchange: Exchange, dialogue: Dialogue) -> str:
    """How a reader finds an exchange: ``POST /mcp (tools/list)``."""
    said = [
        each.method or each.kind.value
        for each in dialogue.messages
        if each.exchange == exchange.id and each.direction is Side.CLIENT
    ]
    title = f"{exchange.method} {urlsplit(exchange.url).path}"
    return f"{title} ({', '.join(said)})" if said else title
