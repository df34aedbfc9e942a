"""
A whole run: written down, launched, judged, reported as it goes, closed.

What a baseline did not expect is run again, alone, before the run closes; see
`mcpconf.flake`. A stop (Ctrl-C, SIGTERM) ends every child, and what was measured by
then is reported as incomplete. The closing record names every file of evidence by its
digest.
"""

from __future__ import annotations

import logging
import signal
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mcpconf import evidence, flake, ledger, report, rerun
from mcpconf.errors import McpconfError
from mcpconf.hygiene import ports_still_held, private_dir
from mcpconf.pool import Pool
from mcpconf.report_assembly import LABELS
from mcpconf.report_schema import validate
from mcpconf.runrecord import EndRecord
from mcpconf.storage import json_bytes, write_json, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from mcpconf.pool import Progress
    from mcpconf.record import ScenarioResult
    from mcpconf.report_assembly import Report
    from mcpconf.rerun import Reruns
    from mcpconf.setup import Setup

RUNS = "runs"
REPORT = "report.json"
_log = logging.getLogger(__name__)


def perform(setup: Setup, progress: Progress, reruns: Reruns | None = None) -> Report:
    """
    Launch, judge and report every case of the plan.

    With `reruns`, what the baseline did not expect is confirmed, and what was flaky is
    noted in the ledger of `setup.output_dir`. A ledger that cannot be written then is
    logged as an error and costs no verdict.

    :raises DecodeError: the ledger is malformed; nothing was run.
    :raises StorageError: a file of the run could not be written.
    """
    if reruns is not None:
        ledger.load_ledger(setup.output_dir / ledger.FILE)
    run_dir = setup.output_dir / RUNS / setup.record.run_id
    write_json(run_dir / evidence.RUN, setup.record.to_json(), durable=True)

    def publish(results: Mapping[str, ScenarioResult]) -> None:
        _publish(setup, run_dir, results, None)

    with private_dir(setup.artifact_parent) as private:
        pool = Pool(setup, run_dir, private, progress, publish)
        with _stopping(pool):
            pool.run()
            results: Mapping[str, ScenarioResult] = pool.results
            if reruns is not None and not pool.stopped:
                results = _confirmed(setup, run_dir, pool, reruns)
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
    built = _publish(setup, run_dir, results, end)
    if reruns is not None and end.complete:
        try:
            _note_flakes(setup, pool.results, results, end)
        except McpconfError as error:  # the verdict is told all the same
            _log.error("%s", error)
    return built


def _confirmed(
    setup: Setup, run_dir: Path, pool: Pool, reruns: Reruns
) -> Mapping[str, ScenarioResult]:
    """The results, after what was unexpected in them ran again, alone."""
    results, cases = pool.results, setup.launched
    interim = _publish(setup, run_dir, results, None)
    plan = rerun.planned(reruns, cases, results, interim.value)
    if plan is None:
        return results
    if plan.note is not None:
        _log.warning("%s", plan.note)
        write_json(run_dir / evidence.RERUNS, plan.to_json(), durable=True)
    again: list[Mapping[str, ScenarioResult]] = []
    first = plan  # its round holds every case of a later one

    def publish(found: Mapping[str, ScenarioResult]) -> None:
        known = rerun.confirmed(first, results, [*again, found])
        _publish(setup, run_dir, known, None)

    while len(again) < len(plan.rounds) and not pool.stopped:
        write_json(run_dir / evidence.RERUNS, plan.to_json(), durable=True)
        keys = {entry.key for entry in plan.rounds[-1]}
        place = evidence.rerun_dir(run_dir, len(again) + 1)
        found = pool.run_again([c for c in cases if c.key in keys], place, publish)
        publish(found)  # a kill in the next round must not cost this one
        again.append(found)
        plan = rerun.extended(plan, cases, results, again)
    return rerun.confirmed(plan, results, again)


def _note_flakes(
    setup: Setup,
    first: Mapping[str, ScenarioResult],
    results: Mapping[str, ScenarioResult],
    end: EndRecord,
) -> None:
    """Add the run, and what was rescued in it, to the ledger."""
    record = setup.record
    name, version = record.subject.name, record.subject.version
    path = setup.output_dir / ledger.FILE
    flakes = []
    for key, _ in record.cases:
        result = results.get(str(key))
        checks = flake.flaky_checks(result) if result is not None else ()
        if result is not None and checks:
            flakes.append(
                ledger.FlakeEntry(
                    run=record.run_id,
                    client=name,
                    version=version,
                    mode=key.revision.value,
                    transport=LABELS[key.source, key.transport],
                    scenario=key.scenario,
                    variant=key.variant,
                    checks=tuple(":".join(each) for each in checks),
                    first=_said(first[str(key)]),
                    again=tuple(_said(each) for each in result.reruns),
                )
            )
    run = ledger.RunEntry(
        run=record.run_id,
        client=name,
        version=version,
        cases=len(results),
        finished_at=end.finished_at,
    )
    ledger.record_run(path, run, flakes)


def _said(result: ScenarioResult) -> ledger.Said:
    return ledger.Said(outcome=result.outcome, reason=result.reason)


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
) -> Report:
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
