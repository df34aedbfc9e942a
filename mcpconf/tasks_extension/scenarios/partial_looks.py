"""What the checks of ``tasks/partial`` look for in a task that asks two things."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    Kind,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.tasks_extension.facts import end_of, requests_of, tasks_told
from mcpconf.tasks_extension.looks import (
    not_taken,
    result_of,
    shown,
    told,
    without_result,
    worst_of,
)
from mcpconf.tasks_extension.scenarios.asking_looks import answered_keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation

#: What the first question is answered with: at first, and once more.
FIRST_ANSWER, SECOND_ANSWER = "the-first-answer", "the-second-answer"
#: What the other questions are answered with.
REST_ANSWER = "the-answer-to-the-rest"
#: No server issues this key by chance.
UNKNOWN_KEY = "mcpconf-never-issued"


def _asked(seen: Observation) -> tuple[Mapping[str, Any], str, str] | Finding:
    """The two questions; the key that is answered, and the one that is left."""
    last = seen.last("asked-")
    if last is None:
        return not_taken("tasks/get")
    if last.result is None:
        return without_result(last)
    requests = requests_of(last.result)
    sent: Any = None if (update := seen["update-first"]) is None else update.sent
    if sent is None:
        return unobserved(f"{last.label}: the task asks for {len(requests)} things")
    key = next(iter(sent["params"]["inputResponses"]))
    return requests, key, next(each for each in requests if each != key)


def _waits(seen: Observation, label: str) -> Finding:
    """At this step the task still waits, for what was not answered."""
    asked = _asked(seen)
    if isinstance(asked, Finding):
        return asked
    task = result_of(seen, label)
    if isinstance(task, Finding):
        return task
    left = asked[2]
    if task.get("status") != "input_required" or left not in requests_of(task):
        keys = ", ".join(requests_of(task)) or "nothing"
        status = shown(task.get("status"))
        return broken(f"{label}: {status}, asks for {keys}; {left} was not answered")
    return holds(f"{label}: {left} is still asked for")


def waits_after(*labels: str) -> Look:
    """At all these steps the task still waits, for what was not answered."""
    return lambda seen: worst_of([_waits(seen, label) for label in labels])


def ignored(label: str) -> Look:
    """An update that has nothing to say was acknowledged, and not refused."""

    def look(seen: Observation) -> Finding:
        exchange = seen[label]
        if exchange is None:
            return not_taken(label)
        if exchange.error is not None:
            return broken(f"{label} was {told(exchange)}, not ignored")
        if exchange.result is None:
            return without_result(exchange)
        return holds(f"{label} was {told(exchange)}")

    return look


def changes_nothing(label: str, before: str, after: str) -> Look:
    """The task waits at `after` as it did at `before`, whatever was sent between."""

    def look(seen: Observation) -> Finding:
        if seen[label] is None:
            return not_taken(label)
        earlier = _waits(seen, before)
        if earlier.kind is not Kind.HOLDS:
            return unobserved(f"before {label}: {earlier.detail}")
        return _waits(seen, after)

    return look


def look_at_the_next_get(seen: Observation) -> Finding:
    """The very next ``tasks/get`` does not offer the answered key."""
    asked = _asked(seen)
    if isinstance(asked, Finding):
        return asked
    task = result_of(seen, "after-first-1")
    if isinstance(task, Finding):
        return task
    key = asked[1]
    if key in requests_of(task):
        return broken(f"{key} was answered, and the very next tasks/get asks it again")
    return holds(f"{key} is gone in the very next tasks/get")


def look_at_reuse(seen: Observation) -> Finding:
    """The answered key is not offered again, once it was gone."""
    task_id = seen.task_id("create")
    if task_id is None:
        return not_taken("update-first")
    return answered_keys(seen, task_id)


def look_at_meanings(seen: Observation) -> Finding:
    """One key, one question: in every answer about the task."""
    meant: dict[str, Any] = {}
    answers = tasks_told(seen, "asked-", "after-", "end-")
    for exchange, task in answers:
        for key, request in requests_of(task).items():
            if meant.setdefault(key, request) != request:
                both = f"{shown(meant[key])} and {shown(request)}"
                return broken(f"{exchange.label}: {key} stands for {both}")
    asking = sum(bool(requests_of(task)) for _, task in answers)
    if asking < 2:  # noqa: PLR2004 (one answer has nothing to agree with)
        return unobserved("the task was not told of twice while it asks")
    return holds(f"{', '.join(meant)}: the same question in {asking} answers")


def look_at_the_end(seen: Observation) -> Finding:
    """When all is answered the task completes."""
    if seen["update-rest"] is None:
        return not_taken("update-rest")
    last = seen.last("end-")
    if last is None or last.result is None:
        return not_taken("tasks/get") if last is None else without_result(last)
    status = last.result.get("status")
    if status != "completed":
        return broken(
            f"{last.label}: all was answered, and the task is {shown(status)}"
        )
    return holds(f"{last.label}: the task is completed")


def _result_at_the_end(seen: Observation) -> tuple[Any, str] | Finding:
    """The result of a task that was answered, and all of it as text."""
    if seen["update-rest"] is None:
        return not_taken("update-rest")
    task = end_of(seen, "end-")
    if isinstance(task, Finding):
        return task
    result = task.get("result")
    return result, json.dumps(result)


def look_at_every_answer(seen: Observation) -> Finding:
    """The answer that came alone counts as that which came last."""
    found = _result_at_the_end(seen)
    if isinstance(found, Finding):
        return found
    result, text = found
    if REST_ANSWER not in text:
        return _does_not_show(result)
    if FIRST_ANSWER not in text and SECOND_ANSWER not in text:
        return broken(f"the first answer is not in the result: {shown(result)}")
    return holds(f"the result has both answers: {shown(result)}")


def look_at_the_first_answer(seen: Observation) -> Finding:
    """What counts is the first answer to a key, not the one that came after it."""
    found = _result_at_the_end(seen)
    if isinstance(found, Finding):
        return found
    result, text = found
    if SECOND_ANSWER in text:
        return broken(f"the result has the second answer: {shown(result)}")
    if FIRST_ANSWER in text:
        return holds(f"the result has the first answer: {shown(result)}")
    return _does_not_show(result)


def _does_not_show(result: object) -> Finding:
    """A tool need not repeat what it was answered."""
    return not_applicable(f"the result does not show the answers: {shown(result)}")
