"""Servers that are started for a test, well-behaved and not; nothing is left of any."""

from __future__ import annotations

import ast
import os
import shlex
import socket
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Self

import psutil
import pytest
from hostile_server import hostile

from mcpconf.errors import UsageError
from mcpconf.process import EndKind, SupervisorError
from mcpconf.revision import Revision
from mcpconf.server import host, port
from mcpconf.server.host import RunningServer, identify, listening, started

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpconf.server.identity import ServerIdentity

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="the servers use Linux"),
]

SERVERS = Path(__file__).with_name("servers")
MODERN, LEGACY = Revision.V2026_07_28, Revision.V2025_11_25
#: Reached only when a test fails.
PATIENCE_S = 20.0

FIXTURE = shlex.join(
    (
        *(sys.executable, "-m", "mcpconf.fixture_server"),
        *("--transport", "http", "--revision", "{revision}", "--port", "{port}"),
    )
)


def script(name: str, *arguments: str) -> str:
    return shlex.join((sys.executable, str(SERVERS / f"{name}.py"), *arguments))


@contextmanager
def running(
    place: Path,
    command: str = FIXTURE,
    *,
    revision: Revision = MODERN,
    ready_s: float = PATIENCE_S,
    path: str = "/mcp",
) -> Iterator[RunningServer]:
    with started(
        command,
        revision=revision,
        directory=place / "server",
        environment=dict(os.environ),
        ready_s=ready_s,
        path=path,
    ) as server:
        yield server
    assert_gone(server)


def assert_gone(server: RunningServer) -> None:
    """No process, no thread, nobody at the port."""
    assert server.pid is not None
    assert not psutil.pid_exists(server.pid)
    assert_nobody_at(server.port)
    assert not [each for each in threading.enumerate() if "mcpconf" in each.name]


def assert_nobody_at(port: int) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port), PATIENCE_S)


def refusal(place: Path, command: str, *, ready_s: float = PATIENCE_S) -> str:
    """Why a command gives no server; what it started is gone."""
    with (
        pytest.raises(UsageError) as caught,
        running(place, command, ready_s=ready_s),
    ):
        pytest.fail("the server is said to be ready")
    assert not [each for each in threading.enumerate() if "mcpconf" in each.name]
    return str(caught.value)


@pytest.mark.parametrize("revision", list(Revision))
def test_server_is_ready_known_and_gone_afterwards(
    tmp_path: Path, revision: Revision
) -> None:
    with running(tmp_path, revision=revision) as server:
        assert server.url == f"http://127.0.0.1:{server.port}/mcp"
        assert server.identity.name == "openai-mcp-spec-test-server"
        assert server.identity.revisions == (revision.value,)
        assert server.ended() is None
        assert server.pid is not None
        words = psutil.Process(server.pid).cmdline()
        assert tuple(words) == server.command
        assert (
            words[1:]
            == shlex.split(FIXTURE.format(port=server.port, revision=revision))[1:]
        )
        assert "listening on" in server.stderr_tail()
    ended = server.ended()
    assert ended is not None
    assert (ended.kind, ended.leftovers) == (EndKind.STOPPED, ())
    server.stop()  # again is nothing


def test_server_may_listen_at_ipv6_alone(tmp_path: Path) -> None:
    if not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with running(tmp_path, f"{FIXTURE} --host ::1") as server:
        assert server.url == f"http://[::1]:{server.port}/mcp"
        assert server.identity.revisions == (MODERN.value,)


def test_port_that_answers_after_the_end_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def leave() -> None:
        with running(tmp_path) as server:
            monkeypatch.setattr(host, "host_of", lambda _: "127.0.0.1")
            server.stop()

    with pytest.raises(SupervisorError, match="is still answered after the server"):
        leave()


def test_server_does_not_outlive_an_error_of_its_block(tmp_path: Path) -> None:
    servers: list[RunningServer] = []

    def fail() -> None:
        with running(tmp_path) as server:
            servers.append(server)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert_gone(servers[0])


