"""Typed reads from untrusted JSON: every fault is refused, and names its path."""

from __future__ import annotations

import os
import pickle
from typing import TYPE_CHECKING

import pytest

from mcpconf.decode import Reader, load_json, parse_json
from mcpconf.errors import DecodeError, ExitCode, McpconfError, StorageError, UsageError
from mcpconf.revision import KNOWN, Era, Revision, era_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpconf.decode import Json


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": 1, "a": 2}', "duplicate key 'a'"),
        ('{"x": {"b": 1, "b": 1}}', "duplicate key 'b'"),
        ("NaN", "NaN is not JSON"),
        ("[Infinity]", "Infinity is not JSON"),
        ("[-Infinity]", "-Infinity is not JSON"),
        ("1e999", "1e999 is too large"),
        ("[-1e999]", "-1e999 is too large"),
        pytest.param("1" * 5000, "limit", id="huge-integer"),
        (b'"\xff"', "byte 1: is not UTF-8"),
        ("", "line 1 column 1"),
        ("{", "line 1 column 2"),
        ("[1,\n]", "line 2 column 1"),
        ("\ufeff{}", "BOM"),
        pytest.param("[" * 100_000, "nested too deeply", id="deep"),
    ],
)
def test_text_that_is_not_strict_json_is_refused(
    text: str | bytes, problem: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        parse_json(text, "some.json")
    assert str(caught.value).startswith("some.json: ")
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (b'"\xc3\xa9"', "é"),
        ('"\\ud800"', "\ud800"),
        ('{"a": [null, true]}', {"a": [None, True]}),
        ("9007199254740993", 9007199254740993),
    ],
)
def test_strict_json_is_read(text: str | bytes, value: object) -> None:
    assert parse_json(text, "some.json") == value


def test_a_file_is_read_up_to_its_bound_and_no_further(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text("[1, 2]", "utf-8")
    assert load_json(path, max_bytes=6) == [1, 2]
    with pytest.raises(DecodeError, match="is larger than 5 bytes"):
        load_json(path, max_bytes=5)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # which nobody writes: reading it would never end
    for path, problem in (
        (tmp_path / "absent.json", "cannot be read: No such file"),
        (tmp_path, "is no regular file"),
        (pipe, "is no regular file"),
    ):
        with pytest.raises(DecodeError, match=problem) as caught:
            load_json(path)
        assert caught.value.source == path


VALUE = Reader(
    {"cases": [{"checks": [1, {"status": 3}]}], "text": "x", "none": None}, "r.json"
)


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: VALUE.key("absent"), "r.json: absent: is missing"),
        (
            lambda: [
                check.key("status").string()
                for case in VALUE.key("cases").items()
                for check in list(case.key("checks").items())[1:]
            ],
            "r.json: cases[0].checks[1].status: expected a string, got integer",
        ),
        (VALUE.integer, "r.json: expected an integer, got object"),
        (
            lambda: VALUE.key("text").object(),
            "r.json: text: expected an object, got string",
        ),
        (
            lambda: VALUE.key("cases").key("x"),
            "r.json: cases: expected an object, got array",
        ),
        (
            lambda: VALUE.key("none").boolean(),
            "r.json: none: expected a boolean, got null",
        ),
        (
            lambda: VALUE.only("cases", "text"),
            "r.json: unknown key none; known: cases, text",
        ),
        (lambda: list(VALUE.items()), "r.json: expected an array, got object"),
        (
            lambda: VALUE.key("cases").strings(),
            "r.json: cases[0]: expected a string, got object",
        ),
        (
            lambda: [each.number() for _, each in VALUE.members()],
            "r.json: cases: expected a number, got array",
        ),
    ],
)
def test_a_fault_names_its_path(read: Callable[[], object], message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        read()
    assert str(caught.value) == message


def test_a_boolean_is_no_number() -> None:
    yes: Json = True
    for read in (Reader(yes, "x").integer, Reader(yes, "x").number):
        with pytest.raises(DecodeError, match="got boolean"):
            read()
    assert Reader(3, "x").number() == 3
    with pytest.raises(DecodeError, match="got number"):
        Reader(3.0, "x").integer()
    with pytest.raises(DecodeError, match="got integer"):
        Reader(1, "x").boolean()


def test_an_absent_member_and_null_are_alike_only_to_get() -> None:
    assert VALUE.get("absent") is None
    assert VALUE.get("none") is None
    assert VALUE.key("none").value is None
    member = VALUE.get("text")
    assert member is not None
    assert (member.string(), member.where) == ("x", "text")


def test_members_keep_the_order_of_the_file() -> None:
    reader = Reader(parse_json('{"b": 1, "a": 2}', "x"), "x")
    assert [name for name, _ in reader.members()] == ["b", "a"]
    assert reader.only("a", "b", "c") is reader


def test_errors_carry_their_exit_code_and_survive_pickling() -> None:
    """They cross threads and processes."""
    for error, code in (
        (DecodeError("a.json", "x[0]", "is missing"), ExitCode.BAD_INPUT),
        (UsageError("--jobs 0: at least 1"), ExitCode.BAD_INPUT),
        (StorageError("a.json", "no space"), ExitCode.HARNESS),
        (McpconfError("anything"), ExitCode.HARNESS),
    ):
        again = pickle.loads(pickle.dumps(error))  # noqa: S301 (our own bytes)
        assert (type(again), str(again)) == (type(error), str(error))
        assert error.exit_code is code


@pytest.mark.parametrize(
    ("protocol_version", "era"),
    [
        ("2024-11-05", Era.HANDSHAKE),
        ("2025-06-18", Era.HANDSHAKE),
        ("2026-07-27", Era.HANDSHAKE),
        ("2026-07-28", Era.STATELESS),
        ("2027-01-01", Era.STATELESS),
    ],
)
def test_an_era_begins_with_its_first_revision(protocol_version: str, era: Era) -> None:
    assert era_of(protocol_version) is era


def test_the_known_revisions_are_in_order_and_of_two_eras() -> None:
    assert list(KNOWN) == sorted(KNOWN)
    assert [each.era for each in Revision] == [Era.HANDSHAKE] * 2 + [Era.STATELESS]
