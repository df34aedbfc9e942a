"""
One connection of the host, and what the host was told over it.

A connection lives in a task of its own: the SDK's task groups must be left by the task
that entered them, and one that breaks must not take the steps down with it.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx2
from mcp import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    CreateMessageResult,
    ElicitResult,
    ListRootsResult,
    LoggingMessageNotification,
    ProgressNotification,
    Root,
    TextContent,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from contextlib import AbstractAsyncContextManager

    from mcp.client import Transport
    from mcp.client.context import ClientRequestContext
    from mcp.client.session import IncomingMessage
    from mcp.types import (
        CreateMessageRequestParams,
        ElicitRequestParams,
        LoggingMessageNotificationParams,
    )
    from pydantic import BaseModel

    from mcpconf.client.python_sdk.connection import (
        Connection,
        fill_defaults,
        loopback_client,
        open_at,
    )
else:
    from connection import fill_defaults, loopback_client, open_at

#: The SDK's own: a stream may be silent for long, and requests have their own limit.
_STREAM_S = 300.0

#: How a host answers a form whose scenario says nothing of it.
_DEFAULTS = "defaults"


def raw(model: BaseModel) -> dict[str, Any]:
    """What the SDK surfaced, as JSON: the members it was sent, and no defaults."""
    return model.model_dump(by_alias=True, mode="json", exclude_unset=True)


class Link:
    """A connection to one server; see `open`."""

    connection: Connection

    def __init__(self) -> None:
        #: Notifications, ``{method, params}``, in the order the host was told of them.
        self.told: list[dict[str, Any]] = []
        #: Params of the forms shown to the user.
        self.shown: list[dict[str, Any]] = []
        #: ``{action, content}`` for the forms to come.
        self.answer: Mapping[str, Any] = {}
        #: Whether a call takes its progress by callback.
        self.takes_progress = False
        self._news = asyncio.Event()
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def open(
        self,
        server: Mapping[str, Any],
        revision: str,
        *,
        limit_s: float,
    ) -> None:
        """
        Open it, with an offer of `revision`; see `connection.open_at`.

        :raises TimeoutError: it was not open within `limit_s`.
        """
        opened: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()
        transport = _transport_to(server, limit_s)
        opening = self._open_at(revision, transport, limit_s=limit_s)
        self._task = asyncio.create_task(self._live(opening, opened))
        await asyncio.wait(
            (self._task, opened), timeout=limit_s, return_when=asyncio.FIRST_COMPLETED
        )
        if opened.done():
            self.connection = opened.result()
        elif self._task.done():
            task, self._task = self._task, None
            task.result()
        else:
            # The SDK has no limit for an opening, only for its requests. What it does
            # on the way out is awaited by `close`.
            self._task.cancel()
            raise TimeoutError(f"the connection was not open within {limit_s:g} s")

    async def close(self) -> BaseException | None:
        """Close it; what went wrong on the way, or before and unnoticed."""
        self._closing.set()
        if self._task is None:
            return None
        await asyncio.wait((self._task,))
        return None if self._task.cancelled() else self._task.exception()

    async def first(self, method: str) -> dict[str, Any]:
        """Wait for the first notification of a kind since the opening; its params."""
        while True:
            for each in self.told:
                if each["method"] == method:
                    params: dict[str, Any] = each["params"]
                    return params
            self._news.clear()
            await self._news.wait()

    async def _live(
        self,
        opening: AbstractAsyncContextManager[Connection],
        opened: asyncio.Future[Connection],
    ) -> None:
        async with opening as connection:
            opened.set_result(connection)
            await self._closing.wait()

    @asynccontextmanager
    async def _open_at(
        self,
        revision: str,
        transport: AbstractAsyncContextManager[Transport],
        *,
        limit_s: float,
    ) -> AsyncIterator[Connection]:
        async with (
            transport as made,
            open_at(
                revision,
                made,
                limit_s=limit_s,
                elicitation_callback=self._elicit,
                sampling_callback=_sample,
                list_roots_callback=_list_roots,
                logging_callback=self._log,
                message_handler=self._handle,
            ) as connection,
        ):
            yield connection

    async def progress(
        self, progress: float, total: float | None, message: str | None
    ) -> None:
        """Take a report of progress, as a call's callback."""
        params = {"progress": progress, "total": total, "message": message}
        known = {name: value for name, value in params.items() if value is not None}
        self._tell("notifications/progress", known)

    async def _log(self, params: LoggingMessageNotificationParams) -> None:
        self._tell("notifications/message", raw(params))

    async def _handle(self, message: IncomingMessage) -> None:
        """Take what has no callback of its own."""
        if isinstance(message, Exception | LoggingMessageNotification):
            return
        if isinstance(message, ProgressNotification) and self.takes_progress:
            return
        self._tell(message.method, raw(message.params) if message.params else {})

    def _tell(self, method: str, params: dict[str, Any]) -> None:
        self.told.append({"method": method, "params": params})
        self._news.set()

    async def _elicit(
        self, context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult:
        self.shown.append(raw(params))
        action = self.answer.get("action", "accept")
        content = self.answer.get("content", _DEFAULTS)
        if action == "accept" and content == _DEFAULTS:
            return await fill_defaults(context, params)
        return ElicitResult(
            action=action, content=content if action == "accept" else None
        )


async def _sample(
    context: ClientRequestContext,  # noqa: ARG001 (the SDK's signature)
    params: CreateMessageRequestParams,  # noqa: ARG001 (the SDK's signature)
) -> CreateMessageResult:
    text = TextContent(type="text", text="a sampled answer")
    return CreateMessageResult(role="assistant", content=text, model="none")


async def _list_roots(
    context: ClientRequestContext,  # noqa: ARG001 (the SDK's signature)
) -> ListRootsResult:
    root = Root.model_validate({"uri": "file:///mcpconf", "name": "mcpconf"})
    return ListRootsResult(roots=[root])


@asynccontextmanager
async def _transport_to(
    server: Mapping[str, Any], limit_s: float
) -> AsyncIterator[Transport]:
    if "argv" in server:
        command, *arguments = server["argv"]
        yield stdio_client(
            StdioServerParameters(
                command=command, args=arguments, env=dict(server.get("env") or {})
            )
        )
        return
    timeout = httpx2.Timeout(limit_s, read=_STREAM_S)
    async with loopback_client(timeout) as http:
        yield streamable_http_client(server["url"], http_client=http)
