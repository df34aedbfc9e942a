"""
The very server under test: reached, asked who it is, and remembered by what it says.

That happens before the first scenario, so that a server which is not there, or is none,
costs one sentence and no run. Whoever answers later must be the same one.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.client.manifest import SERVER
from mcpconf.client.subject import program_of
from mcpconf.redaction import redact_text
from mcpconf.server.choice import ServerChoice, ServerSource
from mcpconf.server.host import started
from mcpconf.server.identity import check_url, identify
from mcpconf.storage import sha256_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.decode import Json
    from mcpconf.revision import Revision
    from mcpconf.server.identity import ServerIdentity

#: Our own server, with everything that the scenarios ask for.
FIXTURE_COMMAND = shlex.join(
    (
        *(sys.executable, "-m", "mcpconf.fixture_server", "--everything"),
        *("--transport", "http", "--revision", "{revision}", "--port", "{port}"),
    )
)
_NAMELESS = "unnamed"
_VERSIONLESS = "version unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSubject:
    """A server ready to be tested."""

    choice: ServerChoice
    #: What it said of itself at the newest selected revision.
    identity: ServerIdentity
    #: Of the program; None for one that runs already, and for the fixture, whose
    #: version is mcpconf's.
    sha256: str | None

    @property
    def command(self) -> str | None:
        """What starts it; None for a server that runs already."""
        if self.choice.source is ServerSource.FIXTURE:
            return FIXTURE_COMMAND
        return self.choice.command

    def to_json(self) -> Json:
        """The record as reports hold it, cleared of secrets."""
        seen, choice = self.identity, self.choice
        name = seen.name or _NAMELESS
        where = choice.shown_url or choice.command or "mcpconf's fixture server"
        return {
            "name": redact_text(name),
            "title": redact_text(seen.title or name),
            "driver": SERVER.driver,
            "binary": redact_text(where),
            "sha256": self.sha256,
            "version": redact_text(seen.version or _VERSIONLESS),
            "source": choice.source.value,
            "features": {},
            "server": seen.to_json(),
        }


def resolve_server(
    choice: ServerChoice, revisions: Sequence[Revision]
) -> ServerSubject:
    """
    The server the caller names, after one real conversation with it.

    A command is started for that, and stopped again.

    :raises UsageError: there is no such server, or what answers is none.
    """
    newest = max(revisions)
    if choice.url is not None:
        url = check_url(choice.url)
        found = identify(url, revision=newest)
        named = ServerChoice(url=url)
        return ServerSubject(choice=named, identity=found, sha256=None)
    command = FIXTURE_COMMAND if choice.command is None else choice.command
    digest = None if choice.command is None else _digest(choice.command)
    with (
        tempfile.TemporaryDirectory(prefix="mcpconf-server-") as name,
        started(
            command,
            revision=newest,
            directory=Path(name),
            environment=dict(os.environ),
            path=choice.path,
        ) as running,
    ):
        found = running.identity
    return ServerSubject(choice=choice, identity=found, sha256=digest)


def _digest(command: str) -> str | None:
    """Of the program a command starts; None where `started` will refuse the command."""
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    found = shutil.which(words[0]) if words else None
    if found is None:
        return None
    program = program_of(words, found)
    return sha256_of(program) if program.is_file() else None
