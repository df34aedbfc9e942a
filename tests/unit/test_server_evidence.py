"""The files of a server's case: what is written is what is read, or a refusal."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from make import NEW, make_ended
from wire_script import Script, result, stateless

from mcpconf.errors import DecodeError
from mcpconf.process import Ended, EndKind
from mcpconf.record import CaseKey
from mcpconf.server.case import end_of
from mcpconf.server.evidence import RawServerCase, read_case, write_case
from mcpconf.server.watched import ServerSeen

if TYPE_CHECKING:
    from pathlib import Path

KEY = CaseKey(revision=NEW, scenario="tools-list")
WIRE = Script().listen().exchange(stateless("tools/list"), result(tools=[]))
QUIET = ServerSeen(url="http://127.0.0.1:1/mcp")
RAW = RawServerCase(
    ended=make_ended(),
    checks=[{"id": "tools-list", "status": "SUCCESS"}],
    checks_fault=None,
    wire=WIRE.text(),
    diagnostics="Passed: 1/1",
    server=ServerSeen(
        url="http://127.0.0.1:1/mcp",
        pid=7,
        ended=make_ended(EndKind.SIGNALLED),
        stderr="out of memory",
    ),
)


def test_a_case_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_case(tmp_path, KEY, RAW)
    stored = read_case(tmp_path, KEY)
    assert stored is not None
    assert (stored.ended, stored.server) == (RAW.ended, RAW.server)
    assert [check.check_id for check in stored.checks] == ["tools-list"]
    assert stored.diagnostics == "Passed: 1/1"
    assert stored.wire == WIRE.log()


def test_a_server_that_lived_has_no_end(tmp_path: Path) -> None:
    raw = replace(RAW, checks=None, checks_fault="no file")
    write_case(tmp_path, KEY, replace(raw, diagnostics=None, server=QUIET))
    stored = read_case(tmp_path, KEY)
    assert stored is not None
    assert (stored.checks, stored.checks_fault) == ((), "no file")
    assert (stored.server, stored.diagnostics) == (QUIET, None)


def test_a_case_that_never_ended_is_not_there(tmp_path: Path) -> None:
    assert read_case(tmp_path, KEY) is None


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"schema": 2}, "schema"),
        ({"adapter_fault": None}, "unknown key adapter_fault"),
        ({"ended": None}, "ended"),
        ({"server": {}}, "server.url"),
        ({"server": {"url": "u", "stderr": 1}}, "server.stderr"),
    ],
)
def test_a_launch_of_another_form_is_refused(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    write_case(tmp_path, KEY, RAW)
    path = tmp_path / KEY.path / "launch.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    with pytest.raises(DecodeError, match=problem):
        read_case(tmp_path, KEY)


@pytest.mark.parametrize("name", ["checks.json", "wire.jsonl"])
def test_a_file_that_is_missing_is_no_empty_record(tmp_path: Path, name: str) -> None:
    write_case(tmp_path, KEY, RAW)
    (tmp_path / KEY.path / name).unlink()
    with pytest.raises(DecodeError, match=name):
        read_case(tmp_path, KEY)


# -- a server that may have died -------------------------------------------------------


class Late:
    """A server whose end is told only when it is asked a second time."""

    pid = 7

    def __init__(self) -> None:
        self.asked = 0

    def ended(self) -> Ended | None:
        self.asked += 1
        return make_ended(EndKind.SIGNALLED) if self.asked > 1 else None

    def stderr_tail(self) -> str:
        return ""


@pytest.mark.parametrize(
    ("exchange", "is_told"),
    [
        ({"status": None, "ended": "closed"}, True),
        ({"status": 200, "answer": result(tools=[])}, False),
        ({"status": None, "ended": None}, False),
    ],
)
def test_the_end_of_a_server_that_hung_up_is_waited_for(
    exchange: dict[str, Any], is_told: bool
) -> None:
    script = Script().listen().exchange(stateless("tools/list"), **exchange)
    lines = [json.dumps(each, separators=(",", ":")) for each in script.records]
    assert (end_of(Late(), "\n".join(lines).encode()) is not None) is is_told
