"""The times of a task: when it was created and changed, and how long it is there."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import Finding, broken, holds, unobserved
from mcpconf.tasks_extension.definition import Level, TaskCheck, TaskScenario, sep
from mcpconf.tasks_extension.facts import end_of, tasks_told
from mcpconf.tasks_extension.looks import INVALID_PARAMS, not_taken, shown, told
from mcpconf.tasks_extension.session import is_terminal, result_in

if TYPE_CHECKING:
    from mcpconf.server.exchange import Exchange
    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.session import Session

_TOOL = "slow_compute"
#: Longer than the coarsest clock that is likely.
_WORK = 1.2
#: What the official suite waits after the end, and a little.
_AFTER_S = 0.6


def _drive(session: Session) -> None:
    """Let a task end, and ask for it again: at once, and for a while."""
    task_id = session.create("create", _TOOL, {"seconds": _WORK, "label": "kept"})
    session.poll("end", task_id)
    session.get("again", task_id)
    over_at = time.monotonic() + _AFTER_S
    session.poll(
        "later", task_id, lambda _: time.monotonic() >= over_at, at_most_s=2 * _AFTER_S
    )


def _look(seen: Observation) -> Finding:
    """Every request that fell into the life of the task was answered with it."""
    created = seen["create"]
    task = seen.result("create")
    if created is None or task is None or seen.task_id("create") is None:
        return not_taken("tasks/get")
    ended = end_of(seen, "end-")
    if isinstance(ended, Finding):
        return ended
    gets = [each for each in (seen["again"], *seen.labelled("later-")) if each]
    ttl = f"ttlMs is {shown(task.get('ttlMs'))}"
    inside = [each for each in gets if _is_inside(each, created, task.get("ttlMs"))]
    for exchange in inside:
        if exchange.error_code == INVALID_PARAMS:
            after_ms = round(exchange.t0_ms - created.t0_ms)
            return broken(f"{told(exchange)}, {after_ms} ms after its creation, {ttl}")
    if not inside:
        return unobserved(f"{ttl}: no time to ask again")
    # A server that does not answer for another reason says nothing about the task.
    found = sum(result_in(each) is not None for each in inside)
    if not found:
        return unobserved(f"{ttl}; {inside[0].label} was {told(inside[0])}")
    return holds(f"{ttl}; found {found} times more")


def _is_inside(exchange: Exchange, created: Exchange, ttl_ms: object) -> bool:
    """
    Whether a request had its answer within the life of the task.

    The task is no older than the request that made it, by our own clock. What is no
    number of milliseconds is another check's; it says nothing against the task's life.
    """
    if isinstance(ttl_ms, bool) or not isinstance(ttl_ms, (int, float)):
        return True
    return exchange.t1_ms <= created.t0_ms + ttl_ms


def _look_at_creation_times(seen: Observation) -> Finding:
    """One ``createdAt``, whatever happens to the task."""
    answers = tasks_told(seen, "create", "end-", "again", "later-")
    times = list(dict.fromkeys(shown(task.get("createdAt")) for _, task in answers))
    if len(times) > 1:
        return broken(f"createdAt is {times[0]}, and then {times[1]}")
    if not isinstance(end_of(seen, "end-"), dict):
        return unobserved("the task was not seen to end")
    return holds(f"createdAt is {times[0]} in {len(answers)} answers")


def _look_at_update_times(seen: Observation) -> Finding:
    """``lastUpdatedAt`` is another one when the task has ended."""
    task = seen.result("create")
    if task is None or seen.task_id("create") is None:
        return not_taken("tasks/get")
    ended = end_of(seen, "end-")
    if isinstance(ended, Finding):
        return ended
    before, after = task.get("lastUpdatedAt"), ended.get("lastUpdatedAt")
    if is_terminal(task):
        return unobserved("the task had ended when it was handed out")
    if not (_is_time(before) and _is_time(after)):
        return unobserved(f"lastUpdatedAt is {shown(before)}, and then {shown(after)}")
    if before == after:
        return broken(f"lastUpdatedAt is {shown(after)}, as before the task ended")
    return holds(f"lastUpdatedAt was {shown(before)}, and is {shown(after)}")


def _is_time(value: object) -> bool:
    """Whether this is a point in time; what is none is another check's."""
    try:
        datetime.fromisoformat(str(value))
    except ValueError:
        return False
    return True


SCENARIOS = (
    TaskScenario(
        name="tasks/ttl",
        title="the times of a task that ends and is asked for again for a while",
        drive=_drive,
        tools=(_TOOL,),
        checks=(
            TaskCheck(
                id="there-until-its-ttl",
                sentence="A task is there until ttlMs milliseconds after its creation, "
                "however long ago it ended; for ever where ttlMs is null.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="tasks/get right after the end and for 0.6 s more, as far as "
                "that is within ttlMs",
                look=_look,
                official=("tasks-no-early-ttl-expiry",),
                broken=("tasks-early-expiry",),
            ),
            TaskCheck(
                id="creation-time-stays",
                sentence="createdAt says when the task was created, always the same.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="createdAt in the answer that hands out a task, and in every "
                "tasks/get until after its end",
                look=_look_at_creation_times,
                broken=("tasks-created-changes",),
            ),
            TaskCheck(
                id="update-time-moves",
                sentence="lastUpdatedAt says when the task changed last.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="lastUpdatedAt when the task is handed out, and when it has "
                "ended more than a second later",
                look=_look_at_update_times,
                broken=("tasks-updated-stuck",),
            ),
        ),
    ),
)
