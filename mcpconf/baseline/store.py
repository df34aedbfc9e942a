"""
Baseline files on disk: whole, and changed by one program at a time.

Reading, changing and writing happen under one lock beside the file, so that of two runs
that end together the second sees what the first has written.
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import filelock

from mcpconf.baseline.encode import to_json
from mcpconf.errors import StorageError
from mcpconf.storage import write_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpconf.baseline.entry import Baseline

#: Longer than many extractions; whoever holds it for longer hangs.
LOCK_TIMEOUT_S = 60.0


def write_baseline(path: Path, baseline: Baseline) -> None:
    """
    Write a baseline in one step, on the disk before it appears.

    :raises StorageError: the path cannot be written; the old file is as it was.
    """
    write_json(path, to_json(baseline), durable=True)


def update(
    path: Path,
    make: Callable[[Baseline | None], Baseline],
    *,
    load: Callable[[Path], Baseline],
    lock_timeout_s: float = LOCK_TIMEOUT_S,
) -> Baseline:
    """
    Replace the baseline at `path` by what `make` makes of it; None where there is none.

    The lock is ``.<name>.lock`` in the same directory. It stays there, empty: to remove
    a lock that another program waits for would give both of them one.

    :raises StorageError: another program held the lock for `lock_timeout_s` seconds, or
        the file cannot be written; the old file is as it was.
    :raises McpconfError: whatever `load` and `make` raise; nothing was written.
    """
    lock_file = path.parent / f".{path.name}.lock"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path.parent):
            pass  # where no file can be made, a lock would be waited for in vain
        lock = filelock.FileLock(lock_file)
        with lock.acquire(timeout=lock_timeout_s):
            # A dangling link is a file that cannot be read, not one that is not there.
            is_there = path.exists() or path.is_symlink()
            made = make(load(path) if is_there else None)
            write_baseline(path, made)
    except filelock.Timeout:
        raise StorageError(
            lock_file,
            f"another program has held this lock for {lock_timeout_s:g} s; wait for it,"
            " or end it, and try again",
        ) from None
    except OSError as error:
        problem = error.strerror or str(error)
        raise StorageError(path, f"cannot be written: {problem}") from None
    return made
