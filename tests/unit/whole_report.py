"""Reports over the real catalogue, as a client that passes everything gets them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from make import by_key, make_check, make_end, make_record

from mcpconf import report
from mcpconf.plan import PlannedCase
from mcpconf.record import Attribution, CheckStatus, Outcome, ScenarioResult
from mcpconf.revision import Revision
from mcpconf.selection import Selection, select
from mcpconf.suite.catalogue import load_catalogue
from mcpconf.supplemental.plan import SupplementalCase

if TYPE_CHECKING:
    from collections.abc import Collection

    from mcpconf.ours import Case

CATALOGUE = load_catalogue()
MIDDLE = Selection(revisions=(Revision.V2025_11_25,))
PINNED = {
    "source": "pinned",
    "package": "@modelcontextprotocol/conformance",
    "version": CATALOGUE.suite_version,
    "integrity": CATALOGUE.integrity,
    "entry_sha256": "e" * 64,
    "node_version": "24.0.0",
    "repository": "modelcontextprotocol/conformance",
    "reviewed_ancestor": None,
}


def whole_report(
    failing: Collection[str] = (), selection: Selection = MIDDLE
) -> dict[str, Any]:
    """A report of all that is selected; `failing` names ``scenario:check-id``."""
    cases = select(selection, CATALOGUE)
    shard = selection.shard
    record = make_record(
        CATALOGUE,
        cases,
        selection=selection,
        suite=PINNED,
        run_id=f"run-{shard.index if shard else 0}",
    )
    results = [_result(case, failing) for case in cases]
    return report.build(record, cases, by_key(*results), CATALOGUE, make_end()).value


def _result(case: Case, failing: Collection[str]) -> ScenarioResult:
    names = _checks(case)
    bad = [each for each in names if f"{case.key.scenario}:{each}" in failing]
    outcome = Outcome.FAILED if bad else Outcome.PASSED
    blame = Attribution.SUBJECT if bad else None
    return ScenarioResult(
        key=case.key,
        outcome=outcome,
        attribution=blame,
        reason="it did not" if bad else "passed",
        checks=tuple(_check(case, each, is_bad=each in bad) for each in names),
        harness_checks=(("adapter", None), ("wire-schema", None)),
    )


def _checks(case: Case) -> list[str]:
    if isinstance(case, PlannedCase):
        return list(case.entry.checks)
    return [each.id for each in case.checks]


def _check(case: Case, name: str, *, is_bad: bool) -> Any:
    status = CheckStatus.FAILURE if is_bad else CheckStatus.SUCCESS
    more: dict[str, Any] = {}
    if isinstance(case, SupplementalCase):
        more = {
            "outcome": Outcome.FAILED if is_bad else Outcome.PASSED,
            "attribution": Attribution.SUBJECT if is_bad else None,
            "demand": "do it",
            "level": "MUST",
        }
    return make_check(name, status, error="it did not" if is_bad else None, **more)
