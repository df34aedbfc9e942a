"""Servers that show nothing pass nothing, and odd ones break no check."""

from __future__ import annotations

import copy
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tasks_scene import (
    NAMES,
    Refusal,
    answering,
    canned,
    find,
    findings_in,
    fixture,
    http,
    observe,
)

from mcpconf.server.exchange import Received
from mcpconf.supplemental.finding import Kind
from mcpconf.tasks_extension.observation import Observation
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.tasks_extension.rule import finding_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpconf.decode import Json
    from mcpconf.server.exchange import Exchange
    from mcpconf.supplemental.finding import Finding

_EMPTY_RESULT = b'{"jsonrpc":"2.0","id":1,"result":{}}'

SERVERS = {
    "closes": b"",
    "empty-object": http("200 OK", b"{}"),
    "empty-array": http("200 OK", b"[]"),
    "no-body": http("202 Accepted", b""),
    "broken": http("500 Internal Server Error", b'{"error":"oops"}'),
    "broken-with-a-result": http("500 Internal Server Error", _EMPTY_RESULT),
    "a-page": http("200 OK", b"<html></html>", "text/html"),
    "no-http": b"SSH-2.0-OpenSSH_9.9\r\n",
    "elsewhere": b"HTTP/1.1 307 Moved\r\nLocation: http://127.0.0.1:9/\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n",
}


@pytest.mark.parametrize("server", SERVERS)
def test_a_server_that_shows_nothing_passes_nothing(server: str) -> None:
    """All is unobserved, which fails; nothing holds and nothing is skipped."""
    with canned(SERVERS[server]) as url:
        for scenario in SCENARIOS.values():
            seen = observe(scenario, url)
            kinds = {each.kind for each in findings_in(scenario, seen).values()}
            assert kinds == {Kind.UNOBSERVED}
            assert [each.label for each in seen.exchanges] == ["discover"]


_TOOLS = (
    *("greet", "slow_compute", "failing_job", "protocol_error_job"),
    *("confirm_delete", "multi_input", "test_tool_with_task"),
)
_ADVERTISED: Json = {
    "capabilities": {"extensions": {"io.modelcontextprotocol/tasks": {}}}
}
#: What is seen in server/discover alone.
_OF_DISCOVER = {"extension-is-advertised", "extension-is-an-object"}


@pytest.mark.parametrize(
    "result",
    [{}, [], None, "odd", {"taskId": {}}, {"task": []}, {"resultType": "task"}],
)
@pytest.mark.parametrize("name", NAMES)
def test_a_server_that_only_advertises_passes_nothing_else(
    name: str, result: object
) -> None:
    """It says that it has tasks and all the tools, and means nothing by any answer."""

    def result_of(method: str) -> object:
        if method == "tools/list":
            return {"tools": [{"name": each} for each in _TOOLS]}
        return _ADVERTISED if method == "server/discover" else result

    with answering(result_of) as url:
        found = find(name, url)
    holding = {each for each, one in found.items() if one.kind is Kind.HOLDS}
    assert holding <= {*_OF_DISCOVER, "no-legacy-capability"}


_REQUIRED: Json = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
_OOPS: dict[str, Json] = {
    "content": [{"type": "text", "text": "oops"}],
    "isError": True,
}
#: What a server may answer to everything: a refusal is right here and there.
ALIKE: dict[str, object] = {
    "invalid-params": Refusal(400, {"code": -32602, "message": "no"}),
    "not-found": Refusal(404, {"code": -32601, "message": "no"}),
    "mismatch": Refusal(400, {"code": -32020, "message": "no"}),
    "missing-capability": Refusal(
        400,
        {
            "code": -32021,
            "message": "no",
            "data": {"requiredCapabilities": _REQUIRED},
        },
    ),
    "tool-error": {"resultType": "complete", **_OOPS},
}


@pytest.fixture(scope="module")
def alike() -> Mapping[str, Mapping[str, Finding]]:
    """What all checks but those of discovery find in each of these servers."""
    with ThreadPoolExecutor(len(ALIKE)) as pool:
        return dict(zip(ALIKE, pool.map(_found_alike, ALIKE), strict=True))


def _found_alike(answer: str) -> dict[str, Finding]:
    def result_of(method: str) -> object:
        if method == "tools/list":
            return {"tools": [{"name": each} for each in _TOOLS]}
        return _ADVERTISED if method == "server/discover" else ALIKE[answer]

    names = [each for each in SCENARIOS if each != "tasks/discovery"]
    with answering(result_of) as url, ThreadPoolExecutor(len(names)) as pool:
        found = zip(names, pool.map(lambda name: find(name, url), names), strict=True)
        return {
            f"{name}:{each}": one
            for name, of_name in found
            for each, one in of_name.items()
        }


@pytest.mark.parametrize("answer", ALIKE)
def test_a_server_that_answers_all_alike_passes_nothing(
    answer: str, alike: Mapping[str, Mapping[str, Finding]]
) -> None:
    """It refuses what is to be refused; but it was never seen to serve anything."""
    holding = {
        name: one.detail
        for name, one in alike[answer].items()
        if one.kind is Kind.HOLDS
    }
    assert holding == {}


@pytest.mark.parametrize("task_id", ["\ud800", "a\r\nX-More: 1", "\x00", "ä" * 9])
@pytest.mark.parametrize("name", NAMES)
def test_no_drive_breaks_on_an_id_that_is_hard_to_send(name: str, task_id: str) -> None:
    """A server gets back whatever it has called a task."""
    task = {"taskId": task_id, "resultType": "task", "status": "completed"}

    def result_of(method: str) -> object:
        return _ADVERTISED if method == "server/discover" else task

    with answering(result_of) as url:
        seen = observe(SCENARIOS[name], url)
    asked: Any = [each.sent for each in seen.exchanges]
    got = {each["params"].get("taskId", task_id) for each in asked}
    assert got <= {task_id, 7, "7d0c5a4e-0000-4000-8000-6d6370636f6e"}


