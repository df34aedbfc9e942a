"""The single fields of a baseline file, each refused with what would be accepted."""

from __future__ import annotations

import datetime as dt
import functools
from typing import TYPE_CHECKING, TypeVar

from mcpconf.baseline.entry import Explanation, FailureClass, SuiteIdentity
from mcpconf.identity import LABELS, SOURCES, CheckIdentity
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpconf.baseline.problem import Problems
    from mcpconf.decode import Reader

T = TypeVar("T")

REVISIONS = tuple(each.value for each in Revision)
IDENTITY_KEYS = ("mode", "transport", "source", "scenario", "check_id")
EXPLANATION_KEYS = ("reason", "class", "link", "since", "expires")


def text(reader: Reader) -> str:
    """A string that says something."""
    value = reader.string()
    if not value.strip():
        reader.fail("is empty")
    return value


def word(*known: str) -> Callable[[Reader], str]:
    """A decoder of one of some words."""

    def decode(reader: Reader) -> str:
        value = reader.string()
        if value not in known:
            reader.fail(f"unknown word {value!r}; known: {', '.join(known)}")
        return value

    return decode


def words(*known: str) -> Callable[[Reader], tuple[str, ...]]:
    """A decoder of a list of such words, without repeats, in the order of `known`."""

    def decode(reader: Reader) -> tuple[str, ...]:
        values = [word(*known)(each) for each in reader.items()]
        if len(set(values)) != len(values):
            reader.fail("lists a word twice")
        if values != sorted(values, key=known.index):
            reader.fail(f"is out of order; the order is {', '.join(known)}")
        return tuple(values)

    return decode


def some(
    decode: Callable[[Reader], tuple[str, ...]],
) -> Callable[[Reader], tuple[str, ...]]:
    """The same decoder, which refuses an empty list."""

    def wrapped(reader: Reader) -> tuple[str, ...]:
        values = decode(reader)
        if not values:
            reader.fail("is empty")
        return values

    return wrapped


def maybe(decode: Callable[[Reader], T]) -> Callable[[Reader], T | None]:
    """The same decoder, which takes null as well."""

    def wrapped(reader: Reader) -> T | None:
        return None if reader.value is None else decode(reader)

    return wrapped


def exactly(value: object, why: str) -> Callable[[Reader], None]:
    """A decoder of what may have one value alone."""

    def decode(reader: Reader) -> None:
        if reader.value != value or type(reader.value) is not type(value):
            reader.fail(why)

    return decode


def date(reader: Reader) -> dt.date:
    """A day such as ``2026-11-30``; the other forms of ISO 8601 are not taken."""
    value = reader.string()
    try:
        day = dt.date.fromisoformat(value)
    except ValueError:
        day = None
    if day is None or day.isoformat() != value:
        reader.fail(f"{value!r} is no date such as 2026-11-30")
    return day


def _link(reader: Reader) -> str:
    # It becomes a link of a page: only what a browser opens and never runs.
    value = reader.string()
    if not value.startswith(("https://", "http://")) or any(map(str.isspace, value)):
        reader.fail("expected an address that begins with https://, or null")
    return value


def _since(today: dt.date, reader: Reader) -> str:
    day = date(reader)
    if day > today:
        reader.fail(f"{day} is in the future (today is {today})")
    return day.isoformat()


def _expires(today: dt.date, reader: Reader) -> str:
    day = date(reader)
    if day <= today:
        reader.fail(
            f"expired on {day}: look at it again, then take the entry out or give it"
            " another date"
        )
    return day.isoformat()


def explanation(problems: Problems, entry: Reader, today: dt.date) -> Explanation:
    """Why an entry is there; with fallbacks where `problems` has grown."""
    classes = tuple(each.value for each in FailureClass)
    unknown = FailureClass.UNREVIEWED.value
    return Explanation(
        reason=problems.read(entry, "reason", text, ""),
        failure_class=FailureClass(
            problems.read(entry, "class", word(*classes), unknown)
        ),
        link=problems.read(entry, "link", maybe(_link), None),
        since=problems.read(entry, "since", functools.partial(_since, today), ""),
        expires=problems.read(
            entry, "expires", maybe(functools.partial(_expires, today)), None
        ),
    )


def identity(problems: Problems, entry: Reader) -> CheckIdentity | None:
    """The five members of an entry; None where one cannot be read."""
    before = len(problems)
    found = CheckIdentity(
        revision=problems.read(entry, "mode", word(*REVISIONS), ""),
        transport=problems.read(entry, "transport", word(*LABELS), ""),
        source=problems.read(entry, "source", word(*SOURCES), ""),
        # The original has checks that belong to no scenario.
        scenario=problems.read(entry, "scenario", lambda each: each.string(), ""),
        check_id=problems.read(entry, "check_id", text, ""),
    )
    return found if len(problems) == before else None


def entries(
    problems: Problems, parent: Reader, name: str, keys: Sequence[str]
) -> list[Reader]:
    """The members of a list that are objects with these keys and no others."""
    found: list[Reader] = []
    nothing: list[Reader] = []
    for entry in problems.read(parent, name, lambda each: list(each.items()), nothing):
        if isinstance(entry.value, dict):
            problems.only(entry, *keys)
            found.append(entry)
        else:
            problems.add(entry.where, "expected an object")
    return found


def suite(reader: Reader) -> SuiteIdentity:
    """The suite of a version 2 file."""
    reader.only("repository", "gitRef", "integrity", "catalogue")
    return SuiteIdentity(
        repository=maybe(text)(reader.key("repository")),
        git_ref=text(reader.key("gitRef")),
        integrity=maybe(text)(reader.key("integrity")),
        catalogue=text(reader.key("catalogue")),
    )
