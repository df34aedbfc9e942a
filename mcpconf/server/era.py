"""
Whether a server itself says that it does not speak a revision's era.

That it answers nothing sensible says nothing: only its own words count, and only where
no request of the era got a result. All functions are pure; the evidence is the wire.

A stateless revision is refused by -32022 whose ``supported`` lacks it, by an unknown
``server/discover``, and by a 400 that asks for a session or an ``initialize``
(specification, "Versioning"). A handshake revision is refused by an error to its
``initialize``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from mcpconf.revision import Era, Revision
from mcpconf.wire_message import Dialogue, Kind, Side

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpconf.decode import Json
    from mcpconf.wire import WireLog

_METHOD_NOT_FOUND, _UNSUPPORTED_VERSION = -32601, -32022
#: Errors that only a stateless server gives, and those that say nothing of an era.
_NO_WORD = frozenset({-32020, -32021, -32602, -32603, -32700})
#: Answers to ``initialize`` that are about the request's body, or an accident.
_ACCIDENTS = frozenset({-32603, -32700})
_BAD_REQUEST, _FORBIDDEN = 400, 403
_WANTS_HANDSHAKE = re.compile(r"session|initiali[sz]|protocol.?version", re.IGNORECASE)


def refused_era(log: WireLog, revision: Revision) -> str | None:
    """How the server refused the era of `revision`; None: it did not, or served it."""
    dialogue = Dialogue(log)
    is_stateless = revision.era is Era.STATELESS
    asked = [
        each
        for each in dialogue.messages
        if each.direction is Side.CLIENT
        and each.kind is Kind.REQUEST
        and (
            each.meta_revision == revision.value
            if is_stateless
            else each.meta_revision is None and each.method == "initialize"
        )
    ]
    answers = [dialogue.answer_to(each) for each in asked]
    if any(each is not None and each.kind is Kind.RESPONSE for each in answers):
        return None
    exchanges = {each.id: each for each in log.exchanges}
    for request in asked:
        exchange = exchanges[request.exchange]
        if exchange.status == _FORBIDDEN:
            continue  # of the Host or the Origin, not of what was asked
        for error in _errors(dialogue, exchange.id):
            said = (
                stateless_refusal(request.method, exchange.status, error, revision)
                if is_stateless
                else _handshake_refusal(error)
            )
            if said is not None:
                return f"the server answers {request.method} with {said}"
    return None


def _errors(dialogue: Dialogue, exchange: int) -> Iterator[Mapping[str, Json]]:
    """The errors in an exchange; servers of the past give some without the id."""
    for each in dialogue.messages:
        if (each.exchange, each.direction) != (exchange, Side.SERVER):
            continue
        error = each.payload.get("error") if each.kind is Kind.ERROR else None
        if isinstance(error, dict):
            yield error


def stateless_refusal(
    method: str | None,
    status: int | None,
    error: Mapping[str, Json],
    revision: Revision,
) -> str | None:
    """How an error to a request of a stateless revision refuses it, if it does."""
    code = error.get("code")
    if code == _UNSUPPORTED_VERSION:
        supported = _supported(error)
        if supported is None or revision.value in supported:
            return None
        return f"-32022: it speaks {', '.join(supported) or 'nothing'}"
    if not isinstance(code, int) or code in _NO_WORD:
        return None
    if method == "server/discover" and code == _METHOD_NOT_FOUND:
        return "-32601: it does not know what every stateless server must"
    message = str(error.get("message"))
    if status == _BAD_REQUEST and _WANTS_HANDSHAKE.search(message):
        return f"400 and {code}, as servers do that wait for a handshake: {message}"
    return None


def _supported(error: Mapping[str, Json]) -> list[str] | None:
    data = error.get("data")
    supported = data.get("supported") if isinstance(data, dict) else None
    if not isinstance(supported, list):
        return None
    return [each for each in supported if isinstance(each, str)]


def _handshake_refusal(error: Mapping[str, Json]) -> str | None:
    code = error.get("code")
    if not isinstance(code, int) or code in _ACCIDENTS:
        return None
    return f"{code}: {error.get('message')}"
