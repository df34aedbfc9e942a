"""The verdict of a stored run, derived again from its evidence; nothing is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf import __version__, evidence, report, rerun
from mcpconf.errors import DecodeError
from mcpconf.judging import judged
from mcpconf.report_schema import validate
from mcpconf.runrecord import EndRecord, RunRecord
from mcpconf.suite.catalogue import load_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from mcpconf.ours import Case
    from mcpconf.record import Policy, Role, ScenarioResult
    from mcpconf.report_assembly import Report
    from mcpconf.suite.catalogue import Catalogue


def rejudge(run_dir: Path, catalogue: Catalogue | None = None) -> Report:
    """
    Derive the report of a stored run again, from its evidence alone.

    It is judged with the committed catalogue of its role, unless one is given.

    :raises DecodeError: a file of the run is missing, malformed or not the one the
        closing record names, or it was judged with another catalogue or mcpconf.
    """
    record = RunRecord.load(run_dir / evidence.RUN)
    if record.tool_version != __version__:
        raise DecodeError(
            run_dir / evidence.RUN,
            "tool_version",
            f"is {record.tool_version}, whose rules are not those of {__version__}; "
            f"rejudge with mcpconf {record.tool_version}",
        )
    end_path = run_dir / evidence.END
    end = EndRecord.load(end_path) if end_path.is_file() else None
    if end is not None:
        keys = [key for key, _ in record.cases]
        evidence.check_digests(run_dir, keys, end.digests)
    role = record.selection.role
    catalogue = catalogue or load_catalogue(role=role)
    cases = record.planned(catalogue)
    results = _results(run_dir, role, cases, record.policy)
    if (run_dir / evidence.RERUNS).is_file():
        results = _confirmed(run_dir, role, cases, results, record.policy)
    built = report.build(record, cases, results, catalogue, end)
    validate(built.value)
    return built


def _confirmed(
    run_dir: Path,
    role: Role,
    cases: Iterable[Case],
    results: Mapping[str, ScenarioResult],
    policy: Policy,
) -> Mapping[str, ScenarioResult]:
    """The results with what the reruns showed, as far as they came."""
    by_key = {case.key: case for case in cases}
    plan = rerun.load_plan(run_dir / evidence.RERUNS, by_key)
    again = []
    for number, entries in enumerate(plan.rounds, 1):
        place = evidence.rerun_dir(run_dir, number)
        rerun_cases = [by_key[each.key] for each in entries]
        again.append(_results(place, role, rerun_cases, policy))
    return rerun.confirmed(plan, results, again)


def _results(
    run_dir: Path, role: Role, cases: Iterable[Case], policy: Policy
) -> Mapping[str, ScenarioResult]:
    """What was launched of the cases, by name."""
    results = {}
    for case in cases:
        result = judged(role, run_dir, case, policy)
        if result is not None:
            results[str(case.key)] = result
    return results
