"""An entry is whole or not at all, and a damaged one is built again."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import filelock
import pytest

from mcpconf import cache, stamp, storage
from mcpconf.errors import ProvisionError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

KEY = cache.key_of("a lockfile")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCPCONF_CACHE_DIR", str(tmp_path / "cache"))


@dataclass
class Builder:
    """Builds a small entry and counts how often."""

    calls: int = 0

    def __call__(self, directory: Path) -> None:
        self.calls += 1
        (directory / "bin").mkdir()
        (directory / "bin" / "program").write_bytes(b"program")
        (directory / "data").write_bytes(b"data")
        (directory / "link").symlink_to("data")
        (directory / "__pycache__").mkdir()
        (directory / "__pycache__" / "module.pyc").write_bytes(b"compiled")


def agree(_directory: Path) -> None:
    return None


def ensure(build: Callable[[Path], None]) -> Path:
    return cache.ensure("kind", KEY, build, agree)


def remains() -> list[str]:
    """What lies beside the entry: its lock, unless something was left behind."""
    kind_dir = cache.entry_dir("kind", KEY).parent
    return [each.name for each in kind_dir.iterdir() if each.suffix != ".lock"]


def test_entry_is_built_once_and_used_again() -> None:
    build = Builder()
    entry = ensure(build)
    assert ensure(build) == entry == cache.entry_dir("kind", KEY)
    assert build.calls == 1
    assert (entry / "bin" / "program").read_bytes() == b"program"
    assert remains() == [entry.name]


def test_cache_lies_in_the_users_cache_directory_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert cache.cache_dir() == tmp_path / "cache"
    monkeypatch.delenv("MCPCONF_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert "mcpconf" in cache.cache_dir().parts


@pytest.mark.parametrize(
    ("left", "right"),
    [
        pytest.param(("ab", "c"), ("a", "bc"), id="where-parts-end"),
        pytest.param(("a", "b"), ("b", "a"), id="order"),
        pytest.param(("a",), ("a", ""), id="count"),
    ],
)
def test_key_depends_on(left: tuple[str, ...], right: tuple[str, ...]) -> None:
    assert cache.key_of(*left) != cache.key_of(*right)
    assert cache.key_of(*left) == cache.key_of(*(each.encode() for each in left))


def _lose(entry: Path) -> None:
    (entry / "bin" / "program").unlink()


def _truncate(entry: Path) -> None:
    (entry / "data").write_bytes(b"dat")


def _truncate_unseen(entry: Path) -> None:
    status = (entry / "data").stat()
    (entry / "data").write_bytes(b"dat")
    os.utime(entry / "data", ns=(status.st_atime_ns, status.st_mtime_ns))


def _overwrite(entry: Path) -> None:
    (entry / "data").write_bytes(b"atad")
    os.utime(entry / "data", ns=(1, 1))


def _retarget(entry: Path) -> None:
    (entry / "link").unlink()
    (entry / "link").symlink_to("bin/program")


def _unlink_link(entry: Path) -> None:
    (entry / "link").unlink()


def _remove_stamp(entry: Path) -> None:
    (entry / stamp.NAME).unlink()


def _cut_stamp(entry: Path) -> None:
    content = (entry / stamp.NAME).read_bytes()
    (entry / stamp.NAME).write_bytes(content[: len(content) // 2])


def _shorten_record(entry: Path) -> None:
    (entry / stamp.NAME).write_text(
        '{"schema": 1, "key": "", "files": {"data": [4]}, "links": {}}'
    )


def _borrow_stamp(entry: Path) -> None:
    stamp.write_stamp(entry, stamp.stamp_of(entry, "another key"))


def _replace_with_file(entry: Path) -> None:
    entry.rename(entry.with_name("away"))
    entry.write_bytes(b"")
    (entry.parent / "away").rename(entry.parent.parent / "away")


@pytest.mark.parametrize(
    "damage",
    [
        _lose,
        _truncate,
        _truncate_unseen,
        _overwrite,
        _retarget,
        _unlink_link,
        _remove_stamp,
        _cut_stamp,
        _shorten_record,
        _borrow_stamp,
        _replace_with_file,
    ],
    ids=lambda damage: damage.__name__.strip("_"),
)
def test_damaged_entry_is_built_again_with_a_warning(
    damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    build = Builder()
    entry = ensure(build)
    damage(entry)
    assert ensure(build) == entry
    assert build.calls == 2
    assert (entry / "data").read_bytes() == b"data"
    assert (entry / "link").readlink().name == "data"
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert str(entry) in record.getMessage()
    assert remains() == [entry.name]
    assert ensure(build) == entry
    assert build.calls == 2


def test_entry_that_fails_its_verification_later_is_built_again() -> None:
    build = Builder()
    answers = iter([None, "the interpreter has gone", "still gone", None, None])
    cache.ensure("kind", KEY, build, lambda _: next(answers))
    cache.ensure("kind", KEY, build, lambda _: next(answers))
    assert build.calls == 2


def test_new_files_and_bytecode_are_no_damage() -> None:
    build = Builder()
    entry = ensure(build)
    (entry / "__pycache__" / "module.pyc").write_bytes(b"compiled again")
    (entry / "new").write_bytes(b"")
    ensure(build)
    assert build.calls == 1


def test_unchanged_entry_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    build = Builder()
    ensure(build)

    def refuse(path: Path) -> NoReturn:
        pytest.fail(f"{path} was read")

    monkeypatch.setattr(stamp, "sha256_of", refuse)
    ensure(build)
    assert build.calls == 1


def test_entry_with_other_times_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache restored by a CI service has the content and not the times."""
    build = Builder()
    entry = ensure(build)
    os.utime(entry / "data", ns=(7, 7))
    read = []
    real = storage.sha256_of

    def note(path: Path) -> str:
        read.append(path.name)
        return real(path)

    monkeypatch.setattr(stamp, "sha256_of", note)
    ensure(build)
    ensure(build)
    assert read == ["data"]
    assert build.calls == 1


