"""
A whole run: written down, launched, judged, reported as it goes, closed.

A stop (Ctrl-C, SIGTERM) ends every child, and what was measured by then is reported as
incomplete. The closing record names every file of evidence by its digest.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mcpconf import evidence, report
from mcpconf.hygiene import ports_still_held, private_dir
from mcpconf.pool import Pool
from mcpconf.report_schema import validate
from mcpconf.runrecord import EndRecord
from mcpconf.storage import json_bytes, write_json, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mcpconf.pool import Progress
    from mcpconf.record import ScenarioResult
    from mcpconf.setup import Setup

RUNS = "runs"
REPORT = "report.json"


def perform(setup: Setup, progress: Progress) -> report.Report:
    """
    Launch, judge and report every case of the plan.

    :raises StorageError: a file of the run could not be written.
    """
    run_dir = setup.output_dir / RUNS / setup.record.run_id
    write_json(run_dir / evidence.RUN, setup.record.to_json(), durable=True)

    def publish(results: Mapping[str, ScenarioResult]) -> None:
        _publish(setup, run_dir, results, None)

    with private_dir(setup.artifact_parent) as private:
        pool = Pool(setup, run_dir, private, progress, publish)
        with _stopping(pool):
            pool.run()
        held = ports_still_held(pool.ports, private)
        remains = sorted(path.name for path in private.iterdir())
    end = EndRecord(
        finished_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        complete=not pool.stopped,
        faults=tuple(pool.faults),
        open_ports=held,
        temporary=tuple(remains),
        digests=evidence.digests_of(run_dir, [case.key for case in setup.cases]),
    )
    write_json(run_dir / evidence.END, end.to_json(), durable=True)
    return _publish(setup, run_dir, pool.results, end)


@contextmanager
def _stopping(pool: Pool) -> Iterator[None]:
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


def _publish(
    setup: Setup,
    run_dir: Path,
    results: Mapping[str, ScenarioResult],
    end: EndRecord | None,
) -> report.Report:
    """Write the report of what is known by now; `end` closes it."""
    built = report.build(setup.record, setup.cases, results, setup.catalogue, end)
    if end is not None:
        validate(built.value)
    content = json_bytes(built.value)
    write_whole(run_dir / REPORT, content, durable=end is not None)
    write_whole(setup.output_dir / REPORT, content)
    if setup.report_path is not None:
        write_whole(setup.report_path, content, durable=end is not None)
    return built
