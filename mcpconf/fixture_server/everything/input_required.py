"""The tools and the prompt of 2026-07-28 that need the client's input, or its word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.everything.ask import form, roots, sample
from mcpconf.fixture_server.everything.rounds import Rounds, Seal
from mcpconf.fixture_server.everything.tool import missing, tool
from mcpconf.fixture_server.results import text_result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from mcpconf.fixture_server.call import Call, Tool
    from mcpconf.fixture_server.everything.ask import Ask

    Result = dict[str, Any]

_PREFIX = "test_input_required_result_"
PROMPT = f"{_PREFIX}prompt"
_NAME = form("user_name", "What is your name?", "name")
_CONFIRMED = form("confirm", "Please confirm", "ok", kind="boolean")
_CAPITAL = sample("capital_question", "What is the capital of France?", 100)
_ROOTS = roots("client_roots")


def input_required_tools() -> list[Tool]:
    """The tools, in no particular order."""
    seal = Seal()
    return [
        _tool("elicitation", [[_NAME]], lambda given: f"Hello, {given['user_name']}!"),
        _tool("sampling", [[_CAPITAL]], lambda given: given["capital_question"]),
        _tool(
            "list_roots", [[_ROOTS]], lambda given: f"Roots: {given['client_roots']}"
        ),
        _tool("request_state", [[_CONFIRMED]], _state_ok, seal),
        _tool("tampered_state", [[_CONFIRMED]], _state_ok, seal),
        _tool(
            "multiple_inputs",
            [[_NAME, sample("greeting", "Generate a greeting", 50), _ROOTS]],
            lambda given: " / ".join(given.values()),
            seal,
        ),
        _tool(
            "multi_round",
            [
                [form("step1", "Step 1: What is your name?", "name")],
                [form("step2", "Step 2: What is your favorite color?", "color")],
            ],
            lambda given: f"{given['step1']} likes {given['step2']}.",
            seal,
        ),
        tool(f"{_PREFIX}capabilities", "Asks for what the client has.", _capable),
        tool("test_missing_capability", "Needs sampling.", _needs_sampling),
        _streaming(),
    ]


def input_required_prompt() -> Rounds:
    """What answers ``prompts/get`` for `PROMPT`."""
    context = form("user_context", "What context should the prompt use?", "context")
    return Rounds(
        PROMPT,
        [[context]],
        lambda given: f"Use this context: {given['user_context']}",
        wrap=_message,
    )


def _message(text: str) -> Result:
    content = {"type": "text", "text": text}
    return {"messages": [{"role": "user", "content": content}]}


def _tool(
    name: str,
    asked: Sequence[Sequence[Ask]],
    conclude: Callable[[Mapping[str, str]], str],
    seal: Seal | None = None,
) -> Tool:
    name = f"{_PREFIX}{name}"
    rounds = Rounds(name, asked, conclude, seal=seal)
    methods = ", ".join(ask.method for asks in asked for ask in asks)
    return tool(name, f"Needs input: {methods}.", rounds.answer)


def _streaming() -> Tool:
    name = "test_streaming_elicitation"
    rounds = Rounds(name, [[_NAME]], lambda given: f"Hello, {given['user_name']}!")

    async def answer(call: Call) -> Result:
        result = await rounds.answer(call)
        # What is sent first opens the stream; a comment is no message.
        await call.raw(b": the result follows\n\n")
        return result

    return tool(name, "Asks on a stream.", answer)


def _state_ok(given: Mapping[str, str]) -> str:
    return f"state-ok: {given['confirm']}"


async def _capable(call: Call) -> Result:
    """Ask for whatever the client can give; any one will do, but one it must be."""
    declared = call.session.client_capabilities
    asks = [ask for ask in (_NAME, _CAPITAL, _ROOTS) if ask.is_for(declared)]
    if not asks:
        raise missing(_CAPITAL.needs)
    rounds = Rounds(
        f"{_PREFIX}capabilities", [asks], lambda given: " / ".join(given.values())
    )
    return await rounds.answer(call)


async def _needs_sampling(call: Call) -> Result:
    if not _CAPITAL.is_for(call.session.client_capabilities):
        raise missing(_CAPITAL.needs)
    return text_result("The client declares sampling.")
