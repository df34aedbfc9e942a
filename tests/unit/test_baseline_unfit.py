"""Which reports can be no baseline, and what is said of them."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from make import (
    MIDDLE,
    NEW,
    OLD,
)
from make_baseline import (
    BAD,
    CATALOGUE,
    FAILED,
    HARNESS,
    OFFICIAL,
    SHIPPING,
    SUPPLEMENTAL,
    TODAY,
    WARNED,
    make_baseline,
    make_observed,
    make_run,
    make_scenario,
    make_unsupported,
    narrowed,
    seen_as,
)

from mcpconf.baseline.entry import (
    CheckState,
)
from mcpconf.baseline.extract import Extraction, extract
from mcpconf.errors import UsageError
from mcpconf.identity import Leg

if TYPE_CHECKING:
    from mcpconf.baseline.entry import Baseline
    from mcpconf.observed import ObservedRun

LEG = Leg("official-http", NEW)


def _extract(
    run: ObservedRun, older: Baseline | None = None, version: int = 2, **more: Any
) -> Extraction:
    return extract(
        run, version=version, older=older, catalogue=CATALOGUE, today=TODAY, **more
    )


def _refusal(run: ObservedRun, *args: Any, **more: Any) -> str:
    with pytest.raises(UsageError) as caught:
        _extract(run, *args, **more)
    return str(caught.value)


UNFIT: list[tuple[str, dict[str, Any], str]] = [
    ("incomplete", {"is_complete": False}, "the run did not end; run again"),
    ("faults", {"faults": ("port 1 is open",)}, "did not close well (port 1 is open)"),
    ("version", {"version_checked": False}, "version was not found out"),
    ("feature", {"modern_feature": False}, "feature for 2026-07-28 was off"),
    (
        "selection",
        {"selected": ("tools_call",)},
        "only some scenarios were run (tool",
    ),
    ("shard", {"shard": (2, 4)}, "it is shard 2/4; merge the shards"),
    ("nothing", {"checks": {}}, "nothing was run"),
    ("no cases", {"cases": ()}, "nothing was run"),
]


@pytest.mark.parametrize(
    ("changes", "said"), [pytest.param(*each[1:], id=each[0]) for each in UNFIT]
)
def test_a_report_with_a_hole_is_no_baseline(
    changes: dict[str, Any], said: str
) -> None:
    run = make_run(BAD)
    _extract(run)
    assert said in _refusal(replace(run, **changes))


@pytest.mark.parametrize(
    "outcome",
    ["crashed", "timed-out", "flaky", "harness-error", "suite-defect", "not-run"],
)
def test_a_scenario_that_says_nothing_of_the_client_is_no_baseline(
    outcome: str,
) -> None:
    for leg, scenario in ((LEG, "tools_call"), (Leg("stdio", OLD), "basics")):
        refusal = _refusal(make_run(BAD, {(leg, scenario): outcome}))
        assert f"{outcome}: {leg} / {scenario} (" in refusal


def test_a_failure_that_is_not_the_clients_doing_is_no_baseline() -> None:
    run = make_run(BAD)
    case = make_scenario(
        LEG, "auth/basic-cimd", outcome="failed", attribution="subject"
    )
    others = tuple(each for each in run.cases if each.leg != LEG)
    _extract(replace(run, cases=(*others, case)))
    blamed = replace(case, attribution="suite")
    refusal = _refusal(replace(run, cases=(*others, blamed)))
    assert (
        "not for the client's doing: official-http 2026-07-28 / auth/basic" in refusal
    )


def test_a_scenario_that_does_not_count_may_crash() -> None:
    run = make_run(BAD)
    apart = make_scenario(LEG, "auth/dpop", outcome="crashed", is_scored=False)
    _extract(replace(run, cases=(*run.cases, apart)))
    variant = replace(apart, variant="auto_cimd")
    assert "crashed:" in _refusal(replace(run, cases=(*run.cases, variant)))


def test_a_check_that_says_nothing_of_the_client_is_no_baseline() -> None:
    for outcome in ("crashed", "timed-out"):
        run = seen_as(SUPPLEMENTAL, state=CheckState.FAIL, outcome=outcome)
        assert f"{outcome}: {SUPPLEMENTAL} (" in _refusal(run)
    flaky = seen_as(HARNESS, state=CheckState.FAIL, outcome="failed", is_flaky=True)
    assert f"flaky: {HARNESS} (" in _refusal(flaky)


def test_a_check_that_was_not_observed_may_be_expected() -> None:
    run = make_run({OFFICIAL: (CheckState.FAIL, "unobserved")})
    assert _extract(run).baseline.failing[OFFICIAL].outcome == "unobserved"


def test_every_reason_is_told_at_once() -> None:
    refusal = _refusal(
        make_run(BAD, {(LEG, "tools_call"): "crashed"}, is_complete=False, shard=(1, 2))
    )
    for said in ("did not end", "shard 1/2", "crashed:"):
        assert said in refusal


def test_what_ships_must_be_green() -> None:
    red = make_run({**BAD, SHIPPING: FAILED})
    for version in (1, 2):
        refusal = _refusal(red, version=version)
        assert f"{SHIPPING} fails, and 2025-06-18 ships" in refusal
    assert "ships" in _refusal(make_run({SHIPPING: WARNED}))
    assert SHIPPING in _extract(red, shipping=()).baseline.failing
    assert "version 1 ships 2025-06-18" in _refusal(red, version=1, shipping=())


def test_our_own_checks_do_not_ship() -> None:
    ours = SUPPLEMENTAL._replace(revision=SHIPPING.revision)
    assert ours in _extract(make_run({ours: FAILED})).baseline.failing


def test_an_older_baseline_of_something_else_is_not_written_over() -> None:
    run, older = make_run(BAD), make_baseline()
    _extract(run, older)
    for changed, said in (
        (
            replace(run, client="python-sdk"),
            "the older file is of codex, not python-sdk",
        ),
        (replace(run, strict_auth=True), "is of assisted authorization, not strict"),
        (replace(run, revision_policy="exact"), "counts revisions by same-era"),
        (
            narrowed(run, revisions=(MIDDLE, NEW)),
            "covers less than the older file (2025-06-18)",
        ),
        (narrowed(run, transports=("http",)), "than the older file (stdio)"),
    ):
        assert said in _refusal(changed, older)
    assert "would lose the older file's reasons" in _refusal(run, older, version=1)


def test_version_1_is_of_whole_runs_alone() -> None:
    for less in (
        {"revisions": (MIDDLE, NEW)},
        {"transports": ("stdio",)},
        {"sources": ("official",)},
        {"authentication": False},
    ):
        run = narrowed(make_run(BAD), **less)
        assert "version 1 is of whole runs" in _refusal(run, version=1)
    refusal = _refusal(make_unsupported(), version=1)
    assert "cannot say that official-http 2026-07-28 / tools_call is uns" in refusal


def test_a_check_that_no_catalogue_has_is_refused_where_it_is_new() -> None:
    """Else the file that is written could not be read again."""
    strange = OFFICIAL._replace(check_id="from-nowhere")
    run = make_run(BAD)
    checks = {**run.checks, strange: make_observed(strange)}
    assert "has no official check 'from-nowhere'" in _refusal(
        replace(run, checks=checks)
    )


def test_a_report_of_tomorrow_is_refused() -> None:
    run = make_run(BAD, started_at="2026-12-24T00:00:00.000+00:00")
    assert "2026-12-24 is in the future (today is 2026-11-30)" in _refusal(run)
    extract(
        run,
        version=2,
        older=None,
        catalogue=CATALOGUE,
        today=dt.date(2026, 12, 24),
    )
