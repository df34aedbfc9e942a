"""What a drive of the tasks extension sends, and when it sends nothing."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from tasks_scene import canned, fixture, http, observe
from tasks_scripted import Scripted, session_of, task, working

from mcpconf.tasks_extension.pace import interval_s
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.tasks_extension.session import (
    DECLARED,
    STRANGER,
    UNDECLARED,
    OutOfTime,
    header_value,
    is_terminal,
    result_in,
    task_id_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


_EXTENSION = "io.modelcontextprotocol/tasks"


def test_a_request_is_whole_in_itself() -> None:
    scripted = Scripted(working)
    session_of(scripted).get("get", "the id")
    params = scripted.sent[0]["params"]
    meta = params["_meta"]
    assert params["taskId"] == "the id"
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "mcpconf"
    capabilities = meta["io.modelcontextprotocol/clientCapabilities"]
    assert capabilities == DECLARED
    assert capabilities["extensions"] == {_EXTENSION: {}}
    assert scripted.headers[0] == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tasks/get",
        "mcp-name": "the id",
    }


def test_what_a_drive_asks_for_is_sent_instead() -> None:
    scripted = Scripted(working)
    session = session_of(scripted)
    wrong = {"mcp-method": "tools/call", "mcp-name": None}
    session.get("get", "t", declare=UNDECLARED, meta=STRANGER, headers=wrong)
    meta = scripted.sent[0]["params"]["_meta"]
    assert "extensions" not in meta["io.modelcontextprotocol/clientCapabilities"]
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "mcpconf-stranger"
    assert scripted.headers[0] == {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
    }


def test_ids_and_labels_are_used_once() -> None:
    scripted = Scripted(working)
    session = session_of(scripted)
    for label in ("a", "b", "c"):
        session.request(label, "tools/list")
    assert len({each["id"] for each in scripted.sent}) == 3
    with pytest.raises(ValueError, match="a: two exchanges"):
        session.request("a", "tools/list")


def test_without_a_task_nothing_is_sent() -> None:
    scripted = Scripted(working)
    session = session_of(scripted)
    assert session.get("get", None) is None
    assert session.update("update", None, {}) is None
    assert session.cancel("cancel", None) is None
    assert session.poll("poll", None) is None
    session.settle("settle", None)
    assert scripted.sent == []


def test_a_poll_ends_with_the_task_or_its_time() -> None:
    """Every answer has a label of its own."""
    statuses = iter(["working", "input_required", "completed"])
    scripted = Scripted(lambda _: task(status=next(statuses), pollIntervalMs=1))
    last = session_of(scripted).poll("get", "t")
    assert last is not None
    assert last.label == "get-3"
    assert (result_in(last) or {})["status"] == "completed"
    endless = Scripted(working)
    last = session_of(endless).poll("get", "t", at_most_s=0.05)
    assert last is not None
    assert endless.methods() == ["tasks/get"] * len(endless.sent)
    assert len(endless.sent) > 1


def test_a_poll_ends_at_an_answer_that_is_no_task() -> None:
    scripted = Scripted(lambda _: {"error": {"code": -32602, "message": "no"}})
    last = session_of(scripted).poll("get", "t")
    assert last is not None
    assert last.error_code == -32602
    assert len(scripted.sent) == 1


def test_tasks_that_were_left_are_cancelled() -> None:
    """Not those that ended, nor those whose cancellation was acknowledged."""

    def answer(message: Mapping[str, Any]) -> dict[str, Any]:
        params = message["params"]
        if message["method"] == "tools/call":
            return task(resultType="task", taskId=params["name"])
        is_ended = params["taskId"] == "ended"
        if params["taskId"] == "kept" and message["method"] == "tasks/cancel":
            return {"error": {"code": -32603, "message": "no"}}
        return task(status="completed" if is_ended else "working")

    scripted = Scripted(answer)
    session = session_of(scripted)
    for tool in ("ended", "cancelled", "kept", "left"):
        assert session.create(f"create-{tool}", tool) == tool
        session.get(f"get-{tool}", tool)
    session.cancel("cancel", "cancelled")
    session.cancel("cancel-in-vain", "kept")
    del scripted.sent[:]
    session.tidy()
    assert scripted.methods() == ["tasks/cancel"] * 2
    assert [each["params"]["taskId"] for each in scripted.sent] == ["kept", "left"]


def test_nothing_is_sent_when_the_time_of_the_drive_is_over() -> None:
    scripted = Scripted(working)
    with pytest.raises(OutOfTime, match="get"):
        session_of(scripted, deadline_s=0.0).get("get", "t")
    assert scripted.sent == []


def test_no_answer_is_waited_for_longer_than_the_drive_has() -> None:
    scripted = Scripted(working)
    session = session_of(scripted, deadline_s=5.0)
    session.get("get", "t", timeout_s=60.0)
    session.get("get-short", "t", timeout_s=1.0)
    assert scripted.timeouts[0] <= 5.0
    assert scripted.timeouts[1] == 1.0


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a", True),
        ("a b\tc", True),
        ("~!", True),
        ("", False),
        (" a", False),
        ("a ", False),
        ("ä", False),
        ("a\n", False),
        ("=?base64?YQ==?=", False),
    ],
)
def test_a_header_carries_any_value(text: str, plain: bool) -> None:
    """As it is, where HTTP can carry it; in base64 with its marks else."""
    value = header_value(text)
    assert (value == text) is plain
    if not plain:
        coded = value.removeprefix("=?base64?").removesuffix("?=")
        assert base64.b64decode(coded).decode() == text


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        (500, 0.5),
        (0, 0.02),
        (-5, 0.02),
        (10**400, 1e6),
        (None, 0.1),
        ("500", 0.1),
        (True, 0.1),
    ],
)
def test_a_poll_waits_as_long_as_it_is_told(told: object, seconds: float) -> None:
    assert interval_s({"pollIntervalMs": told}) == seconds


@pytest.mark.parametrize("status", ["working", "odd", None, [], {}])
def test_only_three_statuses_are_the_end(status: object) -> None:
    assert not is_terminal({"status": status})
    assert is_terminal({"status": "cancelled"})


def test_a_task_is_seen_also_where_it_must_not_be() -> None:
    """So that one fault of its envelope is one check's affair."""
    scripted = Scripted(lambda _: {"result": {"task": {"taskId": "nested"}}})
    assert session_of(scripted).create("create", "tool") == "nested"
    scripted = Scripted(lambda _: {"result": {"taskId": "no type"}})
    assert session_of(scripted).create("create", "tool") == "no type"
    scripted = Scripted(lambda _: {"result": {"taskId": 7, "resultType": "task"}})
    assert session_of(scripted).create("create", "tool") is None


