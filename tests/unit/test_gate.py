"""Every rule of the gate, each from the good case that is green."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from gate_decision import (
    A_OURS,
    GREEN,
    INCOMPLETE,
    NEWEST,
    OFFICIAL,
    OURS,
    REGRESSED,
    SHIPS,
    WHY,
    A,
    blamed,
    both,
    crash,
    fails,
    gate,
    interrupted,
    nothing,
    refs,
    unsupported,
    warns,
)
from gate_report import (
    AUTH,
    MIDDLE,
    PLAIN,
    VARIANT,
    case_of,
    check_of,
    drop_check,
    drop_scenario,
    end_as,
    fail,
    fail_check,
    flake,
    make_report,
)

from mcpconf.baseline.entry import (
    UNREASONED,
    Baseline,
    CheckPolicy,
    ExpectedUnsupported,
    WarningRules,
)
from mcpconf.errors import ExitCode
from mcpconf.gate_record import GatePolicy, GateVerdict
from mcpconf.identity import Leg

if TYPE_CHECKING:
    from collections.abc import Callable

    Report = dict[str, Any]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One case of the table: what was, what is, and what the gate says."""

    before: Callable[[Report], Any] = nothing
    now: Callable[[Report], Any] = nothing
    edit: Callable[[Baseline], Baseline] = lambda each: each
    policy: GatePolicy = field(default_factory=GatePolicy)
    verdict: GateVerdict
    #: Group → refs; the other groups are empty.
    found: dict[str, list[str]] = field(default_factory=dict)
    #: In a hole or a demand.
    says: str | None = None


ADAPTER = f"{PLAIN}:harness/{PLAIN}/command-adapter"
RUNNER = f"{PLAIN}:harness/{PLAIN}/official-runner"


def _flaky_where_it_ships(report: Report) -> None:
    flake(report, SHIPS, PLAIN)


def _fixed_in_silence(report: Report) -> None:
    """The driver did its part; of the client nothing was seen."""
    end_as(report, OFFICIAL, PLAIN, "unobserved")
    adapter = check_of(report, OFFICIAL, PLAIN, "adapter")
    adapter |= {"status": "PASS", "success": True}


def _unobserved(report: Report) -> None:
    end_as(report, OFFICIAL, PLAIN, "unobserved")
    fail_check(report, OFFICIAL, PLAIN, "adapter")


def _adapter_fails(report: Report) -> None:
    fail(report, OFFICIAL, PLAIN, "adapter")


def _only_skips(report: Report, outcome: str = "crashed") -> None:
    end_as(report, OFFICIAL, PLAIN, outcome)


def _hidden_crash(report: Report) -> None:
    """All that is left of a crash is what was not expected anyhow."""
    end_as(report, f"http {MIDDLE}", "basics", "timed-out")
    for check in ("required-a", "required-b", "adapter"):
        drop_check(report, f"http {MIDDLE}", "basics", check)
    case = case_of(report, f"http {MIDDLE}")
    case["checks"].append(
        {
            "name": "harness/basics/wire-schema",
            "success": True,
            "detail": "it holds",
            "status": "PASS",
            "source": "harness",
            "scenario": "basics",
            "check_id": None,
            "category": "non-auth",
        }
    )


def _no_basics(baseline: Baseline) -> Baseline:
    """A baseline from before the scenario was there in one leg."""
    leg = Leg("http", MIDDLE)
    return replace(
        baseline,
        passing=frozenset(
            each
            for each in baseline.passing
            if not (each.leg == leg and each.scenario == "basics")
        ),
    )


def _lists_unsupported(baseline: Baseline) -> Baseline:
    leg = Leg("official-http", MIDDLE)
    return replace(
        baseline,
        passing=frozenset(
            each
            for each in baseline.passing
            if not (each.leg == leg and each.scenario == PLAIN)
        ),
        unsupported=(ExpectedUnsupported(leg=leg, scenario=PLAIN, explanation=WHY),),
    )


def _warn_policy(baseline: Baseline) -> Baseline:
    return replace(baseline, warnings=WarningRules(checks={A: CheckPolicy.WARN}))


def _also_passing(baseline: Baseline) -> Baseline:
    return replace(baseline, passing=baseline.passing | frozenset(baseline.failing))


