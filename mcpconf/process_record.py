"""
What to run, and how it ended: the records of `mcpconf.process`, and its one error.

Records hold no behaviour of their own. `Ended` is evidence: it is stored with a run,
and read back strictly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from mcpconf.decode import Reader
from mcpconf.errors import McpconfError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from mcpconf.decode import Json

T = TypeVar("T")


class SupervisorError(McpconfError):
    """How the program ended is not known; the fault is ours, not the program's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program to run under a deadline, with everything it may see."""

    #: ``argv[0]`` is looked up on the `PATH` of `environment` unless it has a slash.
    argv: tuple[str, ...]
    cwd: Path
    #: The whole environment: nothing is inherited.
    environment: Mapping[str, str]
    #: Files that receive what the program writes.
    stdout: Path
    stderr: Path
    deadline_s: float
    #: From the request to end until the end by force.
    grace_s: float = 2.0
    #: Kept of each stream; the rest is counted and discarded, and never blocks.
    max_output_bytes: int = 1024 * 1024
    #: Descriptors the program inherits under the same numbers. POSIX only.
    pass_fds: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not self.argv:
            raise ValueError("argv is empty; name a program")
        for name, value in (("deadline_s", self.deadline_s), ("grace_s", self.grace_s)):
            if not math.isfinite(value) or value < 0:
                raise ValueError(f"{name} must be a finite time, got {value}")


class EndKind(StrEnum):
    """How the program ended; for the last three it was not by itself."""

    EXITED = "exited"
    SIGNALLED = "signalled"
    TIMED_OUT = "timed-out"
    STOPPED = "stopped"
    FAILED_TO_START = "failed-to-start"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """
    A process that had to be killed when its time was over, the program itself apart.

    After an exit that is who outlived the program; after a deadline or a stop, who
    outlived the request to end.
    """

    pid: int
    name: str
    #: Executable and script, never the arguments: those may hold secrets.
    description: str

    def __str__(self) -> str:
        return f"{self.description} (pid {self.pid})"

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {"pid": self.pid, "name": self.name, "description": self.description}

    @classmethod
    def from_json(cls, reader: Reader) -> Leftover:
        """The leftover `to_json` wrote."""
        reader.only("pid", "name", "description")
        return cls(
            pid=reader.key("pid").integer(),
            name=reader.key("name").string(),
            description=reader.key("description").string(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How one program ended. None of its processes is alive, unless `error` says so."""

    kind: EndKind
    #: The program's own end, also when it was brought about: a program that is asked
    #: to end at its deadline may exit 0. `kind` comes first.
    exit_code: int | None
    signal: str | None
    #: From the start to the program's own end.
    duration_s: float
    #: At most the first hundred.
    leftovers: tuple[Leftover, ...]
    #: What was written, kept or not.
    stdout_bytes: int
    stderr_bytes: int
    #: Why it did not start, or who could not be killed.
    error: str | None
    #: User and system time of the whole tree; unknown on Windows.
    cpu_s: float | None
    supervisor_cpu_s: float | None

    def to_json(self) -> dict[str, Json]:
        """As a JSON object."""
        return {
            "kind": self.kind.value,
            "exit_code": self.exit_code,
            "signal": self.signal,
            "duration_s": self.duration_s,
            "leftovers": [leftover.to_json() for leftover in self.leftovers],
            "stdout_bytes": self.stdout_bytes,
            "stderr_bytes": self.stderr_bytes,
            "error": self.error,
            "cpu_s": self.cpu_s,
            "supervisor_cpu_s": self.supervisor_cpu_s,
        }

    @classmethod
    def from_json(cls, reader: Reader) -> Ended:
        """
        The record `to_json` wrote.

        :raises DecodeError: not that form, or an end that says nothing: exited
            without a code, signalled without a signal.
        """
        reader.only(*cls.__dataclass_fields__)
        kind = _kind(reader.key("kind"))
        code = _optional(reader, "exit_code", Reader.integer)
        signal = _optional(reader, "signal", Reader.string)
        if kind is EndKind.EXITED and code is None:
            reader.fail("exited, but has no exit_code")
        if kind is EndKind.SIGNALLED and signal is None:
            reader.fail("signalled, but has no signal")
        return cls(
            kind=kind,
            exit_code=code,
            signal=signal,
            duration_s=reader.key("duration_s").number(),
            leftovers=tuple(map(Leftover.from_json, reader.key("leftovers").items())),
            stdout_bytes=reader.key("stdout_bytes").integer(),
            stderr_bytes=reader.key("stderr_bytes").integer(),
            error=_optional(reader, "error", Reader.string),
            cpu_s=_optional(reader, "cpu_s", Reader.number),
            supervisor_cpu_s=_optional(reader, "supervisor_cpu_s", Reader.number),
        )


def _kind(reader: Reader) -> EndKind:
    try:
        return EndKind(reader.string())
    except ValueError:
        reader.fail(f"expected one of {', '.join(EndKind)}, got {reader.string()!r}")


def _optional(reader: Reader, name: str, read: Callable[[Reader], T]) -> T | None:
    member = reader.get(name)
    return None if member is None else read(member)
