"""The mirrored headers of 2026-07-28 say what the body says, or are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.headers import (
    BOTH_TYPES,
    annotated_parameters,
    check_mirrors,
    decode_value,
    is_accepted,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    Json = Any

SERVED = "2026-07-28"
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
META = {VERSION: SERVED, CAPABILITIES: {}}
SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "x-mcp-header": "Area"},
        "attempt": {"type": "integer", "x-mcp-header": "Try-Number"},
        "enabled": {"type": "boolean", "x-mcp-header": "Switched-On"},
        "plain": {"type": "string"},
        "where": {
            "type": "object",
            "properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}},
        },
    },
}
ARGUMENTS = {"region": "eu", "attempt": 3, "enabled": True, "where": {"zone": "b"}}
GOOD = {
    "accept": ["application/json, text/event-stream"],
    "mcp-protocol-version": [SERVED],
    "mcp-method": ["tools/call"],
    "mcp-name": ["tool"],
    "mcp-param-area": ["eu"],
    "mcp-param-try-number": ["3"],
    "mcp-param-switched-on": ["true"],
    "mcp-param-zone": ["b"],
}


def call(name: str = "tool", arguments: Json = ARGUMENTS, meta: Json = META) -> Json:
    params = {"name": name, "arguments": arguments, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


def check(message: Json, headers: Mapping[str, list[str]]) -> None:
    schemas: dict[str, Mapping[str, Any]] = {"tool": SCHEMA}
    check_mirrors(message, headers, served=SERVED, schema_of=schemas.get)


def test_headers_that_say_what_the_body_says_pass() -> None:
    check(call(), GOOD)


@pytest.mark.parametrize(
    "changed",
    [
        {"accept": ["application/json"]},
        {"accept": ["application/json, text/event-stream;q=0"]},
        {"accept": []},
        {"mcp-protocol-version": []},
        {"mcp-protocol-version": ["2025-11-25"]},
        {"mcp-protocol-version": [SERVED, SERVED]},
        {"mcp-method": []},
        {"mcp-method": ["Tools/Call"]},
        {"mcp-name": []},
        {"mcp-name": ["other"]},
        {"mcp-name": ["=?base64?dG9vbA?="]},
        {"mcp-param-area": []},
        {"mcp-param-area": ["EU"]},
        {"mcp-param-area": ["eu", "eu"]},
        {"mcp-param-area": ["\u00e9"]},
        {"mcp-param-try-number": ["4"]},
        {"mcp-param-try-number": ["3.5"]},
        {"mcp-param-try-number": ["three"]},
        {"mcp-param-switched-on": ["True"]},
        {"mcp-param-zone": []},
        {"mcp-param-region": ["eu"]},
        {"mcp-param-plain": ["x"]},
    ],
    ids=lambda each: " ".join(f"{name}={','.join(v)}" for name, v in each.items()),
)
def test_each_deviation_is_a_header_mismatch(changed: dict[str, list[str]]) -> None:
    headers = {name: values for name, values in {**GOOD, **changed}.items() if values}
    with pytest.raises(RpcError) as caught:
        check(call(), headers)
    assert (caught.value.code, caught.value.status) == (-32020, 400)


@pytest.mark.parametrize(
    "changed",
    [
        {"mcp-name": ["=?base64?dG9vbA==?="]},
        {"mcp-param-area": ["=?base64?ZXU=?="]},
        {"mcp-param-try-number": ["3.0"]},
        {"accept": ["application/*", "text/event-stream; q=0.5"]},
        {"accept": ["*/*"]},
    ],
    ids=lambda each: " ".join(f"{name}={','.join(v)}" for name, v in each.items()),
)
def test_other_ways_to_say_the_same_pass(changed: dict[str, list[str]]) -> None:
    check(call(), {**GOOD, **changed})


@pytest.mark.parametrize("arguments", [{}, {"region": None, "where": None}, None, []])
def test_an_absent_argument_has_no_header(arguments: Json) -> None:
    bare = {name: v for name, v in GOOD.items() if not name.startswith("mcp-param-")}
    check(call(arguments=arguments), bare)
    with pytest.raises(RpcError):
        check(call(arguments=arguments), {**bare, "mcp-param-area": ["eu"]})


def test_a_parameter_header_is_stray_on_any_other_method() -> None:
    message = {"id": 1, "method": "tools/list", "params": {"_meta": META}}
    headers = {**GOOD, "mcp-method": ["tools/list"]}
    with pytest.raises(RpcError, match="mcp-param-area"):
        check(message, headers)


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(call(meta=None), id="no meta"),
        pytest.param(call(meta={**META, CAPABILITIES: None}), id="no capabilities"),
        pytest.param(call(meta={**META, VERSION: 7}), id="version no string"),
    ],
)
def test_what_the_core_refuses_first_is_left_to_it(message: Json) -> None:
    check(message, {})


def test_an_unserved_version_is_left_to_the_core_once_the_headers_agree() -> None:
    other = {**META, VERSION: "2030-01-01"}
    headers = {**GOOD, "mcp-protocol-version": ["2030-01-01"], "mcp-name": ["other"]}
    check(call(meta=other), headers)
    with pytest.raises(RpcError):
        check(call(meta=other), {**headers, "mcp-method": ["other"]})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain text", "plain text"),
        ("", ""),
        ("=?base64?w6k=?=", "\u00e9"),
        ("=?base64??=", ""),
        ("=?base64?=", "=?base64?="),
        ("=?base64?ZXU=", "=?base64?ZXU="),
        ("ZXU=?=", "ZXU=?="),
        ("=?BASE64?ZXU=?=", "=?BASE64?ZXU=?="),
    ],
)
def test_only_both_markers_make_base64(text: str, value: str) -> None:
    assert decode_value(text) == value


@pytest.mark.parametrize(
    "text", ["=?base64?ZXU?=", "=?base64?Z-U=?=", "=?base64?/w==?=", "\x7f", "\u00e9"]
)
def test_malformed_values_are_refused(text: str) -> None:
    with pytest.raises(RpcError):
        decode_value(text)


def test_annotations_count_only_where_properties_lead_to_them() -> None:
    annotated = {"type": "string", "x-mcp-header": "X"}
    schema = {
        **SCHEMA,
        "anyOf": [{"properties": {"a": annotated}}],
        "items": annotated,
        "$defs": {"b": annotated},
    }
    assert dict(annotated_parameters(schema)) == {
        "Area": ("region",),
        "Try-Number": ("attempt",),
        "Switched-On": ("enabled",),
        "Zone": ("where", "zone"),
    }


def test_no_accept_header_accepts_nothing() -> None:
    assert not is_accepted({}, BOTH_TYPES)
