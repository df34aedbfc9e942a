"""What the checks of ``tasks/get`` make of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import Finding, broken, holds, unobserved
from mcpconf.tasks_extension.looks import (
    name_of,
    not_taken,
    result_of,
    shown,
    without_result,
)
from mcpconf.tasks_extension.scenarios.fields import has_no
from mcpconf.tasks_extension.session import (
    is_terminal,
    result_in,
    task_in,
    tells_of_task,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.server.exchange import Exchange
    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.scenarios.fields import FieldLook

RELATED = "io.modelcontextprotocol/related-task"


def _told(seen: Observation) -> tuple[Mapping[str, Any], ...]:
    """Every task that ``tasks/get`` told of, also where it is nested."""
    return tuple(task_in(each) or {} for each in _telling(seen))


def _telling(seen: Observation) -> tuple[Exchange, ...]:
    """The answers of ``tasks/get`` that tell of a task; not an object of nothing."""
    return tuple(each for each in seen.labelled("get-") if tells_of_task(each))


def of_every_task(look: FieldLook) -> Look:
    """A member is right in every task that was told of."""
    return lambda seen: look("tasks/get", _told(seen))


def _ended(seen: Observation, prefix: str) -> Mapping[str, Any] | Finding:
    """The task at the end of a poll, or the finding that there is none."""
    exchange = seen.last(prefix)
    if exchange is None:
        return not_taken(f"{prefix}1")
    task = task_in(exchange)
    return without_result(exchange) if task is None else task


def _still(seen: Observation, prefix: str) -> str:
    """How long a task that has not ended was watched: *still working after 10 s*."""
    asked = seen.labelled(prefix)
    after_s = (asked[-1].t1_ms - asked[0].t0_ms) / 1000
    return f"still working after {after_s:.0f} s"


def once(
    prefix: str, status: str, look: Callable[[Mapping[str, Any]], Finding]
) -> Look:
    """Look at a task that has ended so; one that has ended otherwise shows nothing."""

    def looked(seen: Observation) -> Finding:
        task = _ended(seen, prefix)
        if isinstance(task, Finding):
            return task
        if task.get("status") != status:
            return unobserved(f"the task is {shown(task.get('status'))}, not {status}")
        return look(task)

    return looked


def is_asked_for(seen: Observation) -> Finding:
    """Each answer is about the task that was asked for."""
    answers = [each for each in seen.labelled("get-") if task_in(each) is not None]
    for each in answers:
        sent: Any = each.sent
        asked, got = sent["params"]["taskId"], (task_in(each) or {}).get("taskId")
        if got != asked:
            return broken(
                f"{name_of(each)}: taskId is {shown(got)}, not {shown(asked)}"
            )
    if not answers:
        return unobserved("no tasks/get was answered with a task")
    return holds(f"{len(answers)} answers of tasks/get have the taskId that was asked")


def works(seen: Observation) -> Finding:
    """A task that was just made, of much work, is working."""
    result = result_of(seen, "get-working")
    if isinstance(result, Finding):
        return result
    exchange = seen["get-working"]
    status = (task_in(exchange) or {}).get("status") if exchange else None
    if status != "working":
        return broken(f"a task of ten minutes is {shown(status)} as soon as it is made")
    return holds("a task of ten minutes is working")


def without_payload(*statuses: str) -> Look:
    """No task in one of these statuses has a payload."""

    def look(seen: Observation) -> Finding:
        tasks = [each for each in _told(seen) if each.get("status") in statuses]
        where = f"a task that is {' or '.join(statuses)}"
        return has_no("result", "error", "inputRequests")(where, tasks)

    return look


def completes(seen: Observation) -> Finding:
    """A task of little work comes to its end, and has a result."""
    task = _ended(seen, "get-quick-")
    if isinstance(task, Finding):
        return task
    status = task.get("status")
    if not is_terminal(task):
        return unobserved(f"{_still(seen, 'get-quick-')}; it is {shown(status)}")
    if status != "completed":
        return broken(f"a task of one second ended as {shown(status)}")
    if not isinstance(task.get("result"), dict):
        return broken(f"the completed task has result {shown(task.get('result'))}")
    return holds(f"completed with {shown(task['result'])}")


def is_result_of_call(task: Mapping[str, Any]) -> Finding:
    """What a task came to has the form of a tool's result."""
    result = task.get("result")
    if not isinstance(result, dict):
        return unobserved("the completed task has no result")
    content = result.get("content")
    if not isinstance(content, list) or not content:
        return broken(f"the result has no content, as tools/call has: {shown(result)}")
    return holds(f"the result is one of tools/call: {shown(result)}")


