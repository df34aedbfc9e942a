"""The witness sees every exchange of a Node process, which does not notice it."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcpconf.suite.node import find_node
from mcpconf.wire import parse_wire

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(
        sys.platform == "win32", reason="descriptors are not inherited there"
    ),
]

ROOT = Path(__file__).resolve().parents[2]
WITNESS = ROOT / "mcpconf" / "suite" / "witness.cjs"
SERVER = ROOT / "fixtures" / "witness" / "answers_every_way.cjs"
LIMIT = 256 * 1024
WITNESSED = ("--require", str(WITNESS), str(SERVER))
#: Longer than any step needs; reached only when a test fails.
PATIENCE_S = 20.0

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/fd").is_dir(), reason="shows descriptors through /proc"
)


@functools.cache
def node() -> str:
    """The Node that runs the suite."""
    return str(find_node().path)


class Server:
    """The fixture server in its own Node; its log arrives record by record."""

    def __init__(
        self,
        command: list[str],
        environment: dict[str, str],
        *,
        keep: tuple[int, ...] = (),
        stderr: int = subprocess.PIPE,
    ) -> None:
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env={"PATH": os.environ["PATH"], **environment},
            pass_fds=keep,
        )
        self.port = 0
        self.records: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.reader: threading.Thread | None = None

    def wait_until_listening(self) -> None:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line.startswith("port "), line
        self.port = int(line.split()[1])

    def follow(self, descriptor: int) -> None:
        """Read the log in the background, from now on."""

        def read() -> None:
            with open(descriptor, encoding="utf-8") as stream:
                for line in stream:
                    self.records.put(json.loads(line))
            self.records.put(None)

        self.reader = threading.Thread(target=read, daemon=True)
        self.reader.start()

    def next(self, kind: str) -> dict[str, Any]:
        """The next record of one type; others before it are passed over."""
        while True:
            record = self.records.get(timeout=PATIENCE_S)
            assert record is not None, f"the log ended before a {kind}"
            if record["type"] == kind:
                return record

    def stop(self) -> list[dict[str, Any]]:
        """End the process; the records not yet taken, to the end of the log."""
        _, complaint = self.process.communicate(timeout=PATIENCE_S)
        assert (self.process.returncode, complaint) == (0, "")
        rest = []
        while self.reader is not None:
            record = self.records.get(timeout=PATIENCE_S)
            if record is None:
                break
            rest.append(record)
        return rest


@contextlib.contextmanager
def launched(
    *arguments: str,
    keep: tuple[int, ...] = (),
    stderr: int = subprocess.PIPE,
    under: tuple[str, ...] = (),
    **environment: str,
) -> Iterator[Server]:
    """Node with these arguments; it ends with the block."""
    command = [*under, node(), *arguments]
    server = Server(command, environment, keep=keep, stderr=stderr)
    with server.process:  # closes its pipes and collects it
        try:
            yield server
        finally:
            server.process.kill()
    if server.reader is not None:
        server.reader.join(PATIENCE_S)


@contextlib.contextmanager
def unwitnessed() -> Iterator[Server]:
    with launched(str(SERVER)) as server:
        server.wait_until_listening()
        yield server


def moved(descriptor: int, at_least: int) -> int:
    """The same file under a number no smaller than `at_least`."""
    import fcntl  # noqa: PLC0415 -- absent on Windows, where this is never called

    number = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, at_least)
    os.close(descriptor)
    return number


@contextlib.contextmanager
def witnessed(*, at: int | None = None) -> Iterator[Server]:
    """The server with a witness on a pipe, whose number is `at` or above."""
    reading, writing = os.pipe()
    if at is not None:
        writing = moved(writing, at)
    pipe = f"pipe:[{os.fstat(reading).st_ino}]"
    try:
        with launched(
            *WITNESSED, pipe, keep=(writing,), MCPCONF_WITNESS_FD=str(writing)
        ) as server:
            os.close(writing)
            writing = -1
            server.follow(reading)
            server.wait_until_listening()
            yield server
    finally:
        if writing >= 0:
            os.close(writing)


def ask(port: int, request: bytes) -> bytes:
    """Everything the server sends for `request`, to the end of the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as link:
        link.sendall(request)
        return read_all(link)


