"""One server of ours with the tasks extension, and all that our checks find in it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from unittest.mock import patch

from mcpconf.fixture_server.inprocess import serving
from mcpconf.fixture_server.options import Limits, Options
from mcpconf.revision import Revision
from mcpconf.tasks_extension.drive import run_scenario
from mcpconf.tasks_extension.observation import Observation
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.tasks_extension.rule import finding_of
from mcpconf.tasks_extension.scenarios import consistency
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from mcpconf.server.exchange import Exchange
    from mcpconf.supplemental.finding import Finding
    from mcpconf.tasks_extension.definition import TaskScenario

#: The good server; a fault implies it.
GOOD = "tasks"
#: As good: one that lets nobody poll too often, and one that never makes a task.
PATIENT, SYNCHRONOUS = "patient-tasks", "synchronous-tasks"
#: How long a second of the tools lasts: long enough to see a task at work.
_SECOND_S = 0.05
#: Tasks that are created in parallel: as many as in a run, and as few as tell.
_ALL, _FEW = 50, 8


def findings_of(profile: str) -> dict[str, Finding]:
    """
    What every check finds in a server of this profile, by ``scenario:check``.

    Where creation in parallel is not what is broken, fewer tasks will do.
    """
    parallel = SCENARIOS["tasks/consistency"].checks
    is_full = profile == GOOD or any(profile in check.broken for check in parallel)
    with (
        patch.object(consistency, "_TASKS", _ALL if is_full else _FEW),
        ThreadPoolExecutor(len(SCENARIOS)) as pool,
    ):
        runs = {
            name: pool.submit(_observed, scenario, profile)
            for name, scenario in SCENARIOS.items()
        }
        seen = {name: run.result() for name, run in runs.items()}
        return {
            f"{name}:{check.id}": finding_of(scenario, check, seen[name])
            for name, scenario in SCENARIOS.items()
            for check in scenario.checks
        }


def _observed(scenario: TaskScenario, profile: str) -> Observation:
    """One scenario on a server of its own: what one does, no other has to do with."""
    options = Options(
        revision=Revision.V2026_07_28,
        transport=Transport.HTTP,
        profiles=(profile,),
        limits=Limits(task_second_s=_SECOND_S),
    )
    exchanges: list[Exchange] = []
    with serving(options) as running:
        run_scenario(scenario, running.url, exchanges.append)
    return Observation(exchanges=tuple(exchanges))
