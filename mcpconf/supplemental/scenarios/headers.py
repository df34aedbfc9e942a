"""
The headers of HTTP, on a server that refuses nothing for them.

A client that leaves one out is seen to, and gets its answers all the same: so each
header is judged by itself.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.scenario import (
    HANDSHAKE,
    HTTP,
    STATELESS,
    CheckDefinition,
    Level,
    Scenario,
    call,
    close,
    connect,
    listing,
    read,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpconf.supplemental.observation import Exchange, Observation, Seen

#: Names that the fixture's ``header_echo`` gives its arguments, unlike their own.
_SUFFIXES = {
    "region": "area",
    "attempt": "try-number",
    "enabled": "switched-on",
    "greeting": "salutation",
}
_ARGUMENTS = {
    "region": "us-west1",
    "attempt": 3,
    "enabled": True,
    "greeting": "Hello, 世界",
}
_NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
_VERSION = "io.modelcontextprotocol/protocolVersion"
_CONTENT_TYPE = "https://www.rfc-editor.org/rfc/rfc9110#section-8.3"
_LIFECYCLE = "basic/lifecycle"
_TRANSPORTS = "basic/transports"
_STREAMABLE = "basic/transports/streamable-http"


def _posts(seen: Observation) -> Iterator[tuple[Seen, Exchange]]:
    """Every message of the client with the exchange it came in."""
    for each in seen.subject.received:
        exchange = seen.subject.exchange_of(each)
        if exchange is not None:
            yield each, exchange


def _name(message: Seen) -> str:
    return message.method or "an answer"


def _content_type(seen: Observation) -> Finding:
    for message, exchange in _posts(seen):
        kind = (exchange.header("content-type") or "").partition(";")[0].strip()
        if kind.lower() != "application/json":
            return broken(f"{_name(message)} has the content type {kind!r}")
    return _all(seen, "say application/json")


def _accept(seen: Observation) -> Finding:
    for message, exchange in _posts(seen):
        accepted = ",".join(exchange.headers.get("accept", ())).lower()
        if not all(
            kind in accepted for kind in ("application/json", "text/event-stream")
        ):
            return broken(f"{_name(message)} accepts {accepted!r}")
    return _all(seen, "accept JSON and event streams")


def _all(seen: Observation, what: str) -> Finding:
    count = len(list(_posts(seen)))
    if not count:
        return unobserved("no message of the client is on the wire")
    return holds(f"all {count} messages {what}")


def _said_versions(seen: Observation) -> list[tuple[Seen, tuple[str, ...]]]:
    """Every message after ``initialize``, and what its header says of the version."""
    return [
        (message, exchange.headers.get("mcp-protocol-version", ()))
        for message, exchange in _posts(seen)
        if message.method not in {"initialize", "server/discover"}
    ]


def _has_version_header(seen: Observation) -> Finding:
    said = _said_versions(seen)
    for message, versions in said:
        if not versions:
            return broken(f"{_name(message)} has no MCP-Protocol-Version")
    if not said:
        return unobserved("the client sent nothing after initialize")
    return holds(f"all {len(said)} messages after initialize have the header")


def _agreed_version_header(seen: Observation) -> Finding:
    said = [each for each in _said_versions(seen) if each[1]]
    agreed = seen.revision.value
    for message, versions in said:
        if versions != (agreed,):
            return broken(f"{_name(message)} says {versions}, not {agreed}")
    if not said:
        return not_applicable("no message after initialize has the header")
    return holds(f"{agreed} in all {len(said)} messages that have the header")


def _session_header(seen: Observation) -> Finding:
    minted = {
        name
        for exchange in seen.subject.exchanges
        for name in exchange.response_headers.get("mcp-session-id", ())
    }
    if not minted:
        return unobserved("no session was opened")
    for message, exchange in _posts(seen):
        if message.method in {"initialize", "server/discover"}:
            continue
        if exchange.header("mcp-session-id") not in minted:
            said = exchange.headers.get("mcp-session-id")
            return broken(f"{_name(message)} names the session {said}")
    return holds("every message after initialize names its session")


def _session_ended(seen: Observation) -> Finding:
    ended = [each for each in seen.subject.exchanges if each.method == "DELETE"]
    if not ended:
        return broken("the client left without DELETE")
    if ended[-1].header("mcp-session-id") is None:
        return broken("DELETE names no session")
    return holds("DELETE ended the session")


def _requests(seen: Observation) -> list[tuple[Seen, Exchange]]:
    return [(each, at) for each, at in _posts(seen) if each.is_request]


def _version_as_in_meta(seen: Observation) -> Finding:
    for message, exchange in _requests(seen):
        said, meant = (
            exchange.header("mcp-protocol-version"),
            message.meta.get(_VERSION),
        )
        if said is None or said != meant:
            return broken(f"{message.method} says {said} and its _meta {meant}")
    return _all(seen, "say the version of their _meta")


def _method(seen: Observation) -> Finding:
    for message, exchange in _requests(seen):
        if exchange.header("mcp-method") != message.method:
            said = exchange.headers.get("mcp-method")
            return broken(f"{message.method} has Mcp-Method {said}")
    return _all(seen, "have their Mcp-Method")


def _decoded(value: str | None) -> str | None:
    """A mirrored value; None where it is not well-formed."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        raw = binascii.a2b_base64(value[9:-2], strict_mode=True)
        return raw.decode("utf-8")
    except ValueError:
        return None