def read_all(link: socket.socket) -> bytes:
    received = []
    while chunk := link.recv(65536):
        received.append(chunk)
    return b"".join(received)


def http(
    path: str, *, method: str = "GET", body: bytes | None = None, keep: bool = False
) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    if not keep:
        lines.append("Connection: close")
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


CHUNKED = (
    b"POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
)
EXPECTING = (
    b"POST /echo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    b"Content-Length: 2\r\nExpect: 100-continue\r\n\r\nok"
)
REPEATED = (
    b"GET /text HTTP/1.1\r\nHost: localhost\r\nX-Two: 1\r\nX-Two: 2\r\n"
    b"__proto__: p\r\nConnection: close\r\n\r\n"
)

REQUESTS = [
    pytest.param(http("/text"), "plain\n", id="text"),
    pytest.param(http("/object-head"), '{"ok":true}', id="object head"),
    pytest.param(http("/array-head"), "array", id="array head"),
    pytest.param(http("/mixed-head"), "", id="set and written headers"),
    pytest.param(http("/old-alias"), "ok", id="writeHeader"),
    pytest.param(http("/encodings"), "\ufffdt\ufffd \U0001f600\nend", id="encodings"),
    pytest.param(http("/callbacks"), "called", id="callbacks"),
    pytest.param(http("/returns"), "xy[true,true,false,null]", id="return values"),
    pytest.param(
        http("/sse"),
        "".join(f'id: {n}\ndata: {{"n":{n},"text":"\u20ac"}}\n\n' for n in range(5)),
        id="event stream",
    ),
    pytest.param(http("/text", method="HEAD"), "", id="HEAD"),
    pytest.param(http("/empty"), "", id="204"),
    pytest.param(http("/not-modified"), "", id="304"),
    pytest.param(http("/echo", method="POST", body=b"echoed"), "echoed", id="echo"),
    pytest.param(CHUNKED, "hello world", id="chunked request"),
    pytest.param(EXPECTING, "ok", id="100-continue"),
    pytest.param(
        http("/paused", method="POST", body=b"12345"),
        '{"before":null,"length":5}',
        id="paused request",
    ),
    pytest.param(http("/early", method="POST", body=b"unread"), "no", id="early"),
    pytest.param(http("/routed", method="POST", body=b"x"), "routed", id="routed"),
    pytest.param(http("/rejected-write"), "ERR_INVALID_ARG_TYPE", id="rejected write"),
    pytest.param(http("/late-write"), "done", id="late write"),
    pytest.param(http("/reused-buffer"), "first", id="reused buffer"),
    pytest.param(http("/exchanged-prototype"), "ended", id="exchanged prototype"),
    pytest.param(http("/handed-on"), "handed on", id="handed on"),
    pytest.param(REPEATED, "plain\n", id="repeated header"),
    pytest.param(http("/text", keep=True) + http("/sse"), "plain\n", id="pipelined"),
    pytest.param(http("/large"), "b" * LIMIT, id="1 MiB response"),
    pytest.param(
        http("/collect", method="POST", body=b"q" * 1024 * 1024),
        "q" * LIMIT,
        id="1 MiB request",
    ),
]


@pytest.fixture(scope="module")
def plain_server() -> Iterator[Server]:
    with unwitnessed() as server:
        yield server


@pytest.fixture(scope="module")
def seen_server() -> Iterator[Server]:
    with witnessed() as server:
        yield server


