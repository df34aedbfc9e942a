"""
A whole run: plan, launch in a bounded pool, judge, report as it goes.

Cases whose timing the suite measures run alone, after the others. Results are kept in
the order of the plan whatever the finishing order. A stop (Ctrl-C, SIGTERM) ends every
child, and what was measured by then is reported as incomplete.
"""

from __future__ import annotations

import os
import secrets
import signal
import socket
import tempfile
import threading
import time
from collections.abc import Iterator  # noqa: TC003 (a context manager's annotation)
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mcpconf import cache, evidence, judge, report
from mcpconf.case import Launch, launch_case
from mcpconf.errors import McpconfError
from mcpconf.runrecord import EndRecord, RunRecord
from mcpconf.storage import json_bytes, write_json, write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.client.subject import Subject
    from mcpconf.plan import PlannedCase
    from mcpconf.process import Running
    from mcpconf.record import ScenarioResult
    from mcpconf.suite.catalogue import Catalogue
    from mcpconf.suite.install import Suite

RUNS = "runs"
#: A report is rendered anew at most this often while cases finish.
PUBLISH_EVERY_S = 5.0
REPORT = "report.json"


class Progress(Protocol):
    """What a run tells while it goes on."""

    def started(self, case: PlannedCase) -> None:
        """A case was launched."""

    def finished(self, result: ScenarioResult) -> None:
        """A case was judged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything a run needs, resolved and checked."""

    record: RunRecord
    cases: tuple[PlannedCase, ...]
    catalogue: Catalogue
    suite: Suite
    subject: Subject
    #: Where runs and the latest report go (``.mcpconf``).
    output_dir: Path
    report_path: Path | None
    artifact_parent: Path | None
    keep_artifacts: bool
    jobs: int
    timeout_s: float

    @property
    def launched(self) -> tuple[PlannedCase, ...]:
        """The cases that are really launched: the manifest rules out the others."""
        return tuple(
            case
            for case in self.cases
            if report.declared_unsupported(self.record, case) is None
        )


