"""``tasks-extension.*``: our own scenarios of a server's tasks (SEP-2663)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from invoke.tasks import task

from mcpconf.tasks.base import say

if TYPE_CHECKING:
    from invoke.context import Context


@task(name="list", auto_shortflags=False)
def tasks_extension_list(_: Context) -> None:
    """List our own scenarios of a server's tasks."""
    from mcpconf.render.listing import task_scenarios  # noqa: PLC0415

    say(task_scenarios())


TASKS = (tasks_extension_list,)
