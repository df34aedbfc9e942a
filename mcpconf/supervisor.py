"""
Run one program under a deadline, and leave none of its processes behind.

A program of its own: ``python -I -S supervisor.py``. One line of JSON on its standard
input says what to run; one line of JSON on its standard output says how it ended.
Nothing travels through arguments or the environment, where others could read it.
Standard input stays open for as long as the caller wants the program to live: its
end, whether the caller closed it or died, stops the program at once.

On Linux the supervisor is a subreaper: a process that leaves its session and loses
its parent becomes a child of the supervisor, so a tree is gone exactly when the
supervisor has no child left. Elsewhere only the program and its process group are
ended here, and `mcpconf.process` looks for the rest.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
import time

# -I and -S keep every other place out; only our own package is added, and last.
sys.path.append(__file__.rsplit("/", 2)[0])

from mcpconf.supervisor_launch import Launch, write_all

TYPE_CHECKING = False  # importing typing would cost each scenario 4 ms
if TYPE_CHECKING:
    from typing import Any, NoReturn


def supervise(launch: Launch) -> dict[str, Any]:
    """Run the program to its end and the ladder to its last rung."""
    error = launch.begin()
    kind = "failed-to-start" if error else launch.watch()
    leftovers = launch.leftovers()
    if launch.is_stopped and not launch.prctl:
        # Nobody may be left to look for the rest. A group's number stays taken while
        # it has members, so this reaches them or nobody.
        with contextlib.suppress(OSError):
            os.killpg(launch.program, signal.SIGKILL)
    error = launch.kill_all() or error
    for output in launch.outputs:
        output.drain()
    code, name = (None, None) if kind == "failed-to-start" else launch.end()
    return {
        "kind": "signalled" if kind == "exited" and name else kind,
        "exit_code": code,
        "signal": name,
        "duration_s": round((launch.ended or time.monotonic()) - launch.started, 4),
        "leftovers": leftovers,
        "stdout_bytes": launch.outputs[0].total,
        "stderr_bytes": launch.outputs[1].total,
        "error": error,
    }


def cpu_times() -> dict[str, float]:
    """What the tree used, and what watching it cost."""

    def used(who: int) -> float:
        usage = resource.getrusage(who)
        return round(usage.ru_utime + usage.ru_stime, 4)

    return {
        "cpu_s": used(resource.RUSAGE_CHILDREN),
        "supervisor_cpu_s": used(resource.RUSAGE_SELF),
    }


def main() -> NoReturn:
    """Read the specification, run it, answer."""
    text = b""
    while not text.endswith(b"\n"):
        chunk = os.read(0, 65536)
        if not chunk:
            os._exit(2)  # the caller died before it had said what to run
        text += chunk
    launch = Launch(json.loads(text))
    try:
        answer = supervise(launch)
    except BaseException:
        if launch.program:
            launch.kill_all()
        raise
    answer |= cpu_times()
    write_all(1, json.dumps(answer).encode() + b"\n")
    os._exit(0)  # nothing is left to tidy, and tidying costs as much as it did to start


if __name__ == "__main__":
    main()
