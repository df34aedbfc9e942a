"""
One message of a client against the schema of the revision it is sent in.

What cannot be judged fairly is not: methods of extensions, values that redaction
replaced, and answers to what a server asked against the revision. A problem's text
names the place and never the value.

Importing this module imports the schemas, which takes half a second: import it late.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_types import methods
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcpconf.redaction import PLACEHOLDER
from mcpconf.revision import Era, Revision, era_of
from mcpconf.wire_envelope import envelope_faults
from mcpconf.wire_message import Kind, Message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpconf.decode import Json

_REQUESTS = methods.SPEC_CLIENT_METHODS
_NOTIFICATIONS = methods.SPEC_CLIENT_NOTIFICATION_METHODS


def revision_of(
    message: Message, *, agreed: str | None, header: str | None, hint: str | None
) -> str | None:
    """
    The revision a message of the client is sent in; `None` where it cannot be told.

    Its own word first, then what the handshake of its session settled (for an
    ``initialize``: what its own answer did), then the header, then the hint.
    """
    if message.meta_revision is not None:
        return message.meta_revision
    if agreed is None:
        if message.method == "initialize":
            offered = message.params.get("protocolVersion")
            return offered if isinstance(offered, str) else hint
        return header or hint
    # A server may settle on nonsense to see what the client does; no handshake can
    # settle on a stateless revision either.
    is_sound = agreed in KNOWN_PROTOCOL_VERSIONS and era_of(agreed) is Era.HANDSHAKE
    return agreed if is_sound else None


def message_faults(
    message: Message, revision: str | None, question: Message | None
) -> Iterator[str]:
    """
    What is wrong with a message of the client, ``path: what is wrong`` each.

    `question` is the server's request that it answers, where it is an answer and the
    request was seen.
    """
    yield from envelope_faults(message)
    if revision is None or message.kind is Kind.INVALID:
        return
    if revision not in KNOWN_PROTOCOL_VERSIONS:
        yield "unknown revision"
        return
    if message.batched and revision >= Revision.V2025_06_18.value:
        yield "body: a batch is not part of this revision"
    if message.is_answer:
        yield from _answer_faults(message, revision, question)
    elif isinstance(message.payload.get("params", {}), dict):
        yield from _call_faults(message, revision)


def _answer_faults(
    message: Message, revision: str, question: Message | None
) -> Iterator[str]:
    if era_of(revision) is Era.STATELESS:
        yield "body: a client sends no responses in this revision"
        return
    result = message.payload.get("result")
    if question is None or question.method is None or not isinstance(result, dict):
        return
    try:
        methods.validate_client_result(question.method, revision, result)
    except KeyError:
        return  # the server asked what the revision does not have
    except ValidationError as error:
        yield from _schema_faults(error, {"result": result}, "result")


def _call_faults(message: Message, revision: str) -> Iterator[str]:
    """The faults of a request or a notification by the schema."""
    method = message.method or ""
    if is_extension(method):
        return
    if message.kind is Kind.REQUEST and method in _NOTIFICATIONS:
        yield "id: a notification has none"
        return
    if message.kind is Kind.NOTIFICATION and method in _REQUESTS:
        yield "id: is missing"
        return
    params = dict(message.params) if "params" in message.payload else None
    try:
        if message.kind is Kind.REQUEST:
            methods.validate_client_request(method, revision, params)
        else:
            methods.validate_client_notification(method, revision, params)
    except KeyError:
        if method in _REQUESTS | _NOTIFICATIONS:
            yield "method: is not part of this revision"
        else:
            yield "method: is not one that a client sends"
    except ValidationError as error:
        yield from _schema_faults(error, {"params": params})


def _name_space(method: str) -> str:
    return method.removeprefix("notifications/").partition("/")[0]


_CORE = frozenset(
    method
    for table in (
        methods.CLIENT_REQUESTS,
        methods.CLIENT_NOTIFICATIONS,
        methods.SERVER_REQUESTS,
        methods.SERVER_NOTIFICATIONS,
    )
    for method, _ in table
)
_CORE_NAME_SPACES = frozenset(_name_space(method) for method in _CORE)


def is_extension(method: str) -> bool:
    """Whether a method is in a name space that the core does not use."""
    return "/" in method and _name_space(method) not in _CORE_NAME_SPACES


def _schema_faults(
    error: ValidationError, payload: Json, below: str = ""
) -> Iterator[str]:
    """The faults of one validation, one a place, with the places as JSON has them."""
    for fault in error.errors(include_url=False):
        if fault["input"] == PLACEHOLDER:
            continue
        location = (below, *fault["loc"]) if below else fault["loc"]
        missing = fault["type"] == "missing"
        path, is_whole = _json_path(location, payload, missing=missing)
        if is_whole:
            context = fault.get("ctx", {})
            yield f"{path}: {_wording(fault['type'], context.get('expected'))}"
        else:
            yield f"{path}: is none of the kinds that the schema allows"


def _json_path(
    location: tuple[int | str, ...], payload: Json, *, missing: bool
) -> tuple[str, bool]:
    """
    The place of a fault in the message, and whether that is all of `location`.

    The validator puts the name of a union's member between two steps of a path. There
    the path ends: each member has faults of its own, and none is the client's.
    """
    path = ""
    for index, step in enumerate(location):
        is_last_missing = missing and index == len(location) - 1
        if isinstance(payload, dict) and isinstance(step, str):
            if step not in payload and not is_last_missing:
                return path, False
            path = f"{path}.{step}" if path else step
            payload = payload.get(step)
        elif isinstance(payload, list) and isinstance(step, int):
            path = f"{path}[{step}]"
            payload = payload[step]
        else:
            return path, False
    return path, True


_WORDINGS = {
    "missing": "is missing",
    "string": "expected a string",
    "int": "expected an integer",
    "float": "expected a number",
    "bool": "expected a boolean",
    "list": "expected an array",
    "dict": "expected an object",
    "model": "expected an object",
}


def _wording(kind: str, expected: object) -> str:
    if kind == "literal_error":
        return f"expected {expected}"
    return _WORDINGS.get(kind.partition("_")[0], f"does not fit the schema ({kind})")
