"""Faults in the other results: acknowledgements, removed methods, what is no task."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import METHOD_NOT_FOUND
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.profile.tasks_fault import (
    HTTP_ONLY,
    Refused,
    TaskFault,
    is_tool,
    reshaped,
)
from mcpconf.fixture_server.stateless import finish
from mcpconf.fixture_server.task_conduct import invalid_task

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.profile.base import Profile
    from mcpconf.fixture_server.task import Task

    Result = dict[str, Any]
    Methods = Mapping[str, Callable[[Call], Awaitable[Result]]]

_updated = partial(reshaped, "tasks/update")
_cancelled = partial(reshaped, "tasks/cancel")
_REMOVED = ("tasks/result", "tasks/list")


class _AckTask(TaskFault):
    """An acknowledgement has the members of its task."""

    served = ""

    async def answer(self, call: Call, result: Result) -> bool:
        """Add them."""
        task = self.task_of(call)
        if call.method == self.served and task is not None:
            self.fault(self.title, call)
            result.update(self.engine.conduct.details(task))
        return False


class UpdateAckTask(_AckTask):
    """The acknowledgement of ``tasks/update`` is empty."""

    name, title = "tasks-update-ack-task", "tasks/update gives the task"
    served = "tasks/update"


class CancelAckTask(_AckTask):
    """The acknowledgement of ``tasks/cancel`` is empty."""

    name, title = "tasks-cancel-ack-task", "tasks/cancel gives the task"
    served = "tasks/cancel"


class ResultKept(TaskFault):
    """There is no ``tasks/result``."""

    name, title = "tasks-result-kept", "tasks/result gives a task's result"

    def own_methods(self) -> Methods:
        """Add it."""
        return {"tasks/result": self._result}

    async def _result(self, call: Call) -> Result:
        self.fault(self.title, call)
        task = self.task_of(call)
        if task is None:
            raise invalid_task("unknown task")
        return dict(task.result or {"content": []})


class ListKept(TaskFault):
    """There is no ``tasks/list``."""

    name, title = "tasks-list-kept", "tasks/list gives a list"

    def own_methods(self) -> Methods:
        """Add it."""
        return {"tasks/list": self._list}

    async def _list(self, call: Call) -> Result:
        self.fault(self.title, call)
        return {"tasks": []}


class RemovedStatus200(Refused):
    """A method that there is not is HTTP 404."""

    name = "tasks-removed-status-200"
    title = "-32601 for tasks/result and tasks/list comes with HTTP 200"
    transports = HTTP_ONLY

    def change_error(self, call: Call, error: RpcError) -> RpcError | Result:
        """Give it the status of a result."""
        if call.method not in _REMOVED or error.code != METHOD_NOT_FOUND:
            return error
        return RpcError(error.code, error.message, error.data, status=200)


class GreetTypeTask(TaskFault):
    """``resultType`` is ``task`` only where there is one."""

    name, title = "tasks-greet-type-task", "greet says resultType task, and has none"

    async def answer(self, call: Call, result: Result) -> bool:
        """Say so."""
        if is_tool(call, "greet"):
            self.fault(self.title, call)
            result["resultType"] = "task"
        return False


class PromptTypeTask(TaskFault):
    """Only ``tools/call`` is answered with a task."""

    name, title = "tasks-prompt-type-task", "prompts/get is answered with a task"

    async def answer(self, call: Call, result: Result) -> bool:
        """Put the prompt into one."""
        if call.method != "prompts/get" or not self.engine.makes_task(call):
            return False
        good = {key: result[key] for key in ("description", "messages")}

        async def work(_: Task) -> Result:
            return good

        self.fault(self.title, call)
        created = finish(call, await self.engine.create(work))
        result.clear()
        result.update(created)
        return False


PROFILES: tuple[type[Profile], ...] = (
    UpdateAckTask,
    _updated(
        "tasks-update-no-result-type",
        "tasks/update gives no resultType",
        lambda result: result.pop("resultType"),
    ),
    _updated(
        "tasks-update-type-task",
        "tasks/update says resultType task",
        lambda result: result.update(resultType="task"),
    ),
    CancelAckTask,
    _cancelled(
        "tasks-cancel-no-result-type",
        "tasks/cancel gives no resultType",
        lambda result: result.pop("resultType"),
    ),
    _cancelled(
        "tasks-cancel-type-task",
        "tasks/cancel says resultType task",
        lambda result: result.update(resultType="task"),
    ),
    ResultKept,
    ListKept,
    RemovedStatus200,
    GreetTypeTask,
    PromptTypeTask,
)
