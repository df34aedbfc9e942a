"""
Text of others on a page: all of what it says, and none of what it could do there.

Markup is the template's business. This is about characters that act without markup: an
override turns a line around, a control character vanishes, and a lone surrogate cannot
be written to a file at all.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpconf.decode import Json

#: C0 and C1 but for tab and line feed; what directs bidirectional text; zero-width
#: characters; line and paragraph separators; surrogates; noncharacters.
_ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufdd0-\ufdef\ufeff\ufff9-\ufffb\ufffe\uffff]"
)


def _named(match: re.Match[str]) -> str:
    return f"⟦U+{ord(match.group()):04X}⟧"


def shown(text: str) -> str:
    """`text` with every character that acts named by its code point instead."""
    # A carriage return before a line feed is how HTTP ends a line.
    return _ACTING.sub(_named, text.replace("\r\n", "\n"))


def clipped(text: str, limit: int) -> str:
    """
    At most `limit` characters of `text`, and how many more there are.

    No mark is cut off the letter it stands on.
    """
    if len(text) <= limit:
        return text
    end = limit
    while end and unicodedata.combining(text[end]):
        end -= 1
    return f"{text[:end]}… ({len(text) - end} more characters)"


def shown_all(value: Json, limit: int) -> Json:
    """The same value with `shown` and `clipped` done to each of its strings."""
    if isinstance(value, str):
        return clipped(shown(value), limit)
    if isinstance(value, list):
        return [shown_all(each, limit) for each in value]
    if isinstance(value, dict):
        return {
            clipped(shown(key), limit): shown_all(each, limit)
            for key, each in value.items()
        }
    return value
