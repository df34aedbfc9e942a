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
from mcpconf.storage import write_json
from mcpconf.suite import drift as drifts
from mcpconf.suite.catalogue import Catalogue, from_json, load_catalogue, to_json
from mcpconf.suite.install import install_suite, override_suite
from mcpconf.survey.scenario import CLIENTS, survey

if TYPE_CHECKING:
    from mcpconf.suite.drift import Drift

_TIMEOUT_S = 45.0
_DATA = Path(__file__).parent.parent / "data" / "suite"


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def surveyed(*, cli: Path | None, jobs: int) -> Catalogue:
    """
    The catalogue of the pinned suite, or of the build at `cli`.

    :raises McpconfError: a suite or client that cannot be had, or that fails.
    """
    if jobs < 1:
        raise UsageError(f"--jobs {jobs}: at least 1")
    suite = override_suite(cli) if cli else install_suite()
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
            tell=_tell,
        )


def write_catalogue(out: Path | None, *, cli: Path | None, jobs: int) -> Path:
    """
    Survey a suite and write its catalogue, by default where the package reads it.

    :raises McpconfError: as `surveyed`; also when the file cannot be written.
    """
    catalogue = surveyed(cli=cli, jobs=jobs)
    path = out or _DATA / f"catalogue-{catalogue.suite_version}.json"
    write_json(path, to_json(catalogue))
    return path


def drift(old: Path | None, new: Path | None, *, cli: Path | None) -> tuple[Drift, ...]:
    """
    The differences of two catalogues; each is a file, or the default for its side.

    :raises McpconfError: a file that is malformed, a suite that cannot be surveyed.
    """
    before = from_json(load_json(old), old) if old else load_catalogue()
    after = from_json(load_json(new), new) if new else surveyed(cli=cli, jobs=2)
    return drifts.compare(before, after)
