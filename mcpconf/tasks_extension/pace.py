"""When a task may be asked for again: a server may refuse who asks more often."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: No pause is longer, whatever a server tells: a drive has other things to do.
LONGEST_S = 5.0
#: Between polls: at least, and where the server does not say.
_LEAST_S, USUAL_S = 0.02, 0.1
#: Longer than any drive; JSON has numbers that no clock has.
_LONGEST_MS = 1e9


def interval_s(task: Mapping[str, Any]) -> float:
    """How long to wait before a task is asked for again, in seconds."""
    if not _tells_interval(task):
        return USUAL_S
    told: float = task["pollIntervalMs"]
    return max(_LEAST_S, min(told, _LONGEST_MS) / 1000)


def _tells_interval(task: Mapping[str, Any]) -> bool:
    told = task.get("pollIntervalMs")
    return isinstance(told, (int, float)) and not isinstance(told, bool)


class Pace:
    """The intervals that a server told, by task; any thread may ask."""

    def __init__(self) -> None:
        """Nothing was told yet."""
        self._intervals: dict[str, float] = {}
        self._due: dict[str, float] = {}

    def told(self, task_id: str, task: Mapping[str, Any]) -> None:
        """Keep to its ``pollIntervalMs`` from now on, if it has any."""
        if _tells_interval(task):
            self._intervals[task_id] = interval_s(task)

    def asked(self, task_id: str) -> None:
        """Begin the interval of a task; without one it can be asked for at once."""
        pause_s = min(self._intervals.get(task_id, 0.0), LONGEST_S)
        self._due[task_id] = time.monotonic() + pause_s

    def left_s(self, task_id: str) -> float:
        """How long to wait before a task is asked for; nothing, or less, at first."""
        return self._due.get(task_id, 0.0) - time.monotonic()
