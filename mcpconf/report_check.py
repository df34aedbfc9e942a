"""
The checks of a report: what the suite said, what we say, whose doing a failure is.

Every entry has the original's eight members; a failing one also says who is to blame,
where the evidence is, and which line runs the scenario again.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from mcpconf.client.manifest import manifest_of
from mcpconf.judge import (
    AUTHORIZATION_USED,
    EXPECTED_REFUSAL,
    REFUSAL_REACHED,
    REQUIRED_CHECK,
    REVISION_NAMED,
)
from mcpconf.plan import PlannedCase
from mcpconf.record import (
    UNEARNED,
    Attribution,
    Check,
    CheckStatus,
    Outcome,
    ReportStatus,
    Role,
    Source,
    WarningPolicy,
)

if TYPE_CHECKING:
    from mcpconf.ours import Case
    from mcpconf.record import Policy, ScenarioResult
    from mcpconf.runrecord import RunRecord

#: What a harness check says when there is nothing to say against it.
_HOLDS = {
    "adapter": "the driver did its part",
    "wire-schema": "every message of the client fits its revision's schema",
    REFUSAL_REACHED: "the client came as far as what it must refuse",
    EXPECTED_REFUSAL: "it went no further than what it must refuse",
    REQUIRED_CHECK: "a required check said SUCCESS or FAILURE",
    REVISION_NAMED: "a message of the client names its revision",
    AUTHORIZATION_USED: "a request of the client was let in",
    "probe": "our own program did its part",
}
#: Statements that only the client breaks, whoever else is to blame for the case.
_CLIENTS = frozenset({"wire-schema", EXPECTED_REFUSAL})


def reproduction(record: RunRecord, case: Case) -> str:
    """The one line that runs this case again."""
    is_ours = case.key.source is Source.SUPPLEMENTAL
    words = (*record.command, f"--{case.key.source.value}-scenario", case.key.scenario)
    if record.selection.role is Role.SERVER:
        session = f"server-{case.key.revision.value}"
        session = "tasks-extension" if is_ours else session
    else:
        session = f"conformance-{case.key.revision.value}"
        words += ("--transport", case.key.transport.value) if is_ours else ()
    return f"nox -s {session} -- {shlex.join(words)}"


def category_of(case: Case) -> str:
    """The original harness's word for what a scenario is about."""
    is_auth = isinstance(case, PlannedCase) and case.entry.auth
    return "auth" if is_auth else "non-auth"


def status_of(check: Check, outcome: Outcome, policy: Policy) -> ReportStatus:
    """
    The schema-4 status of one check of the suite.

    What silence, a crash or another revision "earned" is skipped, never passed; nor
    does anything fail in a scenario that was not run to its end or does not count.
    """
    if check.outcome is Outcome.FLAKY:
        return ReportStatus.FAIL
    if (
        check.status is CheckStatus.SKIPPED
        or outcome.report_status is ReportStatus.SKIP
    ):
        return ReportStatus.SKIP
    if check.status is CheckStatus.SUCCESS:
        return ReportStatus.SKIP if outcome in UNEARNED else ReportStatus.PASS
    if check.status is CheckStatus.WARNING and policy.warnings is WarningPolicy.WARN:
        return ReportStatus.SKIP
    return ReportStatus.FAIL


def scenario_checks(
    record: RunRecord, case: Case, result: ScenarioResult
) -> list[dict[str, Any]]:
    """What the suite said in one case, and what we say of it; never nothing."""
    names: dict[str, int] = {}
    values = []
    for check in result.checks:
        names[check.name] = names.get(check.name, 0) + 1
        again = f"#{names[check.name]}" if names[check.name] > 1 else ""
        value = _check(
            f"official/{case.key.scenario}/{check.name}{again}",
            status_of(check, result.outcome, record.policy),
            check.error or check.description,
            record=record,
            case=case,
            attribution=result.attribution,
            check_id=check.check_id,
        )
        value |= {
            "suite_status": check.status.value,
            "count": check.count,
            "pages": list(check.pages),
        }
        if check.outcome is not None:  # of the suite's, only a rescued one has its own
            value["outcome"] = check.outcome.value
        values.append(value)
    values += harness_checks(record, case, result)
    if not values:
        value = _check(
            f"harness/{case.key.scenario}/official-runner",
            result.outcome.report_status,
            result.reason,
            record=record,
            case=case,
            attribution=result.attribution,
        )
        values.append(value)
    return values


def harness_checks(
    record: RunRecord, case: Case, result: ScenarioResult
) -> list[dict[str, Any]]:
    """What the harness says of one case."""
    values = []
    is_quiet = result.outcome.report_status is ReportStatus.SKIP
    manifest = manifest_of(record.selection.role, record.subject.name)
    for kind, problem in result.harness_checks:
        label = manifest.adapter_check if kind == "adapter" else kind
        status = ReportStatus.PASS if problem is None else ReportStatus.FAIL
        is_flaky = kind in result.flaky_harness
        value = _check(
            f"harness/{case.key.scenario}/{label}",
            ReportStatus.SKIP if is_quiet and not is_flaky else status,
            problem or _HOLDS.get(kind, "holds"),
            record=record,
            case=case,
            # Whoever else is to blame for the case, these are the client's.
            attribution=None if kind in _CLIENTS else result.attribution,
        )
        if is_flaky:
            value["outcome"] = Outcome.FLAKY.value
        values.append(value)
    return values


def supplemental_checks(
    record: RunRecord, case: Case, result: ScenarioResult
) -> list[dict[str, Any]]:
    """Our own checks of one case, each with an outcome of its own."""
    values = []
    for check in result.checks:
        outcome = check.outcome or result.outcome
        value = _check(
            f"supplemental/{case.key.scenario}/{check.check_id}",
            status_of(check, outcome, record.policy),
            check.error or check.description,
            record=record,
            case=case,
            attribution=check.attribution,
            check_id=check.check_id,
        )
        value |= {
            "suite_status": check.status.value,
            "outcome": outcome.value,
            "count": check.count,
            "pages": list(check.pages),
            "demand": check.demand,
            "level": check.level,
        }
        values.append(value)
    return values + harness_checks(record, case, result)


def supplemental_check(
    record: RunRecord, case: Case, result: ScenarioResult
) -> dict[str, Any]:
    """A variant's whole case, as one check."""
    variant = case.key.variant or ""
    value = _check(
        f"supplemental/{case.key.scenario}/{variant}",
        result.outcome.report_status,
        result.reason,
        record=record,
        case=case,
        attribution=result.attribution,
        check_id=variant,
    )
    if result.outcome is Outcome.FLAKY:
        value["outcome"] = Outcome.FLAKY.value
    return value


def _check(
    name: str,
    status: ReportStatus,
    detail: str,
    *,
    record: RunRecord,
    case: Case,
    attribution: Attribution | None,
    check_id: str | None = None,
) -> dict[str, Any]:
    """One entry; a failing one with its blame, the subject's where nobody else's."""
    value: dict[str, Any] = {
        "name": name,
        "success": status is not ReportStatus.FAIL,
        "detail": detail,
        "status": status.value,
        "source": name.partition("/")[0],
        "scenario": case.key.scenario,
        "check_id": check_id,
        "category": category_of(case),
    }
    if status is ReportStatus.FAIL:
        value |= {
            "attribution": (attribution or Attribution.SUBJECT).value,
            "reproduce": reproduction(record, case),
            "evidence": case.key.path,
        }
    return value
