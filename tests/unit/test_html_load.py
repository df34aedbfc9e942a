"""The evidence of a report, read for its page: what is there, and what is said else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from html_make import make_case, make_report, make_scenario

from mcpconf.render.html import Transcript, load_transcripts
from mcpconf.render.html.transcript import Way

if TYPE_CHECKING:
    from pathlib import Path

CASE = "cases/2025-11-25/x"
ADAPTER = {
    "schema": 1,
    "driver": "command",
    "verdict": "done",
    "end": {"kind": "exited", "exit_code": 3, "signal": None},
    "error": None,
    "steps": [
        {"name": "connect", "ok": True, "detail": "well"},
        {"name": "call", "ok": False, "detail": ""},
    ],
}


def _load(tmp_path: Path, evidence: str = CASE, **changes: Any) -> Transcript:
    scenario = make_scenario("x", evidence=evidence, **changes)
    report = make_report(make_case([scenario], []))
    return load_transcripts(report, tmp_path)[evidence]


def _write(tmp_path: Path, name: str, *records: Any, case: str = CASE) -> None:
    path = tmp_path / "runs/run-1" / case / name
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [each if isinstance(each, str) else json.dumps(each) for each in records]
    path.write_text("\n".join(lines) + "\n" if lines else "")


def _request(number: int, t: float, message: Any, **changes: Any) -> Any:
    value = {
        "type": "request",
        "t": t,
        "id": number,
        "port": 80,
        "remote_port": 1,
        "http": "1.1",
        "method": "POST",
        "url": "/mcp",
        "headers": {"accept": "*/*"},
        "body": json.dumps(message),
        "bytes": 1,
        "truncated": False,
        "aborted": False,
    }
    return {**value, **changes}


def _answer(number: int, t: float, body: str, kind: str = "application/json") -> Any:
    head = {"type": "response-start", "t": t, "id": number, "status": 200}
    end = {"type": "response", "t": t + 50, "id": number, "body": body, "bytes": 1}
    return (
        {**head, "headers": {"content-type": kind}},
        {**end, "truncated": False, "ended": "finished"},
    )


def _call(number: int = 1, method: str = "tools/call") -> Any:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": {"name": "a"}}


def _result(number: int = 1) -> Any:
    return {"jsonrpc": "2.0", "id": number, "result": {}}


def _fixture(kind: str, t: float, **members: Any) -> Any:
    return {"t": t, "pid": 7, "type": kind, **members}


def _message(kind: str, t: float, message: Any, **changes: Any) -> Any:
    value = {"exchange": None, "connection": 7, "bytes": 5, "sha256": "e", "text": None}
    return _fixture(kind, t, **{**value, "message": message, "cut": False, **changes})


def test_a_run_that_is_not_beside_the_report_is_said_to_be_missing(
    tmp_path: Path,
) -> None:
    found = _load(tmp_path)
    assert found.missing == "the evidence is not beside the report"
    assert found.evidence == f"runs/run-1/{CASE}"
    assert found.moments == ()
    assert found.endings == ()


def test_a_case_that_left_nothing_is_told_from_a_run_that_is_missing(
    tmp_path: Path,
) -> None:
    (tmp_path / "runs/run-1").mkdir(parents=True)
    assert _load(tmp_path).missing == "the run left none of this case"


def test_evidence_outside_the_folder_of_the_report_is_not_read(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    _write(tmp_path, "adapter.json", ADAPTER, case="secret")
    (inner / "runs/run-1").mkdir(parents=True)
    (inner / "runs/run-1/link").symlink_to(tmp_path / "runs/run-1/secret")
    for place in ("../../../runs/run-1/secret", str(tmp_path), "link", "a\x00b"):
        found = _load(inner, place)
        assert found.missing is not None
        assert "outside its own folder" in found.missing
        assert found.steps == ()


def test_a_suite_log_becomes_a_sequence_in_the_order_of_time(tmp_path: Path) -> None:
    _write(
        tmp_path,
        "wire.jsonl",
        _request(2, 30.0, {"jsonrpc": "2.0", "method": "notifications/initialized"}),
        _request(1, 10.0, _call()),
        *_answer(1, 20.0, json.dumps(_result())),
    )
    found = _load(tmp_path)
    assert [(each.label, each.way) for each in found.moments] == [
        ("tools/call a #1", Way.TO_SERVER),
        ("result #1", Way.TO_CLIENT),
        ("notifications/initialized", Way.TO_SERVER),
    ]
    assert found.moments[0].carrier == "POST /mcp"
    assert found.moments[0].headers == "accept: */*"
    assert '"method": "tools/call"' in found.moments[0].body


def test_a_request_of_the_server_comes_before_what_answers_it(tmp_path: Path) -> None:
    ask = _call(9, "elicitation/create")
    stream = f"data: {json.dumps(ask)}\n\ndata: {json.dumps(_result())}\n\n"
    _write(
        tmp_path,
        "wire.jsonl",
        _request(1, 10.0, _call()),
        *_answer(1, 20.0, stream, "text/event-stream"),
        _request(2, 40.0, _result(9)),
    )
    found = _load(tmp_path)
    assert [each.label for each in found.moments] == [
        "tools/call a #1",
        "HTTP 200",
        "elicitation/create a #9",
        "result #9",
        "result #1",
    ]
    assert "its own time unknown" in found.moments[2].carrier
    # The second POST has no response head, and is the only one without.
    assert found.endings == (
        "Nobody: every request was answered.",
        "The server never answered POST /mcp.",
    )


def test_who_owes_an_answer_is_named(tmp_path: Path) -> None:
    ask = json.dumps(_call(9, "roots/list"))
    _write(
        tmp_path,
        "wire.jsonl",
        _request(1, 10.0, _call(4)),
        *_answer(1, 20.0, f"data: {ask}\n\n", "text/event-stream"),
    )
    assert _load(tmp_path).endings == (
        "The server never answered tools/call (id 4)",
        "The client never answered roots/list (id 9)",
    )


def test_the_driver_is_told_from_the_client(tmp_path: Path) -> None:
    headers = {"user-agent": "mcpconf-browser"}
    page = _request(1, 1.0, None, method="GET", url="/authorize", headers=headers)
    _write(tmp_path, "wire.jsonl", {**page, "body": ""})
    (moment,) = _load(tmp_path).moments
    assert moment.party == "the driver, as the browser"


def test_a_torn_log_is_shown_as_far_as_it_goes_and_said_to_be_torn(
    tmp_path: Path,
) -> None:
    _write(tmp_path, "wire.jsonl", _request(1, 10.0, _call()), '{"type": "resp')
    found = _load(tmp_path)
    assert len(found.moments) == 1
    assert found.endings[0] == "The log is torn: there was more than is here."


def test_a_log_that_is_none_is_said_and_stops_nothing(tmp_path: Path) -> None:
    _write(tmp_path, "wire.jsonl", {"type": "rubbish"})
    _write(tmp_path, "adapter.json", ADAPTER)
    found = _load(tmp_path)
    assert found.faults == ("wire.jsonl: line 1.type: is no record of the witness",)
    assert found.moments == ()
    assert len(found.steps) == 2
    assert str(tmp_path) not in str(found)


def test_missing_files_of_a_case_are_named(tmp_path: Path) -> None:
    (tmp_path / "runs/run-1" / CASE).mkdir(parents=True)
    found = _load(tmp_path)
    assert any("launch.json" in each for each in found.faults)
    assert "there is no wire log in the evidence" in found.faults
    assert str(tmp_path) not in str(found)


def test_the_steps_and_the_end_of_the_client_are_read(tmp_path: Path) -> None:
    result = {"id": "call", "children": [], "fds": 3, "t0_ms": 10.0, "t1_ms": 15.5}
    error = {"kind": "timeout", "message": "too long", "code": None}
    results = [{**result, "ok": False, "error": error}]
    _write(tmp_path, "adapter.json", {**ADAPTER, "results": results, "aftermath": None})
    found = _load(tmp_path)
    first, second = found.steps
    assert (first.name, first.state, first.detail) == ("connect", "ok", "well")
    assert (second.state, second.detail) == ("error", "timeout: too long")
    assert (second.t_ms, second.took_ms) == (10.0, 5.5)
    assert found.client_end == "The client exited with 3."


def test_a_fixture_log_on_stdio_becomes_a_sequence_with_its_faults(
    tmp_path: Path,
) -> None:
    _write(
        tmp_path,
        "subject.jsonl",
        _fixture("start", 1.0),
        _message("received", 2.0, _call()),
        _fixture("fault", 3.0, profile="late", detail="held back"),
        _message("sent", 4.0, _result(), stream="stdio"),
        _message("received", 5.0, None, text="not json"),
        _message("received", 6.0, None, text="much", cut=True),
        _message("received", 7.0, _call(2)),
        _fixture("exit", 8.0, code=0),
    )
    _write(tmp_path, "control.jsonl")
    found = _load(tmp_path)
    assert [each.label for each in found.moments] == [
        "the server starts, process 7",
        "tools/call a #1",
        "fault late: held back",
        "result #1",
        "no JSON",
        "a long message",
        "tools/call a #2",
        "the server exits with 0",
    ]
    assert "only its beginning" in found.moments[5].cut
    assert found.endings == ("The server never answered tools/call (id 2)",)


def test_two_servers_and_the_steps_are_laid_together_by_time(tmp_path: Path) -> None:
    _write(tmp_path, "subject.jsonl", _message("received", 2.0, _call()))
    _write(tmp_path, "control.jsonl", _message("received", 1.0, _call()))
    result = {"id": "call", "children": [], "t0_ms": 1.5, "t1_ms": 2.0, "ok": True}
    adapter = {**ADAPTER, "results": [{**result, "value": {"x": 1}}]}
    _write(tmp_path, "adapter.json", adapter)
    found = _load(tmp_path)
    assert [(each.party, each.label) for each in found.moments] == [
        ("good server", "tools/call a #1"),
        ("", "step call"),
        ("faulty server", "tools/call a #1"),
    ]
    assert '"x": 1' in found.steps[1].value
    assert "The faulty server never answered tools/call (id 1)" in found.endings


def test_a_message_joins_the_http_line_that_carried_it(tmp_path: Path) -> None:
    headers = {"content-type": ["application/json"]}
    line = {"exchange": 1, "connection": 1, "headers": headers}
    _write(
        tmp_path,
        "subject.jsonl",
        _fixture("request", 1.0, **line, method="POST", target="/mcp"),
        _message("received", 1.5, _call(), exchange=1),
        _fixture("response", 2.0, **line, status=200),
        _message("sent", 2.5, _result(), exchange=1, stream="json"),
        _fixture("finished", 3.0, exchange=1, how="client-closed"),
    )
    found = _load(tmp_path)
    assert [(each.label, each.carrier) for each in found.moments] == [
        ("tools/call a #1", "POST /mcp"),
        ("result #1", "HTTP 200"),
        ("the client closed exchange 1", ""),
    ]
    assert found.moments[0].headers == "content-type: application/json"


def test_a_cancelled_request_is_said_to_be_cancelled(tmp_path: Path) -> None:
    cancelled = {"method": "notifications/cancelled", "params": {"requestId": 1}}
    _write(
        tmp_path,
        "subject.jsonl",
        _message("received", 1.0, _call()),
        _message("received", 2.0, {"jsonrpc": "2.0", **cancelled}),
    )
    assert _load(tmp_path).endings == (
        "The server never answered tools/call (id 1), which was cancelled.",
    )


def test_an_empty_log_is_silence_and_not_a_conversation(tmp_path: Path) -> None:
    _write(tmp_path, "subject.jsonl")
    assert _load(tmp_path).endings == ("No message is in the log: nobody spoke.",)


def test_reruns_are_read_too(tmp_path: Path) -> None:
    again = "reruns/1/cases/2025-11-25/x"
    _write(tmp_path, "wire.jsonl", _request(1, 1.0, _call()), case=again)
    scenario = make_scenario("x", evidence=CASE, reruns=[{"evidence": again}])
    found = load_transcripts(make_report(make_case([scenario], [])), tmp_path)
    assert len(found[again].moments) == 1


def test_the_evidence_of_a_merged_report_is_found_where_each_entry_says(
    tmp_path: Path,
) -> None:
    _write(tmp_path, "wire.jsonl", _request(1, 1.0, _call()))
    place = f"runs/run-1/{CASE}"
    scenario = make_scenario("x", evidence=place)
    report = make_report(make_case([scenario], []), artifacts=None)
    assert len(load_transcripts(report, tmp_path)[place].moments) == 1
