"""Faults in tasks that wait, in listen streams, and in who says that it is a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.fixture_server.profile.tasks_fault import (
    ACKNOWLEDGED,
    LISTEN,
    TaskFault,
    Telling,
    reshaped,
    shown,
)
from mcpconf.fixture_server.subscriptions import ID_KEY
from mcpconf.fixture_server.task import Status
from mcpconf.fixture_server.task_conduct import NOTIFICATION, invalid_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.profile.base import Profile
    from mcpconf.fixture_server.task import Task
    from mcpconf.fixture_server.task_conduct import Conduct

    Result = dict[str, Any]
    Params = Mapping[str, Any]
    Said = tuple[str, Params]

_ERROR = {"code": -32603, "message": "None, really."}
_RESULT = {"content": [{"type": "text", "text": "not yet"}]}


def _give_state(task: Result) -> None:
    if task.get("status") == Status.INPUT_REQUIRED:
        task["requestState"] = "fixture-state"


class CancelWaitingRefused(TaskFault):
    """``tasks/cancel`` of a task that waits is acknowledged like any other."""

    name = "tasks-cancel-waiting-refused"
    title = "tasks/cancel of a task that waits for input is refused"

    def arm(self, conduct: Conduct) -> None:
        """Refuse it."""
        self._good = conduct.cancel
        conduct.cancel = self._cancel

    def _cancel(self, task: Task) -> None:
        if task.status is Status.INPUT_REQUIRED:
            self.fault(self.title)
            raise invalid_task("the task waits for input")
        self._good(task)


class AckUnknownId(Telling):
    """The acknowledgement agrees to what can be told of."""

    name = "tasks-ack-unknown-id"
    title = "the acknowledgement has every taskId that was asked for, known or not"

    def said(self, call: Call, method: str, params: Params) -> Iterable[Said]:
        """With all that was asked for."""
        if method != ACKNOWLEDGED:
            return ((method, params),)
        asked = list(dict.fromkeys(call.params["notifications"]["taskIds"]))
        told = {**params["notifications"], "taskIds": asked}
        return ((method, {**params, "notifications": told}),)


class ListenTextId(Telling):
    """The ``subscriptionId`` is the request's id, and a text where that is one."""

    name = "tasks-listen-text-id"
    title = "subscriptionId is a number where the id of the request is a text of digits"

    def said(self, call: Call, method: str, params: Params) -> Iterable[Said]:
        """As a number."""
        if not (isinstance(call.id, str) and call.id.isdecimal()):
            return ((method, params),)
        meta = {**params.get("_meta", {}), ID_KEY: int(call.id)}
        return ((method, {**params, "_meta": meta}),)


class ListChangedOnListen(Telling):
    """A subscription hears of nothing that it did not ask for."""

    name = "tasks-list-changed-on-listen"
    title = "sends notifications/tools/list_changed after every notifications/tasks"

    def told(self, call: Call, params: Params) -> Iterable[Said]:
        """The task, and what nobody asked for."""
        yield (NOTIFICATION, params)
        yield ("notifications/tools/list_changed", {"_meta": {ID_KEY: call.id}})


class ListenCloses(TaskFault):
    """A subscription lasts until one of the two ends it."""

    name = "tasks-listen-closes"
    title = "ends the stream of a subscription to tasks after the acknowledgement"

    async def intercept(self, call: Call) -> bool:
        """Acknowledge, and end it, without the response that would say so."""
        asked = call.params.get("notifications")
        if call.method != LISTEN or not isinstance(asked, dict):
            return False
        notify = call.notify

        async def last(method: str, params: Params) -> None:
            if method == ACKNOWLEDGED:
                await notify(method, params)
                self.fault(self.title, call)
                await call.finish()

        if "taskIds" in asked:
            call.notify = last  # type: ignore[method-assign] # the one way out of it
        return False


class _TypeTask(TaskFault):
    """``resultType`` is ``task`` only where there is one."""

    method: ClassVar[str]

    async def answer(self, call: Call, result: Result) -> bool:
        """Say so where there is none."""
        if call.method == self.method:
            self.fault(self.title, call)
            result["resultType"] = "task"
        return False


class ResourceTypeTask(_TypeTask):
    """Only ``tools/call`` is answered with a task."""

    name = "tasks-resource-type-task"
    title = "resources/read says resultType task, and has none"
    method = "resources/read"


class ListTypeTask(_TypeTask):
    """Only ``tools/call`` is answered with a task."""

    name = "tasks-list-type-task"
    title = "tools/list says resultType task, and has none"
    method = "tools/list"


PROFILES: tuple[type[Profile], ...] = (
    shown(
        Status.INPUT_REQUIRED,
        "tasks-input-result",
        "a task that needs input has a result",
        lambda task: task.update(result=_RESULT),
    ),
    shown(
        Status.INPUT_REQUIRED,
        "tasks-input-error",
        "a task that needs input has an error",
        lambda task: task.update(error=_ERROR),
    ),
    reshaped(
        "tasks/get",
        "tasks-input-request-state",
        "tasks/get of a task that needs input gives a requestState",
        _give_state,
    ),
    CancelWaitingRefused,
    AckUnknownId,
    ListenTextId,
    ListChangedOnListen,
    ListenCloses,
    ResourceTypeTask,
    ListTypeTask,
)
