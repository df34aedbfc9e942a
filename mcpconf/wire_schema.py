"""
The client's messages against the schema of the revision they are sent in.

The suite is blind on several of its own servers (`initialize`, elicitation, all of
OAuth); here everything the client sent is looked at. What cannot be judged fairly is
not: bodies the witness did not keep whole, and what `wire_rule` spares. A problem's
text names the place and never the value.

Importing this module imports the schemas, which takes half a second: import it late.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.redaction import PLACEHOLDER
from mcpconf.wire import agreed_version, client_exchanges
from mcpconf.wire_message import Dialogue, Message, Side, parse_body
from mcpconf.wire_rule import message_faults, revision_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpconf.wire_log import Exchange, WireLog


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
            is_answer = message.is_answer
            question = self._dialogue.question_of(message) if is_answer else None
            for problem in message_faults(message, revision, question):
                yield Violation(
                    exchange=exchange.id,
                    method=message.method,
                    revision=revision,
                    problem=problem,
                )

    def _revision_of(self, message: Message, exchange: Exchange) -> str | None:
        return revision_of(
            message,
            agreed=(
                self._agreed.get(exchange.id)
                if message.method == "initialize"
                else self._settled_before(exchange)
            ),
            header=exchange.request_header("mcp-protocol-version"),
            hint=self._hint,
        )

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
