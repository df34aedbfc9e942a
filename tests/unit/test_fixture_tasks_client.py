"""The tasks that show what a client does, as a client meets them."""

from __future__ import annotations

import asyncio
from typing import Any

from fixture_call import META, Fixture

from mcpconf.fixture_server.task_conduct import EXTENSION

_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_DECLARED: dict[str, Any] = {
    _CAPABILITIES: {"elicitation": {}, "extensions": {EXTENSION: {}}}
}


def _answer(
    fixture: Fixture, method: str, params: dict[str, Any], **meta: Any
) -> dict[str, Any]:
    """The whole answer; the core's schema has no tasks."""
    call = fixture.call(method, {**params, "_meta": {**META, **_DECLARED, **meta}})
    asyncio.run(fixture.server.handle(call))
    answer: dict[str, Any] = call.sent[-1]
    return answer


def _begin(fixture: Fixture, tool: str, **more: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": {}, **more}
    result: dict[str, Any] = _answer(fixture, "tools/call", params)["result"]
    return result


def _said(fixture: Fixture, task: str, times: int) -> list[dict[str, Any]]:
    polls = [_answer(fixture, "tasks/get", {"taskId": task}) for _ in range(times)]
    return [each["result"] if "result" in each else each["error"] for each in polls]


def _trusting() -> Fixture:
    return Fixture(profiles=("trusting-tasks",))


def test_a_call_that_declares_the_extension_becomes_a_task_and_another_does_not() -> (
    None
):
    fixture = _trusting()
    task = _begin(fixture, "task_done")
    assert (task["resultType"], task["status"]) == ("task", "working")
    assert "result" not in task
    params = {"name": "task_done", "arguments": {}}
    plain = _answer(fixture, "tools/call", params, **{_CAPABILITIES: {}})["result"]
    assert (plain["resultType"], "taskId" in plain) == ("complete", False)
    declared = fixture.ask("server/discover")["result"]["capabilities"]
    assert declared["extensions"][EXTENSION] == {}


def test_a_task_says_what_its_script_says_and_its_last_word_for_ever() -> None:
    fixture = _trusting()
    task = _begin(fixture, "task_done")["taskId"]
    said = _said(fixture, task, 4)
    statuses = ["working", "working", "completed", "completed"]
    assert [each["status"] for each in said] == statuses
    assert {each["resultType"] for each in said} == {"complete"}
    assert said[-1]["result"]["content"][0]["text"] == "done by a task"
    paced = _said(fixture, _begin(fixture, "task_paced")["taskId"], 5)
    assert [each["pollIntervalMs"] for each in paced] == [50, 50, 400, 400, 50]


def test_a_request_for_input_stays_until_it_is_answered_and_once_more() -> None:
    fixture = _trusting()
    task = _begin(fixture, "task_input")["taskId"]
    before = _said(fixture, task, 4)
    assert [each["status"] for each in before] == ["working", *["input_required"] * 3]
    given = {"taskId": task, "inputResponses": {}}
    acknowledged = _answer(fixture, "tasks/update", given)["result"]
    assert set(acknowledged) == {"resultType", "_meta"}
    after = _said(fixture, task, 3)
    assert [sorted(each.get("inputRequests", ())) for each in after] == [
        ["colour", "size"],
        [],
        ["name"],
    ]


def test_a_lost_task_and_one_that_never_was_are_the_same_error() -> None:
    fixture = _trusting()
    task = _begin(fixture, "task_lost")["taskId"]
    first, second, third = _said(fixture, task, 3)
    assert first["status"] == "working"
    assert second == third == _said(fixture, "of-nobody", 1)[0]
    assert second["code"] == -32602
    assert _answer(fixture, "tasks/get", {"taskId": [1]})["error"] == second


def test_a_task_that_is_cancelled_says_so() -> None:
    fixture = _trusting()
    task = _begin(fixture, "task_endless")["taskId"]
    assert _said(fixture, task, 1)[0]["status"] == "working"
    _answer(fixture, "tasks/cancel", {"taskId": task})
    assert _said(fixture, task, 1)[0]["status"] == "cancelled"


def test_rounds_come_before_the_task_and_bring_a_state() -> None:
    fixture = _trusting()
    asked = _begin(fixture, "task_between_inputs")
    assert (asked["resultType"], "requestState" in asked) == ("input_required", True)
    retry = {"inputResponses": {}, "requestState": asked["requestState"]}
    task = _begin(fixture, "task_between_inputs", **retry)
    assert (task["resultType"], "requestState" in task) == ("task", False)


def test_whoever_follows_a_task_for_a_list_is_given_the_list() -> None:
    """So a client that takes the task is seen to, and not saved by an error."""
    fixture = Fixture(profiles=("task-for-list",))
    task = _answer(fixture, "tools/list", {})["result"]
    assert (task["resultType"], "tools" in task) == ("task", False)
    assert _said(fixture, task["taskId"], 1)[0]["result"]["tools"]
    read = _answer(fixture, "resources/read", {"uri": "test://fixture/readme"})
    assert read["result"]["contents"]


def test_no_result_is_of_a_type_that_the_client_declares() -> None:
    fixture = Fixture(profiles=("unnegotiated-results",))
    for declared, name in (({}, "task"), (_DECLARED[_CAPABILITIES], None)):
        params = {"name": "undeclared_task", "arguments": {}}
        meta: dict[str, Any] = {_CAPABILITIES: declared}
        kind = _answer(fixture, "tools/call", params, **meta)["result"]["resultType"]
        assert kind == (name or "com.example/undeclared")
