"""The tools of one server: its revision's, its profiles', and padding; it can grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.asking import asking_tools
from mcpconf.fixture_server.plain_tools import padding, plain_tools
from mcpconf.revision import Era

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.fixture_server.call import Tool
    from mcpconf.fixture_server.server import Server


class Catalogue:
    """What ``tools/list`` shows, sorted by name, and what ``tools/call`` finds."""

    #: By name.
    named: dict[str, Tool]
    #: As ``tools/list`` shows them.
    shown: Sequence[Mapping[str, Any]]

    def __init__(self, server: Server) -> None:
        """Gather the tools; of two with one name the profile's counts."""
        options = server.options
        tools = plain_tools(server)
        if server.era is Era.STATELESS:
            # Its era is one of two, and a stdio server starts often.
            from mcpconf.fixture_server.mrtr import mrtr_tools  # noqa: PLC0415

            tools += mrtr_tools(options.limits)
        else:
            tools += asking_tools(options.revision)
        for profile in server.profiles:
            tools += profile.tools()
        self.named = {tool.name: tool for tool in tools}
        #: The names that the instructions give: not the padding's.
        self.notable = tuple(sorted(self.named))
        missing = options.limits.catalogue_size - len(self.named)
        for number in range(missing):
            tool = padding(number)
            self.named[tool.name] = tool
        self._show()

    def add(self, tool: Tool) -> None:
        """Add a tool, or replace the one of its name."""
        self.named[tool.name] = tool
        self._show()

    def _show(self) -> None:
        self.shown = tuple(
            _shown(tool)
            for _, tool in sorted(self.named.items(), key=lambda each: each[0])
        )


def _shown(tool: Tool) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": {"readOnlyHint": True},
    }
    if tool.output_schema is not None:
        shown["outputSchema"] = tool.output_schema
    return shown
