"""
Clients that do next to nothing, run against everything: the harness's own alarm.

The first three never send a byte that means anything, so not one scenario may pass for
them, in any revision, scored or not. The other two show what little is enough to pass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mcpconf import run
from mcpconf.record import Outcome
from mcpconf.setup import RunOptions, resolve

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpconf.pool import Progress

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
        if self.canary in SILENT and self.passed:
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
