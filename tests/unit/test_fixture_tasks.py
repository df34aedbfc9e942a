"""The tasks extension of the fixture server, as it should be."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any

import pytest
from fixture_call import Fixture
from fixture_tasks import (
    EXTENSION,
    FULL,
    NONE,
    HttpCall,
    Json,
    Tasks,
    accept,
    run,
    task_id,
)

from mcpconf.fixture_server.cli import options_from
from mcpconf.fixture_server.task_engine import DECLARATION

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

LONG = {"seconds": 60, "label": "a"}
SHORT = {"seconds": 1, "label": "a"}
NOTIFICATION = "notifications/tasks"
SERVER_INFO = "io.modelcontextprotocol/serverInfo"


@pytest.fixture
def do(monkeypatch: pytest.MonkeyPatch) -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Run a coroutine in made-up time."""
    return lambda work: run(work, monkeypatch)


def told(call: HttpCall, method: str = NOTIFICATION) -> list[Json]:
    """The params of what a subscription was told."""
    return [each["params"] for each in call.sent if each.get("method") == method]


# --- Creation -------------------------------------------------------------------


def test_the_extension_is_there_with_its_profile_only() -> None:
    plain = Fixture()
    assert plain.refused("tasks/get", {"taskId": "a"}) == (-32601, 404)
    extensions = plain.ask("server/discover")["result"]["capabilities"]["extensions"]
    assert EXTENSION not in extensions
    capabilities = Fixture(profiles=("tasks",)).ask("server/discover")["result"][
        "capabilities"
    ]
    assert capabilities["extensions"][EXTENSION] == {}
    assert "tasks" not in capabilities


def test_a_task_is_flat_and_says_what_it_is(do: Any) -> None:
    async def work() -> None:
        tasks = Tasks(task_poll_ms=70, task_ttl_ms=9000)
        created = (await tasks.tool("slow_compute", SHORT)).given
        assert set(created) == {
            *("resultType", "taskId", "status", "createdAt", "lastUpdatedAt"),
            *("ttlMs", "pollIntervalMs", "_meta"),
        }
        assert created["resultType"] == "task"
        assert created["createdAt"] == "2026-07-28T00:00:00.000Z"
        assert (created["ttlMs"], created["pollIntervalMs"]) == (9000, 70)
        got = await tasks.get(created["taskId"])
        assert got == {**created, "resultType": "complete"}
        done = await tasks.until(created["taskId"])
        assert done["result"]["content"][0]["text"] == "Computed a in 1 s."
        assert done["lastUpdatedAt"] == "2026-07-28T00:00:01.000Z"
        assert set(done) == {*got, "result"}

    do(work())


def test_ids_are_long_and_never_the_same(do: Any) -> None:
    async def work() -> set[str]:
        tasks = Tasks()
        return {await tasks.create("slow_compute", LONG) for _ in range(64)}

    ids = do(work())
    assert len(ids) == 64
    assert all(len(each) >= 32 for each in ids)


def test_without_a_declaration_an_optional_tool_answers_in_the_call(do: Any) -> None:
    async def work() -> None:
        tasks = Tasks()
        call = await tasks.tool("slow_compute", SHORT, declare=NONE)
        assert call.given["content"][0]["text"] == "Computed a in 1 s."
        assert call.given["resultType"] == "complete"
        left = tasks.call(
            "tools/call", {"name": "slow_compute", "arguments": LONG}, declare=NONE
        )
        left.gone.set()
        await tasks.server.handle(left)
        assert (left.sent, left.is_finished) == ([], True)

    do(work())


def test_what_a_tool_needs_is_named_all_at_once(do: Any) -> None:
    async def work() -> list[Json]:
        tasks = Tasks()
        found = []
        for tool, declared in (
            ("failing_job", NONE),
            ("multi_input", NONE),
            ("multi_input", {"elicitation": {"url": {}}, **DECLARATION}),
            ("test_tool_with_task", DECLARATION),
        ):
            call = await tasks.tool(tool, declare=declared)
            assert call.refusal == (-32021, 400)
            found.append(call.sent[0]["error"]["data"]["requiredCapabilities"])
        return found

    form: Json = {"elicitation": {"form": {}}}
    extension: Json = {"extensions": {EXTENSION: {}}}
    assert do(work()) == [extension, {**extension, **form}, form, form]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("slow_compute", {}),
        ("slow_compute", {"seconds": "1"}),
        ("slow_compute", {"seconds": -1}),
        ("slow_compute", {"seconds": 1, "label": 1}),
        ("slow_compute", {"seconds": 1, "other": 1}),
        ("failing_job", {"other": 1}),
        ("confirm_delete", {}),
        ("confirm_delete", {"filename": 1}),
        ("greet", {"name": None}),
    ],
)
def test_arguments_that_no_schema_allows_make_no_task(
    tool: str, arguments: Json, do: Any
) -> None:
    assert do(Tasks().tool(tool, arguments)).refusal[0] == -32602


