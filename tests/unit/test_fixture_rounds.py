"""Input over several round trips, and subscriptions, at 2026-07-28."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fixture_call import FakeCall, Fixture, Json

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
BIG = 2**53 + 1


# --- Several round trips --------------------------------------------------------


def _accept(**content: Json) -> dict[str, Any]:
    return {"action": "accept", "content": content}


YES = _accept(confirmation="yes")


def test_input_needs_a_client_that_answers_forms() -> None:
    fixture = Fixture()
    without: tuple[Json, ...] = ({}, {"elicitation": {"url": {}}})
    for declared in without:
        call = asyncio.run(
            fixture.answered(
                "tools/call", {"name": "request_input"}, **{CAPABILITIES: declared}
            )
        )
        error = call.sent[0]["error"]
        assert (error["code"], call.statuses) == (-32021, [400])
        assert error["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}


@pytest.mark.parametrize(
    ("tool", "key", "answer", "value"),
    [
        ("request_input", "confirmation", YES, "yes"),
        ("no_state", "confirmation", YES, "yes"),
        ("big_elicitation", "large_integer", _accept(large_integer=BIG), BIG),
    ],
)
def test_one_round_of_input(tool: str, key: str, answer: Json, value: Json) -> None:
    fixture = Fixture()
    first = fixture.tool(tool)["result"]
    assert first["resultType"] == "input_required"
    assert set(first["inputRequests"]) == {key}
    state = {name: first[name] for name in ("requestState",) if name in first}
    assert bool(state) == (tool != "no_state")

    def retry(answers: Json, **more: Json) -> dict[str, Any]:
        return fixture.tool(tool, inputResponses=answers, **{**state, **more})

    assert retry({key: answer})["result"]["structuredContent"] == {key: value}
    assert retry({})["result"]["resultType"] == "input_required", "asked again"
    for action, text in (("decline", "declined"), ("cancel", "cancelled")):
        result = retry({key: {"action": action}})["result"]
        assert result["content"][0]["text"] == text
        assert result["structuredContent"] == {"action": action}
    for wrong in (
        retry({key: {"action": "accept", "content": {}}}),
        retry({key: _accept(confirmation=1, large_integer=float(BIG))}),
        retry({key: {**answer, "action": "other"}}),
        retry({key: answer}, requestState="forged"),
        retry({key: answer}, requestState=1),
        retry([]),
        fixture.tool(tool, requestState="alone"),
    ):
        assert wrong["error"]["code"] == -32602


def test_many_inputs_are_asked_at_once_and_all_must_come() -> None:
    fixture = Fixture(input_requests=65)
    first = fixture.tool("inputs_bounded")["result"]
    keys = list(first["inputRequests"])
    assert (len(keys), keys[0], keys[-1]) == (65, "review-input-00", "review-input-64")
    state = first["requestState"]

    def retry(answered: list[str]) -> dict[str, Any]:
        answers = dict.fromkeys(answered, YES)
        response = fixture.tool(
            "inputs_bounded", inputResponses=answers, requestState=state
        )
        result: dict[str, Any] = response["result"]
        return result

    assert retry(keys[1:])["resultType"] == "input_required"
    assert retry(keys)["structuredContent"] == {"answered": 65}


def test_state_alone_is_brought_back_alone() -> None:
    fixture = Fixture()
    first = fixture.tool("state_only")["result"]
    assert "inputRequests" not in first
    state = first["requestState"]
    done = fixture.tool("state_only", requestState=state)["result"]
    assert done["structuredContent"] == {"resumed": True}
    answers = {"inputResponses": {"x": YES}}
    for wrong in ({"requestState": "x"}, {"requestState": state, **answers}, answers):
        assert fixture.tool("state_only", **wrong)["error"]["code"] == -32602


def test_rounds_change_their_state_and_keep_their_call() -> None:
    fixture = Fixture(rounds=3)
    label = {"label": "a"}
    response = fixture.tool("rounds", label)["result"]
    states = []
    for number in (1, 2, 3):
        assert set(response["inputRequests"]) == {f"round-{number}"}
        states.append(response["requestState"])
        answers = {f"round-{number}": YES}
        response = fixture.tool(
            "rounds", label, inputResponses=answers, requestState=states[-1]
        )["result"]
    assert response["structuredContent"] == {"label": "a", "rounds": 3}
    assert len(set(states)) == 3


@pytest.mark.parametrize("fault", ["same-id", "arguments", "stale", "no-answers"])
def test_a_round_that_is_retried_wrongly_is_refused(fault: str) -> None:
    fixture = Fixture()
    first = fixture.tool("rounds", {"label": "a"})["result"]
    answers = {"round-1": YES}
    state = {"requestState": first["requestState"]}
    label = "b" if fault == "arguments" else "a"
    retry = {"inputResponses": answers, **state}
    if fault == "stale":
        fixture.tool("rounds", {"label": "a"}, **retry)
    if fault == "same-id":
        fixture._ids -= 1
    if fault == "no-answers":
        del retry["inputResponses"]
    refused = fixture.tool("rounds", {"label": label}, **retry)
    assert refused["error"]["code"] == -32602


# --- Subscriptions --------------------------------------------------------------

ASKED = {
    "toolsListChanged": True,
    "promptsListChanged": 1,
    "resourceSubscriptions": ["test://fixture/readme", "test://unknown"],
    "unknown": True,
}


def test_a_subscription_needs_a_filter() -> None:
    assert Fixture().refused("subscriptions/listen") == (-32602, 200)


def test_a_subscription_hears_what_it_asked_for_until_it_is_closed() -> None:
    async def run() -> FakeCall:
        fixture = Fixture()
        call = fixture.call("subscriptions/listen", {"notifications": ASKED})
        serving = asyncio.create_task(fixture.server.handle(call))
        await call.heard.wait()
        announce = fixture.server.announce
        assert await announce("notifications/prompts/list_changed", {}) == 0
        uri = {"uri": "test://unknown"}
        assert await announce("notifications/resources/updated", uri) == 0
        uri = {"uri": "test://fixture/readme"}
        assert await announce("notifications/resources/updated", uri) == 1
        grown = await fixture.answered("tools/call", {"name": "grow"})
        assert grown.sent[0]["result"]["structuredContent"] == {"told": 1}
        assert "grown" in fixture.server.catalogue.named
        call.gone.set()
        await serving
        assert await announce("notifications/tools/list_changed", {}) == 0
        return call

    call = asyncio.run(run())
    assert [message["method"] for message in call.sent] == [
        "notifications/subscriptions/acknowledged",
        "notifications/resources/updated",
        "notifications/tools/list_changed",
    ]
    assert call.sent[0]["params"]["notifications"] == {
        "toolsListChanged": True,
        "resourceSubscriptions": ["test://fixture/readme"],
    }
    for message in call.sent:
        tag = message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"]
        assert tag == call.id
    assert call.is_finished


def test_a_subscription_is_answered_when_the_server_ends() -> None:
    async def run() -> FakeCall:
        fixture = Fixture()
        fixture.server.subscriptions.end()
        return await fixture.answered("subscriptions/listen", {"notifications": {}})

    result = asyncio.run(run()).sent[-1]["result"]
    assert result["_meta"]["io.modelcontextprotocol/subscriptionId"] == 1
