"""One stored case of the extension, judged: the same way at once and ever after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.errors import DecodeError
from mcpconf.tasks_extension import evidence
from mcpconf.tasks_extension.judge import judge, unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from mcpconf.record import Policy, ScenarioResult
    from mcpconf.tasks_extension.plan import TasksCase


def judged(run_dir: Path, case: TasksCase, policy: Policy) -> ScenarioResult | None:
    """
    The result of a case by what is stored of it; None when it was never launched.

    Evidence that is not what is written here is a fault of the harness and no verdict
    on anybody.
    """
    try:
        stored = evidence.read(run_dir, case.key)
        return judge(case, stored, policy) if stored is not None else None
    except DecodeError as error:
        place = f"{error.where}: " if error.where else ""
        return unreadable(case, f"evidence: {place}{error.problem}")
