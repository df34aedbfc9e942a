"""Who owed an answer when a log ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpconf.render.html.sequence import short
from mcpconf.wire_message import Kind, Side, id_key

if TYPE_CHECKING:
    from mcpconf.wire_message import Message


@dataclass(slots=True)
class _Question:
    """A request that nobody has answered yet."""

    message: Message
    #: The server it was said to, or by.
    party: str
    was_cancelled: bool = False


@dataclass(slots=True)
class Ledger:
    """Requests without an answer, kept while messages are read."""

    was_spoken: bool = False
    _open: list[_Question] = field(default_factory=list)

    def note(self, message: Message, party: str) -> None:
        """Take the next message, of or to the server named `party`."""
        self.was_spoken = True
        if message.kind is Kind.REQUEST:
            self._open.append(_Question(message=message, party=party))
        elif message.is_answer:
            self._settle(message, party)
        elif message.method == "notifications/cancelled":
            wanted = id_key(message.params.get("requestId"))
            for each in self._open:
                is_own = each.message.direction is message.direction
                if is_own and id_key(each.message.id) == wanted:
                    each.was_cancelled = True

    def _settle(self, answer: Message, party: str) -> None:
        alike = [
            each
            for each in self._open
            if each.party == party
            and each.message.direction is not answer.direction
            and id_key(each.message.id) == id_key(answer.id)
        ]
        # Ids begin anew in each session: the request of the same exchange first.
        alike.sort(key=lambda each: each.message.exchange != answer.exchange)
        if alike:
            self._open.remove(alike[0])

    def endings(self) -> tuple[str, ...]:
        """A sentence for each request that is still open, or one that says none is."""
        if not self.was_spoken:
            return ("No message is in the log: nobody spoke.",)
        said = tuple(map(_sentence, self._open))
        return said or ("Nobody: every request was answered.",)


def _sentence(question: _Question) -> str:
    message = question.message
    if message.direction is Side.CLIENT:
        who = question.party or "server"
        where = ""
    else:
        who, where = "client", f" of the {question.party}" if question.party else ""
    text = f"The {who} never answered {message.method} (id {message.id}){where}"
    return short(f"{text}, which was cancelled." if question.was_cancelled else text)
