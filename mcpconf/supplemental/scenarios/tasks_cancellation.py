"""A call that has become a task, cancelled by the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.looks import ended
from mcpconf.supplemental.observation import StepState
from mcpconf.supplemental.scenario import (
    HTTP,
    STATELESS,
    CheckDefinition,
    Level,
    Scenario,
    Step,
    call,
    connect,
)
from mcpconf.supplemental.scenarios.conversation_looks import is_same_id, was_answered
from mcpconf.supplemental.scenarios.tasks_looks import (
    CANCEL,
    PAGE,
    Handed,
    about,
    has_headers,
    of_task,
)

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation

_TOOL = "task_endless"
_CANCELLED = "notifications/cancelled"


def _is_cancelled(seen: Observation, task: Handed) -> Finding:
    step = seen.step("cancel")
    if step.state is not StepState.OK:
        return unobserved(f"the client did not cancel: the step {ended(step)}")
    if about(seen, task, CANCEL):
        return holds("tasks/cancel named the task")
    return broken("the call was cancelled, and no tasks/cancel came")


def _is_not_notified(seen: Observation, task: Handed) -> Finding:
    for note in seen.subject.notifications(_CANCELLED):
        named = note.params.get("requestId")
        if note.index > task.created.index and (
            is_same_id(named, task.call.id) or task.id in note.params.values()
        ):
            return broken(f"{_CANCELLED} named {named!r}, whose call had become a task")
    if not about(seen, task, CANCEL):
        return not_applicable("the client did not cancel the task")
    return holds("tasks/cancel came alone")


def _is_named(seen: Observation, task: Handed) -> Finding:
    if not about(seen, task, CANCEL):
        return not_applicable("the client did not cancel the task")
    return has_headers(CANCEL, tools=(_TOOL,))(seen)


def _connection_is_usable(seen: Observation, task: Handed) -> Finding:
    return was_answered(seen, "after-cancel", "echo", after=task.call)


SCENARIOS = (
    Scenario(
        name="task-cancellation",
        title="A call that has become a task, cancelled by the host",
        revisions=STATELESS,
        profiles=("trusting-tasks",),
        steps=(
            connect(),
            Step(
                id="cancel",
                verb="cancel",
                arguments={"tool": _TOOL, "arguments": {}, "after_s": 1.0},
            ),
            call("echo", {"text": "after"}, id="after-cancel"),
        ),
        checks=(
            CheckDefinition(
                id="task-cancelled-by-request",
                sentence="A client whose host cancels a call that has become a task "
                "tells the server by tasks/cancel. (No page demands that it does.)",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="tasks/cancel with the task's id",
                look=of_task(_TOOL, _is_cancelled),
                needs=("cancel",),
                broken=("leaves_a_cancelled_task",),
            ),
            CheckDefinition(
                id="task-not-cancelled-by-notification",
                sentence="notifications/cancelled is not used for tasks.",
                page=PAGE,
                level=Level.MUST,
                looks_for="no such notification after the call has become a task that "
                "names the call or the task",
                look=of_task(_TOOL, _is_not_notified),
                needs=("cancel",),
                broken=("cancels_a_task_by_notification",),
            ),
            CheckDefinition(
                id="task-cancellation-leaves-connection",
                sentence="A task that was cancelled leaves the connection usable. (No "
                "page demands it.)",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="the answer to a call after a cancelled one",
                look=of_task(_TOOL, _connection_is_usable),
                needs=("cancel", "after-cancel"),
                broken=("is_lost_after_cancelling",),
            ),
            CheckDefinition(
                id="task-cancel-headers",
                sentence="tasks/cancel names its method in Mcp-Method and its task in "
                "Mcp-Name.",
                page=PAGE,
                level=Level.MUST,
                looks_for="both headers of tasks/cancel",
                look=of_task(_TOOL, _is_named),
                transports=HTTP,
                needs=("cancel",),
                broken=("forgets_the_name_of_a_task", "writes_methods_in_capitals"),
            ),
        ),
    ),
)
