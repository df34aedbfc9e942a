"""
What a server tells, and what chooses it, is kept without its secrets.

The server is our fixture, which tells secrets wherever a server can: on stderr at each
request, and in results. Each run goes from the command line to its files.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcpconf import cli, run
from mcpconf.errors import ExitCode
from mcpconf.report_schema import load_report
from mcpconf.revision import Revision
from mcpconf.server.host import started

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.process, pytest.mark.suite]

PROGRAM = Path(__file__).parent / "servers" / "tells_secrets.py"
OUTPUT = Path(".mcpconf")
NEW = Revision.V2026_07_28
#: All secrets of this file begin so, and nothing else does.
CANARY = "canary-5f0d77a1c3e94b62"
#: Of either room one that calls a tool with a secret in its result, and one after it
#: that is served by the same program and knows nothing of that secret.
PART = (
    *("--official-scenario", "tools-call-simple-text"),
    *("--official-scenario", "tools-list"),
    *("--supplemental-scenario", "tasks/discovery"),
    *("--supplemental-scenario", "tasks/negotiation"),
    *("--jobs", "1"),
)
HIDDEN = "[REDACTED]"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def serve(*words: str) -> int:
    return cli.main(["server", "--revision", NEW.value, *words])


def program(*words: str) -> str:
    return shlex.join((sys.executable, str(PROGRAM), "{port}", *words))


@contextmanager
def serving(place: Path) -> Iterator[str]:
    """The URL of one that runs already."""
    with started(
        program(), revision=NEW, directory=place, environment=dict(os.environ)
    ) as server:
        yield server.url


def scenarios(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for case in report["cases"] for each in case["scenarios"]]


def kept() -> dict[str, bytes]:
    """Every file of the run."""
    files = (each for each in OUTPUT.rglob("*") if each.is_file())
    return {str(each): each.read_bytes() for each in files}


def assert_no_secret(printed: str) -> None:
    assert CANARY not in printed
    files = kept()
    assert not [name for name, content in files.items() if CANARY.encode() in content]
    assert not [name for name in files if CANARY in name]


def assert_told_and_hidden() -> dict[str, Any]:
    """The server was heard, and of each secret there is the place where it stood."""
    report = load_report(OUTPUT / run.REPORT)
    assert {each["outcome"] for each in scenarios(report)} == {"passed"}
    assert len(scenarios(report)) == 4
    logs = {name: text for name, text in kept().items() if name.endswith(".jsonl")}
    # The suite's log holds a body as text.
    shown = re.compile(rb"access_token\W+\[REDACTED\]")
    assert {Path(name).name for name, text in logs.items() if shown.search(text)} == {
        "exchanges.jsonl",
        "wire.jsonl",
    }
    return report


@pytest.mark.parametrize("words", [(), ("--keep-artifacts",)])
def test_a_server_that_is_started_leaves_no_secret(
    words: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    command = program("--api-key", f"{CANARY}-word", f"password={CANARY}-option")
    place = ("--server-command", command, "--path", f"/mcp?token={CANARY}-path")
    assert serve(*place, *words, *PART) == ExitCode.CONFORMANT

    report = assert_told_and_hidden()
    for each in scenarios(report):
        said = each["client_stderr"]
        assert f"Authorization: Bearer {HIDDEN}" in said
        assert f"API_KEY={HIDDEN}" in said
        assert f"--api-key {HIDDEN}" in each["reproduce"]
        assert f"--path '/mcp?token={HIDDEN}'" in each["reproduce"]
    assert any(f"handed out {HIDDEN}" in e["client_stderr"] for e in scenarios(report))
    assert any("artifacts" in name for name in kept()) is bool(words)
    printed = "".join(capfd.readouterr())
    assert "--api-key" in printed
    assert_no_secret(printed)


def test_a_server_that_runs_leaves_no_secret_of_its_url(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serving(tmp_path / "server") as url:
        words = ("--url", f"{url}?token={CANARY}-url", "--keep-artifacts")
        assert serve(*words, *PART) == ExitCode.CONFORMANT

    report = assert_told_and_hidden()
    assert report["client"]["binary"] == f"{url}?token={HIDDEN}"
    for each in scenarios(report):
        assert f"?token={HIDDEN}" in each["reproduce"]
    printed = "".join(capfd.readouterr())
    assert f"{url}?token={HIDDEN}" in printed
    assert_no_secret(printed)


_DIES = f"""
import sys
sys.exit("no licence; Authorization: Bearer {CANARY}-bearer")
"""
REFUSED = (
    ("--url", f"http://127.0.0.1:9/mcp?token={CANARY}"),
    ("--url", f"http://[::1/mcp?token={CANARY}"),
    ("--server-command", f"API_KEY={CANARY} my-server {{port}}"),
    ("--server-command", f"my-server --api-key {CANARY} '{{port}}"),
    (
        "--server-command",
        shlex.join((sys.executable, "-c", _DIES, "{port}", "--api-key", CANARY)),
    ),
)


@pytest.mark.parametrize("words", REFUSED)
def test_a_refusal_tells_no_secret(
    words: tuple[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert serve(*words, *PART) == ExitCode.BAD_INPUT
    printed = "".join(capfd.readouterr())
    assert HIDDEN in printed
    assert_no_secret(printed)


def test_what_its_variables_and_its_url_hide_is_hidden_wherever_it_is_printed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Without a name beside them, only whoever gave them can tell."""
    monkeypatch.setenv("OPENAI_KEY", f"{CANARY}-key")
    started_one = program("OPENAI_KEY")
    serve("--server-command", started_one, "--official-scenario", "tools-list")
    said = capsys.readouterr()
    assert_no_secret(said.out + said.err)

    monkeypatch.delenv("OPENAI_KEY")
    with serving(tmp_path / "server") as url:
        place = f"{url}?plain={CANARY}-plain"
        serve("--url", place, "--official-scenario", "tools-list")
    said = capsys.readouterr()
    assert_no_secret(said.out + said.err)
    (case,) = load_report(OUTPUT / run.REPORT)["cases"]
    assert f"{url}?plain={HIDDEN}" in case["scenarios"][0]["reproduce"]
