"""What the checks of ``tasks/input`` look for in the tasks that ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import Finding, broken, holds, unobserved
from mcpconf.tasks_extension.facts import requests_of, tasks_told
from mcpconf.tasks_extension.good_use import given
from mcpconf.tasks_extension.looks import (
    MISSING_CAPABILITY,
    name_of,
    not_taken,
    shown,
    told,
    without_result,
    worst_of,
)
from mcpconf.tasks_extension.session import TERMINAL, result_in, task_id_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.server.exchange import Exchange
    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation

#: The task that is answered by accepting, and the one that may not ask.
ACCEPTED, SILENT = "accept", "silent"
#: The task that is cancelled while it waits.
CANCELLED = "waiting"
_KINDS = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})
#: May be asked for without parameters (schema, ListRootsRequest).
_BARE = "roots/list"


def _first_asking(seen: Observation) -> Mapping[str, Any] | Finding:
    """The task as it is when it first waits for input."""
    for _, task in tasks_told(seen, f"{ACCEPTED}-1-"):
        if task["status"] == "input_required":
            return task
    last = seen.last(f"{ACCEPTED}-1-")
    if last is None:
        return not_taken("tasks/get")
    told_last = result_in(last)
    if told_last is None:
        return without_result(last)
    status = shown(told_last.get("status"))
    return unobserved(f"{last.label}: the task asks for nothing, it is {status}")


def look_at_map(seen: Observation) -> Finding:
    """``inputRequests`` is a map with something in it."""
    task = _first_asking(seen)
    if isinstance(task, Finding):
        return task
    requests = task.get("inputRequests")
    if not isinstance(requests, dict) or not requests:
        return broken(f"inputRequests of a task that asks is {shown(requests)}")
    return holds(f"inputRequests has {len(requests)}: {', '.join(requests)}")


def look_at_requests(seen: Observation) -> Finding:
    """Every request has a method of MRTR, and parameters."""
    task = _first_asking(seen)
    if isinstance(task, Finding):
        return task
    requests = requests_of(task)
    for key, request in requests.items():
        if not isinstance(request, dict) or request.get("method") not in _KINDS:
            return broken(f"{key}: {shown(request)} is no request for input")
        params = request.get("params")
        if not isinstance(params, dict) and request["method"] != _BARE:
            return broken(f"{key}: params is {shown(params)}")
    if not requests:
        return unobserved("inputRequests is no map with anything in it")
    methods = sorted({str(each["method"]) for each in requests.values()})
    return holds(f"{len(requests)} requests: {', '.join(methods)}")


def asks_without(*members: str) -> Look:
    """No answer about a task that waits for input has any of these members."""

    def look(seen: Observation) -> Finding:
        asking = [
            (exchange, task)
            for exchange, task in tasks_told(seen, "")
            if task["status"] == "input_required" and _is_get(exchange)
        ]
        for exchange, task in asking:
            found = [each for each in members if each in task]
            if found:
                return broken(f"{exchange.label}: waits, with {', '.join(found)}")
        if not asking:
            return unobserved("no task was seen to wait for input")
        return holds(f"{len(asking)} answers, none with {' or '.join(members)}")

    return look


def _is_get(exchange: Exchange) -> bool:
    """Whether this was a ``tasks/get``."""
    sent: Any = exchange.sent
    return isinstance(sent, dict) and sent.get("method") == "tasks/get"


def look_at_the_cancel(seen: Observation) -> Finding:
    """A task that waited a moment ago was cancelled, and that was acknowledged."""
    last = seen.last(f"{CANCELLED}-1-")
    exchange = seen[f"stop-{CANCELLED}"]
    if last is None or exchange is None:
        return not_taken(f"stop-{CANCELLED}")
    if exchange.error is not None:
        return broken(f"{name_of(exchange)} of a waiting task was {told(exchange)}")
    if result_in(exchange) is None:
        return without_result(exchange)
    return holds(f"{name_of(exchange)} of a waiting task was {told(exchange)}")


def _another_asked(seen: Observation) -> Finding:
    """A task of a client that declares what it can be asked for asked for something."""
    for exchange, task in tasks_told(seen, ""):
        if exchange.label.startswith(f"{SILENT}-") or not _is_get(exchange):
            continue
        if task["status"] == "input_required" and requests_of(task):
            return holds(f"{exchange.label}: asks for {', '.join(requests_of(task))}")
    return unobserved("no task of this server was seen to ask for anything")


def _asks_for_nothing(seen: Observation) -> Finding:
    exchanges = seen.labelled(f"{SILENT}-")
    if not exchanges:
        return not_taken(SILENT)
    for exchange in exchanges:
        requests = requests_of(result_in(exchange))
        if requests:
            return broken(f"{exchange.label}: asked for {shown(dict(requests))}")
    called = exchanges[0]
    if task_id_of(called) is not None:
        return _watched(seen, exchanges[-1])
    result = result_in(called) or {}
    if called.error_code != MISSING_CAPABILITY and "content" not in result:
        return without_result(called)
    return holds(f"{name_of(called)} was {told(called)}, without a task")


#: Nothing is asked of a client that declares no kind of input, by a server that asks.
look_at_kinds = given(_another_asked, _asks_for_nothing)


def _watched(seen: Observation, last: Exchange) -> Finding:
    """A task was made that did not ask for anything as long as it was watched."""
    tasks = [each for each in tasks_told(seen, f"{SILENT}-") if each[0] is last]
    if not tasks or last.label == f"{SILENT}-0":
        return unobserved(f"{last.label} was {told(last)}, and tells of no task")
    return holds(f"{last.label}: {shown(tasks[0][1]['status'])}, and asks for nothing")


def ends(name: str, statuses: frozenset[str] = TERMINAL) -> Look:
    """A task that was answered came to one of these ends in the time it was given."""

    def look(seen: Observation) -> Finding:
        if seen[f"update-{name}-1"] is None:
            return unobserved("the task asked for nothing that could be answered")
        if _is_shared(seen, f"create-{name}"):
            return unobserved("the task was answered or cancelled as another's too")
        last = seen.last(f"{name}-")
        if last is None:
            return not_taken("tasks/get")
        task = result_in(last)
        if task is None:
            return without_result(last)
        status = task.get("status")
        if status not in statuses:
            return broken(f"{last.label}: the task is {shown(status)} after its answer")
        return holds(f"{last.label}: the task is {status}")

    return look


def _is_shared(seen: Observation, label: str) -> bool:
    """Whether another call was handed the same task: a fault, but another check's."""
    calls = (*seen.labelled("create-"), *seen.labelled(f"{SILENT}-0"))
    others = {task_id_of(each) for each in calls if each.label != label}
    return seen.task_id(label) in others


