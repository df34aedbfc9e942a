"""
One tree of errors, and the exit codes.

Every refusal of ours is a `McpconfError`. It says what to change, and it carries the
exit code the process ends with:

=====  ====================================================================
code   meaning
=====  ====================================================================
0      conformant
1      not conformant
2      usage or bad input: nothing was run, nothing was written
3      the harness could not tell: incomplete, or a fault of ours or upstream's
=====  ====================================================================
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class ExitCode(IntEnum):
    """What the process tells its caller."""

    CONFORMANT = 0
    NOT_CONFORMANT = 1
    BAD_INPUT = 2
    HARNESS = 3


class McpconfError(Exception):
    """Something the reader can act on; the text says what to change."""

    exit_code: ExitCode = ExitCode.HARNESS


class UsageError(McpconfError):
    """An option or argument that cannot be honoured."""

    exit_code = ExitCode.BAD_INPUT


class DecodeError(McpconfError):
    """A file does not have the form its schema promises."""

    exit_code = ExitCode.BAD_INPUT

    def __init__(self, source: Path | str, where: str, problem: str) -> None:
        """Name the file, the path inside it, and the problem."""
        super().__init__(source, where, problem)  # all arguments: keeps it picklable
        self.source = source
        self.where = where
        self.problem = problem

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        return f"{self.source}: {place}{self.problem}"


class StorageError(McpconfError):
    """A file could not be written whole; nothing half-written was left."""

    def __init__(self, path: Path | str, problem: str) -> None:
        """Name the path and what the operating system said."""
        super().__init__(path, problem)
        self.path = path
        self.problem = problem

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


class FixtureError(McpconfError):
    """The fixture server broke, which is a bug of ours and says nothing of a client."""


class ProvisionError(McpconfError):
    """The suite, Node or a client could not be obtained or is not what was pinned."""
