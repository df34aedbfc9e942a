"""What the tools of this package have in common."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import MISSING_CAPABILITY
from mcpconf.fixture_server.call import RpcError, Tool
from mcpconf.fixture_server.schema import check, check_names, strict_object
from mcpconf.fixture_server.waiting import unless_cancelled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcpconf.fixture_server.call import Call

#: Seconds between two messages of one tool: long enough to be told apart.
PAUSE_S = 0.05


def tool(
    name: str,
    description: str,
    answer: Callable[[Call], Awaitable[dict[str, Any] | None]],
) -> Tool:
    """A tool without arguments."""
    schema = strict_object()

    async def handler(call: Call, arguments: Mapping[str, Any]) -> Any:
        check_names(schema, arguments)
        return await answer(call)

    return Tool(
        name=name, description=description, input_schema=schema, handler=handler
    )


def text_tool(
    name: str,
    description: str,
    argument: str,
    answer: Callable[[Call, str], Awaitable[dict[str, Any]]],
) -> Tool:
    """A tool with one argument, a text."""
    schema = strict_object({argument: {"type": "string"}})

    async def handler(call: Call, arguments: Mapping[str, Any]) -> Any:
        check_names(schema, arguments)
        text = arguments[argument]
        check(arguments, argument, is_sound=isinstance(text, str))
        return await answer(call, text)

    return Tool(
        name=name, description=description, input_schema=schema, handler=handler
    )


async def pause(call: Call) -> None:
    """
    Wait between two messages of one tool.

    :raises CancelledByClientError: the client does not wait.
    """
    await unless_cancelled(call, asyncio.sleep(PAUSE_S))


def missing(capabilities: Mapping[str, Any]) -> RpcError:
    """2026-07-28: the error for a request that does not declare `capabilities`."""
    return RpcError(
        MISSING_CAPABILITY,
        "Missing required client capability",
        {"requiredCapabilities": dict(capabilities)},
        status=400,
    )
