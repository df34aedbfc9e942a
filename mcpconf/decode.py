"""
Typed reads from untrusted JSON; every fault names its path.

`load_json` reads a bounded file and refuses what JSON leaves to taste: duplicate
keys, NaN and infinities, bytes that are not UTF-8. `Reader` walks the decoded value
and raises `DecodeError` with a path such as ``cases[0].checks[2].status``.
"""

from __future__ import annotations

import json
import math
import stat
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NoReturn, TypeAlias, TypeVar

from mcpconf.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

_Word = TypeVar("_Word", bound=StrEnum)

#: Larger than any file we read by an order of magnitude, small enough to hold.
MAX_BYTES = 16 * 1024 * 1024
#: Of a report, a baseline and a gate's answer: five times those of 100,000 checks.
REPORT_BYTES = 512 * 1024 * 1024


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):  # 1e999 is JSON, and no number we could write again
        raise ValueError(f"{digits[:20]} is too large")
    return value


def parse_json(text: str | bytes, source: Path | str) -> Json:
    """
    Decode JSON strictly.

    :raises DecodeError: not UTF-8, not JSON, a duplicate key, NaN or an infinity.
    """

    def pairs(items: list[tuple[str, Json]]) -> dict[str, Json]:
        result: dict[str, Json] = {}
        for key, value in items:
            if key in result:
                raise DecodeError(source, "", f"duplicate key {key!r}")
            result[key] = value
        return result

    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        decoded: Json = json.loads(
            text,
            object_pairs_hook=pairs,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
    except UnicodeDecodeError as error:
        raise DecodeError(
            source, f"byte {error.start}", "is not UTF-8; write the file as UTF-8"
        ) from None
    except json.JSONDecodeError as error:
        raise DecodeError(
            source, f"line {error.lineno} column {error.colno}", error.msg
        ) from None
    except ValueError as error:  # ours, or Python's for over 4300 digits
        raise DecodeError(source, "", str(error)) from None
    except RecursionError:
        raise DecodeError(source, "", "is nested too deeply") from None
    return decoded


def load_bytes(path: Path, *, max_bytes: int = MAX_BYTES) -> bytes:
    """
    Read one file of at most `max_bytes` bytes.

    :raises DecodeError: unreadable, no regular file (which might never end), too large.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise DecodeError(path, "", "is no regular file")
        with path.open("rb") as stream:
            content = stream.read(max_bytes + 1)
    except OSError as error:
        raise DecodeError(path, "", f"cannot be read: {error.strerror}") from None
    if len(content) > max_bytes:
        raise DecodeError(path, "", f"is larger than {max_bytes} bytes")
    return content


def load_json(path: Path, *, max_bytes: int = MAX_BYTES) -> Json:
    """
    Read and decode one JSON file of at most `max_bytes` bytes.

    :raises DecodeError: refused by `load_bytes` or `parse_json`.
    """
    return parse_json(load_bytes(path, max_bytes=max_bytes), path)


def _kind(value: object) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string"}
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "object"
    if isinstance(value, list):
        return "array"
    return names.get(type(value), type(value).__name__)


@dataclass(frozen=True, slots=True)
class Reader:
    """A decoded value together with where it came from."""

    value: Json
    source: Path | str
    where: str = ""

    def fail(self, problem: str) -> NoReturn:
        """Raise the `DecodeError` of this place."""
        raise DecodeError(self.source, self.where, problem)

    def _expected(self, what: str) -> NoReturn:
        self.fail(f"expected {what}, got {_kind(self.value)}")

    def object(self) -> Mapping[str, Json]:
        """The value as an object."""
        if not isinstance(self.value, dict):
            self._expected("an object")
        return self.value

    def key(self, name: str) -> Reader:
        """A member that must be present."""
        members = self.object()
        place = f"{self.where}.{name}" if self.where else name
        if name not in members:
            raise DecodeError(self.source, place, "is missing")
        return Reader(members[name], self.source, place)

    def get(self, name: str) -> Reader | None:
        """A member that may be absent or null."""
        members = self.object()
        if members.get(name) is None:
            return None
        return self.key(name)

    def only(self, *names: str) -> Reader:
        """Refuse every member that is not in `names`."""
        unknown = sorted(set(self.object()) - set(names))
        if unknown:
            self.fail(f"unknown key {', '.join(unknown)}; known: {', '.join(names)}")
        return self

    def items(self) -> Iterator[Reader]:
        """The elements of an array."""
        if not isinstance(self.value, list):
            self._expected("an array")
        for index, element in enumerate(self.value):
            yield Reader(element, self.source, f"{self.where}[{index}]")

    def members(self) -> Iterator[tuple[str, Reader]]:
        """The members of an object, in file order."""
        for name in self.object():
            yield name, self.key(name)

    def string(self) -> str:
        """The value as a string."""
        if not isinstance(self.value, str):
            self._expected("a string")
        return self.value

    def integer(self) -> int:
        """The value as an integer; a boolean is not one."""
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            self._expected("an integer")
        return self.value

    def number(self) -> float:
        """The value as a number; a boolean is not one."""
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float)):
            self._expected("a number")
        return self.value

    def boolean(self) -> bool:
        """The value as a boolean."""
        if not isinstance(self.value, bool):
            self._expected("a boolean")
        return self.value

    def word(self, kind: type[_Word]) -> _Word:
        """The value as one of the words of an enumeration."""
        try:
            return kind(self.string())
        except ValueError:
            self.fail(f"unknown word {self.value!r}; known: {', '.join(kind)}")

    def strings(self) -> tuple[str, ...]:
        """The value as an array of strings."""
        return tuple(element.string() for element in self.items())
