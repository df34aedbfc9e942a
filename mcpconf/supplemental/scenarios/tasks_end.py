"""How tasks end: with a result, with an error, or as nobody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import Finding, broken, holds, unobserved
from mcpconf.supplemental.looks import ended, failed, has_error_result
from mcpconf.supplemental.observation import StepState
from mcpconf.supplemental.scenario import (
    STATELESS,
    CheckDefinition,
    Level,
    Scenario,
    call,
    connect,
)
from mcpconf.supplemental.scenarios.tasks_looks import (
    ENDS,
    GET,
    PAGE,
    Handed,
    about,
    answered,
    of_declaring,
    of_task,
    tasks,
)

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation, Seen
    from mcpconf.supplemental.scenarios.tasks_looks import LookAtTask

_INVALID_PARAMS = -32602
#: A client may doubt one answer; it is not to ask for ever.
_DOUBTS = 3


def _is_error_result(seen: Observation, _task: Handed) -> Finding:
    step = seen.step("error-result")
    if step.state is not StepState.OK:
        return broken(f"the call {ended(step)}")
    if not has_error_result(step):
        return broken("the host was given a result that does not say isError")
    return holds("the host got the result, and that it is of a failure")


def _is_told(name: str, status: str) -> LookAtTask:
    def look(seen: Observation, task: Handed) -> Finding:
        said = [answered(seen, each).get("status") for each in about(seen, task, GET)]
        if status not in said:
            return unobserved(f"the client did not get to hear that it {status}")
        return failed(name)(seen)

    return look


def _is_given_up(seen: Observation, task: Handed) -> Finding:
    polls = about(seen, task, GET)
    lost = next((n for n, each in enumerate(polls) if _is_unknown(seen, each)), None)
    if lost is None:
        return unobserved("the client did not get to hear that the task is unknown")
    more = len(polls) - lost - 1
    if more > _DOUBTS:
        return broken(f"{more} more tasks/get followed the error")
    return failed("lost")(seen)


def _is_unknown(seen: Observation, request: Seen) -> bool:
    answer = seen.subject.answer_to(request)
    error = answer.error if answer else None
    return isinstance(error, dict) and error.get("code") == _INVALID_PARAMS


def _ends_are_final(seen: Observation) -> Finding:
    over = []
    for task in tasks(seen):
        end: str | None = None
        for each in about(seen, task):
            if end is not None:
                return broken(f"{each.method} followed after the task had {end}")
            status = answered(seen, each).get("status")
            end = status if status in ENDS else None
        if end is not None:
            over.append(end)
    if not over:
        return unobserved("no task ended before the client's eyes")
    return holds(f"nothing was asked of tasks that had ended: {', '.join(over)}")


SCENARIOS = (
    Scenario(
        name="task-ends",
        title="Tasks that end in each way there is",
        revisions=STATELESS,
        profiles=("trusting-tasks",),
        steps=(
            connect(),
            call("task_error_result", id="error-result"),
            call("task_failed", id="failed"),
            call("task_cancelled", id="cancelled"),
            call("task_lost", id="lost"),
        ),
        checks=(
            CheckDefinition(
                id="task-error-result-is-a-result",
                sentence="A task whose tool reports a failure has completed: its "
                "result reaches the host as one with isError.",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="a completed task with isError, and the same for the host",
                look=of_task("task_error_result", _is_error_result),
                needs=("error-result",),
                broken=("hides_tool_errors",),
            ),
            CheckDefinition(
                id="task-failure-is-an-error",
                sentence="A task that failed holds a JSON-RPC error, and that is what "
                "the call ends with. (No page demands it.)",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="a failed task, and an error for the host",
                look=of_task("task_failed", _is_told("failed", "failed")),
                needs=("failed",),
                broken=("takes_a_failed_task_for_done",),
            ),
            CheckDefinition(
                id="task-cancelled-is-an-error",
                sentence="A task that was cancelled has no result: the call does not "
                "end with one. (No page demands it.)",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="a task that the server cancels, and an error for the host",
                look=of_task("task_cancelled", _is_told("cancelled", "cancelled")),
                needs=("cancelled",),
                broken=("takes_a_cancelled_task_for_done",),
            ),
            CheckDefinition(
                id="task-unknown-is-an-error",
                sentence="A task that the server knows no more, which it says by "
                "-32602, ends with an error and is not polled for ever. (No page "
                "demands it.)",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="-32602 for a task that was handed out, at most "
                f"{_DOUBTS} more tasks/get, and an error for the host",
                look=of_task("task_lost", _is_given_up),
                needs=("lost",),
                broken=("polls_for_a_lost_task",),
            ),
            CheckDefinition(
                id="task-ends-are-final",
                sentence="A client polls until a task has ended: nothing that is said "
                "of it then will change.",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="no request about a task after the answer that it has "
                "completed, failed or was cancelled",
                look=of_declaring(_ends_are_final),
                needs=("error-result", "failed", "cancelled"),
                broken=("asks_on_after_the_end",),
            ),
        ),
    ),
)
