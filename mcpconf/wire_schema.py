"""
The client's messages against the schema of the revision they are sent in.

The suite is blind on several of its own servers (`initialize`, elicitation, all of
OAuth); here everything the client sent is looked at. What cannot be judged fairly is
not: bodies the witness did not keep whole, methods of extensions, values that redaction
replaced, and whatever follows from nonsense a server sent on purpose. A problem's text
names the place and never the value.

Importing this module imports the schemas, which takes half a second: import it late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcp_types import methods
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from mcpconf.redaction import PLACEHOLDER
from mcpconf.revision import Era, Revision, era_of
from mcpconf.wire import agreed_version, client_exchanges
from mcpconf.wire_envelope import envelope_faults
from mcpconf.wire_message import Dialogue, Kind, Message, Side, parse_body

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpconf.decode import Json
    from mcpconf.wire_log import Exchange, WireLog

_REQUESTS = methods.SPEC_CLIENT_METHODS
_NOTIFICATIONS = methods.SPEC_CLIENT_NOTIFICATION_METHODS


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One way in which one message breaks the schema of its revision."""

    exchange: int
    direction: Side = Side.CLIENT
    method: str | None
    #: The revision it was judged by; `None` for faults of any revision.
    revision: str | None
    #: ``path: what is wrong``
    problem: str


def violations(log: WireLog, revision_hint: str | None) -> tuple[Violation, ...]:
    """
    What is wrong with the client's messages, in the order they were sent.

    `revision_hint` stands in where the wire names no revision: the one the scenario
    runs at.
    """
    session = _Session(log, revision_hint)
    found: list[Violation] = []
    for exchange in client_exchanges(log):
        if _is_kept(exchange):
            found += session.problems(exchange)
    return tuple(dict.fromkeys(found))


def _is_kept(exchange: Exchange) -> bool:
    """Whether a body is as the client sent it, or still reads as JSON."""
    if not exchange.request_whole or exchange.aborted:
        return False
    return PLACEHOLDER not in exchange.request_body or _is_json(exchange.request_body)


def _says_json(exchange: Exchange) -> bool:
    """Whether the client calls a body JSON; there is none on an empty request."""
    kind = exchange.request_header("content-type") or ""
    is_json = kind.partition(";")[0].strip().lower() == "application/json"
    return is_json and bool(exchange.request_body.strip())


def _is_json(body: str) -> bool:
    try:
        parse_body(body)
    except ValueError:
        return False
    return True


class _Session:
    """The revision each message of one log is sent in, and its faults by that."""

    def __init__(self, log: WireLog, hint: str | None) -> None:
        self._hint = hint
        self._dialogue = Dialogue(log)
        self._exchanges = {each.id: each for each in log.exchanges}
        #: What each answered `initialize` settled, by its exchange.
        self._agreed: dict[int, str] = {}
        for each in self._dialogue.messages:
            if each.direction is Side.CLIENT and each.method == "initialize":
                answer = self._dialogue.answer_to(each)
                version = agreed_version(answer) if answer else None
                if version is not None:
                    self._agreed[each.exchange] = version

    def problems(self, exchange: Exchange) -> Iterator[Violation]:
        """The faults of what the client sent in one exchange."""
        sent = [
            each
            for each in self._dialogue.messages
            if each.exchange == exchange.id and each.direction is Side.CLIENT
        ]
        if _says_json(exchange) and not _is_json(exchange.request_body):
            yield Violation(
                exchange=exchange.id,
                method=None,
                revision=None,
                problem="body: is not JSON",
            )
        for message in sent:
            revision = self._revision_of(message, exchange)
            for problem in self._faults(message, revision):
                yield Violation(
                    exchange=exchange.id,
                    method=message.method,
                    revision=revision,
                    problem=problem,
                )

    def _faults(self, message: Message, revision: str | None) -> Iterator[str]:
        yield from envelope_faults(message)
        if revision is None or message.kind is Kind.INVALID:
            return
        if revision not in KNOWN_PROTOCOL_VERSIONS:
            yield "unknown revision"
            return
        if message.batched and revision >= Revision.V2025_06_18.value:
            yield "body: a batch is not part of this revision"
        if message.is_answer:
            yield from self._answer_faults(message, revision)
        elif isinstance(message.payload.get("params", {}), dict):
            yield from _call_faults(message, revision)

    def _answer_faults(self, message: Message, revision: str) -> Iterator[str]:
        if era_of(revision) is Era.STATELESS:
            yield "body: a client sends no responses in this revision"
            return
        question = self._dialogue.question_of(message)
        result = message.payload.get("result")
        if question is None or question.method is None or not isinstance(result, dict):
            return
        try:
            methods.validate_client_result(question.method, revision, result)
        except KeyError:
            return  # the server asked what the revision does not have
        except ValidationError as error:
            yield from _schema_faults(error, {"result": result}, "result")

    def _revision_of(self, message: Message, exchange: Exchange) -> str | None:
        """
        The revision a message is sent in; `None` where it cannot be told.

        Its own word first, then what the handshake of its session settled, then the
        header, then the hint.
        """
        if message.meta_revision is not None:
            return message.meta_revision
        if message.method == "initialize":
            agreed = self._agreed.get(exchange.id)
            offered = message.params.get("protocolVersion")
            if agreed is None:
                return offered if isinstance(offered, str) else self._hint
        else:
            agreed = self._settled_before(exchange)
            if agreed is None:
                return exchange.request_header("mcp-protocol-version") or self._hint
        # A server may settle on nonsense to see what the client does; no handshake
        # can settle on a stateless revision either.
        is_sound = agreed in KNOWN_PROTOCOL_VERSIONS and era_of(agreed) is Era.HANDSHAKE
        return agreed if is_sound else None

    def _settled_before(self, exchange: Exchange) -> str | None:
        name = exchange.request_header("mcp-session-id")
        settled = None
        for number, version in self._agreed.items():
            opened = self._exchanges[number]
            if opened.port != exchange.port or opened.started_ms > exchange.started_ms:
                continue
            settled = version
            if (
                name not in {None, PLACEHOLDER}
                and opened.response_header("mcp-session-id") == name
            ):
                return version
        return settled


def _call_faults(message: Message, revision: str) -> Iterator[str]:
    """The faults of a request or a notification by the schema."""
    method = message.method or ""
    if _is_extension(method):
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


def _is_extension(method: str) -> bool:
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
