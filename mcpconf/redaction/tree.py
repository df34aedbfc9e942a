"""
Secrets out of decoded JSON and out of headers, and the secrets themselves.

Member names decide over what is under them; every other string is redacted as text, so
a JSON text, a form or a URL inside a string is seen through.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from mcpconf.redaction.name import (
    OPTION_BEGINS,
    PLACEHOLDER,
    Kind,
    kind_after,
    kind_of,
    secrets_in,
    without_secret,
)
from mcpconf.redaction.stream import Redactor, redact_text
from mcpconf.redaction.value import NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpconf.decode import Json
    from mcpconf.redaction.value import Secrets

#: What lies deeper is replaced as a whole; no message we judge comes near.
MAX_DEPTH = 100


def redact_json(value: Json, secrets: Secrets = NONE) -> Json:
    """
    The same tree without secrets, in names and values.

    Under a sensitive name a string or number becomes the placeholder, also in arrays;
    where only its last word is sensitive, numbers stay. True, false and null say
    nothing and stay; an object has names of its own. In an array the string after a
    sensitive long option is its value.
    """
    return _redacted(value, secrets, None, 0)


def _redacted(value: Json, secrets: Secrets, kind: Kind | None, depth: int) -> Json:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        text = str(value)
        is_secret = kind not in {None, Kind.TEXT} or secrets.redact(text) != text
        return PLACEHOLDER if is_secret else value
    if isinstance(value, str):
        return _line(value, secrets, kind)
    if depth >= MAX_DEPTH:
        return PLACEHOLDER
    if isinstance(value, list):
        return [
            _redacted(each, secrets, each_kind, depth + 1)
            for each, each_kind in _kinds(value, kind, secrets)
        ]
    result: dict[str, Json] = {}
    for name, each in value.items():
        kept = unused = _line(name, secrets, None)
        number = 1
        while unused in result:  # two names may differ in their secret only
            number += 1
            unused = f"{kept} ({number})"
        result[unused] = _redacted(each, secrets, kind_of(name), depth + 1)
    return result


def _kinds(
    words: list[Json], kind: Kind | None, secrets: Secrets
) -> Iterator[tuple[Json, Kind | None]]:
    """What an array holds, and of which kind: its own, or that of a value."""
    after: Kind | None = None
    for each in words:
        is_value = (
            after is not None
            and isinstance(each, str)
            and not OPTION_BEGINS.match(secrets.redact(each))
        )
        yield each, after if is_value and kind is None else kind
        after = kind_after(each)


def redact_headers(
    headers: Mapping[str, str | list[str]], secrets: Secrets = NONE
) -> dict[str, str | list[str]]:
    """
    Headers without secrets, repeated ones as the lists they are.

    Of ``Authorization`` the scheme stays, of cookies the names and attributes.
    """
    result: dict[str, str | list[str]] = {}
    for name, value in headers.items():
        kind = kind_of(name)
        result[redact_text(name, secrets)] = (
            _line(value, secrets, kind)
            if isinstance(value, str)
            else [_line(line, secrets, kind) for line in value]
        )
    return result


def _line(value: str, secrets: Secrets, kind: Kind | None) -> str:
    if kind is None:
        is_common = not secrets and len(value) <= _SHORT
        return _cleared(value) if is_common else redact_text(value, secrets)
    # A scheme or the name of a cookie stays, and may still hold a known secret.
    return without_secret(kind, secrets.redact(value))


def _look(text: str) -> tuple[str, ...]:
    """The secrets a text shows by their place."""
    seen: list[str] = []
    # A line's end, so that all of it is read in one piece.
    Redactor(found=seen.append).feed(f"{text}\n")
    return tuple(seen)


#: Header names, methods and the like come by the thousand in every log.
_SHORT = 200
_seen = lru_cache(maxsize=4096)(_look)
_cleared = lru_cache(maxsize=4096)(redact_text)


def collect(value: Json) -> set[str]:
    """
    The secrets that a text, a message or a whole wire record shows by their place.

    They are decoded, so that `Secrets.of` can find them again in any other form; of
    Basic credentials the password is there by itself. ``state`` and
    ``code_challenge`` open nothing and are left out.
    """
    found: set[str] = set()
    for secret in _collected(value, None, 0):
        found.add(secret)
    return found - {"", PLACEHOLDER}


def _collected(value: Json, kind: Kind | None, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        if kind is not None:
            yield from secrets_in(kind, value)
        else:
            yield from _seen(value) if len(value) <= _SHORT else _look(value)
    elif isinstance(value, (list, dict)) and depth < MAX_DEPTH:
        if isinstance(value, list):
            for each, each_kind in _kinds(value, kind, NONE):
                yield from _collected(each, each_kind, depth + 1)
        else:
            for name, each in value.items():
                yield from _collected(name, None, depth + 1)
                yield from _collected(each, kind_of(name), depth + 1)
    elif isinstance(value, bool) or kind in {None, Kind.TEXT}:
        return
    elif isinstance(value, (int, float)):
        yield str(value)
