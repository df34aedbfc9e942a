"""
One fixture server program: what is asked of it, by whatever transport, it answers.

The transports own bytes, connections and sessions; the profiles own the faults. What is
left is here and in the modules of the two eras, `handshake` and `stateless`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server import admission, handshake, stateless
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.catalogue import Catalogue
from mcpconf.fixture_server.profile import PROFILES, with_implied
from mcpconf.fixture_server.subscriptions import Subscriptions
from mcpconf.fixture_server.waiting import CancelledByClientError
from mcpconf.revision import Era

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.admission import Admitted
    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.log import Log
    from mcpconf.fixture_server.options import Options
    from mcpconf.fixture_server.profile.base import Profile
    from mcpconf.fixture_server.session import Session

    Json = Any


class Server:
    """The server behind a transport."""

    def __init__(self, options: Options, log: Log) -> None:
        """
        Set up the catalogue and the profiles.

        :raises KeyError: there is no such profile.
        """
        self.options: Options = options
        self.log = log
        self.era = options.revision.era
        self.profiles: tuple[Profile, ...] = _profiles(options, log)
        #: Handshake revisions: the transports add their sessions and take them out.
        self.sessions: set[Session] = set()
        self.subscriptions = Subscriptions()
        for profile in self.profiles:
            profile.join(self)
        #: Methods of the profiles, by name.
        self.methods = {
            name: method
            for profile in self.profiles
            for name, method in profile.own_methods().items()
        }
        self.catalogue: Catalogue = Catalogue(self)
        self._answer = (
            stateless.answer if self.era is Era.STATELESS else handshake.answer
        )

    def admit(self, value: Json) -> Admitted:
        """
        Say what kind of message `value` is.

        :raises RpcError: -32600 or -32602, `status` 400; `admission.refusal` gives the
            message that answers it.
        """
        return admission.admit(value, self.era)

    async def handle(self, call: Call) -> None:
        """Answer one admitted request; a client's fault becomes an error response."""
        try:
            for profile in self.profiles:
                if await profile.intercept(call):
                    return
            result = await self._answer(self, call)
        except RpcError as error:
            await call.error(error)
        except CancelledByClientError:
            await call.finish()
        else:
            if result is not None:
                await self._respond(call, result)

    async def _respond(self, call: Call, result: dict[str, Any]) -> None:
        for profile in self.profiles:
            if await profile.answer(call, result):
                return
        await call.result(result)

    async def notified(self, session: Session, message: Mapping[str, Any]) -> None:
        """
        Take a notification of the client.

        ``notifications/cancelled`` is the transport's affair: it knows the requests.
        """
        if message["method"] == "notifications/initialized" and session.initialize_seen:
            session.initialized = True
        for profile in self.profiles:
            await profile.notified(message)

    async def announce(self, method: str, params: Mapping[str, Any]) -> int:
        """
        Tell everybody who may be told, and say how many were.

        Handshake revisions: every initialized session with a way for it (of
        ``resources/updated``: that subscribed to the URI). At 2026-07-28: every listen
        subscription that asked for it, tagged with its id.
        """
        if self.era is Era.STATELESS:
            return await self.subscriptions.announce(method, params)
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params:
            message["params"] = dict(params)
        told = 0
        for session in tuple(self.sessions):
            if _may_be_told(session, method, params) and session.push is not None:
                told += await session.push(message)
        return told


def _profiles(options: Options, log: Log) -> tuple[Profile, ...]:
    names, first = options.profiles, []
    if options.everything:
        # A stdio server starts often, and never has this.
        from mcpconf.fixture_server.everything import Everything  # noqa: PLC0415

        names = (*Everything.implied_at(options.revision), *names)
        first = [Everything(options, log)]
    named = (PROFILES[name](options, log) for name in with_implied(names, PROFILES))
    return (*first, *named)


def _may_be_told(session: Session, method: str, params: Mapping[str, Any]) -> bool:
    if method == "notifications/resources/updated":
        return params.get("uri") in session.watched
    return session.initialized
