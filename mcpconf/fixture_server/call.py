"""
One request of the client being answered: what handlers and profiles work with.

The transports make calls; the protocol core and the profiles answer them. Nothing here
knows a byte of either transport but through the methods below.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.session import Session

    Json = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool of the catalogue, as ``tools/list`` shows it, and what it answers."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    #: ``async (call, arguments) -> result``, or raises `RpcError`. A handler that has
    #: answered the call itself returns None.
    handler: Any
    output_schema: Mapping[str, Any] | None = None


class RpcError(Exception):
    """A JSON-RPC error to answer with; `status` is HTTP's."""

    def __init__(
        self, code: int, message: str, data: Json = None, *, status: int = 200
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data
        self.status = status


class Call(ABC):
    """
    A request (it has an id), admitted, and the way back to who sent it.

    The first thing that is sent settles the form of an HTTP answer: a lone `result` or
    `error` is plain JSON, anything else opens an event stream. After `result`, `error`
    or `cut` the call is over; what is sent later is sent all the same where the
    transport still can, since some profiles do just that.
    """

    #: The request as received.
    message: Mapping[str, Any]
    #: What the connection agreed on; a fresh one per request at 2026-07-28.
    session: Session
    #: HTTP's exchange number; None on stdio.
    exchange: int | None

    @property
    def method(self) -> str:
        """The request's method."""
        return str(self.message["method"])

    @property
    def id(self) -> Json:
        """The request's id, exactly as it was sent."""
        return self.message["id"]

    @property
    def params(self) -> dict[str, Any]:
        """The request's params; an empty object where there were none."""
        return self.message.get("params") or {}

    @property
    def meta(self) -> dict[str, Any]:
        """``params._meta``, an empty object where there is none, or it is no object."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}

    @abstractmethod
    async def send(self, message: Json) -> None:
        """
        Send any one JSON-RPC message on this request's stream (HTTP: opens SSE).

        Used for notifications, and by profiles for answers that are not what they
        should be. Does not end the call.
        """

    @abstractmethod
    async def respond(self, message: Json, *, status: int = 200) -> None:
        """Send the response, whatever it is, and end the stream where there is one."""

    @abstractmethod
    async def raw(self, data: bytes, *, message: Json = None) -> None:
        """
        Put `data` on the stream as it is, framing included (HTTP: opens SSE).

        `message` is what it amounts to, for the log; None when it is no message.
        """

    @abstractmethod
    async def cut(self) -> None:
        """Break the stream off: HTTP closes the connection, stdio exits at once."""

    @abstractmethod
    async def finish(self) -> None:
        """HTTP: end the event stream in good order, without a response."""

    @abstractmethod
    async def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """
        A request of the server to the client, on this request's stream.

        Handshake revisions only. The client's whole response message, ``error``
        included. Waits for ever: who asks bounds it with `asyncio.timeout`.
        """

    @abstractmethod
    async def cancelled(self) -> str:
        """
        Wait until the client cancels this request; how it did.

        ``notification`` (``notifications/cancelled`` names it) or ``closed`` (HTTP:
        the client closed the stream).
        """

    @property
    def is_cancelled(self) -> bool:
        """Whether the client has cancelled this request; known at once."""
        return False

    @property
    @abstractmethod
    def http(self) -> Any:
        """
        HTTP's own levers, None on stdio.

        ``headers`` (the request's, lower-case name → list of values);
        ``await answer(status, headers, body)`` answers the exchange with exactly that
        status, header list and body, and nothing is added but framing (a body of None
        sends neither body nor ``Content-Length``); ``drop_session()`` forgets the
        session, so that later requests in its name get 404.
        """

    async def result(self, result: Mapping[str, Any]) -> None:
        """Respond with a result."""
        await self.respond({"jsonrpc": "2.0", "id": self.id, "result": dict(result)})

    async def error(self, error: RpcError) -> None:
        """Respond with an error."""
        body: dict[str, Any] = {"code": error.code, "message": error.message}
        if error.data is not None:
            body["data"] = error.data
        answer = {"jsonrpc": "2.0", "id": self.id, "error": body}
        await self.respond(answer, status=error.status)

    async def notify(self, method: str, params: Mapping[str, Any]) -> None:
        """Send a notification on this request's stream."""
        await self.send({"jsonrpc": "2.0", "method": method, "params": dict(params)})
