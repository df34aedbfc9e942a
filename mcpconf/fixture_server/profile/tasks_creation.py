"""Faults in making tasks: their first result, their ids, and who gets one."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.profile.tasks_fault import (
    TaskFault,
    is_creation,
    is_tool,
    reshaped,
)
from mcpconf.fixture_server.stateless import finish
from mcpconf.fixture_server.task_conduct import invalid_task

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.profile.base import Profile
    from mcpconf.fixture_server.task import Task
    from mcpconf.fixture_server.task_conduct import Conduct

    Result = dict[str, Any]

_created = partial(reshaped, "tools/call")
#: Seconds: a task is found so much later; creations meet that are so close in time.
_LATE_S, _CLOSE_S = 0.3, 0.02
_TASK_KEYS = (
    "taskId",
    "status",
    "statusMessage",
    "createdAt",
    "lastUpdatedAt",
    "ttlMs",
    "pollIntervalMs",
)


def _nest(result: Result) -> None:
    result["task"] = {
        key: result.pop(key) for key in _TASK_KEYS if result.get(key) is not None
    }


class LateCreation(TaskFault):
    """CreateTaskResult is sent when tasks/get would find the task."""

    name = "tasks-late-creation"
    title = "a task is found only 0.3 s after its CreateTaskResult"

    def arm(self, conduct: Conduct) -> None:
        """Store it later."""
        conduct.keep = self._keep

    async def _keep(self, task: Task, store: Callable[[Task], None]) -> None:
        self.fault(self.title)
        asyncio.get_running_loop().call_later(_LATE_S, store, task)


class IdsGuessable(TaskFault):
    """A task's id cannot be guessed."""

    name = "tasks-ids-guessable"
    title = "the ids are task-1, task-2 and so on"

    def arm(self, conduct: Conduct) -> None:
        """Count."""
        self._made = 0
        conduct.new_id = self._next

    def _next(self) -> str:
        self.fault(self.title)
        self._made += 1
        return f"task-{self._made}"


class IdsCollide(TaskFault):
    """Every task has an id of its own."""

    name = "tasks-ids-collide"
    title = "tasks that are created at the same time share an id"

    def arm(self, conduct: Conduct) -> None:
        """Keep an id until nobody creates a task any more."""
        self._open = 0
        self._new, self._id = conduct.new_id, ""
        conduct.new_id, conduct.keep = self._shared, self._keep

    def _shared(self) -> str:
        if self._open:
            self.fault(self.title)
        else:
            self._id = self._new()
        return self._id

    async def _keep(self, task: Task, store: Callable[[Task], None]) -> None:
        self._open += 1
        await asyncio.sleep(_CLOSE_S)
        self._open -= 1
        store(task)


class UndeclaredTask(TaskFault):
    """No task for a request that does not declare the extension."""

    name = "tasks-undeclared-task"
    title = "makes a task of a call that does not declare the extension"

    def arm(self, conduct: Conduct) -> None:
        """Make one always."""
        conduct.makes_undeclared = self._makes

    def _makes(self, call: Call) -> bool:
        self.fault(self.title, call)
        return True


class RequiredRunsSync(TaskFault):
    """A tool that must be a task refuses who does not declare the extension."""

    name = "tasks-required-runs-sync"
    title = "failing_job and protocol_error_job run without a task, undeclared"

    def arm(self, conduct: Conduct) -> None:
        """Let those two run."""
        conduct.refuses_undeclared = self._refuses

    def _refuses(self, call: Call) -> bool:
        # The others would wait for input that nobody could give.
        if not is_tool(call, "failing_job", "protocol_error_job"):
            return True
        self.fault(self.title, call)
        return False


class ParamDeclares(TaskFault):
    """``params.task`` is ignored: it declares nothing."""

    name = "tasks-param-declares"
    title = "makes a task of an undeclared call that has params.task"

    def arm(self, conduct: Conduct) -> None:
        """Take it for a declaration."""
        conduct.makes_undeclared = self._makes

    def _makes(self, call: Call) -> bool:
        if "task" not in call.params:
            return False
        self.fault(self.title, call)
        return True


class ParamTask(TaskFault):
    """``params.task`` is ignored: it asks for nothing."""

    name = "tasks-param-task"
    title = "makes a task of greet where it has params.task"

    async def answer(self, call: Call, result: Result) -> bool:
        """Put the result into a task."""
        if not is_tool(call, "greet") or "task" not in call.params:
            return False
        if not self.engine.makes_task(call):
            return False
        good = {key: each for key, each in result.items() if key == "content"}

        async def work(_: Task) -> Result:
            return good

        self.fault(self.title, call)
        created = finish(call, await self.engine.create(work))
        result.clear()
        result.update(created)
        return False


class ParamTtl(TaskFault):
    """``params.task`` is ignored: it says nothing about the task."""

    name = "tasks-param-ttl"
    title = "params.task.ttl becomes the ttlMs of the task"

    async def answer(self, call: Call, result: Result) -> bool:
        """Take it over."""
        asked = call.params.get("task")
        ttl = asked.get("ttl") if isinstance(asked, dict) else None
        if not is_creation(call, result) or not isinstance(ttl, int) or ttl <= 0:
            return False
        task = self.engine.find(result["taskId"])
        if task is not None:
            self.fault(self.title, call)
            task.ttl_ms = result["ttlMs"] = ttl
        return False


class ParamRefused(TaskFault):
    """``params.task`` is ignored: it is no mistake."""

    name = "tasks-param-refused"
    title = "refuses a call that has params.task"

    async def intercept(self, call: Call) -> bool:
        """Refuse it."""
        if is_tool(call) and "task" in call.params:
            self.fault(self.title, call)
            raise invalid_task("task is unknown")
        return False


PROFILES: tuple[type[Profile], ...] = (
    _created(
        "tasks-create-request-state",
        "CreateTaskResult has a requestState",
        lambda result: result.update(requestState="fixture-state"),
    ),
    _created(
        "tasks-create-nested",
        "CreateTaskResult has the task under a member of its own",
        _nest,
    ),
    _created(
        "tasks-create-no-result-type",
        "CreateTaskResult has no resultType",
        lambda result: result.pop("resultType"),
    ),
    _created(
        "tasks-create-type-complete",
        "CreateTaskResult says resultType complete",
        lambda result: result.update(resultType="complete"),
    ),
    _created(
        "tasks-create-with-result",
        "CreateTaskResult has a result",
        lambda result: result.update(result={"content": []}),
    ),
    _created(
        "tasks-create-with-requests",
        "CreateTaskResult has inputRequests",
        lambda result: result.update(inputRequests={}),
    ),
    LateCreation,
    IdsGuessable,
    IdsCollide,
    UndeclaredTask,
    RequiredRunsSync,
    ParamDeclares,
    ParamTask,
    ParamTtl,
    ParamRefused,
)
