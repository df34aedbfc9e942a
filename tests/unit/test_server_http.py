"""What a client of a server sends, reads, waits for and records."""

from __future__ import annotations

import json
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from hostile_server import PATIENCE_S, SSE_HEAD, Connection, Hostile, hostile, http

from mcpconf.server.exchange import Exchange, Form, How
from mcpconf.server.http import Client, HttpLimits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.decode import Json

ASK: Json = {"jsonrpc": "2.0", "id": 1, "method": "m"}
DONE: Json = {"jsonrpc": "2.0", "id": 1, "result": {}}
LIMITS = HttpLimits(answer_s=PATIENCE_S)


def client_of(server: Hostile, recorded: list[Exchange] | None = None) -> Client:
    into = [] if recorded is None else recorded
    return Client(server.url, record=into.append, limits=LIMITS)


def event(message: Json) -> bytes:
    return b"data: " + json.dumps(message).encode() + b"\n\n"


def is_done(message: Mapping[str, Json]) -> bool:
    return "result" in message


def threads() -> list[str]:
    return [each.name for each in threading.enumerate() if "mcpconf" in each.name]


def test_json_answer_is_recorded_whole() -> None:
    recorded: list[Exchange] = []
    answer = http(json.dumps(DONE).encode(), "X-Two: a", "X-Two: b")
    with hostile(lambda c: c.answer(answer)) as server:
        with client_of(server, recorded) as client:
            one = client.post("first", ASK)
        head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert recorded == [one]
    assert (one.label, one.method, one.sent) == ("first", "POST", ASK)
    assert (one.status, one.form, one.how) == (200, Form.JSON, How.COMPLETE)
    assert (one.problem, one.text) == (None, None)
    assert [each.message for each in one.received] == [DONE]
    assert one.result == {}
    assert one.headers["x-two"] == "a, b"
    assert 0 <= one.t0_ms <= one.received[0].t_ms <= one.t1_ms
    assert json.loads(body) == ASK
    assert head.startswith(b"POST /mcp HTTP/1.1\r\n")
    assert b"Accept: application/json, text/event-stream\r\n" in head
    assert head.lower().count(b"content-length") == 1


@pytest.mark.parametrize(
    ("answer", "status", "form", "text"),
    [
        pytest.param(http(b"", status="202 Accepted"), 202, Form.EMPTY, None, id="202"),
        pytest.param(
            b"HTTP/1.1 204 No Content\r\n\r\n", 204, Form.EMPTY, None, id="204"
        ),
        pytest.param(
            http(b"<p>", "Content-Type: text/html"), 200, Form.OTHER, "<p>", id="HTML"
        ),
        pytest.param(http(b"{}", "Content-Type:"), 200, Form.OTHER, "{}", id="no type"),
        pytest.param(
            http(b"{}", "Content-Type: Application/JSON; charset=utf-8"),
            200,
            Form.JSON,
            None,
            id="a type with parameters",
        ),
        pytest.param(
            http(b"no", "Content-Type: text/plain", status="404 Not Found"),
            404,
            Form.OTHER,
            "no",
            id="404",
        ),
        pytest.param(
            b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{}",
            200,
            Form.JSON,
            None,
            id="the end of the connection is the end of the body",
        ),
    ],
)
def test_form_follows_type_and_body(
    answer: bytes, status: int, form: Form, text: str | None
) -> None:
    with hostile(lambda c: c.answer(answer)) as server, client_of(server) as client:
        one = client.post("one", ASK)
    assert (one.status, one.form, one.text) == (status, form, text)
    assert (one.how, one.response()) == (How.COMPLETE, None)


def test_stream_is_read_to_the_response_and_no_further() -> None:
    note: Json = {"jsonrpc": "2.0", "method": "notifications/progress"}
    other: Json = {"jsonrpc": "2.0", "id": "1", "result": {}}
    stream = [
        b": a comment\n\nid: 1\nretry: 5\ndata:\n\n",
        event(note),
        b"event: ping\ndata: no JSON\n\n",
        event(other),
        b'data: {"jsonrpc": "2.0",\r\ndata: "id": 1, "result": {}}\r\n\r\n',
        event({"after": "it"}),
    ]

    def behave(connection: Connection) -> None:
        connection.answer(SSE_HEAD + b"".join(stream))
        connection.wait_left()  # a stream that its server leaves open

    with hostile(behave) as server, client_of(server) as client:
        one = client.post("one", ASK)
    assert (one.form, one.how, one.problem) == (Form.SSE, How.COMPLETE, None)
    assert [each.message for each in one.received] == [note, other, DONE]


def test_stream_that_ends_without_a_response_is_complete_and_has_none() -> None:
    with (
        hostile(lambda c: c.answer(SSE_HEAD + event({"a": 1}))) as server,
        client_of(server) as client,
    ):
        one = client.post("one", ASK)
    assert (one.how, one.response(), len(one.received)) == (How.COMPLETE, None, 1)


