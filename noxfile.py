"""
What this project does, as nox sessions: install, then one call.

``nox -s conformance-2026-07-28`` is the main job, ``nox -s tests`` runs every test.
Options after ``--`` go to ``python -m mcpconf``. The list of revisions is repeated
here because nox runs this file in its own environment; a test compares the two.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import nox
import nox.command

if TYPE_CHECKING:
    from collections.abc import Callable

nox.needs_version = ">=2026.10.20"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.default_venv_backend = "venv"
nox.options.reuse_venv = "yes"

REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
#: A program under test is started as its caller would start it: their python, not ours.
CALLERS = {name: os.environ.get(name) for name in ("PATH", "VIRTUAL_ENV")}
PROJECT = nox.project.load_toml("pyproject.toml")


def _group(name: str) -> tuple[str, ...]:
    return nox.project.dependency_groups(PROJECT, name)


def _mcpconf(session: nox.Session, *words: str) -> None:
    """Run one mcpconf command; its exit codes 2 and 3 become nox's own."""
    session.install("-e", ".")
    session.chdir(session.invoked_from)  # paths mean what they mean to the caller
    try:
        session.run("python", "-m", "mcpconf", *words, *session.posargs, env=CALLERS)
    except nox.command.CommandFailed as failed:
        if failed.return_code in {2, 3}:  # nox itself knows no failure but 1
            sys.exit(failed.return_code)
        raise


def _conformance(revision: str) -> Callable[[nox.Session], None]:
    def session(session: nox.Session) -> None:
        _mcpconf(session, "run", "--revision", revision)

    session.__doc__ = f"Run the client scenarios of {revision} and judge them."
    return session


def _server(revision: str) -> Callable[[nox.Session], None]:
    def session(session: nox.Session) -> None:
        _mcpconf(session, "server", "--revision", revision, "--only", "official")

    session.__doc__ = f"Run the suite's server scenarios of {revision} and judge them."
    return session


for _revision in REVISIONS:
    nox.session(
        name=f"conformance-{_revision}", tags=["ci", "conformance"], default=False
    )(_conformance(_revision))
    nox.session(name=f"server-{_revision}", tags=["ci", "server"], default=False)(
        _server(_revision)
    )


@nox.session(tags=["ci"], default=False)
def conformance(session: nox.Session) -> None:
    """Run the client scenarios of all revisions and judge them."""
    _mcpconf(session, "run")


@nox.session(name="tasks-extension", tags=["ci", "server"], default=False)
def tasks_extension(session: nox.Session) -> None:
    """Run our checks of a server's tasks extension (SEP-2663)."""
    _mcpconf(session, "server", "--revision", REVISIONS[-1], "--only", "supplemental")


@nox.session(tags=["ci"], default=False)
def server(session: nox.Session) -> None:
    """Run the server scenarios of all revisions, the suite's and ours."""
    _mcpconf(session, "server")


@nox.session(tags=["ci"], default=False)
def canaries(session: nox.Session) -> None:
    """Run the clients that do next to nothing; the first three must pass nothing."""
    _mcpconf(session, "canaries")


@nox.session(tags=["ci"])
def tests(session: nox.Session) -> None:
    """Run every test of the project."""
    session.install("-e", ".", *_group("tests"))
    session.run("pytest", *session.posargs)


@nox.session(tags=["ci"])
def lint(session: nox.Session) -> None:
    """Check style, formatting and spelling."""
    session.install(*_group("lint"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("codespell")


@nox.session(tags=["ci"])
def types(session: nox.Session) -> None:
    """Check types."""
    session.install("-e", ".", *_group("types"))
    session.run("mypy")


@nox.session(default=False)
def bench(session: nox.Session) -> None:
    """Measure speed, as ratios in one run, against the written budgets."""
    session.install(*_group("browser"))
    _mcpconf(session, "bench")
