"""Tasks as the wire shows them: declared, handed out, and what came of them."""

from __future__ import annotations

import binascii
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    unobserved,
    unsupported,
)
from mcpconf.supplemental.looks import got_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpconf.supplemental.observation import Observation, Seen
    from mcpconf.supplemental.scenario import Look

    LookAtTask = Callable[[Observation, "Handed"], Finding]

EXTENSION = "io.modelcontextprotocol/tasks"
PAGE = "https://modelcontextprotocol.io/seps/2663-tasks-extension"
GET, UPDATE, CANCEL = "tasks/get", "tasks/update", "tasks/cancel"
ENDS = frozenset({"completed", "failed", "cancelled"})
_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_SHOWN = 300
_OPEN, _CLOSE = "=?base64?", "?="


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """A task that the server handed out."""

    id: str
    #: The call that became the task.
    call: Seen
    #: Its answer, which is the task's first word.
    created: Seen


def declares(request: Seen) -> bool:
    """Whether a request declares the extension."""
    capabilities = request.meta.get(_CAPABILITIES)
    extensions = (
        capabilities.get("extensions") if isinstance(capabilities, dict) else None
    )
    return isinstance(extensions, dict) and isinstance(extensions.get(EXTENSION), dict)


def undeclared(seen: Observation) -> Finding | None:
    """Why nothing can be said of tasks; None where a call declares the extension."""
    calls = seen.subject.requests("tools/call")
    if not calls:
        return unobserved("no call of the client is on the wire")
    if any(declares(each) for each in calls):
        return None
    said = json.dumps(calls[-1].meta.get(_CAPABILITIES), ensure_ascii=False)
    return unsupported(
        f"no call of the client declares {EXTENSION}; its clientCapabilities: "
        f"{said[:_SHOWN]}"
    )


def of_declaring(look: Look) -> Look:
    """Look only at a client that declares the extension."""

    def looked(seen: Observation) -> Finding:
        return undeclared(seen) or look(seen)

    return looked


def answered(seen: Observation, request: Seen) -> dict[str, Any]:
    """The result that a request got; empty where it got none."""
    answer = seen.subject.answer_to(request)
    result = answer.result if answer else None
    return result if isinstance(result, dict) else {}


def tasks(seen: Observation, *tools: str) -> tuple[Handed, ...]:
    """The tasks that were handed out, of these tools or of all."""
    found = []
    for call in seen.subject.requests("tools/call"):
        created = seen.subject.answer_to(call)
        result = answered(seen, call)
        if (
            created is not None
            and result.get("resultType") == "task"
            and (not tools or call.params.get("name") in tools)
        ):
            found.append(Handed(id=result["taskId"], call=call, created=created))
    return tuple(found)


def of_task(tool: str, look: LookAtTask) -> Look:
    """Look at the task that a tool's call became."""

    def looked(seen: Observation) -> Finding:
        handed = tasks(seen, tool)
        if handed:
            return look(seen, handed[0])
        if not seen.subject.calls(tool):
            return unobserved(f"{tool} was not called")
        return unobserved(f"the call of {tool} did not become a task")

    return of_declaring(looked)


def about(seen: Observation, task: Handed, *methods: str) -> tuple[Seen, ...]:
    """The client's requests about one task, in order."""
    return tuple(
        each
        for each in seen.subject.requests(*(methods or (GET, UPDATE, CANCEL)))
        if each.params.get("taskId") == task.id
    )


def gives(step: str, tool: str, text: str) -> Look:
    """The call of a tool that became a task gave the host exactly this text."""
    return of_task(tool, lambda seen, _task: got_text(step, text)(seen))


def has_headers(*methods: str, tools: tuple[str, ...]) -> Look:
    """Requests about the tasks of these tools name method and task in their headers."""

    def look(seen: Observation) -> Finding:
        requests = [
            each for task in tasks(seen, *tools) for each in about(seen, task, *methods)
        ]
        if not requests:
            return unobserved(f"no {' or '.join(methods)} is on the wire")
        for each in requests:
            problem = _header_fault(seen, each)
            if problem is not None:
                return broken(f"{each.method}: {problem}")
        return holds(f"every one names its method and its task ({len(requests)})")

    return of_declaring(look)


def _header_fault(seen: Observation, request: Seen) -> str | None:
    exchange = seen.subject.exchange_of(request)
    if exchange is None:
        return "came in no exchange"
    method, name = exchange.header("mcp-method"), exchange.header("mcp-name")
    if method != request.method:
        return f"Mcp-Method is {method!r}"
    if name is None:
        return "there is no Mcp-Name, or more than one"
    if decoded(name) != request.params["taskId"]:
        return f"Mcp-Name is {name!r}; the task is {request.params['taskId']!r}"
    return None


def decoded(value: str) -> str | None:
    """What a mirrored header's value stands for; None: nothing."""
    if not (value.startswith(_OPEN) and value.endswith(_CLOSE)):
        return value if value.isascii() else None
    try:
        data = binascii.a2b_base64(
            value[len(_OPEN) : -len(_CLOSE)].encode(), strict_mode=True
        )
        return data.decode()
    except ValueError:
        return None
