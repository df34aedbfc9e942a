"""The canaries do exactly what they are named for, whatever server they meet."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from mcp_types.methods import validate_client_request
from scripted_server import SESSION, Reply, grant, serving

if TYPE_CHECKING:
    from scripted_server import Seen

pytestmark = pytest.mark.process

PROGRAMS = Path(__file__).parents[2] / "mcpconf" / "client" / "canary"
HANDSHAKE = ["2025-06-18", "2025-11-25"]
STATELESS = "2026-07-28"
LIMIT_S = 30


def argv_of(program: str, url: str) -> list[str]:
    # Isolated and without site-packages: a canary may rely on neither.
    return [sys.executable, "-I", "-S", str(PROGRAMS / f"{program}.py"), url]


def environment_of(revision: str) -> dict[str, str]:
    return {
        **os.environ,
        "MCP_CONFORMANCE_SCENARIO": "tools_call",
        "MCP_CONFORMANCE_PROTOCOL_VERSION": revision,
    }


def run(
    program: str, url: str, revision: str = STATELESS, *, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        argv_of(program, url),
        env=environment_of(revision),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def methods(seen: list[Seen]) -> list[str]:
    return [each.message["method"] for each in seen]


def test_null_ends_well_and_sends_nothing() -> None:
    with serving(grant) as (url, seen):
        assert run("null", url).returncode == 0
    assert seen == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_crash_dies_of_a_segfault_and_leaves_no_file(tmp_path: Path) -> None:
    with serving(grant) as (url, seen):
        assert run("crash", url, cwd=tmp_path).returncode == -signal.SIGSEGV
    assert seen == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")
def test_hang_outlives_sigterm_and_sends_nothing() -> None:
    with (
        serving(grant) as (url, seen),
        subprocess.Popen(
            argv_of("hang", url),
            env=environment_of(STATELESS),
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stderr is not None
        try:
            assert process.stderr.readline() == "hanging\n"
            process.terminate()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.3)
        finally:
            process.kill()
        assert process.wait(LIMIT_S) == -signal.SIGKILL
    assert seen == []


@pytest.mark.parametrize("revision", HANDSHAKE)
@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("initialize_only", ["initialize", "notifications/initialized"]),
        ("list_only", ["initialize", "notifications/initialized", "tools/list"]),
    ],
)
def test_canary_opens_with_the_handshake_of_its_revision(
    program: str, expected: list[str], revision: str
) -> None:
    with serving(grant) as (url, seen):
        assert run(program, url, revision).returncode == 0
    assert methods(seen) == expected
    first, *others = seen
    assert first.message["params"]["protocolVersion"] == revision
    assert "mcp-protocol-version" not in first.headers
    for each in others:
        assert each.headers["mcp-protocol-version"] == revision
        assert each.headers["mcp-session-id"] == SESSION
    for each in seen:
        if "id" in each.message:
            message = each.message
            validate_client_request(message["method"], revision, message["params"])


def test_canary_continues_at_the_revision_the_server_chose() -> None:
    def choose(message: dict[str, Any]) -> Reply:
        reply = grant(message)
        if reply.result and "protocolVersion" in reply.result:
            reply.result["protocolVersion"] = "2025-06-18"
        return reply

    with serving(choose) as (url, seen):
        assert run("list_only", url, "2025-11-25").returncode == 0
    assert [each.headers.get("mcp-protocol-version") for each in seen] == [
        None,
        "2025-06-18",
        "2025-06-18",
    ]


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("initialize_only", ["server/discover"]),
        ("list_only", ["server/discover", "tools/list"]),
    ],
)
def test_canary_is_stateless_where_its_revision_is(
    program: str, expected: list[str]
) -> None:
    with serving(grant) as (url, seen):
        assert run(program, url, STATELESS).returncode == 0
    assert methods(seen) == expected
    for each in seen:
        assert each.headers["mcp-protocol-version"] == STATELESS
        assert each.headers["mcp-method"] == each.message["method"]
        assert "mcp-session-id" not in each.headers
        message = each.message
        validate_client_request(message["method"], STATELESS, message["params"])


@pytest.mark.parametrize("program", ["initialize_only", "list_only"])
def test_canary_leaves_content_when_its_handshake_is_refused(program: str) -> None:
    with serving(lambda _message: Reply(401)) as (url, seen):
        assert run(program, url, "2025-11-25").returncode == 0
    assert methods(seen) == ["initialize"]


def test_list_only_lists_even_where_discovery_is_refused() -> None:
    def refuse(message: dict[str, Any]) -> Reply:
        if message["method"] == "server/discover":
            return Reply(404, error={"code": -32601, "message": "no such method"})
        return grant(message)

    with serving(refuse) as (url, seen):
        assert run("list_only", url).returncode == 0
    assert methods(seen) == ["server/discover", "tools/list"]


def test_canary_reads_an_answer_from_a_stream_that_stays_open() -> None:
    def stream(message: dict[str, Any]) -> Reply:
        return grant(message)._replace(is_open_stream="id" in message)

    with serving(stream) as (url, seen):
        assert run("list_only", url, "2025-11-25").returncode == 0
    assert methods(seen)[-1] == "tools/list"


def test_canary_fails_where_no_server_listens() -> None:
    with serving(grant) as (url, _):
        pass
    assert run("initialize_only", url).returncode == 1
