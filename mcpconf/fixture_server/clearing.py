"""
Messages cleared of secrets, at the pace of a server.

The same as `redact_json`. Most messages hold nothing that it would change, and most of
their names and texts were seen before; to find that out is a fraction of its work.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from mcpconf.redaction import redact_json

if TYPE_CHECKING:
    Json = Any

#: Deeper messages are left to `redact_json`, which has a bound of its own.
_DEPTH = 20
#: Longer texts are not worth remembering.
_SHORT = 200


def cleared(value: Json) -> Json:
    """`value` without secrets; itself where there are none."""
    return value if _is_clean(value, 0) else redact_json(value)


def _is_clean(value: Json, depth: int) -> bool:
    if isinstance(value, str):
        if len(value) <= _SHORT:
            return _is_clean_text(value)
        return bool(redact_json(value) == value)
    if depth >= _DEPTH:
        return False
    below = depth + 1
    if isinstance(value, dict):
        for name, each in value.items():
            if not (_is_clean_name(name) and _is_clean(each, below)):
                return False
    elif isinstance(value, list | tuple):
        for each in value:
            # An option's value is the next word; the long way knows.
            if not _is_clean(each, below) or (
                isinstance(each, str) and each.startswith("--")
            ):
                return False
    return True  # numbers, true, false and null say something by their name only


@lru_cache(maxsize=4096)
def _is_clean_text(text: str) -> bool:
    return bool(redact_json(text) == text)


@lru_cache(maxsize=4096)
def _is_clean_name(name: str) -> bool:
    # A name may be a secret, or may make one of whatever is under it.
    probe: Json = {name: "1"}
    return bool(redact_json(probe) == probe)
