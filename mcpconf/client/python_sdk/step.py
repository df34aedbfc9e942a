"""The verbs of the supplemental contract, as a host of the SDK does them."""

from __future__ import annotations

import asyncio
import warnings
from typing import TYPE_CHECKING, Any

from mcp import Client, MCPDeprecationWarning
from mcp.client.subscriptions import ListenNotSupportedError
from mcp.shared.subscriptions import event_to_notification
from mcp.types import LOG_LEVEL_META_KEY, PaginatedRequestParams
from mcp.types.version import KNOWN_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.types import CallToolResult

    from mcpconf.client.python_sdk.assignment import FIRST_STATELESS, Unsupported
    from mcpconf.client.python_sdk.failure import describe
    from mcpconf.client.python_sdk.link import Link, raw
    from mcpconf.client.python_sdk.supplemental import Setting

    Step = Mapping[str, Any]
else:
    from assignment import FIRST_STATELESS, Unsupported
    from failure import describe
    from link import Link, raw

#: What can be listed: the SDK's method, and the member of its pages.
_LISTS = {
    "tools": ("list_tools", "tools"),
    "resources": ("list_resources", "resources"),
    "resourceTemplates": ("list_resource_templates", "resource_templates"),
    "prompts": ("list_prompts", "prompts"),
}

#: The filter of a subscription on the wire, and in the SDK.
_FILTERS = {
    "toolsListChanged": "tools_list_changed",
    "promptsListChanged": "prompts_list_changed",
    "resourcesListChanged": "resources_list_changed",
    "resourceSubscriptions": "resource_subscriptions",
}

#: The SDK's only walk of its own, after a header mismatch, asks for no more.
_PAGES = 100

_OFFERED = frozenset(KNOWN_PROTOCOL_VERSIONS)
_NO_PAGER = (
    "the SDK hands its host one page at a time and has no pager: "
    "where to stop is for the host alone"
)


class StepError(Exception):
    """A step cannot be taken; nobody's fault but the scenario's."""


