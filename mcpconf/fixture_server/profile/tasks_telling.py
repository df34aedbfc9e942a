"""Faults in what is sent of a task without being asked, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.profile.tasks_fault import (
    ACKNOWLEDGED,
    TaskFault,
    Telling,
    is_creation,
)
from mcpconf.fixture_server.subscriptions import ID_KEY
from mcpconf.fixture_server.task_conduct import NOTIFICATION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.profile.base import Profile

    Result = dict[str, Any]
    Params = Mapping[str, Any]
    Said = tuple[str, Params]

_PROGRESS, _MESSAGE = "notifications/progress", "notifications/message"
_PAYLOAD = frozenset({"result", "error", "inputRequests"})
_LOG: Params = {"level": "info", "logger": "fixture", "data": "the task has changed"}


class _OnCreate(TaskFault):
    """Something is sent on the stream of the call that made a task."""

    async def answer(self, call: Call, result: Result) -> bool:
        """Send it before the result."""
        said = self.said(call, result) if is_creation(call, result) else None
        if said is not None:
            self.fault(self.title, call)
            await call.notify(*said)
        return False

    def said(self, call: Call, result: Result) -> Said | None:
        """Give what is sent; None: nothing."""
        raise NotImplementedError


class ProgressOnCreate(_OnCreate):
    """A call that makes a task has no progress."""

    name = "tasks-progress-on-create"
    title = "sends progress to a call with a progressToken before CreateTaskResult"

    def said(self, call: Call, result: Result) -> Said | None:
        """Progress, to a call that has a token for it."""
        del result
        token = call.meta.get("progressToken")
        if not isinstance(token, str | int):
            return None
        return (_PROGRESS, {"progressToken": token, "progress": 1, "total": 2})


class MessageOnCreate(_OnCreate):
    """A call that makes a task has no log messages."""

    name = "tasks-message-on-create"
    title = "sends a log message to a call with a logLevel before CreateTaskResult"

    def said(self, call: Call, result: Result) -> Said | None:
        """A message, severe enough for any level."""
        del result
        if call.session.log_level is None:
            return None
        return (_MESSAGE, {**_LOG, "level": "emergency"})


class NotifiedOnCreate(_OnCreate):
    """Notifications of a task are sent to subscriptions."""

    name = "tasks-notified-on-create"
    title = "sends notifications/tasks to the call that makes the task"

    def said(self, call: Call, result: Result) -> Said | None:
        """The task as it is."""
        del call
        task = self.engine.find(result["taskId"])
        if task is None:
            return None
        return (NOTIFICATION, self.engine.conduct.details(task))


class ProgressOnListen(Telling):
    """A subscription to a task has no progress."""

    name = "tasks-progress-on-listen"
    title = "sends progress after every notifications/tasks"

    def told(self, call: Call, params: Params) -> Iterable[Said]:
        """Progress to the subscription's token, or to the task's name."""
        token = call.meta.get("progressToken", params["taskId"])
        yield (NOTIFICATION, params)
        yield (_PROGRESS, {"progressToken": token, "progress": 1})


class MessageOnListen(Telling):
    """A subscription to a task has no log messages."""

    name = "tasks-message-on-listen"
    title = "sends a log message after every notifications/tasks"

    def told(self, call: Call, params: Params) -> Iterable[Said]:
        """A message that nobody asked for."""
        yield (NOTIFICATION, params)
        yield (_MESSAGE, {**_LOG, "_meta": {ID_KEY: call.id}})


class NotifiedOldName(Telling):
    """The method is ``notifications/tasks``."""

    name = "tasks-notified-old-name"
    title = "the method is notifications/tasks/status, as in 2025-11-25"

    def told(self, call: Call, params: Params) -> Iterable[Said]:
        """The old one."""
        del call
        yield ("notifications/tasks/status", params)


class NotifiedNoPayload(Telling):
    """A notification has the payload of the task's status."""

    name = "tasks-notified-no-payload"
    title = "notifications/tasks have no result, error and inputRequests"

    def told(self, call: Call, params: Params) -> Iterable[Said]:
        """The members of every task, and no more."""
        del call
        left = {key: each for key, each in params.items() if key not in _PAYLOAD}
        yield (NOTIFICATION, left)


class NotifiedState(Telling):
    """No task has a ``requestState``."""

    name = "tasks-notified-state"
    title = "notifications/tasks have a requestState"

    def told(self, call: Call, params: Params) -> Iterable[Said]:
        """With one."""
        del call
        yield (NOTIFICATION, {**params, "requestState": "fixture-state"})


