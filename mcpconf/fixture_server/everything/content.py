"""Tools that are about the content of a result: one of each kind, and an error."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.call import Tool
from mcpconf.fixture_server.everything.tool import tool
from mcpconf.fixture_server.results import text_result
from mcpconf.fixture_server.schema import check_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.call import Call

    Json = Any

#: One red pixel.
PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAA"
    "AElFTkSuQmCC"
)
#: A thousandth of a second of silence: eight samples of eight bits.
WAV = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="
IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
_AUDIO = {"type": "audio", "data": WAV, "mimeType": "audio/wav"}

#: A schema whose keywords a server must pass on as they are (SEP-1613, SEP-2106).
_SCHEMA: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {
        "properties": {"contactMethod": {"const": "phone"}},
        "required": ["contactMethod"],
    },
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def embedded(uri: str, text: str, media_type: str = "text/plain") -> dict[str, Any]:
    """A resource as content."""
    resource = {"uri": uri, "mimeType": media_type, "text": text}
    return {"type": "resource", "resource": resource}


def content_tools() -> list[Tool]:
    """The tools, in no particular order."""
    text = {"type": "text", "text": "This is a simple text response for testing."}
    resource = embedded(
        "test://embedded-resource", "This is an embedded resource content."
    )
    mixed = (
        {"type": "text", "text": "Multiple content types test:"},
        IMAGE,
        embedded(
            "test://mixed-content-resource",
            '{"test":"data","value":123}',
            "application/json",
        ),
    )
    return [
        _shows("test_simple_text", "Answers with a text.", text),
        _shows("test_image_content", "Answers with an image.", IMAGE),
        _shows("test_audio_content", "Answers with a sound.", _AUDIO),
        _shows("test_embedded_resource", "Answers with a resource.", resource),
        _shows("test_multiple_content_types", "Answers with all of them.", *mixed),
        tool("test_error_handling", "Fails, as a tool does.", _fail),
        Tool(
            name="json_schema_2020_12_tool",
            description="Tool with JSON Schema 2020-12 features",
            input_schema=_SCHEMA,
            handler=_contact,
        ),
    ]


def _shows(name: str, description: str, *content: Mapping[str, Any]) -> Tool:
    async def answer(_: Call) -> dict[str, Any]:
        return {"content": list(content)}

    return tool(name, description, answer)


async def _fail(_: Call) -> dict[str, Any]:
    text = "This tool intentionally returns an error for testing"
    return text_result(text, isError=True)


async def _contact(_: Call, arguments: Mapping[str, Json]) -> dict[str, Any]:
    check_names(_SCHEMA, arguments)
    needed = "phone" if arguments.get("contactMethod") == "phone" else "email"
    if needed not in arguments:
        return text_result(f"the argument {needed} is required", isError=True)
    return text_result(json.dumps(arguments, ensure_ascii=False, sort_keys=True))
