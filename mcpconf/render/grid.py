"""A table as wide as the terminal lets it be: a grid, or one block a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabulate import tabulate

from mcpconf.render.text import cells, one_line, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

_CELL = 200
#: What a cell says that has nothing to say; a block leaves it out.
_NOTHING = frozenset({"", "-"})


def grid(
    headers: Sequence[str], rows: Sequence[Sequence[str]], width: int | None
) -> str:
    """
    A grid where it fits in `width` columns (None: any do); else a block for each row.

    Each cell is one line, whoever wrote it: a line end in it would be a row.
    """
    table = [[one_line(cell, _CELL) for cell in row] for row in rows]
    text = tabulate(table, list(headers), tablefmt="simple", disable_numparse=True)
    if width is None or is_within(text, width):
        return text
    return "\n".join(_block(headers, row, width) for row in table)


def is_within(text: str, width: int) -> bool:
    """Whether no line of `text` is wider than `width`."""
    return all(cells(line) <= width for line in text.splitlines())


def _block(headers: Sequence[str], row: Sequence[str], width: int) -> str:
    lines = [row[0]]
    lines += [
        f"  {header}: {cell}"
        for header, cell in zip(headers[1:], row[1:], strict=True)
        if cell not in _NOTHING
    ]
    return "\n".join(wrapped(line, width) for line in lines)
