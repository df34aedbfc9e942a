"""
The host's part of an OAuth login: the browser, without a browser.

One GET of the authorization URL, redirects never followed, proxies never used; then
the callback on the client's own loopback listener. Everything a careless client could
get wrong is checked before the callback is delivered, so that a login that succeeds
here would also be a safe one (RFC 6749 sections 4.1.1 and 4.1.2, RFC 8252 section 7.3,
RFC 9207 for ``iss``).
"""

from __future__ import annotations

import ipaddress
import socket
import time
from collections import namedtuple
from urllib.parse import SplitResult, parse_qsl, urljoin, urlsplit

#: Marks our own traffic on the wire: it is never evidence of a living client.
USER_AGENT = "mcpconf-browser"

#: An answer's head beyond this is not one.
_MAX_HEAD = 1 << 16
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HTTP_OK, _HTTP_SERVER_ERROR = 200, 500


class UnsafeLogin(Exception):  # noqa: N818 (a finding about the client's login)
    """The authorization URL or the redirect breaks a rule a host must enforce."""


class Callback(namedtuple("Callback", ("url", "is_error"))):  # noqa: PYI024 (see job)
    """A redirect that may be delivered to the client."""

    __slots__ = ()


def _is_loopback(host: str | None) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host or "").is_loopback
    except ValueError:
        return False


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise UnsafeLogin(f"an address cannot be read: {error}") from None


def redirect_uri_of(authorization_url: str) -> tuple[str, str]:
    """
    The one ``redirect_uri`` and the one ``state`` of an authorization URL.

    :raises UnsafeLogin: either is missing, empty or repeated, or the redirect target
        is not plain HTTP on an explicit loopback port without credentials, query or
        fragment; also for an address that is none.
    """
    parameters = parse_qsl(_split(authorization_url).query, keep_blank_values=True)
    found: dict[str, str] = {}
    for name in ("redirect_uri", "state"):
        values = [value for key, value in parameters if key == name]
        if len(values) != 1 or not values[0]:
            raise UnsafeLogin(f"the authorization URL has {len(values)} {name}")
        found[name] = values[0]
    target = _split(found["redirect_uri"])
    if target.scheme != "http" or not _is_loopback(target.hostname):
        raise UnsafeLogin("redirect_uri is not plain HTTP on a loopback host")
    if _port(target.netloc) is None:
        raise UnsafeLogin("redirect_uri has no explicit port")
    if "@" in target.netloc or "?" in found["redirect_uri"]:
        raise UnsafeLogin("redirect_uri carries credentials or a query")
    if "#" in found["redirect_uri"]:
        raise UnsafeLogin("redirect_uri carries a fragment")
    return found["redirect_uri"], found["state"]


def _port(netloc: str) -> int | None:
    try:
        return urlsplit(f"//{netloc}").port
    except ValueError:
        return None


def check_callback(redirect_uri: str, state: str, location: str) -> Callback:
    """
    The callback a redirect points at, when it is exactly the client's own.

    :raises UnsafeLogin: another scheme, host, port or path, credentials, a fragment,
        another or repeated ``state``, a repeated or empty ``code``, ``error`` or
        ``iss``, or not exactly one of ``code`` and ``error``.
    """
    expected, actual = _split(redirect_uri), _split(location)
    if (expected.scheme, expected.netloc, expected.path) != (
        actual.scheme,
        actual.netloc,
        actual.path,
    ):
        raise UnsafeLogin("the redirect does not point at the client's redirect_uri")
    if actual.fragment or "#" in location:
        raise UnsafeLogin("the redirect carries a fragment")
    parameters = parse_qsl(actual.query, keep_blank_values=True)
    states = [value for key, value in parameters if key == "state"]
    if states != [state]:
        raise UnsafeLogin("the redirect does not return the one state it was given")
    present = []
    for name in ("code", "error", "iss"):
        values = [value for key, value in parameters if key == name]
        if len(values) > 1 or "" in values:
            raise UnsafeLogin(f"the redirect has an empty or repeated {name}")
        if values:
            present.append(name)
    if ("code" in present) == ("error" in present):
        raise UnsafeLogin("the redirect has not exactly one of code and error")
    return Callback(location, is_error="error" in present)


def _get(url: str, timeout_s: float) -> tuple[int, str | None]:
    """Status and ``Location`` of one direct GET; no proxy, no redirect."""
    parts = _split(url)
    if parts.scheme != "http" or not _is_loopback(parts.hostname):
        raise UnsafeLogin("only plain HTTP on loopback is visited")
    try:
        port = parts.port or 80
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = (
            f"GET {path} HTTP/1.1",
            f"Host: {parts.netloc}",
            f"User-Agent: {USER_AGENT}",
            "Accept: */*",
            "Connection: close",
        )
        # urlsplit drops line breaks, so no line can be smuggled in.
        request = "".join(f"{line}\r\n" for line in (*lines, "")).encode("ascii")
        head = _exchange((parts.hostname or "", port), request, timeout_s)
        status = int(head[0].split(" ")[1])
    except (OSError, ValueError, IndexError) as error:
        # ValueError: what cannot be read as an address, or sent as one.
        raise UnsafeLogin(f"GET {parts.path} failed: {error}") from None
    for line in head[1:]:
        name, _, value = line.partition(":")
        if name.strip().lower() == "location":
            return status, value.strip()
    return status, None


def _exchange(address: tuple[str, int], request: bytes, timeout_s: float) -> list[str]:
    """
    The head of the answer, line by line; the body is nobody's business.

    Thirty milliseconds of every login would go into importing ``http.client``, which is
    a fifth of what a drive may cost.

    :raises OSError: no connection, or no whole head within `timeout_s`.
    """
    deadline = time.monotonic() + timeout_s
    with socket.create_connection(address, timeout_s) as connection:
        connection.sendall(request)
        received = b""
        while b"\r\n\r\n" not in received:
            connection.settimeout(max(0.001, deadline - time.monotonic()))
            chunk = connection.recv(1 << 16)
            if not chunk or len(received) > _MAX_HEAD:
                raise OSError("no HTTP answer")
            received += chunk
    head = received.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
    if not head[0].startswith("HTTP/1."):
        raise OSError("no HTTP answer")
    return head


def authorize(authorization_url: str, timeout_s: float) -> Callback:
    """
    Visit the authorization URL and return the callback, checked, not yet delivered.

    :raises UnsafeLogin: see `redirect_uri_of` and `check_callback`; also when the
        endpoint does not redirect.
    """
    redirect_uri, state = redirect_uri_of(authorization_url)
    status, location = _get(authorization_url, timeout_s)
    if status not in _REDIRECTS or not location:
        raise UnsafeLogin(f"the authorization endpoint answered {status}, no redirect")
    _split(location)  # refused by name before `urljoin` stumbles over it
    return check_callback(redirect_uri, state, urljoin(authorization_url, location))


def deliver(callback: Callback, timeout_s: float) -> int:
    """
    Fetch the callback on the client's listener; its status, 200 to 499.

    :raises UnsafeLogin: the listener failed.
    """
    status, _ = _get(callback.url, timeout_s)
    if not _HTTP_OK <= status < _HTTP_SERVER_ERROR:
        raise UnsafeLogin(f"the client's callback listener answered {status}")
    return status
