"""Files appear whole or not at all, and equal values are equal bytes."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpconf.decode import parse_json
from mcpconf.errors import StorageError
from mcpconf.storage import json_bytes, write_json, write_whole

if TYPE_CHECKING:
    from pathlib import Path

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_stored_json_reads_back_as_it_was(value: object) -> None:
    """Sorted, indented, UTF-8, with one final newline: and strict JSON."""
    content = json_bytes(value)  # type: ignore[arg-type]
    assert parse_json(content, "x") == value
    assert content.endswith(b"\n")


def test_equal_values_are_equal_bytes() -> None:
    assert json_bytes({"b": 1, "a": [2]}) == json_bytes({"a": [2], "b": 1})
    assert json_bytes({"a": "é"}) == '{\n  "a": "é"\n}\n'.encode()


def test_a_lone_surrogate_stays_visible() -> None:
    content = json_bytes({"a": "\ud800"})
    assert parse_json(content, "x") == {"a": "\ud800"}


@pytest.mark.parametrize("durable", [False, True])
def test_a_file_is_written_with_its_directories(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "a" / "b" / "c.json"
    write_json(path, [1], durable=durable)
    assert json.loads(path.read_text("utf-8")) == [1]
    assert os.listdir(path.parent) == ["c.json"]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_file_replaces_the_one_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_whole(path, b"a long first content")
    write_whole(path, b"second")
    assert path.read_bytes() == b"second"


def _refuse(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
def test_a_write_that_fails_keeps_the_old_file_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    path = tmp_path / "a.json"
    write_whole(path, b"old")
    monkeypatch.setattr(os, step, _refuse)
    with pytest.raises(StorageError, match="No space left") as caught:
        write_whole(path, b"new", durable=True)
    assert caught.value.path == path
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a.json"]


@pytest.mark.parametrize("name", ["file/below", "directory"])
def test_a_place_that_is_none_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "directory").mkdir()
    with pytest.raises(StorageError, match="cannot be written"):
        write_whole(tmp_path / name, b"new")
    assert (tmp_path / "file").read_bytes() == b"content"
    assert sorted(os.listdir(tmp_path)) == ["directory", "file"]


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    write_whole(path, b"x")
    assert path.read_bytes() == b"x"
