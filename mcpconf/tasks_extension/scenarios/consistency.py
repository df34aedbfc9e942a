"""Many tasks created at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import Finding, broken, holds, unobserved
from mcpconf.tasks_extension.definition import Level, TaskCheck, TaskScenario, sep
from mcpconf.tasks_extension.facts import text_of
from mcpconf.tasks_extension.looks import name_of, not_taken, shown, told
from mcpconf.tasks_extension.session import is_terminal

if TYPE_CHECKING:
    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.session import Session

_TOOL = "slow_compute"
_TASKS = 50
_ENDING_S = 10.0


def _numbers() -> range:
    return range(1, _TASKS + 1)


def _label(number: int) -> str:
    """No label is a part of another."""
    return f"parallel-{number:02}-of-{_TASKS}"


def _drive(session: Session) -> None:
    """Create fifty at once; each is asked for the moment its id is there."""

    def one(number: int) -> None:
        arguments = {"seconds": 0.5, "label": _label(number)}
        task_id = session.create(f"create-{number}", _TOOL, arguments)
        got = session.get(f"at-once-{number}", task_id)
        if got is not None and not is_terminal(got.result or {}):
            session.poll(f"end-{number}", task_id, at_most_s=_ENDING_S)

    with ThreadPoolExecutor(_TASKS) as pool:
        for each in [pool.submit(one, number) for number in _numbers()]:
            each.result()


def _ids(seen: Observation) -> dict[int, str]:
    ids = {number: seen.task_id(f"create-{number}") for number in _numbers()}
    return {number: each for number, each in ids.items() if each is not None}


def _too_few(ids: dict[int, str]) -> Finding | None:
    """Fewer than were wanted say nothing about many; but two are enough to collide."""
    if not ids:
        return not_taken("tasks/get")
    if len(ids) < _TASKS:
        return unobserved(f"only {len(ids)} of {_TASKS} calls made a task")
    return None


def _look_at_ids(seen: Observation) -> Finding:
    """No two creations got the same id."""
    ids = _ids(seen)
    by_id: dict[str, list[int]] = {}
    for number, each in ids.items():
        by_id.setdefault(each, []).append(number)
    shared = [numbers for numbers in by_id.values() if len(numbers) > 1]
    if shared:
        return broken(f"calls {', '.join(map(str, shared[0]))} were handed one id")
    return _too_few(ids) or holds(f"{len(ids)} creations, {len(by_id)} ids")


def _look_at_once(seen: Observation) -> Finding:
    """Each is found by the request that follows its creation."""
    ids = _ids(seen)
    for number in ids:
        exchange = seen[f"at-once-{number}"]
        if exchange is None or exchange.status is None:
            return unobserved(f"at-once-{number} was not answered")
        if exchange.error is not None:
            return broken(f"{name_of(exchange)} was {told(exchange)}")
        if exchange.result is None or "status" not in exchange.result:
            return unobserved(f"{name_of(exchange)} was {told(exchange)}, and no task")
    return _too_few(ids) or holds(f"{len(ids)} tasks were found at once")


def _look_at_results(seen: Observation) -> Finding:
    """Each result has the label of its own call, and of no other."""
    ids = _ids(seen)
    own = 0
    for number in ids:
        last = seen.last(f"end-{number}-") or seen[f"at-once-{number}"]
        text = text_of((last.result if last is not None else None) or {})
        others = [
            each for each in _numbers() if each != number and _label(each) in text
        ]
        if others:
            what = f"the result of call {others[0]}: {shown(text)}"
            return broken(f"the task of call {number} has {what}")
        own += _label(number) in text
    if own < len(ids):
        return unobserved(f"{own} of {len(ids)} results have the label of their call")
    return _too_few(ids) or holds(f"{own} results, each with its own label")


_SECTION = sep("task-creation")

SCENARIOS = (
    TaskScenario(
        name="tasks/consistency",
        title="fifty tasks are created at the same time",
        drive=_drive,
        tools=(_TOOL,),
        checks=(
            TaskCheck(
                id="ids-are-distinct",
                sentence="Every task has an id of its own.",
                page=sep("tasks"),
                level=Level.MUST,
                looks_for="the ids of fifty tasks created in parallel",
                look=_look_at_ids,
                broken=("tasks-ids-collide",),
            ),
            TaskCheck(
                id="found-at-once",
                requirements=("sep-2663-durable-create-strong-consistency",),
                sentence="A task that was handed out is there, whatever else goes on.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="a tasks/get right after each of fifty creations",
                look=_look_at_once,
                official=("sep-2663-durable-create-strong-consistency",),
                broken=("tasks-late-creation",),
            ),
            TaskCheck(
                id="own-result",
                requirements=("sep-2663-tasks-get-status-completed",),
                sentence="The result of a task is that of its own call.",
                page=sep("task-polling"),
                level=Level.MUST,
                looks_for="the label of each call in the text of its task's result",
                look=_look_at_results,
                broken=("tasks-ids-collide", "tasks-swapped-results"),
            ),
        ),
    ),
)
