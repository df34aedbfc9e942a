"""
The fixture server with everything, judged by the real suite: a few scenarios of each.

The sessions of the servers run them all.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from mcpconf.suite.install import install_suite

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    Json = Any

pytestmark = [pytest.mark.process, pytest.mark.suite]

#: Reached only when a test fails.
PATIENCE_S = 60.0
#: Records of what went over the wire, which say nothing of whether it should have.
TRAFFIC = {
    "incoming-response",
    "incoming-sse-event",
    "outgoing-request",
    "stream-closed",
}


@contextmanager
def served(revision: str, *more: str) -> Iterator[str]:
    """The program, and the URL that it says it listens on."""
    argv = (sys.executable, "-m", "mcpconf.fixture_server", "--transport", "http")
    with subprocess.Popen(
        (*argv, "--revision", revision, *more), stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            yield process.stderr.readline().removeprefix("listening on ").strip()
        finally:
            process.terminate()
    assert process.returncode == 0


def judged(url: str, revision: str, scenario: str, output: Path) -> list[Json]:
    """The checks of one scenario, as the suite left them."""
    argv = (*install_suite().argv_prefix, "server", "--url", url, "-o", str(output))
    ran = subprocess.run(
        (*argv, "--spec-version", revision, "--scenario", scenario),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    (written,) = output.glob("*/checks.json")
    checks = json.loads(written.read_text("utf-8"))
    told = [each for each in checks if each["id"] not in TRAFFIC]
    assert (ran.returncode == 0) == all(each["status"] != "FAILURE" for each in told)
    return told


@pytest.mark.parametrize(
    ("revision", "scenario", "check"),
    [
        ("2025-06-18", "tools-call-sampling", "wire-schema-valid"),
        ("2025-11-25", "elicitation-sep1330-enums", "wire-schema-valid"),
        ("2025-11-25", "server-sse-polling", "server-sse-disconnect-resume"),
        (
            "2026-07-28",
            "http-custom-header-server-validation",
            "sep-2243-server-decode-base64",
        ),
        ("2026-07-28", "input-required-result-multi-round", "wire-schema-valid"),
    ],
)
def test_the_suite_finds_nothing_wrong(
    tmp_path: Path, revision: str, scenario: str, check: str
) -> None:
    with served(revision, "--everything") as url:
        checks = judged(url, revision, scenario, tmp_path)
    assert check in {each["id"] for each in checks}
    assert [each for each in checks if each["status"] != "SUCCESS"] == []


def test_the_suite_does_find_what_is_wrong(tmp_path: Path) -> None:
    with served("2025-11-25") as url:
        checks = judged(url, "2025-11-25", "tools-call-simple-text", tmp_path)
    assert "FAILURE" in {each["status"] for each in checks}
