"""The verdict of a stored run, derived again from its evidence; nothing is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf import __version__, evidence, judge, report
from mcpconf.errors import DecodeError
from mcpconf.plan import PlannedCase
from mcpconf.report_schema import validate
from mcpconf.runrecord import EndRecord, RunRecord
from mcpconf.supplemental.verdict import judged

if TYPE_CHECKING:
    from pathlib import Path

    from mcpconf.record import Policy, ScenarioResult
    from mcpconf.suite.catalogue import Catalogue
    from mcpconf.supplemental.plan import Case


def rejudge(run_dir: Path, catalogue: Catalogue) -> report.Report:
    """
    Derive the report of a stored run again, from its evidence alone.

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
    cases = record.planned(catalogue)
    results = {}
    for case in cases:
        result = _judged(run_dir, case, record.policy)
        if result is not None:
            results[str(case.key)] = result
    built = report.build(record, cases, results, catalogue, end)
    validate(built.value)
    return built


def _judged(run_dir: Path, case: Case, policy: Policy) -> ScenarioResult | None:
    if not isinstance(case, PlannedCase):
        return judged(run_dir, case, policy)
    stored = evidence.read_case(run_dir, case.key)
    return judge.judge(case, stored, policy) if stored else None
