"""
What the plain fixture server answers, without a transport.

`fixture_call.Fixture` holds every answer to the schema of its revision.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from fixture_call import (
    HANDSHAKE,
    META,
    OLD,
    STATELESS,
    FakeCall,
    Fixture,
    Json,
)

from mcpconf.fixture_server.session import Session
from mcpconf.revision import Revision

PLAIN = {
    "both",
    "client_metadata",
    "echo",
    "fail",
    "grow",
    "header_echo",
    "numbers",
    "progress",
    "review_large_integer",
    "review_protocol_env",
    "schema_2020_12",
    "slow",
}
ASKING = {"ask_elicitation", "ask_ping", "ask_roots", "ask_sampling", "ask_unknown"}
MRTR = {
    "big_elicitation",
    "inputs_bounded",
    "no_state",
    "request_input",
    "rounds",
    "state_only",
}
EVERY = pytest.mark.parametrize("revision", Revision)
BIG = 2**53 + 1


# --- Handshake revisions --------------------------------------------------------


def _fresh(revision: Revision) -> Fixture:
    fixture = Fixture(revision)
    fixture.session.initialize_seen = fixture.session.initialized = False
    return fixture


OPENING = {
    "protocolVersion": "1999-01-01",
    "capabilities": {"roots": {}},
    "clientInfo": {"name": "c", "version": "1"},
}


@pytest.mark.parametrize("revision", [OLD, HANDSHAKE])
def test_initialize_answers_the_servers_own_version(revision: Revision) -> None:
    fixture = _fresh(revision)
    result = fixture.ask("initialize", OPENING)["result"]
    assert result["protocolVersion"] == revision
    assert result["serverInfo"]["name"] == "openai-mcp-spec-test-server"
    assert "completions" not in result["capabilities"]
    assert fixture.session.offered == "1999-01-01"
    assert fixture.session.client_capabilities == {"roots": {}}


def test_nothing_but_a_ping_or_a_probe_precedes_the_handshake() -> None:
    fixture = _fresh(HANDSHAKE)
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    asyncio.run(fixture.server.notified(fixture.session, initialized))
    assert fixture.refused("tools/list") == (-32600, 200), "initialize was not seen"
    assert fixture.refused("server/discover") == (-32601, 404)
    assert fixture.ask("ping")["result"] == {}
    assert fixture.refused("initialize", {}) == (-32602, 200)
    fixture.ask("initialize", OPENING)
    assert fixture.refused("tools/list") == (-32600, 200), "not initialized yet"
    asyncio.run(fixture.server.notified(fixture.session, initialized))
    assert "tools" in fixture.ask("tools/list")["result"]
    assert fixture.refused("initialize", OPENING) == (-32600, 200)


def test_handshake_results_are_bare() -> None:
    fixture = Fixture(HANDSHAKE)
    assert set(fixture.ask("tools/list")["result"]) == {"tools"}
    assert fixture.tool("client_metadata")["result"]["structuredContent"] == {}
    assert fixture.tool("progress", _meta="no object")["result"]["content"]
    assert fixture.refused("nonsense") == (-32601, 404)
    assert fixture.refused("completion/complete") == (-32601, 404)


@pytest.mark.parametrize(
    ("tool", "method", "declared"),
    [
        ("ask_elicitation", "elicitation/create", {"elicitation": {}}),
        ("ask_sampling", "sampling/createMessage", {"sampling": {}}),
        ("ask_roots", "roots/list", {"roots": {}}),
        ("ask_ping", "ping", {}),
        ("ask_unknown", "mcpconf/unknown", {}),
    ],
)
def test_a_tool_asks_back_what_the_client_declared(
    tool: str, method: str, declared: dict[str, Any]
) -> None:
    async def run(fixture: Fixture) -> tuple[FakeCall, dict[str, Any]]:
        call = fixture.call("tools/call", {"name": tool, "arguments": {}})
        call.answer = {"error": {"code": -32601, "message": "no"}}
        await fixture.server.handle(call)
        return call, call.sent[-1]["result"]

    call, result = asyncio.run(run(Fixture(HANDSHAKE, declared)))
    assert call.asked[0][0] == method
    shown = json.loads(result["content"][0]["text"])
    assert shown["error"] == {"code": -32601, "message": "no"}
    if declared:
        call, result = asyncio.run(run(Fixture(HANDSHAKE)))
        assert (call.asked, result["isError"]) == ([], True)


def test_a_client_that_cancels_a_question_gets_no_response() -> None:
    async def run() -> FakeCall:
        fixture = Fixture(HANDSHAKE)
        call = fixture.call("tools/call", {"name": "ask_ping"})
        call.answer = None
        serving = asyncio.create_task(fixture.server.handle(call))
        await call.heard.wait()
        call.gone.set()
        await serving
        return call

    call = asyncio.run(run())
    assert call.is_finished
    assert call.sent == []


def test_a_response_finds_the_question_of_its_id_and_no_other() -> None:
    async def run() -> dict[str, Any]:
        session, sent = Session(), asyncio.Queue[dict[str, Any]]()
        asking = asyncio.create_task(session.ask(sent.put, "ping", {}))
        request = await sent.get()
        assert request == {"jsonrpc": "2.0", "id": "server-1", "method": "ping"}
        assert not session.resolve({"id": "server-2", "result": {}})
        assert not session.resolve({"id": 1, "result": {}})
        assert session.resolve({"id": "server-1", "result": {}})
        answer = await asking
        assert not session.resolve({"id": "server-1", "result": {}})
        return answer

    assert asyncio.run(run()) == {"id": "server-1", "result": {}}


def test_log_messages_come_from_the_level_that_was_set() -> None:
    fixture = Fixture(HANDSHAKE)
    assert fixture.refused("logging/setLevel", {"level": "loud"}) == (-32602, 200)

    def methods() -> list[str]:
        call = asyncio.run(fixture.answered("tools/call", {"name": "progress"}))
        return [each["method"] for each in call.sent[:-1]]

    assert methods() == []
    fixture.ask("logging/setLevel", {"level": "warning"})
    assert methods() == []
    fixture.ask("logging/setLevel", {"level": "debug"})
    assert methods() == ["notifications/message"]


def test_announcements_go_to_initialized_sessions_with_a_way() -> None:
    async def run() -> list[str]:
        fixture, heard = Fixture(HANDSHAKE), []
        for name, initialized in (("a", True), ("b", True), ("early", False)):

            async def push(message: Json, name: str = name) -> bool:
                heard.append(f"{name} {message['method']}")
                return name != "b"

            session = Session(name)
            session.initialized, session.push = initialized, push
            fixture.server.sessions.add(session)
        mute = Session("mute")
        mute.initialized = True
        fixture.server.sessions.add(mute)
        method = "notifications/tools/list_changed"
        assert await fixture.server.announce(method, {}) == 1
        return sorted(heard)

    method = "notifications/tools/list_changed"
    assert asyncio.run(run()) == [f"a {method}", f"b {method}"]


def test_resource_updates_go_to_who_subscribed() -> None:
    fixture, told = Fixture(HANDSHAKE), []

    async def push(message: Json) -> bool:
        told.append(message["params"]["uri"])
        return True

    fixture.session.push = push
    fixture.server.sessions.add(fixture.session)
    uri = {"uri": "test://fixture/readme"}

    def announce() -> int:
        method = "notifications/resources/updated"
        return asyncio.run(fixture.server.announce(method, uri))

    assert announce() == 0
    fixture.ask("resources/subscribe", uri)
    assert announce() == 1
    fixture.ask("resources/unsubscribe", uri)
    assert announce() == 0
    assert fixture.refused("resources/subscribe", {"uri": "x"}) == (-32602, 200)
    assert told == [uri["uri"]]


# --- 2026-07-28 -----------------------------------------------------------------

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"


def test_a_modern_server_refuses_the_handshake_and_names_its_version() -> None:
    fixture = Fixture()
    error = fixture.ask("initialize", OPENING)["error"]
    assert error["code"] == -32601
    assert error["data"] == {"supported": ["2026-07-28"]}
    for removed in ("ping", "logging/setLevel", "resources/subscribe", "tasks/list"):
        assert fixture.refused(removed) == (-32601, 404)


@pytest.mark.parametrize(
    "meta",
    [
        None,
        [],
        {VERSION: "2026-07-28"},
        {CAPABILITIES: {}},
        {VERSION: 1, CAPABILITIES: {}},
        {VERSION: "2026-07-28", CAPABILITIES: []},
    ],
)
def test_every_request_says_its_version_and_capabilities(meta: Json) -> None:
    assert Fixture().refused("tools/list", {"_meta": meta}) == (-32602, 400)


def test_another_version_is_refused_with_those_there_are() -> None:
    fixture = Fixture()
    call = asyncio.run(fixture.answered("tools/list", **{VERSION: "2025-11-25"}))
    assert call.statuses == [400]
    assert call.sent[0]["error"]["code"] == -32022
    supported = {"supported": ["2026-07-28"], "requested": "2025-11-25"}
    assert call.sent[0]["error"]["data"] == supported


@pytest.mark.parametrize(
    ("method", "params", "caching"),
    [
        ("server/discover", {}, ("public", 60_000)),
        ("tools/list", {}, ("public", 1000)),
        ("resources/list", {}, ("public", 2000)),
        ("resources/templates/list", {}, ("public", 5000)),
        ("resources/read", {"uri": "test://fixture/readme"}, ("private", 500)),
        ("prompts/list", {}, ("public", 5000)),
        ("tools/call", {"name": "fail"}, (None, None)),
    ],
)
def test_modern_results_say_what_they_are(
    method: str, params: Json, caching: tuple[Any, Any]
) -> None:
    result = Fixture().ask(method, params)["result"]
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["version"] == "0.1.0"
    assert (result.get("cacheScope"), result.get("ttlMs")) == caching


def test_metadata_and_notifications_are_those_of_the_request() -> None:
    fixture = Fixture()
    level = {"io.modelcontextprotocol/logLevel": "info"}
    shown = fixture.ask("tools/call", {"name": "client_metadata"}, **level)
    assert shown["result"]["structuredContent"] == {**META, **level}

    def methods(**meta: Json) -> list[str]:
        call = asyncio.run(fixture.answered("tools/call", {"name": "progress"}, **meta))
        return [each["method"] for each in call.sent[:-1]]

    assert methods() == []
    assert methods(progressToken=True) == []
    assert methods(progressToken=0, **level) == [
        "notifications/progress",
        "notifications/message",
    ]
    loud = {"io.modelcontextprotocol/logLevel": "loud"}
    assert fixture.refused("tools/list", **loud) == (-32602, 200)


# --- What all revisions have ----------------------------------------------------


@EVERY
def test_the_catalogue_is_sorted_and_the_revisions_own(revision: Revision) -> None:
    (page,) = Fixture(revision).listed("tools/list", "tools")
    names = [tool["name"] for tool in page]
    assert set(names) == PLAIN | (MRTR if revision is STATELESS else ASKING)
    assert names == sorted(names)
    headers = next(tool for tool in page if tool["name"] == "header_echo")
    suffixes = {
        name: schema["x-mcp-header"]
        for name, schema in headers["inputSchema"]["properties"].items()
    }
    assert suffixes == {
        "region": "Area",
        "attempt": "Try-Number",
        "enabled": "Switched-On",
        "greeting": "Salutation",
    }


@EVERY
def test_the_catalogue_is_padded_and_paged_as_told(revision: Revision) -> None:
    fixture = Fixture(revision, catalogue_size=25, page_size=10)
    pages = fixture.listed("tools/list", "tools")
    assert [len(page) for page in pages] == [10, 10, 5]
    assert len({tool["name"] for page in pages for tool in page}) == 25
    for cursor in ("", "page-1", "page-4", 2):
        assert fixture.refused("tools/list", {"cursor": cursor}) == (-32602, 200)
    answer = fixture.tool("catalog_boundary_0000")["result"]
    assert answer["content"][0]["text"] == "progress complete"


@EVERY
def test_resources_templates_and_the_prompt(revision: Revision) -> None:
    fixture = Fixture(revision)
    pages = fixture.listed("resources/list", "resources")
    assert [[each["uri"] for each in page] for page in pages] == [
        ["test://fixture/readme"],
        ["test://fixture/こんにちは"],
    ]
    assert fixture.refused("resources/list", {"cursor": "x"}) == (-32602, 200)
    assert fixture.refused("prompts/list", {"cursor": "x"}) == (-32602, 200)
    ((template,),) = fixture.listed("resources/templates/list", "resourceTemplates")
    assert template["uriTemplate"] == "test://fixture/{name}"
    for page in pages:
        uri = page[0]["uri"]
        (content,) = fixture.ask("resources/read", {"uri": uri})["result"]["contents"]
        assert content["text"] == f"fixture contents for {uri}"
    not_found = -32602 if revision is STATELESS else -32002
    assert fixture.refused("resources/read", {"uri": "test://x"}) == (not_found, 200)
    greeting = {"name": "fixture.greeting", "arguments": {"name": "Ada"}}
    (message,) = fixture.ask("prompts/get", greeting)["result"]["messages"]
    assert message["content"]["text"] == "Hello, Ada!"
    for wrong in ({"name": "x"}, {"name": "fixture.greeting"}):
        assert fixture.refused("prompts/get", wrong) == (-32602, 200)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (3, {}),
        ("unknown", {}),
        ("echo", []),
        ("echo", {}),
        ("echo", {"text": 3}),
        ("echo", {"text": "a", "more": 1}),
        ("fail", {"more": 1}),
        ("review_large_integer", {"value": BIG - 1}),
        ("review_large_integer", {"value": float(BIG)}),
        ("review_large_integer", {"value": str(BIG)}),
        ("review_large_integer", {"value": 2**63}),
        (
            "header_echo",
            {"region": "", "attempt": True, "enabled": True, "greeting": ""},
        ),
        (
            "header_echo",
            {"region": "", "attempt": 2**53, "enabled": True, "greeting": ""},
        ),
        ("numbers", {"integer": 1.5}),
        ("numbers", {"number": "1"}),
    ],
)
@EVERY
def test_wrong_arguments_are_invalid_params(
    revision: Revision, name: Json, arguments: Json
) -> None:
    params = {"name": name, "arguments": arguments}
    assert Fixture(revision).refused("tools/call", params) == (-32602, 200)


@EVERY
def test_tools_give_back_what_they_should(
    revision: Revision, monkeypatch: pytest.MonkeyPatch
) -> None:
    fixture = Fixture(revision)
    for name, arguments in (
        ("echo", {"text": "ünï\n"}),
        ("review_large_integer", {"value": BIG}),
        (
            "header_echo",
            {"region": "r", "attempt": 1, "enabled": True, "greeting": "g"},
        ),
        ("schema_2020_12", {"anything": [None]}),
    ):
        result = fixture.tool(name, arguments)["result"]
        assert result["structuredContent"] == arguments
    assert fixture.tool("fail")["result"]["isError"] is True
    both = fixture.tool("both")["result"]
    assert both["content"][0]["text"] == "from content"
    assert both["structuredContent"] == {"from": "structured"}
    numbers = fixture.tool("numbers", {"integer": BIG, "number": 0.1})["result"]
    assert numbers["structuredContent"]["integer"] == BIG
    assert 2**63 - 1 in numbers["structuredContent"]["edges"]
    for value in (None, "2026-07-28"):
        if value is not None:
            monkeypatch.setenv("CODEX_MCP_PROTOCOL_VERSION", value)
        shown = fixture.tool("review_protocol_env")["result"]["structuredContent"]
        assert shown == {"value": value}


@EVERY
def test_a_slow_tool_ends_with_its_time_or_the_clients_patience(
    revision: Revision,
) -> None:
    quick = Fixture(revision, delay_s=0.0).tool("slow")["result"]
    assert quick["content"][0]["text"] == "done"

    async def run() -> FakeCall:
        fixture = Fixture(revision, delay_s=3600.0)
        call = fixture.call("tools/call", {"name": "slow"})
        call.gone.set()
        await fixture.server.handle(call)
        return call

    assert asyncio.run(run()).sent == []
