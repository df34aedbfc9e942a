"""Streams of the fixture server with everything, over real sockets."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import requests
from fixture_call import HANDSHAKE, STATELESS
from fixture_everything import everything_at

from mcpconf.fixture_server.inprocess import serving
from mcpconf.sse import parse_events

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mcpconf.revision import Revision

    Json = Any

BOTH = "application/json, text/event-stream"
STREAM_FIRST = "text/event-stream, application/json"
#: Reached only when a test fails.
PATIENCE_S = 10.0


class Client:
    """Sends what it is told."""

    def __init__(self, url: str, session: requests.Session) -> None:
        self._url = url
        self._session = session

    def post(self, message: Json, **headers: str) -> requests.Response:
        return self._session.post(
            self._url,
            json=message,
            headers={"Accept": BOTH, **headers},
            timeout=PATIENCE_S,
        )

    def get(self, **headers: str) -> requests.Response:
        return self._session.get(
            self._url,
            headers={"Accept": "text/event-stream", **headers},
            timeout=PATIENCE_S,
            stream=True,
        )

    def open(self) -> dict[str, str]:
        """Open a session; the header that names it."""
        params = {
            "protocolVersion": HANDSHAKE.value,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        opened = self.post(rpc("initialize", params))
        named = {"Mcp-Session-Id": opened.headers["Mcp-Session-Id"]}
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, **named)
        return named


@contextmanager
def client_at(revision: Revision) -> Iterator[Client]:
    with serving(everything_at(revision)) as running, requests.Session() as session:
        session.trust_env = False
        yield Client(running.url, session)


def rpc(method: str, params: Json) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def modern(method: str, **params: Json) -> tuple[Json, dict[str, str]]:
    """A request of 2026-07-28 and its headers."""
    meta: dict[str, Any] = {
        "io.modelcontextprotocol/protocolVersion": STATELESS.value,
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    }
    headers = {"MCP-Protocol-Version": STATELESS.value, "Mcp-Method": method}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    return rpc(method, {"_meta": meta, **params}), headers


def test_an_answer_is_fetched_after_its_stream_ended() -> None:
    with client_at(HANDSHAKE) as client:
        session = client.open()
        left = client.post(rpc("tools/call", {"name": "test_reconnection"}), **session)
        (event,) = parse_events(left.text)
        assert (left.headers["Content-Type"], event.data) == ("text/event-stream", "")
        assert "retry: " in left.text
        last = re.search("^id: (.+)$", left.text, re.MULTILINE)
        assert last is not None
        for _ in range(2):  # however often
            came = client.get(**session, **{"Last-Event-ID": last[1]})
            (event,) = parse_events(came.text)
            answer = json.loads(event.data)
            assert (answer["id"], "result" in answer) == (1, True)


def test_a_stream_of_nothing_that_is_owed_is_for_what_is_to_come() -> None:
    with client_at(HANDSHAKE) as client:
        session, other = client.open(), client.open()
        left = client.post(rpc("tools/call", {"name": "test_reconnection"}), **session)
        last = re.search("^id: (.+)$", left.text, re.MULTILINE)
        assert last is not None
        change = rpc("tools/call", {"name": "test_trigger_tool_change"})
        for headers in (
            {**other, "Last-Event-ID": last[1]},
            {**session, "Last-Event-ID": "unknown"},
        ):
            with client.get(**headers) as stream:
                client.post(change, **headers)
                first = next(line for line in stream.iter_lines() if line)
                message = json.loads(first.removeprefix(b"data: "))
                assert message["method"] == "notifications/tools/list_changed"


def test_a_stream_that_asks_holds_a_result_and_no_request() -> None:
    with client_at(STATELESS) as client:
        message, headers = modern("tools/call", name="test_streaming_elicitation")
        asked = client.post(message, **headers)
        assert asked.headers["Content-Type"] == "text/event-stream"
        (event,) = parse_events(asked.text)
        result = json.loads(event.data)["result"]
        assert result["resultType"] == "input_required"
        assert set(result["inputRequests"]) == {"user_name"}


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (BOTH, "application/json"),
        (STREAM_FIRST, "text/event-stream"),
        ("Text/Event-Stream;q=1, application/json", "text/event-stream"),
        ("*/*", "application/json"),
    ],
)
def test_an_answer_has_the_form_that_is_named_first(accept: str, kind: str) -> None:
    with client_at(STATELESS) as client:
        message, headers = modern("tools/list")
        answer = client.post(message, **{**headers, "Accept": accept})
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, kind)


@pytest.mark.parametrize("revision", [HANDSHAKE, STATELESS])
@pytest.mark.parametrize("header", ["Host", "Origin"])
def test_a_page_from_elsewhere_is_refused(revision: Revision, header: str) -> None:
    value = "evil.example.com" if header == "Host" else "http://evil.example.com"
    with client_at(revision) as client:
        message, headers = modern("server/discover")
        refused = client.post(message, **{**headers, header: value})
        assert refused.status_code == 403


def test_the_log_says_that_the_server_had_everything(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    with serving(everything_at(STATELESS), log):
        pass
    start = json.loads(log.read_text("utf-8").splitlines()[0])
    assert start["profiles"] == ["everything", "tasks"]
