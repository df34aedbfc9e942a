"""
The sessions of another repository: ``from mcpconf.nox import sessions; sessions()``.

Nox and mcpconf share one environment (a noxfile's script dependencies make it), and
a session runs that mcpconf: nothing is installed a second time, and what judges is what
the noxfile asked for.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import nox
import nox.command

from mcpconf.adopt.config import TABLE, decode, read_pyproject
from mcpconf.errors import McpconfError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mcpconf.adopt.config import Adoption
    from mcpconf.revision import Revision


def sessions(*, install: Sequence[str] = (), **table: object) -> None:
    """
    Register ``conformance`` and ``conformance-<revision>`` for the client under test.

    The client is what ``[tool.mcpconf]`` of the ``pyproject.toml`` beside the noxfile
    says; or give the members of that table as arguments, and the file is not read.
    `install` are words of ``pip install``: what a client in Python needs goes into an
    environment of the session's own, whose ``python`` its command then finds first.
    Everything is relative to the noxfile's directory.

    A table that is refused ends nox with exit code 2, one line for each fault.
    """
    try:
        adoption = _adoption(table)
    except McpconfError as error:
        for line in str(error).splitlines():
            print(f"mcpconf: error: {line}", file=sys.stderr)  # noqa: T201
        sys.exit(int(error.exit_code))
    for revision in adoption.revisions:
        _register(adoption, install, revision)
    _register(adoption, install, None)


def run_mcpconf(session: nox.Session, *words: str) -> None:
    """Run one mcpconf command; its exit codes 2 and 3 become nox's own."""
    # -P: what lies in the caller's directory is none of mcpconf's own modules.
    command = (sys.executable, "-P", "-m", "mcpconf", *words)
    try:
        session.run(*command, external=True)
    except nox.command.CommandFailed as failed:
        if failed.return_code in {2, 3}:  # nox itself knows no failure but 1
            sys.exit(failed.return_code)
        raise


def _adoption(table: dict[str, object]) -> Adoption:
    if table:
        plain = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in table.items()
        }
        return decode(plain, Path("noxfile.py").absolute(), "sessions()")
    path = Path("pyproject.toml").absolute()  # nox goes to the noxfile's directory
    adoption = read_pyproject(path)
    if adoption is None:
        raise UsageError(
            f"{path}: there is no [{TABLE}]; name the client under test there, "
            "or as an argument of sessions()"
        )
    return adoption


def _register(
    adoption: Adoption, install: Sequence[str], revision: Revision | None
) -> None:
    named = f"-{revision.value}" if revision else ""
    scope = revision.value if revision else "all configured revisions"
    # With nothing to install the session needs no environment.
    backend = None if install else "none"
    decorator = nox.session(
        name=f"conformance{named}",
        tags=[] if revision is None else ["conformance"],
        venv_backend=backend,
        default=False,
    )
    decorator(_session(adoption, install, revision, scope))


def _session(
    adoption: Adoption,
    install: Sequence[str],
    revision: Revision | None,
    scope: str,
) -> Callable[[nox.Session], None]:
    def session(session: nox.Session) -> None:
        if install:
            session.install(*install)
        given = session.posargs
        words = adoption.words(given, revision=revision)
        run_mcpconf(session, "run", *words, *given)

    session.__doc__ = f"Run the client scenarios of {scope} and judge them."
    return session
