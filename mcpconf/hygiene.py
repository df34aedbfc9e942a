"""
A run's private place, and proof that nothing of the run is left.

The name of the place carries the process that owns it, so that a later run can clear
away what a killed one could not.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PREFIX = "mcpconf-run"
_NAME = re.compile(rf"{_PREFIX}-(\d+)-\w+")


@contextmanager
def private_dir(parent: Path | None) -> Iterator[Path]:
    """A directory nobody else can read, gone afterwards; stale ones are swept first."""
    place = Path(tempfile.gettempdir()) if parent is None else parent
    sweep(place)
    with tempfile.TemporaryDirectory(
        prefix=f"{_PREFIX}-{os.getpid()}-", dir=place, ignore_cleanup_errors=True
    ) as name:
        yield Path(name)


def sweep(place: Path) -> tuple[str, ...]:
    """
    Delete the private directories in `place` whose run is no more; their names.

    They hold raw secrets of a run that was killed. What belongs to somebody else, or
    to a process that lives, is left alone.
    """
    gone = []
    with contextlib.suppress(OSError):
        for path in sorted(place.iterdir()):
            match = _NAME.fullmatch(path.name)
            if match is None or psutil.pid_exists(int(match[1])):
                continue
            if path.is_symlink() or not path.is_dir() or not os.access(path, os.W_OK):
                continue
            shutil.rmtree(path, ignore_errors=True)
            gone.append(path.name)
    return tuple(gone)


def ports_still_held(ports: Iterable[int], private: Path) -> tuple[int, ...]:
    """
    Those of the mock servers' ports that a process of this run still listens on.

    A process of the run works inside its private directory; a port that somebody else
    has taken since is no business of ours.
    """
    wanted = set(ports)
    held = set()
    for process in psutil.process_iter():
        try:
            if not process.cwd().startswith(str(private)):
                continue
            held |= {
                connection.laddr.port
                for connection in process.net_connections(kind="tcp")
                if connection.status == psutil.CONN_LISTEN
            }
        except (psutil.Error, OSError):
            continue
    return tuple(sorted(wanted & held))
