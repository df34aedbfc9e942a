"""A server of ours on a free port of this machine, for as long as a block lasts."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.environment import base_environment
from mcpconf.server.host import listening, started
from mcpconf.server.subject import FIXTURE_COMMAND

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpconf.revision import Revision

CANARIES = ("null", "empty", "closing")
_CANARY_DIR = Path(__file__).parent / "canary"


@contextlib.contextmanager
def canary(name: str) -> Iterator[str]:
    """
    The URL of one of `CANARIES`, while it runs.

    :raises UsageError: it does not listen.
    :raises SupervisorError: something of it may be left.
    """
    program = str(_CANARY_DIR / f"{name}.py")
    words = (sys.executable, "-I", "-S", program, "--port", "{port}")
    with (
        _directory() as place,
        listening(
            shlex.join(words),
            directory=place,
            environment=base_environment(os.environ, place, place),
        ) as server,
    ):
        yield server.url


@contextlib.contextmanager
def fixture(revision: Revision) -> Iterator[str]:
    """
    The URL of our fixture server with all that the suite asks for, while it runs.

    :raises UsageError: it does not get ready.
    :raises SupervisorError: something of it may be left.
    """
    with (
        _directory() as place,
        started(
            FIXTURE_COMMAND,
            revision=revision,
            directory=place,
            environment=base_environment(os.environ, place, place),
        ) as server,
    ):
        yield server.url


@contextlib.contextmanager
def _directory() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="mcpconf-server-") as name:
        yield Path(name)
