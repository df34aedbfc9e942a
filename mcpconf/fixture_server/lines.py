"""Lines out of chunks, however they are cut, and within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

#: More than any profile or client of ours sends; a longer line is refused.
LINE_LIMIT = 64 * 1024 * 1024


class Line(NamedTuple):
    """One line without its newline; of an over-long one, the beginning."""

    data: bytes
    is_whole: bool


class LineSplitter:
    """Linear in the input; keeps at most `limit` bytes and the last chunk."""

    def __init__(self, limit: int = LINE_LIMIT) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[Line]:
        """Take a chunk; the lines that it completes."""
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            yield self._line(part)
        self._keep(rest)

    def close(self) -> Iterator[Line]:
        """End the input; the unfinished line, if there is one."""
        if self._size:
            yield self._line(b"")

    def _keep(self, part: bytes) -> None:
        room = self._limit - self._size
        self._size += len(part)
        if part and room > 0:
            self._parts.append(part[:room])

    def _line(self, last: bytes) -> Line:
        self._keep(last)
        line = Line(b"".join(self._parts), self._size <= self._limit)
        self._parts.clear()
        self._size = 0
        return line
