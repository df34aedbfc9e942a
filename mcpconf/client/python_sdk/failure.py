"""What an exception of the SDK says of a step: one of the contract's kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from mcp import MCPError
from mcp.client.subscriptions import SubscriptionLost
from mcp.types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
)
from pydantic import ValidationError

if TYPE_CHECKING:
    from types import TracebackType

    from mcpconf.client.python_sdk.connection import RevisionError
    from mcpconf.client.python_sdk.group import leaves
else:
    from connection import RevisionError
    from group import leaves

#: The SDK gives what it finds itself the form of an answer of the server; only code
#: and text together tell the two apart. Code, beginning of the text, kind.
_OWN_ERRORS = (
    (REQUEST_TIMEOUT, "Request ", "timeout"),
    (CONNECTION_CLOSED, "Connection closed", "transport"),
    (CONNECTION_CLOSED, "SSE stream ", "transport"),
    (INTERNAL_ERROR, "Server returned an error response", "transport"),
    (METHOD_NOT_FOUND, "Not Found", "transport"),
    (INVALID_REQUEST, "Session terminated", "transport"),
    (INVALID_REQUEST, "Unexpected content type: ", "refused"),
    (INVALID_REQUEST, "server answered a request with 202 Accepted", "refused"),
    (PARSE_ERROR, "Failed to parse ", "refused"),
)

_TRANSPORT = (
    httpx2.HTTPError,
    httpx2.StreamError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.EndOfStream,
    SubscriptionLost,
    OSError,
)


def describe(error: Exception) -> dict[str, Any]:
    """The ``error`` of a step's result; a group speaks through its first member."""
    first = next(leaves(error))
    kind = _kind_of(first)
    said = {"kind": kind, "message": f"{type(first).__name__}: {first}"}
    if isinstance(first, MCPError) and kind == "rpc":
        return {**said, "code": first.code}
    return said


def _kind_of(error: BaseException) -> str:
    if isinstance(error, MCPError):
        for code, text, kind in _OWN_ERRORS:
            if error.code == code and error.message.startswith(text):
                return kind
        return "rpc"
    # A timeout is an OSError too, and comes first.
    if isinstance(error, TimeoutError | httpx2.TimeoutException):
        return "timeout"
    if isinstance(error, _TRANSPORT):
        return "transport"
    if isinstance(error, ValidationError | RevisionError) or _is_raised_by_sdk(error):
        return "refused"
    return "other"


def _is_raised_by_sdk(error: BaseException) -> bool:
    """Whether the SDK itself refused: its bare `RuntimeError` says so by its origin."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    name = trace.tb_frame.f_globals.get("__name__", "") if trace is not None else ""
    return str(name).partition(".")[0] == "mcp"
