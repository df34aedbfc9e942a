"""
Outcomes become a report: schema 4 of the original harness, with additive fields.

`build` is a pure function of what is stored with a run, so a stored run gives the same
bytes again. A report without its closing record says ``complete: false`` and can never
be conformant.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from mcpconf import summary
from mcpconf.client.manifest import COMMAND, MANIFESTS
from mcpconf.decode import load_json
from mcpconf.errors import DecodeError, ExitCode, McpconfError
from mcpconf.record import (
    Attribution,
    Check,
    CheckStatus,
    Outcome,
    ReportStatus,
    Verdict,
    WarningPolicy,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from mcpconf.decode import Json
    from mcpconf.plan import PlannedCase
    from mcpconf.record import Policy, ScenarioResult
    from mcpconf.revision import Revision
    from mcpconf.runrecord import EndRecord, RunRecord
    from mcpconf.suite.catalogue import Catalogue

SCHEMA_VERSION = 4
TRANSPORT = "official-http"

#: Outcomes under which a check that reads SUCCESS was not earned.
_UNEARNED = frozenset(
    {
        Outcome.UNSUPPORTED,
        Outcome.NOT_RUN,
        Outcome.NOT_APPLICABLE,
        Outcome.UNOBSERVED,
        Outcome.TIMED_OUT,
        Outcome.CRASHED,
        Outcome.HARNESS_ERROR,
    }
)

#: What a harness check says when there is nothing to say against it.
_HOLDS = {
    "adapter": "the driver did its part",
    "wire-schema": "every message of the client fits its revision's schema",
}

_EXIT_CODES = {
    Verdict.CONFORMANT: ExitCode.CONFORMANT,
    Verdict.NOT_CONFORMANT: ExitCode.NOT_CONFORMANT,
    Verdict.INCONCLUSIVE: ExitCode.HARNESS,
}


class ReportError(McpconfError):
    """A report we built does not follow the schema we ship: a fault of ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A report and what it amounts to."""

    value: dict[str, Any]
    verdict: Verdict

    @property
    def exit_code(self) -> ExitCode:
        """What the process ends with."""
        return _EXIT_CODES[self.verdict]


def declared_unsupported(record: RunRecord, case: PlannedCase) -> str | None:
    """Why the client's manifest rules a case out, if it does."""
    manifest = MANIFESTS.get(record.subject.name, COMMAND)
    known = manifest.scenarios
    if known is None or case.key.scenario in known:
        return None
    return f"the {manifest.title} driver has no steps for this scenario"


def reproduction(record: RunRecord, case: PlannedCase) -> str:
    """The one line that runs this case again."""
    words = (*record.command, "--official-scenario", case.key.scenario)
    return f"nox -s conformance-{case.key.revision.value} -- {shlex.join(words)}"


def build(
    record: RunRecord,
    cases: Sequence[PlannedCase],
    results: Mapping[str, ScenarioResult],
    catalogue: Catalogue,
    end: EndRecord | None,
) -> Report:
    """The report of what is known; `end` is None while the run goes on."""
    built = []
    verdicts = [] if end is not None and end.complete else [Verdict.INCONCLUSIVE]
    if end is not None and (end.open_ports or end.temporary or end.faults):
        verdicts.append(Verdict.INCONCLUSIVE)
    for revision in record.revisions:
        mine = [
            (case, _result_of(record, case, results))
            for case in cases
            if case.key.revision is revision
        ]
        if mine:
            case_value, verdict = _case(record, revision, mine)
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
    record: RunRecord, case: PlannedCase, results: Mapping[str, ScenarioResult]
) -> ScenarioResult:
    from mcpconf.judge import judge  # noqa: PLC0415 (judge imports the schema models)

    found = results.get(str(case.key))
    if found is not None:
        return found
    unsupported = declared_unsupported(record, case)
    return judge(case, None, record.policy, unsupported=unsupported)


def _combined(verdicts: Sequence[Verdict]) -> Verdict:
    """A run with a hole in it has no verdict; else one failure is enough."""
    for verdict in (Verdict.INCONCLUSIVE, Verdict.NOT_CONFORMANT):
        if verdict in verdicts:
            return verdict
    return Verdict.CONFORMANT if verdicts else Verdict.INCONCLUSIVE


