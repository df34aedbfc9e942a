"""The fixture server as a program on stdio, and its command line."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from mcpconf import fixture_server
from mcpconf.fixture_server.cli import options_from
from mcpconf.fixture_server.profile import PROFILES, THEMES
from mcpconf.revision import Era, Revision

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Start = Callable[..., "Program"]

pytestmark = pytest.mark.process

Json: TypeAlias = Any
MODULE = ("-I", "-m", "mcpconf.fixture_server")
#: As a case starts it.
FILE = ("-I", "-S", f"{fixture_server.__path__[0]}/__main__.py")
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}
OPENING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "c", "version": "1"},
}
#: A server with a profile of ours, which does a little at every place of its life.
ODD = """
import os, sys
from mcpconf.fixture_server import cli, profile
from mcpconf.fixture_server.profile.base import Profile

class Odd(Profile):
    name, title, ignores_sigterm = "odd", "odd", True

    async def before_start(self):
        os.write(1, b"noise\\n")

    async def intercept(self, call):
        if call.id == "raw":
            await call.raw(b"half", message=None)
            await call.raw(b" a line\\n", message=None)
        elif call.id == "cut":
            await call.cut()
        else:
            return False
        return True

    def line(self, data):
        return data + b"\\n"

    async def at_end_of_input(self):
        self.fault("lingered")

profile.PROFILES["odd"] = Odd
sys.exit(cli.main())
"""


class Program:
    """A fixture server that runs, and its log."""

    def __init__(
        self, argv: tuple[str, ...], log: Path, stdin: int, stderr: int | None
    ) -> None:
        self.log_path = log
        self._process = subprocess.Popen(
            (sys.executable, *argv, "--log", str(log)),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "FIXTURE_TEST": "the value"},
        )
        # A test that waits in vain ends, and fails, when the server does.
        self._watch = threading.Timer(20, self._process.kill)
        self._watch.start()

    def send(self, *messages: Json) -> None:
        """Send messages; bytes go as they are."""
        pipe = self._process.stdin
        assert pipe is not None
        for message in messages:
            is_raw = isinstance(message, bytes)
            pipe.write(message if is_raw else json.dumps(message).encode() + b"\n")
        pipe.flush()

    def line(self) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.readline()

    def receive(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.line())
        return message

    def ask(self, message: Json) -> dict[str, Any]:
        self.send(message)
        return self.receive()

    def open(self) -> None:
        """Shake hands."""
        self.ask(request(0, "initialize", OPENING))
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def kill(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def close(self) -> tuple[int, bytes]:
        """End the input; the exit code, and what was still said."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            rest = pipe.read()
        self._watch.cancel()
        return self._process.wait(), rest

    def stderr(self) -> str:
        """What was said on stderr, after the end."""
        assert self._process.stderr is not None
        return self._process.stderr.read().decode()

    def end(self) -> None:
        """Clean up, whatever happened."""
        with self._process:
            self._process.kill()
        self._watch.cancel()

    def log(self, kind: str) -> list[dict[str, Any]]:
        lines = self.log_path.read_text().splitlines()
        records = [json.loads(line) for line in lines]
        return [record for record in records if record["type"] == kind]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    programs: list[Program] = []

    def begin(
        *flags: str,
        argv: tuple[str, ...] = FILE,
        stdin: int = subprocess.PIPE,
        stderr: int | None = None,
    ) -> Program:
        programs.append(Program((*argv, *flags), tmp_path / "log", stdin, stderr))
        return programs[-1]

    yield begin
    for program in programs:
        program.end()


def request(request_id: Json, method: str, params: Json = None) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return {**message, "params": {"_meta": META, **(params or {})}}


def call(request_id: Json, name: str, **arguments: Json) -> dict[str, Any]:
    return request(request_id, "tools/call", {"name": name, "arguments": arguments})


def cancel(request_id: Json) -> dict[str, Any]:
    params = {"requestId": request_id}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