class NotifiedStale(Telling):
    """A notification says what ``tasks/get`` would say."""

    name = "tasks-notified-stale"
    title = "notifications/tasks have another pollIntervalMs than tasks/get"

    def told(self, call: Call, params: Params) -> Iterable[Said]:
        """Another."""
        del call
        poll_ms = params["pollIntervalMs"] + 1
        yield (NOTIFICATION, {**params, "pollIntervalMs": poll_ms})


class NotifiedNoId(Telling):
    """A notification names its subscription."""

    name = "tasks-notified-no-id"
    title = "notifications/tasks have no subscriptionId"

    def told(self, call: Call, params: Params) -> Iterable[Said]:
        """Without it."""
        del call
        yield (NOTIFICATION, {**params, "_meta": {}})


class NotifiedIdType(Telling):
    """The ``subscriptionId`` is the request's id, and of its type."""

    name = "tasks-notified-id-type"
    title = "subscriptionId of notifications/tasks is a text for a number, or reverse"

    def told(self, call: Call, params: Params) -> Iterable[Said]:
        """The number as text; a text as a number, where it is one."""
        named: str | int = call.id
        if isinstance(named, str):
            named = int(named) if named.isdecimal() else f"{named}-other"
        else:
            named = str(named)
        yield (NOTIFICATION, {**params, "_meta": {ID_KEY: named}})


class _Everything(list[str]):
    """A list that has what it has, and says that it has everything."""

    def __contains__(self, _: object) -> bool:
        return True


class NotifiedStranger(Telling):
    """A subscription hears of what it asked for."""

    name = "tasks-notified-stranger"
    title = "who subscribes to a task hears of every task"

    def subscribe(self, call: Call, asked: Params, honoured: Result) -> None:
        """Let it hear of all."""
        del call, asked
        if "taskIds" in honoured:
            honoured["taskIds"] = _Everything(honoured["taskIds"])

    def told(self, call: Call, params: Params) -> Iterable[Said]:
        """Say in the log what it did not ask for."""
        if params["taskId"] not in call.params["notifications"]["taskIds"]:
            self.fault(self.title, call)
        yield (NOTIFICATION, params)


class _Acknowledging(Telling):
    """The acknowledgement is not as it should be."""

    def said(self, call: Call, method: str, params: Params) -> Iterable[Said]:
        """Change that one only."""
        if method == ACKNOWLEDGED:
            return self.acknowledged(call, params)
        return ((method, params),)

    def acknowledged(self, call: Call, params: Params) -> Iterator[Said]:
        """Give what is sent for it."""
        raise NotImplementedError


class NotifiedFirst(_Acknowledging):
    """The acknowledgement comes first."""

    name = "tasks-notified-first"
    title = "notifications/tasks come before the acknowledgement"

    def acknowledged(self, call: Call, params: Params) -> Iterator[Said]:
        """Every task as it is, and then the acknowledgement."""
        for task_id in params["notifications"]["taskIds"]:
            task = self.engine.find(task_id)
            if task is not None:
                details = self.engine.conduct.details(task)
                yield (NOTIFICATION, {**details, "_meta": {ID_KEY: call.id}})
        yield (ACKNOWLEDGED, params)


class AckNoIds(_Acknowledging):
    """The acknowledgement says which tasks it is about."""

    name, title = "tasks-ack-no-ids", "the acknowledgement has no taskIds"

    def acknowledged(self, call: Call, params: Params) -> Iterator[Said]:
        """Without them."""
        del call
        told = params["notifications"]
        left = {key: each for key, each in told.items() if key != "taskIds"}
        yield (ACKNOWLEDGED, {**params, "notifications": left})


class AckOtherIds(_Acknowledging):
    """The acknowledgement says which of the tasks asked for it is about."""

    name, title = "tasks-ack-other-ids", "the acknowledgement has one taskId too many"

    def acknowledged(self, call: Call, params: Params) -> Iterator[Said]:
        """With one that nobody asked for."""
        del call
        told = params["notifications"]
        more = {**told, "taskIds": [*told["taskIds"], self.engine.conduct.new_id()]}
        yield (ACKNOWLEDGED, {**params, "notifications": more})


PROFILES: tuple[type[Profile], ...] = (
    ProgressOnCreate,
    MessageOnCreate,
    NotifiedOnCreate,
    ProgressOnListen,
    MessageOnListen,
    NotifiedOldName,
    NotifiedNoPayload,
    NotifiedState,
    NotifiedStale,
    NotifiedNoId,
    NotifiedIdType,
    NotifiedStranger,
    NotifiedFirst,
    AckNoIds,
    AckOtherIds,
)
