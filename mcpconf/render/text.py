"""Text of others on a terminal: what it says, and none of what it could do there."""

from __future__ import annotations


def printable(text: str) -> str:
    """
    `text` with U+FFFD for every character that is not printed, line ends apart.

    Messages come from clients under test. An escape sequence could rewrite the verdict
    above it, and a lone surrogate could not be printed at all.
    """
    return "".join(
        each if each.isprintable() or each == "\n" else "\N{REPLACEMENT CHARACTER}"
        for each in text
    )
