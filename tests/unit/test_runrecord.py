"""The bookends of a run: stored, read back, and refused when they are not ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from make import (
    MIDDLE,
    NEW,
    make_case,
    make_catalogue,
    make_end,
    make_entry,
    make_record,
)

from mcpconf.errors import DecodeError
from mcpconf.plan import PlannedCase
from mcpconf.record import AuthMode, Policy, RevisionPolicy, WarningPolicy
from mcpconf.runrecord import EndRecord, RunRecord
from mcpconf.selection import Selection, Shard
from mcpconf.storage import write_json

if TYPE_CHECKING:
    from pathlib import Path

CATALOGUE = make_catalogue()
RECORD = make_record(
    CATALOGUE,
    (
        make_case(),
        make_case("auth/basic-cimd", NEW, variant="v", options={"auth": "strict"}),
    ),
    policy=Policy(warnings=WarningPolicy.WARN, revision=RevisionPolicy.EXACT),
    auth_mode=AuthMode.STRICT,
    selection=Selection(
        revisions=(MIDDLE, NEW),
        authentication=False,
        official=("tools_call",),
        supplemental=("basics",),
        shard=Shard(2, 4),
    ),
)
SELECTION = RECORD.selection.to_json()
END = make_end(
    faults=("x: lost",),
    open_ports=(4000,),
    temporary=("left",),
    digests={"a/wire.jsonl": "sha256:x"},
)


def test_a_run_record_reads_back_as_it_was(tmp_path: Path) -> None:
    write_json(tmp_path / "run.json", RECORD.to_json())
    assert RunRecord.load(tmp_path / "run.json") == RECORD


def test_a_closing_record_reads_back_as_it_was(tmp_path: Path) -> None:
    write_json(tmp_path / "end.json", END.to_json())
    assert EndRecord.load(tmp_path / "end.json") == END


def _value(record: RunRecord | EndRecord) -> dict[str, Any]:
    value: Any = record.to_json()
    return dict(value)


@pytest.mark.parametrize("name", sorted(_value(RECORD)))
def test_a_run_record_with_a_member_missing_is_refused(
    tmp_path: Path, name: str
) -> None:
    value = _value(RECORD)
    del value[name]
    write_json(tmp_path / "run.json", value)
    with pytest.raises(DecodeError, match="is missing"):
        RunRecord.load(tmp_path / "run.json")


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"schema": 1}, "schema"),
        ({"extra": 1}, "extra"),
        ({"policy": {"warnings": "ignore", "revision": "exact"}}, "policy.warnings"),
        ({"policy": {"warnings": "warn", "revision": "any"}}, "policy.revision"),
        ({"auth_mode": "lenient"}, "auth_mode"),
        ({"selection": SELECTION | {"revisions": ["draft"]}}, "selection.revisions[0]"),
        ({"selection": SELECTION | {"authentication": "yes"}}, "authentication"),
        ({"selection": SELECTION | {"shard": {"index": 5, "of": 4}}}, "no part 5/4"),
        ({"selection": SELECTION | {"more": 1}}, "unknown key more"),
        (
            {
                "cases": [
                    {
                        "revision": "draft",
                        "source": "official",
                        "transport": "http",
                        "scenario": "x",
                        "variant": None,
                        "options": {},
                    }
                ]
            },
            "cases[0].revision",
        ),
        (
            {
                "cases": [
                    {
                        "source": "official",
                        "transport": "http",
                        "revision": "2025-06-18",
                    }
                ]
            },
            "cases[0].scenario",
        ),
        ({"cases": [{"source": "mine"}]}, "cases[0].source"),
        ({"command": "nox"}, "command"),
    ],
)
def test_a_run_record_that_is_not_ours_is_refused_with_its_path(
    tmp_path: Path, changes: dict[str, object], where: str
) -> None:
    write_json(tmp_path / "run.json", _value(RECORD) | changes)
    with pytest.raises(DecodeError) as caught:
        RunRecord.load(tmp_path / "run.json")
    assert where in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": 1},
        {"extra": 1},
        {"complete": "true"},
        {"complete": None},
        {"open_ports": ["4000"]},
        {"faults": None},
        {"digests": {"wire.jsonl": 1}},
        {"digests": None},
    ],
)
def test_a_closing_record_that_is_not_ours_is_refused(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    write_json(tmp_path / "end.json", _value(END) | changes)
    with pytest.raises(DecodeError, match=r"end\.json"):
        EndRecord.load(tmp_path / "end.json")


def test_a_stored_run_is_planned_again_with_the_same_catalogue() -> None:
    cases = RECORD.planned(CATALOGUE)
    assert [case.key for case in cases] == [key for key, _ in RECORD.cases]
    options = [case.options for case in cases if isinstance(case, PlannedCase)]
    assert options == [{}, {"auth": "strict"}]


def test_a_stored_run_is_not_judged_by_another_catalogue() -> None:
    other = make_catalogue({NEW: (make_entry("auth/basic-cimd", checks=("x",)),)})
    with pytest.raises(DecodeError, match=r"rejudge with mcpconf 0\.1\.0"):
        RECORD.planned(other)


def test_a_case_the_catalogue_does_not_have_is_refused() -> None:
    record = make_record(CATALOGUE, (make_case("nosuch"),))
    with pytest.raises(DecodeError, match="nosuch is not in the catalogue"):
        record.planned(CATALOGUE)
