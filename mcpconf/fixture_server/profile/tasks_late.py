"""Faults in what becomes of a task: its answers, its end, and what is told of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.fixture_server.profile.tasks_fault import TaskFault, Telling
from mcpconf.fixture_server.results import text_result
from mcpconf.fixture_server.task import Status
from mcpconf.fixture_server.task_conduct import NOTIFICATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.profile.base import Profile
    from mcpconf.fixture_server.task import Task
    from mcpconf.fixture_server.task_conduct import Conduct

    Result = dict[str, Any]
    Params = Mapping[str, Any]
    Said = tuple[str, Params]

#: Seconds after which something comes that nobody waits for any more.
_LATER_S = 0.2


def _is_end(task: Params) -> bool:
    return Status(task["status"]).is_terminal


class TrailingProgress(Telling):
    """A subscription to a task has no progress, not even when all is told."""

    name = "tasks-trailing-progress"
    title = "sends progress 0.2 s after the end of a task was told"

    def arm(self, conduct: Conduct) -> None:
        """Nothing is on its way."""
        del conduct
        self._sending: set[asyncio.Task[None]] = set()

    def told(self, call: Call, params: Params) -> Iterable[Said]:
        """Tell of the end, and let the progress follow."""
        if _is_end(params):
            sending = asyncio.create_task(self._send(call, params["taskId"]))
            self._sending.add(sending)
            sending.add_done_callback(self._sending.discard)
        return ((NOTIFICATION, params),)

    async def _send(self, call: Call, token: str) -> None:
        await asyncio.sleep(_LATER_S)
        if not call.is_cancelled:
            self.fault(self.title, call)
            progress = {"progressToken": token, "progress": 1}
            await call.notify("notifications/progress", progress)


class NotifiedNoEnd(Telling):
    """A subscription to a task hears of its end."""

    name = "tasks-notified-no-end"
    title = "the end of a task is not told"

    def told(self, call: Call, params: Params) -> Iterable[Said]:
        """Tell of everything else."""
        del call
        return () if _is_end(params) else ((NOTIFICATION, params),)


class _Updating(TaskFault):
    """The responses of a ``tasks/update`` are not taken as they should."""

    def arm(self, conduct: Conduct) -> None:
        """Take them."""
        self.good = conduct.update
        conduct.update = self.update

    def update(self, task: Task, responses: Params) -> None:
        """Do as the good server does, and more or less than that."""
        raise NotImplementedError


class UpdateLost(_Updating):
    """The answers of a ``tasks/update`` count."""

    name = "tasks-update-lost"
    title = "tasks/update is acknowledged, and its answers are thrown away"

    def update(self, task: Task, responses: Params) -> None:
        """Throw them away."""
        if task.asked.keys() & responses.keys():
            self.fault(self.title)


class UnknownKeyCounts(_Updating):
    """The response to a request that there never was answers nothing."""

    name = "tasks-unknown-key-counts"
    title = "a response under an unknown key answers what is asked"

    def update(self, task: Task, responses: Params) -> None:
        """Take it for the first that is asked."""
        known = {*task.asked, *task.answers}
        answers = dict(responses)
        for key in responses.keys() - known:
            if task.asked:
                self.fault(self.title)
                answers.setdefault(next(iter(task.asked)), answers.pop(key))
        self.good(task, answers)


class KeyReturns(_Updating):
    """What was answered is not asked again."""

    name = "tasks-key-returns"
    title = "what was answered is gone from one tasks/get, and then asked again"

    def arm(self, conduct: Conduct) -> None:
        """Keep what was asked, and count who asked."""
        super().arm(conduct)
        self._asked: dict[str, Result] = {}
        self._counts: dict[str, int] = {}

    def update(self, task: Task, responses: Params) -> None:
        """Remember what it was about."""
        self._asked.setdefault(task.id, {}).update(task.asked)
        self.good(task, responses)

    async def answer(self, call: Call, result: Result) -> bool:
        """Bring it back."""
        task = self.task_of(call)
        if call.method != "tasks/get" or task is None or "inputRequests" not in result:
            return False
        if task.answers:
            count = self._counts[task.id] = self._counts.get(task.id, 0) + 1
            if count > 1:
                self.fault(self.title, call)
                asked = self._asked.get(task.id, {})
                result["inputRequests"] = {**asked, **result["inputRequests"]}
        return False


class UpdateRevives(_Updating):
    """What has ended does not change any more, whatever is answered."""

    name = "tasks-update-revives"
    title = "tasks/update of a task that has ended makes it work again"

    def update(self, task: Task, responses: Params) -> None:
        """Revive it."""
        if task.status.is_terminal:
            self.fault(self.title)
            task.status = Status.WORKING
            task.touch()
        else:
            self.good(task, responses)


class DeclineHangs(TaskFault):
    """A task whose question is declined comes to an end."""

    name = "tasks-decline-hangs"
    title = "a task whose question is declined works for ever"
    action: ClassVar[str] = "decline"

    def arm(self, conduct: Conduct) -> None:
        """Do not end."""
        self._good = conduct.finish
        conduct.finish = self._finish

    async def _finish(self, task: Task, result: Params) -> None:
        if any(each["action"] == self.action for each in task.answers.values()):
            self.fault(self.title)
            await asyncio.Event().wait()
        await self._good(task, result)


class DismissHangs(DeclineHangs):
    """A task whose question is dismissed comes to an end."""

    name = "tasks-dismiss-hangs"
    title = "a task whose question is dismissed (cancel) works for ever"
    action = "cancel"


class CancelledCompletes(TaskFault):
    """What has ended does not change any more: it does not complete afterwards."""

    name = "tasks-cancelled-completes"
    title = "a cancelled task is completed 0.2 s later"

    def arm(self, conduct: Conduct) -> None:
        """Let it go on."""
        self._good = conduct.cancel
        conduct.cancel = self._cancel

    def _cancel(self, task: Task) -> None:
        if not task.status.is_terminal:
            asyncio.get_running_loop().call_later(_LATER_S, self._complete, task)
        self._good(task)

    def _complete(self, task: Task) -> None:
        self.fault(self.title)
        task.status = Status.COMPLETED
        task.result = text_result("Done all the same.")
        task.touch()


class ResultOnce(TaskFault):
    """What has ended does not change any more: its result stays."""

    name = "tasks-result-once"
    title = "only the first tasks/get of a completed task has the result"

    def arm(self, conduct: Conduct) -> None:
        """Nobody has read anything yet."""
        del conduct
        self._read = set[str]()

    async def answer(self, call: Call, result: Result) -> bool:
        """Take it away, but for the first time."""
        if call.method != "tasks/get" or result["status"] != Status.COMPLETED:
            return False
        if result["taskId"] in self._read:
            self.fault(self.title, call)
            del result["result"]
        self._read.add(result["taskId"])
        return False


class SwappedResults(TaskFault):
    """A task has the result of its own call."""

    name = "tasks-swapped-results"
    title = "a task of slow_compute has the result of the one that ended before"

    def arm(self, conduct: Conduct) -> None:
        """None has ended yet."""
        self._last: Params | None = None
        self._good = conduct.finish
        conduct.finish = self._finish

    async def _finish(self, task: Task, result: Params) -> None:
        if result["content"][0]["text"].startswith("Computed"):
            own, result = result, self._last or result
            self._last = own
            if result is not own:
                self.fault(self.title)
        await self._good(task, result)


class InputList(TaskFault):
    """``inputRequests`` is a map."""

    name = "tasks-input-list"
    title = "inputRequests is a list of the requests, without their keys"

    def arm(self, conduct: Conduct) -> None:
        """Show it so."""
        conduct.touch_details.append(self._touch)

    def _touch(self, task: Task, shown: Result) -> None:
        if task.status is Status.INPUT_REQUIRED:
            self.fault(self.title)
            shown["inputRequests"] = list(shown["inputRequests"].values())


PROFILES: tuple[type[Profile], ...] = (
    TrailingProgress,
    NotifiedNoEnd,
    UpdateLost,
    UnknownKeyCounts,
    KeyReturns,
    UpdateRevives,
    DeclineHangs,
    DismissHangs,
    CancelledCompletes,
    ResultOnce,
    SwappedResults,
    InputList,
)
