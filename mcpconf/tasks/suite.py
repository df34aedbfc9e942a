"""``suite.*``: the pinned conformance suite, and what it holds."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from invoke.exceptions import Exit
from invoke.tasks import task

from mcpconf.tasks.base import refusing, role_named, say

if TYPE_CHECKING:
    from invoke.context import Context

#: What every task about a catalogue says of its option.
ROLE = "Whose scenarios: client or server."


@task(
    name="install",
    auto_shortflags=False,
)
def suite_install(_: Context) -> None:
    """Put the pinned suite into the cache and say what it is."""
    from mcpconf.storage import json_bytes  # noqa: PLC0415
    from mcpconf.suite.install import install_suite  # noqa: PLC0415

    suite = refusing(install_suite)
    sys.stdout.write(json_bytes(suite.provenance.to_json()).decode())


@task(
    name="scenarios",
    help={"revision": "Only this dated revision.", "role": ROLE},
    auto_shortflags=False,
)
def suite_scenarios(_: Context, revision: str = "", role: str = "client") -> None:
    """List the scenarios of every revision, scored or not."""
    from mcpconf.render.listing import scenarios  # noqa: PLC0415
    from mcpconf.suite.catalogue import load_catalogue  # noqa: PLC0415

    say(
        refusing(
            lambda: scenarios(load_catalogue(role=role_named(role)), revision),
        )
    )


@task(
    name="drift",
    help={
        "old": "A catalogue file (default: the committed one).",
        "new": "A catalogue file (default: survey the installed suite now).",
        "conformance-cli": "Survey this build of the suite as the new one.",
        "role": ROLE,
    },
    auto_shortflags=False,
)
def suite_drift(
    _: Context,
    old: str = "",
    new: str = "",
    conformance_cli: str = "",
    role: str = "client",
) -> None:
    """Show what a suite adds, removes or renames: exit 1 if anything; takes minutes."""
    from mcpconf.survey import generate  # noqa: PLC0415

    differences = refusing(
        lambda: generate.drift(
            Path(old) if old else None,
            Path(new) if new else None,
            role=role_named(role),
            cli=Path(conformance_cli) if conformance_cli else None,
        )
    )
    say("\n".join([*map(str, differences), f"{len(differences)} differences"]))
    if differences:
        raise Exit(code=1)


TASKS = (suite_install, suite_scenarios, suite_drift)
