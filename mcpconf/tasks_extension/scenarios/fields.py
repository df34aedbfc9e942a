"""
The members of a task, in the answer that hands it out and in those of ``tasks/get``.

Each look is given every task that is to be looked at; the first that is wrong is what
is found, and of none at all nothing is said to hold.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeAlias

from mcpconf.supplemental.finding import broken, holds, not_applicable, unobserved
from mcpconf.tasks_extension.looks import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcpconf.supplemental.finding import Finding

Tasks: TypeAlias = "Sequence[Mapping[str, Any]]"
FieldLook: TypeAlias = "Callable[[str, Tasks], Finding]"

STATUSES = ("working", "input_required", "completed", "failed", "cancelled")


def _each(
    problem_of: Callable[[Mapping[str, Any]], str | None],
    said_of: Callable[[Mapping[str, Any]], str],
) -> FieldLook:
    def look(where: str, tasks: Tasks) -> Finding:
        for task in tasks:
            problem = problem_of(task)
            if problem is not None:
                return broken(f"{where}: {problem}")
        if not tasks:
            return unobserved(f"{where} told of no task")
        return holds(f"{where}: {said_of(tasks[-1])}")

    return look


def _member(name: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda task: f"{name} is {shown(task.get(name))}"


def has_no(*names: str) -> FieldLook:
    """No task has any of these members."""

    def problem_of(task: Mapping[str, Any]) -> str | None:
        found = [name for name in names if name in task]
        return f"has {', '.join(found)}" if found else None

    return _each(problem_of, lambda _: f"no {', '.join(names)}")


def _status_problem(task: Mapping[str, Any]) -> str | None:
    status, message = task.get("status"), task.get("statusMessage", "")
    if status not in STATUSES:
        return f"status is {shown(status)}"
    return None if isinstance(message, str) else f"statusMessage is {shown(message)}"


def _time_problem(task: Mapping[str, Any]) -> str | None:
    for name in ("createdAt", "lastUpdatedAt"):
        if not is_timestamp(task.get(name)):
            return f"{name} is {shown(task.get(name))}"
    return None


def is_timestamp(value: object) -> bool:
    """Whether a value is a text with a date and a time in ISO 8601."""
    if not isinstance(value, str) or "T" not in value:
        return False
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def is_whole(value: object) -> bool:
    """Whether a value is a whole number that is not negative."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _ttl_problem(task: Mapping[str, Any]) -> str | None:
    if "ttl" in task:
        return "has ttl, the name of 2025-11-25"
    if "ttlMs" not in task:
        return "has no ttlMs"
    told = task["ttlMs"]
    return None if told is None or is_whole(told) else f"ttlMs is {shown(told)}"


has_known_status = _each(_status_problem, _member("status"))
has_timestamps = _each(_time_problem, _member("createdAt"))
has_ttl = _each(_ttl_problem, _member("ttlMs"))


def has_interval(where: str, tasks: Tasks) -> Finding:
    """``pollIntervalMs`` is right where it is there; a task need not have it."""
    for task in tasks:
        if "pollInterval" in task:
            return broken(f"{where}: has pollInterval, the name of 2025-11-25")
        told = task.get("pollIntervalMs", 0)
        if not is_whole(told):
            return broken(f"{where}: pollIntervalMs is {shown(told)}")
    if not any("pollIntervalMs" in task for task in tasks):
        return not_applicable(f"{where} has no pollIntervalMs, which is optional")
    return holds(f"{where}: pollIntervalMs is {shown(tasks[-1].get('pollIntervalMs'))}")
