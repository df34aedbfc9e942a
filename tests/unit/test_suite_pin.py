"""The pin is exact, and the record of the suite's origin is honest."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from mcpconf.errors import ProvisionError, UsageError
from mcpconf.npm import read_locked
from mcpconf.storage import sha256_of
from mcpconf.suite import install
from mcpconf.suite.install import (
    LOCK_DIR,
    PACKAGE,
    SuiteSource,
    override_suite,
    repository_name,
)
from mcpconf.suite.node import Node

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mcpconf.decode import Json

CODEX_DIR = LOCK_DIR.parent / "clients" / "codex"
LOCKS = [(LOCK_DIR, PACKAGE), (CODEX_DIR, "@openai/codex")]


def _members(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        for member in value.values():
            yield from _members(member)


@pytest.mark.parametrize(("lock_dir", "package"), LOCKS)
def test_committed_lock_names_exact_versions_and_no_registry(
    lock_dir: Path, package: str
) -> None:
    declared = json.loads((lock_dir / "package.json").read_text())["dependencies"]
    assert declared == {package: read_locked(lock_dir, package).version}
    lock = json.loads((lock_dir / "package-lock.json").read_text())
    assert "resolved" not in set(_members(lock))
    del lock["packages"][""]
    assert all("integrity" in entry for entry in lock["packages"].values())


def test_pin_is_the_reviewed_alpha() -> None:
    assert read_locked(LOCK_DIR, PACKAGE).version == "0.2.0-alpha.12"


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("git+https://github.com/owner/name.git", "owner/name"),
        ("https://github.com/owner/name", "owner/name"),
        ("https://user:word@github.com/owner/name.git", "owner/name"),
        ("git@github.com:owner/name.git", "owner/name"),
        ("git://github.com/owner/na.me/", "owner/na.me"),
        ("github:owner/name", "owner/name"),
        ("owner/name", "owner/name"),
        ("https://gitlab.example/owner/name", None),
        ("https://notgithub.com/owner/name", None),
        ("gitlab:owner/name", None),
        ("", None),
    ],
)
def test_repository_is_normalised(address: str, name: str | None) -> None:
    assert repository_name(address) == name


NODE = Node(path=LOCK_DIR / "no-node", version="24.1.0")


def _package(directory: Path, name: str = PACKAGE) -> Path:
    entry = directory / "dist" / "index.js"
    entry.parent.mkdir(parents=True)
    entry.write_text("process.exit(0)")
    (directory / "package.json").write_text(
        json.dumps({"name": name, "version": "9.9.9", "repository": "owner/name"})
    )
    return entry


def test_override_of_the_suites_own_package_knows_its_version(tmp_path: Path) -> None:
    entry = _package(tmp_path)
    suite = override_suite(entry, node=NODE)
    assert suite.argv_prefix == (str(NODE.path), str(entry))
    assert suite.provenance.to_json() == {
        "source": "override",
        "package": PACKAGE,
        "version": "9.9.9",
        "integrity": None,
        "entry_sha256": sha256_of(entry),
        "node_version": "24.1.0",
        "repository": "owner/name",
        "reviewed_ancestor": None,
    }


def test_override_of_another_package_claims_nothing(tmp_path: Path) -> None:
    provenance = override_suite(_package(tmp_path, "other"), node=NODE).provenance
    assert provenance.source is SuiteSource.OVERRIDE
    assert provenance.package is None
    assert provenance.version is None
    assert provenance.repository is None
    assert provenance.integrity is None


@pytest.mark.parametrize(
    "manifest", ["{", "[]", '{"name": 1}', f'{{"name": "{PACKAGE}"}}']
)
def test_override_beside_a_damaged_manifest_claims_nothing(
    manifest: str, tmp_path: Path
) -> None:
    entry = _package(tmp_path)
    (tmp_path / "package.json").write_text(manifest)
    assert override_suite(entry, node=NODE).provenance.version is None


@pytest.mark.parametrize("name", ["suite.js", "suite.mjs", "suite.cjs"])
def test_override_in_javascript_is_run_by_node(name: str, tmp_path: Path) -> None:
    entry = tmp_path / name
    entry.write_text("")
    entry.chmod(0o755)
    assert override_suite(entry, node=NODE).node is NODE


def test_override_link_of_npm_is_run_by_node(tmp_path: Path) -> None:
    entry = _package(tmp_path / "package")
    link = tmp_path / "conformance"
    link.symlink_to(entry)
    assert override_suite(link, node=NODE).entry == entry


@pytest.mark.skipif(os.name != "posix", reason="the fake program is an sh script")
def test_override_program_is_run_by_itself(tmp_path: Path) -> None:
    program = tmp_path / "conformance"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    suite = override_suite(program, node=NODE)
    assert suite.node is None
    assert suite.argv_prefix == (str(program),)
    assert suite.provenance.node_version is None


def test_override_in_javascript_needs_a_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_node() -> Node:
        raise ProvisionError("there is no Node")

    monkeypatch.setattr(install, "find_node", find_node)
    with pytest.raises(ProvisionError, match="there is no Node"):
        override_suite(_package(tmp_path))


@pytest.mark.parametrize("name", ["absent", "directory", "notes.txt", "suite.ts"])
def test_override_that_is_neither_is_refused_by_name(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "directory":
        path.mkdir()
    elif name != "absent":
        path.write_text("")
    with pytest.raises(UsageError) as caught:
        override_suite(path, node=NODE)
    assert str(path) in str(caught.value)