def _both(report: Report) -> None:
    """One check is observed twice, and passes once."""
    fail(report, OFFICIAL, PLAIN)
    again = copy.deepcopy(check_of(make_report(), OFFICIAL, PLAIN, "required-a"))
    again["name"] += "#2"
    case_of(report, OFFICIAL)["checks"].append(again)


def _flaky_thrice(report: Report) -> None:
    for leg in (OFFICIAL, NEWEST, OURS):
        flake(report, leg, PLAIN if leg != OURS else "basics")


def _open_port(report: Report) -> None:
    report["closing"]["openPorts"] = [4000]


def _feature_lost(report: Report) -> None:
    end_as(report, OURS, "basics", "unsupported", attribution=None)
    for check in case_of(report, OURS)["checks"]:
        if check["scenario"] == "basics" and "suite_status" in check:
            check["suite_status"] = "SKIPPED"


def _swallowed(report: Report) -> None:
    """A scenario says that it failed, and no check of it does."""
    end_as(report, OFFICIAL, PLAIN, "failed")


def _expects_crash(baseline: Baseline) -> Baseline:
    return replace(
        baseline,
        failing={
            name: replace(each, outcome="crashed")
            for name, each in baseline.failing.items()
        },
    )


def drop_checks(report: Report) -> None:
    """Leaves only what the driver said of the scenario."""
    for check in ("required-a", "required-b"):
        drop_check(report, OFFICIAL, PLAIN, check)


def _variant_fails(report: Report) -> None:
    end_as(report, NEWEST, AUTH, "failed", variant=VARIANT)
    check = next(
        each
        for each in case_of(report, NEWEST)["checks"]
        if each["check_id"] == VARIANT
    )
    check |= {
        "status": "FAIL",
        "success": False,
        "attribution": "subject",
        "reproduce": "again",
        "evidence": "there",
    }


