"""What the checks of ``tasks/notifications`` look for on the listen stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.server.exchange import How
from mcpconf.supplemental.finding import Finding, broken, holds, unobserved, unsupported
from mcpconf.tasks_extension.facts import differences, end_of, tasks_told
from mcpconf.tasks_extension.looks import (
    METHOD_NOT_FOUND,
    name_of,
    not_taken,
    shown,
    told,
)
from mcpconf.tasks_extension.session import is_terminal, result_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.server.exchange import Exchange
    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation

    Message = Mapping[str, Any]

ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
TOLD = "notifications/tasks"
LISTEN = "listen"
#: Tasks of the drive: two that are listened to, and one that is not.
WAITING, RUNNING, STRANGER = "waiting", "running", "stranger"

#: What is no news that anybody would have to ask for: two that have checks of their
#: own, and the way in which a server may end a subscription.
_NO_NEWS = frozenset(
    {
        *(ACKNOWLEDGED, "notifications/cancelled"),
        *("notifications/progress", "notifications/message"),
    }
)
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_PAYLOADS = {
    "completed": "result",
    "failed": "error",
    "input_required": "inputRequests",
}
_REQUIRED = ("taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs")
#: Of the envelope; and what has checks of its own.
_NOT_COMPARED = frozenset({"_meta", "resultType", "taskId", "task", "requestState"})
#: May change from answer to answer (SEP-2663, Task); only what stays can be compared.
_HINTS = ("ttlMs", "pollIntervalMs")
_COMPARABLE = 2


def _stream(seen: Observation, label: str = LISTEN) -> Exchange | Finding:
    """The listen stream, or why there is nothing to be seen of it."""
    exchange = seen[label]
    if exchange is None:
        return not_taken(label)
    if exchange.error_code == METHOD_NOT_FOUND:
        return unsupported(f"{name_of(exchange)} was {told(exchange)}")
    if exchange.status is None or exchange.error is not None:
        return unobserved(f"{name_of(exchange)} was {told(exchange)}")
    return exchange


def _messages(exchange: Exchange) -> list[Message]:
    messages = [each.message for each in exchange.received]
    return [each for each in messages if isinstance(each, dict) and "method" in each]


def is_about_a_task(message: Message) -> bool:
    """Whether a message tells of a task, under whichever name of the family."""
    return str(message.get("method")).startswith(TOLD)


def params_of(message: Message) -> Mapping[str, Any]:
    """The parameters of a message; empty where they are no object."""
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def agreed_ids(exchange: Exchange) -> list[Any] | None:
    """The task ids that the acknowledgement names; None: no acknowledgement came."""
    for message in _messages(exchange):
        if message.get("method") == ACKNOWLEDGED:
            notifications = params_of(message).get("notifications")
            ids = notifications.get("taskIds") if isinstance(notifications, dict) else 0
            return ids if isinstance(ids, list) else []
    return None


def _agreed(exchange: Exchange) -> list[Any]:
    return agreed_ids(exchange) or []


def _listened(seen: Observation) -> list[str]:
    ids = [seen.task_id(f"create-{each}") for each in (WAITING, RUNNING)]
    return [each for each in ids if each is not None]


def _all_told(seen: Observation) -> tuple[Exchange, list[Message]] | Finding:
    """The stream, and every message on it that tells of a task."""
    exchange = _stream(seen)
    if isinstance(exchange, Finding):
        return exchange
    messages = [each for each in _messages(exchange) if is_about_a_task(each)]
    if not messages and agreed_ids(exchange) is None:
        return unobserved(
            "nothing came on the listen stream, no acknowledgement either"
        )
    if not messages and not _agreed(exchange):
        return unsupported("the acknowledgement names no task, and none was told of")
    return exchange, messages


def _of_each(problem_of: Look, nothing: str = "no task was told of") -> Look:
    """`problem_of` sees the stream only where something was told on it."""

    def look(seen: Observation) -> Finding:
        found = _all_told(seen)
        if isinstance(found, Finding):
            return found
        return problem_of(seen) if found[1] else unobserved(nothing)

    return look


def _told_messages(seen: Observation) -> list[Message]:
    found = _all_told(seen)
    return [] if isinstance(found, Finding) else found[1]


def was_acknowledged(seen: Observation) -> Finding:
    """The good use: to listen with the declaration was acknowledged."""
    exchange = _stream(seen)
    if isinstance(exchange, Finding):
        return exchange
    said = f"{name_of(exchange)}, with the declaration,"
    if agreed_ids(exchange) is None:
        return unobserved(f"{said} was not acknowledged")
    return holds(f"{said} was acknowledged")


def look_at_the_first(seen: Observation) -> Finding:
    """The acknowledgement is the first message."""
    exchange = _stream(seen)
    if isinstance(exchange, Finding):
        asked = seen[LISTEN]
        refused = asked is not None and asked.error is not None
        if refused and exchange.kind.value == "unobserved":
            return broken(f"{exchange.detail}; it was to be acknowledged")
        return exchange
    methods = [str(each["method"]) for each in _messages(exchange)]
    if not methods:
        return broken("nothing came on the listen stream, no acknowledgement either")
    if methods[0] != ACKNOWLEDGED:
        return broken(f"the first message on the listen stream is {methods[0]}")
    return holds(f"{ACKNOWLEDGED} came first, of {len(methods)} messages")


def look_at_agreed_ids(seen: Observation) -> Finding:
    """What the acknowledgement names was asked for, and what is told of is named."""
    found = _all_told(seen)
    if isinstance(found, Finding):
        return found
    exchange, messages = found
    agreed, asked = _agreed(exchange), _listened(seen)
    foreign = [each for each in agreed if each not in asked]
    if foreign:
        return broken(f"the acknowledgement names {shown(foreign)}, not asked for")
    ids = {str(params_of(each).get("taskId")) for each in messages}
    silent = sorted(each for each in ids if each in asked and each not in agreed)
    if silent:
        return broken(f"told of {shown(silent)}, which no acknowledgement names")
    return holds(f"the acknowledgement names {len(agreed)} of {len(asked)} tasks")


def look_at_subscription_ids(seen: Observation) -> Finding:
    """Each message has the id of the listen request, of the same type."""
    return subscription_ids_on(seen, LISTEN)


def subscription_ids_on(seen: Observation, label: str) -> Finding:
    """The same, on any of the listen streams."""
    exchange = _stream(seen, label)
    if isinstance(exchange, Finding):
        return exchange
    sent: Any = exchange.sent
    messages = [
        each
        for each in _messages(exchange)
        if each["method"] == ACKNOWLEDGED or is_about_a_task(each)
    ]
    for message in messages:
        meta = params_of(message).get("_meta")
        given = meta.get(_SUBSCRIPTION) if isinstance(meta, dict) else None
        if given != sent["id"] or type(given) is not type(sent["id"]):
            method = message["method"]
            return broken(f"{method}: {shown(given)} is not the id {shown(sent['id'])}")
    if not messages:
        return unobserved("nothing came on the listen stream")
    return holds(f"{len(messages)} messages with the id {shown(sent['id'])}")


def _method_name(seen: Observation) -> Finding:
    names = {str(each["method"]) for each in _told_messages(seen)}
    others = sorted(names - {TOLD})
    if others:
        return broken(f"tasks are told of by {', '.join(others)}, not by {TOLD}")
    return holds(f"{len(_told_messages(seen))} messages, all {TOLD}")


def _whole_task(seen: Observation) -> Finding:
    for message in _told_messages(seen):
        task = params_of(message)
        payload = _PAYLOADS.get(str(task.get("status")))
        wanted = (*_REQUIRED, *([payload] if payload else ()))
        unsaid = _unsaid(seen, task.get("status"))
        missing = [each for each in wanted if each not in task and each not in unsaid]
        if missing:
            status = shown(task.get("status"))
            return broken(f"told of a task that is {status}: no {', '.join(missing)}")
    return holds(f"{len(_told_messages(seen))} messages, each with a whole task")


def _unsaid(seen: Observation, status: object) -> set[str]:
    """What ``tasks/get`` does not say either at this status: another check's."""
    tasks = [task for _, task in tasks_told(seen, "asked-", "end-")]
    then = [task for task in tasks if task["status"] == status]
    return {
        *(each for each in _REQUIRED if not any(each in task for task in tasks)),
        *(each for each in _PAYLOADS.values() if then and each not in then[-1]),
    }


