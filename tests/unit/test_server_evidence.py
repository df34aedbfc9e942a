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
from mcpconf.redaction import redact_text
from mcpconf.server.case import has_hung_up
from mcpconf.server.evidence import RawServerCase, read_case, write_case
from mcpconf.server.watched import ServerSeen, seen_of

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
    """A server whose end is told only to who waits for it."""

    pid = 7

    def __init__(self, said: str = "") -> None:
        self._said = said
        self._is_told = False

    def wait_ended(self, timeout_s: float) -> bool:
        self._is_told = timeout_s > 0
        return self._is_told

    def ended(self) -> Ended | None:
        return make_ended(EndKind.SIGNALLED) if self._is_told else None

    def stderr_tail(self) -> str:
        return self._said


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
    hung_up = has_hung_up("\n".join(lines).encode())
    seen = seen_of(Late(), url="http://a/mcp", hung_up=hung_up, cleared=redact_text)
    assert (hung_up, seen.ended is not None) == (is_told, is_told)


@pytest.mark.parametrize("more", range(1960, 2000, 3))
def test_a_secret_is_gone_before_what_a_server_said_is_cut(more: int) -> None:
    """Of whatever length, what comes behind it: the cut goes through the secret."""
    said = f"begins\nAPI_KEY=canary-5f0d77a1c3e94b62-canary\n{'x' * more}"
    seen = seen_of(
        Late(said), url="http://a/?token=canary", hung_up=False, cleared=redact_text
    )
    assert seen.url == "http://a/?token=[REDACTED]"
    assert seen.stderr is not None
    assert seen.stderr.endswith("x" * more)
    assert len(seen.stderr) <= 2000
    assert "canary" not in seen.stderr
    assert "94b62" not in seen.stderr


def test_of_a_server_that_was_running_only_its_url_is_known() -> None:
    seen = seen_of(None, url="http://a/mcp", hung_up=True, cleared=redact_text)
    assert seen == ServerSeen(url="http://a/mcp")