def look_at_reuse(seen: Observation) -> Finding:
    """After an answer, its key stands for nothing new; of every task of the drive."""
    updates = seen.labelled("update-")
    ids = dict.fromkeys(_task_of(each) for each in updates)
    findings = [answered_keys(seen, task_id) for task_id in ids]
    return worst_of(findings) if findings else unobserved("no key was answered")


def answered_keys(seen: Observation, task_id: str) -> Finding:
    """
    Whether a key of this task was used again after its answer.

    It was, if it asks for something else than before, or comes back after having been
    gone. That it stays for a while is no use: an answer may take its time.
    """
    asked: Mapping[str, Any] = {}
    answered: dict[str, Any] = {}
    gone: set[str] = set()
    later = 0
    for exchange in seen.exchanges:
        result = result_in(exchange)
        if _task_of(exchange) != task_id or result is None:
            continue
        if exchange.label.startswith("update-"):
            sent: Any = exchange.sent
            keys = sent["params"]["inputResponses"]
            answered |= {key: asked[key] for key in keys if key in asked}
            continue
        asked = requests_of(result)
        later += bool(answered) and "status" in result
        for key in asked.keys() & answered.keys():
            if key in gone or asked[key] != answered[key]:
                what = shown(asked[key])
                return broken(f"{exchange.label}: {key} was answered, and asks {what}")
        gone |= answered.keys() - asked.keys()
    if not answered or not later:
        return unobserved("no key was answered, or the task was not told of again")
    return holds(f"{', '.join(answered)}: answered, and not used again")


def _task_of(exchange: Exchange) -> str:
    """The task that a request is about; empty where it is about none."""
    sent: Any = exchange.sent
    params = sent.get("params") if isinstance(sent, dict) else None
    return str(params.get("taskId", "")) if isinstance(params, dict) else ""
