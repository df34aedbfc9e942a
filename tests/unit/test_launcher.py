"""The suite's shell runs one harmless token, whatever the paths hold."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mcpconf.errors import StorageError, UsageError
from mcpconf.launcher import write_launcher

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://127.0.0.1:4711/mcp?a=1"

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="runs a real sh")

ODD_NAMES = {
    "space": "two  words",
    "single quote": "it's",
    "double quote": 'so "called"',
    "variable": "$HOME",
    "command": "`echo gone` $(echo gone)",
    "new line": "first\nsecond",
    "not ASCII": "Übung-日本",
    "not UTF-8": "\udce9t\udce9",
    "backslash": "ends in \\",
    "operators": "a;b&c|d>e<f*?[g]#~!",
    "equals": "NAME=value",
    "dash": "-x",
}


def run_as_the_suite_does(command: str, case_dir: Path) -> str:
    """Cut at spaces, append the URL, join for the shell: the suite's own steps."""
    words = [*command.split(" "), URL]
    ended = subprocess.run(
        ["/bin/sh", "-c", " ".join(words)],
        cwd=case_dir,
        check=True,
        capture_output=True,
        timeout=30.0,
    )
    return ended.stdout.decode()


@posix_only
@pytest.mark.parametrize("odd", ODD_NAMES.values(), ids=ODD_NAMES)
def test_a_launcher_hands_every_word_on_unchanged(tmp_path: Path, odd: str) -> None:
    """The working directory, the program, its script and an argument are all odd."""
    case_dir = tmp_path / odd
    case_dir.mkdir()
    shell = case_dir / f"shell {odd}"
    shell.symlink_to("/bin/sh")
    script = case_dir / "tells.py"
    script.write_text("import json, sys\nprint(json.dumps(sys.argv))\n")
    relay = case_dir / f"relay {odd}"
    relay.write_text('exec "$@"\n')
    python = [sys.executable, "-I", "-S", "-X", "utf8", str(script)]

    command = write_launcher(case_dir, [str(shell), str(relay), *python, odd, ""])
    told = run_as_the_suite_does(command, case_dir)

    assert json.loads(told) == [str(script), odd, "", URL]


@posix_only
def test_a_launcher_becomes_the_program(tmp_path: Path) -> None:
    """A shell in between would swallow signals and report codes of its own."""
    script = "import os; print(os.getpid())"
    command = write_launcher(tmp_path, [sys.executable, "-I", "-S", "-c", script])

    with subprocess.Popen(
        ["/bin/sh", "-c", f"exec {command}"], cwd=tmp_path, stdout=subprocess.PIPE
    ) as shell:
        told, _ = shell.communicate(timeout=30.0)

    assert int(told) == shell.pid


@posix_only
def test_a_launcher_is_for_its_owner_only(tmp_path: Path) -> None:
    command = write_launcher(tmp_path, ["true"])

    assert command == "./client"
    assert stat.S_IMODE((tmp_path / "client").stat().st_mode) == 0o700
    assert [path.name for path in tmp_path.iterdir()] == ["client"]


def test_a_batch_script_quotes_every_word(tmp_path: Path) -> None:
    words = [
        r"C:\Program Files\py&thon.exe",
        "100%PATH%",
        "trailing\\",
        "",
        "a^b|c",
        "Übung",
    ]

    command = write_launcher(tmp_path, words, platform="win32")

    assert command == "client.cmd"
    assert (tmp_path / "client.cmd").read_bytes().decode() == (
        "@echo off\r\n"
        "chcp 65001 >nul\r\n"
        r'"C:\Program Files\py&thon.exe" "100%%PATH%%" "trailing\\" "" "a^b|c" "Übung"'
        " %*\r\n"
    )


@pytest.mark.parametrize("word", ['say "hi"', "two\nlines", "return\r"])
def test_a_word_no_batch_script_can_hold_is_refused(tmp_path: Path, word: str) -> None:
    with pytest.raises(UsageError, match="a batch script cannot hold"):
        write_launcher(tmp_path, ["python", word], platform="win32")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("argv", [[], ["nul\0l"]])
def test_a_command_that_cannot_be_is_refused(tmp_path: Path, argv: list[str]) -> None:
    with pytest.raises(UsageError, match="a command needs words"):
        write_launcher(tmp_path, argv)


def test_a_place_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StorageError):
        write_launcher(tmp_path / "file", ["true"])