@pytest.mark.parametrize("revision", Revision)
def test_a_server_serves_and_ends_with_its_input(
    start: Start, revision: Revision
) -> None:
    """And what went both ways is in its log, without the secrets."""
    program = start("--revision", revision)
    if revision.era is Era.HANDSHAKE:
        program.open()
    text = "Authorization: Bearer sesame-open-abcdef こ"
    echoed = program.ask(call("a", "echo", text=text))
    assert echoed["id"] == "a"
    assert echoed["result"]["content"][0]["text"] == text
    assert program.close() == (0, b"")
    (begun,) = program.log("start")
    assert (begun["revision"], begun["transport"]) == (revision, "stdio")
    assert "FIXTURE_TEST" in begun["environment"]
    assert "the value" not in program.log_path.read_text()
    assert "sesame" not in program.log_path.read_text()
    assert [each["event"] for each in program.log("connection")] == ["opened", "closed"]
    assert program.log("received")[-1]["message"]["method"] == "tools/call"
    (last,) = program.log("sent")[-1:]
    assert (last["stream"], last["message"]["id"]) == ("stdio", "a")
    assert program.log("exit")[0]["code"] == 0


@pytest.mark.parametrize(
    ("revision", "more"), [("2026-07-28", {}), ("2025-11-25", {"id": None})]
)
def test_a_line_that_is_no_json_is_refused_and_the_next_is_served(
    start: Start, revision: str, more: Json
) -> None:
    program = start("--revision", revision)
    error = {"code": -32700, "message": "Parse error"}
    for bad in (b"nonsense\n", b"\n", b'{"a": "\xff"}\n'):
        program.send(bad)
        assert program.receive() == {"jsonrpc": "2.0", "error": error, **more}
    assert program.ask([])["error"]["code"] == -32600
    assert "id" in program.ask(request(1, "server/discover"))
    assert [each["text"] for each in program.log("received")][:1] == ["nonsense"]


def test_a_slow_request_holds_nothing_up_and_can_be_cancelled(start: Start) -> None:
    program = start("--delay-s", "3600")
    program.send(call(1, "slow"))
    assert program.ask(call(2, "echo", text="a"))["id"] == 2
    program.send(cancel("1"), cancel(99), cancel(1), cancel(None))
    assert program.ask(call("1", "echo", text="b"))["id"] == "1"
    assert program.close() == (0, b"")


def test_what_is_in_flight_at_the_end_of_input_is_answered_if_it_is_quick(
    start: Start,
) -> None:
    program = start("--delay-s", "0.05")
    program.send(call(1, "slow"))
    code, rest = program.close()
    assert (code, json.loads(rest)["id"]) == (0, 1)


def test_lines_may_be_long_and_come_in_pieces(start: Start) -> None:
    program = start()
    line = json.dumps(call(1, "echo", text="x" * 1_000_000)).encode() + b"\n"
    for at in range(0, len(line), 300_000):
        program.send(line[at : at + 300_000])
    assert len(program.receive()["result"]["structuredContent"]["text"]) == 1_000_000
    (record,) = program.log("received")
    assert (record["cut"], record["message"], record["bytes"]) == (
        True,
        None,
        len(line) - 1,
    )


def test_a_client_may_write_everything_before_it_reads_anything(start: Start) -> None:
    """Four mebibytes each way: neither side's pipe holds them."""
    program = start()
    program.send(*(call(number, "echo", text="x" * 20_000) for number in range(200)))
    assert [program.receive()["id"] for _ in range(200)] == list(range(200))


