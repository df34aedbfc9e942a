"""Results that do not keep their promise, and a server that takes any header."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.call import Tool
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.fixture_server.results import structured_result
from mcpconf.fixture_server.schema import strict_object
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.fixture_server.call import Call


class AnyHeaders(Profile):
    """
    Refuses no request for its headers.

    A client that leaves one out is then seen to do just that, and nothing else breaks.
    """

    name = "any-headers"
    title = "refuses no request for its headers"
    transports = frozenset({Transport.HTTP})
    checks_headers = False


class BrokenPromise(Profile):
    """A tool whose structured content is not what its output schema says."""

    name = "broken-promise"
    title = "a tool answers with structured content that its output schema forbids"

    def tools(self) -> Sequence[Tool]:
        """The tool ``promise``."""
        return (
            Tool(
                name="promise",
                description="Promises a number and gives a word.",
                input_schema=strict_object(),
                output_schema=strict_object({"number": {"type": "integer"}}),
                handler=self._answer,
            ),
        )

    async def _answer(self, call: Call, _arguments: Mapping[str, Any]) -> Any:
        self.fault("structured content with a word where a number was promised", call)
        return structured_result({"number": "seven"})


PROFILES: tuple[type[Profile], ...] = (AnyHeaders, BrokenPromise)