class Steps:
    """The host: its connections, and the steps it takes with them."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._links: list[Link] = []
        self._by_server: dict[str, Link] = {}
        self._last: Link | None = None
        self._verbs: Mapping[str, Callable[[Step], Awaitable[dict[str, Any]]]] = {
            "connect": self._connect,
            "list": self._list,
            "call": self._call,
            "read": self._read,
            "prompt": self._prompt,
            "cancel": self._cancel,
            "await": self._await,
            "listen": self._listen,
            "close": self._close,
        }

    async def take(self, step: Step) -> dict[str, Any]:
        """Take one step; its result, as the contract writes it."""
        verb = self._verbs.get(step["verb"])
        if verb is None:
            reason = f"no part is written for verb {step['verb']!r}"
            return {"id": step["id"], "unsupported": reason}
        try:
            return {"id": step["id"], "ok": True, "value": await verb(step)}
        except Unsupported as reason:
            return {"id": step["id"], "unsupported": str(reason)}
        except Exception as error:  # noqa: BLE001 (whatever the client raised is its answer)
            return {"id": step["id"], "ok": False, "error": describe(error)}

    async def close_all(self) -> list[BaseException]:
        """Close every connection, the last one first; what went wrong."""
        links, self._links, self._by_server = self._links, [], {}
        self._last = None
        problems = [await link.close() for link in reversed(links)]
        return [each for each in problems if each is not None]

    def _link(self, step: Step) -> Link:
        name = step.get("server")
        link = self._last if name is None else self._by_server.get(name)
        if link is None:
            raise StepError(f"no connection to {name or 'any server'} is open")
        return link

    async def _connect(self, step: Step) -> dict[str, Any]:
        name, offer = step["server"], step.get("offer")
        is_stateless = self._setting.revision >= FIRST_STATELESS
        if offer is not None and is_stateless and offer not in _OFFERED:
            raise Unsupported("the SDK's client discovers with versions it knows alone")
        link = Link()
        self._links.append(link)
        await link.open(
            self._setting.servers[name],
            offer or self._setting.revision,
            limit_s=self._setting.request_timeout_s,
        )
        self._last = self._by_server[name] = link
        client = link.connection
        capabilities = client.server_capabilities
        return {
            "protocolVersion": client.protocol_version,
            "serverInfo": raw(client.server_info) if client.server_info else None,
            "capabilities": raw(capabilities) if capabilities else None,
            "instructions": client.instructions,
        }

    async def _list(self, step: Step) -> dict[str, Any]:
        """
        List all pages.

        The walk is this host's: the SDK would neither end nor continue it. So one that
        repeats itself or goes on and on says nothing of the SDK, neither that it is
        bounded nor that it is not.
        """
        connection = self._link(step).connection
        name, member = _LISTS[step["what"]]
        turn = getattr(connection, name)
        items: list[dict[str, Any]] = []
        seen: set[str | None] = set()
        cursor: str | None = None
        while cursor not in seen and len(seen) < _PAGES:
            seen.add(cursor)
            if isinstance(connection, Client):
                page = await turn(cursor=cursor)
            else:
                page = await turn(params=PaginatedRequestParams(cursor=cursor))
            items += [raw(each) for each in getattr(page, member)]
            cursor = page.next_cursor
            if cursor is None:
                return {"items": items}
        raise Unsupported(_NO_PAGER)

    async def _call(self, step: Step) -> dict[str, Any]:
        link = self._link(step)
        told, shown = len(link.told), len(link.shown)
        link.answer = step.get("answer") or {}
        link.takes_progress = bool(step.get("progress"))
        try:
            result = await self._send_call(link, step)
        finally:
            link.takes_progress, link.answer = False, {}
        return {
            "result": raw(result),
            "notifications": link.told[told:],
            "elicitations": link.shown[shown:],
        }

    async def _send_call(self, link: Link, step: Step) -> CallToolResult:
        connection = link.connection
        meta = dict(step.get("meta") or {})
        if level := step.get("log_level"):
            if (connection.protocol_version or "") >= FIRST_STATELESS:
                meta[LOG_LEVEL_META_KEY] = level
            else:
                with warnings.catch_warnings():
                    # Deprecated since, but this revision's only way.
                    warnings.simplefilter("ignore", MCPDeprecationWarning)
                    await connection.set_logging_level(level)
        return await connection.call_tool(
            step["tool"],
            step.get("arguments"),
            step.get("timeout_s"),
            link.progress if link.takes_progress else None,
            meta=meta or None,  # type: ignore[arg-type] # whatever the scenario asks for
        )

    async def _read(self, step: Step) -> dict[str, Any]:
        result = await self._link(step).connection.read_resource(step["uri"])
        return {"contents": [raw(each) for each in result.contents]}

    async def _prompt(self, step: Step) -> dict[str, Any]:
        connection = self._link(step).connection
        result = await connection.get_prompt(step["name"], step.get("arguments"))
        return {"messages": [raw(each) for each in result.messages]}

    async def _cancel(self, step: Step) -> dict[str, Any]:
        """Abandon a call, as a host does: the SDK tells the server by itself."""
        call = asyncio.create_task(self._send_call(self._link(step), step))
        done, _ = await asyncio.wait((call,), timeout=step["after_s"])
        if done:
            call.result()
            raise StepError("the call had ended before it was cancelled")
        call.cancel()
        await asyncio.wait((call,))
        if not call.cancelled():
            call.result()
        return {}

    async def _await(self, step: Step) -> dict[str, Any]:
        async with asyncio.timeout(step["timeout_s"]):
            return {"params": await self._link(step).first(step["method"])}

    async def _listen(self, step: Step) -> dict[str, Any]:
        """Hear `count` events, the acknowledgement first, or what came in time."""
        connection = self._link(step).connection
        strange = step["filter"].keys() - _FILTERS.keys()
        if strange:
            raise Unsupported(f"the SDK's filter has no {', '.join(sorted(strange))}")
        if not isinstance(connection, Client):
            raise Unsupported("the SDK's sessions have no subscriptions/listen")
        wanted = {_FILTERS[name]: value for name, value in step["filter"].items()}
        heard: list[dict[str, Any]] = []
        try:
            async with (
                asyncio.timeout(step["timeout_s"]),
                connection.listen(**wanted) as subscription,
            ):
                # The SDK surfaces the acknowledgement as what was honoured.
                honoured = {"notifications": raw(subscription.honored)}
                method = "notifications/subscriptions/acknowledged"
                heard.append({"method": method, "params": honoured})
                while len(heard) < step["count"]:
                    event = await anext(subscription, None)
                    if event is None:
                        break
                    note = event_to_notification(event, {})
                    params = raw(note.params) if note.params else {}
                    params.pop("_meta", None)
                    heard.append({"method": note.method, "params": params})
        except ListenNotSupportedError as reason:
            raise Unsupported(str(reason)) from None
        except TimeoutError:
            if not heard:
                raise
        return {"notifications": heard}

    async def _close(self, step: Step) -> dict[str, Any]:  # noqa: ARG002 (as the others)
        problems = await self.close_all()
        if problems:
            raise problems[0]
        return {}
