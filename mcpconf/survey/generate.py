"""The catalogue as a file: surveyed, written, and held against another one."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.case import SuiteLaunch
from mcpconf.client.subject import resolve_subject
from mcpconf.decode import load_json
from mcpconf.errors import UsageError
from mcpconf.record import Role
from mcpconf.storage import write_json
from mcpconf.suite import drift as drifts
from mcpconf.suite.catalogue import (
    Catalogue,
    file_name,
    from_json,
    load_catalogue,
    to_json,
)
from mcpconf.suite.install import install_suite, override_suite
from mcpconf.survey.scenario import CLIENTS, survey
from mcpconf.survey.server import survey_servers

if TYPE_CHECKING:
    from mcpconf.suite.drift import Drift

_TIMEOUT_S = 45.0
DATA = Path(__file__).parent.parent / "data" / "suite"


def tell(line: str) -> None:
    """Show how far a survey is, on stderr."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def surveyed(*, role: Role, cli: Path | None, jobs: int) -> Catalogue:
    """
    The catalogue of the pinned suite, or of the build at `cli`, for one role.

    :raises McpconfError: a suite or a program that cannot be had, or that fails.
    """
    if jobs < 1:
        raise UsageError(f"--jobs {jobs}: at least 1")
    suite = override_suite(cli) if cli else install_suite()
    if role is Role.SERVER:
        return survey_servers(suite, jobs=jobs, tell=tell)
    with tempfile.TemporaryDirectory(prefix="mcpconf-survey-") as name:
        launches = {
            client: SuiteLaunch(
                suite=suite,
                subject=resolve_subject(client),
                run_dir=Path(name) / client,
                parent=None,
                keep_artifacts=False,
                timeout_s=_TIMEOUT_S,
                auth="assisted",
                environment=dict(os.environ),
            )
            for client in CLIENTS
        }
        return survey(
            suite,
            launches,
            jobs=jobs,
            tell=tell,
        )


def write_catalogue(
    out: Path | None, *, role: Role, cli: Path | None, jobs: int
) -> Path:
    """
    Survey a suite and write its catalogue, by default where the package reads it.

    :raises McpconfError: as `surveyed`; also when the file cannot be written.
    """
    catalogue = surveyed(role=role, cli=cli, jobs=jobs)
    path = out or DATA / file_name(catalogue.suite_version, role)
    write_json(path, to_json(catalogue))
    return path


def drift(
    old: Path | None, new: Path | None, *, role: Role, cli: Path | None
) -> tuple[Drift, ...]:
    """
    The differences of two catalogues of a role; each is a file, or its side's default.

    :raises McpconfError: a file that is malformed or of the other role, a suite that
        cannot be surveyed.
    """
    before = _stored(old, role) if old else load_catalogue(role=role)
    after = _stored(new, role) if new else surveyed(role=role, cli=cli, jobs=2)
    return drifts.compare(before, after)


def _stored(path: Path, role: Role) -> Catalogue:
    catalogue = from_json(load_json(path), path)
    if catalogue.role is not role:
        raise UsageError(f"{path}: of {catalogue.role}s; with --role {catalogue.role}")
    return catalogue
