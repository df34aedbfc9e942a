"""
Which names hold a secret, and what is left of its value.

Names are told by their ending, whatever their spelling: ``access_token``,
``accessToken``, ``X-Access-Token`` and ``idp_access_token`` are one. So is every name
whose last word is token, secret or credentials, whatever comes before. Of a credential
the scheme stays, of a cookie the name and the attributes.
"""

from __future__ import annotations

import base64
import re
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote, unquote_plus

if TYPE_CHECKING:
    from collections.abc import Iterator

PLACEHOLDER = "[REDACTED]"


class Kind(Enum):
    """How a sensitive value is built."""

    SECRET = "secret"  # noqa: S105
    #: Told by the last word alone. A number under such a name counts something.
    TEXT = "text"
    CREDENTIALS = "credentials"
    COOKIE = "cookie"
    SET_COOKIE = "set-cookie"


#: The kinds of which nothing is kept.
WHOLE = frozenset({Kind.SECRET, Kind.TEXT})

#: The endings of sensitive names, for use inside a case-insensitive pattern. An
#: ``invalid_token`` or ``invalid_jwt`` is an error code, not a secret; MCP's
#: ``progressToken`` opens nothing; ``resource-parameter-in-token`` is a check of the
#: suite. A ``token`` alone is one in URLs and forms only.
NAME = (
    r"(?:access|refresh|(?<!inval)id|subject|actor|auth|bearer|session)[-_]?token"
    r"|client[-_]?secret|secret[-_]?(?:access[-_]?)?key|private[-_]?key(?:[-_]?pem)?"
    r"|(?:(?<!in)valid|audience|expired)[-_]?jwt|passw(?:or)?d|passphrase"
    r"|code[-_]?verifier|device[-_]?code|api[-_]?key|assertion|dpop"
    r"|authorization|(?:set[-_]?)?cookie"
    r"|(?<=[-_.])(?<!progress.)(?<!invalid.)(?<!-in-)token"
    r"|secret|credentials?"
    r"|(?-i:(?<=[A-Za-z0-9])(?<!rogress)Token)|api[. ]key"
)
#: Behind a space ``token`` is mostly prose; where a name is known to end, it is none.
SPACED = r"(?<=[\w)] )(?<!progress )token"
_ENDS_IN_NAME = re.compile(rf"(?:{NAME}|{SPACED})\Z", re.IGNORECASE)
_LAST_WORDS = frozenset(
    {"token", "secret", "credential", "credentials", "api.key", "api key"}
)
#: A long option of a command line; its value may be the next word.
OPTION = re.compile(r"(?<!-)--\w[\w.-]*+\Z")
#: What follows an option and begins so is another option, not its value.
OPTION_BEGINS = re.compile(rf"--(?:\w|{re.escape(PLACEHOLDER)})")

#: Words that are also prose or scenario names: ``assertion: the server answers``.
#: They count as a name only in quotes or before an equals sign.
PROSE = frozenset({"assertion", "dpop"})
#: The same, but only where they are the whole name: ``MY_SECRET: value`` is no prose.
PROSE_ALONE = frozenset({"secret", "credential", "credentials"})

_SCHEMES = r"Bearer|Basic|DPoP|Digest|Negotiate|NTLM|Token|ApiKey|GNAP|AWS4-HMAC-SHA256"
_CREDENTIALS = re.compile(
    rf"(\s*+(?:{_SCHEMES})(?:[\s+]|%(?:25)*20)++)(.+)", re.IGNORECASE | re.DOTALL
)
_SCHEME_ALONE = re.compile(rf"\s*+(?:{_SCHEMES})\s*+", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/]*+")
_COOKIE_END = re.compile(r"(;)")
# A comma also parts two cookies, where a proxy joined repeated header lines; the
# comma inside `Expires=Wed, 21 Oct 2026` is not followed by a name and an equals sign.
_SET_COOKIE_END = re.compile(r"(;|,(?=\s*+[^\s;,=]++=))")
_ATTRIBUTES = frozenset(
    {"domain", "expires", "max-age", "path", "priority", "samesite", "version"}
)


@lru_cache(maxsize=4096)
def kind_of(name: str) -> Kind | None:
    """The kind of value a member, parameter or header of this name has."""
    # No sensitive ending is longer; a hostile name costs no more than this.
    match = _ENDS_IN_NAME.search(name, max(0, len(name) - 40))
    return None if match is None else kind_of_ending(match[0])


def kind_of_ending(ending: str) -> Kind:
    """The kind of the name that ended in `ending`, a match of `NAME`."""
    lowered = ending.lower()
    if lowered in _LAST_WORDS:
        return Kind.TEXT
    if lowered == "authorization":
        return Kind.CREDENTIALS
    if lowered == "cookie":
        return Kind.COOKIE
    return Kind.SET_COOKIE if lowered.endswith("cookie") else Kind.SECRET


def kind_after(word: object) -> Kind | None:
    """The kind of the word that follows `word` on a command line: ``--token``."""
    if isinstance(word, str) and word.startswith("--") and OPTION.match(word):
        return kind_of(word)
    return None


def without_secret(kind: Kind, value: str) -> str:
    """What may be kept of a sensitive value; an empty one says so and stays."""
    if not value.strip():
        return value
    if kind in WHOLE:
        return PLACEHOLDER
    if kind is Kind.CREDENTIALS:
        if _SCHEME_ALONE.fullmatch(value):
            return value
        match = _CREDENTIALS.fullmatch(value)
        return PLACEHOLDER if match is None else match[1] + PLACEHOLDER
    return "".join(kept for kept, _ in _cookies(kind, value))


def secrets_in(kind: Kind, value: str) -> Iterator[str]:
    """The secrets of a sensitive value, decoded as far as they are encoded."""
    if kind in WHOLE:
        yield value.strip()
    elif kind is Kind.CREDENTIALS:
        match = _CREDENTIALS.fullmatch(value)
        if match is None:
            if not _SCHEME_ALONE.fullmatch(value):
                yield value.strip()
        else:
            yield match[2].strip()
            if match[1].strip().lower() == "basic":
                yield from basic_passwords(match[2].strip())
    else:
        for _, secret in _cookies(kind, value):
            yield secret.strip()


def _cookies(kind: Kind, value: str) -> Iterator[tuple[str, str]]:
    """Every piece of a cookie header: what is kept of it, and its secret or ''."""
    end = _COOKIE_END if kind is Kind.COOKIE else _SET_COOKIE_END
    may_be_attribute = False
    for index, piece in enumerate(end.split(value)):
        if index % 2:
            may_be_attribute = kind is Kind.SET_COOKIE and piece == ";"
            yield piece, ""
            continue
        name, equals, secret = piece.partition("=")
        if may_be_attribute and (not equals or name.strip().lower() in _ATTRIBUTES):
            yield piece, ""
        elif equals:
            yield name + equals + (PLACEHOLDER if secret.strip() else secret), secret
        else:
            yield PLACEHOLDER if piece.strip() else piece, piece


def basic_passwords(credentials: str) -> Iterator[str]:
    """The password inside Basic credentials, as sent and percent-decoded."""
    match = _BASE64.match(unquote(credentials).replace("\\", ""))
    digits = "" if match is None else match[0]
    # A cut-off value still shows its beginning.
    digits = digits[:-1] if len(digits) % 4 == 1 else digits
    pair = base64.b64decode(digits + "=" * (-len(digits) % 4))
    _, colon, password = pair.decode("utf-8", "replace").partition(":")
    if colon:
        yield password
        yield unquote_plus(password)  # RFC 6749, 2.3.1 encodes both halves
