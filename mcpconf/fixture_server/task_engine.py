"""
The tasks extension of 2026-07-28 (SEP-2663): creation, methods and notifications.

The order of the refusals of a ``tasks/`` request: ``Mcp-Name`` (-32020), the
declaration (-32021), the params and the task (-32602). All of them are HTTP 400.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.task import Task
from mcpconf.fixture_server.task_conduct import (
    EXTENSION,
    NOTIFICATION,
    Conduct,
    invalid_task,
    missing,
)
from mcpconf.fixture_server.waiting import unless_cancelled

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.server import Server

    Result = dict[str, Any]
    #: A tool's work in a task; its result, or `RpcError`.
    Work = Callable[[Task], Coroutine[Any, Any, Result]]

DECLARATION: Mapping[str, Any] = {"extensions": {EXTENSION: {}}}


def _time() -> float:
    return asyncio.get_running_loop().time()


class Engine:
    """The tasks of one server."""

    def __init__(self, server: Server) -> None:
        """Start without tasks."""
        self.conduct = Conduct()
        self._server = server
        self._limits = server.options.limits
        self._checks_names = all(each.checks_headers for each in server.profiles)
        #: By id, with the moment of their creation, in seconds of the loop's clock.
        self._tasks: dict[str, tuple[Task, float]] = {}
        self._work: dict[Task, asyncio.Task[None]] = {}
        self._telling: set[asyncio.Task[int]] = set()

    async def create(self, work: Work) -> Result:
        """Begin a task; its CreateTaskResult, when `find` would find it."""
        task = self._new(self.conduct.new_id(), self._changed)
        await self.conduct.keep(task, self.store)
        self._work[task] = asyncio.create_task(self._run(task, work))
        return {"resultType": "task", **self.conduct.summary(task)}

    def makes_task(self, call: Call) -> bool:
        """Whether `call` may be answered with a task."""
        return self.conduct.declares(call) or self.conduct.makes_undeclared(call)

    async def run_here(self, call: Call, work: Work) -> Result:
        """
        Do the work while `call` waits, without a task.

        :raises CancelledByClientError: the client has had enough first.
        """
        return await unless_cancelled(call, work(self._new("", lambda _: None)))

    async def wait(self, seconds: float) -> None:
        """Let so many seconds of the tools pass."""
        await asyncio.sleep(seconds * self._limits.task_second_s)

    def store(self, task: Task) -> None:
        """Keep a task from now on, and drop those that are past their time."""
        for each in tuple(self._tasks):
            self.find(each)
        self._tasks[task.id] = (task, _time())

    def find(self, task_id: str) -> Task | None:
        """The task of this id; None where there is none, or no more."""
        task, born = self._tasks.get(task_id, (None, 0.0))
        if task is None or task.ttl_ms is None:
            return task
        if _time() - born < task.ttl_ms / 1000:
            return task
        self.drop(task)
        return None

    def drop(self, task: Task) -> None:
        """Forget a task; work that is left is given up."""
        self._tasks.pop(task.id, None)
        self.stop(task)

    def stop(self, task: Task) -> None:
        """Give up what work of a task is left."""
        work = self._work.pop(task, None)
        if work is not None:
            work.cancel()

    def require(self, call: Call) -> None:
        """
        Hold a request of the extension to its declaration.

        :raises RpcError: -32021: it has none.
        """
        if self.conduct.is_gated(call) and not self.conduct.declares(call):
            raise missing(DECLARATION)

    async def get(self, call: Call) -> Result:
        """``tasks/get``: the task as it is now; nothing changes."""
        return self.conduct.details(self._admitted(call))

    async def update(self, call: Call) -> Result:
        """``tasks/update``: take the answers, and say no more than that."""
        task = self._admitted(call)
        responses = call.params.get("inputResponses")
        if not isinstance(responses, dict):
            raise invalid_task("inputResponses is an object")
        self.conduct.update(task, responses)
        return {}

    async def cancel(self, call: Call) -> Result:
        """``tasks/cancel``: end the task if it has not ended; no more is said."""
        task = self._admitted(call)
        self.conduct.cancel(task)
        if task.status.is_terminal:
            self.stop(task)
        return {}

    def subscribe(self, call: Call, asked: Mapping[str, Any], to: Result) -> None:
        """
        Have a subscription hear of the tasks it asks for, as far as they are known.

        :raises RpcError: -32021: it does not declare the extension; -32602: no list.
        """
        if "taskIds" not in asked:
            return
        self.require(call)
        ids = asked["taskIds"]
        if not (isinstance(ids, list) and all(isinstance(each, str) for each in ids)):
            raise invalid_task("taskIds is a list of strings")
        to["taskIds"] = [each for each in dict.fromkeys(ids) if self.find(each)]

    def _tell(self, method: str, params: Mapping[str, Any]) -> None:
        # In the order in which things happened, and whoever reads slowly stops no one.
        telling = asyncio.create_task(self._server.announce(method, params))
        self._telling.add(telling)
        telling.add_done_callback(self._telling.discard)

    def _new(self, task_id: str, told: Callable[[Task], None]) -> Task:
        return Task(
            task_id,
            ttl_ms=self._limits.task_ttl_ms or None,
            poll_ms=self._limits.task_poll_ms,
            on_change=told,
        )

    def _admitted(self, call: Call) -> Task:
        task_id = call.params.get("taskId")
        if self._checks_names and isinstance(task_id, str):
            self.conduct.check_name(call, task_id)
        self.require(call)
        if not isinstance(task_id, str):
            raise invalid_task("taskId is a string")
        task = self.find(task_id)
        if task is None:
            raise invalid_task("unknown task")
        return task

    def _changed(self, task: Task) -> None:
        if self._server.subscriptions.is_wanted(NOTIFICATION, {"taskId": task.id}):
            self._tell(NOTIFICATION, self.conduct.details(task))

    async def _run(self, task: Task, work: Work) -> None:
        try:
            result = await work(task)
        except RpcError as error:
            task.fail({"code": error.code, "message": error.message})
        else:
            await self.conduct.finish(task, result)
        finally:
            self._work.pop(task, None)
