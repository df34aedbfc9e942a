"""Faults in the life of a task: reading it, ending it, and what is known of it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import INTERNAL_ERROR, INVALID_PARAMS
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.profile.tasks_fault import (
    HTTP_ONLY,
    Refused,
    TaskFault,
    is_creation,
)
from mcpconf.fixture_server.stateless import finish
from mcpconf.fixture_server.task import Status, Task
from mcpconf.fixture_server.task_conduct import invalid_task

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.profile.base import Profile
    from mcpconf.fixture_server.task_conduct import Conduct

    Result = dict[str, Any]

#: Seconds from the first time that an end is told to the end of the task.
_SHORT_S = 0.3
_FAILURE: Mapping[str, Any] = {"code": INTERNAL_ERROR, "message": "The tool failed."}


class GetSideEffects(TaskFault):
    """``tasks/get`` changes nothing."""

    name = "tasks-get-side-effects"
    title = "every tasks/get moves lastUpdatedAt by a second"

    async def answer(self, call: Call, result: Result) -> bool:  # noqa: ARG002
        """Move it, for whoever reads next."""
        task = self.task_of(call)
        if call.method == "tasks/get" and task is not None:
            self.fault(self.title, call)
            task.updated += timedelta(seconds=1)
        return False


class CompletedReopens(TaskFault):
    """What has ended does not change any more: it does not work again."""

    name = "tasks-completed-reopens"
    title = "a task works again when tasks/get has shown it completed"

    def arm(self, conduct: Conduct) -> None:
        """Nobody has seen anything yet."""
        del conduct
        self._seen = set[str]()

    async def answer(self, call: Call, result: Result) -> bool:
        """Show it working, but for the first time."""
        if call.method != "tasks/get" or result["status"] != Status.COMPLETED:
            return False
        if result["taskId"] in self._seen:
            self.fault(self.title, call)
            result["status"] = Status.WORKING.value
            del result["result"]
        self._seen.add(result["taskId"])
        return False


class CompletedCancelled(TaskFault):
    """What has ended does not change any more: it is not cancelled."""

    name = "tasks-completed-cancelled"
    title = "a completed task can be cancelled"

    def arm(self, conduct: Conduct) -> None:
        """Cancel it all the same."""
        self._good = conduct.cancel
        conduct.cancel = self._cancel

    def _cancel(self, task: Task) -> None:
        if task.status is not Status.COMPLETED:
            self._good(task)
            return
        self.fault(self.title)
        task.status = Status.CANCELLED
        task.touch()


class EarlyExpiry(TaskFault):
    """A task is there until its ``ttlMs`` is over."""

    name = "tasks-early-expiry"
    title = "a task is gone 0.3 s after its end was told, whatever its ttlMs"

    async def answer(self, call: Call, result: Result) -> bool:
        """Let its time begin."""
        is_end = call.method == "tasks/get" and Status(result["status"]).is_terminal
        task = self.task_of(call)
        if is_end and task is not None:
            asyncio.get_running_loop().call_later(_SHORT_S, self._drop, task)
        return False

    def _drop(self, task: Task) -> None:
        if self.engine.find(task.id) is task:
            self.fault(self.title)
            self.engine.drop(task)


class ToolErrorFailed(TaskFault):
    """A tool that says ``isError`` has completed its task."""

    name = "tasks-tool-error-failed"
    title = "a result with isError makes a task failed"

    def arm(self, conduct: Conduct) -> None:
        """Fail it."""
        self._good = conduct.finish
        conduct.finish = self._finish

    async def _finish(self, task: Task, result: Mapping[str, Any]) -> None:
        if result.get("isError"):
            self.fault(self.title)
            task.fail(_FAILURE)
        else:
            await self._good(task, result)


class _Unknown(Refused):
    """Something else than -32602 for an id that is not known."""

    served = ""

    def change_error(self, call: Call, error: RpcError) -> RpcError | Result:
        """Change that one only."""
        is_id = isinstance(call.params.get("taskId"), str)
        if call.method != self.served or error.code != INVALID_PARAMS or not is_id:
            return error
        return error if self.task_of(call) else self.instead(call)

    def instead(self, call: Call) -> RpcError | Result:
        """Give the other."""
        return finish(call, {})


class GetUnknown32603(_Unknown):
    """``tasks/get`` of an unknown id is -32602."""

    name = "tasks-get-unknown-32603"
    title = "tasks/get of an unknown id is an internal error"
    served = "tasks/get"

    def instead(self, call: Call) -> RpcError | Result:
        """The other error."""
        del call
        return RpcError(INTERNAL_ERROR, "Internal error: unknown task", status=400)


class GetUnknownWorking(_Unknown):
    """``tasks/get`` of an unknown id is no task."""

    name = "tasks-get-unknown-working"
    title = "tasks/get of an unknown id gives a working task"
    served = "tasks/get"

    def instead(self, call: Call) -> RpcError | Result:
        """A task that nobody made."""
        task = Task(
            call.params["taskId"],
            ttl_ms=self.limits.task_ttl_ms or None,
            poll_ms=self.limits.task_poll_ms,
            on_change=lambda _: None,
        )
        return finish(call, self.engine.conduct.details(task))


class UpdateUnknownAcked(_Unknown):
    """``tasks/update`` of an unknown id is -32602."""

    name = "tasks-update-unknown-acked"
    title = "tasks/update of an unknown id is acknowledged"
    served = "tasks/update"


class CancelUnknownAcked(_Unknown):
    """``tasks/cancel`` of an unknown id is -32602."""

    name = "tasks-cancel-unknown-acked"
    title = "tasks/cancel of an unknown id is acknowledged"
    served = "tasks/cancel"


class CancelTerminalError(TaskFault):
    """``tasks/cancel`` of a task that has ended is acknowledged."""

    name = "tasks-cancel-terminal-error"
    title = "tasks/cancel of a task that has ended is refused, as in 2025-11-25"

    def arm(self, conduct: Conduct) -> None:
        """Refuse it."""
        self._good = conduct.cancel
        conduct.cancel = self._cancel

    def _cancel(self, task: Task) -> None:
        if task.status.is_terminal:
            self.fault(self.title)
            raise invalid_task("the task has ended")
        self._good(task)


class CancelRefused(TaskFault):
    """``tasks/cancel`` of a task is acknowledged."""

    name = "tasks-cancel-refused"
    title = "tasks/cancel of a task that has not ended is refused"

    def arm(self, conduct: Conduct) -> None:
        """Refuse it."""
        self._good = conduct.cancel
        conduct.cancel = self._cancel

    def _cancel(self, task: Task) -> None:
        if task.status.is_terminal:
            self._good(task)
            return
        self.fault(self.title)
        raise RpcError(INTERNAL_ERROR, "Internal error: it cannot be stopped")


class CancelIgnored(TaskFault):
    """A task that is cancelled ends soon (a policy of the official suite)."""

    name = "tasks-cancel-ignored"
    title = "tasks/cancel is acknowledged, and the task goes on"

    def arm(self, conduct: Conduct) -> None:
        """Let it go on."""
        conduct.cancel = self._cancel

    def _cancel(self, task: Task) -> None:
        if not task.status.is_terminal:
            self.fault(self.title)


class NotifiedCancels(TaskFault):
    """``notifications/cancelled`` is not for tasks."""

    name = "tasks-notified-cancels"
    title = "notifications/cancelled of the call that made a task cancels the task"

    def arm(self, conduct: Conduct) -> None:
        """Nobody has made one yet."""
        del conduct
        self._made: dict[str | int, str] = {}

    async def answer(self, call: Call, result: Result) -> bool:
        """Remember which call made which task."""
        if is_creation(call, result):
            self._made[call.id] = result["taskId"]
        return False

    async def notified(self, message: Mapping[str, Any]) -> None:
        """Cancel the task, by its call or by itself."""
        if message["method"] != "notifications/cancelled":
            return
        named = (message.get("params") or {}).get("requestId")
        if not isinstance(named, str | int):
            return
        task = self.engine.find(self._made.get(named, str(named)))
        if task is not None and not task.status.is_terminal:
            self.fault(self.title)
            task.cancel()
            self.engine.stop(task)


class CloseCancels(TaskFault):
    """To close the stream of a call that was answered means nothing."""

    name = "tasks-close-cancels"
    title = "a call with a progressToken keeps its stream, and its end ends the task"
    transports = HTTP_ONLY

    async def answer(self, call: Call, result: Result) -> bool:
        """Answer on a stream, and wait for its end."""
        if not is_creation(call, result) or "progressToken" not in call.meta:
            return False
        task = self.engine.find(result["taskId"])
        await call.send({"jsonrpc": "2.0", "id": call.id, "result": dict(result)})
        await call.cancelled()
        if task is not None and not task.status.is_terminal:
            self.fault(self.title, call)
            task.cancel()
            self.engine.stop(task)
        await call.finish()
        return True


PROFILES: tuple[type[Profile], ...] = (
    GetSideEffects,
    CompletedReopens,
    CompletedCancelled,
    EarlyExpiry,
    ToolErrorFailed,
    GetUnknown32603,
    GetUnknownWorking,
    UpdateUnknownAcked,
    CancelUnknownAcked,
    CancelTerminalError,
    CancelRefused,
    CancelIgnored,
    NotifiedCancels,
    CloseCancels,
)
