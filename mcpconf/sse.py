"""
Events out of a text/event-stream, as the HTML standard's "Interpreting" says.

Only whole events come out: a stream that was cut in the middle of one loses that one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Not `str.splitlines`, which also ends lines where the standard does not.
_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class Event:
    """One dispatched event; `name` is ``message`` unless the stream says otherwise."""

    name: str
    data: str


def parse_events(text: str) -> Iterator[Event]:
    """The whole events of a stream, in order; those without data are none."""
    name, data = "", list[str]()
    # What follows the last line end is a line still being sent.
    for line in _LINE_END.split(text.removeprefix("\ufeff"))[:-1]:
        if not line:
            if data:
                yield Event(name or "message", "\n".join(data))
            name, data = "", []
            continue
        field, _, value = line.partition(":")  # a comment has an empty field
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value
