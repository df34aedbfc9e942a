"""The SDK's program stays at the leg's revision, seen from the server's side."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scripted_server import Reply, grant, serving

if TYPE_CHECKING:
    from scripted_server import Seen

pytest.importorskip("mcp", reason="the SDK under test is not installed here")
pytestmark = pytest.mark.process

PROGRAM = Path(__file__).parents[2] / "mcpconf/client/python_sdk/program.py"
LIMIT_S = 60


def run(url: str, revision: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", str(PROGRAM), url],
        env={
            **os.environ,
            "MCP_CONFORMANCE_SCENARIO": "tools_call",
            "MCP_CONFORMANCE_PROTOCOL_VERSION": revision,
        },
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def methods(seen: list[Seen]) -> list[str]:
    return [each.message["method"] for each in seen]


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_program_offers_the_revision_of_a_handshake_leg(revision: str) -> None:
    with serving(grant) as (url, seen):
        result = run(url, revision)
    assert (result.returncode, result.stderr) == (0, "")
    assert methods(seen) == [
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/call",
    ]
    assert seen[0].message["params"]["protocolVersion"] == revision
    assert {each.headers["mcp-protocol-version"] for each in seen[1:]} == {revision}


def test_program_makes_no_handshake_in_a_stateless_leg() -> None:
    with serving(grant) as (url, seen):
        result = run(url, "2026-07-28")
    assert (result.returncode, result.stderr) == (0, "")
    assert methods(seen) == ["server/discover", "tools/list", "tools/call"]
    assert {each.headers["mcp-protocol-version"] for each in seen} == {"2026-07-28"}


def test_program_reports_a_stateless_leg_that_slid_to_a_handshake() -> None:
    def speak_the_older_era(message: dict[str, Any]) -> Reply:
        if message["method"] == "server/discover":
            return Reply(404, error={"code": -32601, "message": "no such method"})
        return grant(message)

    with serving(speak_the_older_era) as (url, _):
        result = run(url, "2026-07-28")
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == (
        "failed: RevisionError: agreed on 2025-11-25, not on 2026-07-28"
    )


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_program_leaves_a_server_that_chose_a_revision_nobody_knows(
    revision: str,
) -> None:
    def choose(message: dict[str, Any]) -> Reply:
        reply = grant(message)
        if reply.result and "protocolVersion" in reply.result:
            reply.result["protocolVersion"] = "2020-01-01"
        return reply

    with serving(choose) as (url, seen):
        result = run(url, revision)
    assert result.returncode == 1
    assert "2020-01-01" in result.stderr.splitlines()[-1]
    assert methods(seen) == ["initialize"]


def test_program_says_that_the_sdk_refused_what_a_server_denies() -> None:
    def deny(message: dict[str, Any]) -> Reply:
        if message["method"] == "tools/call":
            return Reply(error={"code": -32602, "message": "not today"})
        return grant(message)

    with serving(deny) as (url, _):
        result = run(url, "2025-11-25")
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1] == "refused: MCPError: not today"
