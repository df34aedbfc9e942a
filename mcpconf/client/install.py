"""
Clients under test at exact versions, from npm or PyPI, kept in the cache.

A committed lockfile is the rule. An npm client can also be asked for at another exact
version; its integrity is then what the registry said on the day, and its source says
so.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from mcpconf import cache
from mcpconf.errors import DecodeError, ProvisionError, UsageError
from mcpconf.npm import (
    INSTALL_S,
    LOCK_FILES,
    install_declared,
    install_locked,
    read_locked,
)
from mcpconf.provision import run_program
from mcpconf.storage import write_json
from mcpconf.suite.node import find_npm

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from mcpconf.decode import Json

#: Tags, ranges, addresses and paths are none: what they name changes.
_EXACT_VERSION = re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")

#: Settings for other work that would put packages elsewhere than into the venv.
_PIP_ELSEWHERE = frozenset({"PIP_PREFIX", "PIP_ROOT", "PIP_TARGET", "PIP_USER"})

_PROBE = (
    "import platform, sys, sysconfig;"
    "print(sys.implementation.cache_tag, platform.python_version(),"
    " sysconfig.get_platform())"
)


class ClientSource(StrEnum):
    """What vouches for the packages of a client."""

    PINNED = "pinned"
    REGISTRY = "registry"


@dataclass(frozen=True, slots=True, kw_only=True)
class NpmClient:
    """An npm client ready to be started, and where it came from."""

    package: str
    version: str
    #: Of `package`, as in the lockfile; npm has checked it.
    integrity: str
    source: ClientSource
    node_modules: Path
    program: Path
    #: Of `program`, as it was when it was installed.
    program_sha256: str

    def to_json(self) -> Json:
        """The record as reports hold it, without paths."""
        return {
            "package": self.package,
            "version": self.version,
            "integrity": self.integrity,
            "source": self.source.value,
            "program_sha256": self.program_sha256,
        }


def install_npm_client(
    package: str,
    lock_dir: Path,
    find_program: Callable[[Path], Path],
    *,
    version: str | None = None,
    npm: Sequence[str] | None = None,
    deadline_s: float = INSTALL_S,
) -> NpmClient:
    """
    The client `package`: as pinned in `lock_dir`, or at another exact `version`.

    `find_program` finds the program to start under ``node_modules``, or raises a
    `ProvisionError`.

    :raises UsageError: `version` is not one exact version.
    :raises ProvisionError: npm could not install it for this platform.
    """
    if version is not None and not _EXACT_VERSION.fullmatch(version):
        raise UsageError(f"{version!r} is not an exact version of {package}")
    pinned = read_locked(lock_dir, package)
    if version in (None, pinned.version):
        version = pinned.version
        source = ClientSource.PINNED
        identity = tuple((lock_dir / name).read_bytes() for name in LOCK_FILES)
    else:
        source = ClientSource.REGISTRY
        identity = (package.encode(), version.encode())

    def build(directory: Path) -> None:
        words = npm or find_npm()
        if source is ClientSource.PINNED:
            install_locked(words, lock_dir, directory, deadline_s=deadline_s)
        else:
            declared: Json = {"private": True, "dependencies": {package: version}}
            write_json(directory / "package.json", declared)
            install_declared(words, directory, deadline_s=deadline_s)

    def verify(directory: Path) -> str | None:
        try:
            if read_locked(directory, package).version != version:
                return f"{package} {version} is not in its lockfile"
            find_program(directory / "node_modules")
        except (DecodeError, ProvisionError) as error:
            return str(error)
        return None

    # npm installs the native binary of this platform alone.
    key = cache.key_of(*identity, sys.platform, platform.machine())
    directory = cache.ensure(f"npm-{source.value}", key, build, verify)
    program = find_program(directory / "node_modules")
    return NpmClient(
        package=package,
        version=version,
        integrity=read_locked(directory, package).integrity,
        source=source,
        node_modules=directory / "node_modules",
        program=program,
        program_sha256=cache.recorded_sha256(directory, program),
    )


def find_codex(node_modules: Path) -> Path:
    """
    The native ``codex`` that npm picked for this platform.

    :raises ProvisionError: it is not there, there are several, or it may not be run.
    """
    name = "codex.exe" if os.name == "nt" else "codex"
    found = sorted(node_modules.glob(f"@openai/codex*/vendor/*/bin/{name}"))
    if len(found) != 1:
        # A native package that cannot be fetched is no error to npm: it is optional.
        raise ProvisionError(
            f"@openai/codex has {len(found)} native binaries here, expected 1; npm may"
            f" have none for {sys.platform} on {platform.machine()}, or left it out"
        )
    if not os.access(found[0], os.X_OK):
        raise ProvisionError(f"{found[0]}: may not be executed")
    return found[0]


def install_pypi_client(
    requirements: Path,
    *,
    python: str = sys.executable,
    deadline_s: float = INSTALL_S,
) -> Path:
    """
    The Python of an environment that holds just `requirements`, each with its hash.

    It can only be used as this Python: the environment's scripts have lost their way.

    :raises ProvisionError: no environment could be made, or pip could not fill it.
    """
    listed = requirements.read_bytes()

    def build(directory: Path) -> None:
        # -I: neither PYTHONPATH nor the working directory reaches these programs.
        run_program(
            (python, "-I", "-m", "venv", directory / "venv"),
            purpose="making a virtual environment",
            directory=directory,
            deadline_s=deadline_s,
        )
        (directory / requirements.name).write_bytes(listed)
        run_program(
            (
                *(_venv_python(directory), "-I", "-m", "pip", "install"),
                # Compiled here, whatever the user's settings say: not at each start.
                *("--require-hashes", "--only-binary=:all:", "--compile"),
                *("--no-input", "--disable-pip-version-check", "--progress-bar=off"),
                *("--no-warn-script-location", "--quiet"),
                *("-r", directory / requirements.name),
            ),
            purpose="pip install",
            directory=directory,
            environment={
                name: value
                for name, value in os.environ.items()
                if name not in _PIP_ELSEWHERE
            },
            deadline_s=deadline_s,
        )

    def verify(directory: Path) -> str | None:
        # A link to the Python it was made from, which may have been removed since.
        path = _venv_python(directory)
        return None if path.is_file() else f"{path} leads nowhere"

    kind_of_python = run_program(
        (python, "-I", "-S", "-c", _PROBE),
        purpose="asking Python for its version",
        deadline_s=30,
    )
    key = cache.key_of(listed, kind_of_python)
    return _venv_python(cache.ensure("pypi", key, build, verify))


def _venv_python(directory: Path) -> Path:
    if os.name == "nt":
        return directory / "venv" / "Scripts" / "python.exe"
    return directory / "venv" / "bin" / "python"
