"""
The servers of one run: as many as there are workers, each lent to one case at a time.

A server that runs already is one, and its cases follow one another: what a case sees
is then its own doing. Of one that is started there may be several, each on a port of
its own; one that dies is replaced, so that a crash costs the case in which it
happened and no other.
"""

from __future__ import annotations

import tempfile
import threading
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.errors import McpconfError
from mcpconf.redaction import redact_text
from mcpconf.server.host import RunningServer, started
from mcpconf.server.identity import identify

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Self

    from mcpconf.revision import Revision
    from mcpconf.server.subject import ServerSubject


class OtherServerError(McpconfError):
    """Who answers is not the server that was asked at the beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lent:
    """A server, for one case."""

    url: str
    #: None: it was running already.
    running: RunningServer | None


@dataclass(slots=True)
class _Idle:
    """Servers that wait for a case, by revision."""

    servers: dict[Revision | None, list[RunningServer]] = field(default_factory=dict)

    def take(self, revision: Revision | None) -> RunningServer | None:
        waiting = self.servers.get(revision, [])
        return waiting.pop() if waiting else None

    def put(self, revision: Revision | None, server: RunningServer) -> None:
        self.servers.setdefault(revision, []).append(server)


class Hosts:
    """Lends servers; as a context manager it leaves none of those it started."""

    def __init__(
        self, subject: ServerSubject, private: Path, environment: Mapping[str, str]
    ) -> None:
        """Nothing is started yet; `private` is where servers' output goes."""
        self._subject = subject
        self._private = private
        self._environment = environment
        self._idle = _Idle()
        self._lock = threading.Lock()
        self._one = threading.Lock()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @contextmanager
    def lend(self, revision: Revision) -> Iterator[Lent]:
        """
        A server for one case at a revision.

        :raises OtherServerError: another server answers.
        :raises UsageError: it cannot be started any more.
        """
        command = self._subject.command
        if command is None:
            with self._one:
                yield Lent(url=self._subject.choice.url or "", running=None)
            return
        # A command that does not say the revision starts one server for all of them.
        shared = revision if "{revision}" in command else None
        server = self._taken(shared) or self._started(command, revision)
        # What it said in another case may tell a secret that only that case knows.
        server.turn_page()
        try:
            yield Lent(url=server.url, running=server)
        finally:
            if server.ended() is None:
                with self._lock:
                    self._idle.put(shared, server)

    def check(self, revision: Revision) -> None:
        """
        Ask a server that runs by itself once more who it is.

        :raises OtherServerError: another server answers, or none.
        """
        url = self._subject.choice.url
        if url is None:
            return
        try:
            found = identify(url, revision=revision)
        except McpconfError as error:
            raise OtherServerError(f"at the end of the run: {error}") from None
        self._same(found.name, found.version)

    def _taken(self, shared: Revision | None) -> RunningServer | None:
        with self._lock:
            while (server := self._idle.take(shared)) is not None:
                if server.ended() is None:
                    return server
        return None

    def _started(self, command: str, revision: Revision) -> RunningServer:
        place = tempfile.TemporaryDirectory(prefix="server-", dir=self._private)
        block = started(
            command,
            revision=revision,
            directory=Path(self._stack.enter_context(place)),
            environment=self._environment,
            path=self._subject.choice.path,
        )
        server = self._stack.enter_context(block)
        self._same(server.identity.name, server.identity.version)
        return server

    def _same(self, name: str | None, version: str | None) -> None:
        first = self._subject.identity
        if (name, version) != (first.name, first.version):
            problem = (
                f"another server answers: {name} {version}, and at the beginning it "
                f"was {first.name} {first.version}; stop the one that is not meant"
            )
            raise OtherServerError(redact_text(problem))
