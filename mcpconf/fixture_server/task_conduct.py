"""
What the tasks extension decides, each decision a function that can be replaced.

This is the good conduct. A fault profile replaces one member of a server's `Conduct`,
or adds to one of its lists, and so breaks one rule and no other.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import INVALID_PARAMS, MISSING_CAPABILITY
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.headers import check_optional_name
from mcpconf.fixture_server.task import Status, Task, iso

if TYPE_CHECKING:
    from mcpconf.fixture_server.call import Call

Json = Any
Result = dict[str, Any]

EXTENSION = "io.modelcontextprotocol/tasks"
NOTIFICATION = "notifications/tasks"
_ACTIONS = frozenset({"accept", "decline", "cancel"})


def invalid_task(why: str) -> RpcError:
    """The error for a task that is not there, or for params that name none."""
    return RpcError(INVALID_PARAMS, f"Invalid params: {why}", status=400)


def missing(required: Mapping[str, Any]) -> RpcError:
    """The error for a request that does not declare the capabilities `required`."""
    return RpcError(
        MISSING_CAPABILITY,
        "Missing required client capability",
        {"requiredCapabilities": dict(required)},
        status=400,
    )


def extension_declared(capabilities: Mapping[str, Any]) -> bool:
    """Whether a client with these capabilities declares the extension."""
    extensions = capabilities.get("extensions")
    return isinstance(extensions, dict) and isinstance(extensions.get(EXTENSION), dict)


def _declares(call: Call) -> bool:
    return extension_declared(call.session.client_capabilities)


def _always(_: Json) -> bool:
    return True


def _never(_: Json) -> bool:
    return False


def _new_id() -> str:
    return secrets.token_hex(16)  # no hyphen, which might make it look like a flag


def _check_name(call: Call, task_id: str) -> None:
    if call.http is not None:
        check_optional_name(call.http.headers, task_id)


def check_answers(answers: Mapping[str, Json]) -> None:
    """
    Hold answers to forms to the shape of an ElicitResult.

    :raises RpcError: -32602: one of them has another.
    """
    for key, answer in answers.items():
        action = answer.get("action") if isinstance(answer, dict) else None
        if not isinstance(action, str) or action not in _ACTIONS:
            raise invalid_task(f"the input response {key} has no known action")


def _update(task: Task, responses: Mapping[str, Json]) -> None:
    # Keys that were never given out, or are answered, are none of the task's affairs.
    answers = {key: each for key, each in responses.items() if key in task.asked}
    check_answers(answers)
    task.take(answers)


async def _keep(task: Task, store: Callable[[Task], None]) -> None:
    store(task)


async def _finish(task: Task, result: Mapping[str, Any]) -> None:
    task.complete(result)


def members(task: Task) -> Result:
    """What every form of a task has: the members of ``Task``."""
    shown: Result = {
        "taskId": task.id,
        "status": task.status.value,
        "createdAt": iso(task.created),
        "lastUpdatedAt": iso(task.updated),
        "ttlMs": task.ttl_ms,
        "pollIntervalMs": task.poll_ms,
    }
    return shown if task.message is None else {**shown, "statusMessage": task.message}


def payload(task: Task) -> Result:
    """What a ``DetailedTask`` has besides: the payload of its status."""
    if task.status is Status.INPUT_REQUIRED:
        return {"inputRequests": dict(task.asked)}
    if task.status is Status.COMPLETED:
        # What the call would have returned says its type, as every result does.
        return {"result": {"resultType": "complete", **(task.result or {})}}
    return {"error": dict(task.error or {})} if task.status is Status.FAILED else {}


#: Changes a task as it is shown, in place.
Touch = Callable[[Task, Result], None]


@dataclass(slots=True, kw_only=True)
class Conduct:
    """The decisions; mutable while the profiles meet, and fixed then."""

    #: Whether a request declares the extension.
    declares: Callable[[Call], bool] = _declares
    #: Whether a call may be answered with a task; asked where it declares nothing.
    makes_undeclared: Callable[[Call], bool] = _never
    #: Whether a call that a task could serve is refused where it makes none.
    refuses_undeclared: Callable[[Call], bool] = _always
    #: Whether a request of the extension must declare it.
    is_gated: Callable[[Call], bool] = _always
    #: Whether a client's capabilities are held against what a tool will ask for.
    respects_input: Callable[[Call], bool] = _always
    #: Whether a ``requestState`` that was not given out is refused.
    refuses_state: Callable[[Call], bool] = _always
    #: Raises -32020 where ``Mcp-Name`` is not the id.
    check_name: Callable[[Call, str], None] = _check_name
    new_id: Callable[[], str] = _new_id
    #: Has a new task stored, by the function it is given.
    keep: Callable[[Task, Callable[[Task], None]], Awaitable[None]] = _keep
    #: Takes the responses of a ``tasks/update``.
    update: Callable[[Task, Mapping[str, Json]], None] = _update
    #: Has a task cancelled, terminal or not.
    cancel: Callable[[Task], None] = Task.cancel
    #: Ends a task whose tool has come to a result.
    finish: Callable[[Task, Mapping[str, Any]], Awaitable[None]] = _finish
    #: In what is shown of a task everywhere.
    touch_members: list[Touch] = field(default_factory=list)
    #: In what ``tasks/get`` and notifications show of it.
    touch_details: list[Touch] = field(default_factory=list)

    def summary(self, task: Task) -> Result:
        """A ``Task``, as CreateTaskResult has it."""
        shown = members(task)
        for touch in self.touch_members:
            touch(task, shown)
        return shown

    def details(self, task: Task) -> Result:
        """A ``DetailedTask``, as ``tasks/get`` and notifications have it."""
        shown = {**self.summary(task), **payload(task)}
        for touch in self.touch_details:
            touch(task, shown)
        return shown