def _names(seen: Observation) -> Finding:
    count = 0
    for message, exchange in _requests(seen):
        member = _NAMED.get(message.method or "")
        if member is None:
            continue
        meant = message.params.get(member)
        if _decoded(exchange.header("mcp-name")) != meant:
            said = exchange.headers.get("mcp-name")
            return broken(f"{message.method} of {meant} has Mcp-Name {said}")
        count += 1
    if not count:
        return unobserved("no request with a name is on the wire")
    return holds(f"Mcp-Name of all {count} named requests is theirs")


def _parameters(exchange: Exchange) -> dict[str, tuple[str, ...]]:
    return {
        name.removeprefix("mcp-param-"): values
        for name, values in exchange.headers.items()
        if name.startswith("mcp-param-")
    }


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _mirrored(seen: Observation) -> Finding:
    calls = [
        (message, exchange)
        for message, exchange in _requests(seen)
        if message.params.get("name") == "header_echo"
    ]
    if not calls:
        return unobserved("no call of header_echo is on the wire")
    message, exchange = calls[-1]
    sent = message.params.get("arguments") or {}
    found = _parameters(exchange)
    for name, suffix in _SUFFIXES.items():
        values = [_decoded(each) for each in found.get(suffix, ())]
        if values != [_text(sent.get(name))]:
            return broken(f"{name}={sent.get(name)!r}: Mcp-Param-{suffix} is {values}")
    return holds("each annotated argument is in the header of its annotation")


def _no_others(seen: Observation) -> Finding:
    for message, exchange in _requests(seen):
        if message.params.get("name") == "header_echo":
            continue  # a check of its own
        strays = sorted(_parameters(exchange))
        if strays:
            what = message.params.get("name") or message.method
            return broken(f"{what} has Mcp-Param-{', Mcp-Param-'.join(strays)}")
    return _all(seen, "of unannotated tools have no Mcp-Param header")


def _check(
    id: str,  # noqa: A002
    sentence: str,
    look: Any,
    broken: str,
    **more: Any,
) -> CheckDefinition:
    words = {
        "page": _TRANSPORTS,
        "stateless_page": _STREAMABLE,
        "level": Level.MUST,
        "looks_for": "the headers of every message against what it says",
        "transports": HTTP,
    }
    return CheckDefinition(
        id=id, sentence=sentence, look=look, broken=(broken,), **words | more
    )


HEADERS = Scenario(
    name="headers",
    title="A good server that refuses nothing for its headers",
    transports=HTTP,
    profiles=("any-headers",),
    steps=(
        connect(),
        listing(),
        call("echo", {"text": "headers"}, id="echo"),
        read("test://fixture/こんにちは"),
        call("header_echo", _ARGUMENTS, id="mirrored"),
        close(),
    ),
    checks=(
        _check(
            "content-type",
            "Every POST should name the type of its content, application/json.",
            _content_type,
            "says_text_plain",
            page=_CONTENT_TYPE,
            stateless_page=None,
            level=Level.SHOULD,
        ),
        _check(
            "accept",
            "Every POST accepts application/json and text/event-stream.",
            _accept,
            "accepts_json_alone",
        ),
        _check(
            "version-header",
            "After initialize, every request has MCP-Protocol-Version.",
            _has_version_header,
            "forgets_the_version_header",
            page=_LIFECYCLE,
            revisions=HANDSHAKE,
        ),
        _check(
            "version-header-is-agreed",
            "The version in MCP-Protocol-Version should be the one that was agreed.",
            _agreed_version_header,
            "says_an_older_version_in_its_headers",
            revisions=HANDSHAKE,
            level=Level.SHOULD,
        ),
        _check(
            "session-header",
            "After initialize, every request names the session that was opened.",
            _session_header,
            "forgets_the_session_once",
            revisions=HANDSHAKE,
        ),
        _check(
            "session-ended",
            "A client that needs its session no more should end it with DELETE.",
            _session_ended,
            "leaves_without_delete",
            revisions=HANDSHAKE,
            level=Level.SHOULD,
            needs=("close",),
        ),
        _check(
            "version-header-as-in-meta",
            "Every request repeats the version of its _meta in its header.",
            _version_as_in_meta,
            "forgets_the_version_header",
            revisions=STATELESS,
        ),
        _check(
            "method-header",
            "Every request repeats its method in Mcp-Method.",
            _method,
            "writes_methods_in_capitals",
            revisions=STATELESS,
        ),
        _check(
            "name-header",
            "Calls, reads and prompts repeat their name or URI in Mcp-Name; what is "
            "not plain ASCII goes in Base64.",
            _names,
            "percent_encodes_names_in_headers",
            revisions=STATELESS,
            needs=("echo",),
        ),
        _check(
            "parameters-mirrored",
            "Annotated arguments are repeated in the header that the annotation names.",
            _mirrored,
            "mirrors_by_property_name",
            revisions=STATELESS,
            needs=("mirrored",),
        ),
        _check(
            "nothing-else-mirrored",
            "Only annotated arguments go into Mcp-Param headers. (No page forbids "
            "others.)",
            _no_others,
            "mirrors_every_argument",
            level=Level.SHOULD,
            revisions=STATELESS,
            needs=("echo",),
        ),
    ),
)
