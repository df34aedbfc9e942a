"""
A fault profile: one small departure from a good server, at one place.

A profile overrides the hook of that place and leaves the rest alone, so that profiles
can be combined: ``--profile sse-crlf --profile big-integers``. Whatever it does to the
client it says in the log (`fault`): a check passes only where the provocation is on
record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.revision import Revision
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from mcpconf.fixture_server.call import Call, Tool
    from mcpconf.fixture_server.log import Log
    from mcpconf.fixture_server.options import Options
    from mcpconf.fixture_server.server import Server
    from mcpconf.fixture_server.session import Session


class Profile:
    """The good server: every hook does nothing."""

    name: ClassVar[str]
    #: One line for ``--help`` and the documents: what the server does.
    title: ClassVar[str]
    transports: ClassVar[frozenset[Transport]] = frozenset(Transport)
    revisions: ClassVar[frozenset[Revision]] = frozenset(Revision)

    #: Profiles that this one is about; they are served before it.
    implies: ClassVar[tuple[str, ...]] = ()

    #: HTTP: whether requests are refused for their headers.
    checks_headers: ClassVar[bool] = True

    def __init__(self, options: Options, log: Log) -> None:
        self.options = options
        self.limits = options.limits
        self.log = log

    def fault(self, detail: str, call: Call | None = None) -> None:
        """Put on record that the fault was served."""
        self.log.fault(self.name, detail, call.exchange if call else None)

    def join(self, server: Server) -> None:
        """Meet the server and its other profiles, before there is a catalogue."""

    def tools(self) -> Sequence[Tool]:
        """Tools to add to the catalogue."""
        return ()

    def own_methods(self) -> Mapping[str, Callable[[Call], Awaitable[dict[str, Any]]]]:
        """Methods to add or replace, with what gives their bare result."""
        return {}

    def subscribe(
        self,
        call: Call,
        asked: Mapping[str, Any],
        honoured: dict[str, Any],
    ) -> None:
        """
        2026-07-28: add to `honoured` what else a subscription may hear of.

        :raises RpcError: it may not be had.
        """

    def capabilities(self, capabilities: dict[str, Any]) -> None:
        """Change what the server declares, in place."""

    async def intercept(self, call: Call) -> bool:  # noqa: ARG002 (a hook)
        """
        See an admitted request before its handler does.

        True: this profile has answered, or will not answer; nobody else does.
        """
        return False

    async def answer(self, call: Call, result: dict[str, Any]) -> bool:  # noqa: ARG002 (a hook)
        """
        See the result of a request before it is sent; it may be changed in place.

        True: this profile has answered, or will not answer; nobody else does.
        """
        return False

    def page(
        self,
        method: str,  # noqa: ARG002 (a hook, as those below)
        cursor: str | None,  # noqa: ARG002
        items: Sequence[Mapping[str, Any]],  # noqa: ARG002
    ) -> tuple[Sequence[Mapping[str, Any]], str | None] | None:
        """One page of a list and its ``nextCursor``; None: paged as usual."""
        return None

    async def notified(self, message: Mapping[str, Any]) -> None:
        """A notification of the client was accepted."""

    def acknowledgement(
        self,
        message: Mapping[str, Any],  # noqa: ARG002 (a hook)
    ) -> tuple[int, Sequence[tuple[str, str]], bytes | None] | None:
        """HTTP: answer a notification with this status, headers, body; None: 202."""
        return None

    def push_stream(self) -> tuple[int, Sequence[tuple[str, str]], bytes | None] | None:
        """HTTP: answer a GET so; None: with the session's push stream."""
        return None

    def owed(
        self,
        session: Session,  # noqa: ARG002 (a hook)
        event_id: str,  # noqa: ARG002
    ) -> Mapping[str, Any] | None:
        """HTTP: the message that came after an event of a stream that ended early."""
        return None

    def opens_stream(self, call: Call) -> bool:  # noqa: ARG002 (a hook)
        """HTTP: this request must be answered on a stream even where JSON would do."""
        return False

    def frame(self, call: Call, text: str) -> Iterable[bytes] | None:  # noqa: ARG002
        """
        SSE bytes for one message, in the pieces in which they are written and flushed.

        None: as usual, one ``data`` line.
        """
        return None

    # The life of a stdio server.

    async def before_start(self) -> None:
        """Before the first line is read; may write to stdout itself, sleep, or exit."""

    def line(self, data: bytes) -> bytes | None:  # noqa: ARG002 (a hook)
        """What is written for the line `data`, newline included; None: as it is."""
        return None

    async def at_end_of_input(self) -> None:
        """The client closed the server's input; a stubborn server waits here."""

    @property
    def ignores_sigterm(self) -> bool:
        """Whether SIGTERM is logged and otherwise ignored."""
        return False
