"""
Outcomes become a report: schema 4 of the original harness, with additive fields.

`build` is a pure function of what is stored with a run, so a stored run gives the same
bytes again. A report without its closing record says ``complete: false`` and can never
be conformant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpconf import summary
from mcpconf.client.manifest import COMMAND, MANIFESTS
from mcpconf.errors import ExitCode
from mcpconf.judge import judge
from mcpconf.plan import PlannedCase
from mcpconf.record import Attribution, Outcome, ReportStatus, Source, Verdict
from mcpconf.report_check import (
    category_of,
    reproduction,
    scenario_checks,
    supplemental_check,
    supplemental_checks,
)
from mcpconf.supplemental.judge import judge as judge_supplemental
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.record import ScenarioResult
    from mcpconf.revision import Revision
    from mcpconf.runrecord import EndRecord, RunRecord
    from mcpconf.suite.catalogue import Catalogue
    from mcpconf.supplemental.plan import Case

SCHEMA_VERSION = 4
#: The groups of a report's cases in order, and the seed's word for each transport.
_GROUPS = {
    (Source.SUPPLEMENTAL, Transport.STDIO): "stdio",
    (Source.SUPPLEMENTAL, Transport.HTTP): "http",
    (Source.OFFICIAL, Transport.HTTP): "official-http",
}

_EXIT_CODES = {
    Verdict.CONFORMANT: ExitCode.CONFORMANT,
    Verdict.NOT_CONFORMANT: ExitCode.NOT_CONFORMANT,
    Verdict.INCONCLUSIVE: ExitCode.HARNESS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report and what it amounts to."""

    value: dict[str, Any]
    verdict: Verdict

    @property
    def exit_code(self) -> ExitCode:
        """What the process ends with."""
        return _EXIT_CODES[self.verdict]


def declared_unsupported(record: RunRecord, case: Case) -> str | None:
    """Why the client's manifest rules a case out, if it does."""
    if not isinstance(case, PlannedCase):
        return None  # our own scenarios ask the driver for verbs, one by one
    manifest = MANIFESTS.get(record.subject.name, COMMAND)
    known = manifest.scenarios
    if known is None or case.key.scenario in known:
        return None
    return f"the {manifest.title} driver has no steps for this scenario"


def build(
    record: RunRecord,
    cases: Sequence[Case],
    results: Mapping[str, ScenarioResult],
    catalogue: Catalogue,
    end: EndRecord | None,
) -> Report:
    """The report of what is known; `end` is None while the run goes on."""
    built = []
    verdicts = [] if end is not None and end.complete else [Verdict.INCONCLUSIVE]
    if end is not None and (end.open_ports or end.temporary or end.faults):
        verdicts.append(Verdict.INCONCLUSIVE)
    for (source, transport), label in _GROUPS.items():
        for revision in record.revisions:
            mine = [
                (case, _result_of(record, case, results))
                for case in cases
                if case.key.revision is revision
                and case.key.source is source
                and case.key.transport is transport
            ]
            if mine:
                case_value, verdict = _case(record, label, revision, mine)
                built.append(case_value)
                verdicts.append(verdict)
    verdict = _combined(verdicts)
    passed = sum(case["success"] for case in built)
    value: dict[str, Any] = {
        "schemaVersion": SCHEMA_VERSION,
        "success": verdict is Verdict.CONFORMANT,
        "verdict": verdict.value,
        "complete": end is not None and end.complete,
        "startedAt": record.started_at,
        "finishedAt": None if end is None else end.finished_at,
        "codexBinary": record.subject.binary,
        "codexVersion": record.subject.version,
        "client": record.subject.value,
        "modernFeatureEnablement": True,
        "automaticAuthRequired": record.auth_mode.value == "strict",
        "officialConformance": _official(record, catalogue, cases),
        "versionCheck": {"success": True, "detail": record.subject.version},
        "summary": {
            "passed": passed,
            "failed": len(built) - passed,
            "total": len(built),
        },
        "modeSummaries": summary.mode_summaries(built),
        "testMatrix": summary.test_matrix(built),
        "cases": built,
        "floor": {
            revision.value: {
                name: {"scenarios": floor.scenarios, "checks": floor.checks}
                for name, floor in catalogue.floors.get(revision, {}).items()
            }
            for revision in record.revisions
        },
        "policy": {
            "warnings": record.policy.warnings.value,
            "revision": record.policy.revision.value,
        },
        "run": {"id": record.run_id, "mcpconf": record.tool_version},
        "artifacts": f"runs/{record.run_id}",
        "closing": None if end is None else _closing(end),
    }
    return Report(value=value, verdict=verdict)


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
    if not isinstance(case, PlannedCase):
        return judge_supplemental(case, None, record.policy)
    unsupported = declared_unsupported(record, case)
    return judge(case, None, record.policy, unsupported=unsupported)


