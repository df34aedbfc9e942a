"""
The headers of 2026-07-28 that mirror the body, and who may ask for what.

In the order of the checks (specification, "Streamable HTTP"; any order that keeps
``_meta`` first will do, this is the one the official suite is content with):

1. required ``_meta``: where it is missing the protocol core says so (-32602)
2. ``Accept`` allows JSON and an event stream
3. ``MCP-Protocol-Version`` is the version of ``_meta``
4. ``Mcp-Method`` is the method
5. a version that is not served: the core says so (-32022)
6. ``Mcp-Name`` is the name or URI that the method is about
7. ``Mcp-Param-*`` are the annotated arguments, each once, and no others

Every failure of 2 to 7 is -32020 with HTTP 400. No sockets here.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import HEADER_MISMATCH
from mcpconf.fixture_server.call import RpcError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    Headers = Mapping[str, Sequence[str]]
    Json = Any

SESSION_HEADER = "Mcp-Session-Id"
VERSION_HEADER = "mcp-protocol-version"
#: The member of ``params`` that ``Mcp-Name`` repeats.
NAMED_BY = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
BOTH_TYPES = ("application/json", "text/event-stream")

_VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
_CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
_PARAMETER = "mcp-param-"
_OPEN, _CLOSE = "=?base64?", "?="
_PRINTABLE = re.compile(r"[\t\x20-\x7e]*")
# Integers are compared as numbers, so "42.0" is 42; the bound keeps `int` cheap.
_INTEGER = re.compile(r"(-?[0-9]{1,400})(?:\.0{1,400})?")


def mismatch(problem: str) -> RpcError:
    """The error for a header that does not say what the body says."""
    return RpcError(HEADER_MISMATCH, f"Header mismatch: {problem}", status=400)


def is_accepted(headers: Headers, media_types: Sequence[str]) -> bool:
    """Whether ``Accept`` allows every one of `media_types` (ranges count, q=0 not)."""
    allowed = set()
    for entry in ",".join(headers.get("accept", ())).split(","):
        media_range, *parameters = (part.strip().lower() for part in entry.split(";"))
        quality = next((p[2:] for p in parameters if p.startswith("q=")), "1")
        if quality.strip("0.") != "":
            allowed.add(media_range)
    return all(
        not allowed.isdisjoint({each, each.split("/")[0] + "/*", "*/*"})
        for each in media_types
    )


def decode_value(text: str) -> str:
    """
    What a mirrored header value stands for: literal, or Base64 between markers.

    :raises RpcError: not printable ASCII, or the Base64 is malformed.
    """
    if not _PRINTABLE.fullmatch(text):
        raise mismatch("a value is neither printable ASCII nor Base64 in its markers")
    whole = len(text) >= len(_OPEN) + len(_CLOSE)
    if not (whole and text.startswith(_OPEN) and text.endswith(_CLOSE)):
        return text
    try:
        data = base64.b64decode(text[len(_OPEN) : -len(_CLOSE)], validate=True)
        return data.decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise mismatch(f"a value is malformed Base64 ({error})") from None


def annotated_parameters(
    schema: Json, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """
    Every ``x-mcp-header`` of an input schema, with the path to its argument.

    Only what is reached through ``properties`` counts (specification, "Custom Headers
    from Tool Parameters").
    """
    properties = schema.get("properties") if isinstance(schema, dict) else None
    for name, each in (properties or {}).items():
        if isinstance(each, dict) and isinstance(each.get("x-mcp-header"), str):
            yield each["x-mcp-header"], (*path, name)
        yield from annotated_parameters(each, (*path, name))


def check_mirrors(
    message: Mapping[str, Any],
    headers: Headers,
    *,
    served: str,
    schema_of: Callable[[str], Mapping[str, Any] | None],
) -> None:
    """
    Hold a request's headers against its body.

    `served` is the one version of the server, `schema_of` gives a tool's input schema,
    None where there is no such tool.

    :raises RpcError: -32020, HTTP 400.
    """
    params = message.get("params") or {}
    meta = params.get("_meta")
    if not isinstance(meta, dict) or not isinstance(meta.get(_CAPABILITIES_KEY), dict):
        return  # 1
    version = meta.get(_VERSION_KEY)
    if not isinstance(version, str):
        return  # 1
    if not is_accepted(headers, BOTH_TYPES):  # 2
        raise mismatch(f"Accept must list {' and '.join(BOTH_TYPES)}")
    _check_equal("MCP-Protocol-Version", headers, version)  # 3
    _check_equal("Mcp-Method", headers, message["method"])  # 4
    if version != served:  # 5
        return
    _check_name(message["method"], params, headers)  # 6
    _check_parameters(message["method"], params, headers, schema_of)  # 7


def _one(name: str, headers: Headers) -> str | None:
    values = headers.get(name.lower(), ())
    if len(values) > 1:
        raise mismatch(f"{name} was sent {len(values)} times")
    return values[0] if values else None


def _check_equal(name: str, headers: Headers, expected: str) -> None:
    value = _one(name, headers)
    if value is None:
        raise mismatch(f"{name} is missing")
    if value != expected:
        raise mismatch(f"{name} is not the body's value")


def _check_name(method: str, params: Mapping[str, Any], headers: Headers) -> None:
    member = NAMED_BY.get(method)
    name = params.get(member) if member else None
    if not isinstance(name, str):
        return  # nothing to mirror: the body itself is what is wrong, if anything
    value = _one("Mcp-Name", headers)
    if value is None:
        raise mismatch("Mcp-Name is missing")
    if decode_value(value) != name:
        raise mismatch(f"Mcp-Name is not the body's {member}")


def check_optional_name(headers: Headers, name: str) -> None:
    """
    Hold ``Mcp-Name`` to `name` where it was sent; it need not be.

    :raises RpcError: -32020: it says something else, or was sent twice.
    """
    value = _one("Mcp-Name", headers)
    if value is not None and decode_value(value) != name:
        raise mismatch("Mcp-Name is not what the body names")


def _check_parameters(
    method: str,
    params: Mapping[str, Any],
    headers: Headers,
    schema_of: Callable[[str], Mapping[str, Any] | None],
) -> None:
    sent = {name for name in headers if name.startswith(_PARAMETER)}
    if method == "tools/call":
        schema = schema_of(str(params.get("name")))
        if schema is None:
            return  # an unknown tool is the core's to refuse
        for suffix, path in annotated_parameters(schema):
            header = _PARAMETER + suffix.lower()
            sent.discard(header)
            value = _argument(params.get("arguments"), path)
            _check_parameter(f"Mcp-Param-{suffix}", _one(header, headers), value)
    if sent:
        raise mismatch(f"{', '.join(sorted(sent))}: no parameter is mirrored so")


def _argument(arguments: Json, path: tuple[str, ...]) -> Json:
    for name in path:
        if not isinstance(arguments, dict):
            return None
        arguments = arguments.get(name)
    return arguments


def _check_parameter(name: str, text: str | None, value: Json) -> None:
    if value is None:
        if text is not None:
            raise mismatch(f"{name} was sent, the argument was not")
        return
    if text is None:
        raise mismatch(f"{name} is missing")
    if not _says(decode_value(text), value):
        raise mismatch(f"{name} is not the argument")


def _says(text: str, value: Json) -> bool:
    if isinstance(value, bool):
        return text == ("true" if value else "false")
    if isinstance(value, int | float):
        number = _INTEGER.fullmatch(text)
        return number is not None and int(number[1]) == value
    return isinstance(value, str) and text == value