def test_headers_are_added_replaced_and_left_out() -> None:
    changes = {
        "Authorization": "Bearer a",
        "mcp-method": "x",
        "ACCEPT": "text/html",
        "Content-Type": None,
    }
    with hostile(lambda c: c.answer(http(b"{}"))) as server:
        with client_of(server) as client:
            one = client.post("one", ASK, headers=changes)
        head = server.requests[0].partition(b"\r\n\r\n")[0].split(b"\r\n")
    assert one.sent_headers == {
        "authorization": "Bearer a",
        "accept-encoding": "identity",
        "user-agent": "mcpconf",
        "mcp-method": "x",
        "accept": "text/html",
    }
    assert b"mcp-method: x" in head
    assert b"ACCEPT: text/html" in head
    assert not [line for line in head if line.lower().startswith(b"content-type")]
    assert len([line for line in head if line.lower().startswith(b"accept:")]) == 1


def test_host_header_can_be_another() -> None:
    with hostile(lambda c: c.answer(http(b"{}"))) as server:
        with client_of(server) as client:
            client.post("one", ASK, headers={"Host": "evil.example.com"})
        head = server.requests[0].lower()
    assert head.count(b"\r\nhost:") == 1
    assert b"\r\nhost: evil.example.com\r\n" in head


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a", "b\r\nc: d"),
        ("a", "b\x00"),
        ("a:", "b"),
        ("a b", "c"),
        ("", "b"),
        ("a", "\u20ac"),
    ],
)
def test_header_that_http_cannot_carry_is_a_mistake_of_the_caller(
    name: str, value: str
) -> None:
    with (
        hostile(lambda c: c.answer(http(b"{}"))) as server,
        client_of(server) as client,
        pytest.raises(ValueError, match="HTTP cannot carry the header"),
    ):
        client.post("one", ASK, headers={name: value})


def test_bytes_are_sent_as_they_are() -> None:
    with hostile(lambda c: c.answer(http(b"{}"))) as server:
        with client_of(server) as client:
            broken = client.post("broken", b'{"id": \xff')
            double = client.post("double", b'{"id": 1, "id": 1}')
            valid = client.post("valid", b'{"id":  1}')
        bodies = [each.partition(b"\r\n\r\n")[2] for each in server.requests]
    assert bodies == [b'{"id": \xff', b'{"id": 1, "id": 1}', b'{"id":  1}']
    assert broken.sent == '{"id": \ufffd'
    assert double.sent == '{"id": 1, "id": 1}'
    assert valid.sent == {"id": 1}


def test_another_method_may_go_without_a_body() -> None:
    with hostile(lambda c: c.answer(http(b""))) as server:
        with client_of(server) as client:
            one = client.post("end", b"", method="DELETE")
        assert server.requests[0].startswith(b"DELETE /mcp HTTP/1.1\r\n")
    assert (one.method, one.sent) == ("DELETE", "")


def test_environment_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    with (
        hostile(lambda c: c.answer(http(b"{}"))) as server,
        client_of(server) as client,
    ):
        assert client.post("one", ASK).how is How.COMPLETE


def test_nothing_is_kept_between_requests() -> None:
    answer = http(b"{}", "Set-Cookie: a=b; Path=/")
    with hostile(lambda c: c.answer(answer)) as server:
        with client_of(server) as client:
            client.post("one", ASK)
            client.post("two", ASK)
        assert len(server.requests) == 2
        assert not [each for each in server.requests if b"cookie" in each.lower()]


def test_server_may_live_at_ipv6() -> None:
    try:
        with socket.socket(socket.AF_INET6) as one:
            one.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no IPv6")
    with hostile(lambda c: c.answer(http(b"{}")), host="::1") as server:
        url = f"http://[::1]:{server.port}/mcp"
        with Client(url, record=lambda _: None, limits=LIMITS) as client:
            assert client.post("one", ASK).how is How.COMPLETE
        assert f"host: [::1]:{server.port}\r\n".encode() in server.requests[0].lower()