def new_run_id() -> str:
    """A name no other run has: time to read by, randomness to be alone."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{stamp}-{secrets.token_hex(3)}"


def perform(setup: Setup, progress: Progress) -> report.Report:
    """
    Launch, judge and report every case of the plan.

    :raises StorageError: a file of the run could not be written.
    """
    run_dir = setup.output_dir / RUNS / setup.record.run_id
    write_json(run_dir / evidence.RUN, setup.record.to_json(), durable=True)
    with tempfile.TemporaryDirectory(
        prefix="mcpconf-run-", dir=setup.artifact_parent, ignore_cleanup_errors=True
    ) as private:
        pool = _Pool(setup, run_dir, Path(private), progress)
        with _stopping(pool):
            pool.run()
        remains = sorted(path.name for path in Path(private).iterdir())
    end = EndRecord(
        finished_at=_now(),
        complete=not pool.stopped,
        faults=tuple(pool.faults),
        open_ports=_open_ports(pool.ports),
        temporary=tuple(remains),
    )
    write_json(run_dir / evidence.END, end.to_json(), durable=True)
    return pool.publish(end)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@contextmanager
def _stopping(pool: _Pool) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into an orderly stop, where signals can be had."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught = (signal.SIGINT, signal.SIGTERM)
    before = {each: signal.signal(each, lambda *_: pool.stop()) for each in caught}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class _Pool:
    """The launches of one run."""

    def __init__(
        self, setup: Setup, run_dir: Path, private: Path, progress: Progress
    ) -> None:
        self._setup = setup
        self._run_dir = run_dir
        self._progress = progress
        self._results: dict[str, ScenarioResult] = {}
        self._running: dict[str, Running] = {}
        self._lock = threading.Lock()
        self._publish_at = 0.0
        self.stopped = False
        self.faults: list[str] = []
        self.ports: set[int] = set()
        node = setup.suite.node.version if setup.suite.node else "none"
        self._launch = Launch(
            suite=setup.suite,
            subject=setup.subject,
            run_dir=run_dir,
            parent=private,
            keep_artifacts=setup.keep_artifacts,
            timeout_s=setup.timeout_s,
            auth=setup.record.auth_mode.value,
            compile_cache=cache.cache_dir() / "compiled" / node,
            environment=dict(os.environ),
        )

    def stop(self) -> None:
        """End every running case and launch no more; for signal handlers too."""
        self.stopped = True
        for running in list(self._running.values()):
            running.stop()

    def run(self) -> None:
        """Every case that can be launched: first in parallel, then one by one."""
        # Killed in its first case, a run must not leave the report of another.
        self.publish(None)
        cases = self._setup.launched
        together = [case for case in cases if not case.entry.timing_sensitive]
        alone = [case for case in cases if case.entry.timing_sensitive]
        with ThreadPoolExecutor(self._setup.jobs) as executor:
            self._submit(executor, together)
        with ThreadPoolExecutor(1) as executor:
            self._submit(executor, alone)

    def _submit(
        self, executor: ThreadPoolExecutor, cases: Sequence[PlannedCase]
    ) -> None:
        pending: set[Future[None]] = {
            executor.submit(self._one, case) for case in cases
        }
        while pending:
            # A bounded wait lets the main thread see its signals on every platform.
            done, pending = wait(pending, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
            if done and time.monotonic() >= self._publish_at:
                self.publish(None)
                self._publish_at = time.monotonic() + PUBLISH_EVERY_S

    def _one(self, case: PlannedCase) -> None:
        name = str(case.key)
        if self.stopped:
            return
        self._progress.started(case)

        def started(running: Running) -> None:
            self._running[name] = running
            if self.stopped:  # the stop came between the check above and here
                running.stop()

        try:
            launch_case(self._launch, case, started)
            stored = evidence.read_case(self._run_dir, case.key)
        except McpconfError as error:
            with self._lock:
                self.faults.append(f"{name}: {error}")
            return
        finally:
            self._running.pop(name, None)
        result = judge.judge(case, stored, self._setup.record.policy)
        with self._lock:
            self._results[name] = result
            if stored is not None:
                self.ports |= stored.wire.ports
        self._progress.finished(result)

    def publish(self, end: EndRecord | None) -> report.Report:
        """Write the report of what is known by now; `end` closes it."""
        with self._lock:
            results = dict(self._results)
        setup = self._setup
        built = report.build(setup.record, setup.cases, results, setup.catalogue, end)
        if end is not None:
            report.validate(built.value)
        content = json_bytes(built.value)
        write_whole(self._run_dir / REPORT, content, durable=end is not None)
        write_whole(setup.output_dir / REPORT, content)
        if setup.report_path is not None:
            write_whole(setup.report_path, content, durable=end is not None)
        return built


def _open_ports(ports: set[int]) -> tuple[int, ...]:
    """Ports of the mock servers that still answer: they should all be gone."""
    still = []
    for port in sorted(ports):
        for host in ("127.0.0.1", "::1"):
            try:
                with socket.create_connection((host, port), timeout=0.2):
                    still.append(port)
            except OSError:
                continue
    return tuple(dict.fromkeys(still))


def rejudge(run_dir: Path, catalogue: Catalogue) -> report.Report:
    """
    Derive the report of a stored run again, from its evidence alone.

    :raises DecodeError: a file of the run is missing or malformed, or it was judged
        with another catalogue.
    """
    record = RunRecord.load(run_dir / evidence.RUN)
    cases = record.planned(catalogue)
    results = {}
    for case in cases:
        stored = evidence.read_case(run_dir, case.key)
        if stored is not None:
            results[str(case.key)] = judge.judge(case, stored, record.policy)
    end_path = run_dir / evidence.END
    end = EndRecord.load(end_path) if end_path.is_file() else None
    built = report.build(record, cases, results, catalogue, end)
    report.validate(built.value)
    return built
