"""``tasks/cancel``, and what is no cancellation of a task."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
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
from mcpconf.tasks_extension.session import is_terminal, task_id_of, task_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.server.exchange import Exchange
    from mcpconf.tasks_extension.session import Session

_SECTION = sep("task-cancellation")
_TOOL = "slow_compute"
#: Longer than any run of this.
_LONG = 300
#: The policy of the official suite.
_ENDING_S = 10.0
#: What is left to tasks whose work should be over.
_REST_S = 5.0
#: What the other tasks take, in seconds of their tool; what is watched after an end.
_WORK, _AFTER_S = 2, 0.6
#: When each racer is cancelled, as a part of what such a task was seen to take.
_MOMENTS = (0.0, 0.5, 0.95, 1.0, 1.05)


def _drive(session: Session) -> None:
    _cancel_one(session)
    closed = session.create(
        f"create-{CLOSED}", _TOOL, _work(CLOSED), meta={"progressToken": CLOSED}
    )
    notified = _notify(session)
    ends = (
        session.poll(f"end-{CLOSED}", closed, at_most_s=_REST_S),
        session.poll(f"end-{NOTIFIED}", notified, at_most_s=_REST_S),
    )
    _race(session, next(filter(None, map(_lasted_s, ends)), float(_WORK)))


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


def _lasted_s(last: Exchange | None) -> float | None:
    """How long a task took by the server's clock; None where it did not complete."""
    task = task_in(last) or {}
    times = (task.get("createdAt"), task.get("lastUpdatedAt"))
    try:
        created, updated = (datetime.fromisoformat(str(each)) for each in times)
        lasted_s = (updated - created).total_seconds()
    except (TypeError, ValueError):
        return None
    is_sound = task.get("status") == "completed" and 0 < lasted_s <= _REST_S
    return lasted_s if is_sound else None


def _race(session: Session, lasts_s: float) -> None:
    """
    Cancel tasks at various moments of their lives, and watch them until it is over.

    The first is cancelled at once, the last ones when their work is about to be done.
    """
    with ThreadPoolExecutor(len(_MOMENTS)) as pool:
        runs = [
            pool.submit(_run, session, number, lasts_s * moment)
            for number, moment in enumerate(_MOMENTS)
        ]
        for run in runs:
            run.result()


def _run(session: Session, number: int, cancelled_after_s: float) -> None:
    task_id = session.create(f"create-race-{number}", _TOOL, _work("racing"))
    session.wait(cancelled_after_s)
    session.cancel(f"cancel-race-{number}", task_id)
    session.poll(f"race-{number}", task_id, _long_ended(), at_most_s=_REST_S)


def _long_ended() -> Callable[[Mapping[str, Any]], bool]:
    """Whether a task was told to have ended some time ago; it may say otherwise now."""
    over_at: float | None = None

    def is_it(task: Mapping[str, Any]) -> bool:
        nonlocal over_at
        if over_at is None and is_terminal(task):
            over_at = time.monotonic() + _AFTER_S
        return over_at is not None and time.monotonic() >= over_at

    return is_it


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
                "once, in the middle and at about the end of their work, by what a "
                "task like them took",
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
