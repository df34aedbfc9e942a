"""
The methods of 2026-07-28: every request says who sends it, every result what it is.

The order of the refusals is one that the official suite accepts: required ``_meta``,
version, method, capability, params. HTTP's headers come before all of them and are the
transport's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server import subscriptions
from mcpconf.fixture_server.admission import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    UNSUPPORTED_VERSION,
)
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.results import (
    LOG_LEVELS,
    METHODS,
    SERVER_INFO,
    capabilities,
    invalid,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.server import Server

    Json = Any

PREFIX = "io.modelcontextprotocol/"
VERSION = f"{PREFIX}protocolVersion"
CAPABILITIES = f"{PREFIX}clientCapabilities"
CLIENT_INFO = f"{PREFIX}clientInfo"
LOG_LEVEL = f"{PREFIX}logLevel"
SERVER_INFO_KEY = f"{PREFIX}serverInfo"
#: ``cacheScope`` and ``ttlMs`` of the six methods whose results may be cached.
_CACHING: Mapping[str, tuple[str, int]] = {
    "server/discover": ("public", 60_000),
    "tools/list": ("public", 1000),
    "resources/list": ("public", 2000),
    "resources/templates/list": ("public", 5000),
    "resources/read": ("private", 500),
    "prompts/list": ("public", 5000),
}


async def answer(server: Server, call: Call) -> dict[str, Any] | None:
    """
    Answer one request.

    :raises RpcError: with what.
    """
    supported = [server.options.revision.value]
    if call.method == "initialize":
        raise _not_found(call.method, {"supported": supported})
    requested = _take_meta(call)
    if requested not in supported:
        raise RpcError(
            UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            {"supported": supported, "requested": requested},
            status=400,
        )
    if call.method == "server/discover":
        return finish(call, _discover(server, supported))
    if call.method == "subscriptions/listen":
        await subscriptions.listen(server, call)
        return None
    if call.method in server.methods:
        return finish(call, await server.methods[call.method](call))
    shared = METHODS.get(call.method)
    if shared is None:
        raise _not_found(call.method)
    result = await shared(server, call)
    return None if result is None else finish(call, result)


def finish(call: Call, result: Mapping[str, Any]) -> dict[str, Any]:
    """Add what every result says here: its type, who answers, and for how long."""
    whole: dict[str, Any] = {"resultType": "complete", **result}
    whole["_meta"] = {SERVER_INFO_KEY: dict(SERVER_INFO), **result.get("_meta", {})}
    if call.method in _CACHING:
        whole["cacheScope"], whole["ttlMs"] = _CACHING[call.method]
    return whole


def _not_found(method: str, data: Json = None) -> RpcError:
    return RpcError(METHOD_NOT_FOUND, f"Method not found: {method}", data, status=404)


def _take_meta(call: Call) -> str:
    """Put ``_meta`` into the call's session, which is its own; the version."""
    meta = call.params.get("_meta")
    if not isinstance(meta, dict):
        raise RpcError(INVALID_PARAMS, "Invalid params: _meta is required", status=400)
    version, declared = meta.get(VERSION), meta.get(CAPABILITIES)
    for name, is_sound in (
        (VERSION, isinstance(version, str)),
        (CAPABILITIES, isinstance(declared, dict)),
    ):
        if not is_sound:
            raise RpcError(
                INVALID_PARAMS, f"Invalid params: _meta {name} is required", status=400
            )
    info, level = meta.get(CLIENT_INFO), meta.get(LOG_LEVEL)
    if level is not None and level not in LOG_LEVELS:
        raise invalid("unknown log level")
    session = call.session
    session.client_capabilities = declared or {}
    session.client_info = info if isinstance(info, dict) else None
    session.offered = version
    session.log_level = level
    return str(version)


def _discover(server: Server, supported: list[str]) -> dict[str, Any]:
    names = ", ".join(server.catalogue.notable)
    return {
        "supportedVersions": supported,
        "capabilities": capabilities(server),
        "instructions": f"Fixture server of MCP {supported[0]}. Tools: {names}.",
    }
