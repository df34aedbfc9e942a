"""Version 1 becomes version 2."""

from __future__ import annotations

from dataclasses import replace

import pytest
from make_baseline import (
    BAD,
    CATALOGUE,
    OFFICIAL,
    TODAY,
    make_baseline,
    make_file,
    make_run,
)

from mcpconf.baseline.decode import from_json
from mcpconf.baseline.diff import diff
from mcpconf.baseline.encode import to_json
from mcpconf.baseline.entry import Baseline, SuiteIdentity
from mcpconf.baseline.migrate import migrate
from mcpconf.errors import UsageError


def _migrate(baseline: Baseline, client: str = "codex") -> Baseline:
    return migrate(
        baseline,
        client=client,
        client_version="codex-cli 1.2.3",
        catalogue=CATALOGUE,
        today=TODAY,
    )


def test_a_migrated_baseline_expects_the_same_checks() -> None:
    older = make_baseline(version=1)
    made = _migrate(older)
    assert made.version == 2
    assert made.passing == older.passing
    assert set(made.failing) == set(older.failing) == set(BAD)
    assert made.client_version == "codex-cli 1.2.3"
    assert made.suite.integrity == CATALOGUE.integrity
    assert made.scenarios == older.scenarios


def test_a_migrated_entry_is_to_be_reviewed_from_today_on() -> None:
    explanation = _migrate(make_baseline(version=1)).failing[OFFICIAL].explanation
    assert explanation is not None
    assert not explanation.is_reviewed
    assert explanation.since == TODAY.isoformat()


def test_a_migrated_baseline_expects_no_leg_that_version_1_does_not_have() -> None:
    made = _migrate(make_baseline(version=1))
    assert made.scope.labels == ("stdio", "official-http")
    assert from_json(to_json(made), "x", catalogue=CATALOGUE, today=TODAY) == made
    found = diff(made, make_run(BAD))
    assert found.missing == found.new == ()
    assert "http 2025-06-18: only in the report" in found.not_compared


def test_what_cannot_be_migrated_is_refused() -> None:
    older = make_baseline(version=1)
    with pytest.raises(UsageError, match="of version 2 already"):
        _migrate(_migrate(older))
    other = SuiteIdentity(repository=None, git_ref="49103de")
    with pytest.raises(UsageError, match="suite 49103de, whose check ids"):
        _migrate(replace(older, suite=other))
    with pytest.raises(UsageError, match=r"has no harness check .*codex-adapter"):
        _migrate(older, client="python-sdk")


def test_the_file_of_a_migration_is_a_version_2_file() -> None:
    value = to_json(_migrate(make_baseline(version=1)))
    assert isinstance(value, dict)
    assert value.keys() == make_file().keys()