def test_a_file_will_do_for_input(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "input"
    path.write_text(json.dumps(request(1, "server/discover")))  # and no newline
    with path.open() as file:
        program = start(stdin=file.fileno())
        code, rest = program.close()
    assert (code, json.loads(rest)["id"]) == (0, 1)


def test_a_server_starts_without_what_it_does_not_need(start: Start) -> None:
    """Not even site-packages; as many servers are started as there are cases."""
    program = start(argv=("-X", "importtime", *FILE), stderr=subprocess.PIPE)
    assert program.ask(call(1, "echo", text="a"))["id"] == 1
    assert program.close()[0] == 0
    names = {line.rpartition("|")[2].strip() for line in program.stderr().splitlines()}
    assert "mcpconf.fixture_server.stdio" in names
    ours = {name for name in names if name.startswith("mcpconf.")}
    assert {name for name in ours if ".fixture_server.profile." in name} == set()
    needless = {"site", "argparse", "difflib", "pathlib", "hashlib", "_ssl", "runpy"}
    assert names & needless == set()
    tops = {name.partition(".")[0] for name in names}
    assert {"pytest", "pydantic", "psutil"} & tops == set()


def test_every_profile_is_found_by_its_name_where_its_theme_lists_it() -> None:
    package = "mcpconf.fixture_server.profile"
    listed = {
        theme: tuple(each.name for each in import_module(f"{package}.{theme}").PROFILES)
        for theme in THEMES
    }
    assert listed == THEMES
    assert list(PROFILES) == [name for names in THEMES.values() for name in names]
    assert all(PROFILES[name].name == name for name in PROFILES)


def test_arguments_mean_the_same_in_either_spelling() -> None:
    """Two words for each are read by us, one by argparse."""
    given = {
        "--revision": "2025-11-25",
        "--transport": "http",
        "--host": "::1",
        "--port": "8080",
        "--endpoint": "/",
        "--allowed-origin": "http://a",
        "--log": "a b",
        "--delay-s": "1e2",
        "--calls": " 7",
    }
    pairs = [word for pair in given.items() for word in pair]
    options = options_from([*pairs, "--allowed-origin", "http://b"])
    joined = [f"{flag}={value}" for flag, value in given.items()]
    assert options == options_from([*joined, "--allowed-origin=http://b"])
    assert options[0].allowed_origins == ("http://a", "http://b")
    assert (options[0].limits.delay_s, options[0].limits.calls) == (100.0, 7)
    assert options_from([])[0].allowed_origins == (), "nothing is left of the last"


def test_help_names_every_flag_and_profile() -> None:
    words = (sys.executable, *FILE, "--help")
    done = subprocess.run(words, capture_output=True, timeout=20, check=True)
    lines = [each.split() for each in done.stdout.decode().splitlines()]
    listed = [each[0] for each in lines if each and each[0] in PROFILES]
    assert listed == sorted(PROFILES), "one a line, in order"
    for flag in ("--profile", "--linger-s", "--allowed-origin", "--log"):
        assert any(each[:1] == [flag] for each in lines)
    assert ["status-429", "http", "any"] in [each[:3] for each in lines]
    assert ["push-closed", "http", "handshake"] in [each[:3] for each in lines]


def test_a_server_asks_back_and_tells_of_changes(start: Start) -> None:
    program = start("--revision", "2025-11-25")
    program.open()
    question = program.ask(call(1, "ask_ping"))
    assert (question["method"], question["id"]) == ("ping", "server-1")
    answer = {"jsonrpc": "2.0", "id": "server-1", "result": {}}
    shown = program.ask(answer)
    assert json.loads(shown["result"]["content"][0]["text"]) == answer
    told = program.ask(call(2, "grow"))
    assert told == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    assert program.receive()["id"] == 2


def test_subscriptions_are_told_apart_by_their_ids(start: Start) -> None:
    program = start()
    wanted = {"notifications": {"toolsListChanged": True}}
    key = "io.modelcontextprotocol/subscriptionId"
    for number in (1, "1"):
        acknowledged = program.ask(request(number, "subscriptions/listen", wanted))
        assert acknowledged["params"]["_meta"] == {key: number}
    program.send(cancel(1), call(2, "grow"))
    assert program.receive()["params"]["_meta"] == {key: "1"}
    assert program.receive()["result"]["structuredContent"] == {"told": 1}
    code, rest = program.close()
    assert code == 0
    assert json.loads(rest)["id"] == "1", "answered, since the server ends"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_logged_and_ends_the_server(
    start: Start, number: signal.Signals
) -> None:
    program = start()
    program.ask(request(1, "server/discover"))
    program.kill(number)
    assert program.line() == b""
    assert program.close()[0] == 128 + number
    assert program.log("signal")[0]["name"] == number.name
    assert program.log("exit")[0]["code"] == 128 + number


def test_a_profile_has_its_say_in_a_servers_life(start: Start) -> None:
    program = start("--profile", "odd", argv=("-I", "-c", ODD))
    assert program.line() == b"noise\n"
    program.send(request("raw", "tools/list"))
    assert program.line() == b"half a line\n"
    program.kill(signal.SIGTERM)
    assert program.ask(request(1, "server/discover"))["id"] == 1
    assert program.close() == (0, b"\n"), "the newline that the profile adds"
    assert program.log("signal")[0]["name"] == "SIGTERM"
    assert program.log("fault")[0]["detail"] == "lingered"
    assert program.log("exit")[0]["code"] == 0


def test_a_server_that_is_cut_ends_at_once_and_says_so(start: Start) -> None:
    program = start("--profile", "odd", argv=("-I", "-c", ODD))
    assert program.line() == b"noise\n"
    program.send(request("cut", "tools/list"))
    assert program.line() == b""
    assert program.close()[0] == 1
    assert program.log("connection")[-1]["by"] == "server"
    assert program.log("exit") == []


def _refusal(*flags: str, argv: tuple[str, ...] = MODULE) -> str:
    done = subprocess.run(
        (sys.executable, *argv, *flags),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    (line,) = done.stderr.decode().splitlines()
    assert line.startswith("mcpconf: error: ")
    return line


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--profile", "sse_crl"), "'sse_crl'; closest: sse-crlf, sse-cr, sse-cut;"),
        (("--profile", "?"), "unknown profile '?'; closest: "),
        (("--revision", "2026-07-27"), "(did you mean 2026-07-28?)"),
        (("--transport", "sse"), "known: http, stdio"),
        (("--rounds", "0"), "--rounds: 0 is less than 1"),
        (("--delay-s", "nan"), "--delay-s: nan"),
        (("--delay-s", "inf"), "--delay-s: inf is more than 3600"),
        (("--linger-s", "3600.5"), "--linger-s: 3600.5 is more than 3600"),
        (("--rounds", "1000001"), "--rounds: 1000001 is more than 1000000"),
        (("--line-bytes", "1073741825"), "1073741825 is more than 1073741824"),
        (("--delay-s", "soon"), "--delay-s: invalid float value: 'soon'"),
        (("--port", "65536"), "--port: 65536"),
        (("--endpoint", "mcp"), "--endpoint: 'mcp'"),
        (("--endpoint", "/a b"), "--endpoint: '/a b'"),
        (("--endpoint", "/a?b"), "--endpoint: '/a?b'"),
        (("--endpoint", "/a#b"), "--endpoint: '/a#b'"),
        (("--endpoint", "/\u00fc"), "--endpoint: "),
        (("--endpoint", "/a\n"), "--endpoint: '/a"),
        (("--host", ""), "--host: is empty"),
        (("--log", "/"), "--log: /: Is a directory"),
        (("--log", "/dev/full"), "--log: /dev/full: No space left"),
        (("--transport", "http", "--log", "/dev/full"), "--log: /dev/full: No space"),
        (("--nonsense",), "unrecognized arguments: --nonsense"),
    ],
)
def test_bad_input_is_refused_in_one_line(flags: tuple[str, ...], words: str) -> None:
    assert words in _refusal(*flags)


def test_http_without_its_parser_is_refused_in_one_line() -> None:
    assert "needs h11" in _refusal("--transport", "http", argv=FILE)


def test_an_occupied_port_is_refused_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        line = _refusal("--transport", "http", "--port", port)
    assert f"127.0.0.1:{port}: in use" in line
