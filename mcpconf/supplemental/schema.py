"""
What a client sent to a fixture server against the schema of its revision.

The rules of a message are those of the official scenarios (`wire_rule`). Here the whole
conversation is known, so there are more: ids and progress tokens that are still in use,
and answers to what was never asked. Not judged are messages too long to be kept, what
redaction replaced, and answers after the server served a fault: they may follow from
it.

Importing this module imports the schemas, which takes half a second: import it late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcpconf.redaction import PLACEHOLDER
from mcpconf.revision import Era, era_of
from mcpconf.wire import agreed_version
from mcpconf.wire_message import META_REVISION, Kind, Message, Side, id_key, read_value
from mcpconf.wire_rule import is_extension, message_faults, revision_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from mcpconf.decode import Json
    from mcpconf.revision import Revision
    from mcpconf.supplemental.observation import Exchange, Seen, ServerView

_SESSION = "mcp-session-id"
_REQUIRED_META = (META_REVISION, "io.modelcontextprotocol/clientCapabilities")


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One way in which one message of the client breaks its revision."""

    #: The message's position in the wire log.
    index: int
    method: str | None
    #: The revision it was judged by; `None` for faults of any revision.
    revision: str | None
    #: ``path: what is wrong``
    problem: str


def violations(
    view: ServerView, revision: Revision, *, asked: Collection[str] = ()
) -> tuple[Violation, ...]:
    """
    What is wrong with the client's messages to one server, in the order of the log.

    `revision` is the leg's and stands in where the wire names none. `asked` are
    protocol versions that the scenario had the client offer: one of them that nobody
    knows is not the client's invention.
    """
    conversation = _Conversation(view, revision.value)
    found = [
        each
        for each in conversation.violations()
        if each.problem != "unknown revision" or each.revision not in asked
    ]
    return tuple(dict.fromkeys(sorted(found, key=lambda each: each.index)))


