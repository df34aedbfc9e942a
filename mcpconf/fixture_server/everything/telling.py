"""Tools that tell something before they answer: log messages, progress, changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.everything.tool import pause, tool
from mcpconf.fixture_server.results import LOG_LEVELS, text_result

if TYPE_CHECKING:
    from mcpconf.fixture_server.call import Call, Tool
    from mcpconf.fixture_server.everything.prompts import Prompts
    from mcpconf.fixture_server.server import Server

_LINES = (
    "Tool execution started",
    "Tool processing data",
    "Tool execution completed",
)


def telling_tools() -> list[Tool]:
    """The tools, in no particular order; the two that log are one under two names."""
    line = "Logs three messages at the level info, where they are asked for."
    return [
        tool("test_tool_with_logging", line, _log),
        tool("test_logging_tool", line, _log),
        tool("test_tool_with_progress", "Reports its progress.", _progress),
    ]


def changing_tools(server: Server, prompts: Prompts) -> list[Tool]:
    """Tools that change a list and tell everybody who may hear of it."""
    changes = 0

    async def change_tools(_: Call) -> dict[str, Any]:
        nonlocal changes
        changes += 1
        line = f"Was changed {changes} times."
        server.catalogue.add(tool("test_changing_tool", line, _done))
        return await _tell(server, "tools")

    async def change_prompts(_: Call) -> dict[str, Any]:
        prompts.change()
        return await _tell(server, "prompts")

    return [
        tool("test_trigger_tool_change", "Changes a tool.", change_tools),
        tool("test_trigger_prompt_change", "Changes a prompt.", change_prompts),
    ]


async def _tell(server: Server, kind: str) -> dict[str, Any]:
    told = await server.announce(f"notifications/{kind}/list_changed", {})
    return text_result(f"The {kind} changed; {told} were told.")


async def _done(_: Call) -> dict[str, Any]:
    return text_result("done")


async def _log(call: Call) -> dict[str, Any]:
    level = call.session.log_level
    is_wanted = level in LOG_LEVELS[: LOG_LEVELS.index("info") + 1]
    for number, line in enumerate(_LINES):
        if number:
            await pause(call)
        if is_wanted:
            await call.notify(
                "notifications/message",
                {"level": "info", "logger": "fixture", "data": line},
            )
    return text_result("Three messages were due.")


async def _progress(call: Call) -> dict[str, Any]:
    token = call.meta.get("progressToken")
    is_wanted = isinstance(token, str | int) and not isinstance(token, bool)
    for progress in (0, 50, 100):
        if progress:
            await pause(call)
        if is_wanted:
            await call.notify(
                "notifications/progress",
                {"progressToken": token, "progress": progress, "total": 100},
            )
    return text_result("The work is done.")