def test_a_server_without_a_port_passes_nothing() -> None:
    with canned(b"") as url:
        pass
    found = [find(name, url) for name in NAMES]
    assert {each.kind for one in found for each in one.values()} == {Kind.UNOBSERVED}


def test_an_empty_result_of_discover_is_no_extension_and_passes_nothing() -> None:
    """It was answered; what it does not advertise is not applicable."""
    with canned(http("200 OK", _EMPTY_RESULT)) as url:
        found = [find(name, url) for name in NAMES]
    kinds = {each.kind for one in found for each in one.values()}
    assert kinds == {Kind.NOT_APPLICABLE}


@pytest.mark.parametrize(
    ("code", "more"),
    [
        (-32601, {"message": "no"}),
        (-32022, {"message": "no", "data": {"supported": ["2025-11-25"]}}),
        (-32000, {"message": "Bad Request: Server not initialized"}),
    ],
)
def test_a_server_of_another_revision_is_unsupported(
    code: int, more: dict[str, object]
) -> None:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": code, **more}}
    with canned(http("400 Bad Request", json.dumps(error).encode())) as url:
        found = find("tasks/creation", url)
    assert {each.kind for each in found.values()} == {Kind.UNSUPPORTED}
    assert all(str(code) in each.detail for each in found.values())


def test_a_server_without_the_extension_is_not_asked_for_tasks() -> None:
    """And the answer that says so is on record."""
    with fixture() as url:
        for name in NAMES:
            scenario = SCENARIOS[name]
            seen = observe(scenario, url)
            found = findings_in(scenario, seen)
            assert {each.kind for each in found.values()} == {Kind.NOT_APPLICABLE}
            sent = {each.label for each in seen.exchanges}
            assert sent == {"discover"} or scenario.is_for_any_server


def test_a_tool_that_is_missing_is_named() -> None:
    """Only by the checks that need it."""
    scenario = SCENARIOS["tasks/completion"]
    with fixture("tasks") as url:
        seen = observe(scenario, url)
    seen = _without_tool(seen, "failing_job")
    found = findings_in(scenario, seen)
    missing = [each for each, one in found.items() if one.kind is not Kind.HOLDS]
    assert missing == ["tool-error-completes"]
    assert "failing_job" in found["tool-error-completes"].detail


def test_no_check_holds_by_a_step_that_was_not_taken() -> None:
    """The server advertises tasks, has all the tools, and nothing else was seen."""
    with fixture("tasks") as url:
        seen = observe(SCENARIOS["tasks/envelopes"], url)
    opening = tuple(each for each in seen.exchanges if _is_opening(each))
    for scenario in SCENARIOS.values():
        found = findings_in(scenario, Observation(exchanges=opening))
        holding = [each for each, one in found.items() if one.kind is Kind.HOLDS]
        # What server/discover alone says is seen.
        assert set(holding) <= {*_OF_DISCOVER, "no-legacy-capability"}


@pytest.mark.parametrize("name", NAMES)
def test_no_check_breaks_on_whatever_an_answer_holds(name: str) -> None:
    """Each value of each answer, replaced by one of another kind or left out."""
    scenario = SCENARIOS[name]
    with fixture("tasks") as url:
        seen = observe(scenario, url)
    for index, exchange in enumerate(seen.exchanges):
        if _is_opening(exchange) and name != "tasks/discovery":
            continue  # the same in every drive
        for other in _distorted(exchange):
            exchanges = (
                *seen.exchanges[:index],
                other,
                *seen.exchanges[index + 1 :],
            )
            odd = Observation(exchanges=exchanges)
            for check in scenario.checks:
                assert finding_of(scenario, check, odd).detail


_ODD: tuple[Json, ...] = (7, [{}], {"odd": []})


def _distorted(exchange: Exchange) -> Iterator[Exchange]:
    for received in exchange.received:
        for path in _paths(received.message):
            for odd in _ODD:
                message = _put(received.message, path, odd)
                yield _answered(exchange, received, message)


def _answered(exchange: Exchange, received: Received, message: Json) -> Exchange:
    return replace(exchange, received=(Received(t_ms=received.t_ms, message=message),))


def _paths(value: Json, depth: int = 0) -> Iterator[tuple[Any, ...]]:
    yield ()
    members: Any = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        members = enumerate(value[:1])
    for name, each in members:
        if name in {"jsonrpc", "inputSchema", "prompts"} or depth > 5:
            continue
        for path in _paths(each, depth + 1):
            yield (name, *path)


def _put(message: Any, path: tuple[Any, ...], odd: Json) -> Json:
    if not path:
        return odd
    changed: Any = copy.copy(message)
    changed[path[0]] = _put(message[path[0]], path[1:], odd)
    return changed  # type: ignore[no-any-return]


def _is_opening(exchange: Exchange) -> bool:
    return exchange.label == "discover" or exchange.label.startswith("tools-")


def _without_tool(seen: Observation, tool: str) -> Observation:
    def changed(exchange: Exchange) -> Exchange:
        if not exchange.label.startswith("tools-"):
            return exchange
        received = exchange.received[0]
        message: Any = copy.deepcopy(received.message)
        tools = message["result"]["tools"]
        message["result"]["tools"] = [each for each in tools if each["name"] != tool]
        return _answered(exchange, received, message)

    return replace(seen, exchanges=tuple(map(changed, seen.exchanges)))
