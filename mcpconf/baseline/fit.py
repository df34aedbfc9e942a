"""
Whether a report can become a baseline, and an older baseline its forerunner.

Each function yields reasons against it, in one line each, with what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.baseline.decode_v1 import SCOPE, SHIPPING
from mcpconf.baseline.entry import CheckState
from mcpconf.identity import HTTP, OFFICIAL_HTTP, STDIO
from mcpconf.record import Attribution, Outcome, WarningPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpconf.baseline.entry import Baseline
    from mcpconf.observed import ObservedRun, ObservedScenario

#: Names that a refusal gives before it counts.
_NAMED = 5
#: Outcomes that say nothing of the client.
_HOLES = (Outcome.HARNESS_ERROR, Outcome.SUITE_DEFECT, Outcome.NOT_RUN)
_NEVER = (*_HOLES, Outcome.CRASHED, Outcome.TIMED_OUT, Outcome.FLAKY)
#: Outcomes that a baseline may expect, where they are the client's doing.
_FAILURES = (Outcome.FAILED, Outcome.UNOBSERVED)
_WHAT_TO_DO = {
    Outcome.CRASHED: "a crash is never expected; mend it",
    Outcome.TIMED_OUT: "a time-out is never expected; mend it, or allow more time",
    Outcome.FLAKY: "a flaky check is neither passing nor failing; run again",
    Outcome.HARNESS_ERROR: "nothing is known of the client; run again",
    Outcome.SUITE_DEFECT: "nothing is known of the client; run again",
    Outcome.NOT_RUN: "nothing is known of the client; run again",
}


def clipped(names: Sequence[str]) -> list[str]:
    """The first few names, and how many more there are."""
    more = [f"and {len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return [*names[:_NAMED], *more]


def unfit(run: ObservedRun) -> Iterator[str]:
    """Why nothing can be made of a report."""
    if not run.is_complete:
        yield "the run did not end; run again"
    if run.faults:
        faults = ", ".join(clipped(run.faults))
        yield f"the run did not close well ({faults}); run again"
    if not run.version_checked:
        yield "the client's version was not found out; see its binary"
    if not run.modern_feature:
        yield "the client's feature for 2026-07-28 was off; run with it"
    if run.selected:
        names = ", ".join(clipped(run.selected))
        yield f"only some scenarios were run ({names}); run all"
    if run.shard is not None:
        index, of = run.shard
        yield f"it is shard {index}/{of}; merge the shards: `invoke report.merge`"
    if not run.cases or not run.checks:
        yield "nothing was run; run again"
    yield from _untold(run)
    yield from _bad_outcomes(run)
    blamed = [
        f"{each.leg} / {each.scenario} by the {each.attribution}"
        for each in run.cases
        if each.counts
        and each.outcome in _FAILURES
        and each.attribution != Attribution.SUBJECT
    ]
    if blamed:
        names = ", ".join(clipped(sorted(blamed)))
        yield f"failed, and not for the client's doing: {names}; run again"


def _untold(run: ObservedRun) -> Iterator[str]:
    """Legs of which nothing was judged: a baseline of them would hold nothing."""
    told = {
        each.identity.leg
        for each in run.checks.values()
        if each.worst is not CheckState.SKIP
    }
    for leg in sorted({each.leg for each in run.cases} - told):
        ours = leg.transport != OFFICIAL_HTTP
        others = "official" if ours else "supplemental"
        yield (
            f"nothing of {leg} was judged: the client does none of its scenarios; run"
            f" what it does, with --only {others}, --transport or --revision"
        )


def _bad_outcomes(run: ObservedRun) -> Iterator[str]:
    """What ended in a way that no baseline expects, by outcome."""
    for outcome in _NEVER:
        scenarios = [
            f"{each.leg} / {each.scenario}"
            for each in run.cases
            if each.outcome == outcome and each.counts
        ]
        told = set(scenarios)
        checks = [
            str(each.identity)
            for each in run.checks.values()
            if (each.outcome == outcome or (each.is_flaky and outcome is Outcome.FLAKY))
            and each.worst is not CheckState.SKIP
            and f"{each.identity.leg} / {each.identity.scenario}" not in told
        ]
        names = clipped(sorted(scenarios) + sorted(checks))
        if names:
            yield f"{outcome.value}: {', '.join(names)} ({_WHAT_TO_DO[outcome]})"


def mismatched(run: ObservedRun, version: int, older: Baseline | None) -> Iterator[str]:
    """Why an older baseline is not this one's: its reasons would be about others."""
    if older is None:
        return
    elsewhere = "write to another file"
    if older.version > version:
        yield f"version {version} would lose the older file's reasons; {elsewhere}"
    if older.scope.role is not run.scope.role:
        yield f"the older file is of a {older.scope.role}; {elsewhere}"
    if older.client is not None and older.client != run.client:
        yield f"the older file is of {older.client}, not {run.client}; {elsewhere}"
    if older.strict_auth is not run.strict_auth:
        modes = {True: "strict", False: "assisted"}
        yield (
            f"the older file is of {modes[older.strict_auth]} authorization, not"
            f" {modes[run.strict_auth]}; {elsewhere}"
        )
    if older.version > 1 and older.warnings.default.value != run.warnings:
        yield (
            f"the older file's policy for warnings is {older.warnings.default.value},"
            f" the run's {run.warnings}; run with --warnings, or {elsewhere}"
        )
    if older.version > 1 and older.revision_policy != run.revision_policy:
        yield (
            f"the older file counts revisions by {older.revision_policy}, the report by"
            f" {run.revision_policy}; run with the other, or {elsewhere}"
        )
    less = _lost(older, run, version)
    if less:
        yield (
            f"the run covers less than the older file ({less}); run that too, or"
            f" {elsewhere}"
        )


