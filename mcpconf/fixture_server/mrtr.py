"""
Tools of 2026-07-28 that need more than one round trip (basic/patterns/mrtr).

A retry is another request: it brings the answers and, exactly as given, the
``requestState``. What is malformed or not ours is refused with -32602; what is missing
is asked for again. A client that declines gets a result that says so, and is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import MISSING_CAPABILITY
from mcpconf.fixture_server.asking import CONFIRMATION, has_form
from mcpconf.fixture_server.call import RpcError, Tool
from mcpconf.fixture_server.results import invalid, structured_result, text_result
from mcpconf.fixture_server.schema import (
    BIG_INTEGER,
    INT64_MAX,
    SAFE_MAX,
    check_names,
    is_integer,
    strict_object,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.options import Limits

    Arguments = Mapping[str, Any]
    Result = dict[str, Any]

_NOTHING = strict_object()
_LABEL = strict_object({"label": {"type": "string"}}, optional=True)
_BIG = {
    "type": "object",
    "properties": {"large_integer": BIG_INTEGER},
    "required": ["large_integer"],
}
_REFUSALS = {"decline": "declined", "cancel": "cancelled"}
#: Rounds begun and not finished that are remembered; the oldest is dropped.
_REMEMBERED = 1024


def mrtr_tools(limits: Limits) -> list[Tool]:
    """The tools, in no particular order."""
    many = tuple(
        f"review-input-{number:02d}" for number in range(limits.input_requests)
    )
    rounds = _Rounds(limits.rounds)
    return [
        _Form("request_input", ("confirmation",)).tool("Asks for a confirmation."),
        _Form("big_elicitation", ("large_integer",), _BIG).tool(
            "Asks for an integer that no double holds."
        ),
        _Form("inputs_bounded", many).tool("Asks for many inputs at once."),
        _Form("no_state", ("confirmation",), state=None).tool(
            "Asks for a confirmation, and keeps no state."
        ),
        Tool(
            name="state_only",
            description="Has the client come back, and asks for nothing.",
            input_schema=_NOTHING,
            handler=_state_only,
        ),
        Tool(
            name="rounds",
            description="Asks for a confirmation several times over.",
            input_schema=_LABEL,
            handler=rounds.handle,
        ),
    ]


def _input_required(
    keys: tuple[str, ...], schema: Mapping[str, Any], state: str | None
) -> Result:
    result: Result = {"resultType": "input_required"}
    if keys:
        result["inputRequests"] = {
            key: {
                "method": "elicitation/create",
                "params": {
                    "mode": "form",
                    "message": f"Please answer {key}.",
                    "requestedSchema": schema,
                },
            }
            for key in keys
        }
    if state is not None:
        result["requestState"] = state
    return result


def _need_form(call: Call) -> None:
    if not has_form(call.session.client_capabilities):
        raise RpcError(
            MISSING_CAPABILITY,
            "Missing required client capability",
            {"requiredCapabilities": {"elicitation": {"form": {}}}},
            status=400,
        )


def _retry(call: Call) -> tuple[dict[str, Any] | None, str | None]:
    """The answers and the state that a retry brings; None and None: a first request."""
    answers, state = call.params.get("inputResponses"), call.params.get("requestState")
    if "inputResponses" in call.params and not isinstance(answers, dict):
        raise invalid("inputResponses is an object")
    if "requestState" in call.params and not isinstance(state, str):
        raise invalid("requestState is a string")
    return answers, state


def _values(answers: Mapping[str, Any], keys: tuple[str, ...], name: str) -> Result:
    """
    The value `name` of each accepted answer, by key; keys not answered are left out.

    :raises RpcError: -32602: an answer that the form does not allow.
    """
    values = {}
    for key in keys:
        if key not in answers:
            continue
        answer = answers[key]
        content = answer.get("content") if isinstance(answer, dict) else None
        value = content.get(name) if isinstance(content, dict) else None
        is_sound = (
            is_integer(value, SAFE_MAX + 2, INT64_MAX)
            if name == "large_integer"
            else isinstance(value, str)
        )
        if not is_sound or answer.get("action") != "accept":
            raise invalid(f"the input response {key} is not what was asked for")
        values[key] = value
    return values


def _refused(answers: Mapping[str, Any], keys: tuple[str, ...]) -> Result | None:
    """The result for a client that declined or cancelled one of the inputs."""
    for key in keys:
        answer = answers.get(key)
        action = answer.get("action") if isinstance(answer, dict) else None
        if isinstance(action, str) and action in _REFUSALS:
            return text_result(_REFUSALS[action], structuredContent={"action": action})
    return None


class _Form:
    """One round: every key is a form of one property, and all are asked at once."""

    def __init__(
        self,
        name: str,
        keys: tuple[str, ...],
        schema: Mapping[str, Any] = CONFIRMATION,
        *,
        state: str | None = "",
    ) -> None:
        self._name = name
        self._keys = keys
        self._schema = schema
        # Opaque to the client, and nothing depends on it: a constant will do.
        self._state = None if state is None else f"fixture-state:{name}"

    def tool(self, description: str) -> Tool:
        return Tool(
            name=self._name,
            description=description,
            input_schema=_NOTHING,
            handler=self._handle,
        )

    async def _handle(self, call: Call, arguments: Arguments) -> Result:
        check_names(_NOTHING, arguments)
        _need_form(call)
        answers, state = _retry(call)
        if answers is None and state is None:
            return _input_required(self._keys, self._schema, self._state)
        if answers is None or state != self._state:
            raise invalid("a retry brings inputResponses, and the requestState it got")
        refused = _refused(answers, self._keys)
        if refused is not None:
            return refused
        name = self._schema["required"][0]
        values = _values(answers, self._keys, name)
        missing = tuple(key for key in self._keys if key not in values)
        if missing:
            # All are asked for again: answers of an earlier retry are not kept.
            return _input_required(self._keys, self._schema, self._state)
        if len(self._keys) == 1:
            return structured_result({name: values[self._keys[0]]})
        return structured_result({"answered": len(values)})


async def _state_only(call: Call, arguments: Arguments) -> Result:
    check_names(_NOTHING, arguments)
    answers, state = _retry(call)
    if answers is None and state is None:
        return _input_required((), {}, "fixture-state:state_only")
    if state != "fixture-state:state_only" or answers:
        raise invalid("the retry brings the requestState it got, and nothing else")
    return structured_result({"resumed": True})


@dataclass(frozen=True, slots=True)
class _Round:
    """An open round: its number, the last request's id, and the call it belongs to."""

    number: int
    request_id: Any
    arguments: Arguments