def test_server_that_dies_is_seen_to_have_ended(tmp_path: Path) -> None:
    with running(tmp_path) as server:
        assert server.pid is not None
        psutil.Process(server.pid).kill()
        assert server.wait_ended(PATIENCE_S)
        ended = server.ended()
        assert ended is not None
        assert (ended.kind, ended.signal) == (EndKind.SIGNALLED, "SIGKILL")


def test_daemon_that_serves_is_ended_with_its_tree(tmp_path: Path) -> None:
    place = tmp_path / "daemon"
    with running(tmp_path, script("forks_a_daemon", "stay", str(place), "{port}")):
        daemon = int(place.read_text("ascii"))
        assert psutil.pid_exists(daemon)
    assert not psutil.pid_exists(daemon)


def test_command_that_leaves_a_daemon_behind_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "daemon"
    said = refusal(tmp_path, script("forks_a_daemon", "leave", str(place), "{port}"))
    assert "exited with 0 instead of serving in the foreground" in said
    assert not psutil.pid_exists(int(place.read_text("ascii")))


def test_server_that_is_late_is_waited_for(tmp_path: Path) -> None:
    command = script("is_not_ready_at_first", "{port}")
    with running(tmp_path, command, revision=LEGACY) as server:
        assert server.identity.name == "late"


def test_server_that_exits_is_not_waited_for(tmp_path: Path) -> None:
    code = "import sys; print('no licence', file=sys.stderr); sys.exit(1)"
    command = shlex.join((sys.executable, "-c", code, "{port}"))
    said = refusal(tmp_path, command, ready_s=1e6)
    assert "it exited with 1" in said
    assert said.endswith("it said last:\nno licence")


def test_server_that_is_killed_is_not_waited_for(tmp_path: Path) -> None:
    code = "import os; os.kill(os.getpid(), 9)"
    command = shlex.join((sys.executable, "-c", code, "{port}"))
    said = refusal(tmp_path, command, ready_s=1e6)
    assert said.endswith("it was killed by SIGKILL; it said nothing on stderr")


def test_server_that_never_listens_is_given_up(tmp_path: Path) -> None:
    said = refusal(tmp_path, "sleep {port}", ready_s=0.3)
    assert "it was not ready within 0.3 s: nobody listens at port" in said


def test_server_that_never_answers_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by the clock: time is over when it has been asked once."""
    clock = [0.0]

    def ask(url: str, *, revision: Revision, timeout_s: float) -> ServerIdentity:
        clock[0] += timeout_s
        return identify(url, revision=revision, timeout_s=0.2)

    monkeypatch.setattr(host, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(host, "identify", ask)
    command = script("listens_and_says_nothing", "{port}")
    said = refusal(tmp_path, command, ready_s=5.0)
    assert "it was not ready within 5 s" in said
    assert "gives no whole answer" in said
    assert said.endswith("it said last:\nhere, and silent")


def test_server_of_something_else_is_refused_at_once(tmp_path: Path) -> None:
    command = shlex.join((sys.executable, "-m", "http.server", "{port}"))
    said = refusal(tmp_path, command, ready_s=1e6)
    assert "is no MCP server that can be tested" in said


def test_path_without_a_server_is_refused_at_once(tmp_path: Path) -> None:
    with (
        pytest.raises(
            UsageError, match=r"error -32601 .*give the URL of its MCP endpoint"
        ),
        running(tmp_path, path="/sse", ready_s=1e6),
    ):
        pytest.fail("the server is said to be ready")


def test_port_that_answers_before_the_start_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "started"
    with hostile(lambda c: c.wait_left()) as stranger:
        monkeypatch.setattr(host, "free_port", lambda: stranger.port)
        command = shlex.join(("touch", str(mark), "{port}"))
        with (
            pytest.raises(UsageError, match=f"port {stranger.port} answers before"),
            started(
                command,
                revision=MODERN,
                directory=tmp_path / "server",
                environment=dict(os.environ),
            ),
        ):
            pytest.fail("another server is taken for the one that was to be started")
    assert not mark.exists()


def test_port_that_another_takes_meanwhile_gives_the_reason_of_the_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([None])
    monkeypatch.setattr(host, "host_of", lambda _: next(looks, "127.0.0.1"))
    code = "import sys; print('the address is in use', file=sys.stderr); sys.exit(1)"
    command = shlex.join((sys.executable, "-c", code, "{port}"))
    with hostile(lambda _: None) as stranger:
        monkeypatch.setattr(host, "free_port", lambda: stranger.port)
        said = refusal(tmp_path, command)
    assert "it exited with 1" in said
    assert said.endswith("the address is in use")


def test_no_port_is_given_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system gives a port again as long as nobody listens at it."""
    given = iter([4000, 4000, 4000, 4001, 4000, 4002])

    class Socket:
        def __enter__(self) -> Self:
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def bind(self, address: tuple[str, int]) -> None:
            assert address == ("127.0.0.1", 0)

        def getsockname(self) -> tuple[str, int]:
            return "127.0.0.1", next(given)

    monkeypatch.setattr(port, "socket", SimpleNamespace(socket=Socket))
    monkeypatch.setattr(port, "_given", set())
    assert [port.free_port() for _ in range(3)] == [4000, 4001, 4002]


