"""What was seen of one case, in the order in which it happened."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Way(StrEnum):
    """Who spoke to whom."""

    TO_SERVER = "to-server"
    TO_CLIENT = "to-client"
    #: Nobody: a step begins, a connection opens, a fault is served.
    ASIDE = "aside"


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """One message, or one event beside the messages."""

    #: Milliseconds of the log's own clock.
    t_ms: float
    way: Way
    #: A JSON-RPC method, ``result`` or ``error`` with its id, an HTTP line, an event.
    label: str
    #: ``request``, ``notification``, ``result``, ``error``, ``http``, ``other``,
    #: ``connection``, ``fault``, ``step``.
    kind: str
    #: Which server, where there are several; the sender, where it is not the client.
    party: str = ""
    #: The HTTP line that carried it.
    carrier: str = ""
    headers: str = ""
    body: str = ""
    #: Bytes on the wire; None where there was no body.
    size: int | None = None
    #: What of the body is not here, in words.
    cut: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the driver."""

    name: str
    #: ``ok``, ``error``, ``unsupported``, ``timed-out``.
    state: str
    detail: str = ""
    #: On the clock of our servers; None where the driver does not say.
    t_ms: float | None = None
    took_ms: float | None = None
    #: What the client answered, as JSON; empty where nothing is known.
    value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """Everything that a page shows of one case's evidence."""

    #: Where it is, relative to the report's folder.
    evidence: str
    #: Why there is nothing of it; None where it was read.
    missing: str | None = None
    #: What of it could not be read.
    faults: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    moments: tuple[Moment, ...] = ()
    #: Who owed what when the log ended.
    endings: tuple[str, ...] = ()
    #: How the client's program ended.
    client_end: str = ""
