"""The baselines of this repository: whole, reviewed, of what is pinned."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from mcpconf.baseline.decode import load_baseline
from mcpconf.baseline.encode import to_json
from mcpconf.baseline.entry import FailureClass, Scope
from mcpconf.storage import json_bytes
from mcpconf.suite.catalogue import load_catalogue

FOLDER = Path(__file__).parents[2] / "baselines"
#: File → client, strict auth.
FILES = {
    "codex.json": ("codex", False),
    "codex-strict.json": ("codex", True),
    "python-sdk.json": ("python-sdk", False),
}
WHOLE = Scope(
    revisions=("2025-06-18", "2025-11-25", "2026-07-28"),
    transports=("stdio", "http"),
    sources=("official", "supplemental"),
    authentication=True,
)


def test_every_baseline_is_known_here_and_in_the_table() -> None:
    names = {path.name for path in FOLDER.glob("*.json")}
    assert names == set(FILES)
    page = (FOLDER / "README.md").read_text("utf-8")
    assert [name for name in names if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", FILES)
def test_a_baseline_is_whole_and_of_its_client(name: str) -> None:
    path = FOLDER / name
    today = dt.datetime.now(dt.UTC).date()
    baseline = load_baseline(path, catalogue=load_catalogue(), today=today)
    assert (baseline.version, baseline.scope) == (2, WHOLE)
    assert (baseline.client, baseline.strict_auth) == FILES[name]
    assert path.read_bytes() == json_bytes(to_json(baseline))
    assert len(baseline.passing) > 1500


@pytest.mark.parametrize("name", FILES)
def test_every_expected_failure_has_a_reviewed_reason(name: str) -> None:
    today = dt.datetime.now(dt.UTC).date()
    baseline = load_baseline(FOLDER / name, catalogue=load_catalogue(), today=today)
    for entry in baseline.failing.values():
        explanation = entry.explanation
        assert explanation is not None
        assert explanation.is_reviewed, entry.identity
        assert explanation.failure_class is not FailureClass.UNREVIEWED
        assert explanation.link is not None, entry.identity
        assert len(explanation.reason) >= 40, entry.identity
