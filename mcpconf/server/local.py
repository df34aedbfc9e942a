"""A server of ours on a free port of this machine, for as long as a block lasts."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.environment import base_environment
from mcpconf.errors import ProvisionError
from mcpconf.evidence import text_of
from mcpconf.process import Program, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mcpconf.revision import Revision

CANARIES = ("null", "empty", "closing")
_CANARY_DIR = Path(__file__).parent / "canary"
#: No survey and no row of canaries takes as long.
_LIFE_S = 3600.0
_READY_S, _PAUSE_S = 20.0, 0.02


@contextlib.contextmanager
def canary(name: str) -> Iterator[str]:
    """
    The URL of one of `CANARIES`, while it runs.

    :raises ProvisionError: it does not listen.
    """
    program = _CANARY_DIR / f"{name}.py"
    with _serving((sys.executable, "-I", "-S", str(program))) as url:
        yield url


@contextlib.contextmanager
def fixture(revision: Revision) -> Iterator[str]:
    """
    The URL of our fixture server with all that the suite asks for, while it runs.

    :raises ProvisionError: it does not listen.
    """
    words = [sys.executable, "-m", "mcpconf.fixture_server", "--everything"]
    words += ["--transport", "http", "--revision", revision.value]
    with _serving(words) as url:
        yield url


@contextlib.contextmanager
def _serving(words: Sequence[str]) -> Iterator[str]:
    port = _free_port()
    with tempfile.TemporaryDirectory(prefix="mcpconf-server-") as name:
        directory = Path(name)
        program = Program(
            argv=(*words, "--port", str(port)),
            cwd=directory,
            environment=base_environment(os.environ, directory, directory),
            stdout=directory / "stdout",
            stderr=directory / "stderr",
            deadline_s=_LIFE_S,
        )
        with start(program) as running:
            if not _listens(port):
                running.stop()
                running.wait()
                said = text_of(directory / "stderr").strip()[-500:]
                raise ProvisionError(f"{words[-1]}: no server of ours came up: {said}")
            yield f"http://127.0.0.1:{port}/mcp"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


def _listens(port: int) -> bool:
    """Whether a connection can be made before patience runs out."""
    until = time.monotonic() + _READY_S
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), _READY_S).close()
            return True
        time.sleep(_PAUSE_S)
    return False
