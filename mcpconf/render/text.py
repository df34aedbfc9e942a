"""Text of others: what it says, and none of what it could do where it is printed."""

from __future__ import annotations

import re
import shutil
import sys
import unicodedata

#: CI services take these as commands wherever they stand in a line of a log.
_RUNNER_COMMAND = re.compile(r"##(?=\[|vso\[)")
#: Where a line may break; never before ``::``, which at the start of a line is a
#: command of GitHub's runner.
_BREAK = re.compile(r" (?!::)")
#: How far the lines after the first stand in.
_INDENT = 2


def terminal_width() -> int | None:
    """
    The width of the terminal that standard output is; None where it is none.

    What is piped is for a program or a file, which have no width.
    """
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def printable(text: str) -> str:
    """
    `text` with U+FFFD for every character that is not printed, line ends apart.

    Messages come from clients under test. An escape sequence could rewrite the verdict
    above it, and a lone surrogate could not be printed at all. What a log's reader
    would take as a command is pulled apart.
    """
    plain = "".join(
        each if each.isprintable() or each == "\n" else "\N{REPLACEMENT CHARACTER}"
        for each in text
    )
    return _RUNNER_COMMAND.sub("## ", plain)


def one_line(text: str, limit: int) -> str:
    """`text` on one printable line of at most `limit` characters, and an ellipsis."""
    # A megabyte of spaces is not worth splitting: twice the limit says enough.
    head = text if len(text) <= 4 * limit else text[: 4 * limit] + "…"
    flat = printable(" ".join(head.split()))
    return flat if len(flat) <= limit else f"{flat[:limit]}…"


def cells(text: str) -> int:
    """How many columns of a terminal a printable `text` takes."""
    return sum(
        0
        if unicodedata.combining(each)
        else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def wrapped(line: str, width: int) -> str:
    """
    `line` over several, none wider than `width`, with a hanging indent.

    A word is never broken: paths and addresses stay whole, wider or not.
    """
    if cells(line) <= width:
        return line
    words = _BREAK.split(line.lstrip(" "))
    margin = " " * (len(line) - len(line.lstrip(" ")))
    lines = [[margin + words[0]]]
    used = cells(lines[0][0])
    for word in words[1:]:
        taken = cells(word)
        if used + 1 + taken <= width:
            lines[-1].append(word)
            used += 1 + taken
        else:
            hung = f"{margin}{' ' * _INDENT}{word}"
            lines.append([hung])
            used = cells(hung)
    return "\n".join(" ".join(each) for each in lines)
