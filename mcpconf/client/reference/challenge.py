"""What a 401 asks for: the ``WWW-Authenticate`` header (RFC 9110, section 11.6.1)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.client.reference.web import Answer

_PARAMETER = re.compile(r'([A-Za-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')


class Challenge(NamedTuple):
    """The first challenge of an answer."""

    #: In lower case; empty where the answer has no challenge.
    scheme: str
    #: Names in lower case.
    parameters: Mapping[str, str]


def challenge_of(answer: Answer) -> Challenge:
    """The challenge of an answer."""
    text = answer.headers.get("WWW-Authenticate") or ""
    scheme, _, rest = text.strip().partition(" ")
    return Challenge(
        scheme.lower(),
        {
            name.lower(): re.sub(r"\\(.)", r"\1", quoted) or plain
            for name, quoted, plain in _PARAMETER.findall(rest)
        },
    )
