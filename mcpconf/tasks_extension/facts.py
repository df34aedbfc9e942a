"""What is known of a task from the steps of a drive: what was told of it, and when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import unobserved
from mcpconf.tasks_extension.looks import not_taken, shown, without_result
from mcpconf.tasks_extension.session import is_terminal, result_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.server.exchange import Exchange
    from mcpconf.supplemental.finding import Finding
    from mcpconf.tasks_extension.observation import Observation

    Task = Mapping[str, Any]

#: Members that may differ between two answers about the same state.
_PASSING = frozenset({"_meta", "resultType", "requestState", "ttlMs", "pollIntervalMs"})


def tasks_told(seen: Observation, *prefixes: str) -> list[tuple[Exchange, Task]]:
    """Every task among the results of these steps, in the order they ended."""
    return [
        (each, result)
        for each in seen.exchanges
        if each.label.startswith(prefixes)
        and (result := result_in(each)) is not None
        and isinstance(result.get("status"), str)
    ]


def end_of(seen: Observation, prefix: str) -> Task | Finding:
    """The terminal state that a poll ended with, or the finding that there is none."""
    last = seen.last(prefix)
    if last is None:
        return not_taken(prefix.rstrip("-"))
    task = result_in(last)
    if task is None:
        return without_result(last)
    if "status" not in task:
        return unobserved(f"{last.label}: no task, but {shown(dict(task))}")
    if not is_terminal(task):
        status = shown(task.get("status"))
        return unobserved(f"{last.label}: the task has not ended, it is {status}")
    return task


def requests_of(task: Task | None) -> Mapping[str, Any]:
    """What a task asks for, by key; empty also where that is no map."""
    requests = (task or {}).get("inputRequests")
    return requests if isinstance(requests, dict) else {}


def is_asking(task: Task) -> bool:
    """Whether a task waits for input, or will ask for nothing more."""
    return task.get("status") == "input_required" or is_terminal(task)


def state_of(task: Task) -> dict[str, Any]:
    """What an ended task may never change: all but hints and the envelope."""
    return {name: value for name, value in task.items() if name not in _PASSING}


def differences(one: Task, other: Task) -> list[str]:
    """The names of the members in which two tasks differ."""
    return sorted(
        name
        for name in one.keys() | other.keys()
        if (name in one) != (name in other) or one.get(name) != other.get(name)
    )


def text_of(task: Task) -> str:
    """All text of a completed task's result."""
    result = task.get("result")
    content = result.get("content") if isinstance(result, dict) else None
    if not isinstance(content, list):
        return ""
    texts = [each.get("text") for each in content if isinstance(each, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def accepted(request: object, text: str) -> dict[str, Any]:
    """
    The answer of a user who accepts a request, with `text` in every place for text.

    Its content is what the request's schema asks for; sampling is answered with `text`.
    """
    method = request.get("method") if isinstance(request, dict) else None
    if method == "sampling/createMessage":
        content = {"type": "text", "text": text}
        return {"role": "assistant", "content": content, "model": "none"}
    if method == "roots/list":
        return {"roots": []}
    params = request.get("params") if isinstance(request, dict) else None
    schema = params.get("requestedSchema") if isinstance(params, dict) else None
    properties = schema.get("properties") if isinstance(schema, dict) else None
    known = properties if isinstance(properties, dict) else {"confirm": {}}
    filled = {name: _value(each, text) for name, each in known.items()}
    return {"action": "accept", "content": filled}


def _value(schema: object, text: str) -> object:
    """A value of a form's field."""
    members = schema if isinstance(schema, dict) else {}
    choices = members.get("enum")
    if isinstance(choices, list) and choices:
        return choices[0]
    kind = members.get("type", "boolean")
    if kind in {"integer", "number"}:
        return members.get("minimum", 1)
    return text if kind == "string" else True