TABLE = {
    "nothing changed": Row(verdict=GREEN),
    "a check fails": Row(now=fails, verdict=REGRESSED, found={"new_failures": [A]}),
    "it fails as before": Row(
        before=fails, now=fails, verdict=GREEN, found={"known_failures": [A]}
    ),
    "a check of ours fails": Row(
        now=lambda each: fail(each, OURS, "basics"),
        verdict=REGRESSED,
        found={"new_failures": [A_OURS]},
    ),
    "the driver's own check fails": Row(
        now=lambda each: fail(each, OFFICIAL, PLAIN, "adapter"),
        verdict=REGRESSED,
        found={"new_failures": [ADAPTER]},
    ),
    "it warned and now fails": Row(
        before=warns, now=fails, verdict=REGRESSED, found={"changed_failures": [A]}
    ),
    "it warns for the first time": Row(
        now=warns, verdict=REGRESSED, found={"new_failures": [A]}
    ),
    "it warns as before": Row(
        before=warns, now=warns, verdict=GREEN, found={"known_failures": [A]}
    ),
    "it failed and now warns": Row(
        before=fails, now=warns, verdict=GREEN, found={"known_failures": [A]}
    ),
    "the baseline forgives the warning of this check": Row(
        now=warns, edit=_warn_policy, verdict=GREEN, found={"warnings": [A]}
    ),
    "a forgiven warning that failed is a failure": Row(
        now=fails, edit=_warn_policy, verdict=REGRESSED, found={"new_failures": [A]}
    ),
    "a check is gone": Row(
        now=lambda each: drop_check(each, OFFICIAL, PLAIN, "required-a"),
        verdict=REGRESSED,
        found={"missing_checks": [A]},
    ),
    "a check is skipped": Row(
        now=lambda each: check_of(each, OFFICIAL, PLAIN, "required-a").update(
            status="SKIP", suite_status="SKIPPED"
        ),
        verdict=REGRESSED,
        found={"missing_checks": [A]},
    ),
    "an expected failure is gone": Row(
        before=fails,
        now=lambda each: drop_check(each, OFFICIAL, PLAIN, "required-a"),
        verdict=REGRESSED,
        found={"missing_checks": [A]},
    ),
    "a scenario of ours is gone": Row(
        now=lambda each: drop_scenario(each, OURS, "basics"),
        verdict=REGRESSED,
        found={
            "missing_checks": [
                "basics:harness/basics/command-adapter",
                A_OURS,
                "basics:required-b",
            ]
        },
    ),
    "a variant fails": Row(
        now=_variant_fails,
        verdict=REGRESSED,
        found={"new_failures": [f"{AUTH}:{VARIANT}"]},
    ),
    "the client lost a feature": Row(
        now=_feature_lost,
        verdict=REGRESSED,
        found={
            "missing_checks": [
                "basics:harness/basics/command-adapter",
                A_OURS,
                "basics:required-b",
            ]
        },
    ),
    "it is fixed": Row(before=fails, verdict=GREEN, found={"fixed_checks": [A]}),
    "it is fixed, and the ratchet is on": Row(
        before=fails,
        policy=GatePolicy(ratchet=True),
        verdict=REGRESSED,
        found={"fixed_checks": [A]},
        says="pass now",
    ),
    "a check is new": Row(
        edit=lambda each: replace(
            each,
            passing=frozenset(
                name
                for name in each.passing
                if not (str(name.leg) == OFFICIAL and name.ref == A)
            ),
        ),
        verdict=GREEN,
        found={"new_checks": [A]},
    ),
    "it passes once and fails once": Row(
        now=_both, verdict=REGRESSED, found={"new_failures": [A]}
    ),
    "it passed and failed, and still does": Row(
        before=_both, now=_both, verdict=GREEN, found={"known_failures": [A]}
    ),
    "it passed and failed, and now only fails": Row(
        before=_both,
        now=fails,
        verdict=REGRESSED,
        found={"known_failures": [A], "missing_checks": [A]},
    ),
    "an entry by hand that leaves the check among the passing": Row(
        before=fails,
        now=fails,
        edit=_also_passing,
        verdict=REGRESSED,
        found={"known_failures": [A], "missing_checks": [A]},
    ),
    "it failed and is now unobserved": Row(
        before=both(_adapter_fails, drop_checks),
        now=both(_unobserved, drop_checks),
        verdict=REGRESSED,
        found={"changed_failures": [ADAPTER]},
    ),
    "it is unobserved as before": Row(
        before=both(_unobserved, drop_checks),
        now=both(_unobserved, drop_checks),
        verdict=GREEN,
        found={"known_failures": [ADAPTER]},
    ),
    "it crashes where it was expected to fail": Row(
        before=both(_unobserved, drop_checks),
        now=both(crash, drop_checks),
        verdict=REGRESSED,
        found={"changed_failures": [ADAPTER]},
    ),
    "it crashes and a baseline by hand expects that": Row(
        before=both(_unobserved, drop_checks),
        now=both(crash, drop_checks),
        edit=_expects_crash,
        verdict=REGRESSED,
        found={"changed_failures": [ADAPTER]},
    ),
    "a crash leaves only skips": Row(
        now=_only_skips,
        edit=_lists_unsupported,
        verdict=REGRESSED,
        found={"new_failures": [RUNNER]},
    ),
    "a time-out where nothing is expected": Row(
        now=_hidden_crash,
        edit=_no_basics,
        verdict=REGRESSED,
        found={
            "new_failures": ["basics:harness/basics/official-runner"],
            "new_checks": ["basics:harness/basics/wire-schema"],
        },
    ),
    "a scenario fails and no check says so": Row(
        now=_swallowed, verdict=REGRESSED, found={"new_failures": [RUNNER]}
    ),
    "two flaky cases": Row(
        now=lambda each: (flake(each, OFFICIAL, PLAIN), flake(each, OURS, "basics")),
        verdict=GREEN,
        found={"flaky": [A, A_OURS]},
    ),
    "three flaky cases": Row(
        now=_flaky_thrice,
        verdict=REGRESSED,
        found={"flaky": [A, A_OURS, A]},
        says="flaky cases: 3, and the budget is 2",
    ),
    "a flaky case and no budget": Row(
        now=lambda each: flake(each, OFFICIAL, PLAIN),
        policy=GatePolicy(flaky_budget=0),
        verdict=REGRESSED,
        found={"flaky": [A]},
        says="flaky cases: 1, and the budget is 0",
    ),
    "a known failure that is flaky stays known": Row(
        before=fails,
        now=lambda each: flake(each, OFFICIAL, PLAIN),
        policy=GatePolicy(flaky_budget=0),
        verdict=GREEN,
        found={"known_failures": [A]},
    ),
    "it is flaky where it ships": Row(
        now=_flaky_where_it_ships, verdict=GREEN, found={"flaky": [A]}
    ),
    "a driver that was known to fail and a client that said nothing": Row(
        before=_adapter_fails,
        now=_fixed_in_silence,
        policy=GatePolicy(ratchet=True),
        verdict=REGRESSED,
        found={
            "new_failures": [f"{PLAIN}:harness/{PLAIN}/official-runner"],
            "missing_checks": [A, f"{PLAIN}:required-b"],
        },
    ),
    "the suite's scenario is unsupported": Row(
        now=unsupported,
        verdict=REGRESSED,  # it did it once
        found={"missing_checks": [ADAPTER, A, f"{PLAIN}:required-b"]},
    ),
    "it is known to be unsupported": Row(
        now=unsupported, edit=_lists_unsupported, verdict=GREEN
    ),
    "it is supported now": Row(
        edit=_lists_unsupported,
        policy=GatePolicy(ratchet=True),
        verdict=REGRESSED,
        found={
            "fixed_checks": [RUNNER],
            "new_checks": [ADAPTER, A, f"{PLAIN}:required-b"],
        },
        says="pass now",
    ),
    "the suite is to blame for a time-out": Row(
        now=blamed, verdict=INCOMPLETE, says="timed-out, by the suite"
    ),
    "the harness broke": Row(
        now=lambda each: end_as(
            each, OURS, "basics", "harness-error", attribution="harness"
        ),
        verdict=INCOMPLETE,
        says="harness-error",
    ),
    "the suite is wrong": Row(
        now=lambda each: fail(
            each, OFFICIAL, PLAIN, outcome="suite-defect", attribution="suite"
        ),
        verdict=INCOMPLETE,
        says="suite-defect",
    ),
    "the run was stopped": Row(now=interrupted, verdict=INCOMPLETE, says="was stopped"),
    "something was left behind": Row(
        now=_open_port, verdict=INCOMPLETE, says="port 4000"
    ),
    "a case was not run": Row(
        now=lambda each: end_as(each, OURS, "basics", "not-run", attribution=None),
        verdict=INCOMPLETE,
        says="not-run",
    ),
}


