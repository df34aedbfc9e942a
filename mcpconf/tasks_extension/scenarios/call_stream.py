"""The streams of the requests that make a task and ask for it: nothing but answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.server.exchange import How
from mcpconf.supplemental.finding import broken, holds, unobserved
from mcpconf.tasks_extension.definition import Level, TaskCheck, TaskScenario, sep
from mcpconf.tasks_extension.facts import tasks_told
from mcpconf.tasks_extension.looks import name_of, not_taken, told
from mcpconf.tasks_extension.session import result_in, task_id_of

if TYPE_CHECKING:
    from mcpconf.supplemental.finding import Finding
    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.session import Session

_SECTION = sep("task-status-notifications")
_ENDING_S = 5.0
_TOOL = "slow_compute"
_LOG_LEVEL = "io.modelcontextprotocol/logLevel"


def _drive(session: Session) -> None:
    """Create, and ask while it works and when it has ended; all want progress."""
    task_id = session.create(
        "create",
        _TOOL,
        {"seconds": 1, "label": "talkative"},
        meta={"progressToken": "of-the-call", _LOG_LEVEL: "debug"},
    )
    wanted = {"progressToken": "of-the-get", _LOG_LEVEL: "debug"}
    session.get("get-working", task_id, meta=wanted)
    session.poll("end", task_id, at_most_s=_ENDING_S)
    session.get("get-ended", task_id, meta=wanted)


def _never(prefix: str) -> Look:
    """No notification of this family on the stream of a call that made a task."""

    def look(seen: Observation) -> Finding:
        created = seen["create"]
        if created is None:
            return not_taken("create")
        if task_id_of(created) is None:
            return unobserved(f"{name_of(created)} was {told(created)}; it is no task")
        streams = [created, *seen.labelled("get-")]
        for exchange in streams:
            for each in exchange.received:
                message = each.message
                method = message.get("method") if isinstance(message, dict) else None
                if isinstance(method, str) and method.startswith(prefix):
                    return broken(f"{name_of(exchange)}: {method} on its stream")
        for exchange in streams:
            if exchange.how is not How.COMPLETE or result_in(exchange) is None:
                return unobserved(f"{name_of(exchange)} was {told(exchange)}")
        if not tasks_told(seen, "get-"):
            return unobserved("no tasks/get told of the task")
        forms = ", ".join(f"{each.label}: {each.form.value}" for each in streams)
        return holds(f"no {prefix} in the answers ({forms})")

    return look


SCENARIOS = (
    TaskScenario(
        name="tasks/call-stream",
        title="a task is created by a call that wants progress and log messages",
        drive=_drive,
        tools=(_TOOL,),
        checks=(
            TaskCheck(
                id="no-progress",
                requirements=("sep-2663-no-progress-or-message-on-task-stream",),
                sentence="There is no notifications/progress for a task, on the stream "
                "of the call that made it neither.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="the answers to tools/call and tasks/get, both sent with a "
                "progressToken",
                look=_never("notifications/progress"),
                broken=("tasks-progress-on-create",),
            ),
            TaskCheck(
                id="no-message",
                requirements=("sep-2663-no-progress-or-message-on-task-stream",),
                sentence="There is no notifications/message for a task, on the stream "
                "of the call that made it neither.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="the answers to tools/call and tasks/get, both sent with a "
                "logLevel",
                look=_never("notifications/message"),
                broken=("tasks-message-on-create",),
            ),
            TaskCheck(
                id="no-task-notification",
                sentence="Tasks are told of on listen streams only.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="any notifications/tasks in the answers to tools/call and "
                "tasks/get",
                look=_never("notifications/tasks"),
                broken=("tasks-notified-on-create",),
            ),
        ),
    ),
)