def _lost(older: Baseline, run: ObservedRun, version: int) -> str:
    """What of an older baseline's scope a run does not cover."""
    mine = SCOPE if version == 1 else run.scope
    return ", ".join(
        [
            *(each for each in older.scope.revisions if each not in mine.revisions),
            *(each for each in older.scope.labels if each not in mine.labels),
            *(
                ["authorization"]
                if older.scope.authentication and not mine.authentication
                else []
            ),
        ]
    )


def unfit_for_version_1(
    run: ObservedRun, shipping: Sequence[str] | None
) -> Iterator[str]:
    """Why a report fits no version 1 baseline, which has less to say."""
    scope = run.scope
    if scope.role is not SCOPE.role:
        yield "version 1 knows clients alone; use version 2"
    is_whole = (
        scope.revisions == SCOPE.revisions
        and {STDIO, HTTP} <= {*scope.transports}
        and {"official", "supplemental"} <= {*scope.sources}
        and scope.authentication
    )
    if not is_whole:
        yield (
            "version 1 is of whole runs: every revision, both transports, the suite's"
            " scenarios and ours, with authorization; run all, or use version 2"
        )
    if run.warnings != WarningPolicy.FAIL:
        yield "version 1 forgives no warning; run with --warnings fail"
    if shipping is not None and tuple(shipping) != SHIPPING:
        yield f"version 1 ships {', '.join(SHIPPING)}; use version 2 for others"
    unseen = [
        f"{each.leg} / {each.scenario}"
        for each in run.cases
        if each.outcome == Outcome.UNOBSERVED and each.counts
    ]
    if unseen:
        names = ", ".join(clipped(unseen))
        yield f"version 1 cannot say that {names} is unobserved; use version 2"
    unsupported = [
        f"{each.leg} / {each.scenario}" for each in unsupported_scenarios(run)
    ]
    if unsupported:
        names = ", ".join(clipped(unsupported))
        yield f"version 1 cannot say that {names} is unsupported; use version 2"


def unsupported_scenarios(run: ObservedRun) -> list[ObservedScenario]:
    """Scored scenarios of the suite that the client does not do."""
    return [
        each
        for each in run.cases
        if each.leg.transport == OFFICIAL_HTTP
        and each.is_scored
        and each.outcome == Outcome.UNSUPPORTED
    ]
