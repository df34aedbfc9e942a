"""``tasks/cancel``, and what is no cancellation of a task."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from mcpconf.tasks_extension.definition import Level, TaskCheck, TaskScenario, sep
from mcpconf.tasks_extension.scenarios.cancellation_looks import (
    CLOSED,
    NOTIFIED,
    look_at_a_cancelled_task,
    look_at_closing,
    look_at_the_cancel,
    look_at_the_end,
    look_at_the_notification,
    look_at_the_races,
    look_at_the_second_cancel,
)
from mcpconf.tasks_extension.session import task_id_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.tasks_extension.session import Session

_SECTION = sep("task-cancellation")
_TOOL = "slow_compute"
#: Longer than any run of this.
_LONG = 300
#: The policy of the official suite.
_ENDING_S = 10.0
#: What is left to tasks whose work should be over.
_REST_S = 5.0
#: What the other tasks take, in seconds; how long they are watched; how often seen.
_WORK, _WATCH_S, _EVERY_S = 2, 2.6, 0.2
#: When each racer is cancelled, as a part of its work.
_MOMENTS = (0.0, 0.5, 0.95, 1.0, 1.05)


def _drive(session: Session) -> None:
    _cancel_one(session)
    closed = session.create(
        f"create-{CLOSED}", _TOOL, _work(CLOSED), meta={"progressToken": CLOSED}
    )
    notified = _notify(session)
    _race(session)
    session.poll(f"end-{CLOSED}", closed, at_most_s=_REST_S)
    session.poll(f"end-{NOTIFIED}", notified, at_most_s=_REST_S)


def _work(label: str, seconds: float = _WORK) -> Mapping[str, Any]:
    return {"seconds": seconds, "label": label}


def _cancel_one(session: Session) -> None:
    """Cancel a task that works, and cancel it again when it has ended."""
    task_id = session.create("create", _TOOL, _work("cancelled", _LONG))
    session.get("working", task_id)
    session.cancel("cancel", task_id)
    session.poll("stopped", task_id, at_most_s=_ENDING_S)
    session.cancel("cancel-again", task_id)


def _notify(session: Session) -> str | None:
    """Send what cancels a request, for the call that made a task, and for its id."""
    exchange = session.call(f"create-{NOTIFIED}", _TOOL, _work(NOTIFIED))
    task_id = task_id_of(exchange)
    if task_id is not None:
        sent: Any = exchange.sent
        for name, meant in (("call", sent["id"]), ("task", task_id)):
            params = {"requestId": meant, "reason": "not for tasks"}
            session.notify(f"notify-{name}", "notifications/cancelled", params)
    return task_id


def _race(session: Session) -> None:
    """
    Cancel tasks at various moments of their lives, and watch them until it is over.

    The first is cancelled at once, the last ones when their work is about to be done.
    """
    began = time.monotonic()
    racers: list[str | None] = []
    for number, moment in enumerate(_MOMENTS):
        racers.append(session.create(f"create-race-{number}", _TOOL, _work("racing")))
        if not moment:
            _cancel_racer(session, number, racers[number])
    for number, moment in enumerate(_MOMENTS):
        if moment:
            session.wait(began + _WORK * moment - time.monotonic())
            _cancel_racer(session, number, racers[number])
    for number in range(100):
        for racer, task_id in enumerate(racers):
            session.get(f"race-{racer}-{number}", task_id)
        if number and time.monotonic() > began + _WATCH_S:
            return
        session.wait(_EVERY_S)


def _cancel_racer(session: Session, number: int, task_id: str | None) -> None:
    session.cancel(f"cancel-race-{number}", task_id)
    session.get(f"race-{number}-after", task_id)


_ACK = (
    "sep-2663-cancel-ack-empty-result",
    "sep-2663-result-type-complete-on-tasks-cancel",
)

SCENARIOS = (
    TaskScenario(
        name="tasks/cancellation",
        title="tasks are cancelled early, late, twice, and by what is no cancellation",
        drive=_drive,
        tools=(_TOOL,),
        checks=(
            TaskCheck(
                id="cancel-acknowledged",
                requirements=_ACK,
                sentence="tasks/cancel is acknowledged by an empty result.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="the answer to tasks/cancel of a task that works",
                look=look_at_the_cancel,
                official=(
                    "sep-2663-cancel-ack-empty-result",
                    "tasks-result-type-complete-on-non-task-responses",
                ),
                broken=(
                    "tasks-cancel-ack-task",
                    "tasks-cancel-no-result-type",
                    "tasks-cancel-type-task",
                    "tasks-cancel-refused",
                ),
            ),
            TaskCheck(
                id="ends-in-time",
                sentence="A task that is cancelled ends within 10 s. (The text lets a "
                "server go on.)",
                page=_SECTION,
                level=Level.POLICY,
                looks_for="a terminal status within 10 s of tasks/cancel, of a task "
                "that would work for minutes",
                look=look_at_the_end,
                official=("sep-2663-cancel-ack-empty-result",),
                broken=("tasks-cancel-ignored",),
            ),
            TaskCheck(
                id="cancelled-has-no-payload",
                requirements=("sep-2663-tasks-get-status-cancelled",),
                sentence="A cancelled task says cancelled, and has neither result nor "
                "error, and asks for nothing.",
                page=sep("task-polling"),
                level=Level.MUST,
                looks_for="the members of a task that is cancelled",
                look=look_at_a_cancelled_task,
                broken=("tasks-cancelled-result", "tasks-cancelled-error"),
            ),
            TaskCheck(
                id="ended-cancel-acknowledged",
                sentence="tasks/cancel of a task that has ended is acknowledged too. "
                "(The text has errors for unknown tasks alone.)",
                page=_SECTION,
                level=Level.POLICY,
                looks_for="the answer to a second tasks/cancel, after the end",
                look=look_at_the_second_cancel,
                official=("tasks-cancel-terminal-idempotent-ack",),
                broken=("tasks-cancel-terminal-error",),
            ),
            TaskCheck(
                id="end-is-final",
                sentence="Whichever wins, the cancellation or the work: an end that "
                "was told once stays.",
                page=sep("task-status"),
                level=Level.MUST,
                looks_for="the status of five tasks in many tasks/get, cancelled at "
                "once, in the middle and at about the end of their work",
                look=look_at_the_races,
                broken=("tasks-cancelled-completes", "tasks-completed-reopens"),
            ),
            TaskCheck(
                id="notification-cancels-nothing",
                requirements=("sep-2663-cancel-not-via-cancelled-notification",),
                sentence="notifications/cancelled is not for tasks: neither for the "
                "call that made one nor for its id.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="the end of a task after two such notifications",
                look=look_at_the_notification,
                broken=("tasks-notified-cancels",),
            ),
            TaskCheck(
                id="closing-cancels-nothing",
                sentence="A client that closes the stream of the call, after the "
                "task was handed out, does not cancel the task.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="the end of a task whose call was answered on a stream",
                look=look_at_closing,
                broken=("tasks-close-cancels",),
            ),
        ),
    ),
)
