"""
The processes below this one, as Linux's ``/proc`` shows them.

Part of the supervisor: standard library only, and no import that is not needed.
"""

# ruff: noqa: PTH113, PTH115, PTH118
# Each scenario pays for these imports; pathlib alone costs as much as all the others.

from __future__ import annotations

import contextlib
import os


def read_file(path: str) -> bytes:
    """The first bytes of a file, enough for anything read from ``/proc`` here."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return os.read(descriptor, 65536)
    finally:
        os.close(descriptor)


class Process:
    """One line of the process table; (pid, started) names a process for ever."""

    __slots__ = ("group", "name", "parent", "pid", "started", "state")

    def __init__(self, pid: int) -> None:
        line = read_file(f"/proc/{pid}/stat")
        # The name is the program's own choice and may hold spaces and parentheses.
        name, _, rest = line.partition(b"(")[2].rpartition(b")")
        fields = rest.split()
        self.pid = pid
        self.name = name.decode("utf-8", "replace")
        self.state = fields[0]
        self.parent = int(fields[1])
        self.group = int(fields[2])
        self.started = int(fields[19])

    @property
    def is_alive(self) -> bool:
        """Not a zombie, which is nothing but an end nobody has asked for yet."""
        return self.state != b"Z"

    def signal(self, number: int) -> None:
        """Send a signal, unless the pid has passed to another process meanwhile."""
        # It may have ended, or run as someone else; `kill_all` sees which.
        with contextlib.suppress(OSError):
            if Process(self.pid).started == self.started:
                os.kill(self.pid, number)

    def description(self) -> str:
        """The executable and the script it runs; other arguments may hold secrets."""
        place = f"/proc/{self.pid}"
        try:
            words = [os.readlink(f"{place}/exe").rpartition("/")[2]]
            arguments = os.fsdecode(read_file(f"{place}/cmdline")).split("\0")[1:]
            script = next((a for a in arguments if a and not a.startswith("-")), None)
            if script and os.path.isfile(os.path.join(f"{place}/cwd", script)):
                words.append(script.rpartition("/")[2])
        except OSError:
            return self.name
        return " ".join(words)


def descendants() -> list[Process]:
    """Every process below this one."""
    children: dict[int, list[Process]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                process = Process(int(entry))
            except OSError:
                continue  # it ended while we looked
            children.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    parents = [os.getpid()]
    while parents:
        below = children.get(parents.pop(), [])
        found += below
        parents += [process.pid for process in below]
    return found


def own_children() -> list[int]:
    """
    The direct children, in one read.

    A process that forks and exits for ever is gone before a walk through ``/proc`` is
    over; each generation becomes a child of the subreaper, and shows here at once.
    """
    me = os.getpid()
    try:
        listed = read_file(f"/proc/self/task/{me}/children")
    except OSError:  # a kernel without CONFIG_PROC_CHILDREN
        return [process.pid for process in descendants() if process.parent == me]
    return [int(pid) for pid in listed.split()]


def own_living_children() -> list[Process]:
    """The direct children that still run."""
    living = []
    for pid in own_children():
        with contextlib.suppress(OSError):  # another process may wait for it
            living.append(Process(pid))
    return [process for process in living if process.is_alive]
