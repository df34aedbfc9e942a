"""The tools that every revision has."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.call import Tool
from mcpconf.fixture_server.results import LOG_LEVELS, structured_result, text_result
from mcpconf.fixture_server.schema import (
    ANY_OBJECT,
    BIG_INTEGER,
    INT64_MAX,
    SAFE_MAX,
    SCHEMA_2020_12,
    check,
    check_names,
    is_integer,
    is_number,
    strict_object,
)
from mcpconf.fixture_server.waiting import unless_cancelled
from mcpconf.revision import Era

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.server import Server

    Arguments = Mapping[str, Any]
    Result = dict[str, Any]
    Handler = Callable[[Call, Arguments], Awaitable[Result]]

_NOTHING = strict_object()
_ECHO = strict_object({"text": {"type": "string"}})
#: The header names differ from the property names, so that a client that mirrors by
#: property name is found out.
_HEADERS = strict_object(
    {
        "region": {"type": "string", "x-mcp-header": "Area"},
        "attempt": {
            "type": "integer",
            "minimum": -SAFE_MAX,
            "maximum": SAFE_MAX,
            "x-mcp-header": "Try-Number",
        },
        "enabled": {"type": "boolean", "x-mcp-header": "Switched-On"},
        "greeting": {"type": "string", "x-mcp-header": "Salutation"},
    }
)
_VALUE = strict_object({"value": BIG_INTEGER})
_NUMBERS = strict_object(
    {"integer": {"type": "integer"}, "number": {"type": "number"}}, optional=True
)
EDGES = (
    SAFE_MAX,
    SAFE_MAX + 1,
    SAFE_MAX + 2,
    INT64_MAX,
    -(SAFE_MAX + 2),
    0.1,
    1e21,
    5e-324,
)
_OPEN_VALUE = strict_object({"value": {"type": ["string", "null"]}})
_LINES: Mapping[str, str] = {
    "client_metadata": "Shows the _meta of this request.",
    "echo": "Gives the text back.",
    "fail": "Fails, as a tool does.",
    "header_echo": "Gives arguments back that HTTP clients mirror in headers.",
    "progress": "Reports progress and a log message where they are asked for.",
    "review_large_integer": "Gives an integer back that no double holds.",
    "review_protocol_env": "Shows CODEX_MCP_PROTOCOL_VERSION of the server's process.",
    "slow": "Takes its time, or stops when cancelled.",
    "both": "Answers with content and with structured content, which differ.",
    "numbers": "Gives numbers back, with others at the edges of what can be held.",
    "schema_2020_12": "Gives arguments back whose schema uses JSON Schema 2020-12.",
    "grow": "Adds the tool grown, and tells everybody.",
}


def plain_tools(server: Server) -> list[Tool]:
    """The tools, in no particular order."""

    async def client_metadata(call: Call, arguments: Arguments) -> Result:
        check_names(_NOTHING, arguments)
        return structured_result(call.meta if server.era is Era.STATELESS else {})

    async def slow(call: Call, arguments: Arguments) -> Result:
        check_names(_NOTHING, arguments)
        await unless_cancelled(call, asyncio.sleep(server.options.limits.delay_s))
        return text_result("done")

    async def grow(_call: Call, arguments: Arguments) -> Result:
        check_names(_NOTHING, arguments)
        server.catalogue.add(_tool("grown", _done, line="Was added by grow."))
        told = await server.announce("notifications/tools/list_changed", {})
        return text_result("grown", structuredContent={"told": told})

    return [
        _tool("client_metadata", client_metadata, output=ANY_OBJECT),
        _tool("echo", _echo, _ECHO, output=_ECHO),
        _tool("fail", _fail),
        _tool("header_echo", _header_echo, _HEADERS, output=ANY_OBJECT),
        _tool("progress", progress),
        _tool("review_large_integer", _large_integer, _VALUE, output=_VALUE),
        _tool("review_protocol_env", _protocol_env, output=_OPEN_VALUE),
        _tool("slow", slow),
        _tool("both", _both, output=strict_object({"from": {"type": "string"}})),
        _tool("numbers", _numbers, _NUMBERS, output=ANY_OBJECT),
        _tool("schema_2020_12", _arguments, SCHEMA_2020_12),
        _tool("grow", grow),
    ]


def padding(number: int) -> Tool:
    """One of the tools that fill a catalogue up to its size."""
    return _tool(
        f"catalog_boundary_{number:04d}", progress, line="Fills the catalogue."
    )


def _tool(
    name: str,
    handler: Handler,
    schema: Mapping[str, Any] = _NOTHING,
    *,
    output: Mapping[str, Any] | None = None,
    line: str | None = None,
) -> Tool:
    return Tool(
        name=name,
        description=line or _LINES[name],
        input_schema=schema,
        output_schema=output,
        handler=handler,
    )


async def progress(call: Call, arguments: Arguments) -> Result:
    """Report progress to a token and a message to a level, then answer."""
    check_names(_NOTHING, arguments)
    token, level = call.meta.get("progressToken"), call.session.log_level
    if isinstance(token, str | int) and not isinstance(token, bool):
        await call.notify(
            "notifications/progress",
            {
                "progressToken": token,
                "progress": 1,
                "total": 1,
                "message": "fixture progress",
            },
        )
    if level is not None and LOG_LEVELS.index(level) <= LOG_LEVELS.index("info"):
        await call.notify(
            "notifications/message",
            {"level": "info", "logger": "fixture", "data": "fixture log message"},
        )
    return text_result("progress complete")


async def _echo(_call: Call, arguments: Arguments) -> Result:
    check_names(_ECHO, arguments)
    text = arguments["text"]
    check(arguments, "text", is_sound=isinstance(text, str))
    return text_result(text, structuredContent={"text": text})


async def _fail(_call: Call, arguments: Arguments) -> Result:
    check_names(_NOTHING, arguments)
    return text_result("fixture failure", isError=True)


async def _header_echo(_call: Call, arguments: Arguments) -> Result:
    check_names(_HEADERS, arguments)
    for name in ("region", "greeting"):
        check(arguments, name, is_sound=isinstance(arguments[name], str))
    check(arguments, "attempt", is_sound=is_integer(arguments["attempt"]))
    check(arguments, "enabled", is_sound=isinstance(arguments["enabled"], bool))
    return structured_result(arguments)


async def _large_integer(_call: Call, arguments: Arguments) -> Result:
    check_names(_VALUE, arguments)
    is_sound = is_integer(arguments["value"], SAFE_MAX + 2, INT64_MAX)
    check(arguments, "value", is_sound=is_sound)
    return structured_result(arguments)


async def _protocol_env(_call: Call, arguments: Arguments) -> Result:
    check_names(_NOTHING, arguments)
    return structured_result({"value": os.environ.get("CODEX_MCP_PROTOCOL_VERSION")})


async def _both(_call: Call, arguments: Arguments) -> Result:
    check_names(_NOTHING, arguments)
    return text_result("from content", structuredContent={"from": "structured"})


async def _numbers(_call: Call, arguments: Arguments) -> Result:
    check_names(_NUMBERS, arguments)
    for name, value in arguments.items():
        is_sound = is_number(value) and (name == "number" or isinstance(value, int))
        check(arguments, name, is_sound=is_sound)
    return structured_result({**arguments, "edges": list(EDGES)})


async def _arguments(_call: Call, arguments: Arguments) -> Result:
    return structured_result(arguments)


async def _done(_call: Call, arguments: Arguments) -> Result:
    check_names(_NOTHING, arguments)
    return text_result("done")
