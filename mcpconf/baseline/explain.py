"""
All that is known of one check, and the line that shows it again.

What it asks, where it applies, what is expected of it and what was seen. Pure: from the
catalogue, our own scenarios, a baseline and a report, the last two where there are any.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpconf import ours
from mcpconf.baseline.known import did_you_mean, known_checks
from mcpconf.errors import UsageError
from mcpconf.identity import (
    LABELS,
    OFFICIAL_HTTP,
    SOURCES,
    CheckIdentity,
    Leg,
)
from mcpconf.record import Role
from mcpconf.revision import Revision
from mcpconf.view import evidence_of, views

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpconf.baseline.entry import Baseline, ExpectedFailure, Explanation
    from mcpconf.suite.catalogue import Catalogue
    from mcpconf.view import CheckView

    Report = Mapping[str, Any]

#: What the harness says of a scenario, by the end of the check's name.
_HARNESS = {
    "wire-schema": "Every message of the client fits its revision's schema.",
    "official-runner": "The suite said something of the scenario at all.",
    "refusal-reached": "The client comes as far as what it must refuse.",
    "expected-refusal": "The client goes no further than what it must refuse.",
    "required-check": "A required check of the suite says SUCCESS or FAILURE.",
    "revision-named": "A message of the client names its revision.",
    "authorization-used": "A request is let in, with what the client was granted.",
    "probe": "Our own program did its part of the scenario.",
    "-adapter": "The client's driver did its part of the scenario.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What one check asks at some revisions."""

    revisions: tuple[str, ...]
    sentence: str
    #: MUST or SHOULD; None where the source does not say.
    level: str | None = None
    pages: tuple[str, ...] = ()
    #: What is looked for; None for the suite's checks, which do not say.
    looks_for: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a baseline expects of a check in one leg."""

    leg: Leg
    #: ``passes``, ``FAIL (failed)``, ``unsupported``.
    state: str
    explanation: Explanation | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest:
    """What a report says of a check in one leg."""

    leg: Leg
    #: PASS, FAIL or SKIP, with the suite's word where that says more.
    state: str
    outcome: str
    detail: str
    #: The evidence, below the report's folder.
    evidence: str
    reproduce: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckExplained:
    """Everything about one ``scenario:check-id``."""

    ref: str
    #: Of ``official``, ``harness``, ``supplemental``.
    sources: tuple[str, ...]
    #: What is served, where the scenario is ours.
    title: str | None
    demands: tuple[Demand, ...]
    legs: tuple[Leg, ...]
    expected: tuple[Expected, ...]
    latest: tuple[Latest, ...]
    #: One line; of a failing leg, where there is one.
    reproduce: str


def explain(
    ref: str,
    *,
    catalogue: Catalogue,
    baseline: Baseline | None = None,
    report: Report | None = None,
) -> CheckExplained:
    """
    What is known of a check, named ``scenario:check-id``.

    A harness check may be named by its label, such as ``tools_call:wire-schema``.

    :raises UsageError: there is no such check; says which it may be.
    """
    found = _resolve(ref, catalogue)
    latest = tuple(_latest(report, set(found))) if report is not None else ()
    failing = [each for each in latest if each.state.startswith("FAIL")]
    lines = [each.reproduce for each in (*failing, *latest)]
    return CheckExplained(
        ref=found[0].ref,
        sources=tuple(dict.fromkeys(each.source for each in found)),
        title=_title(catalogue.role, found),
        demands=tuple(_demands(catalogue.role, found, report)),
        legs=tuple(dict.fromkeys(each.leg for each in found)),
        expected=tuple(_expected(baseline, found)) if baseline is not None else (),
        latest=latest,
        reproduce=lines[0] if lines else _command(catalogue.role, found[0], baseline),
    )


def _every(catalogue: Catalogue, scenario: str) -> Iterator[CheckIdentity]:
    for label in LABELS:
        for revision in Revision:
            leg = Leg(label, revision.value)
            for source in SOURCES:
                for check_id in known_checks(catalogue, leg, scenario, source):
                    yield CheckIdentity(leg.revision, label, source, scenario, check_id)


def _resolve(ref: str, catalogue: Catalogue) -> Sequence[CheckIdentity]:
    scenario, mark, check_id = ref.partition(":")
    suites = {
        entry.scenario
        for entries in catalogue.revisions.values()
        for entry in entries
        if entry.not_scored is None
    }
    names = suites | set(ours.scenarios(catalogue.role))
    if scenario not in names:
        hint = did_you_mean(scenario, names)
        raise UsageError(f"{ref}: no scenario that counts is called {scenario!r}{hint}")
    every = list(_every(catalogue, scenario))
    ids = {each.check_id for each in every}
    wanted = {check_id, f"harness/{scenario}/{check_id}"}
    found = [each for each in every if each.check_id in wanted]
    if not mark or not found:
        prefix = f"harness/{scenario}/"
        short = sorted(each.removeprefix(prefix) for each in ids)
        what = f"{scenario} has no check {check_id!r}" if mark else "name a check of it"
        hint = did_you_mean(check_id, short) or f"; it has {', '.join(short)}"
        raise UsageError(f"{ref}: {what}{hint}")
    return found


def _title(role: Role, found: Sequence[CheckIdentity]) -> str | None:
    is_ours = any(each.transport != OFFICIAL_HTTP for each in found)
    return ours.scenarios(role)[found[0].scenario].title if is_ours else None


def _demands(
    role: Role, found: Sequence[CheckIdentity], report: Report | None
) -> Iterator[Demand]:
    mine = [
        each
        for each in found
        if each.source == "supplemental" and each.transport != OFFICIAL_HTTP
    ]
    yield from _ours(role, mine)
    others = [each for each in found if each not in mine]
    if not others:
        return
    revisions = tuple(sorted({each.revision for each in others}))
    check_id = others[0].check_id
    if others[0].source == "harness":
        sentence = next(
            text for label, text in _HARNESS.items() if check_id.endswith(label)
        )
        yield Demand(revisions=revisions, sentence=sentence)
    elif others[0].source == "supplemental":
        sentence = f"The scenario is passed when it is driven as {check_id!r} says."
        yield Demand(revisions=revisions, sentence=sentence)
    else:
        yield _suites(others, revisions, report)


def _ours(role: Role, identities: Sequence[CheckIdentity]) -> Iterator[Demand]:
    """One demand a page: revisions that share it stand together."""
    by_page: dict[str, list[str]] = {}
    for each in identities:
        check = ours.check_of(role, each.scenario, each.check_id)
        page = ours.page_of(check, Revision(each.revision))
        revisions = by_page.setdefault(page, [])
        if each.revision not in revisions:
            revisions.append(each.revision)
    for page, revisions in by_page.items():
        first = identities[0]
        check = ours.check_of(role, first.scenario, first.check_id)
        yield Demand(
            revisions=tuple(sorted(revisions)),
            sentence=check.sentence,
            level=check.level.value,
            pages=(page,),
            looks_for=check.looks_for,
        )


def _suites(
    identities: Sequence[CheckIdentity],
    revisions: tuple[str, ...],
    report: Report | None,
) -> Demand:
    """The suite describes its checks in reports only, and the passing ones best."""
    checks = [each.check for each in _seen(report, {*identities})]
    passing = [each for each in checks if each["status"] == "PASS"]
    # Where it passes nowhere, the detail is an error; other scenarios have the same id.
    alike = [] if report is None else list(_alike(report, identities[0].check_id))
    pages = dict.fromkeys(page for each in checks for page in each.get("pages", ()))
    sentence = next((each["detail"] for each in (*passing, *alike, *checks)), "")
    return Demand(
        revisions=revisions,
        sentence=sentence or "The suite describes it in reports only; give one.",
        pages=tuple(pages),
    )


def _alike(report: Report, check_id: str) -> Iterator[Mapping[str, Any]]:
    for case in report["cases"]:
        for check in case["checks"]:
            is_same = check["source"] == "official" and check["check_id"] == check_id
            if is_same and check["status"] == "PASS":
                yield check


def _expected(baseline: Baseline, found: Sequence[CheckIdentity]) -> Iterator[Expected]:
    unsupported = {(each.leg, each.scenario): each for each in baseline.unsupported}
    for identity in found:
        place = (identity.leg, identity.scenario)
        entry = baseline.failing.get(identity)
        if entry is not None:
            yield Expected(
                leg=identity.leg, state=_state(entry), explanation=entry.explanation
            )
        if identity in baseline.passing:
            yield Expected(leg=identity.leg, state="passes", explanation=None)
        if place in unsupported and identity.source != "supplemental":
            yield Expected(
                leg=identity.leg,
                state="unsupported",
                explanation=unsupported[place].explanation,
            )


def _state(entry: ExpectedFailure) -> str:
    return f"{entry.state.value} ({entry.outcome})"


def _seen(report: Report | None, identities: set[CheckIdentity]) -> Iterator[CheckView]:
    """Every check of a report that is meant."""
    for case in report["cases"] if report is not None else ():
        yield from (each for each in views(case) if each.identity in identities)


def _latest(report: Report, identities: set[CheckIdentity]) -> Iterator[Latest]:
    for view in _seen(report, identities):
        status = view.check["status"]
        yield Latest(
            leg=view.leg,
            state=f"{status}, a warning" if view.is_warning else status,
            outcome=view.outcome,
            detail=view.check["detail"],
            evidence=evidence_of(report, view.scenario),
            reproduce=view.scenario["reproduce"],
        )


def _command(role: Role, identity: CheckIdentity, baseline: Baseline | None) -> str:
    """The line for whoever has no report yet."""
    is_suites = identity.transport == OFFICIAL_HTTP
    if role is Role.SERVER:  # how the server is reached is the reader's to say
        session = f"server-{identity.revision}" if is_suites else "tasks-extension"
        source = "official" if is_suites else "supplemental"
        return f"nox -s {session} -- --url URL --{source}-scenario {identity.scenario}"
    client = baseline.client if baseline is not None else None
    words = [
        f"nox -s conformance-{identity.revision} --",
        *([f"--client {client}"] if client is not None else []),
        *(["--require-automatic-auth"] if baseline and baseline.strict_auth else []),
        f"--{'official' if is_suites else 'supplemental'}-scenario {identity.scenario}",
        *([] if is_suites else [f"--transport {identity.transport}"]),
    ]
    return " ".join(words)