@pytest.mark.parametrize(("request_bytes", "body"), REQUESTS)
def test_response_is_the_same_bytes_with_and_without_the_witness(
    plain_server: Server, seen_server: Server, request_bytes: bytes, body: str
) -> None:
    """The client cannot tell that it is watched, and the log holds what it got."""
    expected = ask(plain_server.port, request_bytes)
    assert expected.startswith(b"HTTP/1.1 ")
    assert ask(seen_server.port, request_bytes) == expected
    start = seen_server.next("response-start")
    response = seen_server.next("response")
    assert start["id"] == response["id"]
    assert expected.startswith(f"HTTP/1.1 {start['status']} ".encode()) or (
        b"\r\n\r\nHTTP/1.1 %d " % start["status"] in expected  # after 100 Continue
    )
    assert (response["body"], response["ended"]) == (body, "finished")
    if request_bytes.count(b" HTTP/1.1\r\n") == 2:
        second = seen_server.next("response")  # leave nothing for the next case
        assert second["body"].count("data: ") == 5


def test_witness_is_invisible_to_the_handlers() -> None:
    """No listener, no flowing stream, no property and no variable gives it away."""
    with unwitnessed() as plain, witnessed() as seen:
        expected = ask(plain.port, http("/tells")).partition(b"\r\n\r\n")[2]
        found = ask(seen.port, http("/tells")).partition(b"\r\n\r\n")[2]
    assert json.loads(expected)["environment"] == []
    assert json.loads(expected)["flowing"] is None
    assert found == expected


def test_records_follow_the_exchange() -> None:
    with witnessed() as server:
        ask(server.port, http("/routed", method="POST", body=b'{"a":1}'))
        listen, request, start, response = server.stop()
    assert listen == {"type": "listen", "t": listen["t"], "port": server.port}
    assert request == {
        "type": "request",
        "t": request["t"],
        "id": 1,
        "port": server.port,
        "remote_port": request["remote_port"],
        "http": "1.1",
        "method": "POST",
        "url": "/routed",
        "headers": {
            "host": "localhost",
            "connection": "close",
            "content-length": "7",
        },
        "body": '{"a":1}',
        "bytes": 7,
        "truncated": False,
        "aborted": False,
    }
    assert start == {
        "type": "response-start",
        "t": start["t"],
        "id": 1,
        "status": 200,
        "headers": {"connection": "close", "content-length": "6"},
    }
    assert response == {
        "type": "response",
        "t": response["t"],
        "id": 1,
        "body": "routed",
        "bytes": 6,
        "truncated": False,
        "ended": "finished",
    }
    times = [listen["t"], request["t"], start["t"], response["t"]]
    assert times == sorted(times)
    assert all(round(each, 3) == each for each in times)


def test_request_record_keeps_the_url_of_the_client() -> None:
    """A router shortens `url` while the body arrives."""
    with witnessed() as server:
        ask(server.port, http("/routed?q=1", method="POST", body=b"x"))
        assert server.next("request")["url"] == "/routed?q=1"


def test_repeated_headers_become_arrays() -> None:
    with witnessed() as server:
        ask(server.port, REPEATED)
        headers = server.next("request")["headers"]
        assert headers["x-two"] == ["1", "2"]
        assert headers["__proto__"] == "p"
        assert server.next("response")
        ask(server.port, http("/array-head"))
        assert server.next("response-start")["headers"]["x-two"] == ["1", "2"]


def test_request_without_a_body_is_recorded_before_its_answer() -> None:
    with witnessed() as server:
        ask(server.port, http("/text"))
        kinds = [record["type"] for record in server.stop()]
    assert kinds == ["listen", "request", "response-start", "response"]


