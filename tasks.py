"""
Invoke tasks of this checkout: the package's, and four that write into it.

``inv --list`` shows them; ``inv --help <task>`` explains one.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from invoke.tasks import task

from mcpconf.tasks import collection
from mcpconf.tasks.base import refusing, role_named, say
from mcpconf.tasks.suite import ROLE

if TYPE_CHECKING:
    from invoke.context import Context


#: What each fault of the fixture server's tasks must fail.
FAULTS = "fixtures/servers/tasks-faults.json"


@task(
    name="catalogue",
    help={
        "out": "Where to write it (default: into the package).",
        "conformance-cli": "Survey this build of the suite instead of the pinned one.",
        "jobs": "Cases at a time.",
        "role": ROLE,
    },
    auto_shortflags=False,
)
def suite_catalogue(
    _: Context,
    out: str = "",
    conformance_cli: str = "",
    jobs: int = 2,
    role: str = "client",
) -> None:
    """Generate the catalogue by running every scenario; takes minutes."""
    from mcpconf.survey import generate  # noqa: PLC0415

    path = refusing(
        lambda: generate.write_catalogue(
            Path(out) if out else None,
            role=role_named(role),
            cli=Path(conformance_cli) if conformance_cli else None,
            jobs=jobs,
        )
    )
    say(f"Catalogue: {path}")


@task(
    name="document",
    help={"out": "Where to write it."},
    auto_shortflags=False,
)
def supplemental_document(_: Context, out: str = "docs/supplemental.md") -> None:
    """Write the table of our checks: page, profile, and the client that fails it."""
    from mcpconf.render.supplemental import document  # noqa: PLC0415
    from mcpconf.storage import write_whole  # noqa: PLC0415

    refusing(lambda: write_whole(Path(out), document().encode()))
    say(f"Document: {out}")


@task(
    name="document",
    help={"out": "Where to write it."},
    auto_shortflags=False,
)
def tasks_extension_document(_: Context, out: str = "docs/tasks-extension.md") -> None:
    """Write the table of what SEP-2663 asks, our checks, and what fails them."""
    from mcpconf.storage import write_json, write_whole  # noqa: PLC0415
    from mcpconf.tasks_extension.traceability import (  # noqa: PLC0415
        faults_value,
        render,
    )

    refusing(lambda: write_whole(Path(out), render().encode()))
    refusing(lambda: write_json(Path(FAULTS), faults_value()))
    say(f"Document: {out}; faults: {FAULTS}")


@task(
    name="kills",
    help={
        "out": "Where to write it (default: into the package).",
        "jobs": "At a time.",
    },
    auto_shortflags=False,
)
def tasks_extension_kills(_: Context, out: str = "", jobs: int = 2) -> None:
    """Run the official scenarios against every fault of ours; takes minutes."""
    from mcpconf.survey.generate import DATA, tell  # noqa: PLC0415
    from mcpconf.survey.kills import write_kills  # noqa: PLC0415
    from mcpconf.tasks_extension.traceability import KILLS  # noqa: PLC0415

    path = Path(out) if out else DATA / KILLS
    seen = refusing(lambda: write_kills(path, jobs=jobs, tell=tell))
    say(f"Kills: {path}: {seen} faults are seen")


namespace = collection()
namespace.collections["suite"].add_task(suite_catalogue)
namespace.collections["supplemental"].add_task(supplemental_document)
namespace.collections["tasks-extension"].add_task(tasks_extension_document)
namespace.collections["tasks-extension"].add_task(tasks_extension_kills)
