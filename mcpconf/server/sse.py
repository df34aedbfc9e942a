"""
Events out of a text/event-stream that is still arriving.

As the HTML standard's "Interpreting an event stream" says, with one difference: bytes
that are not UTF-8 are refused, since they would be lost in a message. `mcpconf.sse`
is for a stream that is there as a whole.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING

from mcpconf.sse import Event

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Not `str.splitlines`, which also ends lines where the standard does not.
_LINE_END = re.compile(r"\r\n|\n|\r")


class EventReader:
    """What was fed becomes events, each as soon as its empty line is there."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._is_begun = False
        #: A CR ended the last line; an LF that follows belongs to it.
        self._after_cr = False
        #: The line that is not ended yet, in the pieces it came in.
        self._line: list[str] = []
        self._name = ""
        self._data: list[str] = []

    @property
    def is_inside(self) -> bool:
        """Whether the data of an event has begun to arrive that is not whole."""
        return bool(self._data) or "".join(self._line).startswith("data")

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """
        The events that `chunk` completes.

        :raises UnicodeDecodeError: it is not UTF-8; after the events before that.
        """
        fault: UnicodeDecodeError | None = None
        try:
            text = self._decode(chunk)
        except UnicodeDecodeError as error:
            fault, text = error, error.object[: error.start].decode()
        yield from self._events(text)
        if fault is not None:
            raise fault

    def _events(self, text: str) -> Iterator[Event]:
        if not self._is_begun and text:
            self._is_begun = True
            text = text.removeprefix("\ufeff")
        if self._after_cr and text:
            self._after_cr = False
            text = text.removeprefix("\n")
        if text.endswith("\r"):
            self._after_cr = True
        *whole, rest = _LINE_END.split(text)
        for line in whole:
            self._line.append(line)
            event = self._take("".join(self._line))
            self._line = []
            if event:
                yield event
        if rest:
            self._line.append(rest)

    def _take(self, line: str) -> Event | None:
        """Heed one line; the event, if it is the empty line that ends one."""
        if not line:
            name, data = self._name, self._data
            self._name, self._data = "", []
            return Event(name or "message", "\n".join(data)) if data else None
        field, _, value = line.partition(":")  # a comment has an empty field
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._name = value
        return None  # id and retry are for who reconnects; nobody does here
