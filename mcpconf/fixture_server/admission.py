"""
From bytes to an admitted message, or to the error that refuses them.

Nothing behind this module meets a message that is not an object of JSON-RPC 2.0, an id
that is no string and no integer, or params that are no object.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from mcpconf.fixture_server.call import RpcError
from mcpconf.revision import Era

if TYPE_CHECKING:
    from collections.abc import Mapping

    Json = Any

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002  # up to 2025-11-25 only
HEADER_MISMATCH = -32020  # these three from 2026-07-28 on
MISSING_CAPABILITY = -32021
UNSUPPORTED_VERSION = -32022

#: Far below Python's own limit, so that what was read can also be logged and echoed.
_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Admitted:
    """A message of a known kind."""

    kind: Literal["request", "notification", "response"]
    message: dict[str, Any]


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is beyond a double")
    return value


# Made once: `json.dumps` with any option makes an encoder for every message.
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_ESCAPED = json.JSONEncoder(separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)


def parse(raw: bytes) -> Json:
    """
    Decode one message.

    :raises RpcError: -32700: not UTF-8, not JSON, or nested beyond reason.
    """
    try:
        value = _DECODER.decode(raw.decode())
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise RpcError(PARSE_ERROR, "Parse error", status=400) from error
    if raw.count(b"[") + raw.count(b"{") > _DEPTH and _is_deep(value):
        raise RpcError(PARSE_ERROR, "Parse error: nested too deeply", status=400)
    return value


def _is_deep(value: Json) -> bool:
    level = [value]
    for _ in range(_DEPTH):
        inner: list[Json] = []
        for each in level:
            if isinstance(each, dict):
                inner.extend(each.values())
            elif isinstance(each, list):
                inner.extend(each)
        if not inner:
            return False
        level = inner
    return True


def encode(message: Json) -> bytes:
    """Compact JSON in UTF-8; what UTF-8 cannot hold (a lone surrogate) is escaped."""
    try:
        return _COMPACT.encode(message).encode()
    except UnicodeEncodeError:
        return _ESCAPED.encode(message).encode()


def admit(value: Json, era: Era) -> Admitted:
    """
    Say what kind of message `value` is.

    :raises RpcError: -32600 or -32602, `status` 400; answer it with `refusal`.
    """
    if not isinstance(value, dict):
        raise _invalid("a message is a JSON object")
    if value.get("jsonrpc") != "2.0":
        raise _invalid('"jsonrpc" is "2.0"')
    if "method" not in value and _is_response(value):
        if era is Era.STATELESS:
            raise _invalid("clients send no responses at this revision")
        return Admitted("response", value)
    if not isinstance(value.get("method"), str):
        raise _invalid('"method" is a string')
    if "id" in value and not _is_id(value["id"]):
        raise _invalid('"id" is a string or an integer')
    if not isinstance(value.get("params", {}), dict):
        raise RpcError(INVALID_PARAMS, '"params" is an object', status=400)
    return Admitted("request" if "id" in value else "notification", value)


def refusal(value: Json, error: RpcError, era: Era) -> dict[str, Any] | None:
    """
    The answer to a message that `parse` (`value` None) or `admit` refused.

    The id is the message's own where it has a sound one; otherwise it is null in the
    handshake revisions and left out at 2026-07-28, whose schema knows no null id. None
    where the message is a notification but for its params: those are never answered.
    """
    body: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        body["data"] = error.data
    answer: dict[str, Any] = {"jsonrpc": "2.0", "error": body}
    members: Mapping[str, Any] = value if isinstance(value, dict) else {}
    if _is_id(members.get("id")):
        answer["id"] = members["id"]
    elif error.code == INVALID_PARAMS and "id" not in members:
        return None
    elif era is Era.HANDSHAKE:
        answer["id"] = None
    return answer


def _invalid(why: str) -> RpcError:
    return RpcError(INVALID_REQUEST, f"Invalid request: {why}", status=400)


def _is_id(value: Json) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _is_response(value: Mapping[str, Any]) -> bool:
    return "id" in value and ("result" in value) != ("error" in value)
