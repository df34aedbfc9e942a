"""
The cases of one run, launched in a bounded pool and judged as they end.

Cases whose timing the suite measures run alone, after the others. Results are kept by
name, so that a report has the order of the plan whatever the finishing order.
"""

from __future__ import annotations

import logging
import os
import tempfile
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mcpconf import evidence, judge
from mcpconf.case import SuiteLaunch, launch_case
from mcpconf.errors import McpconfError
from mcpconf.plan import PlannedCase
from mcpconf.supplemental import launch as supplemental_launch
from mcpconf.supplemental.verdict import judged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
        self._run_dir = run_dir
        self._progress = progress
        self._publish = publish
        self._results: dict[str, ScenarioResult] = {}
        self._running: dict[str, Running] = {}
        self._lock = threading.Lock()
        self._publish_at = 0.0
        self.stopped = False
        self.faults: list[str] = []
        self.ports: set[int] = set()
        self._shared = tempfile.TemporaryDirectory(prefix="shared-", dir=private)
        self._launch = SuiteLaunch(
            suite=setup.suite,
            subject=setup.subject,
            run_dir=run_dir,
            parent=private,
            keep_artifacts=setup.keep_artifacts,
            timeout_s=setup.timeout_s,
            auth=setup.record.auth_mode.value,
            environment=dict(os.environ),
            shared=Path(self._shared.name),
        )

    def stop(self) -> None:
        """End every running case and launch no more; for signal handlers too."""
        self.stopped = True
        for running in list(self._running.values()):
            running.stop()

    def run(self) -> None:
        """Every case that can be launched: first in parallel, then one by one."""
        with self._shared:
            self._run()

    def _run(self) -> None:
        # Killed in its first case, a run must not leave the report of another.
        self._publish(self.results)
        cases = self._setup.launched
        together = [case for case in cases if not case.timing_sensitive]
        alone = [case for case in cases if case.timing_sensitive]
        for ours, jobs in ((True, _OURS * self._setup.jobs), (False, self._setup.jobs)):
            with ThreadPoolExecutor(jobs) as executor:
                mine = [c for c in together if isinstance(c, PlannedCase) is not ours]
                self._submit(executor, mine)
        with ThreadPoolExecutor(1) as executor:
            self._submit(executor, alone)

    def _submit(self, executor: ThreadPoolExecutor, cases: Sequence[Case]) -> None:
        pending: set[Future[None]] = {
            executor.submit(self._one, case) for case in cases
        }
        try:
            while pending:
                # A bounded wait lets the main thread see its signals everywhere.
                done, pending = wait(pending, 0.5, FIRST_COMPLETED)
                for future in done:
                    future.result()
                if done and time.monotonic() >= self._publish_at:
                    self._publish(self.results)
                    self._publish_at = time.monotonic() + PUBLISH_EVERY_S
        except BaseException:
            self.stop()  # nothing that was queued is of use to anybody now
            raise

    def _one(self, case: Case) -> None:
        name = str(case.key)
        if self.stopped:
            return
        self._progress.started(case)

        def started(running: Running) -> None:
            self._running[name] = running
            if self.stopped:  # the stop came between the check above and here
                running.stop()

        try:
            result = self._judged(case, started)
        except McpconfError as error:
            self._fault(f"{name}: {error}")
            return
        except Exception as bug:  # noqa: BLE001 (one case must not cost the others)
            _log.exception("%s: a bug of mcpconf", name)
            self._fault(f"{name}: a bug of mcpconf: {bug!r}"[:_FAULT])
            return
        finally:
            self._running.pop(name, None)
        if result is None:
            self._fault(f"{name}: nothing was stored of it")
            return
        with self._lock:
            self._results[name] = result
        self._progress.finished(result)

    def _fault(self, problem: str) -> None:
        with self._lock:
            self.faults.append(problem)

    def _judged(
        self, case: Case, started: Callable[[Running], None]
    ) -> ScenarioResult | None:
        """Launch one case, and judge what is stored of it."""
        policy = self._setup.record.policy
        if not isinstance(case, PlannedCase):
            supplemental_launch.launch_case(self._launch, case, started)
            return judged(self._run_dir, case, policy)
        launch_case(self._launch, case, started)
        stored = evidence.read_case(self._run_dir, case.key)
        if stored is not None:
            with self._lock:
                self.ports |= stored.wire.ports
        return judge.judge(case, stored, policy)

    @property
    def results(self) -> dict[str, ScenarioResult]:
        """What has been judged by now, by the case's name."""
        with self._lock:
            return dict(self._results)