def test_recorded_digest_is_the_files() -> None:
    entry = ensure(Builder())
    program = entry / "bin" / "program"
    assert cache.recorded_sha256(entry, program) == storage.sha256_of(program)


@pytest.mark.parametrize("error", [ProvisionError("npm failed"), KeyboardInterrupt()])
def test_failed_build_leaves_nothing(error: BaseException) -> None:
    def build(directory: Path) -> None:
        (directory / "half").write_bytes(b"half")
        raise error

    with pytest.raises(type(error)):
        ensure(build)
    assert remains() == []
    ensure(Builder())


def test_build_that_is_not_what_was_asked_is_refused() -> None:
    with pytest.raises(ProvisionError, match="the program is missing"):
        cache.ensure("kind", KEY, Builder(), lambda _: "the program is missing")
    assert remains() == []


def test_what_a_killed_build_left_is_removed_and_never_taken() -> None:
    entry = cache.entry_dir("kind", KEY)
    leftover = entry.parent / f".{entry.name}.killed.tmp"
    leftover.mkdir(parents=True)
    (leftover / "data").write_bytes(b"da")
    other = entry.parent / ".another-entry.killed.tmp"
    other.mkdir()
    ensure(Builder())
    assert sorted(remains()) == sorted([entry.name, other.name])


def test_whole_entry_needs_no_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that is mounted read-only can be used, but not locked."""
    build = Builder()
    entry = ensure(build)
    monkeypatch.setattr(filelock.BaseFileLock, "acquire", pytest.fail)
    assert ensure(build) == entry


def test_lock_that_stays_held_is_named() -> None:
    entry = cache.entry_dir("kind", KEY)
    entry.parent.mkdir(parents=True)
    lock = entry.with_name(f"{entry.name}.lock")
    build = Builder()
    with filelock.FileLock(lock), pytest.raises(ProvisionError) as caught:
        cache.ensure("kind", KEY, build, agree, lock_timeout_s=0.1)
    assert str(lock) in str(caught.value)
    assert "0.1 s" in str(caught.value)
    assert build.calls == 0
    ensure(build)


def test_cache_that_cannot_be_written_says_what_to_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("MCPCONF_CACHE_DIR", str(tmp_path / "file"))
    with pytest.raises(ProvisionError, match="MCPCONF_CACHE_DIR"):
        ensure(Builder())