def _combined(verdicts: Sequence[Verdict]) -> Verdict:
    """A run with a hole in it has no verdict; else one failure is enough."""
    for verdict in (Verdict.INCONCLUSIVE, Verdict.NOT_CONFORMANT):
        if verdict in verdicts:
            return verdict
    return Verdict.CONFORMANT if verdicts else Verdict.INCONCLUSIVE


def _not_scored(case: Case) -> str | None:
    """Why a case does not count; None when it does, as all of ours do."""
    return case.entry.not_scored if isinstance(case, PlannedCase) else None


def _verdict_of(pairs: Sequence[tuple[Case, ScenarioResult]]) -> Verdict:
    """Over what is scored; a variant that does not pass is a failure too."""
    scored = [result for case, result in pairs if _not_scored(case) is None]
    # Where nothing scored was selected, what was selected is judged.
    results = scored or [result for _, result in pairs]
    return _combined(
        [_verdict_on(result) for result in results if not _is_left_out(result)]
    )


def _is_left_out(result: ScenarioResult) -> bool:
    """
    Whether a result leaves the verdict alone.

    A feature that a client lacks leaves a hole in the suite's requirement set, but none
    in ours: no revision asks for every verb.
    """
    is_ours = result.key.source is Source.SUPPLEMENTAL
    return result.outcome is Outcome.NOT_APPLICABLE or (
        is_ours and result.outcome is Outcome.UNSUPPORTED
    )


def _verdict_on(result: ScenarioResult) -> Verdict:
    if result.outcome is Outcome.PASSED:
        return Verdict.CONFORMANT
    # Whatever is not the subject's doing says nothing about the subject.
    is_subjects = result.attribution is Attribution.SUBJECT
    if result.outcome.is_inconclusive or not is_subjects:
        return Verdict.INCONCLUSIVE
    return Verdict.NOT_CONFORMANT


def _official(
    record: RunRecord, catalogue: Catalogue, cases: Sequence[Case]
) -> dict[str, Any]:
    suite: Any = record.suite
    identity = (
        f"npm:{suite['package']}@{suite['version']}"
        if suite["source"] == "pinned"
        else f"sha256:{suite['entry_sha256']}"
    )
    scenarios = {
        revision.value: [
            case.key.scenario
            for case in cases
            if case.key.source is Source.OFFICIAL
            and case.is_scored
            and case.key.revision is revision
        ]
        for revision in record.revisions
    }
    wanted = {
        revision.value: [
            entry.scenario
            for entry in catalogue.revisions[revision]
            if entry.not_scored is None and (record.include_auth or not entry.auth)
        ]
        for revision in record.revisions
    }
    scope = (
        "all versioned client scenarios"
        if record.include_auth
        else "versioned non-auth client scenarios"
    )
    if scenarios != wanted:
        scope = f"selected {scope.removeprefix('all ')}"
    return {
        "repository": suite["repository"],
        "gitRef": identity,
        "scope": scope,
        "authenticationIncluded": record.include_auth,
        "scenarios": scenarios,
        "suite": suite,
        "catalogue": {
            "version": catalogue.suite_version,
            "digest": record.catalogue_digest,
        },
    }


def _case(
    record: RunRecord,
    transport: str,
    revision: Revision,
    pairs: Sequence[tuple[Case, ScenarioResult]],
) -> tuple[dict[str, Any], Verdict]:
    checks: list[dict[str, Any]] = []
    apart: list[dict[str, Any]] = []
    for case, result in pairs:
        if case.key.source is Source.SUPPLEMENTAL:
            checks += supplemental_checks(record, case, result)
        elif case.key.variant is not None:
            checks.append(supplemental_check(record, case, result))
        elif _not_scored(case) is None:
            checks += scenario_checks(record, case, result)
        else:
            apart += scenario_checks(record, case, result)
    verdict = _verdict_of(pairs)
    diagnostics = [
        f"{result.key.scenario}:\n{result.diagnostics}"
        for _, result in pairs
        if result.diagnostics and result.outcome.report_status is ReportStatus.FAIL
    ]
    value = {
        "transport": transport,
        "mode": revision.value,
        "success": verdict is Verdict.CONFORMANT,
        "verdict": verdict.value,
        "duration_seconds": round(sum(result.duration_s for _, result in pairs), 3),
        "checks": checks,
        "notScored": apart,
        "scenarios": [_scenario(record, case, result) for case, result in pairs],
        "diagnostics": "\n\n".join(diagnostics)[-16_000:] or None,
    }
    return value, verdict


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
        "leftovers": list(result.leftovers),
        "missing_checks": list(result.missing_checks),
        "unknown_checks": list(result.unknown_checks),
        "duration_seconds": result.duration_s,
        "evidence": case.key.path,
        "reproduce": reproduction(record, case),
    }