def _verdict_of(pairs: Sequence[tuple[PlannedCase, ScenarioResult]]) -> Verdict:
    """Over what is scored; a variant that does not pass is a failure too."""
    scored = [result for case, result in pairs if case.entry.not_scored is None]
    # Where nothing scored was selected, what was selected is judged.
    results = scored or [result for _, result in pairs]
    return _combined(
        [
            _verdict_on(result)
            for result in results
            if result.outcome is not Outcome.NOT_APPLICABLE
        ]
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
    record: RunRecord, catalogue: Catalogue, cases: Sequence[PlannedCase]
) -> dict[str, Any]:
    suite: Any = record.suite
    identity = (
        f"npm:{suite['package']}@{suite['version']}"
        if suite["source"] == "pinned"
        else f"sha256:{suite['entry_sha256']}"
    )
    scope = (
        "all versioned client scenarios"
        if record.include_auth
        else "versioned non-auth client scenarios"
    )
    return {
        "repository": suite["repository"],
        "gitRef": identity,
        "scope": scope,
        "authenticationIncluded": record.include_auth,
        "scenarios": {
            revision.value: [
                case.key.scenario
                for case in cases
                if case.is_scored and case.key.revision is revision
            ]
            for revision in record.revisions
        },
        "suite": suite,
        "catalogue": {
            "version": catalogue.suite_version,
            "digest": record.catalogue_digest,
        },
    }


