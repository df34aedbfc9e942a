"""The answer that hands out a task: its envelope, its members, its id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    unobserved,
)
from mcpconf.tasks_extension.definition import Level, TaskCheck, TaskScenario, sep
from mcpconf.tasks_extension.looks import (
    name_of,
    not_taken,
    result_of,
    shown,
    told,
    without_result,
)
from mcpconf.tasks_extension.scenarios.creation_ids import (
    DIFFERING,
    IDS,
    LEAST,
    STEP,
    ids_do_not_count,
    ids_have_room,
)
from mcpconf.tasks_extension.scenarios.fields import (
    has_interval,
    has_known_status,
    has_no,
    has_timestamps,
    has_ttl,
)
from mcpconf.tasks_extension.session import LONG_S, result_in, task_id_of, task_in

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.scenarios.fields import FieldLook
    from mcpconf.tasks_extension.session import Session


def _drive(session: Session) -> None:
    session.create("create", "slow_compute", {"seconds": LONG_S, "label": "creation"})
    for number in range(2, IDS + 1):
        arguments = {"seconds": LONG_S, "label": f"creation {number}"}
        session.create(f"create-{number}", "slow_compute", arguments)
    session.create("create-required", "failing_job")


def _of_task(look: Look) -> Look:
    """Nothing can be said of the answer where it hands out no task."""

    def looked(seen: Observation) -> Finding:
        result = result_of(seen, "create")
        if isinstance(result, Finding):
            return result
        if task_id_of(seen["create"]) is None:
            return unobserved(f"slow_compute made no task: {shown(result)}")
        return look(seen)

    return looked


def _created(seen: Observation) -> Mapping[str, Any]:
    """The task that was handed out, also from where it must not be."""
    return task_in(seen["create"]) or {}


def _field(name: str, look: FieldLook) -> Look:
    return _of_task(lambda seen: look(f"the answer to {name}", (_created(seen),)))


def _result_type(seen: Observation) -> Finding:
    kind = (seen.result("create") or {}).get("resultType")
    if kind != "task":
        return broken(
            f'a task was handed out with resultType {shown(kind)}, not "task"'
        )
    return holds('resultType is "task"')


def _is_flat(seen: Observation) -> Finding:
    result = result_of(seen, "create")
    if isinstance(result, Finding):
        return result
    if "task" in result:
        return broken(f"the task is not at the result's top level: {shown(result)}")
    task_id = result.get("taskId")
    if isinstance(task_id, str) and task_id:
        return holds(f"taskId is {shown(task_id)}, and there is no task")
    if "taskId" in result or result.get("resultType") == "task":
        return broken(f"taskId is {shown(task_id)}, not a text")
    return unobserved(f"slow_compute made no task: {shown(result)}")


def _no_hint_is_needed(seen: Observation) -> Finding:
    exchange = seen["create-required"]
    if exchange is None:
        return not_taken("create-required")
    if exchange.error is not None:
        return broken(f"{name_of(exchange)} was {told(exchange)}")
    result = result_in(exchange)
    if result is None:
        return without_result(exchange)
    if task_id_of(exchange) is None:
        said = f"failing_job made no task: {shown(result)}"
        # A server may never make any; then there is nothing that a hint could change.
        makes_some = any(task_id_of(each) for each in seen.labelled("create"))
        return broken(said) if makes_some else unobserved(said)
    return holds("failing_job made a task; nothing but the declaration asked for it")


SCENARIOS = (
    TaskScenario(
        name="tasks/creation",
        title="the answer that hands out a task",
        drive=_drive,
        tools=("slow_compute",),
        checks=(
            TaskCheck(
                id="created-result-type",
                requirements=("sep-2663-result-type-task-on-create",),
                sentence='The answer that hands out a task has resultType "task".',
                page=sep("polymorphic-results"),
                level=Level.MUST,
                looks_for="resultType of the answer that has a taskId",
                look=_of_task(_result_type),
                official=("sep-2663-result-type-task-on-create",),
                broken=("tasks-create-no-result-type", "tasks-create-type-complete"),
                of_there_being_tasks=True,
            ),
            TaskCheck(
                id="created-is-flat",
                sentence="A task's members stand in the result itself, not under task, "
                "and it is named by a text.",
                page=sep("task-creation"),
                level=Level.MUST,
                looks_for="a taskId in the result, and no member task",
                look=_is_flat,
                official=("sep-2663-result-type-task-on-create",),
                broken=("tasks-create-nested",),
            ),
            TaskCheck(
                id="created-has-no-payload",
                sentence="The answer that hands out a task has no result, error or "
                "inputRequests, whatever its status; tasks/get tells them.",
                page=sep("task-creation"),
                level=Level.MUST,
                looks_for="none of the three in the answer",
                look=_field("slow_compute", has_no("result", "error", "inputRequests")),
                official=("sep-2663-result-type-task-on-create",),
                broken=("tasks-create-with-result", "tasks-create-with-requests"),
            ),
            TaskCheck(
                id="created-has-no-request-state",
                sentence="No task has a requestState; that of a tools/call in several "
                "rounds does not leak into it.",
                page=sep("task-creation"),
                level=Level.MUST,
                looks_for="no requestState in the answer",
                look=_field("slow_compute", has_no("requestState")),
                official=("tasks-create-result-no-request-state",),
                broken=("tasks-create-request-state",),
            ),
            TaskCheck(
                id="task-ids-do-not-count",
                sentence="No task's id is that of another, or the number next to it: "
                "who has one need not guess.",
                page=sep("security-implications"),
                level=Level.MUST,
                looks_for=f"{IDS} ids: all different, and what differs in them is no "
                f"number that goes up, or down, by {STEP} or less each time",
                look=ids_do_not_count,
                broken=("tasks-ids-guessable",),
            ),
            TaskCheck(
                id="task-ids-are-unguessable",
                sentence="Task ids have so much entropy that nobody can guess them. "
                "(How much there is cannot be seen; this asks for room for it.)",
                page=sep("security-implications"),
                level=Level.POLICY,
                looks_for=f"{IDS} ids: each of {LEAST} characters or more, and with "
                f"{DIFFERING} or more that are not between a beginning and an end "
                "shared by all",
                look=ids_have_room,
                broken=("tasks-ids-guessable", "tasks-ids-short"),
            ),
            TaskCheck(
                id="created-status",
                sentence="A new task has one of the five statuses; statusMessage, "
                "where it is there, is a text.",
                page=sep("task-status"),
                level=Level.MUST,
                looks_for="status and statusMessage in the answer",
                look=_field("slow_compute", has_known_status),
                official=("sep-2663-result-type-task-on-create",),
                broken=("tasks-status-unknown", "tasks-status-message-number"),
            ),
            TaskCheck(
                id="created-timestamps",
                sentence="createdAt and lastUpdatedAt are there, in ISO 8601.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="both, with a date and a time",
                look=_field("slow_compute", has_timestamps),
                official=("sep-2663-result-type-task-on-create",),
                broken=(
                    "tasks-created-not-iso",
                    "tasks-updated-not-iso",
                    "tasks-updated-missing",
                ),
            ),
            TaskCheck(
                id="created-ttl",
                sentence="ttlMs is there: a whole number of milliseconds, or null for "
                "a task that is kept for ever. The old name ttl is gone.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="ttlMs, and no ttl, in the answer",
                look=_field("slow_compute", has_ttl),
                official=("tasks-wire-field-renames",),
                broken=(
                    "tasks-ttl-old-name",
                    "tasks-ttl-missing",
                    "tasks-ttl-fraction",
                ),
            ),
            TaskCheck(
                id="created-poll-interval",
                sentence="pollIntervalMs, where it is there, is a whole number of "
                "milliseconds. The old name pollInterval is gone.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="pollIntervalMs, and no pollInterval, in the answer",
                look=_field("slow_compute", has_interval),
                official=("tasks-wire-field-renames",),
                broken=("tasks-poll-old-name", "tasks-poll-fraction"),
            ),
            TaskCheck(
                id="no-hint-is-needed",
                sentence="The server alone decides to make a task; a client says no "
                "more than that it can take one.",
                page=sep("task-creation"),
                level=Level.POLICY,
                looks_for="a task for failing_job, which can only run as one, from a "
                "request that declares the extension and has no task parameter",
                look=_no_hint_is_needed,
                official=("tasks-server-directed-creation-no-hint",),
                broken=("tasks-hint-needed",),
                tools=("failing_job",),
            ),
        ),
    ),
)