def _equal_to_get(seen: Observation) -> Finding:
    compared = 0
    left_out: set[str] = set()
    for name in (WAITING, RUNNING):
        task = end_of(seen, f"end-{name}-")
        if isinstance(task, Finding):
            continue
        passing = _passing(seen, name)
        for said in _ends_told(seen, seen.task_id(f"create-{name}")):
            compared += 1
            left_out |= passing
            # What is missing altogether is another check's.
            lost = {*_PAYLOADS.values(), *_REQUIRED} - said.keys()
            others = [
                each
                for each in differences(said, task)
                if each not in _NOT_COMPARED | passing and each not in lost
            ]
            if others:
                each = others[0]
                values = f"{shown(said.get(each))} and {shown(task.get(each))}"
                return broken(f"{', '.join(others)}: told and got differ ({values})")
    if not compared:
        return unobserved("no end of a task was told of that tasks/get showed too")
    but = f", but for {', '.join(sorted(left_out))}, which change" if left_out else ""
    return holds(f"{compared} ends told exactly as tasks/get gives them{but}")


def _passing(seen: Observation, name: str) -> set[str]:
    """The hints that were not seen to stay the same in all answers about a task."""
    labels = (f"create-{name}", f"asked-{name}-", f"end-{name}-")
    tasks = [task for _, task in tasks_told(seen, *labels)]
    return {
        each
        for each in _HINTS
        if len(tasks) < _COMPARABLE
        or any(task.get(each) != tasks[0].get(each) for task in tasks)
    }


