"""Servers that do nothing sensible, under the suite's scenarios and ours, judged."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.judging import judged, not_run
from mcpconf.plan import PlannedCase
from mcpconf.record import Policy, Role
from mcpconf.server import case as of_the_suite
from mcpconf.server import local
from mcpconf.tasks_extension import launch as of_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpconf.record import ScenarioResult
    from mcpconf.suite.install import Suite
    from mcpconf.tasks_extension.plan import TasksCase

#: The one that never answers uses all of it in every case, and waits meanwhile.
_TIMEOUT_S, _WAITING = 3.0, 4


def judged_canary(
    suite: Suite,
    name: str,
    cases: Sequence[PlannedCase | TasksCase],
    *,
    jobs: int,
    finished: Callable[[ScenarioResult], None],
) -> tuple[ScenarioResult, ...]:
    """
    What the cases are for one of `mcpconf.server.local.CANARIES`, in their order.

    :raises McpconfError: the server does not come up, a case cannot be launched or its
        evidence cannot be kept.
    """
    with (
        local.canary(name) as url,
        tempfile.TemporaryDirectory(prefix="mcpconf-canary-") as directory,
        ThreadPoolExecutor(jobs * _WAITING if name == "null" else jobs) as executor,
    ):
        place = Path(directory)

        def one(case: PlannedCase | TasksCase) -> ScenarioResult:
            _launch(suite, url, place, case)
            result = judged(Role.SERVER, place, case, Policy())
            result = result or not_run(Role.SERVER, case, Policy())
            finished(result)
            return result

        return tuple(executor.map(one, cases))


def _launch(
    suite: Suite, url: str, directory: Path, case: PlannedCase | TasksCase
) -> None:
    if isinstance(case, PlannedCase):
        official = of_the_suite.ServerLaunch(
            suite=suite,
            url=url,
            run_dir=directory,
            parent=directory,
            keep_artifacts=False,
            timeout_s=_TIMEOUT_S,
            environment=dict(os.environ),
        )
        of_the_suite.launch_case(official, case, lambda _: None)
        return
    ours = of_tasks.TasksLaunch(
        url=url,
        run_dir=directory,
        parent=directory,
        keep_artifacts=False,
        timeout_s=_TIMEOUT_S,
        environment=dict(os.environ),
    )
    of_tasks.launch_case(ours, case, lambda _: None)