def test_body_is_bounded_and_its_true_size_kept() -> None:
    """Where the bound cuts a character in two, the log shows no broken one."""
    body = "\u20ac" * 100_000  # three bytes each: the bound falls inside one
    with witnessed() as server:
        ask(server.port, http("/echo", method="POST", body=body.encode()))
        request = server.next("request")
        response = server.next("response")
    for record in (request, response):
        assert (record["bytes"], record["truncated"]) == (300_000, True)
        assert record["body"] == "\u20ac" * (LIMIT // 3)


def test_character_split_between_two_chunks_is_whole_in_the_log() -> None:
    head, body = http("/echo", method="POST", body="\u20ac".encode())[:-3], b"\xe2\x82"
    with (
        witnessed() as server,
        socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as link,
    ):
        link.sendall(head + body)
        received = b""
        while not received.endswith(body + b"\r\n"):  # the first part came back
            received += link.recv(4096)
        link.sendall(b"\xac")
        read_all(link)
        assert server.next("request")["body"] == "\u20ac"
        assert server.next("response")["body"] == "\u20ac"


def test_aborted_request_is_recorded_with_what_came() -> None:
    with witnessed() as server:
        whole = http("/echo", method="POST", body=b"0123456789")
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as link:
            link.sendall(whole[:-5])
            received = b""
            while not received.endswith(b"01234\r\n"):
                received += link.recv(4096)
        request = server.next("request")
        assert (request["body"], request["bytes"]) == ("01234", 5)
        assert (request["truncated"], request["aborted"]) == (False, True)


def test_body_the_server_did_not_wait_for_is_marked_as_cut() -> None:
    """Node throws away what arrives after the response; nobody aborted it."""
    whole = http("/early", method="POST", body=b"0123456789", keep=True)
    with (
        witnessed() as server,
        socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as link,
    ):
        link.sendall(whole[:-5])
        assert server.next("response")["ended"] == "finished"
        request = server.next("request")
        link.sendall(whole[-5:] + http("/text"))
        assert b"plain\n" in read_all(link)  # the same connection serves on
        _, _, _, *rest = server.stop()
    assert (request["body"], request["truncated"]) == ("01234", True)
    assert request["aborted"] is False
    assert rest == []


def test_client_that_leaves_a_stream_closes_it() -> None:
    with witnessed() as server:
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as link:
            link.sendall(http("/until-gone"))
            received = b""
            while b'"first"\n\n' not in received:
                received += link.recv(4096)
        response = server.next("response")
        assert response["ended"] == "closed"
        assert response["body"] == 'data: "first"\n\n'  # not what nobody could hear
        assert server.process.stdout is not None
        assert server.process.stdout.readline() == "gone\n"


def test_server_that_hangs_up_closes_its_response() -> None:
    """What it writes to the closed connection is not in the log."""
    with witnessed() as server:
        ask(server.port, http("/hang-up"))
        response = server.next("response")
        assert (response["body"], response["ended"]) == ("unsent", "closed")


def test_request_that_one_server_hands_to_another_is_one_exchange() -> None:
    with witnessed() as server:
        ask(server.port, http("/handed-on"))
        kinds = [record["type"] for record in server.stop()]
    assert kinds == ["listen", "request", "response-start", "response"]


def test_exchanges_still_open_at_the_end_are_flushed() -> None:
    """One without an answer, one in the middle of its stream, one half sent."""
    with witnessed() as server, contextlib.ExitStack() as stack:
        links = [
            stack.enter_context(
                socket.create_connection(("127.0.0.1", server.port), PATIENCE_S)
            )
            for _ in range(3)
        ]
        links[0].sendall(http("/never"))
        server.next("request")
        links[1].sendall(http("/stream-forever"))
        server.next("response-start")
        links[2].sendall(http("/echo", method="POST", body=b"half")[:-2])
        server.next("response-start")
        never, forever, half_sent, half = server.stop()
    assert (never["id"], never["body"], never["ended"]) == (1, "", "open")
    assert (forever["id"], forever["ended"]) == (2, "open")
    assert forever["body"] == 'data: "first"\n\n'
    assert (half_sent["type"], half_sent["aborted"]) == ("request", True)
    assert (half["id"], half["body"], half["ended"]) == (3, "ha", "open")


def test_exchanges_still_open_at_a_termination_are_flushed() -> None:
    """A hung suite is stopped by a signal; that is when the log matters most."""
    with (
        witnessed() as server,
        socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as link,
    ):
        link.sendall(http("/stream-forever"))
        server.next("response-start")
        server.process.terminate()
        assert server.process.wait(PATIENCE_S) == -signal.SIGTERM
        response = server.next("response")
        assert (response["body"], response["ended"]) == ('data: "first"\n\n', "open")
        assert server.records.get(timeout=PATIENCE_S) is None


def test_termination_is_left_to_a_suite_that_handles_it() -> None:
    script = (
        'process.on("SIGTERM", () => { console.log("its own way");'
        "setTimeout(() => process.exit(7), 100); });"
        'console.log("port 1"); setInterval(() => {}, 1000);'
    )
    reading, writing = os.pipe()
    with launched(
        *WITNESSED[:2], "-e", script, keep=(writing,), MCPCONF_WITNESS_FD=str(writing)
    ) as server:
        os.close(writing)
        server.follow(reading)
        server.wait_until_listening()
        server.process.terminate()
        assert server.process.wait(PATIENCE_S) == 7
        assert server.process.stdout is not None
        assert server.process.stdout.read() == "its own way\n"


def test_file_may_take_the_place_of_the_descriptor(tmp_path: Path) -> None:
    log = tmp_path / "wire.jsonl"
    log.write_text('{"earlier":true}\n', encoding="utf-8")
    with launched(*WITNESSED, MCPCONF_WITNESS_FILE=str(log)) as server:
        server.wait_until_listening()
        found = ask(server.port, http("/tells")).partition(b"\r\n\r\n")[2]
        server.stop()
    assert json.loads(found)["environment"] == []
    kinds = [
        json.loads(line).get("type")
        for line in log.read_text(encoding="utf-8").splitlines()
    ]
    assert kinds == [None, "listen", "request", "response-start", "response"]


def test_fault_of_the_witness_tears_its_log_and_nothing_else(tmp_path: Path) -> None:
    """The suite serves on; the log says that it is not the whole story."""
    path = tmp_path / "wire.jsonl"
    with launched(*WITNESSED, MCPCONF_WITNESS_FILE=str(path)) as server:
        server.wait_until_listening()
        ask(server.port, http("/text"))
        assert not parse_wire(path.read_bytes(), path).truncated
        assert ask(server.port, http("/breaks-the-witness")).endswith(b"served")
        assert b"plain\n" in ask(server.port, http("/text"))
        server.stop()
    log = parse_wire(path.read_bytes(), path)
    assert log.truncated
    assert [each.url for each in log.exchanges] == ["/text", "/breaks-the-witness"]


def test_close_of_a_server_is_recorded() -> None:
    script = (
        'const server = require("http").createServer();'
        'server.listen(0, () => { console.log("port " + server.address().port);'
        "server.close(); });"
    )
    reading, writing = os.pipe()
    with launched(
        *WITNESSED[:2], "-e", script, keep=(writing,), MCPCONF_WITNESS_FD=str(writing)
    ) as server:
        os.close(writing)
        server.follow(reading)
        server.wait_until_listening()
        assert server.next("listen")["port"] == server.port
        assert server.next("close")["port"] == server.port


needs_full = pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="needs a device that is always full"
)


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param(
            {"MCPCONF_WITNESS_FILE": "/dev/full"}, marks=needs_full, id="full disk"
        ),
        pytest.param({"MCPCONF_WITNESS_FILE": "/nowhere/at/all"}, id="no folder"),
        pytest.param({"MCPCONF_WITNESS_FD": "14"}, id="no such descriptor"),
        pytest.param({"MCPCONF_WITNESS_FD": "1e1"}, id="no number"),
        pytest.param({}, id="not asked"),
    ],
)
def test_suite_goes_on_without_a_working_witness(
    plain_server: Server, environment: dict[str, str]
) -> None:
    with launched(*WITNESSED, **environment) as server:  # type: ignore[arg-type]
        server.wait_until_listening()
        for path in ("/sse", "/tells"):
            expected = ask(plain_server.port, http(path))
            assert ask(server.port, http(path)) == expected
        server.stop()


