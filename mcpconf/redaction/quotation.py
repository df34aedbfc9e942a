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


def delimiter(mark: str) -> str:
    """A mark without the backslashes that belong to the string before it."""
    return mark if "u" in mark else mark[-1 << _depth(len(mark) - 1) :]


def closing(text: str, start: int, mark: str) -> tuple[int, int]:
    """
    Where the closing mark of the string that `mark` opened starts and ends.

    A string that is still open where its line or the string around it ends, ends
    there, and has no closing mark.
    """
    mark = delimiter(mark)
    for found in _MARK_OR_LINE_END.finditer(text, start):
        if found[0].endswith("\n"):
            return found.start(), found.start()
        own = delimiter(found[0])
        end = found.end() - len(own)
        if own == mark:
            return end, found.end()
        if _is_around(own, mark) or (
            # Perhaps not a string at all but an apostrophe inside one.
            mark.endswith("'")
            and own.endswith('"')
            and IS_CLOSING.match(text, found.end())
        ):
            return end, end
    return len(text), len(text)


def _is_around(found: str, mark: str) -> bool:
    """Whether `found` is of a string around the one that `mark` opened."""
    if "u" in found:
        return found[-1] == mark[-1] and len(found) < len(mark)
    is_same = found[-1] == mark[-1] or ("u" in mark and found[-1] == '"')
    return is_same and found.count("\\") < mark.count("\\")