def names_no_related_task(task: Mapping[str, Any]) -> Finding:
    """The result inside does not say which task it is of."""
    result = task.get("result")
    if not isinstance(result, dict):
        return unobserved("the completed task has no result")
    meta = result.get("_meta")
    if isinstance(meta, dict) and RELATED in meta:
        return broken(f"the result's _meta has {RELATED}")
    return holds(f"the result's _meta is {shown(meta)}")


def error_is_completed(seen: Observation) -> Finding:
    """A tool that has an error result has completed."""
    task = _ended(seen, "get-with-error-")
    if isinstance(task, Finding):
        return task
    status, result = task.get("status"), task.get("result")
    if not is_terminal(task):
        still = _still(seen, "get-with-error-")
        return unobserved(f"failing_job: {still}; it is {shown(status)}")
    if status != "completed":
        return broken(
            f"failing_job, whose result has isError, ended as {shown(status)}"
        )
    if not isinstance(result, dict) or result.get("isError") is not True:
        return broken(f"failing_job completed without isError: {shown(result)}")
    return holds("failing_job completed, and its result has isError")


def fails(seen: Observation) -> Finding:
    """A JSON-RPC error ends a task as failed, and is told."""
    task = _ended(seen, "get-failing-")
    if isinstance(task, Finding):
        return task
    status, error = task.get("status"), task.get("error")
    if not is_terminal(task):
        still = _still(seen, "get-failing-")
        return unobserved(f"protocol_error_job: {still}; it is {shown(status)}")
    if status != "failed":
        return broken(f"protocol_error_job, which ends in an error, is {shown(status)}")
    code = error.get("code") if isinstance(error, dict) else None
    is_code = isinstance(code, int) and not isinstance(code, bool)
    if not (
        isinstance(error, dict) and is_code and isinstance(error.get("message"), str)
    ):
        return broken(f"the failed task has error {shown(error)}")
    return holds(f"failed with {shown(error)}")


def says_why(task: Mapping[str, Any]) -> Finding:
    """A failed task has a message for a reader."""
    message = task.get("statusMessage")
    if not isinstance(message, str) or not message:
        return broken(f"the failed task has statusMessage {shown(message)}")
    return holds(f"statusMessage is {shown(message)}")


def is_complete(seen: Observation) -> Finding:
    """Every answer says that it is complete, whatever the task's status."""
    answers = _telling(seen)
    for each in answers:
        result = result_in(each) or {}
        if result.get("resultType") != "complete":
            status = (task_in(each) or {}).get("status")
            kind = shown(result.get("resultType"))
            return broken(
                f'{name_of(each)}: resultType is {kind}, not "complete", of a task '
                f"that is {shown(status)}"
            )
    if not answers:
        return unobserved("no tasks/get was answered with a task")
    statuses = sorted({str((task_in(each) or {}).get("status")) for each in answers})
    return holds(f'"complete" in all answers, of tasks that are {", ".join(statuses)}')


def is_flat(seen: Observation) -> Finding:
    """No answer has its task under a member of its own."""
    results = [result_in(each) for each in seen.labelled("get-")]
    told = [each for each in results if each is not None]
    nested = [each for each in told if "task" in each or "taskId" not in each]
    if nested:
        return broken(f"the task is not at the top level: {shown(nested[0])}")
    if not told:
        return unobserved("no tasks/get was answered with a result")
    return holds(f"{len(told)} results have taskId, and no task")
