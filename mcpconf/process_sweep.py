"""
Find and end the processes of a launch where the kernel keeps no account of them.

Linux has its subreaper. Elsewhere a launch carries a mark in its environment, which
processes hand on to their children; a process with that mark belongs to the launch,
whatever has become of its parents.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

import psutil

from mcpconf.process_record import Leftover

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The variable that carries the mark.
MARK = "MCPCONF_LAUNCH"

#: Each round kills everything it finds; more than a few are needed only against a
#: program that keeps forking.
ROUNDS = 20
REAP_S = 2.0


def sweep(
    mark: str, known: Iterable[psutil.Process] = (), *, settle_s: float
) -> tuple[tuple[Leftover, ...], str | None]:
    """
    Kill every process of a launch that is still alive after `settle_s`.

    `known` are processes seen below the program, in case one dropped its mark. The
    result names the killed, and those who withstood, if any did.
    """
    found = set(known) | set(_marked(mark))
    _, alive = psutil.wait_procs(found, timeout=settle_s)
    leftovers = tuple(map(_describe, alive))
    for _ in range(ROUNDS):
        if not alive:
            return leftovers, None
        for process in alive:
            try:
                process.kill()
            except psutil.Error:
                continue  # it ended, or is not ours to kill; the next round tells
        _, still = psutil.wait_procs(alive, timeout=REAP_S)
        alive = list(set(still) | set(_marked(mark)))
    return leftovers, f"could not be killed: {', '.join(str(p.pid) for p in alive)}"


def _marked(mark: str) -> list[psutil.Process]:
    marked = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark:
                marked.append(process)
        except (psutil.Error, OSError):
            continue  # it ended, or belongs to someone else
    return marked


def _describe(process: psutil.Process) -> Leftover:
    name = description = "unknown"
    try:
        name = description = process.name()
        description = PurePath(process.exe()).name or name
    except (psutil.Error, OSError):
        pass  # it ended just now, or hides; what is known will do
    return Leftover(pid=process.pid, name=name, description=description)
