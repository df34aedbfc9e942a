"""The good server with the tasks extension (SEP-2663); faults build on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakSet

from mcpconf.fixture_server.profile.base import Profile
from mcpconf.fixture_server.task_conduct import EXTENSION
from mcpconf.fixture_server.task_engine import Engine
from mcpconf.fixture_server.task_rounds import Rounds
from mcpconf.fixture_server.task_tools import task_tools
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from mcpconf.fixture_server.call import Call, Tool
    from mcpconf.fixture_server.server import Server


class Tasks(Profile):
    """
    Tools that work in tasks, and the methods and notifications that go with them.

    This is no fault, and says nothing in the log.
    """

    name = "tasks"
    title = "has the tasks extension, and its tools"
    revisions: ClassVar[frozenset[Revision]] = frozenset({Revision.V2026_07_28})

    def join(self, server: Server) -> None:
        """Set the engine up."""
        self.engine = Engine(server)
        self._streamed = WeakSet[Any]()

    def tools(self) -> Sequence[Tool]:
        """The seven of the official scenarios."""
        return (*task_tools(self.engine), Rounds(self.engine).tool())

    def capabilities(self, capabilities: dict[str, Any]) -> None:
        """Declare the extension; it has no settings."""
        capabilities["extensions"][EXTENSION] = {}

    async def answer(self, call: Call, result: dict[str, Any]) -> bool:
        """Remember who gets a task, and has asked to hear how it goes on."""
        is_task = call.method == "tools/call" and result.get("resultType") == "task"
        if is_task and "progressToken" in call.meta:
            self._streamed.add(call)
        return False

    def opens_stream(self, call: Call) -> bool:
        """
        Answer these on a stream; there is nothing on it but the result.

        Servers open it before they know that there will be no progress, since a task
        has none.
        """
        return call in self._streamed

    def own_methods(self) -> Mapping[str, Callable[[Call], Awaitable[dict[str, Any]]]]:
        """The three of the extension."""
        return {
            "tasks/get": self.engine.get,
            "tasks/update": self.engine.update,
            "tasks/cancel": self.engine.cancel,
        }

    def subscribe(
        self, call: Call, asked: Mapping[str, Any], honoured: dict[str, Any]
    ) -> None:
        """Add the tasks that are asked for."""
        self.engine.subscribe(call, asked, honoured)


PROFILES: tuple[type[Profile], ...] = (Tasks,)
