"""A case's files: written once, read back whole, refused when they are not."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from make import make_case, make_ended

from mcpconf import evidence
from mcpconf.client.job import DriverVerdict
from mcpconf.errors import DecodeError
from mcpconf.process import EndKind
from mcpconf.record import CheckStatus

if TYPE_CHECKING:
    from pathlib import Path

    from mcpconf.decode import Json

KEY = make_case("auth/basic-cimd").key
ADAPTER: dict[str, Json] = {
    "schema": 1,
    "driver": "codex",
    "steps": [{"name": "login", "ok": False, "detail": "refused"}],
    "end": {"kind": "exited", "exit_code": 1, "signal": None},
    "verdict": "client-error",
    "error": "login: refused",
}
RAW = evidence.RawCase(
    ended=make_ended(exit_code=1),
    adapter=ADAPTER,
    adapter_fault=None,
    checks=[{"id": "a", "status": "FAILURE", "errorMessage": "no"}],
    checks_fault=None,
    wire='{"type":"listen","t":1.0,"port":4000}\n',
    diagnostics="said",
)


def test_a_case_reads_back_as_it_was_written(tmp_path: Path) -> None:
    evidence.write_case(tmp_path, KEY, RAW)
    read = evidence.read_case(tmp_path, KEY)
    assert read is not None
    assert read.ended == RAW.ended
    assert read.adapter is not None
    assert (read.adapter.driver, read.adapter.verdict) == (
        "codex",
        DriverVerdict.CLIENT_ERROR,
    )
    assert (read.adapter.end.kind, read.adapter.end.exit_code) == (EndKind.EXITED, 1)
    assert read.adapter.steps == (("login", False, "refused"),)
    assert [check.status for check in read.checks] == [CheckStatus.FAILURE]
    assert read.wire.ports == {4000}
    assert read.diagnostics == "said"


def test_faults_are_kept_in_the_place_of_what_is_missing(tmp_path: Path) -> None:
    raw = replace(
        RAW,
        adapter=None,
        adapter_fault="never",
        checks=None,
        checks_fault="none",
        wire="",
    )
    evidence.write_case(tmp_path, KEY, raw)
    read = evidence.read_case(tmp_path, KEY)
    assert read is not None
    assert (read.adapter, read.adapter_fault) == (None, "never")
    assert (read.checks, read.checks_fault) == ((), "none")
    assert read.wire.exchanges == ()


def test_a_case_that_was_never_launched_to_its_end_is_none(tmp_path: Path) -> None:
    assert evidence.read_case(tmp_path, KEY) is None
    evidence.write_case(tmp_path, KEY, RAW)
    (evidence.case_dir(tmp_path, KEY) / evidence.LAUNCH).unlink()
    assert evidence.read_case(tmp_path, KEY) is None


@pytest.mark.parametrize("name", [evidence.ADAPTER, evidence.CHECKS, evidence.WIRE])
@pytest.mark.parametrize("content", [None, b"{", b"\xff\n\xff"])
def test_a_missing_or_damaged_file_is_refused_and_never_empty(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    evidence.write_case(tmp_path, KEY, RAW)
    path = evidence.case_dir(tmp_path, KEY) / name
    if content is None:
        path.unlink()
    elif name == evidence.WIRE:
        path.write_bytes(content + b"\n" + path.read_bytes())
    else:
        path.write_bytes(content)
    with pytest.raises(DecodeError) as caught:
        evidence.read_case(tmp_path, KEY)
    assert caught.value.source == path


def test_a_wire_log_beyond_its_bound_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evidence.write_case(tmp_path, KEY, RAW)
    monkeypatch.setattr(evidence, "MAX_WIRE_BYTES", len(RAW.wire))
    assert evidence.read_case(tmp_path, KEY) is not None
    monkeypatch.setattr(evidence, "MAX_WIRE_BYTES", len(RAW.wire) - 1)
    with pytest.raises(DecodeError, match="is larger than"):
        evidence.read_case(tmp_path, KEY)


@pytest.mark.parametrize(
    "changes", [{"schema": 2}, {"extra": 1}, {"ended": None}, {"diagnostics": 3}]
)
def test_a_launch_record_of_another_form_is_refused(
    tmp_path: Path, changes: dict[str, object]
) -> None:
    evidence.write_case(tmp_path, KEY, RAW)
    path = evidence.case_dir(tmp_path, KEY) / evidence.LAUNCH
    value: dict[str, Any] = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(value | changes), "utf-8")
    with pytest.raises(DecodeError, match=r"launch\.json"):
        evidence.read_case(tmp_path, KEY)


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"schema": 2}, "schema"),
        ({"extra": 1}, "extra"),
        ({"verdict": "fine"}, "verdict"),
        ({"end": {"kind": "vanished"}}, "end.kind"),
        ({"end": {"kind": "exited", "exit_code": "0"}}, "end.exit_code"),
        ({"end": {"kind": "exited", "pid": 1}}, "end"),
        ({"steps": [{"name": "x", "ok": 1, "detail": ""}]}, "steps[0].ok"),
        ({"steps": None}, "steps"),
        ({"driver": None}, "driver"),
    ],
)
def test_a_driver_record_of_another_form_is_refused_with_its_path(
    changes: dict[str, Json], where: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        evidence.parse_adapter({**ADAPTER, **changes}, "adapter.json")
    assert where in str(caught.value)


def test_two_cases_of_one_scenario_have_places_of_their_own(tmp_path: Path) -> None:
    places = {
        evidence.case_dir(tmp_path, make_case("auth/basic-cimd", variant=each).key)
        for each in (None, "a", "b")
    }
    assert len(places) == 3
