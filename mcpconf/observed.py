"""
What a report says happened, as typed records: the side a gate holds to a baseline.

Only what decides is read. A report of the original harness is refused with the name of
the page that says how to come over; one of ours is complete or says what it lacks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mcpconf.baseline.entry import Scope, SuiteIdentity
from mcpconf.decode import REPORT_BYTES, Reader, load_json
from mcpconf.errors import DecodeError
from mcpconf.identity import LABELS, OFFICIAL_HTTP, Leg
from mcpconf.observed_check import CheckReader, Host, ObservedCheck
from mcpconf.observed_piece import Pieces, load_pieces, uncollected
from mcpconf.origin import refuse_others
from mcpconf.record import (
    Attribution,
    Outcome,
    ReportStatus,
    RevisionPolicy,
    Role,
    Source,
    Verdict,
    WarningPolicy,
)
from mcpconf.revision import Revision
from mcpconf.selection import Selection

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from mcpconf.decode import Json
    from mcpconf.identity import CheckIdentity

__all__ = [
    "ObservedCheck",
    "ObservedRun",
    "ObservedScenario",
    "load_observed",
    "observe",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedScenario:
    """One planned case of a report, and how it ended."""

    leg: Leg
    scenario: str
    variant: str | None
    is_scored: bool
    outcome: str
    attribution: str | None
    reason: str
    reproduce: str
    timing_sensitive: bool
    #: How often it was run again.
    reruns: int = 0

    @property
    def counts(self) -> bool:
        """Whether its checks count: not so what upstream does not score."""
        return self.is_scored or self.variant is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRun:
    """One report, as the gate sees it."""

    client: str
    client_version: str
    suite: SuiteIdentity
    strict_auth: bool
    modern_feature: bool
    version_checked: bool
    is_complete: bool
    #: The report's own verdict: CONFORMANT, NOT_CONFORMANT, INCONCLUSIVE.
    verdict: str
    revision_policy: str
    started_at: str
    scope: Scope
    #: Names that were asked for, when only some scenarios were; else empty.
    selected: tuple[str, ...]
    #: ``(2, 4)`` for ``--shard 2/4``.
    shard: tuple[int, int] | None
    #: Official scored scenarios by revision, in the suite's order.
    scenarios: Mapping[str, tuple[str, ...]]
    cases: tuple[ObservedScenario, ...]
    checks: Mapping[CheckIdentity, ObservedCheck]
    #: What the closing record complains of.
    faults: tuple[str, ...]
    #: ``fail`` or ``warn``: what the run made of a warning.
    warnings: str = WarningPolicy.FAIL.value
    #: All that was asked for, in one.
    selection: Selection = field(default_factory=Selection)


def load_observed(path: Path) -> ObservedRun:
    """
    Read a stored report.

    Its checks are read piece by piece: all at once they take ten times their size.

    :raises DecodeError: unreadable, over 512 MiB, not JSON, or refused by `observe`.
    """
    with uncollected():
        value, pieces = load_pieces(path, max_bytes=REPORT_BYTES)
        try:
            return _observe(_report(value, path), pieces)
        except DecodeError:
            if not pieces.lists:
                raise
        # Whatever is wrong, the whole says where in the file.
        value = load_json(path, max_bytes=REPORT_BYTES)
        return _observe(_report(value, path), Pieces())


def _report(value: Json, path: Path) -> Reader:
    reader = Reader(value, path)
    reader.object()
    return reader


def observe(report: Mapping[str, Json], source: Path | str) -> ObservedRun:
    """
    The typed side of a report; `source` names it in errors.

    This replaces the JSON Schema where a decision is made: whatever decides is held
    against what reports can say.

    :raises DecodeError: not a report of ours, malformed, or at odds with itself.
    """
    return _observe(Reader(dict(report), source), Pieces())


def _observe(reader: Reader, lists: Pieces) -> ObservedRun:
    refuse_others(reader)
    selection = Selection.from_json(
        reader.key("selection"), reader.key("role").word(Role)
    )
    official = reader.key("officialConformance")
    if official.key("authenticationIncluded").boolean() != selection.authentication:
        official.key("authenticationIncluded").fail("contradicts selection")
    policy = reader.key("policy")
    warnings = policy.key("warnings").word(WarningPolicy)
    is_complete, faults = _ending(reader)
    verdict = reader.key("verdict").word(Verdict)
    if reader.key("success").boolean() != (verdict is Verdict.CONFORMANT):
        reader.key("success").fail(f"contradicts verdict {verdict.value}")
    checks: dict[CheckIdentity, ObservedCheck] = {}
    cases = _cases(reader.key("cases"), warnings, checks, lists)
    client, shard = reader.key("client"), selection.shard
    return ObservedRun(
        client=_text(client.key("name")),
        client_version=_text(client.key("version")),
        suite=SuiteIdentity(
            repository=_optional(official.get("repository")),
            git_ref=_text(official.key("gitRef")),
            integrity=_optional(official.key("suite").get("integrity")),
            catalogue=_text(official.key("catalogue").key("digest")),
        ),
        strict_auth=reader.key("automaticAuthRequired").boolean(),
        modern_feature=reader.key("modernFeatureEnablement").boolean(),
        version_checked=reader.key("versionCheck").key("success").boolean(),
        is_complete=is_complete,
        verdict=verdict.value,
        revision_policy=policy.key("revision").word(RevisionPolicy).value,
        started_at=_text(reader.key("startedAt")),
        scope=Scope(
            role=selection.role,
            revisions=tuple(each.value for each in selection.revisions),
            transports=tuple(each.value for each in selection.transports),
            sources=tuple(each.value for each in selection.sources),
            authentication=selection.authentication,
        ),
        selected=(*selection.official, *selection.supplemental),
        shard=None if shard is None else (shard.index, shard.of),
        scenarios={
            name: each.strings() for name, each in official.key("scenarios").members()
        },
        cases=tuple(cases),
        checks=checks,
        warnings=warnings.value,
        selection=selection,
        faults=faults,
    )


def _text(reader: Reader) -> str:
    return reader.string() or reader.fail("is empty")


def _attribution(reader: Reader) -> str:
    return reader.word(Attribution).value


def _optional(reader: Reader | None) -> str | None:
    return None if reader is None else _text(reader)


def _ending(reader: Reader) -> tuple[bool, tuple[str, ...]]:
    """Whether every case was run, and what the closing record complains of."""
    is_complete = reader.key("complete").boolean()
    closing = reader.get("closing")
    if closing is None:
        if is_complete:
            reader.key("closing").fail("is null in a report that says complete: true")
        return False, ()
    if closing.key("complete").boolean() != is_complete:
        closing.key("complete").fail("contradicts the report's complete")
    ports = [each.integer() for each in closing.key("openPorts").items()]
    return is_complete, (
        *closing.key("faults").strings(),
        *(f"port {port} was still open" for port in ports),
        *(f"{name} was left behind" for name in closing.key("temporary").strings()),
    )


def _cases(
    reader: Reader,
    warnings: WarningPolicy,
    checks: dict[CheckIdentity, ObservedCheck],
    lists: Pieces,
) -> list[ObservedScenario]:
    found: list[ObservedScenario] = []
    legs: set[Leg] = set()
    for case in reader.items():
        transport = case.key("transport")
        if transport.string() not in LABELS:
            transport.fail(f"unknown transport; known: {', '.join(LABELS)}")
        leg = Leg(transport.string(), case.key("mode").word(Revision).value)
        if leg in legs:
            case.fail(f"is a second case of {leg}; one report has one")
        legs.add(leg)
        scenarios = _scenarios(case.key("scenarios"), leg)
        if not scenarios:
            case.key("scenarios").fail("is empty: nothing was run")
        hosts = {
            (each.scenario, each.variant): Host(
                outcome=Outcome(each.outcome),
                word=each.outcome,
                reproduce=each.reproduce,
                counts=each.counts,
                was_rerun=each.reruns > 0,
            )
            for each in scenarios
        }
        checked = CheckReader(case, leg, hosts, warnings)
        seen = checked.read(lists.of(case.key("checks")), "checks", checks)
        # What does not count is read for its form only.
        seen |= checked.read(lists.of(case.key("notScored")), "notScored", {})
        silent = [name for name, variant in hosts if (name, variant) not in seen]
        if silent:
            case.fail(f"has no check of {', '.join(silent)}: nothing is known of it")
        found += scenarios
    if not found:
        reader.fail("is empty: nothing was run")
    return found


def _scenarios(reader: Reader, leg: Leg) -> list[ObservedScenario]:
    found: dict[tuple[str, str | None], ObservedScenario] = {}
    for each in reader.items():
        is_official = each.key("source").word(Source) is Source.OFFICIAL
        if is_official is not (leg.transport == OFFICIAL_HTTP):
            each.key("source").fail(f"cannot be run in {leg}")
        outcome = each.key("outcome").word(Outcome)
        attribution = each.get("attribution")
        if attribution is None and outcome.report_status is ReportStatus.FAIL:
            each.fail(f"outcome {outcome.value} without attribution")
        scenario = ObservedScenario(
            leg=leg,
            scenario=_text(each.key("scenario")),
            variant=_optional(each.get("variant")),
            is_scored=each.key("scored").boolean(),
            outcome=outcome.value,
            attribution=None if attribution is None else _attribution(attribution),
            reason=each.key("reason").string(),
            reproduce=_text(each.key("reproduce")),
            timing_sensitive=each.key("timing_sensitive").boolean(),
            reruns=sum(1 for _ in each.key("reruns").items()),
        )
        if outcome is Outcome.FLAKY and not scenario.reruns:
            each.fail("is flaky, and was not run again")
        key = (scenario.scenario, scenario.variant)
        if key in found:
            each.fail(f"is listed a second time in {leg}")
        found[key] = scenario
    return list(found.values())
