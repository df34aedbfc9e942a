"""A program that obtains something is bounded, and its words carry no secret."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import psutil
import pytest

from mcpconf.errors import ProvisionError
from mcpconf.provision import run_program, scrub

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "hunter2hunter2"  # noqa: S105  a made-up one


@pytest.mark.parametrize(
    ("printed", "kept"),
    [
        pytest.param(
            f"GET https://me:{SECRET}@host.example/pkg", "host.example/pkg", id="url"
        ),
        pytest.param(
            f"https://me:{SECRET}@x@host.example/p", "host.example/p", id="url-two-ats"
        ),
        pytest.param(
            f"https://host.example/p?sig={SECRET} 404", "host.example/p?", id="query"
        ),
        pytest.param(f"//host.example/:_authToken={SECRET}", "_authToken=", id="npmrc"),
        pytest.param(f"_auth = {SECRET}", "_auth = ", id="npmrc-spaced"),
        pytest.param(
            f"//host.example/:_password={SECRET}", "_password=", id="password"
        ),
        pytest.param(f'{{"token": "{SECRET}"}}', '"token": ', id="json"),
        pytest.param(f"NPM_TOKEN={SECRET}", "NPM_TOKEN=", id="environment"),
        pytest.param(f"Authorization: Bearer {SECRET}", "Bearer", id="bearer"),
        pytest.param(f"authorization: basic {SECRET}=", "basic", id="basic"),
        pytest.param(f"using npm_{SECRET} now", "using", id="npm-token"),
    ],
)
def test_secret_is_taken_out_and_the_rest_is_kept(printed: str, kept: str) -> None:
    scrubbed = scrub(printed)
    assert SECRET not in scrubbed
    assert "[REDACTED]" in scrubbed
    assert kept in scrubbed
    assert scrub(scrubbed) == scrubbed


@pytest.mark.parametrize(
    "printed",
    [
        "npm error 404 Not Found - GET https://host.example/@scope%2fname",
        "npm error notarget No matching version found for wrappy@9.9.9.",
        "https://host.example/@scope/name is not in this registry",
    ],
)
def test_words_without_a_secret_stay(printed: str) -> None:
    assert scrub(printed) == printed


def test_terminal_sequences_are_taken_out() -> None:
    assert scrub("\x1b[31mred\x1b[0m\x07\r\nnext\rlast") == "red\nnext\nlast"


def _python(code: str, *, deadline_s: float = 30) -> str:
    return run_program(
        (sys.executable, "-I", "-S", "-c", code),
        purpose="trying",
        deadline_s=deadline_s,
    )


@pytest.mark.process
def test_good_program_gives_its_output() -> None:
    assert _python("print('good')").strip() == "good"


@pytest.mark.process
def test_failing_program_is_quoted_to_a_bound() -> None:
    code = (
        "import sys; [print('line', n) for n in range(100000)];"
        f" sys.exit('last words, _authToken={SECRET}')"
    )
    with pytest.raises(ProvisionError) as caught:
        _python(code)
    text = str(caught.value)
    assert "exit code 1" in text
    assert "last words" in text
    assert SECRET not in text
    assert len(text) < 10_000


@pytest.mark.process
def test_program_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProvisionError, match="cannot be started: No such file"):
        run_program((tmp_path / "absent",), purpose="trying", deadline_s=1)


@pytest.mark.process
def test_hanging_program_is_ended_with_all_its_processes(tmp_path: Path) -> None:
    """Even a child that has left the group goes, and nobody waits for it."""
    note = tmp_path / "pids"
    code = (
        "import os, subprocess, sys, time;"
        "child = subprocess.Popen([sys.executable, '-I', '-S', '-c',"
        " 'import time; time.sleep(60)'], start_new_session=True);"
        f"open({str(note)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}');"
        "print('still busy', flush=True); time.sleep(60)"
    )
    with pytest.raises(ProvisionError, match="not done after 2 s") as caught:
        _python(code, deadline_s=2)
    assert "still busy" in str(caught.value)
    pids = [int(pid) for pid in note.read_text().split()]
    assert len(pids) == 2
    assert not [pid for pid in pids if _lives(pid)]


def _lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
