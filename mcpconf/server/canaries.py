"""Servers that do nothing sensible, under the suite's scenarios, and what is judged."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.record import Policy
from mcpconf.server import local
from mcpconf.server.case import ServerLaunch, launch_case
from mcpconf.server.evidence import read_case
from mcpconf.server.judge import judge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpconf.plan import PlannedCase
    from mcpconf.record import ScenarioResult
    from mcpconf.suite.install import Suite

#: The one that never answers uses all of it in every case, and waits meanwhile.
_TIMEOUT_S, _WAITING = 3.0, 4


def judged_canary(
    suite: Suite,
    name: str,
    cases: Sequence[PlannedCase],
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
        launch = ServerLaunch(
            suite=suite,
            url=url,
            run_dir=Path(directory),
            parent=Path(directory),
            keep_artifacts=False,
            timeout_s=_TIMEOUT_S,
            environment=dict(os.environ),
        )

        def one(case: PlannedCase) -> ScenarioResult:
            launch_case(launch, case, lambda _: None)
            result = judge(case, read_case(launch.run_dir, case.key), Policy())
            finished(result)
            return result

        return tuple(executor.map(one, cases))
