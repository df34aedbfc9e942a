"""
Methods that all revisions have, and what they answer: lists, resources, prompts, tools.

The answers here are bare. What a revision puts around them (`resultType`, caching,
`_meta`) is in `stateless`; handshake revisions send them as they are.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from mcpconf.fixture_server.admission import INVALID_PARAMS, RESOURCE_NOT_FOUND
from mcpconf.fixture_server.call import RpcError
from mcpconf.revision import Era

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.server import Server

    Json = Any
    Items = Sequence[Mapping[str, Any]]

SERVER_INFO = {"name": "openai-mcp-spec-test-server", "version": "0.1.0"}
LOG_LEVELS = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
URIS = ("test://fixture/readme", "test://fixture/こんにちは")
RESOURCES: Items = tuple(
    {
        "uri": uri,
        "name": uri.rpartition("/")[2],
        "title": f"Fixture resource {uri.rpartition('/')[2]}",
        "description": "A text of the fixture server.",
        "mimeType": "text/plain",
    }
    for uri in URIS
)
TEMPLATES: Items = (
    {
        "uriTemplate": "test://fixture/{name}",
        "name": "fixture-by-name",
        "title": "Fixture by name",
        "description": "A text of the fixture server, by its name.",
        "mimeType": "text/plain",
    },
)
PROMPTS: Items = (
    {
        "name": "fixture.greeting",
        "title": "Greeting",
        "description": "Greets somebody.",
        "arguments": [
            {"name": "name", "description": "Who is greeted.", "required": True}
        ],
    },
)


def capabilities(server: Server) -> dict[str, Any]:
    """What the server declares, the profiles' changes included."""
    declared: dict[str, Any] = {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": True},
        "logging": {},
    }
    if server.era is Era.STATELESS:
        declared["extensions"] = {"com.openai/mcp-spec-test": {}}
    for profile in server.profiles:
        profile.capabilities(declared)
    return declared


def text_result(text: str, **more: Json) -> dict[str, Any]:
    """A tool result of one text, and what else it has."""
    return {"content": [{"type": "text", "text": text}], **more}


def structured_result(value: Mapping[str, Any]) -> dict[str, Any]:
    """A tool result in both forms: structured, and the same as sorted JSON text."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text_result(text, structuredContent=dict(value))


def invalid(why: str) -> RpcError:
    """The error for params that are wrong in themselves (HTTP 200)."""
    return RpcError(INVALID_PARAMS, f"Invalid params: {why}")


def page_of(server: Server, call: Call, items: Items, size: int) -> tuple[Items, Any]:
    """
    The page that ``params.cursor`` names, and its ``nextCursor`` or None.

    :raises RpcError: -32602: not a cursor that was given out.
    """
    cursor = call.params.get("cursor")
    if cursor is not None and not isinstance(cursor, str):
        raise invalid("cursor is a string")
    for profile in server.profiles:
        decided = profile.page(call.method, cursor, items)
        if decided is not None:
            return decided
    size = size or max(len(items), 1)
    starts = {f"page-{at // size + 1}": at for at in range(0, len(items), size)}
    if cursor is not None and (cursor == "page-1" or cursor not in starts):
        raise invalid("unknown cursor")
    start = 0 if cursor is None else starts[cursor]
    following = start + size
    more = f"page-{following // size + 1}" if following < len(items) else None
    return items[start:following], more


def _list(
    key: str, items: Callable[[Server], Items], size: Callable[[Server], int]
) -> Callable[[Server, Call], Awaitable[dict[str, Any]]]:
    async def answer(server: Server, call: Call) -> dict[str, Any]:
        page, cursor = page_of(server, call, items(server), size(server))
        result: dict[str, Any] = {key: list(page)}
        return result if cursor is None else {**result, "nextCursor": cursor}

    return answer


async def _read(server: Server, call: Call) -> dict[str, Any]:
    uri = call.params.get("uri")
    if not isinstance(uri, str):
        raise invalid("uri is a string")
    if unquote(uri) not in URIS:  # a URI library may have percent-encoded it
        code = INVALID_PARAMS if server.era is Era.STATELESS else RESOURCE_NOT_FOUND
        raise RpcError(code, "Resource not found", {"uri": uri})
    text = f"fixture contents for {uri}"
    return {"contents": [{"uri": uri, "mimeType": "text/plain", "text": text}]}


async def _prompt(_server: Server, call: Call) -> dict[str, Any]:
    if call.params.get("name") != "fixture.greeting":
        raise invalid("unknown prompt")
    arguments = call.params.get("arguments")
    name = arguments.get("name") if isinstance(arguments, dict) else None
    if not isinstance(name, str):
        raise invalid("the argument name is a string")
    content = {"type": "text", "text": f"Hello, {name}!"}
    return {
        "description": "A greeting.",
        "messages": [{"role": "user", "content": content}],
    }


async def _call_tool(server: Server, call: Call) -> dict[str, Any] | None:
    name, arguments = call.params.get("name"), call.params.get("arguments", {})
    if not isinstance(name, str):
        raise invalid("name is a string")
    if not isinstance(arguments, dict):
        raise invalid("arguments is an object")
    tool = server.catalogue.named.get(name)
    if tool is None:
        raise invalid(f"unknown tool: {name}")
    result: dict[str, Any] | None = await tool.handler(call, arguments)
    return result


METHODS: Mapping[str, Callable[[Server, Call], Awaitable[dict[str, Any] | None]]] = {
    "tools/list": _list(
        "tools",
        lambda server: server.catalogue.shown,
        lambda server: server.options.limits.page_size,
    ),
    "resources/list": _list("resources", lambda _: RESOURCES, lambda _: 1),
    "resources/templates/list": _list(
        "resourceTemplates", lambda _: TEMPLATES, lambda _: 0
    ),
    "prompts/list": _list("prompts", lambda _: PROMPTS, lambda _: 0),
    "resources/read": _read,
    "prompts/get": _prompt,
    "tools/call": _call_tool,
}
