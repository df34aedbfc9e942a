r"""
Where a quoted string ends, however deep it is quoted.

The marks of a JSON text inside a JSON string are written ``\"``, one level deeper
``\\\"``: at depth d a delimiting mark has 2**d - 1 backslashes before it, and a
multiple of 2**(d + 1) more where the string itself ends in backslashes. The depth is
thus the number of trailing one-bits in the length of the run, and a string ends at the
first mark that is not deeper than the one that opened it.

Some encoders write the mark inside a string as ``\u0022``; there, a longer run is
deeper.
"""

from __future__ import annotations

import re

#: A quotation mark with the backslashes that tell its depth.
MARK = r"(?:\\*+[\"']|\\++u002[27])"
_MARK_OR_LINE_END = re.compile(rf"\r?\n|(?<!\\){MARK}")
#: What follows a mark that closes an enclosing JSON string instead of opening a value.
CLOSES = r"(?=[ \t]*+(?:[,}\]:\r\n]|\Z))"
IS_CLOSING = re.compile(CLOSES)


def _depth(run: int) -> int:
    """The number of trailing one-bits."""
    return (~run & (run + 1)).bit_length() - 1


def _delimiter_size(run: int) -> int:
    """The length of the mark at the end of `run` backslashes and a mark."""
    return 1 << _depth(run)


def delimiter(mark: str) -> str:
    """A mark without the backslashes that belong to the string before it."""
    return mark if "u" in mark else mark[-_delimiter_size(len(mark) - 1) :]


def closing(text: str, start: int, mark: str) -> tuple[int, int]:
    """
    Where the closing mark of the string that `mark` opened starts and ends.

    A string that is still open at the end of its line ends there.
    """
    for found in _MARK_OR_LINE_END.finditer(text, start):
        if found[0].endswith("\n"):
            return found.start(), found.start()
        size = _closing_size(found[0], mark)
        if size or (
            # Perhaps not a string at all but an apostrophe inside one.
            mark.endswith("'")
            and found[0].endswith('"')
            and IS_CLOSING.match(text, found.end())
        ):
            size = size or _delimiter_size(len(found[0]) - 1)
            return found.end() - size, found.end()
    return len(text), len(text)


def _closing_size(found: str, mark: str) -> int:
    """How much of `found` closes the string that `mark` opened; 0: it does not."""
    run, found_run = mark.count("\\"), found.count("\\")
    if "u" in mark:
        if "u" in found:
            return len(found) if found[-1] == mark[-1] and found_run <= run else 0
        return _delimiter_size(found_run) if found[-1] == '"' and found_run < run else 0
    if found[-1] == mark[-1] and _depth(found_run) <= _depth(run):
        return _delimiter_size(found_run)
    return 0
