"""What ``tasks/get`` tells of a task, while it works and when it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.tasks_extension.definition import Level, TaskCheck, TaskScenario, sep
from mcpconf.tasks_extension.scenarios.completion_looks import (
    RELATED,
    completes,
    error_is_completed,
    fails,
    is_asked_for,
    is_complete,
    is_flat,
    is_result_of_call,
    names_no_related_task,
    of_every_task,
    once,
    says_why,
    without_payload,
    works,
)
from mcpconf.tasks_extension.scenarios.fields import (
    has_interval,
    has_known_status,
    has_no,
    has_timestamps,
    has_ttl,
)
from mcpconf.tasks_extension.session import LONG_S, is_terminal, task_in

if TYPE_CHECKING:
    from mcpconf.tasks_extension.session import Session

#: How long a task that was cancelled may take to end; that it ends is not asked here.
_CANCELLED_S = 1.0


def _drive(session: Session) -> None:
    working = session.create(
        "create", "slow_compute", {"seconds": LONG_S, "label": "long"}
    )
    session.settle("settle", working)
    session.get("get-working", working)
    ending = {
        "quick": session.create(
            "quick", "slow_compute", {"seconds": 1, "label": "quick"}
        ),
        "with-error": session.create("with-error", "failing_job"),
        "failing": session.create("failing", "protocol_error_job"),
    }
    for label, task_id in ending.items():
        known = session.settle(f"get-{label}-new", task_id)
        if not is_terminal(task_in(known) or {}):
            session.poll(f"get-{label}", task_id)
    session.cancel("cancel", working)
    session.poll("get-cancelled", working, at_most_s=_CANCELLED_S)


_GET = ("slow_compute",)
_STATUS_PAGE = sep("task-polling")

SCENARIOS = (
    TaskScenario(
        name="tasks/completion",
        title="what tasks/get tells of tasks, at every status they come to",
        drive=_drive,
        tools=("slow_compute", "failing_job", "protocol_error_job"),
        checks=(
            TaskCheck(
                id="get-is-complete",
                requirements=("sep-2663-result-type-complete-on-tasks-get",),
                sentence='The answer of tasks/get has resultType "complete", whatever '
                "the status of the task.",
                page=_STATUS_PAGE,
                level=Level.MUST,
                looks_for="resultType of every answer, of tasks that work and that "
                "have ended in each way",
                look=is_complete,
                official=("tasks-result-type-complete-on-non-task-responses",),
                broken=("tasks-get-no-result-type", "tasks-get-type-task"),
                tools=_GET,
            ),
            TaskCheck(
                id="get-is-of-the-task",
                sentence="tasks/get tells of the task it was asked for.",
                page=_STATUS_PAGE,
                level=Level.MUST,
                looks_for="the taskId of the request in every answer",
                look=is_asked_for,
                official=("sep-2663-tasks-get-status-working",),
                broken=("tasks-get-other-id",),
                tools=_GET,
            ),
            TaskCheck(
                id="get-is-flat",
                sentence="The task's members stand in the result itself.",
                page=_STATUS_PAGE,
                level=Level.MUST,
                looks_for="taskId in every result, and no member task",
                look=is_flat,
                broken=("tasks-get-nested",),
                tools=_GET,
            ),
            TaskCheck(
                id="get-has-no-request-state",
                sentence="tasks/get tells of no requestState.",
                page=_STATUS_PAGE,
                level=Level.MUST,
                looks_for="no requestState in any answer",
                look=of_every_task(has_no("requestState")),
                official=("tasks-get-detailed-no-request-state",),
                broken=("tasks-get-request-state",),
                tools=_GET,
            ),
            TaskCheck(
                id="get-status",
                sentence="A task has one of the five statuses; statusMessage, where it "
                "is there, is a text.",
                page=sep("task-status"),
                level=Level.MUST,
                looks_for="status and statusMessage in every answer, at every status",
                look=of_every_task(has_known_status),
                broken=("tasks-status-unknown", "tasks-status-message-number"),
                tools=_GET,
            ),
            TaskCheck(
                id="get-timestamps",
                sentence="createdAt and lastUpdatedAt are there, in ISO 8601.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="both, with a date and a time, in every answer",
                look=of_every_task(has_timestamps),
                broken=(
                    "tasks-created-not-iso",
                    "tasks-updated-not-iso",
                    "tasks-updated-missing",
                ),
                tools=_GET,
            ),
            TaskCheck(
                id="get-ttl",
                sentence="ttlMs is there: a whole number, or null. ttl is gone.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="ttlMs, and no ttl, in every answer",
                look=of_every_task(has_ttl),
                broken=(
                    "tasks-ttl-old-name",
                    "tasks-ttl-missing",
                    "tasks-ttl-fraction",
                ),
                tools=_GET,
            ),
            TaskCheck(
                id="get-poll-interval",
                sentence="pollIntervalMs, where it is there, is a whole number. "
                "pollInterval is gone.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="pollIntervalMs, and no pollInterval, in every answer",
                look=of_every_task(has_interval),
                broken=("tasks-poll-old-name", "tasks-poll-fraction"),
                tools=_GET,
            ),
            TaskCheck(
                id="task-works",
                requirements=("sep-2663-tasks-get-status-working",),
                sentence="A task that is being worked on is told of as working.",
                page=_STATUS_PAGE,
                level=Level.MUST,
                looks_for="status working of slow_compute{seconds: 600}, just created",
                look=works,
                official=("sep-2663-tasks-get-status-working",),
                broken=("tasks-status-unknown",),
                tools=_GET,
            ),
            TaskCheck(
                id="working-has-no-payload",
                requirements=("sep-2663-tasks-get-status-working",),
                sentence="A task that works has no result, error or inputRequests yet.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="none of the three in the answers that say working",
                look=without_payload("working"),
                broken=("tasks-working-result", "tasks-working-requests"),
                tools=_GET,
            ),
            TaskCheck(
                id="task-completes",
                requirements=("sep-2663-tasks-get-status-completed",),
                sentence="A task that is done is told of as completed, with a result.",
                page=_STATUS_PAGE,
                level=Level.MUST,
                looks_for="slow_compute{seconds: 1}, asked for at its pollIntervalMs, "
                "to come to completed with an object as result",
                look=completes,
                official=("sep-2663-tasks-get-status-completed",),
                broken=("tasks-completed-no-result",),
                tools=_GET,
            ),
            TaskCheck(
                id="result-is-of-the-call",
                requirements=("sep-2663-tasks-get-status-completed",),
                sentence="The result of a completed task is what the original request "
                "would have been answered with.",
                page=_STATUS_PAGE,
                level=Level.MUST,
                looks_for="content in the result, as tools/call has it",
                look=once("get-quick-", "completed", is_result_of_call),
                official=("sep-2663-tasks-get-status-completed",),
                broken=("tasks-completed-task-result",),
                tools=_GET,
            ),
            TaskCheck(
                id="completed-has-no-error",
                sentence="A completed task has a result, and neither error nor "
                "inputRequests.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="neither in the answer that says completed",
                look=once(
                    "get-quick-",
                    "completed",
                    lambda task: has_no("error", "inputRequests")("tasks/get", (task,)),
                ),
                broken=("tasks-completed-error",),
                tools=_GET,
            ),
            TaskCheck(
                id="result-names-no-related-task",
                sentence="The result inside a task needs no related-task in its _meta, "
                "as that of 2025-11-25 did.",
                page=_STATUS_PAGE,
                level=Level.MUST,
                looks_for=f"no {RELATED} in the result's _meta",
                look=once("get-quick-", "completed", names_no_related_task),
                official=("tasks-no-related-task-meta-on-inlined-result",),
                broken=("tasks-related-task",),
                tools=_GET,
            ),
            TaskCheck(
                id="tool-error-completes",
                requirements=(
                    "sep-2663-tool-error-uses-completed-status",
                    "sep-2663-failed-status-jsonrpc-only",
                ),
                sentence="A tool whose result has isError has completed; failed is for "
                "JSON-RPC errors alone.",
                page=sep("task-execution-errors"),
                level=Level.MUST,
                looks_for="failing_job to end as completed, with isError in its result",
                look=error_is_completed,
                official=("sep-2663-tool-error-uses-completed-status",),
                broken=("tasks-tool-error-failed", "tasks-completed-no-result"),
                tools=("failing_job",),
            ),
            TaskCheck(
                id="protocol-error-fails",
                requirements=("sep-2663-tasks-get-status-failed",),
                sentence="A task that ended in a JSON-RPC error is failed, with that "
                "error.",
                page=sep("task-execution-errors"),
                level=Level.MUST,
                looks_for="protocol_error_job to end as failed, with a code and a "
                "message in error",
                look=fails,
                official=("sep-2663-tasks-get-status-failed",),
                broken=("tasks-failed-no-error", "tasks-failed-error-text"),
                tools=("protocol_error_job",),
            ),
            TaskCheck(
                id="failed-has-no-result",
                requirements=("sep-2663-tasks-get-status-failed",),
                sentence="A failed task has an error, and neither result nor "
                "inputRequests.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="neither in the answer that says failed",
                look=once(
                    "get-failing-",
                    "failed",
                    lambda task: has_no("result", "inputRequests")(
                        "tasks/get", (task,)
                    ),
                ),
                official=("sep-2663-tasks-get-status-failed",),
                broken=("tasks-failed-result",),
                tools=("protocol_error_job",),
            ),
            TaskCheck(
                id="failed-says-why",
                requirements=("sep-2663-failed-includes-statusmessage",),
                sentence="A failed task says in statusMessage what went wrong.",
                page=sep("task-execution-errors"),
                level=Level.SHOULD,
                looks_for="a statusMessage in the answer that says failed",
                look=once("get-failing-", "failed", says_why),
                broken=("tasks-failed-no-message",),
                tools=("protocol_error_job",),
            ),
        ),
    ),
)
