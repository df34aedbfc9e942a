"""
What JSON-RPC asks of a message, and what every revision of MCP adds to it.

Each fault is one short line, ``path: what is wrong``, without the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.wire_message import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpconf.decode import Json
    from mcpconf.wire_message import Message


def envelope_faults(message: Message) -> Iterator[str]:
    """The faults of a message's envelope, whatever its revision."""
    if message.payload.get("jsonrpc") != "2.0":
        yield 'jsonrpc: expected "2.0"'
    if message.kind is Kind.INVALID:
        yield "body: has no method, result or error"
    elif message.is_answer:
        yield from _answer_faults(message)
    else:
        if message.kind is Kind.REQUEST and not _is_id(message.id):
            yield "id: expected a string or an integer"
        if not isinstance(message.payload.get("params", {}), dict):
            yield "params: expected an object"


def _answer_faults(message: Message) -> Iterator[str]:
    payload = message.payload
    if "result" in payload and "error" in payload:
        yield "error: excludes a result"
    if message.kind is Kind.RESPONSE:
        if not _is_id(message.id):
            yield "id: expected a string or an integer"
        if not isinstance(payload["result"], dict):
            yield "result: expected an object"
        return
    # No word on its id: where the request's could not be read there is none to give.
    error = payload["error"]
    if not isinstance(error, dict):
        yield "error: expected an object"
        return
    if not _is_integer(error.get("code")):
        yield "error.code: expected an integer"
    if not isinstance(error.get("message"), str):
        yield "error.message: expected a string"


def _is_id(value: Json) -> bool:
    return isinstance(value, str) or _is_integer(value)


def _is_integer(value: Json) -> bool:
    """An integer as JSON has them: ``1.0`` is one, ``true`` is not."""
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)
