"""
All that the scenarios of the official suite ask of a server, beside the plain server.

A profile like the others, but no fault and in no list of them: ``--everything`` turns
it on. Without, nothing of it is imported, and nothing of the plain server changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.fixture_server.everything.completion import Completion
from mcpconf.fixture_server.everything.content import content_tools
from mcpconf.fixture_server.everything.prompts import Prompts
from mcpconf.fixture_server.everything.reconnection import Reconnection
from mcpconf.fixture_server.everything.resources import WATCHED, Resources
from mcpconf.fixture_server.everything.telling import changing_tools, telling_tools
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.fixture_server.results import URIS, invalid
from mcpconf.fixture_server.sse_writer import EVENT_STREAM
from mcpconf.revision import Era, Revision

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from mcpconf.fixture_server.call import Call, Tool
    from mcpconf.fixture_server.log import Log
    from mcpconf.fixture_server.options import Options
    from mcpconf.fixture_server.server import Server
    from mcpconf.fixture_server.session import Session

    Method = Callable[[Call], Awaitable[dict[str, Any]]]


class Everything(Profile):
    """Adds tools, resources, prompts and completions."""

    name: ClassVar[str] = "everything"
    title: ClassVar[str] = "has what the official suite asks for"

    @staticmethod
    def implied_at(revision: Revision) -> tuple[str, ...]:
        """Profiles that are turned on as well: extensions that the suite has."""
        return ("tasks",) if revision.era is Era.STATELESS else ()

    def __init__(self, options: Options, log: Log) -> None:
        super().__init__(options, log)
        self._reconnection = Reconnection()

    def join(self, server: Server) -> None:
        """Meet the server, whose resources and prompts are shown with these."""
        self._server = server
        self._resources = Resources(server)
        self._prompts = Prompts(server)

    def tools(self) -> Sequence[Tool]:
        """The tools of the revision."""
        tools = [
            *content_tools(),
            *telling_tools(),
            *changing_tools(self._server, self._prompts),
        ]
        revision = self.options.revision
        # Each era has modules that the other has no use for.
        if revision.era is Era.STATELESS:
            from mcpconf.fixture_server.everything import (  # noqa: PLC0415
                input_required,
            )

            return (*tools, *input_required.input_required_tools())
        from mcpconf.fixture_server.everything import asking  # noqa: PLC0415

        tools += asking.asking_tools(revision)
        if revision is Revision.V2025_11_25:
            tools.append(self._reconnection.tool())
        return tools

    def own_methods(self) -> Mapping[str, Method]:
        """The lists and what is in them; the plain server's own included."""
        methods: dict[str, Method] = {
            "resources/list": self._resources.listed,
            "resources/templates/list": self._resources.templates,
            "resources/read": self._resources.read,
            "prompts/list": self._prompts.listed,
            "prompts/get": self._prompts.get,
            "completion/complete": Completion(self._prompts).complete,
        }
        if self.options.revision.era is Era.HANDSHAKE:
            methods["resources/subscribe"] = _subscribe
            methods["resources/unsubscribe"] = _unsubscribe
        return methods

    def capabilities(self, capabilities: dict[str, Any]) -> None:
        """Declare completions."""
        capabilities["completions"] = {}

    def subscribe(
        self,
        call: Call,  # noqa: ARG002 (a hook)
        asked: Mapping[str, Any],
        honoured: dict[str, Any],
    ) -> None:
        """Let the watched resource be heard of."""
        uris = asked.get("resourceSubscriptions")
        if isinstance(uris, list) and WATCHED in uris:
            known = honoured.get("resourceSubscriptions", [])
            honoured["resourceSubscriptions"] = [*known, WATCHED]

    def opens_stream(self, call: Call) -> bool:
        """Answer in the form that the client names first."""
        if call.http is None:
            return False
        accepted = ",".join(call.http.headers.get("accept", ()))
        first = accepted.partition(",")[0].partition(";")[0]
        return first.strip().lower() == EVENT_STREAM

    def owed(self, session: Session, event_id: str) -> Mapping[str, Any] | None:
        """The answer of the tool that ends its stream early."""
        return self._reconnection.owed(session, event_id)


async def _subscribe(call: Call) -> dict[str, Any]:
    call.session.watched.add(_uri(call))
    return {}


async def _unsubscribe(call: Call) -> dict[str, Any]:
    call.session.watched.discard(_uri(call))
    return {}


def _uri(call: Call) -> str:
    uri = call.params.get("uri")
    if uri not in (WATCHED, *URIS):
        raise invalid("unknown resource")
    return str(uri)
