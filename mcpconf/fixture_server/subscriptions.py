"""
``subscriptions/listen`` of 2026-07-28: one open request, and what it asked to hear of.

The acknowledgement comes first; afterwards only what really happens, each message
tagged with the subscription's id. A subscription ends when the client closes or cancels
it, or with a result when the server ends.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.results import SERVER_INFO, URIS, invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.call import Call

ID_KEY = "io.modelcontextprotocol/subscriptionId"
_FLAGS = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}


class Subscriptions:
    """The subscriptions that are open, in the order in which they were acknowledged."""

    def __init__(self) -> None:
        self._open: dict[Call, Mapping[str, Any]] = {}
        self._ended = asyncio.Event()

    async def announce(self, method: str, params: Mapping[str, Any]) -> int:
        """Tell whoever asked to hear of `method`; how many did."""
        told = 0
        for call, honoured in tuple(self._open.items()):
            # One that was cancelled a moment ago may not have been taken out yet.
            if not call.is_cancelled and _is_wanted(honoured, method, params):
                meta = {**params.get("_meta", {}), ID_KEY: call.id}
                await call.notify(method, {**params, "_meta": meta})
                told += 1
        return told

    async def hold(self, call: Call, honoured: Mapping[str, Any]) -> bool:
        """Keep `call` open; True: the server ended it, False: the client did."""
        self._open[call] = honoured
        cancelled = asyncio.ensure_future(call.cancelled())
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await asyncio.wait((cancelled, ended), return_when=asyncio.FIRST_COMPLETED)
            return not cancelled.done()
        finally:
            cancelled.cancel()
            ended.cancel()
            del self._open[call]

    def end(self) -> None:
        """Have every open subscription answered: the server is about to end."""
        self._ended.set()


async def listen(subscriptions: Subscriptions, call: Call) -> None:
    """
    Serve one ``subscriptions/listen`` from its acknowledgement to its end.

    :raises RpcError: -32602: no filter.
    """
    asked = call.params.get("notifications")
    if not isinstance(asked, dict):
        raise invalid("notifications is an object")
    honoured: dict[str, Any] = {
        flag: True for flag in _FLAGS.values() if asked.get(flag) is True
    }
    uris = asked.get("resourceSubscriptions")
    if isinstance(uris, list) and (known := [uri for uri in uris if uri in URIS]):
        honoured["resourceSubscriptions"] = known
    meta = {ID_KEY: call.id}
    await call.notify(
        "notifications/subscriptions/acknowledged",
        {"notifications": honoured, "_meta": meta},
    )
    if await subscriptions.hold(call, honoured):
        meta["io.modelcontextprotocol/serverInfo"] = dict(SERVER_INFO)
        await call.result({"resultType": "complete", "_meta": meta})
    else:
        await call.finish()


def _is_wanted(
    honoured: Mapping[str, Any], method: str, params: Mapping[str, Any]
) -> bool:
    if method == "notifications/resources/updated":
        return params.get("uri") in honoured.get("resourceSubscriptions", ())
    return _FLAGS.get(method) in honoured
