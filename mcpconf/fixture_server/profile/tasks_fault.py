"""What the faults of the tasks extension are made of; each breaks one rule."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.fixture_server.profile.tasks import Tasks
from mcpconf.fixture_server.task_conduct import NOTIFICATION
from mcpconf.revision import Revision
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.server import Server
    from mcpconf.fixture_server.task import Status, Task
    from mcpconf.fixture_server.task_conduct import Conduct

    Result = dict[str, Any]
    Said = tuple[str, Mapping[str, Any]]

HTTP_ONLY = frozenset({Transport.HTTP})
LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
METHODS = ("tasks/get", "tasks/update", "tasks/cancel")


class TaskFault(Profile):
    """A server with the extension, and one fault in it."""

    implies: ClassVar[tuple[str, ...]] = ("tasks",)
    revisions: ClassVar[frozenset[Revision]] = frozenset({Revision.V2026_07_28})

    def join(self, server: Server) -> None:
        """Find the engine, and put the fault into its conduct."""
        tasks = next(each for each in server.profiles if isinstance(each, Tasks))
        self.engine = tasks.engine
        self.arm(tasks.engine.conduct)

    def arm(self, conduct: Conduct) -> None:
        """Replace one decision; or none, where the fault is elsewhere."""

    def task_of(self, call: Call) -> Task | None:
        """The task that a request names, if it is known."""
        task_id = call.params.get("taskId")
        return self.engine.find(task_id) if isinstance(task_id, str) else None


def is_tool(call: Call, *names: str) -> bool:
    """Whether `call` is one of a tool of these names, or of any where none is given."""
    is_call = call.method == "tools/call"
    return is_call and (not names or call.params.get("name") in names)


def is_creation(call: Call, result: Mapping[str, Any]) -> bool:
    """Whether `result` is a CreateTaskResult of the good server."""
    return is_tool(call) and result.get("resultType") == "task"


class Reshaped(TaskFault):
    """The result of one method is changed in place before it is sent."""

    #: ``tools/call`` means those that are answered with a task.
    method: ClassVar[str]
    change: ClassVar[Callable[[Result], None]]

    async def answer(self, call: Call, result: Result) -> bool:
        """Change it."""
        if call.method != self.method:
            return False
        if call.method == "tools/call" and not is_creation(call, result):
            return False
        before = deepcopy(result)
        type(self).change(result)
        if result != before:
            self.fault(self.title, call)
        return False


class Shown(TaskFault):
    """A task is shown wrongly: everywhere, or where its status's payload is shown."""

    #: The state in which it is; None: in all, the CreateTaskResult included.
    status: ClassVar[Status | None]
    change: ClassVar[Callable[[Result], None]]

    def arm(self, conduct: Conduct) -> None:
        """Touch what is shown."""
        touches = (
            conduct.touch_members if self.status is None else conduct.touch_details
        )
        touches.append(self._touch)

    def _touch(self, task: Task, shown: Result) -> None:
        if self.status not in (None, task.status):
            return
        before = deepcopy(shown)
        type(self).change(shown)
        if shown != before:
            self.fault(self.title)


class Refused(TaskFault):
    """An error is changed, or a result is given in its place."""

    async def intercept(self, call: Call) -> bool:
        """Stand before the error's way out."""
        fail = call.error

        async def error(error: RpcError) -> None:
            changed = self.change_error(call, error)
            if changed is not error:
                self.fault(self.title, call)
            if isinstance(changed, RpcError):
                await fail(changed)
            else:
                await call.result(changed)

        call.error = error  # type: ignore[method-assign] # the one way out of the core
        return False

    def change_error(self, call: Call, error: RpcError) -> RpcError | Result:  # noqa: ARG002 (a hook)
        """Give what is sent; `error` itself where the fault is not about it."""
        return error


class Telling(TaskFault):
    """What is sent on the listen stream of a subscription to tasks is changed."""

    async def intercept(self, call: Call) -> bool:
        """Stand before the way out of such a stream."""
        asked = call.params.get("notifications")
        if call.method != LISTEN or not isinstance(asked, dict):
            return False
        if "taskIds" not in asked:
            return False
        notify = call.notify

        async def changed(method: str, params: Mapping[str, Any]) -> None:
            good = [(method, params)]
            sent = list(self.said(call, method, params))
            if sent != good:
                self.fault(self.title, call)
            for each in sent:
                await notify(*each)

        call.notify = changed  # type: ignore[method-assign] # see above
        return False

    def said(
        self, call: Call, method: str, params: Mapping[str, Any]
    ) -> Iterable[Said]:
        """Give what is sent for one notification of the good server."""
        if method == NOTIFICATION:
            return self.told(call, params)
        return ((method, params),)

    def told(self, call: Call, params: Mapping[str, Any]) -> Iterable[Said]:  # noqa: ARG002 (a hook)
        """Give what is sent for a ``notifications/tasks`` of the good server."""
        return ((NOTIFICATION, params),)


def reshaped(
    method: str, name: str, title: str, change: Callable[[Result], object]
) -> type[Reshaped]:
    """Make a fault in the results of one method."""
    members = {"name": name, "title": title, "method": method, "__doc__": title}
    return type(name, (Reshaped,), {**members, "change": staticmethod(change)})


def shown(
    status: Status | None, name: str, title: str, change: Callable[[Result], object]
) -> type[Shown]:
    """Make a fault in what is shown of tasks."""
    members = {"name": name, "title": title, "status": status, "__doc__": title}
    return type(name, (Shown,), {**members, "change": staticmethod(change)})
