"""Input schemas of the tools, and the checks that go with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.results import invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    Json = Any

#: The largest integer that every double-based reader holds, and of 64 signed bits.
SAFE_MAX = 2**53 - 1
INT64_MAX = 2**63 - 1
BIG_INTEGER = {
    "type": "integer",
    "minimum": SAFE_MAX + 2,
    "maximum": INT64_MAX,
    "default": SAFE_MAX + 2,
}
ANY_OBJECT = {"type": "object"}


def strict_object(
    properties: Mapping[str, Any] | None = None, *, optional: bool = False
) -> dict[str, Any]:
    """An object of exactly these properties; all are required unless `optional`."""
    named = dict(properties or {})
    schema: dict[str, Any] = {
        "type": "object",
        "properties": named,
        "additionalProperties": False,
    }
    return {**schema, "required": list(named)} if named and not optional else schema


def check_names(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
    """
    Hold `arguments` to the names of a `strict_object`.

    :raises RpcError: -32602: one is missing, or not in the schema.
    """
    for name in schema.get("required", ()):
        if name not in arguments:
            raise invalid(f"the argument {name} is required")
    for name in arguments:
        if name not in schema["properties"]:
            raise invalid(f"unknown argument {name}")


def check(arguments: Mapping[str, Any], name: str, *, is_sound: bool) -> None:
    """
    Hold one argument to what was found out about it.

    :raises RpcError: -32602: it is not sound.
    """
    if not is_sound:
        raise invalid(f"the argument {name} cannot be {arguments.get(name)!r:.80}")


def is_integer(value: Json, least: int = -SAFE_MAX, most: int = SAFE_MAX) -> bool:
    """Whether `value` came as a JSON integer (1.0 did not) within the bounds."""
    return (
        isinstance(value, int)
        and not isinstance(value, bool)
        and least <= value <= most
    )


def is_number(value: Json) -> bool:
    """Whether `value` came as a JSON number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


#: Keywords of JSON Schema 2020-12 that must reach the model as they are.
SCHEMA_2020_12: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "place": {
            "type": "object",
            "properties": {"city": {"type": "string", "minLength": 1}},
            "required": ["city"],
        }
    },
    "properties": {
        "home": {"$ref": "#/$defs/place"},
        "kind": {"const": "fixture"},
        "when": {"type": "string", "format": "date-time"},
        "mixed": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "choice": {"oneOf": [{"type": "boolean"}, {"type": "null"}]},
        "both": {"allOf": [{"type": "string"}, {"maxLength": 9}]},
        "other": {"not": {"type": "object"}},
        "pair": {
            "type": "array",
            "prefixItems": [{"type": "string"}, {"type": "number"}],
            "items": False,
        },
        "some": {
            "type": "array",
            "contains": {"type": "integer"},
            "minContains": 1,
            "maxContains": 3,
        },
        "map": {
            "type": "object",
            "propertyNames": {"pattern": "^[a-z]+$"},
            "patternProperties": {"^x": {"type": "integer"}},
        },
    },
    "dependentRequired": {"when": ["kind"]},
    "if": {"properties": {"kind": {"const": "fixture"}}, "required": ["kind"]},
    "then": {"required": ["home"]},
    "else": {"required": ["mixed"]},
    "unevaluatedProperties": False,
}
