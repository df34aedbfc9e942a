"""Servers with the tasks extension that do what they may, and few do; no fault."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import INTERNAL_ERROR
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.profile.tasks_fault import TaskFault, is_tool
from mcpconf.fixture_server.results import text_result
from mcpconf.fixture_server.stateless import finish

if TYPE_CHECKING:
    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.profile.base import Profile
    from mcpconf.fixture_server.task_conduct import Conduct

_TOO_MANY_REQUESTS = 429


class Patient(TaskFault):
    """
    A client asks for a task no more often than ``pollIntervalMs`` says.

    This is no fault, and says nothing in the log.
    """

    name = "patient-tasks"
    title = "refuses a tasks/get that comes within pollIntervalMs of the last"

    def arm(self, conduct: Conduct) -> None:
        """Nobody has asked yet."""
        del conduct
        self._asked: dict[str, float] = {}

    async def intercept(self, call: Call) -> bool:
        """Refuse who asks too often, whatever else is wrong with the request."""
        task = self.task_of(call) if call.method == "tasks/get" else None
        if task is None:
            return False
        now = asyncio.get_running_loop().time()
        last = self._asked.get(task.id)
        self._asked[task.id] = now
        if last is None or now - last >= task.poll_ms / 1000:
            return False
        error = RpcError(INTERNAL_ERROR, "polled too fast", status=_TOO_MANY_REQUESTS)
        await call.error(error)
        return True


class Synchronous(TaskFault):
    """
    A server that has the extension need not make a task of anything.

    This is no fault, and says nothing in the log.
    """

    name = "synchronous-tasks"
    title = "has the tasks extension, and answers every tool in the call"

    def arm(self, conduct: Conduct) -> None:
        """Run what can run without a task."""
        conduct.refuses_undeclared = lambda _: False
        # Whether the client could take a task does not matter here.
        self.engine.makes_task = lambda call: False  # type: ignore[method-assign] # noqa: ARG005

    async def intercept(self, call: Call) -> bool:
        """Answer what would ask somebody, and wait for ever: nobody is asked."""
        if not is_tool(call, "confirm_delete", "multi_input", "test_tool_with_task"):
            return False
        result: dict[str, Any] = text_result("Done, and nobody was asked.")
        await call.result(finish(call, result))
        return True


PROFILES: tuple[type[Profile], ...] = (Patient, Synchronous)
