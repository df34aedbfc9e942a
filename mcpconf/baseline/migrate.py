"""
Version 1 becomes version 2: the same checks, and a place for every reason.

Nobody has said why anything fails in a version 1 file, so every entry is marked.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpconf.baseline.decode import from_json
from mcpconf.baseline.encode import to_json
from mcpconf.baseline.entry import SuiteIdentity
from mcpconf.baseline.extract import unreviewed
from mcpconf.baseline.known import pinned_git_ref
from mcpconf.errors import DecodeError, UsageError

if TYPE_CHECKING:
    import datetime as dt

    from mcpconf.baseline.entry import Baseline
    from mcpconf.suite.catalogue import Catalogue


def migrate(
    baseline: Baseline,
    *,
    client: str,
    client_version: str,
    catalogue: Catalogue,
    today: dt.date,
) -> Baseline:
    """
    The version 2 baseline of a version 1 baseline; `today` is a UTC date.

    Its scope is the original's: no leg of ours over HTTP is expected. A file does not
    say when anything was first seen, so that is today.

    :raises UsageError: it is no version 1 baseline, is of another suite than the
        catalogue, or names what this client cannot have.
    """
    if baseline.version != 1:
        raise UsageError("the baseline is of version 2 already; there is nothing to do")
    pinned = pinned_git_ref(catalogue)
    if baseline.suite.git_ref != pinned:
        raise UsageError(
            f"the baseline is of the suite {baseline.suite.git_ref}, whose check ids"
            f" need not be those of {pinned}; run that, and extract a new baseline"
        )
    unknown = unreviewed(today.isoformat())
    made = replace(
        baseline,
        version=2,
        client=client,
        client_version=client_version,
        suite=SuiteIdentity(
            repository=baseline.suite.repository,
            git_ref=pinned,
            integrity=catalogue.integrity,
            catalogue=catalogue.digest,
        ),
        failing={
            identity: replace(entry, explanation=unknown)
            for identity, entry in baseline.failing.items()
        },
    )
    try:
        return from_json(
            to_json(made), "the new baseline", catalogue=catalogue, today=today
        )
    except DecodeError as error:
        raise UsageError(
            f"the baseline cannot become one of {client}; {error}"
        ) from None
