"""
A directory obtained from outside is in the cache whole, or not at all.

An entry is built in a temporary sibling under a lock and renamed into place, so
no reader ever meets half of one. Its stamp, written last, lists every file, and every
later use checks it: an entry that has lost or changed a file is removed and built
again, with a warning. A whole entry needs no lock, no network and no right to write.

The cache lies in the user's cache directory; ``MCPCONF_CACHE_DIR`` names another.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import filelock
import platformdirs

from mcpconf.errors import DecodeError, ProvisionError, StorageError
from mcpconf.stamp import ChangedError, check, load_stamp, stamp_of, write_stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Longer than the two bounded steps of the longest build: a waiter outlives a builder.
LOCK_TIMEOUT_S = 25 * 60.0

_LOG = logging.getLogger(__name__)


def cache_dir() -> Path:
    """The directory of all entries."""
    override = os.environ.get("MCPCONF_CACHE_DIR")
    if override:
        return Path(override).absolute()
    return platformdirs.user_cache_path("mcpconf", appauthor=False)


def key_of(*parts: bytes | str) -> str:
    """The key of an entry that depends on `parts`, in this order."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        # The length goes first, so that ("ab", "c") and ("a", "bc") differ.
        digest.update(f"{len(content)}:".encode() + content)
    return digest.hexdigest()


def entry_dir(kind: str, key: str) -> Path:
    """Where the entry `key` of `kind` lies, present or not."""
    # Half of the digest is plenty, and Windows counts every character of a path.
    return cache_dir() / kind / key[:32]


def recorded_sha256(entry: Path, file: Path) -> str:
    """The sha256 that the stamp of `entry` holds for `file`, without reading it."""
    place = file.relative_to(entry).as_posix()
    return load_stamp(entry).files[place].sha256


def ensure(
    kind: str,
    key: str,
    build: Callable[[Path], None],
    verify: Callable[[Path], str | None],
    *,
    lock_timeout_s: float = LOCK_TIMEOUT_S,
) -> Path:
    """
    The entry `key` of `kind`, built now unless it is there and whole.

    `build` fills an empty directory, which is then renamed: it may not keep its path.
    `verify` says cheaply what is wrong with an entry, or `None`; it is asked after a
    build and at every later use.

    :raises ProvisionError: the build failed or did not give what `verify` wants, the
        lock was not to be had in time, or the cache cannot be written.
    """
    entry = entry_dir(kind, key)
    if _fault(entry, key, verify) is None:
        return entry
    lock = filelock.FileLock(entry.with_name(f"{entry.name}.lock"))
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        with _held(lock, lock_timeout_s):
            problem = _fault(entry, key, verify)  # another process may have built it
            if problem is None:
                return entry
            if os.path.lexists(entry):
                _LOG.warning("cache entry %s: %s; obtaining it again", entry, problem)
                os.replace(entry, _temporary(entry) / entry.name)
            _remove_leftovers(entry)
            _build(entry, key, build, verify)
            return entry
    except filelock.Timeout:
        raise ProvisionError(
            f"{lock.lock_file}: another process has held this lock for"
            f" {lock_timeout_s:g} s; wait for it, or end it, and run again"
        ) from None
    except OSError as error:
        raise ProvisionError(
            f"{entry}: cannot be kept in the cache: {error.strerror or error};"
            " MCPCONF_CACHE_DIR names another place"
        ) from None


@contextlib.contextmanager
def _held(lock: filelock.BaseFileLock, timeout_s: float) -> Iterator[None]:
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        _LOG.info("waiting for the process that holds %s", lock.lock_file)
        lock.acquire(timeout=timeout_s)
    try:
        yield
    finally:
        lock.release()


def _temporary(entry: Path) -> Path:
    directory = tempfile.mkdtemp(
        prefix=f".{entry.name}.", suffix=".tmp", dir=entry.parent
    )
    return Path(directory)


def _remove_leftovers(entry: Path) -> None:
    """Remove what a killed build, or the entry found damaged, has left."""
    for leftover in entry.parent.glob(f".{entry.name}.*.tmp"):
        # One that resists is in nobody's way: its name is never used again.
        shutil.rmtree(leftover, ignore_errors=True)


def _build(
    entry: Path,
    key: str,
    build: Callable[[Path], None],
    verify: Callable[[Path], str | None],
) -> None:
    temporary = _temporary(entry)
    _LOG.info("obtaining %s, once, into %s", entry.parent.name, entry.parent)
    try:
        build(temporary)
        problem = verify(temporary)
        if problem is not None:
            raise ProvisionError(f"what was obtained is not what was asked: {problem}")
        write_stamp(temporary, stamp_of(temporary, key))
        os.replace(temporary, entry)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _fault(entry: Path, key: str, verify: Callable[[Path], str | None]) -> str | None:
    """What keeps the entry from being whole; `None` when it is."""
    if not entry.is_dir():
        return "is not there"
    try:
        stamp = load_stamp(entry)
        if stamp.key != key:
            return "its stamp is another entry's"
        current = check(stamp, entry)
    except DecodeError as error:
        return f"its stamp is of no use: {error}"
    except ChangedError as error:
        return str(error)
    problem = verify(entry)
    if problem is None and current != stamp:
        # Equal content at other times: note the times, so that the next use is quick.
        with contextlib.suppress(StorageError):
            write_stamp(entry, current)
    return problem