def test_suite_goes_on_when_the_runner_stops_reading() -> None:
    reading, writing = os.pipe()
    with launched(
        *WITNESSED, keep=(writing,), MCPCONF_WITNESS_FD=str(writing)
    ) as server:
        os.close(writing)
        server.wait_until_listening()
        os.close(reading)
        for _ in range(2):
            assert b"plain\n" in ask(server.port, http("/text"))
        server.stop()


@needs_proc
def test_suite_goes_on_when_the_descriptor_is_closed_under_the_witness() -> None:
    with witnessed() as server:
        assert ask(server.port, http("/closed-descriptor")).endswith(b"closed")
        assert b"plain\n" in ask(server.port, http("/text"))
        assert [record["type"] for record in server.stop()] == ["listen", "request"]


@contextlib.contextmanager
def witnessed_unread(*, through: str) -> Iterator[tuple[Server, int]]:
    """A server whose log nobody reads yet, and the descriptor to read it from."""
    reading, writing = os.pipe() if through == "pipe" else full_duplex()
    # A low number, which Node keeps from children: the shell makes it 9.
    shell = ("/bin/sh", "-c", 'exec "$@" 9>&2 2>/dev/null', "sh")
    with launched(
        *WITNESSED, under=shell, stderr=writing, MCPCONF_WITNESS_FD="9"
    ) as server:
        os.close(writing)
        server.wait_until_listening()
        yield server, reading


