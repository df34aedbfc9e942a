"""
The methods of 2025-06-18 and 2025-11-25: a handshake first, then bare results.

Both are served alike; they differ in the version that is announced, and in what the
tools that ask back say (`asking`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import INVALID_REQUEST, METHOD_NOT_FOUND
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.results import (
    LOG_LEVELS,
    METHODS,
    SERVER_INFO,
    URIS,
    capabilities,
    invalid,
)

if TYPE_CHECKING:
    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.server import Server

_OWN = frozenset(
    {"ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}
)


async def answer(server: Server, call: Call) -> dict[str, Any] | None:
    """
    Answer one request.

    :raises RpcError: with what.
    """
    method = call.method
    if method == "initialize":
        return _initialize(server, call)
    # A client that knows 2026-07-28 asks this first, and falls back when refused.
    if method == "server/discover":
        raise _not_found(method)
    # Pings may precede the handshake (basic/lifecycle); nothing else may.
    if not call.session.initialized and method != "ping":
        raise RpcError(INVALID_REQUEST, "Invalid request: not initialized yet")
    if method in server.methods:
        return await server.methods[method](call)
    if method in _OWN:
        return _own(call)
    shared = METHODS.get(method)
    if shared is None:
        raise _not_found(method)
    return await shared(server, call)


def _not_found(method: str) -> RpcError:
    return RpcError(METHOD_NOT_FOUND, f"Method not found: {method}", status=404)


def _initialize(server: Server, call: Call) -> dict[str, Any]:
    session, params = call.session, call.params
    if session.initialize_seen:
        raise RpcError(INVALID_REQUEST, "Invalid request: initialize came before")
    if not isinstance(params.get("protocolVersion"), str):
        raise invalid("protocolVersion is a string")
    session.initialize_seen = True
    session.offered = params["protocolVersion"]
    declared, info = params.get("capabilities"), params.get("clientInfo")
    session.client_capabilities = declared if isinstance(declared, dict) else {}
    session.client_info = info if isinstance(info, dict) else None
    revision = server.options.revision
    return {
        "protocolVersion": revision.value,
        "capabilities": capabilities(server),
        "serverInfo": dict(SERVER_INFO),
        "instructions": f"Fixture server of MCP {revision}.",
    }


def _own(call: Call) -> dict[str, Any]:
    if call.method == "logging/setLevel":
        level = call.params.get("level")
        if level not in LOG_LEVELS:
            raise invalid("unknown log level")
        call.session.log_level = level
    elif call.method != "ping":
        uri = call.params.get("uri")
        if uri not in URIS:
            raise invalid("unknown resource")
        watched = call.session.watched
        (watched.add if call.method == "resources/subscribe" else watched.discard)(uri)
    return {}
