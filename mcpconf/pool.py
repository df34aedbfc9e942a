"""
The cases of one run, launched in a bounded pool and judged as they end.

Cases whose timing the suite measures run alone, after the others, and so does whatever
is run again. Results are kept by name, so that a report has the order of the plan
whatever the finishing order.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mcpconf import evidence, judge
from mcpconf.case import SuiteLaunch, launch_case
from mcpconf.errors import McpconfError
from mcpconf.plan import PlannedCase
from mcpconf.supplemental import launch as supplemental_launch
from mcpconf.supplemental.verdict import judged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mcpconf.process import Running
    from mcpconf.record import ScenarioResult
    from mcpconf.setup import Setup
    from mcpconf.supplemental.plan import Case

    Publish = Callable[[Mapping[str, ScenarioResult]], None]

#: A report is rendered anew at most this often while cases finish.
PUBLISH_EVERY_S = 10.0
#: Cases of ours wait for half of their time, so two of them keep one core busy.
_OURS = 2
_FAULT = 500
_log = logging.getLogger(__name__)


class Progress(Protocol):
    """What a run tells while it goes on."""

    def started(self, case: Case) -> None:
        """A case was launched."""

    def finished(self, result: ScenarioResult) -> None:
        """A case was judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Batch:
    """Launches whose evidence is stored together."""

    launch: SuiteLaunch
    #: What tells its faults from those of the first batch.
    mark: str
    #: Told now and then what was judged of the batch.
    publish: Publish
    #: What was judged, by the case's name.
    results: dict[str, ScenarioResult] = field(default_factory=dict)


class Pool:
    """The launches of one run."""

    def __init__(
        self,
        setup: Setup,
        run_dir: Path,
        private: Path,
        progress: Progress,
        publish: Publish,
    ) -> None:
        self._setup = setup
        self._private = private
        self._progress = progress
        self._running: dict[str, Running] = {}
        self._lock = threading.Lock()
        self._publish_at = 0.0
        self.stopped = False
        self.faults: list[str] = []
        self.ports: set[int] = set()
        launch = SuiteLaunch(
            suite=setup.suite,
            subject=setup.subject,
            run_dir=run_dir,
            parent=private,
            keep_artifacts=setup.keep_artifacts,
            timeout_s=setup.timeout_s,
            auth=setup.record.auth_mode.value,
            environment=dict(os.environ),
        )
        self._first = _Batch(launch=launch, mark="", publish=publish)

    def stop(self) -> None:
        """End every running case and launch no more; for signal handlers too."""
        self.stopped = True
        for running in list(self._running.values()):
            running.stop()

    def run(self) -> None:
        """Every case that can be launched: first in parallel, then one by one."""
        # Killed in its first case, a run must not leave the report of another.
        self._first.publish(self.results)
        cases = self._setup.launched
        together = [case for case in cases if not case.timing_sensitive]
        alone = [case for case in cases if case.timing_sensitive]
        ours = [case for case in together if not isinstance(case, PlannedCase)]
        suites = [case for case in together if isinstance(case, PlannedCase)]
        with self._sharing(self._first) as batch:
            self._submit(batch, ours, _OURS * self._setup.jobs)
            self._submit(batch, suites, self._setup.jobs)
            self._submit(batch, alone, 1)

    def run_again(
        self, cases: Sequence[Case], run_dir: Path, publish: Publish
    ) -> dict[str, ScenarioResult]:
        """
        The cases once more, one at a time; what was judged, by the case's name.

        Their evidence goes to `run_dir`, and they share nothing with the cases before.
        """
        launch = replace(self._first.launch, run_dir=run_dir)
        again = _Batch(launch=launch, mark=" (run again)", publish=publish)
        with self._sharing(again) as batch:
            self._submit(batch, cases, 1)
        return batch.results

    @contextmanager
    def _sharing(self, batch: _Batch) -> Iterator[_Batch]:
        """The batch, with a place for what its drivers would make anew each time."""
        with tempfile.TemporaryDirectory(prefix="shared-", dir=self._private) as name:
            yield replace(batch, launch=replace(batch.launch, shared=Path(name)))

    def _submit(self, batch: _Batch, cases: Sequence[Case], jobs: int) -> None:
        """Launch the cases, so many at a time, and wait for them."""
        with ThreadPoolExecutor(jobs) as executor:
            pending: set[Future[None]] = {
                executor.submit(self._one, batch, case) for case in cases
            }
            try:
                while pending:
                    # A bounded wait lets the main thread see its signals everywhere.
                    done, pending = wait(pending, 0.5, FIRST_COMPLETED)
                    for future in done:
                        future.result()
                    if done and time.monotonic() >= self._publish_at:
                        batch.publish(self._judged_of(batch))
                        self._publish_at = time.monotonic() + PUBLISH_EVERY_S
            except BaseException:
                self.stop()  # nothing that was queued is of use to anybody now
                raise

    def _one(self, batch: _Batch, case: Case) -> None:
        name = str(case.key)
        if self.stopped:
            return
        self._progress.started(case)

        def started(running: Running) -> None:
            self._running[name] = running
            if self.stopped:  # the stop came between the check above and here
                running.stop()

        try:
            result = self._judged(batch.launch, case, started)
        except McpconfError as error:
            self._fault(f"{name}{batch.mark}: {error}")
            return
        except Exception as bug:  # noqa: BLE001 (one case must not cost the others)
            _log.exception("%s: a bug of mcpconf", name)
            self._fault(f"{name}{batch.mark}: a bug of mcpconf: {bug!r}"[:_FAULT])
            return
        finally:
            self._running.pop(name, None)
        if result is None:
            self._fault(f"{name}{batch.mark}: nothing was stored of it")
            return
        with self._lock:
            batch.results[name] = result
        self._progress.finished(result)

    def _fault(self, problem: str) -> None:
        with self._lock:
            self.faults.append(problem)

    def _judged(
        self, launch: SuiteLaunch, case: Case, started: Callable[[Running], None]
    ) -> ScenarioResult | None:
        """Launch one case, and judge what is stored of it."""
        policy = self._setup.record.policy
        if not isinstance(case, PlannedCase):
            supplemental_launch.launch_case(launch, case, started)
            return judged(launch.run_dir, case, policy)
        launch_case(launch, case, started)
        stored = evidence.read_case(launch.run_dir, case.key)
        if stored is not None:
            with self._lock:
                self.ports |= stored.wire.ports
        return judge.judge(case, stored, policy)

    @property
    def results(self) -> dict[str, ScenarioResult]:
        """What has been judged by now of the first launches, by the case's name."""
        return self._judged_of(self._first)

    def _judged_of(self, batch: _Batch) -> dict[str, ScenarioResult]:
        with self._lock:
            return dict(batch.results)