def full_duplex() -> tuple[int, int]:
    """A socket cannot be opened anew, so the witness keeps the one it was given."""
    near, far = socket.socketpair()
    far.settimeout(0)
    return near.detach(), far.detach()


@pytest.mark.parametrize("through", ["pipe", "socket"])
def test_full_pipe_delays_a_line_and_never_tears_it(through: str) -> None:
    with (
        witnessed_unread(through=through) as (server, reading),
        socket.create_connection(("127.0.0.1", server.port), PATIENCE_S) as link,
    ):
        link.sendall(http("/large"))
        received = b""
        while not received.endswith(b"\r\n\r\n" + b"b" * 1024 * 1024):
            received += link.recv(1024 * 1024)
        # The record of this answer is longer than the kernel holds.
        server.follow(reading)
        assert server.next("response")["body"] == "b" * LIMIT
        assert b"plain\n" in ask(server.port, http("/text"))
        assert server.next("response")["body"] == "plain\n"


def inherited_by_a_child(server: Server, needle: str) -> bool:
    report = ask(server.port, http("/child")).decode()
    assert "PATH=" in report
    assert "MCPCONF_" not in report
    return needle in report


@needs_proc
@pytest.mark.parametrize("at", [None, 61], ids=["low", "past a gap"])
def test_children_of_the_suite_inherit_neither_descriptor_nor_variable(
    at: int | None,
) -> None:
    with witnessed(at=at) as server:
        pipe = server.process.args[-1]  # type: ignore[index]
        assert not inherited_by_a_child(server, str(pipe))
        assert server.next("request")["url"] == "/child"


@needs_proc
def test_children_would_inherit_a_descriptor_past_a_gap() -> None:
    """What the witness guards against is real: plain Node lets it through."""
    reading, writing = os.pipe()
    high = moved(writing, 61)
    pipe = f"pipe:[{os.fstat(reading).st_ino}]"
    with launched(str(SERVER), keep=(high,)) as server:
        os.close(high)
        server.wait_until_listening()
        assert inherited_by_a_child(server, pipe)
    os.close(reading)


@needs_proc
def test_descriptor_that_cannot_be_kept_from_children_is_not_used() -> None:
    near, far = socket.socketpair()
    name = f"socket:[{os.fstat(far.fileno()).st_ino}]"
    high = moved(far.detach(), 61)
    with (
        near,
        launched(*WITNESSED, keep=(high,), MCPCONF_WITNESS_FD=str(high)) as server,
    ):
        os.close(high)
        server.wait_until_listening()
        assert not inherited_by_a_child(server, name)
        near.settimeout(PATIENCE_S)
        assert near.recv(1) == b""  # nothing written, and closed


def test_compile_cache_is_kept_and_its_variable_is_not(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with launched(*WITNESSED, MCPCONF_COMPILE_CACHE=str(cache)) as server:
        server.wait_until_listening()
        found = ask(server.port, http("/tells")).partition(b"\r\n\r\n")[2]
        server.stop()
    assert json.loads(found)["environment"] == []
    assert [each for each in cache.rglob("*") if each.is_file()]