def test_a_refusal_has_no_result() -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"taskId": "t"}})
    with canned(http("500 Internal Server Error", body.encode())) as url:
        seen = observe(SCENARIOS["tasks/creation"], url)
    assert seen.exchanges[0].result is not None
    assert result_in(seen.exchanges[0]) is None
    assert task_id_of(seen.exchanges[0]) is None
    assert seen.advertises_tasks is None


def test_every_page_of_tools_is_read() -> None:
    """A tool on the second page is no tool that is missing."""
    with fixture("tasks", "odd-cursors") as url:
        seen = observe(SCENARIOS["tasks/discovery"], url)
    assert len(seen.labelled("tools-")) > 1
    assert seen.tools is not None
    assert {"greet", "slow_compute", "test_tool_with_task"} <= seen.tools


def test_a_text_can_be_the_id_of_a_request_to_listen() -> None:
    """It is sent as a text, and given back as one."""
    with fixture("tasks") as url:
        seen = observe(SCENARIOS["tasks/notifications"], url)
    exchange = seen["listen-text"]
    assert exchange is not None
    sent: Any = exchange.sent
    assert sent["id"] == "2663"
    acknowledged: Any = exchange.received[0].message
    (given,) = acknowledged["params"]["_meta"].values()
    assert given == "2663"
