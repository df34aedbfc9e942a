"""A call without a transport, and a server to give it to."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeAlias

from mcp_types import methods

from mcpconf.fixture_server.call import Call
from mcpconf.fixture_server.log import Log
from mcpconf.fixture_server.options import Limits, Options
from mcpconf.fixture_server.server import Server
from mcpconf.fixture_server.session import Session
from mcpconf.revision import Era, Revision
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping

Json: TypeAlias = Any
OLD, HANDSHAKE, STATELESS = tuple(Revision)
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}


class FakeCall(Call):
    """Keeps what is sent; `answer` is the client's to whatever it is asked."""

    exchange = None
    http = None

    def __init__(self, message: dict[str, Any], session: Session) -> None:
        self.message = message
        self.session = session
        self.sent: list[dict[str, Any]] = []
        self.statuses: list[int] = []
        self.asked: list[tuple[str, Mapping[str, Any]]] = []
        self.answer: dict[str, Any] | None = {"result": {}}
        self.gone = asyncio.Event()
        self.heard = asyncio.Event()
        self.is_finished = False

    async def send(self, message: Json) -> None:
        self.sent.append(message)
        self.heard.set()

    async def respond(self, message: Json, *, status: int = 200) -> None:
        self.statuses.append(status)
        await self.send(message)

    async def raw(self, data: bytes, *, message: Json = None) -> None:
        raise NotImplementedError

    async def cut(self) -> None:
        raise NotImplementedError

    async def finish(self) -> None:
        self.is_finished = True

    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append((method, params))
        self.heard.set()
        if self.answer is None:
            await asyncio.Event().wait()
        return {"jsonrpc": "2.0", "id": "server-1", **(self.answer or {})}

    async def cancelled(self) -> str:
        await self.gone.wait()
        return "notification"


class Fixture:
    """A server and one client of it, past the handshake where there is one."""

    def __init__(
        self,
        revision: Revision = STATELESS,
        capabilities: Mapping[str, Any] | None = None,
        profiles: tuple[str, ...] = (),
        **limits: Json,
    ) -> None:
        options = Options(
            revision=revision,
            transport=Transport.STDIO,
            profiles=profiles,
            limits=Limits(**limits),
        )
        self.server = Server(options, Log())
        self.revision = revision
        self.session = Session()
        self.session.initialize_seen = self.session.initialized = True
        self.session.client_capabilities = capabilities or {}
        self._ids = 0

    def call(self, method: str, params: Json = None, **meta: Json) -> FakeCall:
        """A call that is not handled yet."""
        self._ids += 1
        given = dict(params or {})
        if self.revision.era is Era.STATELESS:
            given = {"_meta": {**META, **meta}, **given}
            session = Session()
        else:
            given |= {"_meta": meta} if meta else {}
            session = self.session
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method}
        return FakeCall({**message, "params": given}, session)

    async def answered(
        self, method: str, params: Json = None, **meta: Json
    ) -> FakeCall:
        """A call that was answered, as the revision's schema has it."""
        call = self.call(method, params, **meta)
        await self.server.handle(call)
        for message in call.sent:
            if "result" in message:
                methods.validate_server_result(
                    method, self.revision.value, message["result"]
                )
            elif "method" in message:
                methods.parse_server_notification(
                    message["method"], self.revision.value, message["params"]
                )
        return call

    def ask(self, method: str, params: Json = None, **meta: Json) -> dict[str, Any]:
        """The response, result or error."""
        call = asyncio.run(self.answered(method, params, **meta))
        response: dict[str, Any] = call.sent[-1]
        assert response["id"] == call.id
        return response

    def tool(self, name: str, arguments: Json = None, **more: Json) -> dict[str, Any]:
        """The response to a tool call; `more` goes beside the arguments."""
        params = {"name": name, "arguments": arguments or {}, **more}
        return self.ask("tools/call", params)

    def refused(
        self, method: str, params: Json = None, **meta: Json
    ) -> tuple[int, int]:
        """The error's code and HTTP's status."""
        call = asyncio.run(self.answered(method, params, **meta))
        return call.sent[-1]["error"]["code"], call.statuses[-1]

    def listed(self, method: str, key: str) -> list[list[dict[str, Any]]]:
        """All pages of a list."""
        pages: list[list[dict[str, Any]]] = []
        cursor: dict[str, Any] = {}
        while True:
            result = self.ask(method, cursor)["result"]
            pages.append(result[key])
            if "nextCursor" not in result:
                return pages
            cursor = {"cursor": result["nextCursor"]}
