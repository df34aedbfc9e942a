"""
The cases of one run, launched in a bounded pool and judged as they end.

Cases whose timing the suite measures run alone, after the others, and so does whatever
is run again. Results are kept by name, so that a report has the order of the plan
whatever the finishing order.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mcpconf.case import SuiteLaunch
from mcpconf.errors import McpconfError
from mcpconf.judging import judged
from mcpconf.launching import ClientLauncher
from mcpconf.plan import PlannedCase
from mcpconf.redaction import redact_text
from mcpconf.server.launching import ServerLauncher
from mcpconf.server.subject import ServerSubject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from mcpconf.launching import Launcher, LaunchOne
    from mcpconf.ours import Case
    from mcpconf.process import Running
    from mcpconf.record import ScenarioResult
    from mcpconf.setup import Setup

    Publish = Callable[[Mapping[str, ScenarioResult]], None]

#: A report is rendered anew at most this often while cases finish.
PUBLISH_EVERY_S = 10.0
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

    run_dir: Path
    launch: LaunchOne
    #: What tells its faults from those of the first batch.
    mark: str
    #: Told now and then what was judged of the batch.
    publish: Publish
    #: What was judged, by the case's name.
    results: dict[str, ScenarioResult]


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
        self._progress = progress
        self._running: dict[str, Running] = {}
        self._lock = threading.Lock()
        self._publish_at = 0.0
        self.stopped = False
        self.faults: list[str] = []
        self.ports: set[int] = set()
        self._launcher = _launcher_of(setup, run_dir, private)
        self._run_dir = run_dir
        self._publish = publish
        self._results: dict[str, ScenarioResult] = {}

    def stop(self) -> None:
        """End every running case and launch no more; for signal handlers too."""
        self.stopped = True
        for running in list(self._running.values()):
            running.stop()

    def run(self) -> None:
        """Every case that can be launched: first in parallel, then one by one."""
        # Killed in its first case, a run must not leave the report of another.
        self._publish(self.results)
        cases = self._setup.launched
        together = [case for case in cases if not case.timing_sensitive]
        alone = [case for case in cases if case.timing_sensitive]
        ours = [case for case in together if not isinstance(case, PlannedCase)]
        suites = [case for case in together if isinstance(case, PlannedCase)]
        launcher = self._launcher
        with self._session(self._run_dir) as launch:
            batch = _Batch(
                run_dir=self._run_dir,
                launch=launch,
                mark="",
                publish=self._publish,
                results=self._results,
            )
            self._submit(batch, ours, launcher.ours_at_once)
            self._submit(batch, suites, launcher.suites_at_once)
            self._submit(batch, alone, 1)

    def run_again(
        self, cases: Sequence[Case], run_dir: Path, publish: Publish
    ) -> dict[str, ScenarioResult]:
        """
        The cases once more, one at a time; what was judged, by the case's name.

        Their evidence goes to `run_dir`, and they share nothing with the cases before.
        """
        results: dict[str, ScenarioResult] = {}
        with self._session(run_dir) as launch:
            batch = _Batch(
                run_dir=run_dir,
                launch=launch,
                mark=" (run again)",
                publish=publish,
                results=results,
            )
            self._submit(batch, cases, 1)
        return results

    @contextmanager
    def _session(self, run_dir: Path) -> Iterator[LaunchOne]:
        """The launcher's session; what it could not end is a fault of the run."""
        try:
            with self._launcher.session(run_dir) as launch:
                yield launch
        except McpconfError as error:
            self._fault(str(error))

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
                        batch.publish(self._judged_of(batch.results))
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
            result = self._judged(batch, case, started)
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
        # It may quote what a program wrote, and it is kept.
        with self._lock:
            self.faults.append(redact_text(problem))

    def _judged(
        self, batch: _Batch, case: Case, started: Callable[[Running], None]
    ) -> ScenarioResult | None:
        """Launch one case, and judge what is stored of it."""
        batch.launch(case, started)
        record = self._setup.record

        def saw(ports: frozenset[int]) -> None:
            with self._lock:
                self.ports |= ports

        role = record.selection.role
        return judged(role, batch.run_dir, case, record.policy, saw_ports=saw)

    @property
    def results(self) -> dict[str, ScenarioResult]:
        """What has been judged by now of the first launches, by the case's name."""
        return self._judged_of(self._results)

    def _judged_of(
        self, results: Mapping[str, ScenarioResult]
    ) -> dict[str, ScenarioResult]:
        with self._lock:
            return dict(results)


def _launcher_of(setup: Setup, run_dir: Path, private: Path) -> Launcher:
    """What launches the cases of the program under test."""
    if isinstance(setup.subject, ServerSubject):
        return ServerLauncher(
            suite=setup.suite,
            subject=setup.subject,
            private=private,
            keep_artifacts=setup.keep_artifacts,
            timeout_s=setup.timeout_s,
            jobs=setup.jobs,
            environment=dict(os.environ),
        )
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
    return ClientLauncher(launch=launch, private=private, jobs=setup.jobs)
