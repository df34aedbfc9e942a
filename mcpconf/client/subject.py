"""
The very program under test: found, asked for its version, identified by digest.

A report that cannot say which bytes were judged is worth nothing, so this happens
before the first scenario and a program that will not say its version is refused.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tempfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mcpconf.client import install, manifest
from mcpconf.decode import Reader
from mcpconf.environment import base_environment
from mcpconf.errors import UsageError
from mcpconf.process import EndKind, Program, run
from mcpconf.redaction import redact_text
from mcpconf.storage import sha256_of

if TYPE_CHECKING:
    from mcpconf.client.manifest import Manifest
    from mcpconf.decode import Json

_VERSION_S = 20.0
_SDK_VERSION = "import importlib.metadata as m; print('mcp', m.version('mcp'))"
#: The program is this package's own; what it stands on is not.
_REFERENCE_VERSION = (
    "import importlib.metadata as m; print('reference client on',"
    " ', '.join(f'{each} {m.version(each)}' for each in ('joserfc', 'requests')))"
)
_DATA = Path(str(files("mcpconf"))) / "data" / "clients"


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A client ready to be started."""

    manifest: Manifest
    #: What the driver starts; the server's URL is appended for ``command``.
    argv: tuple[str, ...]
    #: What is under test: the program, or the script that `argv` has interpreted.
    binary: Path
    #: Of `binary`.
    sha256: str
    #: As the program itself says it, one line.
    version: str
    #: ``pinned``, ``registry``, ``given``, ``shipped``.
    source: str

    def to_json(self) -> Json:
        """The record as reports hold it."""
        return {
            "name": self.manifest.name,
            "title": self.manifest.title,
            "driver": self.manifest.driver,
            "binary": str(self.binary),
            "sha256": self.sha256,
            "version": self.version,
            "source": self.source,
            "features": {
                revision.value: list(names)
                for revision, names in self.manifest.features.items()
            },
        }


