"""
Tools of the handshake revisions that ask the client something before they answer.

Their result is the client's own response message, as JSON text.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.call import Tool
from mcpconf.fixture_server.results import text_result
from mcpconf.fixture_server.schema import check_names, strict_object
from mcpconf.fixture_server.waiting import unless_cancelled
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.call import Call

_NOTHING = strict_object()
#: One form, also of the tools of 2026-07-28.
CONFIRMATION = {
    "type": "object",
    "properties": {"confirmation": {"type": "string", "default": "confirmed"}},
    "required": ["confirmation"],
}


def has_form(capabilities: Mapping[str, Any]) -> bool:
    """Whether the client answers forms: ``elicitation: {}`` means that it does."""
    declared = capabilities.get("elicitation")
    return isinstance(declared, dict) and ("form" in declared or not declared)


def asking_tools(revision: Revision) -> list[Tool]:
    """The tools; what they ask is valid at `revision`."""
    form: dict[str, Any] = {
        "message": "Please confirm.",
        "requestedSchema": CONFIRMATION,
    }
    if revision is Revision.V2025_11_25:  # forms have no name before
        form["mode"] = "form"
    words = {"type": "text", "text": "Say a word."}
    sampling = {"messages": [{"role": "user", "content": words}], "maxTokens": 16}
    return [
        _tool("ask_elicitation", "elicitation/create", form, needs="elicitation"),
        _tool("ask_sampling", "sampling/createMessage", sampling, needs="sampling"),
        _tool("ask_roots", "roots/list", {}, needs="roots"),
        _tool("ask_ping", "ping", {}),
        _tool("ask_unknown", "mcpconf/unknown", {}),
    ]


def _tool(
    name: str, method: str, params: Mapping[str, Any], *, needs: str | None = None
) -> Tool:
    async def handler(call: Call, arguments: Mapping[str, Any]) -> dict[str, Any]:
        check_names(_NOTHING, arguments)
        declared = call.session.client_capabilities
        if needs is not None and not (
            has_form(declared) if needs == "elicitation" else needs in declared
        ):
            return text_result(f"the client did not declare {needs}", isError=True)
        response = await unless_cancelled(call, call.ask(method, params))
        return text_result(json.dumps(response, ensure_ascii=False, sort_keys=True))

    return Tool(
        name=name,
        description=f"Sends {method} to the client and shows the response.",
        input_schema=_NOTHING,
        handler=handler,
    )