class _Rounds:
    """Several rounds, each with another state; a state is good for one retry."""

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self._open: dict[str, _Round] = {}
        self._serial = count(1)

    async def handle(self, call: Call, arguments: Arguments) -> Result:
        check_names(_LABEL, arguments)
        if not isinstance(arguments.get("label", ""), str):
            raise invalid("the argument label is a string")
        _need_form(call)
        answers, state = _retry(call)
        if answers is None and state is None:
            return self._ask(1, call, arguments)
        last = self._resume(state, call, arguments)
        if answers is None:
            raise invalid("a retry brings inputResponses")
        keys = (f"round-{last.number}",)
        refused = _refused(answers, keys)
        if refused is not None:
            return refused
        if not _values(answers, keys, "confirmation"):
            return self._ask(last.number, call, arguments)
        if last.number < self._rounds:
            return self._ask(last.number + 1, call, arguments)
        return structured_result({**arguments, "rounds": last.number})

    def _resume(self, state: str | None, call: Call, arguments: Arguments) -> _Round:
        last = None if state is None else self._open.pop(state, None)
        if last is None:
            raise invalid("this requestState is not the last one given")
        if call.id == last.request_id:
            raise invalid("a retry has an id of its own")
        if arguments != last.arguments:
            raise invalid("a retry has the arguments of the first request")
        return last

    def _ask(self, number: int, call: Call, arguments: Arguments) -> Result:
        state = f"fixture-state:rounds:{next(self._serial)}:{number}"
        self._open[state] = _Round(number, call.id, dict(arguments))
        if len(self._open) > _REMEMBERED:
            del self._open[next(iter(self._open))]
        return _input_required((f"round-{number}",), CONFIRMATION, state)
