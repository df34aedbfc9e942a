"""Faults in what a task says in words, and in what it is called."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.profile.tasks_fault import TaskFault, shown
from mcpconf.fixture_server.task import Status

if TYPE_CHECKING:
    from mcpconf.fixture_server.profile.base import Profile
    from mcpconf.fixture_server.task_conduct import Conduct

_FEW_BYTES = 4


def _number(task: dict[str, Any]) -> None:
    if task["status"] == Status.WORKING:
        task["statusMessage"] = 1


class IdsShort(TaskFault):
    """A task's id has room for much entropy (suite policy)."""

    name = "tasks-ids-short"
    title = "the ids are random, and have 8 characters"

    def arm(self, conduct: Conduct) -> None:
        """Be brief."""
        conduct.new_id = self._short

    def _short(self) -> str:
        self.fault(self.title)
        return secrets.token_hex(_FEW_BYTES)


PROFILES: tuple[type[Profile], ...] = (
    shown(
        None,
        "tasks-status-message-number",
        "the statusMessage of a working task is a number",
        _number,
    ),
    IdsShort,
)
