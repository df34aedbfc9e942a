"""The suite's checks: exactly one file, decoded, repeats collapsed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from mcpconf.errors import DecodeError
from mcpconf.record import CheckStatus
from mcpconf.suite.checks import MAX_BYTES, find_checks, parse_checks

if TYPE_CHECKING:
    from pathlib import Path

    from mcpconf.decode import Json

ONE: Json = [{"id": "a", "name": "A", "status": "SUCCESS", "description": "d"}]


def _said(check_id: str, status: str, error: str | None = None) -> dict[str, Json]:
    return {"id": check_id, "status": status, "errorMessage": error}


def test_one_file_in_its_dated_folder_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "client-x-2026"
    folder.mkdir()
    (folder / "checks.json").write_text(json.dumps(ONE), "utf-8")
    assert find_checks(tmp_path) == (ONE, None)


@pytest.mark.parametrize(
    ("files", "fault"),
    [
        ({}, "wrote no checks.json"),
        ({"a/checks.json": "[]", "b/checks.json": "[]"}, "wrote 2 checks.json"),
        ({"a/checks.json": ""}, "line 1 column 1"),
        ({"a/checks.json": "{}"}, "expected an array, got object"),
        ({"a/checks.json": '[{"id": "x"}]'}, "[0].status: is missing"),
        ({"a/checks.json": '[{"id":"x","status":"OK"}]'}, "unknown status 'OK'"),
        ({"a/checks.json": '[{"id":"","status":"INFO"}]'}, "[0].id: is empty"),
        ({"a/checks.json": '[{"id":1,"status":"INFO"}]'}, "[0].id: expected a string"),
        ({"a/checks.json": '["x"]'}, "[0]: expected an object"),
        ({"a/checks.json": '[{"id":"x","id":"y"}]'}, "duplicate key"),
    ],
)
def test_anything_but_one_good_file_is_a_fault_with_a_name(
    tmp_path: Path, files: dict[str, str], fault: str
) -> None:
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir()
        path.write_text(content, "utf-8")
    value, said = find_checks(tmp_path)
    assert value is None
    assert said is not None
    assert fault in said


def test_an_absent_directory_and_an_oversized_file_are_faults(tmp_path: Path) -> None:
    assert find_checks(tmp_path / "absent")[1] == "the suite wrote no checks.json"
    (tmp_path / "checks.json").write_text(" " * MAX_BYTES + "[]", "utf-8")
    _, fault = find_checks(tmp_path)
    assert fault is not None
    assert "is larger than" in fault


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        (("SUCCESS", "FAILURE"), "FAILURE"),
        (("FAILURE", "SUCCESS"), "FAILURE"),
        (("WARNING", "SUCCESS", "SKIPPED"), "WARNING"),
        (("WARNING", "FAILURE", "WARNING"), "FAILURE"),
        (("SKIPPED", "SUCCESS"), "SUCCESS"),
        (("INFO", "SKIPPED"), "SKIPPED"),
    ],
)
def test_repeats_collapse_to_the_most_severe_and_are_counted(
    statuses: tuple[str, ...], worst: str
) -> None:
    value: Json = [_said("a", each, each.lower()) for each in statuses]
    (check,) = parse_checks(value, "checks.json")
    assert (check.status.value, check.error) == (worst, worst.lower())
    assert check.count == sum(each != "INFO" for each in statuses)


def test_statuses_are_ordered_by_severity() -> None:
    assert [each.value for each in sorted(CheckStatus, key=lambda s: s.severity)] == [
        "FAILURE",
        "WARNING",
        "SUCCESS",
        "SKIPPED",
        "INFO",
    ]


def test_a_trace_is_dropped_and_the_order_of_first_appearance_kept() -> None:
    value: Json = [
        _said("b", "SUCCESS"),
        _said("http", "INFO"),
        _said("a", "SUCCESS"),
        _said("b", "FAILURE"),
    ]
    assert [check.check_id for check in parse_checks(value, "x")] == ["b", "a"]
    assert parse_checks([], "x") == ()


def test_a_check_keeps_what_the_suite_cites_and_names_itself_where_it_is_silent() -> (
    None
):
    value: Json = [
        {
            "id": "a",
            "status": "SUCCESS",
            "specReferences": [{"id": "S", "url": "https://s.example/1"}, {"id": "T"}],
        }
    ]
    (check,) = parse_checks(value, "x")
    assert check.pages == ("https://s.example/1",)
    assert (check.name, check.description, check.error) == ("a", "a", None)


@pytest.mark.parametrize("key", ["name", "description", "errorMessage"])
def test_a_text_that_is_none_is_refused(key: str) -> None:
    with pytest.raises(DecodeError, match="expected a string"):
        parse_checks([{"id": "a", "status": "SUCCESS", key: 3}], "checks.json")
