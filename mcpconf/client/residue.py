"""
What a client holds while it runs, and what it leaves when it has ended.

Read from Linux's ``/proc``; elsewhere nothing is seen, and None says so where the
difference matters.
"""

from __future__ import annotations

import contextlib
import os
import time

from mcpconf.supervisor_tree import Process, read_file

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

#: A client that has closed in good order needs none of it.
SETTLE_S = 2.0
_POLL_S = 0.01
#: More files, or names of processes, than anyone reads; a record stays bounded.
_MOST = 200
_LISTEN = "0A"


def descriptors(pids: list[int]) -> int | None:
    """Open file descriptors of these processes; None where none can be told."""
    counts = []
    for pid in pids:
        with contextlib.suppress(OSError):  # it ended while we looked
            counts.append(len(os.listdir(f"/proc/{pid}/fd")))
    return sum(counts) if counts else None


def descendants(pid: int) -> list[Process]:
    """Every living process below `pid`; none where there is no ``/proc``."""
    children: dict[int, list[Process]] = {}
    for process in _table():
        children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    parents = [pid]
    while parents:
        below = children.get(parents.pop(), [])
        found += [process for process in below if process.is_alive]
        parents += [process.pid for process in below]
    return found


def names(processes: list[Process]) -> list[str]:
    """Their executables and scripts, sorted, in a bounded number."""
    return sorted(process.description() for process in processes[:_MOST])


def is_server(pid: int, commands: list[list[str] | None]) -> bool:
    """
    Whether a process runs one of these commands, by whatever interpreter.

    So does one without a command line: it is about to begin, or as good as ended.
    """
    try:
        line = os.fsdecode(read_file(f"/proc/{pid}/cmdline"))
    except OSError:
        return False
    words = line.split("\0")[1:-1]
    return not line or any(words == each[1:] for each in commands if each is not None)


def listening(pids: list[int]) -> list[int]:
    """TCP ports that these processes listen on, sorted."""
    sockets = {
        inode
        for pid in pids
        for inode in _sockets(pid)
    }  # fmt: skip
    if not sockets:
        return []
    ports = set()
    for table in ("tcp", "tcp6"):
        for fields in _connections(table):
            if fields[3] == _LISTEN and fields[9] in sockets:
                ports.add(int(fields[1].rpartition(":")[2], 16))
    return sorted(ports)


def survivors() -> list[str]:
    """
    Who still lives of the drive's tree, once it has had `SETTLE_S` to end.

    The tree is our parent's, ourselves excepted: the supervisor adopts whatever lost
    its own parent.
    """
    deadline = time.monotonic() + SETTLE_S
    while True:
        me, parent = os.getpid(), os.getppid()
        left = [each for each in descendants(parent) if each.pid != me]
        if not left or time.monotonic() > deadline:
            return names(left)
        time.sleep(_POLL_S)


def files(place: str) -> list[str]:
    """
    Everything below a directory, as sorted relative paths in a bounded number.

    Directories end in a slash. A directory that is not there has nothing in it.
    """
    found = []
    for directory, below, here in os.walk(place):
        inside = os.path.relpath(directory, place)
        entries = [*here, *(name + "/" for name in below)]
        found += [name if inside == "." else f"{inside}/{name}" for name in entries]
        if len(found) > _MOST:
            break
    return sorted(found)[:_MOST]


def aftermath(tmp: str | None, ports: list[int]) -> dict[str, Any]:
    """The record's ``aftermath``; waits for the tree to settle, so call it last."""
    return {
        "survivors": survivors(),
        "temporary": files(tmp) if tmp else [],
        "listening": ports,
    }


def _table() -> Iterator[Process]:
    try:
        entries = os.listdir("/proc")
    except OSError:
        return
    for entry in entries:
        if entry.isdigit():
            with contextlib.suppress(OSError):  # it ended while we looked
                yield Process(int(entry))


def _sockets(pid: int) -> Iterator[str]:
    place = f"/proc/{pid}/fd"
    with contextlib.suppress(OSError):
        for descriptor in os.listdir(place):
            with contextlib.suppress(OSError):  # closed while we looked
                target = os.readlink(f"{place}/{descriptor}")
                if target.startswith("socket:["):
                    yield target[len("socket:[") : -1]


def _connections(table: str) -> Iterator[list[str]]:
    try:
        with open(f"/proc/net/{table}", encoding="ascii") as stream:
            stream.readline()  # the headings
            for line in stream:
                if f" {_LISTEN} " in line:  # few of them, so split only those
                    yield line.split()
    except OSError:
        return
