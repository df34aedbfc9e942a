"""What has ended stays as it is; and asking for a task changes nothing."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import Finding, broken, holds, unobserved
from mcpconf.tasks_extension.definition import Level, TaskCheck, TaskScenario, sep
from mcpconf.tasks_extension.facts import (
    differences,
    end_of,
    is_asking,
    state_of,
    tasks_told,
)
from mcpconf.tasks_extension.looks import not_taken, shown, worst_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.session import Session

_RUNNER, _FAILER, _ASKER = "slow_compute", "protocol_error_job", "confirm_delete"
_ENDS = {
    "completed": (_RUNNER, {"seconds": 0.2, "label": "final"}),
    "failed": (_FAILER, {}),
}
_ASKING_S, _ENDING_S = 5.0, 8.0
#: An answer nobody asked for.
_LATE = {"mcpconf-too-late": {"action": "accept", "content": {}}}
_CLOCK = "lastUpdatedAt"
#: What each step is compared with: what was told last before it.
_BEFORE = {"read": "end-{}-", "updated": "read-{}-", "cancelled": "updated-{}-"}


def _drive(session: Session) -> None:
    """Two ends, read twice, then updated, cancelled and read again; one that waits."""
    waiting = session.create("create-waiting", _ASKER, {"filename": "untouched.txt"})
    tasks = {
        name: session.create(f"create-{name}", tool, arguments)
        for name, (tool, arguments) in _ENDS.items()
    }
    # Beside one another: each may be read no faster than its server likes.
    with ThreadPoolExecutor(len(tasks) + 1) as pool:
        runs = [pool.submit(_touch, session, *each) for each in tasks.items()]
        runs.append(pool.submit(_read, session, waiting))
        for run in runs:
            run.result()


def _touch(session: Session, name: str, task_id: str | None) -> None:
    session.poll(f"end-{name}", task_id, at_most_s=_ENDING_S)
    session.get(f"read-{name}-1", task_id)
    session.get(f"read-{name}-2", task_id)
    session.update(f"update-{name}", task_id, _LATE)
    session.get(f"updated-{name}-1", task_id)
    session.cancel(f"cancel-{name}", task_id)
    session.get(f"cancelled-{name}-1", task_id)
    session.get(f"cancelled-{name}-2", task_id)


def _read(session: Session, waiting: str | None) -> None:
    session.poll("waiting", waiting, is_asking, at_most_s=_ASKING_S)
    for number in (1, 2, 3):
        session.get(f"still-{number}", waiting)


def _unchanged(after: str) -> Look:
    """At these steps both tasks are what they were at the step before."""
    return lambda seen: worst_of([_is_unchanged(seen, name, after) for name in _ENDS])


def _is_unchanged(seen: Observation, name: str, after: str) -> Finding:
    before = end_of(seen, _BEFORE[after].format(name))
    if isinstance(before, Finding):
        return before
    answers = tasks_told(seen, f"{after}-{name}-")
    for exchange, task in answers:
        others = differences(_kept(before), _kept(task))
        if others:
            each = others[0]
            values = f"{shown(before.get(each))}, then {shown(task.get(each))}"
            return broken(f"{exchange.label}: {', '.join(others)} changed ({values})")
    if not answers:
        return unobserved(f"the task that {name} was not told of again")
    return holds(f"{before['status']} is the same in {len(answers)} more answers")


def _kept(task: Mapping[str, Any]) -> dict[str, Any]:
    """What no request changes; when a task was touched last is another check's."""
    return {key: each for key, each in state_of(task).items() if key != _CLOCK}


def _look_at_the_waiting(seen: Observation) -> Finding:
    """A task that waits is told in the same words until somebody does something."""
    first = seen.last("waiting-")
    if first is None:
        return not_taken("tasks/get")
    task = first.result
    if task is None or task.get("status") != "input_required":
        return unobserved(f"{first.label}: no task that waits for input")
    answers = tasks_told(seen, "still-")
    for exchange, other in answers:
        moved = [
            each
            for each in differences(state_of(task), state_of(other))
            if each != "inputRequests"
        ]
        if moved:
            each = moved[0]
            values = f"{shown(task.get(each))}, then {shown(other.get(each))}"
            return broken(f"{exchange.label}: {each} moved by asking ({values})")
    if not answers:
        return unobserved("the task was not told of again")
    return holds(f"the same in {len(answers)} more answers")


_STATUS = sep("task-status")

SCENARIOS = (
    TaskScenario(
        name="tasks/immutability",
        title="tasks that have ended are read, updated and cancelled, and read again",
        drive=_drive,
        tools=(_RUNNER, _FAILER, _ASKER),
        checks=(
            TaskCheck(
                id="reading-changes-nothing",
                sentence="An end that was read is there to be read again, the same.",
                page=_STATUS,
                level=Level.MUST,
                looks_for="two more tasks/get of a completed and of a failed task: "
                "every member but ttlMs, pollIntervalMs and lastUpdatedAt",
                look=_unchanged("read"),
                tools=(_RUNNER, _FAILER),
                broken=("tasks-result-once", "tasks-completed-reopens"),
            ),
            TaskCheck(
                id="update-changes-nothing",
                sentence="tasks/update changes nothing in a task that has ended.",
                page=_STATUS,
                level=Level.MUST,
                looks_for="tasks/get after a tasks/update of both: every member but "
                "ttlMs, pollIntervalMs and lastUpdatedAt",
                look=_unchanged("updated"),
                tools=(_RUNNER, _FAILER),
                broken=("tasks-update-revives",),
            ),
            TaskCheck(
                id="cancel-changes-nothing",
                sentence="tasks/cancel changes nothing in a task that has ended.",
                page=_STATUS,
                level=Level.MUST,
                looks_for="two tasks/get after a tasks/cancel of both: every member "
                "but ttlMs, pollIntervalMs and lastUpdatedAt",
                look=_unchanged("cancelled"),
                tools=(_RUNNER, _FAILER),
                broken=("tasks-completed-cancelled",),
            ),
            TaskCheck(
                id="waiting-is-untouched",
                sentence="tasks/get only reads: a task that waits for input stays as "
                "it is, lastUpdatedAt too.",
                page=sep("task-polling"),
                level=Level.SHOULD,
                looks_for="three more tasks/get of a task that waits, which nobody "
                "answers: every member but what it asks for, ttlMs and pollIntervalMs",
                look=_look_at_the_waiting,
                tools=(_ASKER,),
                broken=("tasks-get-side-effects",),
            ),
        ),
    ),
)
