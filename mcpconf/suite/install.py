"""
The suite that runs, and the record of where it came from.

By default it is the one version in the committed lockfile, from the cache; a dist-tag
is never followed. A user may name another program instead, and the record says so.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf import cache
from mcpconf.decode import Reader, load_json
from mcpconf.errors import DecodeError, UsageError
from mcpconf.npm import INSTALL_S, LOCK_FILES, install_locked, read_locked
from mcpconf.storage import sha256_of
from mcpconf.suite.node import Node, find_node, find_npm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.decode import Json

PACKAGE = "@modelcontextprotocol/conformance"
LOCK_DIR = Path(__file__).parent.parent / "data" / "suite"

#: The commit of the suite's repository that was reviewed for the harness before this
#: one. An ancestor of what the lockfile pins; npm packages do not say their commit.
REVIEWED_ANCESTOR = "49103de6ed70804e940637bf3e9e29e4a3f54e64"

_PACKAGE_DIR = Path("node_modules") / PACKAGE
_ENTRY = _PACKAGE_DIR / "dist" / "index.js"

_NODE_SUFFIXES = frozenset({".js", ".mjs", ".cjs"})
_GITHUB = re.compile(
    r"(?:(?:.*[/@])?github\.com[/:]|github:)?([\w.-]+/[\w.-]+?)(?:\.git)?/?"
)


class SuiteSource(StrEnum):
    """Who chose the suite that runs."""

    PINNED = "pinned"
    OVERRIDE = "override"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteProvenance:
    """What is known of the suite that runs; `None` is what is not known."""

    source: SuiteSource
    package: str | None
    version: str | None
    #: As in the lockfile; npm has checked it.
    integrity: str | None
    #: Of the file that is started, as it is on disk.
    entry_sha256: str
    node_version: str | None
    repository: str | None
    #: Recorded for the pin alone, and never claimed to be what runs.
    reviewed_ancestor: str | None

    def to_json(self) -> Json:
        """The record as reports hold it."""
        return {
            "source": self.source.value,
            "package": self.package,
            "version": self.version,
            "integrity": self.integrity,
            "entry_sha256": self.entry_sha256,
            "node_version": self.node_version,
            "repository": self.repository,
            "reviewed_ancestor": self.reviewed_ancestor,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """A suite ready to be started."""

    #: `None` when the entry is a program of its own.
    node: Node | None
    entry: Path
    provenance: SuiteProvenance

    @property
    def argv_prefix(self) -> tuple[str, ...]:
        """The words before the suite's own arguments."""
        if self.node is None:
            return (str(self.entry),)
        return (str(self.node.path), str(self.entry))


def install_suite(
    *,
    node: Node | None = None,
    npm: Sequence[str] | None = None,
    deadline_s: float = INSTALL_S,
) -> Suite:
    """
    The pinned suite, from the cache or installed into it now.

    :raises ProvisionError: there is no Node, or npm could not install the suite.
    """
    node = node or find_node()
    pin = read_locked(LOCK_DIR, PACKAGE)

    def build(directory: Path) -> None:
        install_locked(npm or find_npm(), LOCK_DIR, directory, deadline_s=deadline_s)

    def verify(directory: Path) -> str | None:
        manifest = _load_manifest(directory / _PACKAGE_DIR / "package.json")
        if manifest is None or manifest.version != pin.version:
            return f"{PACKAGE} {pin.version} is not in it"
        return None if (directory / _ENTRY).is_file() else f"{_ENTRY} is not in it"

    key = cache.key_of(*((LOCK_DIR / name).read_bytes() for name in LOCK_FILES))
    directory = cache.ensure("suite", key, build, verify)
    manifest = _load_manifest(directory / _PACKAGE_DIR / "package.json")
    entry = directory / _ENTRY
    return Suite(
        node=node,
        entry=entry,
        provenance=SuiteProvenance(
            source=SuiteSource.PINNED,
            package=PACKAGE,
            version=pin.version,
            integrity=pin.integrity,
            entry_sha256=sha256_of(entry),
            node_version=node.version,
            repository=manifest.repository if manifest else None,
            reviewed_ancestor=REVIEWED_ANCESTOR,
        ),
    )


def override_suite(path: Path, *, node: Node | None = None) -> Suite:
    """
    The suite at `path`: a JavaScript file is run by Node, a program by itself.

    :raises UsageError: it is neither.
    :raises ProvisionError: Node is needed and there is none.
    """
    try:
        # npm's links in `.bin` lead to a script; so Node runs it, and is known.
        entry = path.resolve(strict=True)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    if not entry.is_file():
        raise UsageError(f"{path}: is not a file")
    if entry.suffix in _NODE_SUFFIXES:
        node = node or find_node()
    elif _is_program(entry):
        node = None
    else:
        raise UsageError(
            f"{path}: is neither a JavaScript file (.js, .mjs, .cjs) nor executable"
        )
    manifest = _nearest_manifest(entry)
    try:
        entry_sha256 = sha256_of(entry)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    return Suite(
        node=node,
        entry=entry,
        provenance=SuiteProvenance(
            source=SuiteSource.OVERRIDE,
            package=PACKAGE if manifest else None,
            version=manifest.version if manifest else None,
            integrity=None,
            entry_sha256=entry_sha256,
            node_version=node.version if node else None,
            repository=manifest.repository if manifest else None,
            reviewed_ancestor=None,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Manifest:
    """The suite's ``package.json``."""

    version: str
    repository: str | None


def _load_manifest(path: Path) -> _Manifest | None:
    """The manifest at `path`; `None` if there is none or it is another package's."""
    try:
        reader = Reader(load_json(path), path)
        if reader.key("name").string() != PACKAGE:
            return None
        repository = reader.get("repository")
        if repository is not None and not isinstance(repository.value, str):
            repository = repository.get("url")
        return _Manifest(
            version=reader.key("version").string(),
            repository=repository_name(repository.string()) if repository else None,
        )
    except DecodeError:
        return None


def _nearest_manifest(entry: Path) -> _Manifest | None:
    for directory in entry.parents:
        path = directory / "package.json"
        if path.is_file():
            return _load_manifest(path)
    return None


def repository_name(address: str) -> str | None:
    """``owner/name`` of a GitHub address in any of npm's spellings, else `None`."""
    match = _GITHUB.fullmatch(address)
    return match[1] if match else None


def _is_program(path: Path) -> bool:
    if os.name == "nt":  # every file is executable there; the suffix tells
        suffixes = os.environ.get("PATHEXT", ".EXE;.CMD;.BAT").casefold().split(";")
        return path.suffix.casefold() in suffixes
    return os.access(path, os.X_OK)
