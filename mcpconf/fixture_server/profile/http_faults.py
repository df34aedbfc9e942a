"""What a server, or something before it, may answer over HTTP instead of the usual."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, ClassVar

from mcpconf.fixture_server.admission import encode
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.fixture_server.profile.own_tool import OwnTool
from mcpconf.fixture_server.sse_writer import event
from mcpconf.revision import Era, Revision
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from mcpconf.fixture_server.call import Call

    Pairs = Sequence[tuple[str, str]]
    Reply = tuple[int, Pairs, bytes | None]

_HTTP = frozenset({Transport.HTTP})
_HANDSHAKE = frozenset(each for each in Revision if each.era is Era.HANDSHAKE)
_PAGE = b"<!doctype html><title>No</title><p>This is a page, and no message.\n"
_EVENT_STREAM = ("Content-Type", "text/event-stream")


class Acknowledgement(Profile):
    """Takes every notification with another answer than an empty 202 of no length."""

    transports = _HTTP
    revisions = _HANDSHAKE
    reply: ClassVar[Reply]

    def acknowledgement(self, message: Mapping[str, Any]) -> Reply | None:
        """The reply."""
        self.fault(f"{self.title}: {message['method']}")
        return self.reply


class NoContent(Acknowledgement):
    """204."""

    name, title = "ack-204", "204 for a notification"
    reply = (HTTPStatus.NO_CONTENT, (), None)


class EmptyOk(Acknowledgement):
    """200 and nothing."""

    name, title = "ack-200", "200 without a body for a notification"
    reply = (HTTPStatus.OK, (("Content-Length", "0"),), b"")


class EmptyChunked(Acknowledgement):
    """200 and no chunk."""

    name, title = "ack-200-chunked", "200 with an empty chunked body for a notification"
    reply = (HTTPStatus.OK, (("Transfer-Encoding", "chunked"),), b"")


class NoLength(Acknowledgement):
    """202 that only the end of the connection ends."""

    name, title = "ack-202-close", "202 without a length for a notification"
    reply = (HTTPStatus.ACCEPTED, (("Connection", "close"),), None)


class PushStream(Profile):
    """Gives no push stream that would last, whoever asks and how often."""

    transports = _HTTP
    revisions = _HANDSHAKE
    reply: ClassVar[Reply]

    def push_stream(self) -> Reply | None:
        """The reply to every GET."""
        self.fault(self.title)
        return self.reply


class PushRefused(PushStream):
    """405, as a server without push streams answers."""

    name, title = "push-refused", "405 for the push stream"
    reply = (HTTPStatus.METHOD_NOT_ALLOWED, (("Allow", "POST, DELETE"),), b"")


class PushClosed(PushStream):
    """A stream that ends at once."""

    name, title = "push-closed", "the push stream ends at once"
    reply = (HTTPStatus.OK, (_EVENT_STREAM,), b"retry: 200\n\n")


class SessionDropped(OwnTool):
    """Forgets the session when its tool is called; the call itself is answered."""

    name, title = "session-dropped", "the session is forgotten after this call"
    transports = _HTTP
    revisions = _HANDSHAKE

    async def serve(self, call: Call) -> dict[str, Any] | None:
        """Forget, then answer."""
        call.http.drop_session()
        return await super().serve(call)


class ContentType(OwnTool):
    """A good answer under an odd content type."""

    transports = _HTTP
    headers: ClassVar[Pairs]

    def body(self, call: Call) -> bytes:
        """The answer, as the content type has it."""
        return encode(self.response(call))

    async def serve(self, call: Call) -> None:
        """Answer with these headers."""
        await call.http.answer(HTTPStatus.OK, self.headers, self.body(call))


class Charset(ContentType):
    """JSON with a parameter."""

    name, title = "content-type-charset", "the content type has a parameter"
    headers = (("Content-Type", "application/json; charset=utf-8"),)


class StreamCharset(ContentType):
    """An event stream with a parameter."""

    name = "content-type-stream-charset"
    title = "the content type of an event stream has a parameter"
    headers = (("Content-Type", "text/event-stream;charset=UTF-8"),)

    def body(self, call: Call) -> bytes:
        """One event."""
        return event(super().body(call))


class Case(ContentType):
    """JSON in capitals."""

    name, title = "content-type-case", "the content type is in other letters"
    headers = (("Content-Type", "Application/JSON"),)


class NoContentType(ContentType):
    """JSON, and nothing says so."""

    name, title = "content-type-missing", "the answer has no content type"
    headers = ()


class Status(OwnTool):
    """A call is answered with a status and a page for people."""

    transports = _HTTP
    status: ClassVar[HTTPStatus]
    headers: ClassVar[Pairs] = ()

    async def serve(self, call: Call) -> None:
        """Answer with the page."""
        headers = [("Content-Type", "text/html"), *self.headers]
        await call.http.answer(self.status, headers, _PAGE)


class Unauthorized(Status):
    """401, from a server that has no authorization."""

    name, title = "status-401", "401 for a call, and no authorization anywhere"
    status = HTTPStatus.UNAUTHORIZED
    headers = (("WWW-Authenticate", "Bearer"),)


class Forbidden(Status):
    """403."""

    name, title = "status-403", "403 for a call"
    status = HTTPStatus.FORBIDDEN


class TooMany(Status):
    """429."""

    name, title = "status-429", "429 for a call, and a time to wait"
    status = HTTPStatus.TOO_MANY_REQUESTS
    headers = (("Retry-After", "1"),)


class ServerError(Status):
    """500."""

    name, title = "status-500", "500 for a call"
    status = HTTPStatus.INTERNAL_SERVER_ERROR


class Unavailable(Status):
    """503."""

    name, title = "status-503", "503 for a call"
    status = HTTPStatus.SERVICE_UNAVAILABLE


PROFILES: tuple[type[Profile], ...] = (
    NoContent,
    EmptyOk,
    EmptyChunked,
    NoLength,
    PushRefused,
    PushClosed,
    SessionDropped,
    Charset,
    StreamCharset,
    Case,
    NoContentType,
    Unauthorized,
    Forbidden,
    TooMany,
    ServerError,
    Unavailable,
)
