"""
Builders of observed runs and baselines: all green by default, each fault asked for.

The run is whole: every leg, every scored scenario of a small catalogue, and in each leg
of ours one scenario.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from make import MIDDLE, NEW, make_catalogue

from mcpconf.baseline.encode import to_json
from mcpconf.baseline.entry import (
    CheckState,
    Explanation,
    FailureClass,
    Scope,
    SuiteIdentity,
)
from mcpconf.baseline.extract import extract
from mcpconf.baseline.known import known_checks, pinned_git_ref
from mcpconf.identity import LABELS, OFFICIAL_HTTP, SOURCES, CheckIdentity, Leg
from mcpconf.observed import ObservedCheck, ObservedRun, ObservedScenario
from mcpconf.revision import Revision
from mcpconf.storage import json_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.baseline.entry import Baseline

CATALOGUE = make_catalogue()
TODAY = dt.date(2026, 11, 30)
#: The one scenario of ours in these runs.
OURS = "basics"
#: One of each kind, at revisions that do not ship.
OFFICIAL = CheckIdentity(
    NEW, OFFICIAL_HTTP, "official", "auth/basic-cimd", "required-a"
)
SUPPLEMENTAL = CheckIdentity(MIDDLE, "stdio", "supplemental", OURS, "identity")
HARNESS = CheckIdentity(
    NEW, OFFICIAL_HTTP, "harness", "tools_call", "harness/tools_call/wire-schema"
)
#: One at the revision that ships.
SHIPPING = CheckIdentity(
    "2025-06-18", OFFICIAL_HTTP, "official", "tools_call", "required-a"
)
FAILED = (CheckState.FAIL, "failed")
WARNED = (CheckState.WARNING, "failed")
SKIPPED = (CheckState.SKIP, "unsupported")
REVIEWED = Explanation(
    reason="It follows no redirect.",
    failure_class=FailureClass.SUBJECT_BUG,
    link="https://example.org/1",
    since="2026-11-01",
    expires="2027-01-01",
)


@functools.cache
def every_check() -> tuple[CheckIdentity, ...]:
    """Every check that the runs of these tests can have."""
    return tuple(
        CheckIdentity(revision.value, label, source, scenario, check_id)
        for label in LABELS
        for revision in Revision
        for scenario in scenarios_of(label)
        for source in SOURCES
        for check_id in sorted(
            known_checks(
                CATALOGUE,
                Leg(label, revision.value),
                scenario,
                source,
                client="codex",
            )
        )
        if not check_id.endswith("official-runner")  # only where there is no other
    )


def scenarios_of(label: str) -> tuple[str, ...]:
    """The scenarios in a leg with this transport."""
    return ("tools_call", "auth/basic-cimd") if label == OFFICIAL_HTTP else (OURS,)


def make_observed(
    identity: CheckIdentity,
    state: CheckState = CheckState.PASS,
    outcome: str = "passed",
    **changes: Any,
) -> ObservedCheck:
    """One check, seen once."""
    values: dict[str, Any] = {
        "identity": identity,
        "states": frozenset({state}),
        "outcome": outcome,
        "attribution": "subject" if state is CheckState.FAIL else None,
        "is_flaky": False,
        "detail": f"{identity.check_id} {outcome}",
        "reproduce": None,
        "pages": (),
        "level": None,
    }
    return ObservedCheck(**{**values, **changes})


def make_scenario(leg: Leg, scenario: str, **changes: Any) -> ObservedScenario:
    """One case, which passed."""
    values: dict[str, Any] = {
        "leg": leg,
        "scenario": scenario,
        "variant": None,
        "is_scored": True,
        "outcome": "passed",
        "attribution": None,
        "reason": "passed",
        "reproduce": f"nox -s conformance-{leg.revision} -- {scenario}",
        "timing_sensitive": False,
    }
    return ObservedScenario(**{**values, **changes})


def make_run(
    bad: Mapping[CheckIdentity, tuple[CheckState, str]] | None = None,
    outcomes: Mapping[tuple[Leg, str], str] | None = None,
    **changes: Any,
) -> ObservedRun:
    """A whole run, green but for `bad` checks and the scenarios of `outcomes`."""
    bad, outcomes = bad or {}, outcomes or {}
    checks = {
        each: make_observed(each, *bad.get(each, (CheckState.PASS, "passed")))
        for each in every_check()
    }
    cases = tuple(
        make_scenario(leg, name, outcome=outcomes.get((leg, name), "passed"))
        for label in LABELS
        for revision in Revision
        for leg in (Leg(label, revision.value),)
        for name in scenarios_of(label)
    )
    values: dict[str, Any] = {
        "client": "codex",
        "client_version": "codex-cli 1.2.3",
        "suite": SuiteIdentity(
            repository="modelcontextprotocol/conformance",
            git_ref=pinned_git_ref(CATALOGUE),
            integrity=CATALOGUE.integrity,
            catalogue=CATALOGUE.digest,
        ),
        "strict_auth": False,
        "modern_feature": True,
        "version_checked": True,
        "is_complete": True,
        "verdict": "NOT_CONFORMANT" if bad else "CONFORMANT",
        "revision_policy": "same-era",
        "started_at": "2026-11-29T10:00:00.000+00:00",
        "scope": Scope(
            revisions=tuple(each.value for each in Revision),
            transports=("stdio", "http"),
            sources=("official", "supplemental"),
            authentication=True,
        ),
        "selected": (),
        "shard": None,
        "scenarios": {each.value: scenarios_of(OFFICIAL_HTTP) for each in Revision},
        "cases": cases,
        "checks": checks,
        "faults": (),
    }
    return ObservedRun(**{**values, **changes})


def narrowed(run: ObservedRun, **scope: Any) -> ObservedRun:
    """The same run, had it been asked for less."""
    less = replace(run.scope, **scope)
    legs = {Leg(label, each) for label in less.labels for each in less.revisions}
    return replace(
        run,
        scope=less,
        scenarios={each: run.scenarios[each] for each in less.revisions},
        cases=tuple(each for each in run.cases if each.leg in legs),
        checks={key: each for key, each in run.checks.items() if key.leg in legs},
    )


#: Two entries: an official failure and a warning of ours.
BAD = {OFFICIAL: FAILED, SUPPLEMENTAL: WARNED}


def make_baseline(run: ObservedRun | None = None, version: int = 2) -> Baseline:
    """The baseline of a run, every entry of which somebody has explained."""
    made = extract(
        make_run(BAD) if run is None else run,
        version=version,
        older=None,
        catalogue=CATALOGUE,
        today=TODAY,
    ).baseline
    return made if version == 1 else reviewed(made)


def reviewed(baseline: Baseline, explanation: Explanation = REVIEWED) -> Baseline:
    """The same baseline after somebody has looked."""
    return replace(
        baseline,
        failing={
            key: replace(entry, explanation=explanation)
            for key, entry in baseline.failing.items()
        },
        unsupported=tuple(
            replace(each, explanation=explanation) for each in baseline.unsupported
        ),
    )


@functools.cache
def _text(version: int) -> bytes:
    return json_bytes(to_json(make_baseline(version=version)))


def make_file(version: int = 2) -> Any:
    """The decoded JSON of a good baseline, to be spoilt."""
    return json.loads(_text(version))


#: Where `make_unsupported` does nothing.
UNDONE = Leg(OFFICIAL_HTTP, NEW.value)


def make_unsupported() -> ObservedRun:
    """The run of `BAD`, of a client that does not do `tools_call` in one leg."""
    skipped = {
        each: SKIPPED
        for each in every_check()
        if each.leg == UNDONE and each.scenario == "tools_call"
    }
    return make_run({**BAD, **skipped}, {(UNDONE, "tools_call"): "unsupported"})


def seen_as(identity: CheckIdentity, **changes: Any) -> ObservedRun:
    """The run of `BAD` with one check that is otherwise."""
    run = make_run(BAD)
    return replace(
        run, checks={**run.checks, identity: make_observed(identity, **changes)}
    )
