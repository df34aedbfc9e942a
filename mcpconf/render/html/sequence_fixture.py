"""
The wire logs of our own servers, as one sequence.

The logs of the server with the faults and of the good server beside it bear times of
one clock, the driver's steps too, so all three are laid together.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mcpconf.decode import Reader, parse_json
from mcpconf.errors import DecodeError
from mcpconf.render.html.ending import Ledger
from mcpconf.render.html.sequence import (
    TORN,
    body_of,
    headers_text,
    read_spoken,
    short,
)
from mcpconf.render.html.transcript import Moment, Way
from mcpconf.wire_message import Side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from mcpconf.render.html.transcript import Step

_STDIO = -1
_NOT_KEPT = "longer than the server keeps; only its beginning is here"


@dataclass(slots=True)
class _Reading:
    """One server's log, while it is read."""

    party: str
    ledger: Ledger
    moments: list[Moment] = field(default_factory=list)
    #: Where the last HTTP line of an exchange is that no message has joined yet.
    lines: dict[tuple[int, Side], int] = field(default_factory=dict)

    def take(self, record: Reader) -> None:
        kind = record.key("type").string()
        if kind in {"received", "sent"}:
            side = Side.CLIENT if kind == "received" else Side.SERVER
            self._message(side, record)
            return
        http = {
            "request": self._request,
            "response": self._response,
            "finished": self._finished,
        }
        if kind in http:
            http[kind](record)
            return
        told = _EVENTS.get(kind)
        label, shape = told(record) if told else (kind, "connection")
        self._add(record, Way.ASIDE, label, shape)

    def _add(self, record: Reader, way: Way, label: str, kind: str) -> Moment:
        moment = Moment(
            t_ms=record.key("t").number(),
            way=way,
            label=short(label),
            kind=kind,
            party=self.party,
        )
        self.moments.append(moment)
        return moment

    def _request(self, record: Reader) -> None:
        number = record.key("exchange").integer()
        line = f"{record.key('method').string()} {record.key('target').string()}"
        self._line(record, number, Side.CLIENT, line)

    def _response(self, record: Reader) -> None:
        number = record.key("exchange").integer()
        line = f"HTTP {record.key('status').integer()}"
        self._line(record, number, Side.SERVER, line)

    def _line(self, record: Reader, number: int, side: Side, line: str) -> None:
        way = Way.TO_SERVER if side is Side.CLIENT else Way.TO_CLIENT
        moment = self._add(record, way, line, "http")
        headers = {
            name: each.strings() for name, each in record.key("headers").members()
        }
        self.moments[-1] = replace(moment, headers=headers_text(headers))
        self.lines[number, side] = len(self.moments) - 1

    def _message(self, side: Side, record: Reader) -> None:
        exchange, stream = record.get("exchange"), record.get("stream")
        number = exchange.integer() if exchange else _STDIO
        value = record.key("message").value
        text = record.get("text")
        if value is None:
            label, kind = "no JSON", "other"
            body, cut = body_of(text.string() if text else "")
            if record.key("cut").boolean():
                label, cut = "a long message", _NOT_KEPT
        else:
            spoken = read_spoken(side, number, value)
            label, kind, body, cut = spoken.label, spoken.kind, spoken.body, spoken.cut
            for each in spoken.messages:
                self.ledger.note(each, self.party)
        way = Way.TO_SERVER if side is Side.CLIENT else Way.TO_CLIENT
        moment = replace(
            self._add(record, way, label, kind),
            body=body,
            size=record.key("bytes").integer(),
            cut=cut,
            carrier=f"{stream.string()} stream" if stream else "",
        )
        self.moments[-1] = self._joined(moment, number, side)

    def _joined(self, moment: Moment, number: int, side: Side) -> Moment:
        """A message and the HTTP line right before it are one."""
        place = self.lines.pop((number, side), None)
        if moment.carrier in {"stdio stream", "json stream"}:
            moment = replace(moment, carrier="")
        if place is None or place != len(self.moments) - 2:
            return moment
        line = self.moments.pop(place)
        carrier = line.label if not moment.carrier else f"{line.label}, a stream"
        return replace(moment, t_ms=line.t_ms, carrier=carrier, headers=line.headers)

    def _finished(self, record: Reader) -> None:
        how = record.key("how").string()
        if how == "complete":
            return
        who = {"client-closed": "the client", "server-cut": "the server"}.get(how, how)
        number = record.key("exchange").integer()
        self._add(record, Way.ASIDE, f"{who} closed exchange {number}", "connection")


def _start(record: Reader) -> tuple[str, str]:
    return f"the server starts, process {record.key('pid').integer()}", "connection"


def _connection(record: Reader) -> tuple[str, str]:
    by = record.get("by")
    what = f"connection {record.key('connection').integer()}"
    who = f" by the {by.string()}" if by else ""
    return f"{what} {record.key('event').string()}{who}", "connection"


def _fault(record: Reader) -> tuple[str, str]:
    profile, detail = record.key("profile").string(), record.key("detail").string()
    return f"fault {profile}: {detail}", "fault"


def _signal(record: Reader) -> tuple[str, str]:
    return f"the server receives {record.key('name').string()}", "connection"


def _exit(record: Reader) -> tuple[str, str]:
    return f"the server exits with {record.key('code').integer()}", "connection"


_EVENTS: dict[str, Callable[[Reader], tuple[str, str]]] = {
    "start": _start,
    "connection": _connection,
    "fault": _fault,
    "signal": _signal,
    "exit": _exit,
}


def fixture_sequence(
    logs: Iterable[tuple[str, bytes, str]], steps: Iterable[Step]
) -> tuple[tuple[Moment, ...], tuple[str, ...]]:
    """
    The sequence of all servers (a name, a log, where it is) and the steps between.

    :raises DecodeError: a line is JSON and not a record of the log.
    """
    ledger = Ledger()
    moments: list[Moment] = []
    torn: list[str] = []
    for party, content, source in logs:
        reading = _Reading(party=party, ledger=ledger)
        if _read(reading, content, source):
            torn.append(f"{TORN} ({source})")
        moments += reading.moments
    moments += (
        Moment(t_ms=each.t_ms, way=Way.ASIDE, label=f"step {each.name}", kind="step")
        for each in steps
        if each.t_ms is not None
    )
    moments.sort(key=lambda moment: moment.t_ms)
    return tuple(moments), (*ledger.endings(), *torn)


def _read(reading: _Reading, content: bytes, source: str) -> bool:
    """Read one log; whether a line of it is torn."""
    text = content.decode("utf-8", "replace")
    is_torn = False
    for number, line in enumerate(
        text.removesuffix("\n").split("\n") if text else [], start=1
    ):
        try:
            value = parse_json(line, source)
        except DecodeError:
            is_torn = True  # what a server that is killed while writing leaves
            continue
        reading.take(Reader(value, source, f"line {number}"))
    return is_torn
