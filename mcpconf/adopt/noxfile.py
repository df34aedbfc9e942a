"""
The noxfile the GitHub Action runs: the action has read everything, and passes it on.

Paths mean what they mean to the caller, so the session goes where nox was called.
"""

from __future__ import annotations

import nox

from mcpconf.nox import run_mcpconf


@nox.session(venv_backend="none", default=False)
def conformance(session: nox.Session) -> None:
    """Run ``mcpconf run`` with what is given after ``--``."""
    session.chdir(session.invoked_from)
    run_mcpconf(session, "run", *session.posargs)
