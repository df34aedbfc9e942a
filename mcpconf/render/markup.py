"""Markdown that says what others wrote, and nothing more than that; cut to a size."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from mcpconf.render.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

_TICKS = re.compile("`+")
#: An address with nothing in it that Markdown or HTML would read.
_ADDRESS = re.compile(r"https?://[A-Za-z0-9./_~:#?&=%@+-]{1,500}")
#: Kept for the line that says what was left out.
_NOTE = 250


def code(text: str, limit: int = 400) -> str:
    """
    `text` as a code span of one line.

    In there nothing is markup: no HTML, no link, no mention of a person or an issue.
    Not for cells of a table, which a pipe would end even so.
    """
    return _span(one_line(text, limit) or "-")


def command(text: str) -> str:
    """A command to be copied, as a code span: nothing is clipped that anyone types."""
    return _span(one_line(text, 4_000) or "-")


def _span(flat: str) -> str:
    fence = "`" * (1 + max((len(each) for each in _TICKS.findall(flat)), default=0))
    pad = " " if flat.startswith("`") or flat.endswith("`") else ""
    return f"{fence}{pad}{flat}{pad}{fence}"


def address(page: str) -> str:
    """A link to a page; what is none is shown as it is."""
    return f"<{page}>" if _ADDRESS.fullmatch(page) else code(page)


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are ours: numbers and words without markup."""
    lines = [headers, ["---"] * len(headers), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What is shown together: its items are what may be left out."""

    opening: str
    items: tuple[str, ...]
    closing: str = ""
    #: What an item is, for the line that counts those left out.
    noun: str = field(default="entries")


def fitted(head: str, sections: Sequence[Section], limit_bytes: int) -> str:
    """
    `head` and as many items as fit, in their order, and a line on what does not.

    A section is closed whatever becomes of its items.
    """
    parts, room = [head], limit_bytes - _NOTE - _size(head)
    left_out: dict[str, int] = {}
    for section in sections:
        frame = _size(section.opening) + _size(section.closing)
        fitting = 0
        used = frame
        for item in section.items:
            if used + _size(item) > room:
                break
            used += _size(item)
            fitting += 1
        if fitting < len(section.items):
            missing = len(section.items) - fitting
            left_out[section.noun] = left_out.get(section.noun, 0) + missing
        if fitting:
            parts += [section.opening, *section.items[:fitting], section.closing]
            room -= used
    if left_out:
        counts = ", ".join(f"{number} {noun}" for noun, number in left_out.items())
        parts.append(
            f"\n**Cut here:** {counts} left out, to stay below {limit_bytes} bytes. "
            "The report has them all.\n"
        )
    return "".join(chain(parts))


def _size(text: str) -> int:
    return len(text.encode("utf-8"))