def test_the_good_case_is_green() -> None:
    result = gate()
    assert result.verdict is GREEN
    assert result.verdict.exit_code is ExitCode.CONFORMANT
    assert result.scope == "whole"
    assert result.not_compared == ("3 results that the suite does not count",)


@pytest.mark.parametrize("name", TABLE)
def test_a_change_of_a_run_gets_the_answer_of_the_table(name: str) -> None:
    row = TABLE[name]
    result = gate(row.before, row.now, edit=row.edit, policy=row.policy)
    found = {each: refs(getattr(result, each)) for each in GROUPS}
    assert {each: names for each, names in found.items() if names} == row.found
    assert result.configuration_errors == ()
    assert result.verdict is row.verdict
    if row.says is None:
        assert result.holes == result.demands == ()
    else:
        assert row.says in "; ".join((*result.holes, *result.demands))


def test_a_known_failure_carries_the_reason_and_how_to_see_it_again() -> None:
    found = gate(fails, fails).known_failures[0]
    assert found.reason == "it rounds"
    assert found.failure_class == "subject-bug"
    assert found.attribution == "subject"
    assert found.reproduce == (
        f"nox -s conformance-{MIDDLE} -- --official-scenario {PLAIN}"
    )
    assert found.pages == ("https://a.page/",)


def test_entries_without_a_reviewed_reason_are_named_and_change_nothing() -> None:
    def edit(baseline: Baseline) -> Baseline:
        bare = replace(WHY, reason=UNREASONED)
        return replace(
            baseline,
            failing={
                name: replace(each, explanation=bare)
                for name, each in baseline.failing.items()
            },
        )

    result = gate(fails, fails, edit=edit)
    assert result.unreasoned == (f"{OFFICIAL} / {A}",)
    assert result.verdict is GREEN
