"""The closing record names the evidence; what is not it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcpconf import evidence
from mcpconf.errors import DecodeError
from mcpconf.record import CaseKey
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from pathlib import Path

KEY = CaseKey(revision=Revision.V2025_11_25, scenario="auth/basic-cimd")


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    directory = tmp_path / KEY.path
    directory.mkdir(parents=True)
    for name in (evidence.LAUNCH, evidence.WIRE):
        (directory / name).write_text(name)
    return tmp_path


def test_digests_name_the_files_there_are(run_dir: Path) -> None:
    digests = evidence.digests_of(run_dir, [KEY])
    assert sorted(digests) == [
        "cases/2025-11-25/auth-basic-cimd/launch.json",
        "cases/2025-11-25/auth-basic-cimd/wire.jsonl",
    ]
    assert all(digest.startswith("sha256:") for digest in digests.values())
    evidence.check_digests(run_dir, [KEY], digests)


def test_evidence_that_was_changed_is_refused(run_dir: Path) -> None:
    digests = evidence.digests_of(run_dir, [KEY])
    (run_dir / KEY.path / evidence.WIRE).write_text("another")
    with pytest.raises(DecodeError, match=r"wire\.jsonl: is not the file"):
        evidence.check_digests(run_dir, [KEY], digests)


def test_evidence_that_is_gone_is_refused(run_dir: Path) -> None:
    digests = evidence.digests_of(run_dir, [KEY])
    (run_dir / KEY.path / evidence.LAUNCH).unlink()
    with pytest.raises(DecodeError, match=r"launch\.json: is missing"):
        evidence.check_digests(run_dir, [KEY], digests)


def test_evidence_that_came_later_is_refused(run_dir: Path) -> None:
    digests = evidence.digests_of(run_dir, [KEY])
    (run_dir / KEY.path / evidence.CHECKS).write_text("[]")
    with pytest.raises(DecodeError, match=r"checks\.json: is not named"):
        evidence.check_digests(run_dir, [KEY], digests)
