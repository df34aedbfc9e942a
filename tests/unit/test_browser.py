"""The host's part of a login: the good case first, then every rule broken alone."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from mcpconf.client import browser
from mcpconf.client.browser import Callback, UnsafeLogin

if TYPE_CHECKING:
    from collections.abc import Iterator

REDIRECT = "http://127.0.0.1:4711/callback"
TIMEOUT_S = 10.0


def authorization(
    *parameters: tuple[str, str], base: str = "http://127.0.0.1:1"
) -> str:
    given = parameters or (("redirect_uri", REDIRECT), ("state", "s1"))
    return f"{base}/authorize?{urlencode(given)}"


@pytest.mark.parametrize(
    "redirect_uri",
    [
        REDIRECT,
        "http://localhost:4711/callback",
        "http://[::1]:4711/callback",
        "http://127.8.9.10:4711/",
        "http://127.0.0.1:4711",
        "http://127.0.0.1:4711/a;b/%2F",
    ],
)
def test_an_authorization_url_gives_its_redirect_uri_and_state(
    redirect_uri: str,
) -> None:
    url = authorization(
        ("response_type", "code"), ("redirect_uri", redirect_uri), ("state", "s 1&")
    )

    assert browser.redirect_uri_of(url) == (redirect_uri, "s 1&")


@pytest.mark.parametrize(
    ("parameters", "problem"),
    [
        pytest.param([("state", "s")], "0 redirect_uri", id="no redirect_uri"),
        pytest.param(
            [("redirect_uri", ""), ("state", "s")], "redirect_uri", id="empty one"
        ),
        pytest.param(
            [("redirect_uri", REDIRECT), ("redirect_uri", REDIRECT), ("state", "s")],
            "2 redirect_uri",
            id="two redirect_uri",
        ),
        pytest.param([("redirect_uri", REDIRECT)], "0 state", id="no state"),
        pytest.param(
            [("redirect_uri", REDIRECT), ("state", "")], "state", id="empty state"
        ),
        pytest.param(
            [("redirect_uri", REDIRECT), ("state", "s"), ("state", "t")],
            "2 state",
            id="two states",
        ),
        pytest.param(
            [("redirect_uri", REDIRECT), ("state", "s"), ("state", "")],
            "2 state",
            id="a second, empty state",
        ),
    ],
)
def test_an_authorization_url_has_exactly_one_redirect_uri_and_state(
    parameters: list[tuple[str, str]], problem: str
) -> None:
    with pytest.raises(UnsafeLogin, match=problem):
        browser.redirect_uri_of(authorization(*parameters))


@pytest.mark.parametrize(
    ("redirect_uri", "problem"),
    [
        ("https://127.0.0.1:4711/callback", "plain HTTP on a loopback"),
        ("mcpconf://127.0.0.1:4711/callback", "plain HTTP on a loopback"),
        ("//127.0.0.1:4711/callback", "plain HTTP on a loopback"),
        ("http://example.test:4711/callback", "plain HTTP on a loopback"),
        ("http://127.0.0.1.example.test:4711/", "plain HTTP on a loopback"),
        ("http://localhost.example.test:4711/", "plain HTTP on a loopback"),
        ("http://0.0.0.0:4711/callback", "plain HTTP on a loopback"),
        ("http://192.168.0.1:4711/callback", "plain HTTP on a loopback"),
        ("http://2130706433:4711/callback", "plain HTTP on a loopback"),
        ("http://:4711/callback", "plain HTTP on a loopback"),
        ("http://127.0.0.1@example.test:4711/", "plain HTTP on a loopback"),
        ("http://127.0.0.1/callback", "explicit port"),
        ("http://127.0.0.1:/callback", "explicit port"),
        ("http://127.0.0.1:http/callback", "explicit port"),
        ("http://127.0.0.1:99999/callback", "explicit port"),
        ("http://user@127.0.0.1:4711/callback", "credentials"),
        ("http://user:pass@127.0.0.1:4711/callback", "credentials"),
        ("http://@127.0.0.1:4711/callback", "credentials"),
        ("http://127.0.0.1:4711/callback?next=1", "a query"),
        ("http://127.0.0.1:4711/callback?", "a query"),
        ("http://127.0.0.1:4711/callback#part", "fragment"),
        ("http://127.0.0.1:4711/callback#", "fragment"),
        ("http://[::1:4711/callback", "cannot be read"),
    ],
)
def test_a_redirect_uri_must_be_a_plain_loopback_address(
    redirect_uri: str, problem: str
) -> None:
    url = authorization(("redirect_uri", redirect_uri), ("state", "s"))

    with pytest.raises(UnsafeLogin, match=problem):
        browser.redirect_uri_of(url)


@pytest.mark.parametrize(
    ("parameters", "is_error"),
    [
        ([("code", "c"), ("state", "s1")], False),
        ([("code", "c"), ("state", "s1"), ("iss", "http://as")], False),
        ([("error", "access_denied"), ("state", "s1")], True),
        ([("error", "e"), ("error_description", ""), ("state", "s1")], True),
    ],
)
def test_the_clients_own_callback_may_be_delivered(
    parameters: list[tuple[str, str]],
    is_error: bool,
) -> None:
    location = f"{REDIRECT}?{urlencode(parameters)}"

    callback = browser.check_callback(REDIRECT, "s1", location)

    assert callback == Callback(location, is_error)


GOOD_QUERY = "code=c&state=s1"


@pytest.mark.parametrize(
    ("location", "problem"),
    [
        (f"https://127.0.0.1:4711/callback?{GOOD_QUERY}", "does not point"),
        (f"http://localhost:4711/callback?{GOOD_QUERY}", "does not point"),
        (f"http://127.0.0.2:4711/callback?{GOOD_QUERY}", "does not point"),
        (f"http://127.0.0.1:4712/callback?{GOOD_QUERY}", "does not point"),
        (f"http://127.0.0.1/callback?{GOOD_QUERY}", "does not point"),
        (f"http://127.0.0.1:4711/callback/?{GOOD_QUERY}", "does not point"),
        (f"http://127.0.0.1:4711/Callback?{GOOD_QUERY}", "does not point"),
        (f"http://127.0.0.1:4711/callback/../x?{GOOD_QUERY}", "does not point"),
        (f"http://u:p@127.0.0.1:4711/callback?{GOOD_QUERY}", "does not point"),
        (f"http://127.0.0.1:4711@example.test/callback?{GOOD_QUERY}", "does not"),
        (f"http://[::1/callback?{GOOD_QUERY}", "cannot be read"),
        (f"{REDIRECT}?{GOOD_QUERY}#", "fragment"),
        (f"{REDIRECT}?{GOOD_QUERY}#code=d", "fragment"),
        (f"{REDIRECT}?code=c", "state"),
        (f"{REDIRECT}?code=c&state=", "state"),
        (f"{REDIRECT}?code=c&state=S1", "state"),
        (f"{REDIRECT}?code=c&state=s1&state=s1", "state"),
        (f"{REDIRECT}?code=c&state=s1&state=", "state"),
        (f"{REDIRECT}?state=s1", "exactly one of code and error"),
        (f"{REDIRECT}?code=c&error=e&state=s1", "exactly one of code and error"),
        (f"{REDIRECT}?code=&state=s1", "empty or repeated code"),
        (f"{REDIRECT}?code=c&code=c&state=s1", "empty or repeated code"),
        (f"{REDIRECT}?error=&state=s1", "empty or repeated error"),
        (f"{REDIRECT}?error=e&error=f&state=s1", "empty or repeated error"),
        (f"{REDIRECT}?{GOOD_QUERY}&iss=", "empty or repeated iss"),
        (f"{REDIRECT}?{GOOD_QUERY}&iss", "empty or repeated iss"),
        (f"{REDIRECT}?{GOOD_QUERY}&iss=a&iss=a", "empty or repeated iss"),
    ],
)
def test_any_other_callback_is_not_delivered(location: str, problem: str) -> None:
    with pytest.raises(UnsafeLogin, match=problem):
        browser.check_callback(REDIRECT, "s1", location)


class Endpoint:
    """An HTTP server that answers every GET alike, and keeps what came."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"
        self.status = 302
        self.location: str | None = None
        self.seen: list[tuple[str, str | None]] = []


