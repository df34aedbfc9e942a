"""Progress while cases run: live on a terminal, a line an event elsewhere."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from typing import TYPE_CHECKING, Self, TextIO

from mcpconf.render.text import printable

if TYPE_CHECKING:
    from mcpconf.ours import Case
    from mcpconf.record import ScenarioResult


class _Launches:
    """How many launches there are: those that were planned, and reruns as they come."""

    def __init__(self, total: int) -> None:
        self.total = total
        self._names: Counter[str] = Counter()

    def add(self, case: Case) -> None:
        """One more was started."""
        self._names[str(case.key)] += 1
        self.total = max(self.total, self._names.total())

    def name_of(self, result: ScenarioResult) -> str:
        """The case, and whether it ran before."""
        name = str(result.key)
        return f"{name} (again)" if self._names[name] > 1 else name


class LineProgress:
    """One line for each case that has been judged; for logs."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self._launches = _Launches(total)
        self._done = 0
        self._stream = stream or sys.stderr
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def started(self, case: Case) -> None:
        """Says nothing: the end of a case is the event."""
        with self._lock:
            self._launches.add(case)

    def finished(self, result: ScenarioResult) -> None:
        """Print the case, its outcome and its duration."""
        with self._lock:
            self._done += 1
            reason = "" if result.outcome.value == "passed" else f": {result.reason}"
            print(
                f"[{self._done}/{self._launches.total}] "
                f"{self._launches.name_of(result)} "
                f"{result.standing} {result.duration_s:.1f}s"
                f"{printable(' '.join(reason.split())[:200])}",
                file=self._stream,
                flush=True,
            )


class LiveProgress:
    """A bar and the running cases; for a terminal."""

    def __init__(self, total: int) -> None:
        from rich.progress import (  # noqa: PLC0415 (0.1 s, only on a terminal)
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
        )

        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("{task.description}"),
            transient=True,
        )
        self._task = self._progress.add_task("starting", total=total)
        self._launches = _Launches(total)
        self._running: list[str] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def started(self, case: Case) -> None:
        """Show the case among the running ones."""
        with self._lock:
            self._launches.add(case)
            self._progress.update(self._task, total=self._launches.total)
            self._running.append(str(case.key))
            self._show()

    def finished(self, result: ScenarioResult) -> None:
        """Count the case; print it unless all of it passed."""
        with self._lock:
            if str(result.key) in self._running:
                self._running.remove(str(result.key))
            if result.standing != "passed":
                self._progress.console.print(
                    f"{self._launches.name_of(result)} {result.standing}",
                    markup=False,
                )
            self._progress.advance(self._task)
            self._show()

    def _show(self) -> None:
        self._progress.update(self._task, description=" ".join(self._running)[:70])


def progress_for(
    total: int, stream: TextIO | None = None
) -> LineProgress | LiveProgress:
    """Live where there is a terminal to redraw, lines elsewhere; on standard error."""
    stream = stream or sys.stderr
    return LiveProgress(total) if stream.isatty() else LineProgress(total, stream)
