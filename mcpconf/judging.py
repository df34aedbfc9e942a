"""One stored case, judged by the rules of its kind: the suite's or ours, by role."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf import evidence, judge
from mcpconf.plan import PlannedCase
from mcpconf.record import Role
from mcpconf.server import evidence as server_evidence
from mcpconf.server import judge as server_judge
from mcpconf.supplemental import judge as supplemental_judge
from mcpconf.supplemental import verdict as supplemental
from mcpconf.supplemental.plan import SupplementalCase
from mcpconf.tasks_extension import judge as tasks_judge
from mcpconf.tasks_extension import verdict as tasks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpconf.ours import Case
    from mcpconf.record import Policy, ScenarioResult


def judged(
    role: Role,
    run_dir: Path,
    case: Case,
    policy: Policy,
    *,
    saw_ports: Callable[[frozenset[int]], None] = lambda _: None,
) -> ScenarioResult | None:
    """
    The result of a case by what is stored of it; None when it was never launched.

    `saw_ports` is told the ports of the servers that the suite had for a client.

    :raises DecodeError: a file of the suite's evidence is missing or malformed.
    """
    if isinstance(case, SupplementalCase):
        return supplemental.judged(run_dir, case, policy)
    if not isinstance(case, PlannedCase):
        return tasks.judged(run_dir, case, policy)
    if role is Role.SERVER:
        left = server_evidence.read_case(run_dir, case.key)
        return server_judge.judge(case, left, policy) if left else None
    stored = evidence.read_case(run_dir, case.key)
    if stored is None:
        return None
    saw_ports(stored.wire.ports)
    return judge.judge(case, stored, policy)


def not_run(
    role: Role, case: Case, policy: Policy, unsupported: str | None = None
) -> ScenarioResult:
    """The result of a case that was not launched, for the reason given or for none."""
    if isinstance(case, SupplementalCase):
        return supplemental_judge.judge(case, None, policy)
    if not isinstance(case, PlannedCase):
        return tasks_judge.judge(case, None, policy)
    if role is Role.SERVER:
        return server_judge.judge(case, None, policy)
    return judge.judge(case, None, policy, unsupported=unsupported)
