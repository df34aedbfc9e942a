"""Who a server is, told by real requests; one sentence where there is none."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hostile_server import SSE_HEAD, Connection, hostile, http

from mcpconf.errors import ExitCode, UsageError
from mcpconf.fixture_server.inprocess import serving
from mcpconf.fixture_server.options import Options
from mcpconf.revision import Era, Revision
from mcpconf.server.identity import ServerIdentity, check_url, identify
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.decode import Json

MODERN, LEGACY = Revision.V2026_07_28, Revision.V2025_11_25
REVISIONS = list(Revision)
MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("http://127.0.0.1:3000/mcp", "http://127.0.0.1:3000/mcp"),
        ("HTTPS://Example.COM", "https://example.com/"),
        ("http://[::1]:80/a?b=c", "http://[::1]:80/a?b=c"),
        ("http://localhost/Mcp", "http://localhost/Mcp"),
    ],
)
def test_url_has_one_form(given: str, url: str) -> None:
    assert check_url(given) == url
    assert check_url(url) == url


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("", "must begin with http"),
        ("localhost:3000/mcp", "must begin with http"),
        ("127.0.0.1:3000", "must begin with http"),
        ("ftp://a/", "must begin with http"),
        ("stdio:", "must begin with http"),
        ("http://", "must name a host"),
        ("http:///mcp", "must name a host"),
        ("http://:3000/mcp", "must name a host"),
        ("http://a:0/", "must name a port"),
        ("http://a:99999/", "is no URL"),
        ("http://a:b/", "is no URL"),
        ("http://[::1/", "is no URL"),
        ("http://me:secret@a/mcp", "no user name or password"),
        ("http://@a/mcp", "no user name or password"),
        ("http://a/mcp#x", "no fragment"),
        ("http://a/mcp#", "no fragment"),
        ("http://a/m cp", "no space"),
        ("http://a/mcp\n", "no space"),
    ],
)
def test_what_is_no_address_of_a_server_is_refused(given: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem) as caught:
        check_url(given)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("asked", REVISIONS)
@pytest.mark.parametrize("spoken", REVISIONS)
def test_server_is_known_whatever_it_speaks(spoken: Revision, asked: Revision) -> None:
    """Which revision that is, and whether it will do, is for others to judge."""
    with serving(Options(revision=spoken, transport=Transport.HTTP)) as running:
        found = identify(running.url, revision=asked)
    assert found.revisions == (spoken.value,)
    if spoken.era is asked.era or spoken.era is Era.HANDSHAKE:
        assert found.name == "openai-mcp-spec-test-server"
        assert found.version == "0.1.0"


def answering(
    **by_method: Callable[[Mapping[str, Json]], bytes],
) -> Callable[[Connection], None]:
    """Answer each method of MCP in its own way; others with HTTP 202."""

    def behave(connection: Connection) -> None:
        body = connection.request().partition(b"\r\n\r\n")[2]
        message = json.loads(body or b"{}")
        method = str(message.get("method", "delete")).rpartition("/")[2]
        answer = by_method.get(method)
        accepted = http(b"", status="202 Accepted")
        connection.send(accepted if answer is None else answer(message))

    return behave


def result(**members: Json) -> Callable[[Mapping[str, Json]], bytes]:
    def answer(message: Mapping[str, Json]) -> bytes:
        said: Json = {"jsonrpc": "2.0", "id": message["id"], "result": members}
        return http(json.dumps(said).encode(), "Mcp-Session-Id: s-1")

    return answer


def error(
    code: int, status: str = "400 Bad Request", **data: Json
) -> Callable[[Mapping[str, Json]], bytes]:
    def answer(message: Mapping[str, Json]) -> bytes:
        said: Json = {
            "jsonrpc": "2.0",
            "id": message["id"],
            "error": {"code": code, "message": "No\nsuch thing", "data": data},
        }
        return http(json.dumps(said).encode(), status=status)

    return answer


INFO: dict[str, Json] = {"name": "a", "version": "1", "title": "A"}


def test_stateless_server_tells_itself_in_the_meta_of_its_result() -> None:
    discover = result(
        supportedVersions=["2026-07-28", "2025-11-25"],
        capabilities={"extensions": {"z/z": {}, "a/a": {}}},
        serverInfo={"name": "the form before the revision was final"},
        _meta={"io.modelcontextprotocol/serverInfo": INFO},
    )
    with hostile(answering(discover=discover)) as server:
        found = identify(server.url, revision=MODERN)
        head, _, body = server.requests[0].partition(b"\r\n\r\n")
        assert len(server.requests) == 1
    assert found == ServerIdentity(
        name="a",
        version="1",
        title="A",
        revisions=("2026-07-28", "2025-11-25"),
        extensions=("a/a", "z/z"),
    )
    assert b"\r\nMCP-Protocol-Version: 2026-07-28\r\n" in head
    assert b"\r\nMcp-Method: server/discover\r\n" in head
    meta = json.loads(body)["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {}


def test_handshake_is_finished_and_its_session_ended() -> None:
    greet = result(protocolVersion="2025-06-18", serverInfo=INFO, capabilities={})
    with hostile(answering(initialize=greet)) as server:
        found = identify(server.url, revision=LEGACY)
        first, second, third = server.requests
    assert (found.name, found.revisions) == ("a", ("2025-06-18",))
    assert json.loads(first.partition(b"\r\n\r\n")[2])["params"]["protocolVersion"] == (
        "2025-11-25"
    )
    assert b"notifications/initialized" in second
    assert third.startswith(b"DELETE ")
    for each in (second, third):
        assert b"\r\nMcp-Session-Id: s-1\r\n" in each
        assert b"\r\nMCP-Protocol-Version: 2025-06-18\r\n" in each


def test_refused_discovery_leads_to_a_handshake() -> None:
    behave = answering(
        discover=error(-32022, supported=["2027-01-01"]),
        initialize=result(protocolVersion="2025-11-25", serverInfo=INFO),
    )
    with hostile(behave) as server:
        found = identify(server.url, revision=MODERN)
    assert (found.name, found.revisions) == ("a", ("2027-01-01", "2025-11-25"))


def test_refusal_that_names_revisions_is_an_identity() -> None:
    behave = answering(
        discover=error(-32022, supported=["2027-01-01", 5]),
        initialize=error(-32601, "404 Not Found"),
    )
    with hostile(behave) as server:
        found = identify(server.url, revision=MODERN)
    assert (found.name, found.revisions) == (None, ("2027-01-01",))


def test_session_name_that_cannot_be_sent_back_is_let_go() -> None:
    answer = http(
        b'{"id": "initialize", "result": {"protocolVersion": "2025-11-25"}}',
        "Mcp-Session-Id: a\x01b",
    )
    with hostile(answering(initialize=lambda _: answer)) as server:
        assert identify(server.url, revision=LEGACY).revisions == ("2025-11-25",)


def test_what_a_server_says_of_itself_is_bounded_and_on_one_line() -> None:
    long: Json = "a\n\x1b[31m" + "b" * 1000
    discover = result(
        supportedVersions=[long] * 300,
        capabilities={"extensions": {f"{n}{long}": {} for n in range(300)}},
        serverInfo={"name": long, "version": 7, "title": [long]},
    )
    with hostile(answering(discover=discover)) as server:
        found = identify(server.url, revision=MODERN)
    assert found.name is not None
    assert found.name.startswith("a [31mb")
    assert (found.version, found.title) == (None, None)
    texts = [found.name, *found.revisions, *found.extensions]
    assert all(each.isprintable() and len(each) <= 200 for each in texts)
    assert len(texts) == 101


def endless(connection: Connection) -> None:
    connection.answer(SSE_HEAD)
    connection.drip(b": comment\n")


def gigantic(connection: Connection) -> None:
    connection.answer(http(b"", f"Content-Length: {1024 * MIB}"))
    connection.repeat(b" " * MIB, 1024)


def plain(body: bytes, status: str) -> Callable[[Connection], None]:
    answer = http(body, "Content-Type: text/plain", status=status)
    return lambda connection: connection.answer(answer)


HOPELESS = [
    pytest.param(lambda _: None, "no whole answer: the connection was lost", id="shut"),
    pytest.param(lambda c: c.answer(b"SSH-2.0\r\n"), "speaks no HTTP", id="garbage"),
    pytest.param(
        lambda c: c.answer(http(b"{}")),
        "server/discover brings HTTP 200 with JSON that is no response to it and "
        "initialize brings HTTP 200",
        id="an empty object",
    ),
    pytest.param(
        lambda c: c.answer(http(b"[]")), "JSON that is no response", id="an empty list"
    ),
    pytest.param(lambda c: c.answer(http(b"")), "with no content", id="no content"),
    pytest.param(lambda c: c.answer(http(b"{")), "no valid JSON", id="invalid JSON"),
    pytest.param(
        lambda c: c.answer(http(b"<html>", "Content-Type: text/html")),
        "with what is no JSON",
        id="a web page",
    ),
    pytest.param(
        lambda c: c.answer(SSE_HEAD + b"data: {}\n\n"),
        "a stream without a response to it",
        id="a stream of nothing",
    ),
    pytest.param(gigantic, "larger than 1048576 bytes", id="a gigantic body"),
    pytest.param(
        lambda c: c.answer(http(b"", "Location: http://b/x", status="308 There")),
        "HTTP 308 redirects to http://b/x, which is not followed; give the URL",
        id="a redirect",
    ),
    pytest.param(plain(b"no", "401 No"), r"authorization.*\(HTTP 401\)", id="401"),
    pytest.param(plain(b"no", "403 No"), r"authorization.*\(HTTP 403\)", id="403"),
    pytest.param(
        plain(b"no", "404 No"), "serves nothing at /mcp; give the path", id="404"
    ),
    pytest.param(plain(b"no", "405 No"), "takes no POST at /mcp", id="405"),
    pytest.param(plain(b"no", "503 No"), "is not ready: HTTP 503", id="503"),
    pytest.param(plain(b"no", "500 No"), "brings HTTP 500", id="500"),
    pytest.param(
        answering(discover=error(-32601), initialize=error(-32000)),
        r"server/discover is refused with error -32601 \(No such thing\) and "
        r"initialize is refused with error -32000",
        id="errors",
    ),
]


ENDLESS = [
    pytest.param(endless, id="an endless stream"),
    pytest.param(lambda c: c.drip(b"H"), id="a drip"),
    pytest.param(lambda c: c.wait_left(), id="silence"),
]


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
@pytest.mark.parametrize("behave", ENDLESS)
def test_what_does_not_end_is_given_up_in_time(
    behave: Callable[[Connection], None], revision: Revision
) -> None:
    with (
        hostile(behave) as server,
        pytest.raises(UsageError, match=r"gives no whole answer: no .* within 0\.\d"),
    ):
        identify(server.url, revision=revision, timeout_s=0.4)


@pytest.mark.parametrize("revision", [MODERN, LEGACY])
@pytest.mark.parametrize(("behave", "sentence"), HOPELESS)
def test_what_is_no_server_is_one_sentence(
    behave: Callable[[Connection], None], sentence: str, revision: Revision
) -> None:
    if revision is LEGACY and " and initialize" in sentence:
        sentence = "initialize .* and server/discover "
    with hostile(behave) as server, pytest.raises(UsageError, match=sentence) as caught:
        identify(server.url, revision=revision)
    text = str(caught.value)
    assert server.url in text
    assert text.isprintable()
    assert len(text) < 500
    assert caught.value.exit_code is ExitCode.BAD_INPUT


def test_nobody_at_the_port_is_no_server() -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{one.getsockname()[1]}/mcp"
        with pytest.raises(UsageError, match=f"no server at {url}: no connection"):
            identify(url, revision=MODERN)


def test_https_to_a_server_of_http_says_what_to_say_instead() -> None:
    with hostile(lambda c: c.send(http(b"{}"))) as server:
        url = server.url.replace("http:", "https:")
        with pytest.raises(UsageError, match="say http:// instead of https://"):
            identify(url, revision=MODERN)


def test_url_is_checked_first() -> None:
    with pytest.raises(UsageError, match="must begin with http"):
        identify("localhost:3000", revision=MODERN)


def test_what_a_report_holds_of_a_server_is_cleared_of_secrets() -> None:
    one = ServerIdentity(
        name=None,
        version="1 api_key=canary-1",
        title="token=canary-2",
        revisions=("2026-07-28", "access_token=canary-3"),
        extensions=("io.example/one", "?token=canary-4"),
    )
    assert one.to_json() == {
        "name": None,
        "version": "1 api_key=[REDACTED]",
        "title": "token=[REDACTED]",
        "revisions": ["2026-07-28", "access_token=[REDACTED]"],
        "extensions": ["io.example/one", "?token=[REDACTED]"],
    }


def test_who_is_no_server_is_told_without_the_secrets_of_its_url() -> None:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{one.getsockname()[1]}/mcp"
        with pytest.raises(UsageError, match="no server at") as caught:
            identify(f"{url}?token=canary-1", revision=MODERN)
    # The colon behind the URL might belong to the secret.
    assert f"{url}?token=[REDACTED] no connection" in str(caught.value)


def test_what_a_server_is_can_be_read_without_the_library_of_http() -> None:
    """It takes longer to import than all the rest of a report."""
    code = (
        "import sys, mcpconf.server.exchange, mcpconf.server.host; "
        "sys.exit('requests' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
