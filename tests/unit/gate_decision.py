"""A baseline of one small report held against another, and faults of both."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gate_report import (
    GATE_CATALOGUE,
    MIDDLE,
    NEW,
    OLD,
    PLAIN,
    end_as,
    fail,
    fail_check,
    make_report,
    observed,
    warn,
)

from mcpconf.baseline.entry import Baseline, Explanation, FailureClass
from mcpconf.gate import baseline_of, decide
from mcpconf.gate_record import GatePolicy, GateResult, GateVerdict

if TYPE_CHECKING:
    from collections.abc import Callable

    Report = dict[str, Any]

GREEN, REGRESSED = GateVerdict.GREEN, GateVerdict.REGRESSED
REFUSED, INCOMPLETE = GateVerdict.REFUSED, GateVerdict.INCOMPLETE
OFFICIAL = f"official-http {MIDDLE}"
SHIPS = f"official-http {OLD}"
NEWEST = f"official-http {NEW}"
OURS = f"stdio {MIDDLE}"
WHY = Explanation(
    reason="it rounds",
    failure_class=FailureClass.SUBJECT_BUG,
    link=None,
    since="2026-11-30",
)


A = f"{PLAIN}:required-a"
A_OURS = "basics:required-a"


def nothing(_: Any) -> None:
    """The good case."""


def gate(
    before: Callable[[Report], Any] = nothing,
    now: Callable[[Report], Any] = nothing,
    *,
    edit: Callable[[Baseline], Baseline] = lambda each: each,
    policy: GatePolicy | None = None,
    base: Report | None = None,
    report: Report | None = None,
) -> GateResult:
    """The answer for a baseline made of one report, and another report."""
    first, second = base or make_report(), report or make_report()
    before(first)
    now(second)
    baseline = edit(version_2(baseline_of(observed(first))))
    return decide(baseline, observed(second), policy or GatePolicy(), GATE_CATALOGUE)


def version_2(baseline: Baseline) -> Baseline:
    """The same baseline, its entries explained."""
    return replace(
        baseline,
        version=2,
        failing={
            name: replace(entry, explanation=WHY)
            for name, entry in baseline.failing.items()
        },
        unsupported=tuple(
            replace(each, explanation=WHY) for each in baseline.unsupported
        ),
    )


def refs(findings: tuple[Any, ...]) -> list[str]:
    """The findings' names, short."""
    return [each.identity.ref for each in findings]


def both(*changes: Callable[[Report], Any]) -> Callable[[Report], None]:
    """One change after another."""

    def change(report: Report) -> None:
        for each in changes:
            each(report)

    return change


def fails(report: Report) -> None:
    fail(report, OFFICIAL, PLAIN)


def warns(report: Report) -> None:
    warn(report, OFFICIAL, PLAIN)


def crash(report: Report) -> None:
    end_as(report, OFFICIAL, PLAIN, "crashed")
    fail_check(report, OFFICIAL, PLAIN, "adapter")


def blamed(report: Report) -> None:
    end_as(report, OFFICIAL, PLAIN, "timed-out", attribution="suite")
    fail_check(report, OFFICIAL, PLAIN, "adapter", attribution="suite")


def interrupted(report: Report) -> None:
    report["complete"] = False
    report["closing"]["complete"] = False


def unsupported(report: Report) -> None:
    end_as(report, OFFICIAL, PLAIN, "unsupported", attribution=None)
