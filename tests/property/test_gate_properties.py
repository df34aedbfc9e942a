"""What holds of the gate for every report, every baseline and every order of both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from gate_report import (
    AUTH,
    GATE_CATALOGUE,
    MIDDLE,
    NEW,
    OLD,
    PLAIN,
    case_of,
    check_of,
    drop_check,
    end_as,
    fail,
    flake,
    make_report,
    observed,
    warn,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpconf.baseline.entry import Baseline, CheckState, ExpectedFailure, Scope
from mcpconf.gate import baseline_of, decide, unexpected
from mcpconf.gate_record import GatePolicy, GateResult, GateVerdict

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from mcpconf.identity import CheckIdentity
    from mcpconf.observed import ObservedRun

    Report = dict[str, Any]

pytestmark = pytest.mark.property

#: Where something may change; nothing of what ships, which refuses everything.
PLACES = [
    (f"official-http {MIDDLE}", PLAIN),
    (f"official-http {NEW}", AUTH),
    (f"stdio {OLD}", "basics"),
    (f"http {NEW}", "registration"),
]


def _skip(report: Report, leg: str, name: str) -> None:
    check_of(report, leg, name, "required-a").update(
        status="SKIP", suite_status="SKIPPED"
    )


def _drop(report: Report, leg: str, name: str) -> None:
    drop_check(report, leg, name, "required-a")


def _ends(outcome: str, attribution: str | None) -> Callable[[Report, str, str], Any]:
    def change(report: Report, leg: str, name: str) -> None:
        end_as(report, leg, name, outcome, attribution=attribution)

    return change


CHANGES: dict[str, Callable[[Report, str, str], Any]] = {
    "nothing": lambda *_: None,
    "fail": fail,
    "warn": warn,
    "flake": flake,
    "skip": _skip,
    "drop": _drop,
    "crash": _ends("crashed", "subject"),
    "time out": _ends("timed-out", "suite"),
    "unsupported": _ends("unsupported", None),
    "break": _ends("harness-error", "harness"),
}
GROUPS = (
    "new_failures",
    "missing_checks",
    "changed_failures",
    "known_failures",
    "fixed_checks",
    "warnings",
    "flaky",
    "new_checks",
)
GOOD = observed(make_report())
NAMES = sorted(GOOD.checks)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """A report in which something is otherwise in some places."""
    report = make_report()
    for leg, name in PLACES:
        CHANGES[draw(st.sampled_from(sorted(CHANGES)))](report, leg, name)
    return report


@st.composite
def baselines(draw: st.DrawFn) -> Baseline:
    """A baseline that expects some checks to fail, and lacks some."""
    allowed = [
        each
        for each in NAMES
        if not (each.transport == "official-http" and each.revision == OLD)
    ]
    failing = draw(st.sets(st.sampled_from(allowed), max_size=6))
    lacking = draw(st.sets(st.sampled_from(allowed), max_size=3))
    both = draw(st.booleans())
    passing = frozenset(GOOD.checks) - lacking
    return Baseline(
        version=2,
        client=GOOD.client,
        client_version=GOOD.client_version,
        suite=GOOD.suite,
        strict_auth=False,
        scope=GOOD.scope,
        scenarios=GOOD.scenarios,
        passing=passing if both else passing - failing,
        failing={
            each: ExpectedFailure(
                identity=each,
                state=draw(st.sampled_from([CheckState.FAIL, CheckState.WARNING])),
                outcome=draw(st.sampled_from(["failed", "unobserved"])),
            )
            for each in failing
        },
    )


POLICIES = st.builds(GatePolicy, ratchet=st.booleans(), flaky_budget=st.integers(0, 3))


def gate(baseline: Baseline, run: ObservedRun, policy: GatePolicy) -> GateResult:
    return decide(baseline, run, policy, GATE_CATALOGUE)


def findings(result: GateResult) -> set[tuple[str, CheckIdentity]]:
    return {
        (group, each.identity) for group in GROUPS for each in getattr(result, group)
    }


@given(reports(), baselines(), POLICIES, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_order_never_matters(
    report: Report, baseline: Baseline, policy: GatePolicy, chance: random.Random
) -> None:
    """Of the checks of a case, of the cases, and of a baseline's entries."""
    before = gate(baseline, observed(report), policy).to_json()
    for case in report["cases"]:
        chance.shuffle(case["checks"])
    chance.shuffle(report["cases"])
    entries = list(baseline.failing.items())
    chance.shuffle(entries)
    shuffled = replace(baseline, failing=dict(entries))
    after = gate(shuffled, observed(report), policy).to_json()
    # Holes are in the report's order, which a reader expects.
    for value in (before, after):
        assert isinstance(value["holes"], list)
        value["holes"].sort(key=str)
    assert before == after


@given(reports(), baselines(), POLICIES, st.sampled_from(NAMES))
@settings(deadline=None, max_examples=40)
def test_an_expected_failure_excuses_its_own_check_and_no_other(
    report: Report, baseline: Baseline, policy: GatePolicy, name: CheckIdentity
) -> None:
    """Adding one neither makes another check pass nor turns another finding away."""
    run = observed(report)
    entry = ExpectedFailure(identity=name, state=CheckState.FAIL, outcome="failed")
    added = replace(baseline, failing={**baseline.failing, name: entry})
    before, after = gate(baseline, run, policy), gate(added, run, policy)
    case = (name.leg, name.scenario)

    def elsewhere(result: GateResult) -> set[tuple[str, CheckIdentity]]:
        # A crash is told once, by a check of its case or for the case as a whole.
        return {
            (group, each)
            for group, each in findings(result)
            if (each.leg, each.scenario) != case
        }

    assert elsewhere(before) == elsewhere(after)
    others = {
        (group, each)
        for group, each in findings(before)
        if each != name and "official-runner" not in each.check_id
    }
    assert others <= findings(after)
    assert before.holes == after.holes
    assert set(before.configuration_errors) <= set(after.configuration_errors)


