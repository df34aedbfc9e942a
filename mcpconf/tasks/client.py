"""``client.*``: the clients that can be named, and which program each is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from invoke.tasks import task

from mcpconf.tasks.base import refusing, say

if TYPE_CHECKING:
    from invoke.context import Context


@task(name="list", auto_shortflags=False)
def client_list(_: Context) -> None:
    """List the clients `--client` takes."""
    from mcpconf.render.listing import clients  # noqa: PLC0415

    say(clients())


@task(
    name="show",
    help={"client": "Its name.", "binary": "Another binary of it."},
    auto_shortflags=False,
)
def client_show(_: Context, client: str = "codex", binary: str = "") -> None:
    """Obtain a client and say which program it is: version, digest, source."""
    from mcpconf.client.subject import resolve_subject  # noqa: PLC0415
    from mcpconf.storage import json_bytes  # noqa: PLC0415

    subject = refusing(
        lambda: resolve_subject(client, binary=Path(binary) if binary else None)
    )
    sys.stdout.write(json_bytes(subject.to_json()).decode())


TASKS = (client_list, client_show)
