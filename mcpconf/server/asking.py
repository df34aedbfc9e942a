"""
Ask who answers at a URL, by real requests, before anything is tested.

A stateless server is asked ``server/discover``, any other is greeted with
``initialize``. If one way is refused the other is tried: which revisions a server
speaks is for others to judge, and they can say so only if it is known.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcpconf import __version__
from mcpconf.revision import Era, Revision
from mcpconf.server.exchange import Exchange, Form, How
from mcpconf.server.http import Client, HttpLimits
from mcpconf.server.identity import IdentityError, ServerIdentity, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.decode import Json

#: An answer that tells an identity is far smaller.
_LIMITS = HttpLimits(body_bytes=1024 * 1024, events=100)
#: Of a server's lists, this much is kept.
_NAMES = 50

_META = "io.modelcontextprotocol/"
_CLIENT: dict[str, Json] = {"name": "mcpconf", "version": __version__}
#: Offered to a server that refuses to be stateless.
_LAST_HANDSHAKE = Revision.V2025_11_25


def ask(url: str, revision: Revision, timeout_s: float) -> ServerIdentity:
    """
    The work of `identify`, which says what holds.

    :raises IdentityError: as there.
    """
    asked = _Asked(url, revision, timeout_s)
    with asked.client:
        ways = [asked.discover, asked.greet]
        if revision.era is Era.HANDSHAKE:
            ways.reverse()
        return _first(asked, ways)


def _first(
    asked: _Asked, ways: list[Callable[[], ServerIdentity | None]]
) -> ServerIdentity:
    for way in ways:
        found = way()
        if found is not None:
            return found
    # Neither way is open, but a refusal may still name what would be.
    revisions = tuple(dict.fromkeys(asked.supported))
    if revisions:
        return _identity({}, {}, revisions)
    refusals = " and ".join(asked.refusals)
    raise IdentityError(
        f"{asked.client.url} is no MCP server that can be tested: {refusals}; give the "
        "URL of its MCP endpoint"
    )


class _Asked:
    """One server being asked, and what it has refused."""

    def __init__(self, url: str, revision: Revision, timeout_s: float) -> None:
        self._until = time.monotonic() + timeout_s
        self._revision = revision
        self.client = Client(url, record=lambda _: None, limits=_LIMITS)
        #: One clause for each request that was refused.
        self.refusals: list[str] = []
        #: Revisions that a refusal named.
        self.supported: list[str] = []

    def discover(self) -> ServerIdentity | None:
        """The identity of a stateless server; None: this way is refused."""
        version = Revision.V2026_07_28.value
        meta: dict[str, Json] = {
            f"{_META}protocolVersion": version,
            f"{_META}clientInfo": _CLIENT,
            f"{_META}clientCapabilities": {},
        }
        headers = {"MCP-Protocol-Version": version, "Mcp-Method": "server/discover"}
        result, _ = self._ask("server/discover", {"_meta": meta}, headers)
        if result is None:
            return None
        own = _object(_object(result.get("_meta")).get(f"{_META}serverInfo"))
        # Before the revision was final it stood in the result itself.
        info = own or _object(result.get("serverInfo"))
        return _identity(info, result, _strings(result.get("supportedVersions")))

    def greet(self) -> ServerIdentity | None:
        """The identity of a server that opens with a handshake; None: refused."""
        is_handshake = self._revision.era is Era.HANDSHAKE
        offered = self._revision if is_handshake else _LAST_HANDSHAKE
        params: dict[str, Json] = {
            "protocolVersion": offered.value,
            "capabilities": {},
            "clientInfo": _CLIENT,
        }
        result, exchange = self._ask("initialize", params, {})
        if result is None:
            return None
        revisions = _strings([result.get("protocolVersion")])
        self._leave(exchange.headers.get("mcp-session-id"), revisions)
        supported = tuple(dict.fromkeys((*self.supported, *revisions)))
        return _identity(_object(result.get("serverInfo")), result, supported)

    def _leave(self, session: str | None, revisions: tuple[str, ...]) -> None:
        """End the handshake and the session, as a client should; answers are moot."""
        headers = {}
        if revisions:
            headers["MCP-Protocol-Version"] = revisions[0]
        if session is not None:
            headers["Mcp-Session-Id"] = session
        message: Json = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        try:
            self._post("notifications/initialized", message, headers)
            if session is not None:
                self._post("end", b"", headers, method="DELETE")
        except ValueError:
            return  # what it gave as a session's name cannot be sent back

    def _ask(
        self, method: str, params: Json, headers: Mapping[str, str]
    ) -> tuple[Mapping[str, Json] | None, Exchange]:
        """
        The result of one request; None: it was refused, and why is noted.

        :raises IdentityError: the answer leaves no hope for another request.
        """
        message: dict[str, Json] = {"jsonrpc": "2.0", "id": method, "method": method}
        exchange = self._post(method, {**message, "params": params}, headers)
        if exchange.result is None:
            self._refused(method, exchange)
        return exchange.result, exchange

    def _post(
        self,
        label: str,
        message: Json | bytes,
        headers: Mapping[str, str],
        *,
        method: str = "POST",
    ) -> Exchange:
        left = max(0.05, self._until - time.monotonic())
        return self.client.post(
            label, message, headers=headers, timeout_s=left, method=method
        )

    def _refused(self, method: str, exchange: Exchange) -> None:
        error = exchange.error
        if error is None:
            _check_hope(self.client.url, exchange)
            self.refusals.append(f"{method} brings {_what(exchange)}")
            return
        data = _object(error.get("data"))
        self.supported += _strings(data.get("supported"))
        text = shortened(str(error.get("message", "")))
        code = shortened(str(error.get("code")))
        self.refusals.append(f"{method} is refused with error {code} ({text})")


def _check_hope(url: str, exchange: Exchange) -> None:
    """
    Look at an answer that is no JSON-RPC response.

    :raises IdentityError: another request would fare no better.
    """
    if exchange.how is not How.COMPLETE:
        is_early = exchange.how in (How.REFUSED, How.CUT, How.TIMED_OUT)
        raise IdentityError(_failure(url, exchange), is_early=is_early)
    status = exchange.status
    if status in _NOT_READY:
        raise IdentityError(f"{url} is not ready: HTTP {status}", is_early=True)
    if status in _REFUSALS:
        place = urlsplit(url).path
        problem = _REFUSALS[status].format(place=place)
        raise IdentityError(f"{url} {problem} (HTTP {status})")


#: A gateway whose server has not started, or the server itself.
_NOT_READY = frozenset({502, 503, 504})
_REFUSALS = {
    401: "asks for authorization; for the test, start it without",
    403: "refuses who asks; for the test, start it without authorization",
    404: "serves nothing at {place}; give the path of its MCP endpoint",
    405: "takes no POST at {place}; give the path of its MCP endpoint",
}

#: What OpenSSL calls an answer that is no TLS, from version to version.
_NOT_TLS = ("WRONG_VERSION", "HTTP_REQUEST", "RECORD_LAYER", "PACKET_LENGTH")


def _failure(url: str, exchange: Exchange) -> str:
    """Why there was no whole answer, and what to change."""
    said = exchange.problem or ""
    sentence = f"{url} is no MCP server: {said}"
    match exchange.how:
        case How.REFUSED:
            sentence = f"no server at {url}: {said}"
        case How.CUT | How.TIMED_OUT:
            sentence = f"{url} gives no whole answer: {said}"
        case How.TLS if any(word in said.upper() for word in _NOT_TLS):
            sentence = f"{url} does not speak TLS; say http:// instead of https://"
        case How.TLS:
            sentence = (
                f"{url}: {said}; its certificate must be valid for that host, or test "
                "the server over http:// on this machine"
            )
        case How.REDIRECTED:
            sentence = f"{url}: {said}; give the URL that it leads to"
        case How.MALFORMED if exchange.status is None:
            sentence = f"{url} speaks no HTTP: {said}; if it speaks TLS, say https://"
    return sentence


def _what(exchange: Exchange) -> str:
    """An answer without a response, in a clause."""
    kind = {
        Form.JSON: "JSON that is no response to it",
        Form.SSE: "a stream without a response to it",
        Form.EMPTY: "no content",
    }.get(exchange.form, "what is no JSON")
    return f"HTTP {exchange.status} with {kind}"


def _identity(
    info: Mapping[str, Json], result: Mapping[str, Json], revisions: tuple[str, ...]
) -> ServerIdentity:
    extensions = _object(_object(result.get("capabilities")).get("extensions"))
    return ServerIdentity(
        name=_text(info.get("name")),
        version=_text(info.get("version")),
        title=_text(info.get("title")),
        revisions=revisions,
        extensions=tuple(sorted(map(shortened, extensions))[:_NAMES]),
    )


def _object(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, dict) else {}


def _strings(value: Json) -> tuple[str, ...]:
    items = value if isinstance(value, list) else []
    return tuple(shortened(each) for each in items[:_NAMES] if isinstance(each, str))


def _text(value: Json) -> str | None:
    return shortened(value) if isinstance(value, str) else None
