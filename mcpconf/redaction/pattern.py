"""
The patterns that tell a secret by its place.

All of them are linear: what may repeat is possessive (it is never tried again
shorter), and nothing that may repeat can start in the middle of itself.
"""

from __future__ import annotations

import re
from functools import lru_cache

from mcpconf.redaction.name import NAME, PLACEHOLDER, SPACED
from mcpconf.redaction.quotation import CLOSES, MARK

#: Where a secret may begin; the named groups tell which kind of place it is.
TRIGGER = re.compile(
    # Only a character that starts one of the alternatives is worth trying them.
    r"(?=[abcdeiprstv:])(?:"
    rf"(?P<name>{NAME}|{SPACED}(?={MARK}))"
    rf"(?:(?P<close>{MARK}|%(?:25)*2[27])?[ \t]*+"
    r"(?P<assign>:=|=>|=|:(?!:)|%(?:25)*3[AD])"
    # Perhaps an option, whose value is the next word, or the next of an array. The
    # scheme has an alternative of its own.
    rf"|(?<!dpop)(?P<gap>(?P<last>{MARK})[ \t]*+,|[ \t]++))"
    # In URLs and forms only; what stands before it tells whether this is one.
    r"|(?:(?<![^\s?&#\"'])|(?<=&amp;)|(?<=u0026)|(?<=%26)|(?<=2526)"
    r"|(?<=%3F)|(?<=253F)|(?<=%23)|(?<=2523))"
    r"(?P<parameter>code(?:[-_]?challenge)?|state|token)(?P<equals>=|%(?:25)*3D)"
    # Not a challenge: its parameters are evidence.
    r"|(?P<scheme>Bearer|Basic|DPoP)(?:[ \t]|%(?:25)*20)++"
    r"(?!(?:realm|scope|error(?:_description|_uri)?|resource(?:_metadata)?|algs"
    r"|nonce|charset|title|max_age|acr_values|client_id|authorization_uri)=)"
    r"|(?P<jwt>(?-i:eyJ))"
    r"|(?P<user>://[^\s/?#@:\"'\\<>]*+:)(?=[^\s/?#@\"'\\<>]++@)"
    r")",
    re.IGNORECASE,
)

_PLACEHOLDER = re.escape(PLACEHOLDER)
# A backslash that belongs to a value: not one that escapes a mark or a line's end.
_BACKSLASH = r"\\++(?![\"'nrtu])"


def _value(stops: str, also: str = _PLACEHOLDER) -> str:
    """A value without quotation marks, up to white space or one of `stops`."""
    return rf"(?:{_PLACEHOLDER}|[^\s\"\\{stops}]|{also}|{_BACKSLASH})++"


# A form or URL knows no bare `#` but the one before the URL's fragment.
_FRAGMENT = r"#(?![\w.-]{1,40}=)"
#: The patterns that only what `TRIGGER` found needs; most texts hold nothing like it.
_LATER = {
    "WORD": _value(""),
    "FORM_VALUE": _value("&#", also=_FRAGMENT),
    "QUOTED_FORM_VALUE": _value("&#'", also=_FRAGMENT),
    "JSON_WORD": _value(r",}\]"),
    "ONE_CREDENTIAL": rf"(?i:(?:Bearer|Basic|DPoP|Token)[ \t]++{_value('')})",
    # The rest of a header line; quotation marks only around a parameter's value.
    "HEADER": rf"(?:[^\"\\\r\n]|(?<==)(?:\"(?!{CLOSES})[^\"\\\r\n]*+\""
    rf"|\\++\"(?!{CLOSES})[^\"\\\r\n]*+\\++\")|{_BACKSLASH})++",
    # The mark that opens a value, and what code writes before it: `Some(b"`.
    "OPENING": rf"(?:[A-Za-z_][\w:.]{{0,63}}\(){{0,3}}"
    rf"(?:[bBrRuUfF]|[rR][bB]|[bB][rR])?(?P<mark>{MARK})",
    "ARRAY": rf"\[[ \t]*+(?P<mark>{MARK})(?!{CLOSES})",
    "BLANK": r"(?:\s|\\++[nrt])*+",
    "BLANK_OR_COMMA": r"(?:[\s,]|\\++[nrt])*+",
    # After a string: it was the name of a member.
    "COLON": r"(?:\s|\\++[nrt])*+:",
    "NUMBER": r"-?\d[\d.eE+-]*+",
    # Tells that there is no secret, and is therefore kept.
    "LITERAL": r"(?:null|None|nil|true|True|false|False|undefined)"
    r"(?=[\s,;)}\]\"'\\&]|\Z)",
    "CREDENTIAL": rf"(?:[A-Za-z0-9._~+/=-]|{_PLACEHOLDER}"
    r"|\\++(?:/|u00(?:2[bBdDfF]|3[dD]|5[fF]|7[eE]))"
    r"|%(?:25)*(?:2[BbDdEeFf]|3[Dd]|5[Ff]|7[Ee]))++",
    "JWT_PART": rf"(?:[A-Za-z0-9_-]|{_PLACEHOLDER})++",
    "JWT_REST": rf"(?:\.++(?:[A-Za-z0-9_-]|{_PLACEHOLDER})++)++",
    "USER_PASSWORD": r"[^\s/?#@\"'\\<>]++",
    "ENCODED_BLANK": r"(?:[ \t+]|%(?:25)*20)*+",
    "ENCODED_MARK": r"%(?:25)*2[27]",
}


def __getattr__(name: str) -> re.Pattern[str]:
    if name not in _LATER:
        raise AttributeError(name)
    compiled = globals()[name] = re.compile(_LATER[name])
    return compiled


MAX_DEPTH = 8


def encoding_depth(delimiter: str) -> int:
    """How often a delimiter is percent-encoded: 0 for ``=``, 2 for ``%253D``."""
    return (len(delimiter) - 1) // 2 if delimiter.startswith("%") else 0


@lru_cache(maxsize=2 * MAX_DEPTH)
def encoded_value(depth: int, *, in_marks: bool) -> re.Pattern[str]:
    """A value whose end is percent-encoded at most `depth` times, and at least once."""
    ends = "2[27]" if in_marks else "2[2367]"
    return re.compile(
        rf"(?:{_PLACEHOLDER}|(?!%(?:25){{0,{min(depth, MAX_DEPTH) - 1}}}{ends})"
        rf"[^\s\"\\&]|{_BACKSLASH})++"
    )
