"""The fixture server over real sockets: what it answers, refuses and leaves behind."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import queue
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from http_script import (
    BOTH,
    LEGACY,
    META,
    MODERN,
    OLDEST,
    PATIENCE_S,
    Client,
    Scripted,
    client_of,
    legacy_post,
    messages,
    next_message,
    options,
    read_all,
    records,
    rpc,
    tool,
)

from mcpconf.errors import FixtureError, UsageError
from mcpconf.fixture_server import http_connection
from mcpconf.fixture_server import server as server_module
from mcpconf.fixture_server.http_connection import Connection, Protocol
from mcpconf.fixture_server.inprocess import serving

if TYPE_CHECKING:
    from pathlib import Path

    from mcpconf.revision import Revision

    Json = Any
    #: Revision, method, path, changed headers, body; status, code.
    Headers = dict[str, str | None]
    Refused = tuple[Revision, str, str, Headers, bytes | None, int, int]

pytestmark = pytest.mark.process


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> queue.Queue[Any]:
    Scripted.told = queue.Queue()
    monkeypatch.setattr(server_module, "PROFILES", {"scripted": Scripted})
    return Scripted.told


GOOD_LEGACY = json.dumps(rpc("ping")).encode()


@pytest.mark.parametrize(
    "row",
    [
        (MODERN, "GET", "/mcp", {}, None, 405, -32600),
        (MODERN, "DELETE", "/mcp", {}, None, 405, -32600),
        (LEGACY, "PUT", "/mcp", {}, None, 405, -32600),
        (MODERN, "POST", "/other", {}, b"{}", 404, -32601),
        (MODERN, "POST", "/mcp", {"Origin": "http://evil.example"}, b"{}", 403, -32600),
        (MODERN, "POST", "/mcp", {"Origin": "null"}, b"{}", 403, -32600),
        (MODERN, "POST", "/mcp", {"Host": "evil.example:80"}, b"{}", 403, -32600),
        (MODERN, "GET", "/healthz", {"Host": "evil.example"}, None, 403, -32600),
        (MODERN, "POST", "http://evil.example/mcp", {}, b"{}", 403, -32600),
        (MODERN, "POST", "http://127.0.0.1/other", {}, b"{}", 404, -32601),
        (MODERN, "POST", "http://127.0.0.1?/mcp", {}, b"{}", 404, -32601),
        (MODERN, "POST", "//127.0.0.1/mcp", {}, b"{}", 404, -32601),
        (MODERN, "POST", "/mcp", {"Content-Type": "text/plain"}, b"{}", 415, -32600),
        (MODERN, "POST", "/mcp", {"Content-Type": None}, b"{}", 415, -32600),
        (MODERN, "POST", "/mcp", {}, b"{", 400, -32700),
        (MODERN, "POST", "/mcp", {}, b"", 400, -32700),
        (MODERN, "POST", "/mcp", {}, b"\xff", 400, -32700),
        (MODERN, "POST", "/mcp", {}, b"[" * 100_000, 400, -32700),
        (MODERN, "POST", "/mcp", {}, b"[]", 400, -32600),
        (
            MODERN,
            "POST",
            "/mcp",
            {},
            b'{"jsonrpc":"2.0","id":1,"result":{}}',
            400,
            -32600,
        ),
        (MODERN, "POST", "/mcp", {}, json.dumps(tool("echo")).encode(), 400, -32020),
        (MODERN, "POST", "/mcp", {}, json.dumps(rpc("ping")).encode(), 400, -32602),
        (MODERN, "POST", "/mcp", {"Content-Length": "1048577"}, b"", 413, -32600),
        (MODERN, "POST", "/mcp", {"X": "x" * 200_000}, b"{}", 431, -32600),
        (
            LEGACY,
            "POST",
            "/mcp",
            {"Accept": "application/json"},
            GOOD_LEGACY,
            406,
            -32600,
        ),
        (LEGACY, "POST", "/mcp", {"Accept": None}, GOOD_LEGACY, 406, -32600),
        (LEGACY, "POST", "/mcp", {}, GOOD_LEGACY, 400, -32600),
        (LEGACY, "POST", "/mcp", {"Mcp-Session-Id": "x"}, GOOD_LEGACY, 404, -32600),
        (
            OLDEST,
            "POST",
            "/mcp",
            {"MCP-Protocol-Version": "2025-11-25"},
            GOOD_LEGACY,
            400,
            -32600,
        ),
        (LEGACY, "GET", "/mcp", {"Accept": "text/event-stream"}, None, 400, -32600),
        (LEGACY, "GET", "/mcp", {"Mcp-Session-Id": "x"}, None, 404, -32600),
        (LEGACY, "GET", "/mcp", {"Accept": "application/json"}, None, 406, -32600),
        (LEGACY, "DELETE", "/mcp", {}, None, 400, -32600),
        (LEGACY, "DELETE", "/mcp", {"Mcp-Session-Id": "x"}, None, 404, -32600),
    ],
)
def test_each_refusal_has_its_status_and_code(row: Refused) -> None:
    revision, method, path, headers, body, status, code = row
    with client_of(revision) as (client, _):
        answer = client.request(method, path, body, headers)
        error = json.load(answer)
        assert (answer.status, error["error"]["code"]) == (status, code)
        allowed = "POST" if revision is MODERN else "GET, POST, DELETE"
        assert answer.headers["Allow"] == (allowed if status == 405 else None)


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://localhost:5173"},
        {"Origin": "https://[::1]"},
        {"Origin": "https://trusted.example"},
        {"Host": "localhost"},
        {"Host": "[::1]:80"},
        {"Content-Type": "application/json; charset=utf-8"},
        {"Last-Event-ID": "7", "Mcp-Session-Id": "stale"},
    ],
    ids=str,
)
def test_what_is_allowed_gets_through(headers: dict[str, str | None]) -> None:
    allowed = ("https://trusted.example",)
    with client_of(MODERN, allowed_origins=allowed) as (client, _):
        answer = client.post(tool("echo", {"text": "hi"}), headers)
        assert (answer.status, answer.headers["Mcp-Session-Id"]) == (200, None)
        assert json.load(answer)["result"]["structuredContent"] == {"text": "hi"}


@pytest.mark.parametrize("authority", ["127.0.0.1:{}", "LOCALHOST", "[::1]:80"])
def test_a_target_may_be_a_whole_url_whose_host_stands_for_the_header(
    authority: str,
) -> None:
    with client_of(LEGACY) as (client, running):
        url = f"HTTP://{authority.format(running.port)}"
        health = client.request("GET", f"{url}/healthz", headers={"Host": "evil"})
        assert json.load(health)["status"] == "ok"
        client.open_session()
        ping = json.dumps(rpc("ping")).encode()
        answer = client.request("POST", f"{url}/mcp?a=b", ping)
        assert (answer.status, json.load(answer)["result"]) == (200, {})


def test_health_names_the_revision() -> None:
    with client_of(OLDEST) as (client, _):
        health = json.load(client.request("GET", "/healthz"))
    assert health == {"status": "ok", "revision": "2025-06-18"}


def test_arguments_and_names_are_mirrored_under_the_annotated_names() -> None:
    arguments = {"region": "eu", "attempt": 2, "enabled": False, "greeting": "\u3053"}
    encoded = base64.b64encode("\u3053".encode()).decode()
    mirrors: dict[str, str | None] = {
        "Mcp-Param-Area": "eu",
        "Mcp-Param-Try-Number": "2",
        "Mcp-Param-Switched-On": "false",
        "Mcp-Param-Salutation": f"=?base64?{encoded}?=",
    }
    with client_of(MODERN) as (client, _):
        answer = client.post(tool("header_echo", arguments), mirrors)
        assert json.load(answer)["result"]["structuredContent"] == arguments
        by_property = {**mirrors, "Mcp-Param-Area": None, "Mcp-Param-Region": "eu"}
        answer = client.post(tool("header_echo", arguments), by_property)
        assert json.load(answer)["error"]["code"] == -32020
        answer = client.post(tool("echo", {"text": "hi"}), {"Mcp-Param-Text": "hi"})
        assert (answer.status, json.load(answer)["error"]["code"]) == (400, -32020)
        uri = "test://fixture/\u3053\u3093\u306b\u3061\u306f"
        name = f"=?base64?{base64.b64encode(uri.encode()).decode()}?="
        read = rpc("resources/read", {"uri": uri, "_meta": META})
        assert client.post(read, {"Mcp-Name": name}).status == 200


def test_a_session_lives_from_initialize_to_delete() -> None:
    with client_of(LEGACY) as (client, _):
        client.open_session()
        version: dict[str, str | None] = {"MCP-Protocol-Version": LEGACY.value}
        assert client.post(rpc("ping"), version).read()
        assert client.post(rpc("ping")).status == 200
        client.connection.close()  # the session is not the connection's
        assert client.post(rpc("ping")).status == 200
        client.connection.close()
        answer = client.request("DELETE")
        assert (answer.status, answer.read()) == (200, b"")
        assert client.post(rpc("ping")).status == 404


def test_a_refused_initialize_mints_no_session() -> None:
    with client_of(LEGACY) as (client, _):
        answer = client.post(rpc("initialize"))
        assert json.load(answer)["error"]["code"] == -32602
        assert answer.headers["Mcp-Session-Id"] is None
        assert client.post(rpc("server/discover")).status == 404


def test_the_push_stream_carries_announcements_until_the_session_ends() -> None:
    with client_of(LEGACY) as (client, running), client_of(LEGACY) as _:
        client.open_session()
        other = Client(running, LEGACY)
        other.session = client.session
        changed = "notifications/tools/list_changed"
        with closing(other.connection):
            stream = other.request("GET")
            assert stream.headers["Content-Type"] == "text/event-stream"
            second = client.request("GET")
            assert (second.status, bool(second.read())) == (409, True)
            assert running.announce(changed, {}) == 1
            assert next_message(stream) == {"jsonrpc": "2.0", "method": changed}
            assert client.request("DELETE").read() == b""
            assert stream.read() == b""
        assert running.announce(changed, {}) == 0


def test_a_message_that_was_pushed_is_on_record(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with client_of(LEGACY, log) as (client, running):
        client.open_session()
        stream = client.request("GET")
        running.announce("notifications/prompts/list_changed", {})
        assert next_message(stream)["method"].endswith("prompts/list_changed")
    pushed = [each for each in records(log, "sent") if each["stream"] == "push"]
    assert [each["message"]["method"] for each in pushed] == [
        "notifications/prompts/list_changed"
    ]


def test_the_server_asks_on_the_stream_of_the_request() -> None:
    with client_of(LEGACY) as (client, running):
        client.open_session()
        stream = client.post(rpc("tools/call", {"name": "ask_ping"}))
        assert stream.headers["Content-Type"] == "text/event-stream"
        asked = next_message(stream)
        assert asked["method"] == "ping"
        other = Client(running, LEGACY)
        other.session = client.session
        with closing(other.connection):
            answer = {"jsonrpc": "2.0", "id": asked["id"], "result": {"pong": 1}}
            assert other.post(answer).status == 202
        [last] = messages(stream)
        assert '"pong"' in last["result"]["content"][0]["text"]


def test_notifications_come_before_the_response_on_one_stream(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with client_of(MODERN, log) as (client, _):
        answer = client.post(tool("progress", progressToken="t"))
        assert answer.headers["Content-Type"] == "text/event-stream"
        assert answer.headers["Cache-Control"] == "no-cache"
        assert answer.headers["X-Accel-Buffering"] == "no"
        first, last = messages(answer)
        assert (first["method"], last["id"]) == ("notifications/progress", 1)
        assert client.post(tool("echo", {"text": "again"})).status == 200
    assert len(records(log, "connection")) == 2  # opened once, closed once
    assert [each["stream"] for each in records(log, "sent")] == ["sse", "sse", "json"]
    assert [each["how"] for each in records(log, "finished")] == ["complete"] * 2


def test_an_exchange_is_logged_from_end_to_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with client_of(MODERN, log) as (client, _):
        assert client.post(tool("echo", {"text": "hi"})).read()
    kinds = [json.loads(line)["type"] for line in log.read_text().splitlines()]
    assert kinds == [
        "start",
        "connection",
        "request",
        "received",
        "response",
        "sent",
        "finished",
        "connection",
        "exit",
    ]
    [request], [received] = records(log, "request"), records(log, "received")
    assert request["headers"]["mcp-method"] == ["tools/call"]
    assert received["message"]["params"]["name"] == "echo"


def test_leaving_a_request_cancels_it(tmp_path: Path, told: queue.Queue[Any]) -> None:
    log = tmp_path / "log"
    with client_of(MODERN, log, "scripted") as (client, _):
        message = rpc("test/wait", {"_meta": META})
        client.connection.request(
            "POST",
            "/mcp",
            json.dumps(message),
            {
                "Content-Type": "application/json",
                "Accept": BOTH,
                "MCP-Protocol-Version": MODERN.value,
                "Mcp-Method": "test/wait",
            },
        )
        assert told.get(timeout=PATIENCE_S) == "waiting"
        client.connection.close()
        assert told.get(timeout=PATIENCE_S) == "closed"
    assert [each["how"] for each in records(log, "finished")] == ["client-closed"]
    assert [each["by"] for each in records(log, "connection")] == ["client", "client"]


def test_a_notification_cancels_the_request_it_names(told: queue.Queue[Any]) -> None:
    with client_of(LEGACY, None, "scripted") as (client, running):
        client.open_session()
        other = Client(running, LEGACY)
        other.session = client.session
        answers: queue.Queue[bytes] = queue.Queue()
        waiting = threading.Thread(
            target=lambda: answers.put(client.post(rpc("test/wait", None, 7)).read())
        )
        waiting.start()
        assert told.get(timeout=PATIENCE_S) == "waiting"
        with closing(other.connection):
            for request_id in (8, "7", 7):
                params = {"requestId": request_id}
                notice = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
                assert other.post({**notice, "params": params}).read() == b""
        assert told.get(timeout=PATIENCE_S) == "notification"
        assert answers.get(timeout=PATIENCE_S) == b""
        waiting.join()


@pytest.mark.parametrize(
    ("status", "headers", "body", "expected"),
    [
        (202, [], None, b"HTTP/1.1 202 Accepted\r\n\r\n"),
        (200, [["X-A", "1"]], None, b"HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\n"),
        (
            410,
            [["Connection", "close"]],
            "no",
            b"HTTP/1.1 410 Gone\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno",
        ),
    ],
)
def test_an_answer_is_exactly_what_the_profile_says(
    told: queue.Queue[Any],
    status: int,
    headers: Json,
    body: str | None,
    expected: bytes,
) -> None:
    del told
    params = {"status": status, "headers": headers, "body": body}
    with client_of(LEGACY, None, "scripted") as (client, running):
        client.open_session()
        raw = legacy_post(running, client, rpc("test/answer", params))
        assert read_all(raw) == expected


def test_a_profile_frames_drops_and_acknowledges(told: queue.Queue[Any]) -> None:
    del told
    with client_of(LEGACY, None, "scripted") as (client, _):
        client.open_session()
        answer = client.post(rpc("ping"))
        assert answer.headers["Content-Type"] == "text/event-stream"
        assert answer.read().endswith(b'"result":{}}\r\r')
        answer = client.post({"jsonrpc": "2.0", "method": "odd"})
        assert (answer.status, answer.headers["X-Odd"]) == (204, "1")
        assert answer.read() == b""
        assert client.post(rpc("test/drop")).read()
        assert client.post(rpc("tools/list")).status == 404


def test_a_cut_stream_ends_without_its_last_chunk(
    tmp_path: Path, told: queue.Queue[Any]
) -> None:
    del told
    log = tmp_path / "log"
    with client_of(LEGACY, log, "scripted") as (client, running):
        client.open_session()
        raw = legacy_post(running, client, rpc("test/cut"))
        assert read_all(raw).endswith(b"a\r\ndata: half\r\n")
    assert records(log, "finished")[-1]["how"] == "server-cut"


def test_a_flood_waits_for_its_reader(told: queue.Queue[Any]) -> None:
    with client_of(LEGACY, None, "scripted") as (client, _):
        client.open_session()
        answer = client.post(rpc("test/flood"))
        assert len(answer.read()) > 8 * 1024 * 1024
        assert told.get(timeout=PATIENCE_S) <= 256 * 1024


def test_a_client_that_does_not_read_is_cut(
    tmp_path: Path, told: queue.Queue[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    monkeypatch.setattr(http_connection, "READ_ON_S", 0.1)
    with client_of(LEGACY, log, "scripted") as (client, running):
        client.open_session()
        with legacy_post(running, client, rpc("test/flood")):
            assert told.get(timeout=PATIENCE_S) <= 256 * 1024
    assert records(log, "finished")[-1]["how"] == "server-cut"


def test_a_half_sent_request_is_refused_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http_connection, "ARRIVE_S", 0.1)
    with client_of(MODERN) as (_, running):
        for sent in (b"POST", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n"):
            raw = socket.create_connection(("127.0.0.1", running.port), PATIENCE_S)
            raw.sendall(sent)
            assert read_all(raw).startswith(b"HTTP/1.1 408 Request Timeout\r\n")
        raw = socket.create_connection(("127.0.0.1", running.port), PATIENCE_S)
        raw.sendall(b"POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{")
        assert read_all(raw).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


def test_chunked_bodies_and_continue_are_served() -> None:
    body = json.dumps(tool("echo", {"text": "hi"})).encode()
    head = (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Accept: {BOTH}\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Name: echo\r\n"
        "Mcp-Method: tools/call\r\nTransfer-Encoding: chunked\r\n"
        "Expect: 100-continue\r\nConnection: close\r\n\r\n"
    )
    with client_of(MODERN) as (_, running):
        raw = socket.create_connection(("127.0.0.1", running.port), PATIENCE_S)
        raw.sendall(head.encode())
        assert raw.recv(12) == b"HTTP/1.1 100"
        raw.sendall(f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n")
        assert b"HTTP/1.1 200 OK" in read_all(raw)


@pytest.mark.parametrize("profile", ["ack-200", "ack-200-chunked", "ack-204"])
def test_the_log_has_the_headers_that_were_sent(tmp_path: Path, profile: str) -> None:
    log = tmp_path / "log"
    with client_of(LEGACY, log, profile) as (client, _):
        info = {"name": "test", "version": "1"}
        params: Json = {"protocolVersion": LEGACY.value, "capabilities": {}}
        params["clientInfo"] = info
        first = client.post(rpc("initialize", params))
        first.read()
        client.session = first.headers["Mcp-Session-Id"]
        answer = client.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        answer.read()
        sent = {name.lower() for name in answer.headers}
    said = records(log, "response")[-1]["headers"]
    framing = {"content-length", "transfer-encoding"}
    logged = {name.lower() for name in dict(said)}
    assert logged & framing == sent & framing


def test_what_is_not_http_is_refused() -> None:
    with client_of(MODERN) as (_, running):
        raw = socket.create_connection(("127.0.0.1", running.port), PATIENCE_S)
        raw.sendall(b"rubbish\r\n\r\n")
        assert read_all(raw).startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_leaving_serving_leaves_nothing(tmp_path: Path) -> None:
    before = threading.active_count()
    log = tmp_path / "log"
    with serving(options(LEGACY), log) as running:
        client = Client(running, LEGACY)
        client.open_session()
        stream = client.request("GET")
    with pytest.raises(http.client.IncompleteRead):
        stream.read()
    client.connection.close()
    assert threading.active_count() == before
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", running.port), PATIENCE_S)
    assert records(log, "finished")[-1]["how"] == "server-cut"
    assert records(log, "exit")[-1]["code"] == 0


def provoke_a_bug() -> None:
    with client_of(LEGACY, None, "scripted") as (client, _):
        client.open_session()
        assert client.post(rpc("test/bug")).status == 500


def test_a_bug_of_ours_is_raised_on_leaving(told: queue.Queue[Any]) -> None:
    del told
    with pytest.raises(FixtureError, match="ZeroDivisionError"):
        provoke_a_bug()


def test_an_occupied_port_is_a_usage_error() -> None:
    with serving(options(MODERN)) as running:
        problem = f"127.0.0.1:{running.port}: in use; choose another --port"
        with (
            pytest.raises(UsageError, match=problem),
            serving(options(MODERN, port=running.port)),
        ):
            pytest.fail("it listens")


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to end in good order")
def test_the_command_serves_until_it_is_terminated(tmp_path: Path) -> None:
    log = tmp_path / "log"
    argv = [sys.executable, "-m", "mcpconf.fixture_server", "--transport", "http"]
    with subprocess.Popen(
        [*argv, "--log", str(log)], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("listening on http://127.0.0.1:")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    assert records(log, "signal")[0]["name"] == "SIGTERM"
    assert records(log, "exit")[-1]["code"] == 0


def test_a_request_that_is_never_answered_does_not_keep_the_server(
    told: queue.Queue[Any],
) -> None:
    with client_of(LEGACY, None, "scripted") as (client, running):
        client.open_session()
        raw = legacy_post(running, client, rpc("test/wait"))
        assert told.get(timeout=PATIENCE_S) == "waiting"
    assert read_all(raw) == b""


def test_a_connection_that_is_gone_is_aborted_without_a_fault() -> None:
    """A transport that was closed with bytes still to write forgets its event loop."""

    async def scenario() -> None:
        opened: asyncio.Future[Connection] = asyncio.get_running_loop().create_future()

        def take(
            reader: asyncio.StreamReader, writer: asyncio.StreamWriter
        ) -> Connection:
            connection = Connection(1, reader, writer)
            writer.write(b"x" * (1 << 24))  # more than any socket takes at once
            writer.close()
            opened.set_result(connection)
            return connection

        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Protocol(take), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            assert len(await reader.read()) == 1 << 24
            writer.close()
            connection = await opened
            assert connection.is_gone
            connection.abort()

    asyncio.run(scenario())
