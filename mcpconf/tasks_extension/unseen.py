"""
What SEP-2663 asks for beside its demands with an id, and why no check can be had of it.

Upstream leaves these sentences out as well, but for those about 2025-11-25.
"""

from __future__ import annotations

from dataclasses import dataclass

from mcpconf.tasks_extension.definition import Level, sep
from mcpconf.tasks_extension.requirement import Binds

_POLLING = sep("task-polling")
_UPDATE = sep("task-update-requests")
_PROTOCOL_ERRORS = sep("protocol-errors")
_BACKWARD = sep("backward-compatibility")
_SECURITY = sep("security-implications")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unseen:
    """A sentence of the SEP that has no id upstream, and no check here."""

    sentence: str
    page: str
    level: Level
    binds: Binds
    reason: str


_INSIDE = "It happens inside the client; nothing of it is on the wire."
_TRUST = "It is between a host and its user; nothing of it is on the wire."

UNSEEN: tuple[Unseen, ...] = (
    Unseen(
        sentence="An implementation leaves room for further kinds of request.",
        page=sep("supported-methods"),
        level=Level.SHOULD,
        binds=Binds.SERVER,
        reason="It is about design; no message shows it.",
    ),
    Unseen(
        sentence="A client polls until the task has ended, or cancels it.",
        page=_POLLING,
        level=Level.SHOULD,
        binds=Binds.CLIENT,
        reason="A client may give up at any time; that it did is no violation.",
    ),
    Unseen(
        sentence="A client keeps task ids where a crash does not lose them.",
        page=_POLLING,
        level=Level.SHOULD,
        binds=Binds.CLIENT,
        reason=_INSIDE,
    ),
    Unseen(
        sentence="A client looks at inputRequests, and answers them in tasks/update.",
        page=_UPDATE,
        level=Level.MUST,
        binds=Binds.CLIENT,
        reason="Looking is not on the wire; that it answers is checked of a client "
        "(`task-input`).",
    ),
    Unseen(
        sentence="A client treats each input request as it would the same request "
        "outside of a task.",
        page=_UPDATE,
        level=Level.MUST,
        binds=Binds.CLIENT,
        reason=_TRUST,
    ),
    Unseen(
        sentence="A client shows a request once, however often it is polled.",
        page=_UPDATE,
        level=Level.SHOULD,
        binds=Binds.CLIENT,
        reason=_TRUST,
    ),
    Unseen(
        sentence="A client remembers which keys it has answered.",
        page=_UPDATE,
        level=Level.SHOULD,
        binds=Binds.CLIENT,
        reason="That it answers once is checked of a client (`task-input`); what it "
        "remembers is its own affair.",
    ),
    Unseen(
        sentence="An error says what caused it.",
        page=_PROTOCOL_ERRORS,
        level=Level.SHOULD,
        binds=Binds.SERVER,
        reason="No measure tells when a message informs.",
    ),
    Unseen(
        sentence="A host trusts what a task asks for no more than any other request.",
        page=_SECURITY,
        level=Level.MUST,
        binds=Binds.CLIENT,
        reason=_TRUST,
    ),
    Unseen(
        sentence="Task ids cannot be guessed or enumerated.",
        page=_SECURITY,
        level=Level.MUST,
        binds=Binds.SERVER,
        reason="How random an id is cannot be read off a few of them; that they are "
        "distinct and cannot be counted is checked (`tasks/creation`).",
    ),
    Unseen(
        sentence="Every request about a task is authorized as its creator's.",
        page=_SECURITY,
        level=Level.MUST,
        binds=Binds.SERVER,
        reason="It takes two principals, and the way in which a server tells them "
        "apart is its own.",
    ),
    Unseen(
        sentence="At 2025-11-25 a declaration of the extension enables nothing.",
        page=_BACKWARD,
        level=Level.MUST,
        binds=Binds.SERVER,
        reason="It takes a server of both eras; these checks speak 2026-07-28 alone.",
    ),
    Unseen(
        sentence="A server that has the old tasks too still lets their clients ask for "
        "and cancel the tasks of the old flow.",
        page=_BACKWARD,
        level=Level.SHOULD,
        binds=Binds.SERVER,
        reason="It takes a server of both eras; these checks speak 2026-07-28 alone.",
    ),
)