@pytest.mark.skipif(sys.platform != "linux", reason="how others count differs")
def test_address_that_takes_no_connection_is_refused_in_time() -> None:
    """A listener whose queue is full lets the next one wait."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        place = listener.getsockname()
        waiting = [socket.socket() for _ in range(4)]
        for each in waiting:
            each.settimeout(0)
            each.connect_ex(place)
        limits = HttpLimits(connect_s=0.2, answer_s=PATIENCE_S)
        url = f"http://127.0.0.1:{place[1]}/"
        with Client(url, record=lambda _: None, limits=limits) as client:
            one = client.post("one", ASK)
        for each in waiting:
            each.close()
    assert one.how is How.REFUSED
    assert one.problem == "no connection: nobody answered within 0.2 s"


def test_sixty_four_requests_are_under_way_at_once() -> None:
    """None is answered before all have come."""
    count = 64
    everyone = threading.Barrier(count)

    def behave(connection: Connection) -> None:
        connection.request()
        everyone.wait(PATIENCE_S)
        connection.send(http(json.dumps(DONE).encode()))

    recorded: list[Exchange] = []
    with (
        hostile(behave) as server,
        client_of(server, recorded) as client,
        ThreadPoolExecutor(count) as pool,
    ):
        labels = [f"one-{number}" for number in range(count)]
        exchanges = list(pool.map(lambda label: client.post(label, ASK), labels))
    assert [each.label for each in exchanges] == labels
    assert {each.how for each in exchanges} == {How.COMPLETE}
    assert sorted(each.label for each in recorded) == sorted(labels)


def test_open_stream_gives_past_and_coming_messages() -> None:
    second_wanted = threading.Event()

    def behave(connection: Connection) -> None:
        connection.answer(SSE_HEAD + event({"number": 1}))
        second_wanted.wait(PATIENCE_S)
        connection.send(event({"number": 2}))
        connection.wait_left()
        connection.server.left.set()

    recorded: list[Exchange] = []
    with hostile(behave) as server, client_of(server, recorded) as client:
        stream = client.open("listen", ASK)
        assert stream.wait(lambda _: True, PATIENCE_S) == {"number": 1}
        assert stream.wait(lambda m: m["number"] == 2, 0) is None
        second_wanted.set()
        assert stream.wait(lambda m: m["number"] == 2, PATIENCE_S) == {"number": 2}
        assert stream.wait(lambda _: True, 0) == {"number": 1}
        assert recorded == []
        one = stream.close()
        assert server.left.wait(PATIENCE_S)
        assert stream.close() is one
    assert recorded == [one]
    assert (one.label, one.how, one.problem) == ("listen", How.CLOSED_BY_US, None)
    assert [each.message for each in one.received] == [{"number": 1}, {"number": 2}]
    assert threads() == []


def test_open_stream_is_not_ended_by_its_response() -> None:
    """Who asks for a stream wants to see whether anything follows."""
    stream = SSE_HEAD + event(DONE) + event({"after": "it"})
    with hostile(lambda c: c.answer(stream)) as server, client_of(server) as client:
        opened = client.open("one", ASK)
        assert opened.wait(lambda m: "after" in m, PATIENCE_S) == {"after": "it"}
        one = opened.close()
    assert len(one.received) == 2


def test_wait_ends_with_the_stream() -> None:
    with (
        hostile(lambda c: c.answer(SSE_HEAD + event({"a": 1}))) as server,
        client_of(server) as client,
    ):
        stream = client.open("one", ASK)
        assert stream.wait(is_done, 10 * PATIENCE_S) is None
        stream.wait_quiet(10 * PATIENCE_S, 10 * PATIENCE_S)
        assert stream.close().how is How.COMPLETE


def test_refusal_of_a_stream_is_a_message_of_it() -> None:
    refusal: Json = {"id": 1, "error": {"code": -32601}}
    answer = http(json.dumps(refusal).encode(), status="404 Not Found")
    with hostile(lambda c: c.answer(answer)) as server, client_of(server) as client:
        stream = client.open("one", ASK)
        assert stream.wait(lambda m: "error" in m, PATIENCE_S) == refusal
        one = stream.close()
    assert (one.status, one.form, one.error_code) == (404, Form.JSON, -32601)


def test_quiet_is_waited_for_until_nothing_comes() -> None:
    def behave(connection: Connection) -> None:
        connection.answer(SSE_HEAD)
        for number in range(20):
            connection.send(event({"number": number}))
        connection.wait_left()

    with hostile(behave) as server, client_of(server) as client:
        stream = client.open("one", ASK)
        assert stream.wait(lambda m: m["number"] == 19, PATIENCE_S)
        stream.wait_quiet(0.01, PATIENCE_S)
        one = stream.close()
    assert (one.how, len(one.received)) == (How.CLOSED_BY_US, 20)


def test_closing_the_client_ends_what_goes_on() -> None:
    recorded: list[Exchange] = []
    arrived = threading.Barrier(3)

    def behave(connection: Connection) -> None:
        connection.answer(SSE_HEAD)
        arrived.wait(PATIENCE_S)
        connection.wait_left()

    limits = HttpLimits(answer_s=10 * PATIENCE_S)
    with hostile(behave) as server, ThreadPoolExecutor(1) as pool:
        client = Client(server.url, record=recorded.append, limits=limits)
        posted = pool.submit(client.post, "post", ASK)
        client.open("listen", ASK)
        arrived.wait(PATIENCE_S)
        client.close()
        client.close()
        assert posted.result(PATIENCE_S).how is How.CLOSED_BY_US
        with pytest.raises(ValueError, match="the client is closed"):
            client.post("late", ASK)
        with pytest.raises(ValueError, match="the client is closed"):
            client.open("late", ASK)
    assert sorted(each.label for each in recorded) == ["listen", "post"]
    assert {each.how for each in recorded} == {How.CLOSED_BY_US}
    assert threads() == []


@pytest.mark.parametrize(("timeout_s", "shown"), [(0.1, "0.1"), (0.0999996, "0.1")])
def test_time_of_one_request_may_be_another(timeout_s: float, shown: str) -> None:
    """It is told as people write it, also where it is what others left of a time."""

    def behave(connection: Connection) -> None:
        connection.request()
        connection.wait_left()

    with hostile(behave) as server, client_of(server) as client:
        one = client.post("one", ASK, timeout_s=timeout_s)
    assert one.problem == f"no whole head within {shown} s"
