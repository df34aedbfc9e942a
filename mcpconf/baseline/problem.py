"""Everything that is wrong with one file, found before any of it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from mcpconf.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpconf.decode import Reader

T = TypeVar("T")

#: More than a person mends in one go.
SHOWN = 20
#: A line of a message; names in a file may be of any length.
_LINE = 400


class Problems:
    """
    Collects what is wrong, each with its place.

    A part that cannot be read is given its fallback, so that the rest is looked at too;
    nothing that was read may be used before `raise_any` has returned.
    """

    def __init__(self, source: Path | str) -> None:
        """Begin with nothing wrong with `source`."""
        self._source = source
        self._found: list[tuple[str, str]] = []

    def __len__(self) -> int:
        return len(self._found)

    def add(self, where: str, problem: str) -> None:
        """One thing that is wrong at one place."""
        self._found.append((where, problem))

    def read(
        self, parent: Reader, name: str, decode: Callable[[Reader], T], fallback: T
    ) -> T:
        """A member that must be there, decoded; the fallback where that fails."""
        try:
            return decode(parent.key(name))
        except DecodeError as error:
            self.add(error.where, error.problem)
            return fallback

    def only(self, reader: Reader, *names: str) -> None:
        """Every member that is not in `names` is a problem of its own."""
        for unknown in sorted(set(reader.object()) - set(names)):
            place = f"{reader.where}.{unknown}" if reader.where else unknown
            self.add(place, f"unknown key; known: {', '.join(names)}")

    def raise_any(self) -> None:
        """
        Tell them all, one a line, in the order of the file.

        :raises DecodeError: there is one.
        """
        if not self._found:
            return
        if len(self._found) == 1:
            where, problem = self._found[0]
            raise DecodeError(self._source, _line(where), _line(problem))
        lines = [
            _line(f"{where}: {problem}" if where else problem)
            for where, problem in self._found[:SHOWN]
        ]
        if len(self._found) > SHOWN:
            lines.append(f"and {len(self._found) - SHOWN} more")
        told = "".join(f"\n  {line}" for line in lines)
        raise DecodeError(self._source, "", f"{len(self._found)} problems:{told}")


def _line(text: str) -> str:
    """Names come from the file: none of them may break a line, or fill the screen."""
    shown = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    return shown if len(shown) <= _LINE else f"{shown[:_LINE]}…"
