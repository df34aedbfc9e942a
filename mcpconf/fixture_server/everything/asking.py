"""
Tools of the handshake revisions that ask the client, and say what it answered.

What a form may hold grew: defaults of every type (SEP-1034) and the five kinds of
choice (SEP-1330) are asked for from 2025-11-25 on.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.asking import has_form
from mcpconf.fixture_server.everything.tool import text_tool, tool
from mcpconf.fixture_server.results import text_result
from mcpconf.fixture_server.waiting import unless_cancelled
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.call import Call, Tool

    Result = dict[str, Any]

_USER = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}
_DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}
_OPTIONS = ["option1", "option2", "option3"]


def _titled(noun: str) -> list[dict[str, str]]:
    ordinals = ("First", "Second", "Third")
    return [
        {"const": f"value{number}", "title": f"{ordinal} {noun}"}
        for number, ordinal in enumerate(ordinals, start=1)
    ]


_CHOICES = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": _OPTIONS},
        "titledSingle": {"type": "string", "oneOf": _titled("Option")},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {
            "type": "array",
            "items": {"type": "string", "enum": _OPTIONS},
        },
        "titledMulti": {"type": "array", "items": {"anyOf": _titled("Choice")}},
    },
}


def asking_tools(revision: Revision) -> list[Tool]:
    """The tools; what they ask is valid at `revision`."""
    # Forms have no name before.
    mode = {"mode": "form"} if revision is Revision.V2025_11_25 else {}

    async def elicit(call: Call, message: str) -> Result:
        asked = {**mode, "message": message, "requestedSchema": _USER}
        return await _elicited(call, asked, "User response: ")

    tools = [
        text_tool("test_sampling", "Asks for a sample.", "prompt", _sample),
        text_tool("test_elicitation", "Asks who the user is.", "message", elicit),
    ]
    if revision is Revision.V2025_11_25:
        tools += [
            _form("test_elicitation_sep1034_defaults", _DEFAULTS),
            _form("test_elicitation_sep1330_enums", _CHOICES),
        ]
    return tools


def _form(name: str, schema: Mapping[str, Any]) -> Tool:
    async def answer(call: Call) -> Result:
        asked = {
            "mode": "form",
            "message": "Please fill in the form.",
            "requestedSchema": schema,
        }
        return await _elicited(call, asked, "Elicitation completed: ")

    return tool(name, "Asks with a form of every kind of field.", answer)


async def _elicited(call: Call, asked: Mapping[str, Any], begin: str) -> Result:
    if not has_form(call.session.client_capabilities):
        return _undeclared("elicitation")
    response = await unless_cancelled(call, call.ask("elicitation/create", asked))
    answer = response.get("result")
    if not isinstance(answer, dict):
        return _failed(response)
    content = json.dumps(answer.get("content"), ensure_ascii=False, sort_keys=True)
    return text_result(f"{begin}action={answer.get('action')}, content={content}")


async def _sample(call: Call, prompt: str) -> Result:
    if "sampling" not in call.session.client_capabilities:
        return _undeclared("sampling")
    message = {"role": "user", "content": {"type": "text", "text": prompt}}
    asked = {"messages": [message], "maxTokens": 100}
    response = await unless_cancelled(call, call.ask("sampling/createMessage", asked))
    answer = response.get("result")
    content = answer.get("content") if isinstance(answer, dict) else None
    if not isinstance(content, dict):
        return _failed(response)
    return text_result(f"LLM response: {content.get('text')}")


def _undeclared(capability: str) -> Result:
    return text_result(f"the client did not declare {capability}", isError=True)


def _failed(response: Mapping[str, Any]) -> Result:
    said = json.dumps(response, ensure_ascii=False, sort_keys=True)
    return text_result(f"the client gave no answer: {said}", isError=True)
