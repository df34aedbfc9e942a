"""``supplemental.*``: our own scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from invoke.tasks import task

from mcpconf.tasks.base import say

if TYPE_CHECKING:
    from invoke.context import Context


@task(name="list", auto_shortflags=False)
def supplemental_list(_: Context) -> None:
    """List our own scenarios."""
    from mcpconf.render.supplemental import scenarios  # noqa: PLC0415

    say(scenarios())


TASKS = (supplemental_list,)
