"""
Outcomes become a report: schema 4 of the original harness, with additive fields.

`build` is a pure function of what is stored with a run, so a stored run gives the same
bytes again. A report without its closing record says ``complete: false`` and can never
be conformant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.client.manifest import manifest_of
from mcpconf.judging import not_run
from mcpconf.plan import PlannedCase
from mcpconf.record import ReportStatus, Source
from mcpconf.report_assembly import LABELS, Report, Row, assemble
from mcpconf.report_check import (
    category_of,
    reproduction,
    scenario_checks,
    supplemental_check,
    supplemental_checks,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.ours import Case
    from mcpconf.record import ScenarioResult
    from mcpconf.runrecord import EndRecord, RunRecord
    from mcpconf.suite.catalogue import Catalogue

SCHEMA_VERSION = 4


def declared_unsupported(record: RunRecord, case: Case) -> str | None:
    """Why the client's manifest rules a case out, if it does."""
    if not isinstance(case, PlannedCase):
        return None  # our own scenarios ask the driver for verbs, one by one
    manifest = manifest_of(record.selection.role, record.subject.name)
    return manifest.ruled_out(case.key.scenario)


def build(
    record: RunRecord,
    cases: Sequence[Case],
    results: Mapping[str, ScenarioResult],
    catalogue: Catalogue,
    end: EndRecord | None,
) -> Report:
    """The report of what is known; `end` is None while the run goes on."""
    rows = [_row(record, case, _result_of(record, case, results)) for case in cases]
    closing = None if end is None else _closing(end)
    head = _head(record, catalogue, end)
    return assemble(head, rows, record.selection, catalogue, closing)


def _head(
    record: RunRecord, catalogue: Catalogue, end: EndRecord | None
) -> dict[str, Any]:
    """Who was judged, by what, under which policy."""
    return {
        "schemaVersion": SCHEMA_VERSION,
        "role": record.selection.role.value,
        "startedAt": record.started_at,
        "finishedAt": None if end is None else end.finished_at,
        "codexBinary": record.subject.binary,
        "codexVersion": record.subject.version,
        "client": record.subject.value,
        "modernFeatureEnablement": True,
        "automaticAuthRequired": record.auth_mode.value == "strict",
        "officialConformance": _official(record, catalogue),
        "versionCheck": {"success": True, "detail": record.subject.version},
        "floor": {
            revision.value: {
                name: {"scenarios": floor.scenarios, "checks": floor.checks}
                for name, floor in catalogue.floors.get(revision, {}).items()
            }
            for revision in record.selection.revisions
        },
        "policy": {
            "warnings": record.policy.warnings.value,
            "revision": record.policy.revision.value,
        },
        "selection": record.selection.to_json(),
        "run": {"id": record.run_id, "mcpconf": record.tool_version, "shards": []},
        "artifacts": f"runs/{record.run_id}",
    }


def _official(record: RunRecord, catalogue: Catalogue) -> dict[str, Any]:
    suite: Any = record.suite
    identity = (
        f"npm:{suite['package']}@{suite['version']}"
        if suite["source"] == "pinned"
        else f"sha256:{suite['entry_sha256']}"
    )
    return {
        "repository": suite["repository"],
        "gitRef": identity,
        "authenticationIncluded": record.selection.authentication,
        "suite": suite,
        "catalogue": {
            "version": catalogue.suite_version,
            "digest": record.catalogue_digest,
        },
    }


def _closing(end: EndRecord) -> dict[str, Any]:
    return {
        "complete": end.complete,
        "faults": list(end.faults),
        "openPorts": list(end.open_ports),
        "temporary": list(end.temporary),
    }


def _result_of(
    record: RunRecord, case: Case, results: Mapping[str, ScenarioResult]
) -> ScenarioResult:
    found = results.get(str(case.key))
    if found is not None:
        return found
    unsupported = declared_unsupported(record, case)
    return not_run(record.selection.role, case, record.policy, unsupported)


def _row(record: RunRecord, case: Case, result: ScenarioResult) -> Row:
    if case.key.source is Source.SUPPLEMENTAL:
        checks = supplemental_checks(record, case, result)
    elif case.key.variant is not None:
        checks = [supplemental_check(record, case, result)]
    else:
        checks = scenario_checks(record, case, result)
    return Row(
        transport=LABELS[case.key.source, case.key.transport],
        revision=case.key.revision.value,
        scenario=_scenario(record, case, result),
        checks=tuple(checks),
    )


def _not_scored(case: Case) -> str | None:
    """Why a case does not count; None when it does, as all of ours do."""
    return case.entry.not_scored if isinstance(case, PlannedCase) else None


def _diagnostics(result: ScenarioResult) -> str | None:
    """What the suite and the driver said, where something failed."""
    failed = result.outcome.report_status is ReportStatus.FAIL
    return result.diagnostics if failed else None


def _rerun(
    record: RunRecord, case: Case, again: ScenarioResult, number: int
) -> dict[str, Any]:
    """What a case was when it was run again, alone."""
    row = _row(record, case, again)
    return {
        "outcome": again.outcome.value,
        "attribution": again.attribution and again.attribution.value,
        "reason": _reason(again),
        "evidence": f"reruns/{number}/{case.key.path}",
        "checks": {check["name"]: check["status"] for check in row.checks},
    }


def _reason(result: ScenarioResult) -> str:
    """A pass that hides something says what."""
    is_whole = result.standing == result.outcome.value
    return result.reason if is_whole else result.standing


def _scenario(record: RunRecord, case: Case, result: ScenarioResult) -> dict[str, Any]:
    return {
        "scenario": case.key.scenario,
        "source": case.key.source.value,
        "variant": case.key.variant,
        "category": category_of(case),
        "scored": case.is_scored,
        "not_scored": _not_scored(case),
        "timing_sensitive": case.timing_sensitive,
        "outcome": result.outcome.value,
        "attribution": result.attribution and result.attribution.value,
        "reason": _reason(result),
        "revision": {
            "leg": case.key.revision.value,
            "offered": list(result.offered),
            "agreed": list(result.agreed),
        },
        "silence": result.silence,
        "client_stderr": result.client_stderr,
        "diagnostics": _diagnostics(result),
        "reruns": [
            _rerun(record, case, again, number)
            for number, again in enumerate(result.reruns, 1)
        ],
        "leftovers": list(result.leftovers),
        "missing_checks": list(result.missing_checks),
        "unknown_checks": list(result.unknown_checks),
        "duration_seconds": result.duration_s,
        "evidence": case.key.path,
        "reproduce": reproduction(record, case),
    }
