"""
``test_tool_with_task``: input over a round trip first, and then a task (SEP-2663).

The ``requestState`` is the client's to bring back. It holds for the tool and the
arguments that it was given out for, by a code that only this server can make.
"""

from __future__ import annotations

import hmac
import json
import secrets
from functools import partial
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.call import Tool
from mcpconf.fixture_server.results import text_result
from mcpconf.fixture_server.schema import check_names, strict_object
from mcpconf.fixture_server.task_conduct import check_answers, invalid_task
from mcpconf.fixture_server.task_tools import form, need

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.task import Task
    from mcpconf.fixture_server.task_engine import Engine

    Arguments = Mapping[str, Any]
    Result = dict[str, Any]

NAME = "test_tool_with_task"
KEY = "user_name"
_NOTHING = strict_object()
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
}
_ENOUGH = 0.5


class Rounds:
    """The tool of one server."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._secret = secrets.token_bytes(32)

    def tool(self) -> Tool:
        """The tool."""
        return Tool(
            name=NAME,
            description="Asks for a name, then greets it in a task.",
            input_schema=_NOTHING,
            handler=self._handle,
        )

    async def _handle(self, call: Call, arguments: Arguments) -> Result:
        need(self._engine, call, task=True, asks=True)
        check_names(_NOTHING, arguments)
        if "inputResponses" not in call.params and "requestState" not in call.params:
            return self._ask(arguments)
        is_ours = self._is_ours(call.params.get("requestState"), arguments)
        if not is_ours and self._engine.conduct.refuses_state(call):
            raise invalid_task("this requestState was not given out for this call")
        answers = call.params.get("inputResponses", {})
        if not isinstance(answers, dict):
            raise invalid_task("inputResponses is an object")
        if KEY not in answers:
            return self._ask(arguments)
        check_answers({KEY: answers[KEY]})
        if answers[KEY]["action"] != "accept":
            return text_result("Nobody was greeted.")
        content = answers[KEY].get("content")
        name = content.get("name") if isinstance(content, dict) else None
        if not isinstance(name, str):
            raise invalid_task(f"the input response {KEY} has no name")
        return await self._engine.create(partial(self._greet, name))

    async def _greet(self, name: str, _: Task) -> Result:
        await self._engine.wait(_ENOUGH)
        return text_result(f"Hello, {name}!")

    def _ask(self, arguments: Arguments) -> Result:
        nonce = secrets.token_urlsafe(12)
        return {
            "resultType": "input_required",
            "inputRequests": {KEY: form("What is your name?", _SCHEMA)},
            "requestState": f"{nonce}.{self._code(nonce, arguments)}",
        }

    def _is_ours(self, state: Any, arguments: Arguments) -> bool:
        if not isinstance(state, str) or not state.isascii():
            return False
        nonce, _, code = state.partition(".")
        return hmac.compare_digest(code, self._code(nonce, arguments))

    def _code(self, nonce: str, arguments: Arguments) -> str:
        bound = json.dumps([NAME, nonce, arguments], sort_keys=True)
        return hmac.new(self._secret, bound.encode(), "sha256").hexdigest()
