"""What the checks of ``tasks/cancellation`` look for in the tasks afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.server.exchange import Form
from mcpconf.supplemental.finding import (
    Finding,
    Kind,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.tasks_extension.facts import end_of, tasks_told
from mcpconf.tasks_extension.looks import (
    acknowledged,
    name_of,
    not_taken,
    result_of,
    shown,
    told,
    without_result,
)
from mcpconf.tasks_extension.session import is_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.tasks_extension.observation import Observation

#: The tasks that nobody cancels by ``tasks/cancel``.
CLOSED, NOTIFIED = "closed", "notified"
_PAYLOADS = ("result", "error", "inputRequests")


def _granted(seen: Observation, label: str) -> Finding:
    """A request was answered by a result, and by no error."""
    exchange = seen[label]
    if exchange is None:
        return not_taken(label)
    if exchange.error is not None:
        return broken(f"{name_of(exchange)} was {told(exchange)}")
    if exchange.result is None:
        return without_result(exchange)
    return holds(f"{name_of(exchange)} was {told(exchange)}")


def look_at_the_cancel(seen: Observation) -> Finding:
    """A task that was there a moment ago was cancelled, and that was acknowledged."""
    task = result_of(seen, "working")
    if isinstance(task, Finding):
        return task
    finding = _granted(seen, "cancel")
    return acknowledged("cancel")(seen) if finding.kind is Kind.HOLDS else finding


def look_at_the_second_cancel(seen: Observation) -> Finding:
    """A task that had ended was cancelled, and that was acknowledged."""
    ended = end_of(seen, "stopped-")
    return ended if isinstance(ended, Finding) else _granted(seen, "cancel-again")


def look_at_the_end(seen: Observation) -> Finding:
    """The task that was cancelled has ended, anyhow."""
    cancel = result_of(seen, "cancel")
    if isinstance(cancel, Finding):
        return cancel
    last = seen.last("stopped-")
    if last is None:
        return not_taken("tasks/get")
    if last.result is None:
        return without_result(last)
    status = shown(last.result.get("status"))
    if not is_terminal(last.result):
        return broken(f"{last.label}: the task is {status}, long after tasks/cancel")
    return holds(f"{last.label}: the task is {status}")


def look_at_a_cancelled_task(seen: Observation) -> Finding:
    """A cancelled task has no payload."""
    cancelled = [
        (exchange, task)
        for exchange, task in tasks_told(seen, "stopped-", "race-")
        if task["status"] == "cancelled"
    ]
    for exchange, task in cancelled:
        extra = [each for each in _PAYLOADS if each in task]
        if extra:
            return broken(f"{exchange.label}: cancelled, with {', '.join(extra)}")
    if not cancelled:
        return unobserved("no task was seen cancelled; a server may let them end")
    return holds(f"{len(cancelled)} answers say cancelled, none with a payload")


def look_at_the_races(seen: Observation) -> Finding:
    """No task that had ended was seen in another state later."""
    ended: dict[str, Mapping[str, Any]] = {}
    again = 0
    for exchange, task in tasks_told(seen, "race-"):
        racer = exchange.label.rpartition("-")[0]
        before = ended.get(racer)
        if before is None:
            if is_terminal(task):
                ended[racer] = task
            continue
        again += 1
        if task["status"] != before["status"]:
            both = f"{shown(task['status'])} after {shown(before['status'])}"
            return broken(f"{exchange.label}: {both}")
    if not again:
        return unobserved("no task was seen to end, and asked for again")
    ends = ", ".join(str(task["status"]) for task in ended.values())
    return holds(f"{len(ended)} ends stayed in {again} answers: {ends}")


def look_at_the_notification(seen: Observation) -> Finding:
    """``notifications/cancelled`` was sent, and the task was not cancelled."""
    sent = seen.labelled("notify-")
    if not sent:
        return not_taken("notifications/cancelled")
    silent = [each for each in sent if each.status is None]
    if silent:
        return unobserved(f"{name_of(silent[0])} was {told(silent[0])}")
    statuses = ", ".join(str(each.status) for each in sent)
    return _was_not_cancelled(seen, NOTIFIED, f"notifications/cancelled ({statuses})")


def look_at_closing(seen: Observation) -> Finding:
    """The stream of the call was closed, and the task was not cancelled."""
    created = seen[f"create-{CLOSED}"]
    if created is None:
        return not_taken(f"create-{CLOSED}")
    if seen.task_id(created.label) is not None and created.form is not Form.SSE:
        return not_applicable("the call was answered without a stream")
    return _was_not_cancelled(seen, CLOSED, "the stream of its call was closed")


def _was_not_cancelled(seen: Observation, name: str, after: str) -> Finding:
    task = end_of(seen, f"end-{name}-")
    if isinstance(task, Finding):
        return task
    status = task["status"]
    if status == "cancelled":
        return broken(f"the task is cancelled: {after}")
    return holds(f"the task is {status}: {after}")