def _case(
    record: RunRecord,
    revision: Revision,
    pairs: Sequence[tuple[PlannedCase, ScenarioResult]],
) -> tuple[dict[str, Any], Verdict]:
    checks: list[dict[str, Any]] = []
    apart: list[dict[str, Any]] = []
    for case, result in pairs:
        if case.key.variant is not None:
            checks.append(_supplemental(record, case, result))
        elif case.entry.not_scored is None:
            checks += _checks(record, case, result)
        else:
            apart += _checks(record, case, result)
    verdict = _verdict_of(pairs)
    diagnostics = [
        f"{result.key.scenario}:\n{result.diagnostics}"
        for _, result in pairs
        if result.diagnostics and result.outcome.report_status is ReportStatus.FAIL
    ]
    value = {
        "transport": TRANSPORT,
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


def _category(case: PlannedCase) -> str:
    return "auth" if case.entry.auth else "non-auth"


def _scenario(
    record: RunRecord, case: PlannedCase, result: ScenarioResult
) -> dict[str, Any]:
    return {
        "scenario": case.key.scenario,
        "variant": case.key.variant,
        "category": _category(case),
        "scored": case.is_scored,
        "not_scored": case.entry.not_scored,
        "outcome": result.outcome.value,
        "attribution": result.attribution and result.attribution.value,
        "reason": result.reason,
        "revision": {
            "leg": case.key.revision.value,
            "offered": list(result.offered),
            "agreed": list(result.agreed),
        },
        "silence": result.silence,
        "leftovers": list(result.leftovers),
        "missing_checks": list(result.missing_checks),
        "unknown_checks": list(result.unknown_checks),
        "duration_seconds": result.duration_s,
        "evidence": case.key.path,
        "reproduce": reproduction(record, case),
    }


def status_of(check: Check, outcome: Outcome, policy: Policy) -> ReportStatus:
    """
    The schema-4 status of one check of the suite.

    What silence, a crash or another revision "earned" is skipped, never passed; nor
    does anything fail in a scenario that was not run to its end or does not count.
    """
    if (
        check.status is CheckStatus.SKIPPED
        or outcome.report_status is ReportStatus.SKIP
    ):
        return ReportStatus.SKIP
    if check.status is CheckStatus.SUCCESS:
        return ReportStatus.SKIP if outcome in _UNEARNED else ReportStatus.PASS
    if check.status is CheckStatus.WARNING and policy.warnings is WarningPolicy.WARN:
        return ReportStatus.SKIP
    return ReportStatus.FAIL


def _checks(
    record: RunRecord, case: PlannedCase, result: ScenarioResult
) -> list[dict[str, Any]]:
    names: dict[str, int] = {}
    values = []
    for check in result.checks:
        names[check.name] = names.get(check.name, 0) + 1
        again = f"#{names[check.name]}" if names[check.name] > 1 else ""
        status = status_of(check, result.outcome, record.policy)
        value = _check(
            f"official/{case.key.scenario}/{check.name}{again}",
            status,
            check.error or check.description,
            source="official",
            case=case,
            check_id=check.check_id,
        )
        value |= {
            "suite_status": check.status.value,
            "count": check.count,
            "pages": list(check.pages),
        }
        if status is ReportStatus.FAIL:
            value |= _blame(record, case, result.attribution or Attribution.SUBJECT)
        values.append(value)
    is_quiet = result.outcome.report_status is ReportStatus.SKIP
    manifest = MANIFESTS.get(record.subject.name, COMMAND)
    for kind, problem in result.harness_checks:
        label = manifest.adapter_check if kind == "adapter" else kind
        status = ReportStatus.PASS if problem is None else ReportStatus.FAIL
        value = _check(
            f"harness/{case.key.scenario}/{label}",
            ReportStatus.SKIP if is_quiet else status,
            problem or _HOLDS.get(kind, "holds"),
            source="harness",
            case=case,
            check_id=None,
        )
        if value["status"] == ReportStatus.FAIL.value:
            # A broken message is the client's, whoever else is to blame for the case.
            blame = None if kind == "wire-schema" else result.attribution
            value |= _blame(record, case, blame or Attribution.SUBJECT)
        values.append(value)
    if not values:
        values.append(
            _check(
                f"harness/{case.key.scenario}/official-runner",
                result.outcome.report_status,
                result.reason,
                source="harness",
                case=case,
                check_id=None,
            )
        )
    return values


def _supplemental(
    record: RunRecord, case: PlannedCase, result: ScenarioResult
) -> dict[str, Any]:
    variant = case.key.variant or ""
    value = _check(
        f"supplemental/{case.key.scenario}/{variant}",
        result.outcome.report_status,
        result.reason,
        source="supplemental",
        case=case,
        check_id=variant,
    )
    if value["status"] == ReportStatus.FAIL.value:
        value |= _blame(record, case, result.attribution or Attribution.SUBJECT)
    return value


def _blame(
    record: RunRecord, case: PlannedCase, attribution: Attribution
) -> dict[str, Any]:
    return {
        "attribution": attribution.value,
        "reproduce": reproduction(record, case),
        "evidence": case.key.path,
    }


def _check(
    name: str,
    status: ReportStatus,
    detail: str,
    *,
    source: str,
    case: PlannedCase,
    check_id: str | None,
) -> dict[str, Any]:
    return {
        "name": name,
        "success": status is not ReportStatus.FAIL,
        "detail": detail,
        "status": status.value,
        "source": source,
        "scenario": case.key.scenario,
        "check_id": check_id,
        "category": _category(case),
    }


def load_report(path: Path) -> dict[str, Any]:
    """
    Read a stored report.

    :raises DecodeError: unreadable, not JSON, or not of the shipped schema.
    """
    value: Any = load_json(path, max_bytes=64 * 1024 * 1024)
    problem = _schema_problem(value)
    if problem is not None:
        raise DecodeError(path, *problem)
    report: dict[str, Any] = value
    return report


def load_schema() -> Json:
    """The JSON Schema every report follows, as shipped."""
    resource = files("mcpconf") / "data" / "report-schema-4.json"
    schema: Json = json.loads(resource.read_text("utf-8"))
    return schema


def _schema_problem(value: object) -> tuple[str, str] | None:
    """The first place where a value leaves the shipped schema, and how."""
    import jsonschema  # noqa: PLC0415 (0.1 s, and only a closed report is validated)

    schema: Any = load_schema()
    validator = jsonschema.Draft202012Validator(schema)
    error = jsonschema.exceptions.best_match(validator.iter_errors(value))
    return None if error is None else (error.json_path, error.message[:300])


def validate(value: Mapping[str, Any]) -> None:
    """
    Hold a report of ours against the shipped JSON Schema.

    :raises ReportError: it does not follow it; names the place.
    """
    problem = _schema_problem(value)
    if problem is not None:
        raise ReportError(f"report: {problem[0]}: {problem[1]}")
