"""Faults in how a task is shown, by ``tasks/get`` and wherever else it is."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.profile.tasks_fault import reshaped, shown
from mcpconf.fixture_server.task import Status

if TYPE_CHECKING:
    from mcpconf.fixture_server.profile.base import Profile

    Result = dict[str, Any]

_got = partial(reshaped, "tasks/get")
_always = partial(shown, None)
_working = partial(shown, Status.WORKING)
_asking = partial(shown, Status.INPUT_REQUIRED)
_completed = partial(shown, Status.COMPLETED)
_failed = partial(shown, Status.FAILED)
_cancelled = partial(shown, Status.CANCELLED)
_RESULT = {"content": [{"type": "text", "text": "not yet"}]}
_ERROR = {"code": -32603, "message": "None, really."}
_RELATED = "io.modelcontextprotocol/related-task"


def _rename(task: Result, old: str, new: str) -> None:
    task[new] = task.pop(old)


def _fraction(task: Result, key: str) -> None:
    task[key] = (task[key] or 0) + 0.5


def _running(task: Result) -> None:
    if task["status"] == Status.WORKING:
        task["status"] = "running"


def _relate(task: Result) -> None:
    result = task["result"]
    meta = {**result.get("_meta", {}), _RELATED: {"taskId": task["taskId"]}}
    task["result"] = {**result, "_meta": meta}


def _empty(task: Result) -> None:
    task["result"] = {
        key: each for key, each in task["result"].items() if key != "content"
    }


def _unknown_method(task: Result) -> None:
    asked = task["inputRequests"]
    task["inputRequests"] = {
        key: {**request, "method": "input/ask"} for key, request in asked.items()
    }


PROFILES: tuple[type[Profile], ...] = (
    _got(
        "tasks-get-request-state",
        "tasks/get gives a requestState",
        lambda result: result.update(requestState="fixture-state"),
    ),
    _got(
        "tasks-get-no-result-type",
        "tasks/get gives no resultType",
        lambda result: result.pop("resultType"),
    ),
    _got(
        "tasks-get-type-task",
        "tasks/get says resultType task",
        lambda result: result.update(resultType="task"),
    ),
    _got(
        "tasks-get-other-id",
        "tasks/get gives another taskId than it was asked for",
        lambda result: result.update(taskId="task-of-nobody"),
    ),
    _always(
        "tasks-ttl-old-name",
        "ttlMs is called ttl, as it was in 2025-11-25",
        lambda task: _rename(task, "ttlMs", "ttl"),
    ),
    _always(
        "tasks-poll-old-name",
        "pollIntervalMs is called pollInterval, as it was in 2025-11-25",
        lambda task: _rename(task, "pollIntervalMs", "pollInterval"),
    ),
    _always(
        "tasks-ttl-missing",
        "a task has no ttlMs",
        lambda task: task.pop("ttlMs"),
    ),
    _always(
        "tasks-ttl-fraction",
        "ttlMs is not an integer",
        lambda task: _fraction(task, "ttlMs"),
    ),
    _always(
        "tasks-poll-fraction",
        "pollIntervalMs is not an integer",
        lambda task: _fraction(task, "pollIntervalMs"),
    ),
    _always(
        "tasks-created-not-iso",
        "createdAt is a number of seconds",
        lambda task: task.update(createdAt=1_800_000_000),
    ),
    _always(
        "tasks-updated-not-iso",
        "lastUpdatedAt is a date that is not ISO 8601",
        lambda task: task.update(lastUpdatedAt="Mon Nov 30 12:00:00 2026"),
    ),
    _always(
        "tasks-updated-missing",
        "a task has no lastUpdatedAt",
        lambda task: task.pop("lastUpdatedAt"),
    ),
    _always(
        "tasks-created-changes",
        "createdAt moves when the task changes",
        lambda task: task.update(createdAt=task["lastUpdatedAt"]),
    ),
    _always(
        "tasks-updated-stuck",
        "lastUpdatedAt stays when the task changes",
        lambda task: task.update(lastUpdatedAt=task["createdAt"]),
    ),
    _always(
        "tasks-status-unknown",
        "the status of a working task is running",
        _running,
    ),
    _working(
        "tasks-working-result",
        "a working task has a result",
        lambda task: task.update(result=_RESULT),
    ),
    _working(
        "tasks-working-requests",
        "a working task has inputRequests",
        lambda task: task.update(inputRequests={}),
    ),
    _asking(
        "tasks-input-no-requests",
        "a task that needs input has no inputRequests",
        lambda task: task.pop("inputRequests"),
    ),
    _asking(
        "tasks-input-method-unknown",
        "an input request has a method that is none of the three",
        _unknown_method,
    ),
    _completed(
        "tasks-completed-no-result",
        "a completed task has no result",
        lambda task: task.pop("result"),
    ),
    _completed(
        "tasks-completed-error",
        "a completed task has an error, too",
        lambda task: task.update(error=_ERROR),
    ),
    _completed(
        "tasks-completed-task-result",
        "the result of a completed task has no content",
        _empty,
    ),
    _completed(
        "tasks-related-task",
        "the result of a completed task names the task in its _meta",
        _relate,
    ),
    _failed(
        "tasks-failed-result",
        "a failed task has a result, too",
        lambda task: task.update(result=_RESULT),
    ),
    _failed(
        "tasks-failed-no-error",
        "a failed task has no error",
        lambda task: task.pop("error"),
    ),
    _failed(
        "tasks-failed-error-text",
        "the error of a failed task is a text",
        lambda task: task.update(error=task["error"]["message"]),
    ),
    _failed(
        "tasks-failed-no-message",
        "a failed task has no statusMessage",
        lambda task: task.pop("statusMessage"),
    ),
    _cancelled(
        "tasks-cancelled-result",
        "a cancelled task has a result",
        lambda task: task.update(result=_RESULT),
    ),
    _cancelled(
        "tasks-cancelled-error",
        "a cancelled task has an error",
        lambda task: task.update(error=_ERROR),
    ),
)