def _ends_told(seen: Observation, task_id: str | None) -> list[Mapping[str, Any]]:
    tasks = [params_of(each) for each in _told_messages(seen)]
    return [
        each for each in tasks if each.get("taskId") == task_id and is_terminal(each)
    ]


def _no_request_state(seen: Observation) -> Finding:
    with_state = [
        each for each in _told_messages(seen) if "requestState" in params_of(each)
    ]
    if with_state:
        status = shown(params_of(with_state[0]).get("status"))
        return broken(f"told of a task that is {status}, with a requestState")
    return holds(f"{len(_told_messages(seen))} messages without requestState")


look_at_method_names = _of_each(_method_name)
look_at_whole_tasks = _of_each(_whole_task)
look_at_equality = _of_each(_equal_to_get)
look_at_request_state = _of_each(_no_request_state)


def _lost(seen: Observation, exchange: Exchange) -> Finding | None:
    """That the stream did not last until all was over, and shows nothing by silence."""
    polls = [seen.last(f"end-{name}-") for name in (WAITING, RUNNING, STRANGER)]
    over_ms = max((each.t1_ms for each in polls if each is not None), default=0.0)
    ends = [_ends_told(seen, each) for each in _listened(seen)]
    if exchange.how is How.CLOSED_BY_US:
        is_whole = exchange.t1_ms >= over_ms
    else:
        # By a server that says that this is all; not by one that just hangs up.
        is_answered = exchange.how is How.COMPLETE and result_in(exchange) is not None
        is_whole = is_answered and (all(ends) or exchange.t1_ms >= over_ms)
    if is_whole:
        return None
    how = exchange.problem or f"{exchange.how.value}, without a response"
    return unobserved(f"the listen stream was over before the tasks were: {how}")


def _ended_before(seen: Observation, name: str) -> Finding | None:
    """That a task was over before the stream was open: it had no end to be told of."""
    last = seen.last(f"asked-{name}-")
    task = result_in(last)
    if last is None or task is None or not is_terminal(task):
        return None
    return unobserved(
        f"{last.label}: the task was {task['status']} before anybody listened"
    )


def never_on_the_stream(method: str) -> Look:
    """No such message on the listen stream, all the life of two tasks."""

    def look(seen: Observation) -> Finding:
        found = _all_told(seen)
        if isinstance(found, Finding):
            return found
        methods = [str(each["method"]) for each in _messages(found[0])]
        if method in methods:
            number = methods.index(method) + 1
            return broken(f"message {number} on the listen stream is {method}")
        if not isinstance(end_of(seen, f"end-{WAITING}-"), dict):
            return unobserved("no task ended while the stream was open")
        lost = _ended_before(seen, WAITING) or _lost(seen, found[0])
        if lost is not None:
            return lost
        return holds(f"{len(methods)} messages on the listen stream, none is {method}")

    return look


def look_at_strangers(seen: Observation) -> Finding:
    """Nothing is told that was not asked for: no other task, and no other kind."""
    found = _all_told(seen)
    if isinstance(found, Finding):
        return found
    kinds = [
        str(each["method"])
        for each in _messages(found[0])
        if not is_about_a_task(each) and each["method"] not in _NO_NEWS
    ]
    if kinds:
        return broken(f"told of by {', '.join(kinds)}, which was not asked for")
    asked = _listened(seen)
    ids = {str(params_of(each).get("taskId")) for each in found[1]}
    others = sorted(ids - set(asked))
    if others:
        return broken(f"told of {shown(others)}, which was not asked for")
    stranger = end_of(seen, f"end-{STRANGER}-")
    if isinstance(stranger, Finding):
        return stranger
    lost = _ended_before(seen, STRANGER) or _lost(seen, found[0])
    if lost is not None:
        return lost
    return holds("another task ended meanwhile, and nothing was told of it")


def look_at_the_end_told(seen: Observation) -> Finding:
    """That an agreed task ended is told."""
    found = _all_told(seen)
    if isinstance(found, Finding):
        return found
    task_id = seen.task_id(f"create-{WAITING}")
    if task_id not in _agreed(found[0]):
        return unobserved("the acknowledgement does not name the task that waits")
    before = _ended_before(seen, WAITING)
    if before is not None:
        return before
    task = end_of(seen, f"end-{WAITING}-")
    if isinstance(task, Finding):
        return task
    if not _ends_told(seen, task_id):
        status = shown(task.get("status"))
        return broken(f"the task has ended ({status}), and the listener was not told")
    return holds("the end of the task was told")
