"""Servers that tell the client something at an odd time, or nothing at all."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.fixture_server.call import Tool
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.fixture_server.results import URIS, text_result
from mcpconf.fixture_server.schema import strict_object
from mcpconf.fixture_server.stateless import finish
from mcpconf.fixture_server.subscriptions import ID_KEY
from mcpconf.revision import Era, Revision
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.fixture_server.call import Call

    Json = Any
    Arguments = Mapping[str, Any]
    Result = dict[str, Any]

_NOTHING = strict_object()
_HANDSHAKE = frozenset({Revision.V2025_06_18, Revision.V2025_11_25})
_STATELESS = frozenset({Revision.V2026_07_28})
#: How long a list may be kept, and much longer than any scenario takes.
_TTL_MS = 600_000
#: Seconds in which a client that lists again by itself will have begun to.
_SETTLE_S = 0.3
#: Over HTTP the late answer has a stream of its own; it is not to be overtaken there.
_OVERTAKING_S = 0.3
#: Nobody waits longer for the late answer than this.
_PATIENCE_S = 5.0
#: A busy server may find a stream closed so much later than its client closed it.
_GRACE_S = 1.0
_PROGRESS = "notifications/progress"
_CHANGES = {
    "toolsListChanged": "notifications/tools/list_changed",
    "promptsListChanged": "notifications/prompts/list_changed",
    "resourcesListChanged": "notifications/resources/list_changed",
}


def _tool(name: str, description: str, handler: Json) -> Tool:
    return Tool(
        name=name, description=description, input_schema=_NOTHING, handler=handler
    )


class _Answering(Profile):
    """A profile whose tools answer their calls themselves."""

    def whole(self, call: Call, result: Result) -> Result:
        """A result as its revision has it."""
        is_bare = self.options.revision.era is Era.HANDSHAKE
        return result if is_bare else finish(call, result)


class StrayNotifications(_Answering):
    """Notifications that no one asked for, before a result and after it."""

    name = "stray-notifications"
    title = "sends progress for nobody, an unknown notification, and progress too late"

    def tools(self) -> Sequence[Tool]:
        """``stray`` and ``late_progress``."""
        return [
            _tool("stray", "Sends notifications for nobody first.", self._stray),
            _tool("late_progress", "Reports progress when it is done.", self._late),
        ]

    async def _stray(self, call: Call, _arguments: Arguments) -> Result:
        for token in ("mcpconf-nobody", 987_654_321):
            await call.notify(_PROGRESS, {"progressToken": token, "progress": 1})
        await call.notify("notifications/mcpconf/unknown", {"to": "nobody"})
        self.fault("progress for two unknown tokens, and an unknown method", call)
        return text_result("stray complete")

    async def _late(self, call: Call, _arguments: Arguments) -> None:
        result = self.whole(call, text_result("late complete"))
        token = call.meta.get("progressToken", "mcpconf-nobody")
        await call.send({"jsonrpc": "2.0", "id": call.id, "result": result})
        await call.notify(_PROGRESS, {"progressToken": token, "progress": 1})
        self.fault(f"progress for {token!r} after the answer", call)
        await call.finish()


class _Late:
    """One call that will be answered late."""

    def __init__(self) -> None:
        #: Another request waits; this one has been answered.
        self.asked, self.answered = asyncio.Event(), asyncio.Event()


class LateAnswers(_Answering):
    """Answers a request all the same when it has been cancelled."""

    name = "late-answers"
    title = "answers calls of one tool although they were cancelled"

    def tools(self) -> Sequence[Tool]:
        """``late``, and ``after_late`` which is answered after it."""
        self._open: list[_Late] = []
        return [
            _tool("late", "Answers when it is cancelled, or late.", self._late),
            _tool("after_late", "Waits for the late answer first.", self._after),
        ]

    async def _late(self, call: Call, _arguments: Arguments) -> None:
        late = _Late()
        self._open.append(late)
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.limits.delay_s):
                    self.fault(f"was cancelled by {await call.cancelled()}", call)
                    # Only an answer that finds another request waiting can be mistaken.
                    await late.asked.wait()
            await call.result(self.whole(call, text_result("late")))
        finally:
            self._open.remove(late)
            late.answered.set()

    async def _after(self, _call: Call, _arguments: Arguments) -> Result:
        waited_for = tuple(self._open)
        for late in waited_for:
            late.asked.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE_S):
                for late in waited_for:
                    await late.answered.wait()
        if waited_for:
            await asyncio.sleep(_OVERTAKING_S)
        return text_result("on time")


class SilentInitialize(Profile):
    """Never answers ``initialize``."""

    name = "silent-initialize"
    title = "never answers initialize"
    revisions: ClassVar[frozenset[Revision]] = _HANDSHAKE

    async def intercept(self, call: Call) -> bool:
        """Take it and say nothing."""
        if call.method != "initialize":
            return False
        self.fault("initialize was not answered", call)
        return True


class ChangingList(Profile):
    """A list that may be kept for long, and a pause for clients that list again."""

    name = "changing-list"
    title = "lets tools/list be kept for ten minutes, and changes the tools"

    def tools(self) -> Sequence[Tool]:
        """``settle``: goes on when the client has listed, or after a moment."""
        self._listed = asyncio.Event()
        return [_tool("settle", "Waits a moment for tools/list.", self._settle)]

    async def intercept(self, call: Call) -> bool:
        """Take note of lists and growth; make lists last."""
        if call.method == "tools/list":
            self._listed.set()
            if self.options.revision.era is Era.STATELESS:
                _make_last(call)
        elif call.method == "tools/call" and call.params.get("name") == "grow":
            self._listed.clear()
            self.fault("the tools change", call)
        return False

    async def _settle(self, _call: Call, _arguments: Arguments) -> Result:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SETTLE_S):
                await self._listed.wait()
        return text_result("settled")


def _make_last(call: Call) -> None:
    answer = call.result

    async def result(result: Mapping[str, Any]) -> None:
        await answer({**result, "ttlMs": _TTL_MS})

    # The era adds its lifetime after every hook of a profile.
    call.result = result  # type: ignore[method-assign]


class BusySubscription(Profile):
    """Tells who subscribes to a resource at once that it has changed, and the tools."""

    name = "busy-subscription"
    title = "tells subscriptions to resources of changes at once, also of a stranger's"
    revisions: ClassVar[frozenset[Revision]] = _STATELESS

    def tools(self) -> Sequence[Tool]:
        """``wait_for_ends``: goes on when no subscription is open, or soon."""
        self._open = 0
        self._ended = asyncio.Event()
        self._ended.set()
        return [_tool("wait_for_ends", "Waits for subscriptions to end.", self._wait)]

    async def _wait(self, _call: Call, _arguments: Arguments) -> Result:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_GRACE_S):
                await self._ended.wait()
        return text_result("waited")

    async def intercept(self, call: Call) -> bool:
        """Serve such subscriptions; make lists last."""
        if call.method == "tools/list":
            _make_last(call)
        asked = call.params.get("notifications")
        if call.method != "subscriptions/listen" or not isinstance(asked, dict):
            return False
        uris = [uri for uri in asked.get("resourceSubscriptions") or () if uri in URIS]
        if not uris:  # a client's own watch over its lists is served as usual
            return False
        flags = [flag for flag in _CHANGES if asked.get(flag) is True]
        self._open += 1
        self._ended.clear()
        try:
            await self._serve(call, uris, flags)
            self.fault(f"ended: {await call.cancelled()}", call)
            await call.finish()
        finally:
            self._open -= 1
            if not self._open:
                self._ended.set()
        return True

    async def _serve(
        self, call: Call, uris: Sequence[str], flags: Sequence[str]
    ) -> None:
        meta = {ID_KEY: call.id}
        honoured = {"resourceSubscriptions": uris, **dict.fromkeys(flags, True)}
        await call.notify(
            "notifications/subscriptions/acknowledged",
            {"notifications": honoured, "_meta": meta},
        )
        updated = "notifications/resources/updated"
        for flag in flags:
            await call.notify(_CHANGES[flag], {"_meta": meta})
            if self.options.transport is Transport.STDIO:
                stranger = {ID_KEY: "mcpconf-nobody"}
                await call.notify(updated, {"uri": URIS[0], "_meta": stranger})
        for uri in uris:
            await call.notify(updated, {"uri": uri, "_meta": meta})
        self.fault("a subscription was told of changes", call)
