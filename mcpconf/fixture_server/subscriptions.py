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
    from mcpconf.fixture_server.server import Server

ID_KEY = "io.modelcontextprotocol/subscriptionId"
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
_FLAGS = {
    "notifications/tools/list_changed": "toolsListChanged",
    "notifications/prompts/list_changed": "promptsListChanged",
    "notifications/resources/list_changed": "resourcesListChanged",
}
#: The member of such a notification that names what it is about, and the filter's list.
_LISTS = {
    "notifications/resources/updated": ("uri", "resourceSubscriptions"),
    "notifications/tasks": ("taskId", "taskIds"),
}


class _Subscription:
    """One open request; what happens before its acknowledgement is sent waits."""

    def __init__(self, call: Call, honoured: Mapping[str, Any]) -> None:
        self._call = call
        self._honoured = honoured
        self._waiting: list[tuple[str, Mapping[str, Any]]] | None = []

    def is_wanted(self, method: str, params: Mapping[str, Any]) -> bool:
        """Whether it wants to know of something."""
        # One that was cancelled a moment ago may not have been taken out yet.
        is_open = not self._call.is_cancelled
        return is_open and _is_wanted(self._honoured, method, params)

    async def tell(self, method: str, params: Mapping[str, Any]) -> bool:
        """Tell it of something; False: it does not want to know."""
        if not self.is_wanted(method, params):
            return False
        if self._waiting is None:
            await self._notify(method, params)
        else:
            self._waiting.append((method, params))
        return True

    async def acknowledge(self) -> None:
        """Send the acknowledgement, then what has waited for it."""
        method = "notifications/subscriptions/acknowledged"
        await self._notify(method, {"notifications": self._honoured})
        while self._waiting:
            await self._notify(*self._waiting.pop(0))
        self._waiting = None

    async def _notify(self, method: str, params: Mapping[str, Any]) -> None:
        meta = {**params.get("_meta", {}), ID_KEY: self._call.id}
        await self._call.notify(method, {**params, "_meta": meta})


class Subscriptions:
    """The subscriptions that are open, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._open: dict[Call, _Subscription] = {}
        self._ended = asyncio.Event()

    async def announce(self, method: str, params: Mapping[str, Any]) -> int:
        """Tell whoever asked to hear of `method`; how many did."""
        told = 0
        for subscription in tuple(self._open.values()):
            told += await subscription.tell(method, params)
        return told

    def is_wanted(self, method: str, params: Mapping[str, Any]) -> bool:
        """Whether anybody asked to hear of such a thing."""
        return any(each.is_wanted(method, params) for each in self._open.values())

    async def hold(self, call: Call, honoured: Mapping[str, Any]) -> bool:
        """
        Acknowledge `call` and keep it open.

        True: the server ended it, False: the client did.
        """
        self._open[call] = subscription = _Subscription(call, honoured)
        cancelled = asyncio.ensure_future(call.cancelled())
        ended = asyncio.ensure_future(self._ended.wait())
        try:
            await subscription.acknowledge()
            await asyncio.wait((cancelled, ended), return_when=asyncio.FIRST_COMPLETED)
            return not cancelled.done()
        finally:
            cancelled.cancel()
            ended.cancel()
            del self._open[call]

    def end(self) -> None:
        """Have every open subscription answered: the server is about to end."""
        self._ended.set()


async def listen(server: Server, call: Call) -> None:
    """
    Serve one ``subscriptions/listen`` from its acknowledgement to its end.

    :raises RpcError: -32602: no filter; or what a profile has against it.
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
    for profile in server.profiles:
        profile.subscribe(call, asked, honoured)
    if await server.subscriptions.hold(call, honoured):
        meta = {ID_KEY: call.id, SERVER_INFO_KEY: dict(SERVER_INFO)}
        await call.result({"resultType": "complete", "_meta": meta})
    else:
        await call.finish()


def _is_wanted(
    honoured: Mapping[str, Any], method: str, params: Mapping[str, Any]
) -> bool:
    if method in _LISTS:
        member, key = _LISTS[method]
        return params.get(member) in honoured.get(key, ())
    return _FLAGS.get(method) in honoured
