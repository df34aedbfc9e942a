"""A baseline file is written whole, under a lock, or left as it was."""

from __future__ import annotations

import datetime as dt
import functools
from dataclasses import replace
from typing import TYPE_CHECKING

import filelock
import pytest
from make_baseline import CATALOGUE, OFFICIAL, TODAY, make_baseline

from mcpconf.baseline.decode import load_baseline
from mcpconf.baseline.encode import to_json
from mcpconf.baseline.store import update, write_baseline
from mcpconf.errors import DecodeError, ExitCode, StorageError, UsageError
from mcpconf.storage import json_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from mcpconf.baseline.entry import Baseline

LOAD = functools.partial(load_baseline, catalogue=CATALOGUE, today=TODAY)
BASELINE = make_baseline()
LESS = replace(
    BASELINE, passing=BASELINE.passing - {OFFICIAL._replace(check_id="silent")}
)


def _keep(_: Baseline | None) -> Baseline:
    return BASELINE


def test_a_new_file_is_made_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "codex.json"
    seen: list[Baseline | None] = []

    def make(older: Baseline | None) -> Baseline:
        seen.append(older)
        return BASELINE

    assert update(path, make, load=LOAD) == BASELINE
    assert path.read_bytes() == json_bytes(to_json(BASELINE))
    assert update(path, make, load=LOAD) == BASELINE
    assert seen == [None, BASELINE]


def test_only_the_lock_is_left_beside_it(tmp_path: Path) -> None:
    update(tmp_path / "codex.json", _keep, load=LOAD)
    names = {each.name for each in tmp_path.iterdir()} - {".codex.json.lock"}
    assert names == {"codex.json"}


def test_a_fault_in_between_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "codex.json"
    write_baseline(path, BASELINE)

    def fail(_: Baseline | None) -> Baseline:
        raise UsageError("no")

    with pytest.raises(UsageError, match="no"):
        update(path, fail, load=LOAD)
    assert LOAD(path) == BASELINE
    # The lock was given back.
    assert update(path, lambda _: LESS, load=LOAD, lock_timeout_s=0) == LESS


def test_a_file_that_cannot_be_read_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "codex.json"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(DecodeError):
        update(path, _keep, load=LOAD)
    assert path.read_text(encoding="utf-8") == "mine"
    link = tmp_path / "link.json"
    link.symlink_to(tmp_path / "gone.json")
    with pytest.raises(DecodeError, match="cannot be read"):
        update(link, _keep, load=LOAD)


def test_an_expired_file_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "codex.json"
    write_baseline(path, BASELINE)
    later = functools.partial(
        load_baseline, catalogue=CATALOGUE, today=dt.date(2027, 1, 1)
    )
    with pytest.raises(DecodeError, match="expired on 2027-01-01"):
        update(path, _keep, load=later)
    assert LOAD(path) == BASELINE


def test_a_held_lock_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "codex.json"
    write_baseline(path, BASELINE)
    with filelock.FileLock(tmp_path / ".codex.json.lock"):
        with pytest.raises(StorageError) as caught:
            update(path, lambda _: LESS, load=LOAD, lock_timeout_s=0)
        assert ".codex.json.lock: another program has held this lock" in str(
            caught.value
        )
        assert caught.value.exit_code is ExitCode.HARNESS
        assert LOAD(path) == BASELINE


def test_a_folder_that_cannot_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(StorageError, match="cannot be written"):
        update(tmp_path / "file" / "codex.json", _keep, load=LOAD)
