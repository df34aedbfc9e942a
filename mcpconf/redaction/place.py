"""
Secrets told by the place they stand in: after a name, behind a scheme, in a URL.

One pass over the text stops at every `TRIGGER` and cuts out the value that belongs to
it. A value that was cut out is not read again, so the work grows with the text.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, unquote_plus

from mcpconf.redaction import pattern
from mcpconf.redaction.name import (
    OPTION,
    OPTION_BEGINS,
    PLACEHOLDER,
    PROSE,
    PROSE_ALONE,
    WHOLE,
    Kind,
    basic_passwords,
    kind_of_ending,
    secrets_in,
    without_secret,
)
from mcpconf.redaction.quotation import IS_CLOSING, closing, delimiter

if TYPE_CHECKING:
    import re
    from collections.abc import Callable

# `{"alg":` and no more is ten characters of base64.
_MIN_JWT_HEAD = 10
# A word of letters alone, written as prose writes words, is a credential from here on.
_MIN_LETTERS = 20
# Of a longer option the beginning is not looked for.
_MAX_OPTION = 64
#: A ``token=`` of so many characters is one wherever it stands.
_LONG_TOKEN = 16
# `state` and `code_challenge` are kept out of the log, but open nothing by themselves.
_OPENS_NOTHING = ("state", "challenge")


@dataclass(frozen=True, slots=True)
class _Member:
    """A sensitive JSON member whose value is still to come."""

    kind: Kind
    #: The mark that closed its name; its value is quoted the same way.
    mark: str
    #: How many arrays deep in the value we are.
    arrays: int = 0
    #: Not a member, but the next word of a command line; another option is no value.
    is_word: bool = False


class Places:
    """Cuts secrets out of consecutive pieces of text that each end a line."""

    def __init__(self, found: Callable[[str], None]) -> None:
        """`found` is told every secret, decoded as far as it was encoded."""
        self._found = found
        self._member: _Member | None = None
        self._text = ""
        self._kept: list[str] = []
        self._position = 0

    def redact(self, text: str) -> str:
        """`text` without its secrets; a member's value may come in the next piece."""
        self._text, self._kept, self._position = text, [], 0
        position = no_jwt_before = 0
        if self._member is not None:
            position = self._json(self._member, 0, is_new_line=True)
        while match := pattern.TRIGGER.search(text, position):
            if match["gap"]:
                position = self._option(match)
            elif match["name"]:
                position = self._named(match)
            elif match["parameter"]:
                position = self._parameter(match)
            elif match["scheme"]:
                position = self._credential(match)
            elif match["user"]:
                position = self._cut(
                    Kind.SECRET, match.end(), pattern.USER_PASSWORD, unquote
                )
            else:
                position = match.end()
                # One run of base64 may hold many triggers; it is read once.
                if match.start() >= no_jwt_before:
                    position, no_jwt_before = self._jwt(match.start())
        return "".join((*self._kept, text[self._position :]))

    def _put(self, start: int, end: int, replacement: str) -> int:
        self._kept += self._text[self._position : start], replacement
        self._position = end
        return end

    def _cut_out(
        self, kind: Kind, start: int, end: int, decode: Callable[[str], str]
    ) -> int:
        """Leave of a value what may be kept; gives its end."""
        value = self._text[start:end]
        for secret in secrets_in(kind, decode(value)):
            self._found(secret)
        return self._put(start, end, without_secret(kind, value))

    def _cut(
        self,
        kind: Kind,
        start: int,
        value: re.Pattern[str],
        decode: Callable[[str], str] = str,
    ) -> int:
        """Cut out what `value` matches at `start`; gives its end."""
        match = value.match(self._text, start)
        return (
            start if match is None else self._cut_out(kind, start, match.end(), decode)
        )

    def _named(self, match: re.Match[str]) -> int:
        """A sensitive name and its assignment."""
        kind = kind_of_ending(match["name"])
        close, assign = match["close"] or "", match["assign"]
        for encoded in (close, assign):
            if encoded.startswith("%"):
                return self._encoded(kind, match.end(), encoded)
        if close and assign == ":":
            return self._json(
                _Member(kind, delimiter(close)), match.end(), is_new_line=False
            )
        if assign == ":" and self._is_prose(match):
            return match.end()
        return self._assigned(kind, match.end(), assign)

    def _is_prose(self, match: re.Match[str]) -> bool:
        """Whether a name before a colon, without quotation marks, is a mere word."""
        name, start = match["name"].lower(), match.start()
        if name not in PROSE_ALONE:
            return name in PROSE
        before = self._text[max(0, start - 1) : start]
        return not (before.isalnum() or before in {"_", "-", "."})

    def _option(self, match: re.Match[str]) -> int:
        """A sensitive option and a gap: ``--token word``, ``"--token", "word"``."""
        text, end = self._text, match.end("name")
        if not OPTION.search(text[max(0, match.start() - _MAX_OPTION) : end]):
            return end
        kind, start = kind_of_ending(match["name"]), match.end()
        if mark := match["last"]:
            member = _Member(kind, delimiter(mark), is_word=True)
            return self._json(member, start, is_new_line=False)
        is_option = OPTION_BEGINS.match(text, start)
        return start if is_option else self._assigned(kind, start)

    def _assigned(self, kind: Kind, start: int, assign: str = "") -> int:
        """``name=value``, ``name = "value"``, ``Name: value``, ``--name value``."""
        text = self._text
        while text.startswith((" ", "\t"), start):
            start += 1
        opening = pattern.OPENING.match(text, start)
        if opening and not IS_CLOSING.match(text, opening.end()):
            return self._string(kind, opening)
        if array := pattern.ARRAY.match(text, start):
            return self._json(_Member(kind, array["mark"]), start, is_new_line=False)
        if pattern.LITERAL.match(text, start):
            return start
        if assign == "=":
            return self._cut(kind, start, pattern.FORM_VALUE, unquote_plus)
        return self._line(kind, start)

    def _line(self, kind: Kind, start: int) -> int:
        """What stands after a name and a colon: a word, or the rest of a header."""
        if self._text.startswith("{", start):
            return start  # a structure of its own, with names of its own
        if kind in WHOLE:
            return self._cut(kind, start, pattern.WORD)
        end = start
        if kind is Kind.CREDENTIALS:
            end = self._cut(kind, start, pattern.ONE_CREDENTIAL)
        return end if end > start else self._cut(kind, start, pattern.HEADER)

    def _encoded(self, kind: Kind, start: int, encoded: str) -> int:
        """A percent-encoded assignment, of a URL inside a URL or of JSON in one."""
        if blank := pattern.ENCODED_BLANK.match(self._text, start):
            start = blank.end()
        mark = pattern.ENCODED_MARK.match(self._text, start)
        if mark is not None:
            start = mark.end()
        depth = pattern.encoding_depth(encoded)
        value = pattern.encoded_value(depth, in_marks=mark is not None)
        return self._cut(kind, start, value, _unquoted)

    def _json(self, member: _Member, start: int, *, is_new_line: bool) -> int:
        """A JSON member's value, or what comes next in its array of values."""
        text = self._text
        self._member = None
        while True:
            blank = pattern.BLANK_OR_COMMA if member.arrays else pattern.BLANK
            gap = blank.match(text, start)
            position = start if gap is None else gap.end()
            if position == len(text):
                self._member = member
                return position
            is_new_line = is_new_line or "\n" in text[start:position]
            if text[position] == "[" and not text.startswith(PLACEHOLDER, position):
                member = replace(member, arrays=member.arrays + 1)
                start = position + 1
                continue
            if text[position] == "]" and member.arrays:
                member = replace(member, arrays=member.arrays - 1)
                start = position + 1
            else:
                start = self._scalar(member, position, is_new_line=is_new_line)
                if start == position:
                    return start
            if not member.arrays:
                return start

    def _scalar(self, member: _Member, start: int, *, is_new_line: bool) -> int:
        """The end of one value of a member; `start` if there is none."""
        text = self._text
        opening = pattern.OPENING.match(text, start)
        if opening and (
            opening["mark"] == member.mark or not IS_CLOSING.match(text, opening.end())
        ):
            if member.is_word and self._is_no_word(opening):
                return start
            return self._string(member.kind, opening)
        number = pattern.NUMBER.match(text, start)
        if number and not (member.kind is Kind.TEXT and _goes_on(text, number.end())):
            return self._number(member, number)
        if literal := pattern.LITERAL.match(text, start):
            return literal.end()
        if is_new_line or text[start] == "{":
            return start
        return self._cut(member.kind, start, pattern.JSON_WORD)

    def _is_no_word(self, opening: re.Match[str]) -> bool:
        """Whether what follows an option is one itself, or the name of a member."""
        text = self._text
        if OPTION_BEGINS.match(text, opening.end()):
            return True
        _, after = closing(text, opening.end(), opening["mark"])
        return pattern.COLON.match(text, after) is not None

    def _number(self, member: _Member, number: re.Match[str]) -> int:
        """Cut out a number, unless it only counts something; gives its end."""
        if member.kind is Kind.TEXT:
            return number.end()
        self._found(number[0])
        quoted = f"{member.mark}{PLACEHOLDER}{member.mark}"
        return self._put(*number.span(), quoted)

    def _string(self, kind: Kind, opening: re.Match[str]) -> int:
        """Cut out a quoted value; gives the end of its closing mark."""
        end, after = closing(self._text, opening.end(), opening["mark"])
        self._cut_out(kind, opening.end(), end, _unescaped)
        return after

    def _parameter(self, match: re.Match[str]) -> int:
        """``code`` and the like, where a URL or a form is certain enough."""
        text, start = self._text, match.end()
        before = text[max(0, match.start() - 1) : match.start()]
        value = pattern.QUOTED_FORM_VALUE if before == "'" else pattern.FORM_VALUE
        if depth := pattern.encoding_depth(match["equals"]):
            value = pattern.encoded_value(depth, in_marks=False)
        found = value.match(text, start)
        if found is None:
            return start
        # At the start of a line or string it must fill it, or another parameter must
        # follow: `code=1` may be an exit code. Behind a blank, only the latter will do.
        follows = text[found.end() : found.end() + 1]
        if before in {"", "\n", '"', "'"}:
            is_form = follows in {"", "\r", "\n", "&", "\\", '"', "'"}
        else:
            is_form = not before.isspace() or follows == "&"
        is_token = match["parameter"].lower() == "token"
        if not is_form and not (is_token and len(found[0]) >= _LONG_TOKEN):
            return start
        if not match["parameter"].lower().endswith(_OPENS_NOTHING):
            self._found(_unquoted(found[0]))
        return self._put(start, found.end(), PLACEHOLDER)

    def _credential(self, match: re.Match[str]) -> int:
        """``Bearer`` and the like, unless the next word is prose."""
        found = pattern.CREDENTIAL.match(self._text, match.end())
        if found is None:
            return match.end()
        passwords: tuple[str, ...] = ()
        if match["scheme"].lower() == "basic":
            passwords = tuple(basic_passwords(found[0]))
            is_credential = bool(passwords)
        else:
            is_credential = _is_credential(found[0])
        if not is_credential:
            return match.end()
        for secret in (_unescaped(unquote(found[0])), *passwords):
            self._found(secret)
        return self._put(match.end(), found.end(), PLACEHOLDER)

    def _jwt(self, start: int) -> tuple[int, int]:
        """Where to go on, and before which place no JWT can start."""
        head = pattern.JWT_PART.match(self._text, start)
        head_end = start if head is None else head.end()
        rest = None
        if head_end - start >= _MIN_JWT_HEAD:
            rest = pattern.JWT_REST.match(self._text, head_end)
        if rest is None:
            return start + len("eyJ"), head_end
        self._found(self._text[start : rest.end()])
        return self._put(start, rest.end(), PLACEHOLDER), 0


def _goes_on(text: str, position: int) -> bool:
    """Whether what looked like a number is the beginning of a word."""
    return text[position : position + 1].isalnum()


def _is_credential(word: str) -> bool:
    """Whether prose would not write this after the name of a scheme."""
    word = word.rstrip(".,:;-")
    is_plain = word.islower() or word.isupper() or word.istitle()
    return bool(word) and not (word.isalpha() and is_plain and len(word) < _MIN_LETTERS)


def _unquoted(value: str) -> str:
    """A percent-encoded value, decoded to the end."""
    for _ in range(pattern.MAX_DEPTH):
        if "%" not in value:
            break
        value = unquote_plus(value)
    return value


def _unescaped(value: str) -> str:
    """The content of a JSON string, decoded to the end."""
    for _ in range(pattern.MAX_DEPTH):
        if "\\" not in value:
            break
        try:
            value = str(json.loads(f'"{value}"', strict=False))
        except ValueError:
            break
    return value
