"""The noxfile against what it cannot import: our list of revisions."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mcpconf.revision import KNOWN

ROOT = Path(__file__).parent.parent.parent
CONFORMANCE = tuple(f"conformance-{each.value}" for each in KNOWN)
WANTED = (*CONFORMANCE, "conformance", "tests", "lint", "types", "canaries", "bench")


def _list_sessions(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "nox", "--list-sessions", "--json", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def _sessions(*arguments: str) -> dict[str, dict[str, Any]]:
    listed = _list_sessions(*arguments)
    assert listed.returncode == 0, listed.stderr
    return {each["session"]: each for each in json.loads(listed.stdout)}


def test_the_noxfile_lists_the_revisions_we_know() -> None:
    """Nox runs the file in an environment of its own, so the list is literal."""
    tree = ast.parse((ROOT / "noxfile.py").read_bytes())
    (literal,) = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "REVISIONS"
    ]
    assert ast.literal_eval(literal) == tuple(each.value for each in KNOWN)


def test_every_session_we_promise_exists_and_says_what_it_does() -> None:
    sessions = _sessions("-s", *WANTED)
    assert set(sessions) == set(WANTED)
    for name, session in sessions.items():
        assert session["description"], name
    descriptions = {session["description"] for session in sessions.values()}
    assert len(descriptions) == len(WANTED), "each says something of its own"


def test_a_session_nobody_wrote_is_not_there() -> None:
    assert _list_sessions("-s", "conformance-2024-11-05").returncode != 0


@pytest.mark.parametrize(
    ("arguments", "names"),
    [((), {"tests", "lint", "types"}), (("-t", "conformance"), set(CONFORMANCE))],
    ids=["by-default", "by-tag"],
)
def test_a_plain_nox_checks_the_project_and_a_tag_runs_every_revision(
    arguments: tuple[str, ...], names: set[str]
) -> None:
    assert set(_sessions(*arguments)) == names