@contextmanager
def listening() -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            mine.seen.append((self.path, self.headers["User-Agent"]))
            self.send_response(mine.status)
            if mine.location is not None:
                self.send_header("Location", mine.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Stay silent: the record is in `seen`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    mine = Endpoint(server.server_port)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield mine
    finally:
        server.shutdown()
        thread.join(TIMEOUT_S)
        server.server_close()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with listening() as served:
        yield served


@pytest.fixture
def stranger() -> Iterator[Endpoint]:
    """A second server, which nobody may visit."""
    with listening() as served:
        yield served


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_an_authorization_is_one_marked_visit_and_no_more(
    endpoint: Endpoint, status: int
) -> None:
    """The redirect is handed back, not followed: its listener is the client's."""
    endpoint.status = status
    redirect = f"{endpoint.base}/callback"
    endpoint.location = f"{redirect}?{GOOD_QUERY}"
    url = authorization(("redirect_uri", redirect), ("state", "s1"), base=endpoint.base)

    callback = browser.authorize(url, TIMEOUT_S)

    assert callback == Callback(endpoint.location, is_error=False)
    asked = url.removeprefix(endpoint.base)
    assert endpoint.seen == [(asked, browser.USER_AGENT)]


def test_a_relative_redirect_is_resolved_before_it_is_checked(
    endpoint: Endpoint,
) -> None:
    endpoint.location = f"/callback?{GOOD_QUERY}"
    url = authorization(
        ("redirect_uri", f"{endpoint.base}/callback"),
        ("state", "s1"),
        base=endpoint.base,
    )

    callback = browser.authorize(url, TIMEOUT_S)

    assert callback.url == f"{endpoint.base}/callback?{GOOD_QUERY}"


@pytest.mark.parametrize(
    ("status", "location"),
    [
        (200, f"{REDIRECT}?{GOOD_QUERY}"),
        (400, None),
        (500, f"{REDIRECT}?{GOOD_QUERY}"),
        (304, f"{REDIRECT}?{GOOD_QUERY}"),
        (302, None),
        (302, ""),
    ],
)
def test_an_authorization_without_redirect_is_refused(
    endpoint: Endpoint, status: int, location: str | None
) -> None:
    endpoint.status, endpoint.location = status, location

    with pytest.raises(UnsafeLogin, match=f"answered {status}, no redirect"):
        browser.authorize(authorization(base=endpoint.base), TIMEOUT_S)


def test_a_redirect_elsewhere_is_not_visited(
    endpoint: Endpoint, stranger: Endpoint
) -> None:
    endpoint.location = f"{stranger.base}/callback?{GOOD_QUERY}"

    with pytest.raises(UnsafeLogin, match="does not point"):
        browser.authorize(authorization(base=endpoint.base), TIMEOUT_S)

    assert stranger.seen == []


def test_an_unsafe_authorization_url_is_never_visited(endpoint: Endpoint) -> None:
    url = authorization(
        ("redirect_uri", "https://example.test/callback"),
        ("state", "s1"),
        base=endpoint.base,
    )

    with pytest.raises(UnsafeLogin):
        browser.authorize(url, TIMEOUT_S)

    assert endpoint.seen == []


@pytest.mark.parametrize("name", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_a_proxy_of_the_environment_is_not_used(
    endpoint: Endpoint,
    stranger: Endpoint,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.setenv(name, stranger.base)
    endpoint.status = 200

    assert browser.deliver(
        Callback(f"{endpoint.base}/callback", is_error=False), TIMEOUT_S
    )
    assert len(endpoint.seen) == 1
    assert stranger.seen == []


@pytest.mark.parametrize(
    "base",
    [
        "http://example.test:80",
        "https://127.0.0.1:1",
        "http://10.0.0.1:80",
        "file://127.0.0.1",
        "http://127.0.0.1.example.test",
    ],
)
def test_nothing_but_plain_http_on_loopback_is_visited(
    base: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even a name is looked up."""
    asked: list[object] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *words, **_: asked.append(words))

    with pytest.raises(UnsafeLogin, match="only plain HTTP on loopback"):
        browser.authorize(authorization(base=base), TIMEOUT_S)
    with pytest.raises(UnsafeLogin, match="only plain HTTP on loopback"):
        browser.deliver(Callback(f"{base}/callback", is_error=False), TIMEOUT_S)

    assert asked == []


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:99999/authorize",
        "http://[::1/authorize",
        "http://127.0.0.1:1/a\x7fb",
        "http://127.0.0.1:1/ü",
        "http://127.0.0.1:1/a b",
    ],
)
def test_an_address_that_cannot_be_visited_is_the_clients_fault(url: str) -> None:
    """A finding about the login, never a crash of the driver."""
    query = urlencode((("redirect_uri", REDIRECT), ("state", "s1")))

    with pytest.raises(UnsafeLogin):
        browser.authorize(f"{url}?{query}", TIMEOUT_S)


@pytest.mark.parametrize("status", [200, 204, 302, 400, 404])
def test_a_callback_that_the_client_took_is_delivered(
    endpoint: Endpoint, status: int, stranger: Endpoint
) -> None:
    """Whether the client liked it is for its own login to say."""
    endpoint.status, endpoint.location = status, f"{stranger.base}/next"

    callback = Callback(f"{endpoint.base}/callback?{GOOD_QUERY}", is_error=False)

    assert browser.deliver(callback, TIMEOUT_S) == status
    assert endpoint.seen == [(f"/callback?{GOOD_QUERY}", browser.USER_AGENT)]
    assert stranger.seen == []


def test_a_callback_listener_that_breaks_is_a_finding(endpoint: Endpoint) -> None:
    endpoint.status = 500

    with pytest.raises(UnsafeLogin, match="answered 500"):
        browser.deliver(
            Callback(f"{endpoint.base}/callback", is_error=False), TIMEOUT_S
        )


def test_a_callback_listener_that_is_gone_is_a_finding() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    with pytest.raises(UnsafeLogin, match="failed"):
        browser.deliver(
            Callback(f"http://127.0.0.1:{port}/callback", is_error=False), 2.0
        )


def test_a_callback_listener_that_says_nothing_is_a_finding() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/callback"

        with pytest.raises(UnsafeLogin, match="timed out"):
            browser.deliver(Callback(url, is_error=False), 0.2)