@given(reports(), baselines(), POLICIES)
@settings(deadline=None, max_examples=40)
def test_taking_away_what_excuses_never_makes_red_green(
    report: Report, baseline: Baseline, policy: GatePolicy
) -> None:
    """Of entries that excuse something now; a stale or missing one is red itself."""
    run = observed(report)
    before = gate(baseline, run, policy)
    excusing = {each.identity for each in before.known_failures}
    excusing -= {each.identity for each in before.missing_checks}
    for name in sorted(excusing):
        failing = {key: each for key, each in baseline.failing.items() if key != name}
        after = gate(replace(baseline, failing=failing), run, policy)
        assert before.verdict is GateVerdict.GREEN or (
            after.verdict is not GateVerdict.GREEN
        )


@given(reports(), baselines(), POLICIES)
@settings(deadline=None, max_examples=40)
def test_every_bad_check_is_named_or_in_a_hole(
    report: Report, baseline: Baseline, policy: GatePolicy
) -> None:
    """Nothing that fails, and nothing expected that is gone, is passed over."""
    run = observed(report)
    result = gate(baseline, run, policy)
    named = {each for _, each in findings(result)}
    blind = {
        (case.leg, case.scenario)
        for case in run.cases
        if case.outcome == "harness-error" or case.attribution == "suite"
    }
    for name in {*run.checks, *baseline.passing, *baseline.failing}:
        check = run.checks.get(name)
        is_bad = check is not None and check.worst in {
            CheckState.FAIL,
            CheckState.WARNING,
        }
        is_lost = check is None or CheckState.PASS not in check.states
        is_expected = name in baseline.passing or name in baseline.failing
        if is_bad or (is_lost and is_expected):
            assert name in named or (name.leg, name.scenario) in blind
    assert not blind or result.holes
    crashed = {case.leg for case in run.cases if case.outcome == "crashed"}
    assert not crashed or result.verdict is not GateVerdict.GREEN


@given(reports(), baselines(), POLICIES)
@settings(deadline=None, max_examples=40)
def test_the_unexpected_is_what_is_red_in_a_case_and_never_what_is_known(
    report: Report, baseline: Baseline, policy: GatePolicy
) -> None:
    """What is run again is what made it red."""
    run = observed(report)
    result = gate(baseline, run, policy)
    cases = unexpected(baseline, run, GATE_CATALOGUE)
    again = {check for each in cases for check in each.checks}
    red = (result.new_failures, result.missing_checks, result.changed_failures)
    named = {each.identity for group in red for each in group}
    assert again == named - set(baseline.failing)
    assert {(each.leg, each.scenario) for each in named} <= {
        (each.leg, each.scenario) for each in cases
    }
    fatal = {
        (each.leg, each.scenario)
        for each in run.cases
        if each.outcome in {"crashed", "timed-out"}
    }
    assert fatal <= {(each.leg, each.scenario) for each in cases}


@given(
    reports(),
    baselines(),
    st.sets(st.sampled_from([OLD, MIDDLE, NEW]), min_size=1),
    st.sets(st.sampled_from(["stdio", "http"]), min_size=1),
)
@settings(deadline=None, max_examples=40)
def test_a_part_finds_what_the_whole_finds_there(
    report: Report, baseline: Baseline, revisions: set[str], transports: set[str]
) -> None:
    """A run of some legs has the findings of the whole run in these legs."""
    run = observed(report)
    scope = Scope(
        revisions=tuple(sorted(revisions)),
        transports=tuple(each for each in ("stdio", "http") if each in transports),
        sources=run.scope.sources,
        authentication=True,
    )
    legs = {(label, each) for label in scope.labels for each in revisions}

    def is_in(item: Any) -> bool:
        return (item.leg.transport, item.leg.revision) in legs

    official = "official-http" in scope.labels
    part = replace(
        run,
        scope=scope,
        cases=tuple(filter(is_in, run.cases)),
        checks={key: each for key, each in run.checks.items() if is_in(key)},
        scenarios={
            each: run.scenarios[each] if official else () for each in scope.revisions
        },
    )
    whole, partial = (gate(baseline, each, GatePolicy()) for each in (run, part))
    assert {each for each in findings(whole) if is_in(each[1])} == findings(partial)
    assert partial.configuration_errors == ()
    assert (partial.scope == "whole") == (len(legs) == len(report["cases"]))


@given(reports())
@settings(deadline=None, max_examples=40)
def test_the_good_report_is_green_and_only_what_changed_is_found(
    report: Report,
) -> None:
    """Against the good report as the baseline."""
    baseline = baseline_of(GOOD)
    assert gate(baseline, GOOD, GatePolicy()).verdict is GateVerdict.GREEN
    result = gate(baseline, observed(report), GatePolicy())
    places = {(leg, name) for leg, name in PLACES}
    found = findings(result)
    assert {(str(each.leg), each.scenario) for _, each in found} <= places
    is_same = all(
        case_of(report, leg)["checks"] == case_of(make_report(), leg)["checks"]
        for leg, _ in PLACES
    )
    assert is_same or result.verdict is not GateVerdict.GREEN or result.flaky
