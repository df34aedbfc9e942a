"""The fixture server with everything, without a transport."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fixture_call import STATELESS, Fixture

from mcpconf.fixture_server.log import Log
from mcpconf.fixture_server.options import Options
from mcpconf.fixture_server.server import Server
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.revision import Revision


def everything_at(revision: Revision, **more: Any) -> Options:
    """What such a server is told."""
    return Options(revision=revision, transport=Transport.HTTP, everything=True, **more)


class Everything(Fixture):
    """A server with everything, and one client of it."""

    def __init__(
        self,
        revision: Revision = STATELESS,
        capabilities: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(revision, capabilities)
        self.server = Server(everything_at(revision, **more), Log())