class _Conversation:
    """One server's view, and what it takes to judge the messages in it."""

    def __init__(self, view: ServerView, hint: str) -> None:
        self._view = view
        self._hint = hint
        self._exchanges = {each.id: each for each in view.exchanges}
        self._messages = {
            each.index: tuple(read_value(Side.CLIENT, each.index, each.message))
            for each in view.received
        }
        #: Where the client's messages go; the same port may serve other JSON too.
        self._paths = {
            self._path(each) for each in view.received if self._messages[each.index]
        }
        #: What each answered `initialize` settled, by its position.
        self._agreed: dict[int, tuple[Seen, str]] = {}
        for each in view.requests("initialize"):
            version = self._answered_version(each)
            if version is not None:
                self._agreed[each.index] = (each, version)

    def violations(self) -> Iterator[Violation]:
        for seen in self._view.received:
            if seen.cut:
                continue
            if not self._messages[seen.index]:
                yield from self._no_message(seen)
            for message in self._messages[seen.index]:
                revision = self._revision_of(message, seen)
                for problem in self._faults(message, seen, revision):
                    yield Violation(
                        index=seen.index,
                        method=message.method,
                        revision=revision,
                        problem=problem,
                    )
        yield from self._reused("id", lambda each: each.id)
        yield from self._reused(
            "params._meta.progressToken", lambda each: each.meta.get("progressToken")
        )

    def _no_message(self, seen: Seen) -> Iterator[Violation]:
        """What is none, unless it is something else on another path of the server."""
        exchange = self._exchange(seen)
        if exchange is not None:
            kind = (exchange.header("content-type") or "").partition(";")[0]
            is_json = kind.strip().lower() == "application/json"
            if not seen.bytes or not is_json or self._path(seen) not in self._paths:
                return
        is_json = seen.message is not None or (seen.text or "").strip() == "null"
        problem = "is no JSON-RPC message" if is_json else "is not JSON"
        yield Violation(
            index=seen.index, method=None, revision=None, problem=f"body: {problem}"
        )

    def _faults(
        self, message: Message, seen: Seen, revision: str | None
    ) -> Iterator[str]:
        if not message.is_answer:
            yield from message_faults(message, revision, None)
            if revision is not None and message.kind is Kind.REQUEST:
                yield from _extension_faults(message, revision)
            return
        if any(fault.index < seen.index for fault in self._view.of_type("fault")):
            return
        question = self._question_of(message, seen)
        yield from message_faults(message, revision, question)
        is_whole = not any(
            each.cut for each in self._view.sent if each.index < seen.index
        )
        # An error without an id is of a message that could not be read.
        has_id = _is_id(message.id) and message.id != PLACEHOLDER
        if question is None and has_id and is_whole:
            yield "id: is of no request of the server"

    def _question_of(self, answer: Message, seen: Seen) -> Message | None:
        """The last request of the server under the id of a client's answer."""
        for each in reversed(self._view.sent):
            if (
                each.index < seen.index
                and each.is_request
                and id_key(each.id) == id_key(answer.id)
                and (seen.exchange is not None or each.connection == seen.connection)
            ):
                return next(read_value(Side.SERVER, each.index, each.message), None)
        return None

    def _reused(
        self, path: str, value_of: Callable[[Seen], Json]
    ) -> Iterator[Violation]:
        """Requests that take what an unanswered one of the same session still uses."""
        last: dict[tuple[str, str], Seen] = {}
        for seen in self._view.received:
            if seen.is_notification and seen.method == "notifications/cancelled":
                over = id_key(seen.params.get("requestId"))
                for place, each in tuple(last.items()):
                    if place[0] == self._scope(seen) and id_key(each.id) == over:
                        del last[place]
            value = value_of(seen) if seen.is_request else None
            if not _is_id(value) or value == PLACEHOLDER:
                continue
            place = (self._scope(seen), id_key(value))
            earlier = last.get(place)
            if earlier is not None and self._is_unanswered(earlier, seen):
                yield Violation(
                    index=seen.index,
                    method=seen.method,
                    revision=None,
                    problem=f"{path}: is in use by a request that has no answer yet",
                )
            last[place] = seen

    def _is_unanswered(self, earlier: Seen, seen: Seen) -> bool:
        """Whether `earlier` was surely open when `seen` came."""
        answer = self._view.answer_to(earlier)
        if answer is not None and answer.index < seen.index:
            return False
        exchange = self._exchange(earlier)
        if exchange is not None:
            # When an exchange ended is not on record, only that and how.
            may_be_over = exchange.how is not None and answer is None
            return not may_be_over and exchange.how != "client-closed"
        return not any(
            each.cut
            and each.connection == earlier.connection
            and earlier.index < each.index < seen.index
            for each in self._view.sent
        )

    def _revision_of(self, message: Message, seen: Seen) -> str | None:
        exchange = self._exchange(seen)
        if message.method == "initialize":
            settled = self._agreed.get(seen.index)
            agreed = settled[1] if settled else None
        else:
            agreed = self._settled_before(seen)
        return revision_of(
            message,
            agreed=agreed,
            header=exchange.header("mcp-protocol-version") if exchange else None,
            hint=self._hint,
        )

    def _settled_before(self, seen: Seen) -> str | None:
        """What was settled last, on the same connection or (HTTP) in the session."""
        exchange = self._exchange(seen)
        session = exchange.header(_SESSION) if exchange else None
        settled = None
        for opening, version in self._agreed.values():
            if opening.index > seen.index:
                break
            if exchange is None and opening.connection != seen.connection:
                continue
            settled = version
            if session in {None, PLACEHOLDER}:
                continue
            opened = self._exchange(opening)
            if opened is not None and opened.response_headers.get(_SESSION) == (
                session,
            ):
                return version
        return settled

    def _answered_version(self, opening: Seen) -> str | None:
        answer = self._view.answer_to(opening)
        if answer is None:
            return None
        for message in read_value(Side.SERVER, answer.index, answer.message):
            return agreed_version(message)
        return None

    def _exchange(self, seen: Seen) -> Exchange | None:
        return None if seen.exchange is None else self._exchanges.get(seen.exchange)

    def _path(self, seen: Seen) -> str:
        exchange = self._exchange(seen)
        return urlsplit(exchange.target).path if exchange else ""

    def _scope(self, seen: Seen) -> str:
        """Whose ids must differ: a session's; on stdio that is a connection."""
        if seen.exchange is None:
            return f"connection {seen.connection}"
        exchange = self._exchange(seen)
        return (exchange.header(_SESSION) if exchange else None) or ""


def _extension_faults(message: Message, revision: str) -> Iterator[str]:
    """The schema does not have an extension's methods, but asks this of any request."""
    if era_of(revision) is not Era.STATELESS or not is_extension(message.method or ""):
        return
    meta = message.params.get("_meta", {})
    if not isinstance(meta, dict):
        if meta != PLACEHOLDER:
            yield "params._meta: expected an object"
        return
    for name in _REQUIRED_META:
        if name not in meta:
            yield f"params._meta.{name}: is missing"


def _is_id(value: Json) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)
