"""
npm packages at exact versions, installed without running a line of theirs.

npm checks every package against the integrity in the lockfile. The user's own npm
configuration decides where packages come from; what would change the result is set
here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.decode import Reader, load_json
from mcpconf.provision import run_program

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: A cold install of everything over a slow line, and no more.
INSTALL_S = 10 * 60.0

LOCK_FILES = ("package.json", "package-lock.json")

_OPTIONS = (
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--no-update-notifier",
    "--no-progress",
    "--color=false",
    "--loglevel=error",
    "--omit=dev",
    # These four undo settings a user may have for other work.
    "--include=optional",  # native binaries are optional dependencies
    "--install-strategy=hoisted",
    "--package-lock=true",
    "--global=false",
    # npm may run on an older Node than the one that will run the packages.
    "--engine-strict=false",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedPackage:
    """What a lockfile says of one package."""

    version: str
    integrity: str


def read_locked(lock_dir: Path, package: str) -> LockedPackage:
    """
    What the lockfile in `lock_dir` says of a direct dependency.

    :raises DecodeError: it is not a lockfile, or does not hold the package.
    """
    path = lock_dir / "package-lock.json"
    packages = Reader(load_json(path), path).key("packages")
    entry = packages.key(f"node_modules/{package}")
    return LockedPackage(
        version=entry.key("version").string(),
        integrity=entry.key("integrity").string(),
    )


def install_locked(
    npm: Sequence[str], lock_dir: Path, directory: Path, *, deadline_s: float
) -> None:
    """
    Install what the lockfile in `lock_dir` lists into `directory`.

    :raises ProvisionError: npm failed; its words are in the message.
    """
    for name in LOCK_FILES:
        (directory / name).write_bytes((lock_dir / name).read_bytes())
    _run(npm, "ci", directory, deadline_s)


def install_declared(npm: Sequence[str], directory: Path, *, deadline_s: float) -> None:
    """
    Install what ``package.json`` in `directory` declares, and write the lockfile.

    :raises ProvisionError: npm failed; its words are in the message.
    """
    _run(npm, "install", directory, deadline_s)


def _run(npm: Sequence[str], command: str, directory: Path, deadline_s: float) -> None:
    run_program(
        # The prefix is said, since npm looks for a project in parent directories.
        (*npm, command, *_OPTIONS, f"--prefix={directory}"),
        purpose=f"npm {command}",
        directory=directory,
        deadline_s=deadline_s,
    )
