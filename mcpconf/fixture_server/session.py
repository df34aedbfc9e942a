"""
What one connection agreed on, and the server's own requests that wait for an answer.

Handshake revisions keep one session per connection (HTTP: per ``Mcp-Session-Id``); at
2026-07-28 every request brings its own and the session ends with it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    Json = Any


class Session:
    """Mutable, and equal only to itself."""

    __slots__ = (
        "_asked",
        "client_capabilities",
        "client_info",
        "id",
        "initialize_seen",
        "initialized",
        "log_level",
        "name",
        "offered",
        "pending",
        "push",
        "watched",
    )

    def __init__(self, name: str = "", session_id: str | None = None) -> None:
        #: For logs.
        self.name = name
        #: HTTP's ``Mcp-Session-Id``; None elsewhere.
        self.id = session_id
        self.initialize_seen = False
        self.initialized = False
        self.client_capabilities: Mapping[str, Any] = {}
        self.client_info: Mapping[str, Any] | None = None
        #: The revision that the client offered, whatever was answered.
        self.offered: str | None = None
        #: The least severe level the client wants to see; None: it wants none.
        self.log_level: str | None = None
        #: Handshake revisions: URIs of ``resources/subscribe``.
        self.watched: set[str] = set()
        #: Sends an unsolicited message, False where it could not. The transport sets
        #: it while there is a way: stdio always, HTTP while a GET stream is open.
        self.push: Callable[[Json], Awaitable[bool]] | None = None
        #: The server's requests that are not answered yet, by id.
        self.pending: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._asked = 0

    async def ask(
        self,
        send: Callable[[Json], Awaitable[Any]],
        method: str,
        params: Mapping[str, Any],
    ) -> dict[str, Any]:
        """
        Send a request of the server with `send` and wait, for ever, for its response.

        What `Call.ask` of every transport comes down to. The whole response message.
        """
        self._asked += 1
        request_id = f"server-{self._asked}"
        answer: asyncio.Future[dict[str, Any]] = asyncio.Future()
        self.pending[request_id] = answer
        try:
            request = {"jsonrpc": "2.0", "id": request_id, "method": method}
            await send({**request, "params": dict(params)} if params else request)
            return await answer
        finally:
            self.pending.pop(request_id, None)

    def resolve(self, message: Mapping[str, Any]) -> bool:
        """Give a response of the client to whoever waits for it; False: nobody does."""
        name = message.get("id")
        waiting = self.pending.get(name) if isinstance(name, str) else None
        if waiting is None or waiting.done():
            return False
        waiting.set_result(dict(message))
        return True
