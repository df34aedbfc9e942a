"""Which server is under test, as the caller says it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import urlsplit, urlunsplit

from mcpconf.redaction import PLACEHOLDER

#: Where a server that is started has its endpoint, unless the caller says otherwise.
ENDPOINT = "/mcp"


class ServerSource(StrEnum):
    """Where the server comes from."""

    #: It runs already; whoever runs it stops it.
    URL = "url"
    #: It is started for the run, and stopped.
    COMMAND = "command"
    #: It is our own fixture, started likewise.
    FIXTURE = "fixture"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerChoice:
    """A URL, or a command; neither means the fixture."""

    url: str | None = None
    #: Has ``{port}`` in it, and may have ``{revision}``.
    command: str | None = None
    path: str = ENDPOINT

    @property
    def source(self) -> ServerSource:
        """Which of the three it is."""
        if self.url is not None:
            return ServerSource.URL
        return ServerSource.FIXTURE if self.command is None else ServerSource.COMMAND

    @property
    def shown_url(self) -> str | None:
        """The URL without the values of its query: any of them may be a password."""
        if self.url is None:
            return None
        parts = urlsplit(self.url)
        names = (part.partition("=") for part in parts.query.split("&") if part)
        query = "&".join(
            f"{name}{sign}{sign and PLACEHOLDER}" for name, sign, _ in names
        )
        return urlunsplit(parts._replace(query=query))

    @property
    def words(self) -> tuple[str, ...]:
        """The options that choose it again, but for what a URL's query says."""
        if self.shown_url is not None:
            return ("--url", self.shown_url)
        if self.command is None:
            return ()
        elsewhere = () if self.path == ENDPOINT else ("--path", self.path)
        return ("--server-command", self.command, *elsewhere)
