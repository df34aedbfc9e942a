"""
A large report, read piece by piece, with the strictness of the whole.

Reports are written by `storage.json_bytes`, so the lists of checks, which are nearly
all of a report, begin and end at lines of a known indentation; a string has no line
ends. So each list is cut out and parsed by itself in pieces, and what is left of the
report is parsed with the list's number in its place. Where both parse, and each number
is where it belongs, once, that is what the whole says. Anything else is parsed whole.
"""

from __future__ import annotations

import gc
import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpconf.decode import load_bytes, parse_json
from mcpconf.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mcpconf.decode import Json, Reader

#: Bytes of checks that are parsed at once.
_PIECE = 1 << 20
_OPENINGS = (b'\n      "checks": [\n', b'\n      "notScored": [\n')
_NUMBERED = re.compile(rb'"(?:checks|notScored)"\s*:\s*\[\s*[0-9]')
_CLOSING = b"\n      ]"
_BETWEEN = b"\n        },\n"


@dataclass(frozen=True, slots=True)
class Pieces:
    """The lists that were cut out of a report, by the number in their place."""

    source: Path | str = ""
    content: bytes = b""
    #: Where in the content each begins and ends.
    lists: Mapping[int, tuple[int, int]] = field(default_factory=dict)

    def of(self, place: Reader) -> Iterator[Json]:
        """The list at one place of a report, in pieces; whole where it was left."""
        span = self.lists.get(_number_in(place.value))
        if span is None:
            yield place.value
            return
        start, last = span
        while start < last:
            cut = self.content.find(_BETWEEN, start + _PIECE, last)
            end = last if cut < 0 else cut + len(_BETWEEN) - 2
            yield parse_json(b"[" + self.content[start:end] + b"]", self.source)
            start = end + 1  # past the comma


def load_pieces(path: Path, *, max_bytes: int) -> tuple[Json, Pieces]:
    """
    A report without its lists of checks, and these.

    :raises DecodeError: unreadable, too large, or refused by `parse_json`.
    """
    content = load_bytes(path, max_bytes=max_bytes)
    if _NUMBERED.search(content):  # looks like a list that was cut out, and is none
        return parse_json(content, path), Pieces()
    lists: dict[int, tuple[int, int]] = {}
    try:
        rest = parse_json(_cut(content, lists), path)
        pieces = Pieces(path, content, lists)
        if sorted(_numbers(rest)) == sorted(lists):
            return rest, pieces
    except DecodeError:
        pass  # the whole says where
    return parse_json(content, path), Pieces()


def _cut(content: bytes, lists: dict[int, tuple[int, int]]) -> bytes:
    """`content` with a number for each list; where that was goes to `lists`."""
    parts = []
    done = 0
    for start in sorted(
        start for opening in _OPENINGS for start in _ends_of(opening, content)
    ):
        end = content.find(_CLOSING, start)
        if start < done or end < 0:
            continue
        number = len(lists) + 1
        lists[number] = (start, end)
        parts += [content[done:start], b"%d" % number]
        done = end
    return b"".join((*parts, content[done:]))


def _ends_of(word: bytes, content: bytes) -> Iterator[int]:
    """Where each `word` in `content` has ended."""
    at = content.find(word)
    while at >= 0:
        yield at + len(word)
        at = content.find(word, at + len(word))


def _number_in(value: Json) -> int:
    """The number in place of a list; 0 where the list was left."""
    if isinstance(value, list) and len(value) == 1 and type(value[0]) is int:
        return value[0]
    return 0


def _numbers(report: Json) -> list[int]:
    """Which numbers are where a list of checks belongs."""
    cases = report.get("cases") if isinstance(report, dict) else None
    return [
        number
        for case in (cases if isinstance(cases, list) else ())
        if isinstance(case, dict)
        for name in ("checks", "notScored")
        if (number := _number_in(case.get(name)))
    ]


@contextmanager
def uncollected() -> Iterator[None]:
    """
    Without the collector of cycles, which else walks every record, again and again.

    Reading makes hundreds of thousands of records and no cycle.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