#: Writes a long line and a short one, then listens.
TALKS = """
import signal, socket, sys
sys.stderr.write(f"{'x' * 70_000} canary\\nlast\\n")
sys.stderr.flush()
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
signal.pause()
"""


@contextmanager
def talking(place: Path) -> Iterator[RunningServer]:
    command = shlex.join((sys.executable, "-I", "-S", "-c", TALKS, "{port}"))
    environment = dict(os.environ)
    with listening(command, directory=place, environment=environment) as server:
        yield server
    assert_gone(server)


def test_of_what_a_server_says_whole_lines_are_told(tmp_path: Path) -> None:
    with talking(tmp_path) as server:
        assert server.url == f"http://127.0.0.1:{server.port}/mcp"
        assert server.stderr_tail() == "last"


def test_what_a_server_said_in_another_case_is_not_told(tmp_path: Path) -> None:
    with talking(tmp_path) as server:
        server.turn_page()
        assert server.stderr_tail() == ""
        with (tmp_path / "stderr").open("a") as stream:
            stream.write("new\napi_key=")
        assert server.stderr_tail() == "new\napi_key="
        server.turn_page()
        assert server.stderr_tail() == "api_key="


def test_who_need_not_speak_must_listen(tmp_path: Path) -> None:
    command = shlex.join((sys.executable, "-c", "", "{port}"))
    with (
        pytest.raises(UsageError, match="it exited with 0"),
        listening(command, directory=tmp_path, environment=dict(os.environ)),
    ):
        pytest.fail("nobody listens, and it is said to be ready")


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("", "is empty"),
        ("  ", "is empty"),
        ("my-server --port 3000", r"must say \{port\}"),
        ("my-server 'a {port}", "No closing quotation"),
        ("no-such-program --port {port}", "there is no program 'no-such-program'"),
        ("./no-such-program {port}", "there is no program './no-such-program'"),
    ],
)
def test_command_that_cannot_be_run_is_refused(
    tmp_path: Path, command: str, problem: str
) -> None:
    with pytest.raises(UsageError, match=problem), running(tmp_path, command):
        pytest.fail("it was run")


def test_no_shell_reads_the_command(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv[1:], file=sys.stderr); sys.exit(3)"
    mark = tmp_path / "mark"
    words = (f"$(touch {mark})", f"; touch {mark}", "{port}", "{revision}!", "{}")
    said = refusal(tmp_path, shlex.join((sys.executable, "-c", code, *words)))
    heard = ast.literal_eval(said.rpartition("\n")[2])
    assert [*heard[:2], *heard[3:]] == [*words[:2], "2026-07-28!", "{}"]
    assert heard[2].isdigit()
    assert not mark.exists()


def test_environment_is_the_one_that_was_given(tmp_path: Path) -> None:
    code = "import os, sys; sys.stderr.write(repr(sorted(os.environ))); sys.exit(3)"
    with (
        pytest.raises(UsageError, match=r"\['LC_CTYPE', 'PATH', 'X'\]|\['PATH', 'X'\]"),
        started(
            shlex.join((sys.executable, "-c", code, "{port}")),
            revision=MODERN,
            directory=tmp_path,
            environment={"PATH": os.environ["PATH"], "X": "y"},
        ),
    ):
        pytest.fail("it is said to be ready")
