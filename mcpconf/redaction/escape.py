"""
Escapes resolved, and the way back to where they stood.

Percent-encoding and JSON's backslashes are undone to any depth at once, so that a
secret is the same bytes however often it was wrapped.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache

# One escape each: percent-encoding to any depth (%41, %2541), or a run of
# backslashes of any length with the character it protects.
_ESCAPE = re.compile(
    rb"%(?:25)*[0-9A-Fa-f]{2}"
    rb"|(?<!\\)\\++(?:u[dD][89abAB][0-9A-Fa-f]{2}\\++u[dD][c-fC-F][0-9A-Fa-f]{2}"
    rb"|u[0-9A-Fa-f]{4}|[\x00-\x09\x0b-\x7f]|[\xc0-\xff][\x80-\xbf]*+)?"
)
# To the search these are alike, because some encoding makes them so: a form writes a
# space as a plus, JSON a tab as a backslash and a `t`. Backslashes do not count at all:
# the depth of escaping is not known, so neither is their number.
_ALIKE = bytes.maketrans(b" \t\b\f\n\r", b"+tbfnr")


_BYTES = {b"%02x" % byte: bytes([byte]) for byte in range(256)} | {b"5c": b""}


def _resolve(escape: bytes) -> bytes:
    if escape.startswith(b"%"):
        return _BYTES[escape[-2:].lower()]
    return _unprotected(escape.lstrip(b"\\"))


@lru_cache(maxsize=1024)
def _unprotected(protected: bytes) -> bytes:
    """What a run of backslashes and `protected` stand for."""
    if len(protected) < len(b"uXXXX"):
        return protected
    units = b"".join(
        bytes.fromhex(unit.decode("ascii"))
        for unit in re.findall(rb"u([0-9A-Fa-f]{4})", protected)
    )
    text = units.decode("utf-16-be", "surrogatepass")
    return text.replace("\\", "").encode("utf-8", "surrogatepass")


class Resolved:
    """Bytes with their escapes resolved, and the way back to where each stood."""

    def __init__(self, data: bytes) -> None:
        pieces: list[bytes] = []
        position = size = 0
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._new_starts: list[int] = []
        self._new_ends: list[int] = []
        for escape in _ESCAPE.finditer(data):
            resolved = _resolve(escape[0])
            size += escape.start() - position
            self._starts.append(escape.start())
            self._ends.append(escape.end())
            self._new_starts.append(size)
            size += len(resolved)
            self._new_ends.append(size)
            pieces += data[position : escape.start()], resolved
            position = escape.end()
        pieces.append(data[position:])
        self.data = b"".join(pieces).translate(_ALIKE)

    def whole(self, start: int, end: int) -> tuple[int, int]:
        """A stretch of the original bytes, widened to cut no escape in two."""
        first = bisect_right(self._starts, start) - 1
        if first >= 0 and start < self._ends[first]:
            start = self._starts[first]
        last = bisect_right(self._starts, end - 1) - 1
        if last >= 0 and end < self._ends[last]:
            end = self._ends[last]
        return start, end

    def origin(self, start: int, end: int) -> tuple[int, int]:
        """The original stretch of a stretch of the resolved bytes."""
        first = bisect_right(self._new_starts, start) - 1
        last = bisect_right(self._new_starts, end - 1) - 1
        return self._back(first, start)[0], self._back(last, end - 1)[1]

    def _back(self, escape: int, position: int) -> tuple[int, int]:
        if escape < 0:
            return position, position + 1
        if position < self._new_ends[escape]:
            return self._starts[escape], self._ends[escape]
        moved = position - self._new_ends[escape] + self._ends[escape]
        return moved, moved + 1
