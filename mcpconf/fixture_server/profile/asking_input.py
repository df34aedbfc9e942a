"""Servers that ask the client, and judge nothing: the wire log is there for that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.fixture_server.asking import CONFIRMATION, has_form
from mcpconf.fixture_server.call import Tool
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.fixture_server.results import text_result
from mcpconf.fixture_server.schema import BIG_INTEGER, strict_object
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.fixture_server.call import Call

    Arguments = Mapping[str, Any]
    Result = dict[str, Any]

_LABEL = strict_object({"label": {"type": "string"}}, optional=True)
#: What a reader that trims, normalises, decodes or unescapes would give back otherwise.
_STATE = 'a state of the fixture: "\\n" %2B+/== e\u0301 \u00e9 \u2028 '
_PLAIN = "fixture-state-{}"
_BIG = {
    "type": "object",
    "properties": {"large_integer": BIG_INTEGER},
    "required": ["large_integer"],
}

_WORDS = {"type": "text", "text": "Say a word."}
_SAMPLE = {
    "method": "sampling/createMessage",
    "params": {"messages": [{"role": "user", "content": _WORDS}], "maxTokens": 16},
}
_ROOTS: Mapping[str, Any] = {"method": "roots/list"}


def _choice(name: str, default: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "default": default}},
        "required": [name],
    }


#: Two inputs at once, whose names no one would choose and whose answers differ.
_PAIR: Mapping[str, Mapping[str, Any]] = {
    "size/gr\u00f6\u00dfe": _choice("size", "large"),
    "1": _choice("colour", "blue"),
}


def _asked(key: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    params = {
        "mode": "form",
        "message": f"Please answer {key}.",
        "requestedSchema": schema,
    }
    return {"method": "elicitation/create", "params": params}


class TrustingInput(Profile):
    """
    Asks in every way of ``basic/patterns/mrtr`` and takes whatever a retry brings.

    A server that refused a bad retry would hide what the client does in the rounds to
    come.
    """

    name = "trusting-input"
    title = "asks for input in every way, and takes whatever the retries bring"
    revisions: ClassVar[frozenset[Revision]] = frozenset({Revision.V2026_07_28})

    def tools(self) -> Sequence[Tool]:
        """One tool for every way to ask."""
        pair = {key: _asked(key, form) for key, form in _PAIR.items()}
        one = {"confirmation": _asked("confirmation", CONFIRMATION)}
        big = {"large_integer": _asked("large_integer", _BIG)}
        rounds = [
            ({f"round-{number}": one["confirmation"]}, _PLAIN.format(number))
            for number in range(1, self.limits.rounds + 1)
        ]
        plain = _PLAIN.format(1)
        return [
            self._tool("ask_pair", [(pair, _STATE)]),
            self._tool("ask_choice", [(one, plain)]),
            self._tool("ask_without_state", [(one, None)]),
            self._tool("ask_with_state_only", [({}, plain)], needs=None),
            self._tool("ask_integer", [(big, plain)]),
            self._tool("ask_rounds", rounds),
            self._tool("ask_model", [({"words": _SAMPLE}, plain)], needs="sampling"),
            self._tool("ask_for_roots", [({"roots": _ROOTS}, plain)], needs="roots"),
        ]

    def _tool(
        self,
        name: str,
        rounds: Sequence[tuple[Mapping[str, Any], str | None]],
        *,
        needs: str | None = "elicitation",
    ) -> Tool:
        done = 0

        async def handler(call: Call, arguments: Arguments) -> Result:
            nonlocal done
            params = call.params
            if "inputResponses" not in params and "requestState" not in params:
                done = 0
            if done == len(rounds):
                return text_result("had its input", structuredContent=dict(arguments))
            declared = call.session.client_capabilities
            if needs is not None and not (
                has_form(declared) if needs == "elicitation" else needs in declared
            ):
                return text_result(f"the client did not declare {needs}", isError=True)
            asked, state = rounds[done]
            done += 1
            self.fault(f"{name}: round {done}", call)
            result: Result = {"resultType": "input_required"}
            if asked:
                result["inputRequests"] = asked
            return result if state is None else {**result, "requestState": state}

        return Tool(
            name=name,
            description="Asks for input before it answers.",
            input_schema=_LABEL,
            handler=handler,
        )


class NumberedRequests(Profile):
    """Requests of the server whose ids differ in their type alone, and a big form."""

    name = "numbered-requests"
    title = 'sends requests under the ids 7 and "7", and a form of a 64-bit integer'
    revisions: ClassVar[frozenset[Revision]] = frozenset(
        {Revision.V2025_06_18, Revision.V2025_11_25}
    )

    def tools(self) -> Sequence[Tool]:
        """``ask_numbered`` and ``ask_integer``."""
        nothing = strict_object()
        return [
            Tool(
                name="ask_numbered",
                description="Pings the client under two ids.",
                input_schema=nothing,
                handler=self._numbered,
            ),
            Tool(
                name="ask_integer",
                description="Asks for an integer that no double holds.",
                input_schema=nothing,
                handler=self._integer,
            ),
        ]

    async def _numbered(self, call: Call, _arguments: Arguments) -> Result:
        for request_id in (7, "7"):
            await call.send({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
            self.fault(f"ping under {request_id!r}", call)
        # Nobody waits for those two; this one says that the client got beyond them.
        await call.ask("ping", {})
        return text_result("pinged")

    async def _integer(self, call: Call, _arguments: Arguments) -> Result:
        if not has_form(call.session.client_capabilities):
            return text_result("the client did not declare elicitation", isError=True)
        params = dict(_asked("large_integer", _BIG)["params"])
        if self.options.revision is not Revision.V2025_11_25:
            del params["mode"]  # forms have no name before
        self.fault("a form of a 64-bit integer", call)
        response = await call.ask("elicitation/create", params)
        return text_result(json.dumps(response, ensure_ascii=False, sort_keys=True))
