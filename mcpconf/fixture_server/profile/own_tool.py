"""A profile whose fault is one tool's answer, and touches nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.fixture_server.call import Tool
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.fixture_server.results import text_result
from mcpconf.fixture_server.schema import strict_object
from mcpconf.fixture_server.stateless import finish
from mcpconf.revision import Era

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.fixture_server.call import Call


class OwnTool(Profile):
    """Adds a tool that is named after the profile, with underscores."""

    #: What the tool answers where its answer can be read.
    text: ClassVar[str] = "done"

    @property
    def tool(self) -> str:
        """The tool's name."""
        return self.name.replace("-", "_")

    def tools(self) -> Sequence[Tool]:
        """The tool."""
        return (
            Tool(
                name=self.tool,
                description=f"A tool with one fault: {self.title}.",
                input_schema=strict_object(),
                handler=self._handle,
            ),
        )

    def is_ours(self, call: Call) -> bool:
        """Whether `call` is one of the tool."""
        return call.method == "tools/call" and call.params.get("name") == self.tool

    async def _handle(self, call: Call, _: Mapping[str, Any]) -> dict[str, Any] | None:
        self.fault(self.title, call)
        return await self.serve(call)

    async def serve(self, call: Call) -> dict[str, Any] | None:  # noqa: ARG002 (a hook)
        """Give the result, or None after answering `call` in some other way."""
        return text_result(self.text)

    def response(self, call: Call, text: str | None = None) -> dict[str, Any]:
        """A whole response to `call`, as its revision has it."""
        result = text_result(self.text if text is None else text)
        if self.options.revision.era is Era.STATELESS:
            result = finish(call, result)
        return {"jsonrpc": "2.0", "id": call.id, "result": result}
