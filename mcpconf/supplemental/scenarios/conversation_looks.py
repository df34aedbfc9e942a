"""Messages of one step, answers and declarations, as this theme looks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    unobserved,
    unsupported,
)
from mcpconf.supplemental.looks import ended
from mcpconf.supplemental.observation import StepState

if TYPE_CHECKING:
    Json = Any

    from collections.abc import Iterable

    from mcpconf.supplemental.observation import (
        Observation,
        Seen,
        ServerView,
        StepResult,
    )

_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


def during(messages: Iterable[Seen], step: StepResult) -> tuple[Seen, ...]:
    """The messages that were on the wire while the client took a step."""
    return tuple(m for m in messages if step.t0_ms <= m.t_ms <= step.t1_ms)


def is_same_id(one: Json, other: Json) -> bool:
    """Whether two ids are the same, in value and in type."""
    return type(one) is type(other) and bool(one == other)


def declared(seen: Observation) -> dict[str, Any]:
    """The client's capabilities, as it last declared them to the subject server."""
    found: Any = {}
    for request in seen.subject.requests():
        if request.method == "initialize":
            found = request.params.get("capabilities", found)
        else:
            found = request.meta.get(_CAPABILITIES, found)
    return found if isinstance(found, dict) else {}


def closed_ms(view: ServerView, request: Seen) -> float | None:
    """When the client closed the connection that a request came on; None: never."""
    for event in view.of_type("connection"):
        value = event.value
        if (
            value.get("connection") == request.connection
            and value.get("event") == "closed"
            and value.get("by") == "client"
        ):
            return event.t_ms
    return None


def life_of(seen: Observation, request: Seen) -> Json:
    """What a fault may have cost: on stdio the connection, over HTTP the session."""
    exchange = seen.subject.exchange_of(request)
    if exchange is None:
        return request.connection
    return exchange.header("mcp-session-id")


def is_where(seen: Observation, request: Seen, told: Seen) -> bool:
    """
    Whether a later request was made on the connection, or session, that was told.

    Over HTTP without sessions nothing names it: there an opening begins another.
    """
    if request.index < told.index or life_of(seen, request) != life_of(seen, told):
        return False
    return life_of(seen, told) is not None or not any(
        told.index < each.index < request.index
        for each in seen.subject.requests("initialize", "server/discover")
    )


def was_answered(
    seen: Observation, step_id: str, tool: str, *, after: Seen | None = None
) -> Finding:
    """
    Whether a call of a good tool got its own answer, on the wire and for the host.

    For what must leave a connection usable, and what must leave a call unharmed. What
    was answered on another connection than `after` came on says nothing of that one:
    who opens another may have lost it, or may do so out of habit.
    """
    step = seen.step(step_id)
    if step.state is StepState.UNSUPPORTED:
        return unsupported(step.message)
    if step.state is not StepState.OK:
        return broken(f"the call of {tool} {ended(step)}")
    # Of several, the host got the answer to the last.
    for request in reversed(during(seen.subject.calls(tool), step)):
        answer = seen.subject.answer_to(request)
        sent = answer.result if answer else None
        result = step.value.get("result") if isinstance(step.value, dict) else None
        if isinstance(sent, dict) and isinstance(result, dict):
            if after is not None and life_of(seen, request) != life_of(seen, after):
                return unobserved(f"{tool} was called on another connection")
            if result.get("content") == sent.get("content"):
                return holds(f"{tool} was answered, and the host got that answer")
            return broken(f"the host got another result than the answer to {tool}")
    return unobserved(f"no answered call of {tool} is on the wire")