class Described(Protocol):
    """A program under test that can say what a report shows of it."""

    def to_json(self) -> Json:
        """The record, with a ``name``, a ``binary`` and a ``version``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectRecord:
    """A subject as a stored run remembers it."""

    name: str
    binary: str
    version: str
    value: Json

    @classmethod
    def of(cls, subject: Described) -> SubjectRecord:
        """What a run remembers of a client, or of a server."""
        return cls.from_json(Reader(subject.to_json(), "subject"))

    @classmethod
    def from_json(cls, reader: Reader) -> SubjectRecord:
        """The record `Subject.to_json` wrote."""
        return cls(
            name=reader.key("name").string(),
            binary=reader.key("binary").string(),
            version=reader.key("version").string(),
            value=reader.value,
        )


def resolve_subject(
    name: str,
    *,
    binary: Path | None = None,
    version: str | None = None,
    command: str | None = None,
) -> Subject:
    """
    The client the options name.

    `binary` runs that file instead of the pinned one; `version` another published
    version, or the one `binary` must be; `command` any program of the suite's contract.

    :raises UsageError: options that exclude each other, a program that is missing, may
        not be executed, will not say its version, or is not the version asked for.
    :raises ProvisionError: the pinned client could not be obtained.
    """
    if command is not None:
        if binary is not None or version is not None:
            raise UsageError("--client-command excludes --binary and --client-version")
        return _command(command)
    known = manifest.MANIFESTS.get(name)
    if known is None:
        names = ", ".join(manifest.MANIFESTS)
        raise UsageError(f"--client {name}: known are {names}")
    if known is not manifest.CODEX and (binary is not None or version is not None):
        raise UsageError("--binary and --client-version are for --client codex")
    if known is manifest.CODEX:
        return _codex(binary, version)
    if known is manifest.PYTHON_SDK:
        return _pypi_client(known, "python_sdk", _SDK_VERSION)
    if known is manifest.REFERENCE:
        return _pypi_client(known, "reference", _REFERENCE_VERSION)
    return _canary(known)


def _codex(binary: Path | None, version: str | None) -> Subject:
    wanted = version
    if binary is None:
        client = install.install_npm_client(
            "@openai/codex", _DATA / "codex", install.find_codex, version=version
        )
        program, digest = client.program, client.program_sha256
        source, wanted = client.source.value, client.version
    else:
        program, source = _executable(binary), "given"
        digest = sha256_of(program)
    said = _ask_version((str(program), "--version"), program)
    if "codex" not in said.lower():
        raise UsageError(f"{program}: says {said!r}, which is not Codex")
    if wanted is not None and wanted not in said.split():
        raise UsageError(f"{program}: is {said!r}, not version {wanted}")
    return Subject(
        manifest=manifest.CODEX,
        argv=(str(program),),
        binary=program,
        sha256=digest,
        version=said,
        source=source,
    )


def _pypi_client(known: Manifest, package: str, version: str) -> Subject:
    """A program of ours in `package`, on the pinned libraries of an environment."""
    python = install.install_pypi_client(_DATA / known.name / "requirements.txt")
    program = Path(__file__).parent / package / "program.py"
    return Subject(
        manifest=known,
        argv=(str(python), "-I", str(program)),
        binary=program,
        sha256=sha256_of(program),
        version=_ask_version((str(python), "-I", "-c", version), python),
        source="pinned",
    )


def _canary(known: Manifest) -> Subject:
    program = Path(__file__).parent / "canary" / f"{known.name.replace('-', '_')}.py"
    return Subject(
        manifest=known,
        argv=(sys.executable, "-I", "-S", str(program)),
        binary=program,
        sha256=sha256_of(program),
        version=f"canary {known.name}",
        source="shipped",
    )


def _command(command: str) -> Subject:
    try:
        argv = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"--client-command {command!r}: {error}") from None
    if not argv:
        raise UsageError("--client-command is empty; name a program")
    found = shutil.which(argv[0])
    if found is None:
        raise UsageError(f"--client-command: {argv[0]}: no such program")
    script = _script_of(argv)
    if script is not None and not Path(script).is_file():
        raise UsageError(f"--client-command: {script}: no such file")
    # An interpreter runs many clients: its script tells them apart.
    program = program_of(argv, found)
    return Subject(
        manifest=manifest.COMMAND,
        argv=(str(Path(found).absolute()), *argv[1:]),
        binary=program,
        sha256=sha256_of(program),
        version=redact_text(command),
        source="given",
    )


def program_of(argv: list[str], found: str) -> Path:
    """The file that makes a command what it is; an interpreter's is its script."""
    return Path(_script_of(argv) or found).resolve()


#: Programs whose first plain word is a file to run.
_INTERPRETERS = re.compile(r"(python|node|deno|bun|ruby|perl|bash|sh)[\d.]*(\.exe)?")


def _script_of(argv: list[str]) -> str | None:
    """The script an interpreter is to run; None where it is told otherwise."""
    if not _INTERPRETERS.fullmatch(Path(argv[0]).name) or len(argv) == 1:
        return None
    return None if argv[1].startswith("-") or argv[1] == "run" else argv[1]


def _executable(path: Path) -> Path:
    program = path.expanduser().absolute()
    if not program.is_file():
        raise UsageError(f"{path}: no such file; build it or correct --binary")
    if not os.access(program, os.X_OK):
        raise UsageError(f"{path}: may not be executed; chmod +x it")
    return program


def _ask_version(argv: tuple[str, ...], program: Path) -> str:
    """The one line a program prints for its version, in an isolated home."""
    with tempfile.TemporaryDirectory(prefix="mcpconf-version-") as name:
        home = Path(name)
        ended = run(
            Program(
                argv=argv,
                cwd=home,
                environment=base_environment(os.environ, home, home),
                stdout=home / "stdout",
                stderr=home / "stderr",
                deadline_s=_VERSION_S,
            )
        )
        said = (home / "stdout").read_text("utf-8", "replace").strip()
    if ended.kind is not EndKind.EXITED or ended.exit_code != 0 or not said:
        how = ended.error or ended.signal or f"{ended.kind.value} {ended.exit_code}"
        raise UsageError(f"{program}: does not say its version ({how})")
    return " ".join(said.splitlines()[0].split())[:200]
