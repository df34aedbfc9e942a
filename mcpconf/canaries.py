"""
Programs that do next to nothing, run against everything: the harness's own alarm.

The first three clients never send a byte that means anything, and the servers never
answer one, so not one scenario may pass for them, in any revision, scored or not. The
other two clients show what little is enough to pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpconf import run
from mcpconf.plan import select_cases
from mcpconf.record import CaseKey, Outcome, Role
from mcpconf.report_assembly import LABELS
from mcpconf.revision import Revision
from mcpconf.server.canaries import judged_canary
from mcpconf.server.local import CANARIES as SERVERS
from mcpconf.setup import RunOptions, resolve
from mcpconf.suite.catalogue import load_catalogue
from mcpconf.suite.install import install_suite
from mcpconf.tasks_extension.plan import key_of, select_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcpconf.plan import PlannedCase
    from mcpconf.pool import Progress
    from mcpconf.record import ScenarioResult
    from mcpconf.tasks_extension.plan import TasksCase

#: Must pass nothing at all.
SILENT = ("null", "crash", "hang")
CANARIES = (*SILENT, "initialize-only", "list-only")
#: An alarm that did not listen has not been silent.
_UNMEASURED = frozenset({Outcome.NOT_RUN.value, Outcome.HARNESS_ERROR.value})
#: `hang` uses all of it in every case.
_TIMEOUT_S, _HANGING = 3.0, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryResult:
    """What one canary got in one leg."""

    canary: str
    leg: str
    passed: tuple[str, ...]
    cases: int
    #: Scenarios of which there is no evidence: not run, or the harness broke.
    unmeasured: tuple[str, ...]
    #: What the suite itself credits such a client, where it was measured.
    floor: int | None

    @property
    def problem(self) -> str | None:
        """Why the harness cannot be trusted, if so."""
        if self.canary in (*SILENT, *SERVERS) and self.passed:
            return f"{self.canary} passed {', '.join(self.passed)}"
        if not self.cases:
            return f"{self.canary} ran nothing in {self.leg}"
        if self.unmeasured:
            names = ", ".join(self.unmeasured)
            return f"{self.canary} was not measured in {self.leg}: {names}"
        return None


def run_canaries(
    output_dir: Path, progress_for: Callable[[int], Progress]
) -> tuple[CanaryResult, ...]:
    """
    Run every canary through every revision.

    :raises McpconfError: as `mcpconf.setup.resolve` and `mcpconf.run.perform`.
    """
    results = []
    for canary in CANARIES:
        options = RunOptions(client=canary, timeout_s=20.0, output_dir=output_dir)
        if canary == "hang":  # it waits and does nothing, so many can
            jobs = options.jobs * _HANGING
            options = replace(options, timeout_s=_TIMEOUT_S, jobs=jobs)
        setup = resolve(options)
        report = run.perform(setup, progress_for(len(setup.launched))).value
        stopped = not report["complete"]
        for case in report["cases"]:
            is_official = case["transport"] == "official-http"
            floor = report["floor"][case["mode"]].get(canary) if is_official else None
            results.append(
                CanaryResult(
                    canary=canary,
                    leg=f"{case['transport']} {case['mode']}",
                    passed=tuple(
                        each["scenario"]
                        for each in case["scenarios"]
                        if each["outcome"] == Outcome.PASSED.value
                    ),
                    cases=len(case["scenarios"]),
                    unmeasured=tuple(
                        each["scenario"]
                        for each in case["scenarios"]
                        if each["outcome"] in _UNMEASURED
                    ),
                    floor=floor and floor["scenarios"],
                )
            )
        if stopped:  # by the user, who did not mean this canary alone
            break
    return tuple(results)


def run_server_canaries(
    progress_for: Callable[[int], Progress],
) -> tuple[CanaryResult, ...]:
    """
    Run every silent server through every revision, and through our own scenarios.

    :raises McpconfError: no suite, a server of ours that does not come up, evidence
        that cannot be kept.
    """
    suite, catalogue = install_suite(), load_catalogue(role=Role.SERVER)
    cases: tuple[PlannedCase | TasksCase, ...] = (
        *select_cases(catalogue, tuple(Revision)),
        *select_tasks(),
    )
    results = []
    for canary in SERVERS:
        progress = progress_for(len(cases))
        for case in cases:
            progress.started(case)
        judged = judged_canary(
            suite, canary, cases, jobs=RunOptions().jobs, finished=progress.finished
        )
        for revision in Revision:
            floor = catalogue.floors[revision][canary].scenarios
            key = CaseKey(revision=revision, scenario="")
            results.append(_server_result(canary, key, judged, floor))
        results.append(_server_result(canary, key_of(""), judged, None))
    return tuple(results)


def _server_result(
    canary: str, leg: CaseKey, judged: Sequence[ScenarioResult], floor: int | None
) -> CanaryResult:
    """What was judged in the leg of a key, whatever scenario that names."""
    found = [each for each in judged if replace(each.key, scenario=leg.scenario) == leg]
    label = LABELS[leg.source, leg.transport]
    return CanaryResult(
        canary=canary,
        leg=f"server {label} {leg.revision.value}",
        passed=_named(found, frozenset({Outcome.PASSED.value})),
        cases=len(found),
        unmeasured=_named(found, _UNMEASURED),
        floor=floor,
    )


def _named(
    results: Sequence[ScenarioResult], outcomes: frozenset[str]
) -> tuple[str, ...]:
    return tuple(
        each.key.scenario for each in results if each.outcome.value in outcomes
    )