# --- Methods --------------------------------------------------------------------


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_mcp_name_is_held_to_the_task_where_it_is_sent(method: str, do: Any) -> None:
    async def work() -> None:
        tasks = Tasks()
        task = await tasks.create("slow_compute", LONG)
        params = {"taskId": task, "inputResponses": {}}
        encoded = f"=?base64?{base64.b64encode(task.encode()).decode()}?="
        for name in (None, task, encoded):
            assert (await tasks.ask(method, params, name=name)).refusal is None
        for name in ("other", task.swapcase(), "=?base64?!?="):
            call = await tasks.ask(method, params, name=name)
            assert call.refusal == (-32020, 400)
        lenient = Tasks("any-headers")
        params["taskId"] = await lenient.create("slow_compute", LONG)
        assert (await lenient.ask(method, params, name="other")).refusal is None

    do(work())


def test_params_that_name_no_task_are_refused_and_change_nothing(do: Any) -> None:
    async def work() -> None:
        tasks = Tasks()
        task = await tasks.create("multi_input")
        await tasks.until(task, "input_required")
        before = await tasks.get(task)
        good = {"input-1": accept(confirm=True)}
        for params in (
            {},
            {"taskId": 1, "inputResponses": good},
            {"taskId": task},
            {"taskId": task, "inputResponses": []},
            {"taskId": task, "inputResponses": {**good, "input-2": "yes"}},
            {"taskId": task, "inputResponses": {**good, "input-2": {"action": "no"}}},
            {"taskId": "other", "inputResponses": good},
        ):
            assert (await tasks.ask("tasks/update", params)).refusal == (-32602, 400)
        assert await tasks.get(task) == before

    do(work())


def test_a_task_is_kept_for_its_ttl_and_no_longer(do: Any) -> None:
    async def work() -> None:
        tasks = Tasks(task_ttl_ms=5000)
        task, other = [await tasks.create("slow_compute", LONG) for _ in range(2)]
        listener = await tasks.listen(task)
        await asyncio.sleep(4.9)
        assert (await tasks.get(task))["status"] == "working"
        await asyncio.sleep(0.1)
        for method in ("get", "update", "cancel"):
            asked = {"taskId": task, "inputResponses": {}}
            call = await tasks.ask(f"tasks/{method}", asked)
            assert call.refusal == (-32602, 400)
        await tasks.create("slow_compute", SHORT)
        later = await tasks.listen(other)
        assert told(later, "notifications/subscriptions/acknowledged")[0][
            "notifications"
        ] == {"taskIds": []}
        await asyncio.sleep(100)
        assert told(listener) == [], "its work was given up"

    do(work())


def test_a_ttl_of_zero_is_no_limit(do: Any) -> None:
    async def work() -> None:
        tasks = Tasks(task_ttl_ms=0)
        task = await tasks.create("slow_compute", SHORT)
        await asyncio.sleep(10_000_000)
        assert (await tasks.get(task))["ttlMs"] is None

    do(work())


def test_a_cancelled_task_has_ended_at_once_and_for_good(do: Any) -> None:
    async def work() -> None:
        tasks = Tasks()
        for tool in ("slow_compute", "multi_input"):
            task = await tasks.create(tool, LONG if tool == "slow_compute" else {})
            listener = await tasks.listen(task)
            await asyncio.sleep(0.5)
            ack = (await tasks.cancel(task)).given
            assert set(ack) == {"resultType", "_meta"}
            assert (await tasks.cancel(task)).given == ack, "again is nothing"
            shown = await tasks.get(task)
            assert shown["status"] == "cancelled"
            assert not {"result", "error", "inputRequests"} & set(shown)
            answer = {"input-1": accept(confirm=True)}
            assert (await tasks.update(task, answer)).refusal is None
            await asyncio.sleep(100)
            assert await tasks.get(task) == shown
            assert told(listener)[-1]["status"] == "cancelled"

    do(work())


def test_a_failed_task_says_why_and_a_tool_that_failed_has_completed(do: Any) -> None:
    async def work() -> None:
        tasks = Tasks()
        broken = await tasks.until(await tasks.create("protocol_error_job"))
        assert broken["status"] == "failed"
        assert broken["error"]["code"] == -32603
        assert broken["statusMessage"] == broken["error"]["message"]
        assert "result" not in broken
        failed = await tasks.until(await tasks.create("failing_job"))
        assert (failed["status"], failed["result"]["isError"]) == ("completed", True)

    do(work())


# --- Input ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (accept(confirm=True), "Deleted f."),
        (accept(confirm=False), "Kept f."),
        ({"action": "decline"}, "Kept f."),
        ({"action": "cancel"}, "Kept f."),
    ],
)
def test_an_answer_reaches_the_tool(answer: Json, text: str, do: Any) -> None:
    async def work() -> str:
        tasks = Tasks()
        task = await tasks.create("confirm_delete", {"filename": "f"})
        (key,) = (await tasks.until(task, "input_required"))["inputRequests"]
        await tasks.update(task, {key: answer})
        shown = await tasks.get(task)
        assert shown["status"] == "working"
        assert "inputRequests" not in shown
        done = await tasks.until(task)
        return str(done["result"]["content"][0]["text"])

    assert do(work()) == text


