"""
A tool of 2025-11-25 whose stream ends before its answer (SEP-1699).

The first event has an id, no data and the time after which to come back. Who asks for a
stream of the same session with that ``Last-Event-ID`` gets the answer, however often.
"""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.everything.tool import tool
from mcpconf.fixture_server.results import text_result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.call import Call, Tool
    from mcpconf.fixture_server.session import Session

#: Milliseconds after which the client may come back.
_RETRY_MS = 100
#: Answers that are kept; the oldest is dropped.
_KEPT = 64


class Reconnection:
    """The tool, and the answers that wait to be fetched."""

    def __init__(self) -> None:
        self._serial = count(1)
        self._owed: dict[tuple[Session, str], Mapping[str, Any]] = {}

    def tool(self) -> Tool:
        """The tool."""
        line = "Ends its stream, and answers on the one that the client opens next."
        return tool("test_reconnection", line, self._leave)

    def owed(self, session: Session, event_id: str) -> Mapping[str, Any] | None:
        """What came after this event of the session's; None: nothing that is known."""
        return self._owed.get((session, event_id))

    async def _leave(self, call: Call) -> None:
        event_id = f"reconnection-{next(self._serial)}"
        result = text_result("The client came back for this.")
        answer = {"jsonrpc": "2.0", "id": call.id, "result": result}
        self._owed[call.session, event_id] = answer
        if len(self._owed) > _KEPT:
            del self._owed[next(iter(self._owed))]
        await call.raw(f"id: {event_id}\nretry: {_RETRY_MS}\ndata: \n\n".encode())
        await call.finish()
