"""What the reference client decides before, and beside, its libraries."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "mcpconf/client/reference/program.py"


def run_without_libraries(
    scenario: str, *arguments: str, **more: str
) -> subprocess.CompletedProcess[str]:
    """Without site-packages: whoever reaches for a library fails."""
    return subprocess.run(
        [sys.executable, "-I", "-S", str(PROGRAM), *arguments],
        env={
            **os.environ,
            "MCP_CONFORMANCE_SCENARIO": scenario,
            "MCP_CONFORMANCE_PROTOCOL_VERSION": "2026-07-28",
            **more,
        },
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(uuid.uuid4().hex, id="random"),
        pytest.param("auth/" + uuid.uuid4().hex, id="random-auth"),
        pytest.param("", id="none"),
        pytest.param("auth/metadata-default", id="of-the-core"),
    ],
)
def test_program_never_guesses_a_scenario_it_has_no_part_for(scenario: str) -> None:
    result = run_without_libraries(scenario, "url")
    assert result.returncode == 69
    assert (
        result.stderr == f"unsupported: no part is written for scenario {scenario!r}\n"
    )


def test_program_takes_no_steps() -> None:
    result = run_without_libraries("", MCPCONF_SCENARIO="tools")
    assert (result.returncode, result.stderr) == (
        69,
        "unsupported: it takes no steps\n",
    )


def test_program_reaches_for_its_libraries_only_for_a_scenario_it_plays() -> None:
    result = run_without_libraries("auth/dpop", "url")
    assert result.returncode == 1
    assert result.stderr.startswith("failed: ModuleNotFoundError: ")


def test_program_knows_no_other_revision() -> None:
    result = run_without_libraries(
        "auth/dpop", "url", MCP_CONFORMANCE_PROTOCOL_VERSION="2024-11-05"
    )
    assert result.returncode == 69
    assert result.stderr.startswith("unsupported: revision ")


@pytest.mark.parametrize("arguments", [(), ("one", "two")])
def test_program_wants_exactly_one_url(arguments: tuple[str, ...]) -> None:
    assert run_without_libraries("auth/dpop", *arguments).returncode == 64
