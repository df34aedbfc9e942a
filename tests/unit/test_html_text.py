"""Text of others on a page: all that it says, and none of what it could do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpconf.render.html.text import clipped, shown, shown_all

if TYPE_CHECKING:
    from mcpconf.decode import Json


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, Grüße, 世界, שלום, 🌍", "plain, Grüße, 世界, שלום, 🌍"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("http\r\nline", "http\nline"),
        ("\x1b[31m\x00\x7f", "⟦U+001B⟧[31m⟦U+0000⟧⟦U+007F⟧"),
        ("\u202egnp.exe", "⟦U+202E⟧gnp.exe"),
        ("\ud800", "⟦U+D800⟧"),
        ("a\u2028b\u200bc\ufeff", "a⟦U+2028⟧b⟦U+200B⟧c⟦U+FEFF⟧"),
        ("\x9b31m", "⟦U+009B⟧31m"),
    ],
)
def test_what_acts_is_named(text: str, expected: str) -> None:
    assert shown(text) == expected


@given(st.text(st.characters(exclude_categories=())))
def test_whatever_is_shown_can_be_written_and_shows_itself_again(text: str) -> None:
    once = shown(text)
    assert once.encode().decode() == once
    assert shown(once) == once


def test_a_long_text_says_how_much_is_missing() -> None:
    assert clipped("x" * 12, 10) == "xxxxxxxxxx… (2 more characters)"
    assert clipped("x" * 10, 10) == "x" * 10


def test_no_mark_is_cut_off_its_letter() -> None:
    assert clipped("ae\u0301x", 2) == "a… (3 more characters)"


def test_every_string_of_a_value_is_shown_and_nothing_else_changes() -> None:
    value: Json = {"\x00": ["\x1b", 1, None, True, {"a": "b" * 20}]}
    found = shown_all(value, 10)
    assert found == {
        "⟦U+0000⟧": [
            "⟦U+001B⟧",
            1,
            None,
            True,
            {"a": "bbbbbbbbbb… (10 more characters)"},
        ]
    }