def test_a_state_of_another_server_or_of_none_is_refused(do: Any) -> None:
    async def work() -> None:
        tasks, name = Tasks(), "test_tool_with_task"
        first = (await tasks.tool(name)).given
        other = (await Tasks().tool(name)).given
        answers = {"inputResponses": {"user_name": accept(name="Alice")}}
        for state in (
            {},
            {"requestState": other["requestState"]},
            {"requestState": first["requestState"] + "0"},
            {"requestState": "\u00e9"},
            {"requestState": 1},
        ):
            call = await tasks.tool(name, beside={**answers, **state})
            assert call.refusal == (-32602, 400)
        state = {"requestState": first["requestState"]}
        again = (await tasks.tool(name, beside=state)).given
        assert again["resultType"] == "input_required"
        malformed: Json = ([], {"user_name": accept()}, {"user_name": "Alice"})
        for wrong in malformed:
            call = await tasks.tool(name, beside={**state, "inputResponses": wrong})
            assert call.refusal == (-32602, 400)
        declined = {"user_name": {"action": "decline"}}
        call = await tasks.tool(name, beside={**state, "inputResponses": declined})
        assert call.given["resultType"] == "complete"
        created = (await tasks.tool(name, beside={**state, **answers})).given
        assert created["resultType"] == "task"
        assert not {"requestState", "inputRequests"} & set(created)
        done = await tasks.until(task_id(created))
        assert done["result"]["content"][0]["text"] == "Hello, Alice!"

    do(work())


# --- Subscriptions --------------------------------------------------------------


def test_a_subscription_is_told_what_tasks_get_would_say(do: Any) -> None:
    async def work() -> None:
        tasks = Tasks()
        task = await tasks.create("confirm_delete", {"filename": "f"})
        one, two = await tasks.listen(task, task, "unknown"), await tasks.listen(task)
        shown = await tasks.until(task, "input_required")
        await tasks.update(task, {"input-1": accept(confirm=True)})
        working = await tasks.get(task)
        done = await tasks.until(task)
        await asyncio.sleep(1)
        for call in (one, two):
            first = call.sent[0]
            assert first["method"] == "notifications/subscriptions/acknowledged"
            assert first["params"]["notifications"] == {"taskIds": [task]}
            wanted = [
                {key: each for key, each in got.items() if key != "resultType"}
                for got in (shown, working, done)
            ]
            for each in wanted:
                each["_meta"] = {"io.modelcontextprotocol/subscriptionId": call.id}
            assert told(call) == wanted
            assert len(call.sent) == 4, "and nothing else"

    do(work())


def test_a_subscription_to_tasks_is_declared_and_well_formed(do: Any) -> None:
    async def work() -> None:
        tasks = Tasks()
        assert (await tasks.listen(declare=NONE)).refusal == (-32021, 400)
        malformed: Json = ("a", [1], {}, None)
        for ids in malformed:
            params = {"notifications": {"taskIds": ids}}
            call = await tasks.ask("subscriptions/listen", params)
            assert call.refusal == (-32602, 400)

    do(work())


class _SlowCall(HttpCall):
    """The first thing that is sent takes its time."""

    async def send(self, message: Json) -> None:
        await super().send(message)
        if len(self.sent) == 1:
            await asyncio.sleep(5)


def test_what_happens_while_the_acknowledgement_is_sent_is_told_after_it(
    do: Any,
) -> None:
    async def work() -> None:
        tasks = Tasks()
        task = await tasks.create("slow_compute", SHORT)
        params = {"notifications": {"taskIds": [task]}}
        plain = tasks.call("subscriptions/listen", params)
        slow = _SlowCall(dict(plain.message), plain.session, {})
        handling = asyncio.create_task(tasks.server.handle(slow))
        quick = await tasks.listen(task)
        await asyncio.sleep(2)
        assert [each["status"] for each in told(quick)] == ["completed"]
        assert len(slow.sent) == 1, "it does not hold the others up"
        await asyncio.sleep(5)
        assert [each["status"] for each in told(slow)] == ["completed"]
        handling.cancel()

    do(work())


# --- The command line -----------------------------------------------------------


def test_the_limits_have_flags() -> None:
    flags = ("--task-second-s", "0.5", "--task-poll-ms", "7", "--task-ttl-ms", "0")
    limits = options_from(("--profile", "tasks", *flags))[0].limits
    assert (limits.task_second_s, limits.task_poll_ms) == (0.5, 7)
    assert limits.task_ttl_ms == 0


def test_a_declaration_of_any_shape_but_an_object_is_none(do: Any) -> None:
    async def work() -> None:
        tasks = Tasks()
        none: Json = (
            {"extensions": {EXTENSION: True}},
            {"extensions": [EXTENSION]},
            {"extensions": {}},
            {EXTENSION: {}},
            {"tasks": {}},
        )
        for declared in none:
            call = await tasks.tool("failing_job", declare=declared)
            assert call.refusal == (-32021, 400)
        settings = {**FULL, "extensions": {EXTENSION: {"later": True}}}
        assert (await tasks.tool("failing_job", declare=settings)).given["taskId"]

    do(work())
