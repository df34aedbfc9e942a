"""Each rule about a client's messages to the fixture server, broken and kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from wire_script import (
    META,
    error,
    initialize,
    notification,
    request,
    result,
    stateless,
)

from mcpconf.fixture_server.log import KEPT_BYTES, Log
from mcpconf.redaction import PLACEHOLDER
from mcpconf.revision import Revision
from mcpconf.supplemental.observation import ServerView, parse_log
from mcpconf.supplemental.schema import violations

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

OLD, HANDSHAKE, STATELESS = Revision.V2025_06_18, Revision.V2025_11_25, "2026-07-28"
LATEST = Revision.V2026_07_28


class Wire:
    """A wire log as the fixture server writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = Log(path)
        self._exchange = 0

    def view(self) -> ServerView:
        return parse_log(self._path.read_bytes(), self._path)

    def fault(self) -> Wire:
        self._log.fault("some-profile", "did what it is there for")
        return self

    # On stdio.

    def client(self, message: object, connection: int = 1) -> Wire:
        return self._message("received", message, connection=connection)

    def server(self, message: object, connection: int = 1) -> Wire:
        return self._message("sent", message, connection=connection, stream="stdio")

    # Over HTTP.

    def post(
        self,
        message: object,
        *answers: object,
        target: str = "/mcp",
        how: str | None = "complete",
        session: str | None = None,
        gives: str | None = None,
        **headers: str,
    ) -> Wire:
        self._exchange += 1
        place = {"exchange": self._exchange, "connection": 1}
        sent = {"content-type": "application/json", **headers}
        if session:
            sent["mcp-session-id"] = session
        self._log.headers(
            "request",
            [(name.replace("_", "-"), value) for name, value in sent.items()],
            **place,
            http="1.1",
            method="POST",
            target=target,
        )
        self._message("received", message, **place)
        heads = [("mcp-session-id", gives)] if gives else []
        self._log.headers("response", heads, **place, status=200)
        for answer in answers:
            self._message("sent", answer, **place, stream="json")
        if how is not None:
            self._log.write("finished", exchange=self._exchange, how=how)
        return self

    def answer_late(self, message: object, exchange: int) -> Wire:
        place = {"exchange": exchange, "connection": 1}
        return self._message("sent", message, **place, stream="sse")

    def _message(self, kind: str, message: object, **place: Any) -> Wire:
        if isinstance(message, bytes):
            self._log.message(kind, message, None, **place)
        else:
            self._log.message(kind, json.dumps(message).encode(), message, **place)
        return self


@pytest.fixture
def wire(tmp_path: Path) -> Wire:
    return Wire(tmp_path / "wire.jsonl")


def problems(wire: Wire, revision: Revision = HANDSHAKE) -> list[str]:
    return [each.problem for each in violations(wire.view(), revision)]


def settled(version: str, number: object = 1) -> dict[str, Any]:
    return result(number, protocolVersion=version, capabilities={})


# --- The rules of one message ---------------------------------------------------


def test_violation_names_where_and_what(wire: Wire) -> None:
    wire.client(stateless("tools/list")).client(stateless("tools/call", 2))
    (found,) = violations(wire.view(), LATEST)
    assert (found.index, found.method, found.revision, found.problem) == (
        1,
        "tools/call",
        STATELESS,
        "params.name: is missing",
    )


@pytest.mark.parametrize(
    ("revision", "broken", "problem", "kept"),
    [
        pytest.param(
            HANDSHAKE,
            request("tools/list", None),
            "id: expected a string or an integer",
            request("tools/list", "1"),
            id="null id",
        ),
        pytest.param(
            HANDSHAKE,
            request("notifications/initialized"),
            "id: a notification has none",
            notification("notifications/initialized"),
            id="notification with an id",
        ),
        pytest.param(
            LATEST,
            request("tools/list", _meta={f"{META}clientCapabilities": {}}),
            f"params._meta.{META}protocolVersion: is missing",
            stateless("tools/list"),
            id="no version",
        ),
        pytest.param(
            LATEST,
            request("tasks/get", _meta={f"{META}protocolVersion": STATELESS}),
            f"params._meta.{META}clientCapabilities: is missing",
            stateless("tasks/get"),
            id="extension without capabilities",
        ),
        pytest.param(
            LATEST,
            result(1),
            "body: a client sends no responses in this revision",
            stateless("server/discover"),
            id="response",
        ),
        pytest.param(
            HANDSHAKE,
            [request("tools/list")],
            "body: a batch is not part of this revision",
            request("tools/list"),
            id="batch",
        ),
        pytest.param(
            HANDSHAKE,
            b'{"jsonrpc": "2.0", ',
            "body: is not JSON",
            request("tools/list"),
            id="not JSON",
        ),
        pytest.param(
            HANDSHAKE,
            {"hello": "server"},
            "body: is no JSON-RPC message",
            request("tools/list"),
            id="no message",
        ),
        pytest.param(
            HANDSHAKE,
            None,
            "body: is no JSON-RPC message",
            request("tools/list"),
            id="null",
        ),
    ],
)
def test_message_is_judged_on_stdio(
    tmp_path: Path, revision: Revision, broken: object, problem: str, kept: object
) -> None:
    found = problems(Wire(tmp_path / "broken").client(broken), revision)
    # An answer to nothing is one more fault.
    assert found[:1] == [problem]
    assert problems(Wire(tmp_path / "kept").client(kept), revision) == []


def test_other_json_on_another_path_is_not_judged(wire: Wire) -> None:
    wire.post(request("tools/list", 1), result(1, tools=[]))
    wire.post({"client_name": "x"}, target="/register")
    wire.post(b"a=b", content_type="application/x-www-form-urlencoded").post(b"")
    assert problems(wire) == []
    assert problems(wire.post({"client_name": "x"})) == ["body: is no JSON-RPC message"]


def test_what_was_not_kept_is_not_judged(wire: Wire) -> None:
    wire.client({**request("tools/call"), "more": "x" * KEPT_BYTES})
    wire.client(request("tools/list", 2, _meta=PLACEHOLDER))
    assert problems(wire) == []


# --- The revision in force ------------------------------------------------------

#: Valid in a handshake revision and not after.
BARE = request("tools/list", 5)


@pytest.mark.parametrize(
    ("script", "broken"),
    [
        pytest.param(lambda wire: wire, True, id="hint"),
        pytest.param(
            lambda wire: wire.client(initialize("2025-06-18")).server(
                settled("2025-06-18")
            ),
            False,
            id="settled",
        ),
        pytest.param(
            lambda wire: wire.client(initialize("2025-06-18")).server(
                settled("2025-06-18", 2)
            ),
            True,
            id="answered under another id",
        ),
        pytest.param(
            lambda wire: wire.client(initialize("2025-06-18"), 2).server(
                settled("2025-06-18"), 2
            ),
            True,
            id="settled on another connection",
        ),
        pytest.param(
            lambda wire: (
                wire.client(BARE)
                .client(initialize("2025-06-18"))
                .server(settled("2025-06-18"))
                .server(result(5, tools=[]))
            ),
            True,
            id="settled later",
        ),
        pytest.param(
            lambda wire: wire.client(initialize("2025-06-18")).server(
                settled("1999-01-01")
            ),
            False,
            id="settled on nonsense",
        ),
    ],
)
def test_handshake_settles_for_its_connection(
    wire: Wire, script: Callable[[Wire], Wire], *, broken: bool
) -> None:
    found = problems(script(wire).client(BARE), LATEST)
    assert found == (["params: is missing"] if broken else [])


def test_handshake_settles_for_its_session(wire: Wire) -> None:
    batch = [request("tools/list", 7)]
    wire.post(initialize("2025-03-26"), settled("2025-03-26"), gives="a")
    wire.post(initialize("2025-11-25", 2), settled("2025-11-25", 2), gives="b")
    assert problems(wire.post(batch, session="a")) == []
    assert problems(wire.post(batch, session="b")) == [
        "body: a batch is not part of this revision"
    ]


def test_unknown_version_is_the_clients_own_unless_the_scenario_asked(
    wire: Wire,
) -> None:
    wire.client(stateless("tools/list", version="2099-01-01"))
    assert problems(wire, LATEST) == ["unknown revision"]
    assert violations(wire.view(), LATEST, asked={"2099-01-01"}) == ()


# --- Answers of the client ------------------------------------------------------


def test_answer_fits_what_the_server_asked(wire: Wire) -> None:
    wire.client(initialize("2025-11-25")).server(settled("2025-11-25"))
    wire.server(request("elicitation/create", 9)).client(result(9, action="cancel"))
    wire.server(request("mcpconf/unknown", 10)).client(error(10))
    assert problems(wire) == []
    wire.server(request("elicitation/create", "x")).client(result("x", action="?"))
    assert problems(wire) == ["result.action: expected 'accept', 'cancel' or 'decline'"]


@pytest.mark.parametrize("answer", [result(8), error("9")])
def test_answer_is_of_a_request_of_the_server(
    wire: Wire, answer: dict[str, Any]
) -> None:
    wire.server(request("ping", 9))
    assert problems(wire.client(error(None))) == []
    assert problems(wire.client(answer)) == ["id: is of no request of the server"]


def test_answer_may_be_of_a_request_that_was_not_kept(wire: Wire) -> None:
    wire.server(request("ping", 9, more="x" * KEPT_BYTES))
    assert problems(wire.client(result(9))) == []


@pytest.mark.parametrize("revision", [HANDSHAKE, LATEST])
def test_answer_after_a_fault_may_follow_from_it(
    wire: Wire, revision: Revision
) -> None:
    wire.fault().server({"jsonrpc": "2.0", "id": [1], "method": "ping"})
    wire.client({"jsonrpc": "2.0", "id": [1], "result": 5})
    assert problems(wire, revision) == []
    # A request of its own does not.
    assert problems(wire.client(request("tools/call", 1)), revision) != []


# --- What is still in use -------------------------------------------------------

IN_USE = "id: is in use by a request that has no answer yet"


def test_id_is_free_once_its_request_is_over(wire: Wire) -> None:
    wire.client(request("ping", 1)).server(result(1)).client(request("ping", 1))
    wire.client(notification("notifications/cancelled", requestId=1))
    wire.client(request("ping", 1)).client(request("ping", "1"))
    assert problems(wire.client(request("ping", 1), connection=2)) == []
    assert problems(wire.client(request("ping", 1))) == [IN_USE]


def test_id_is_in_use_over_http_where_that_is_certain(wire: Wire) -> None:
    wire.post(request("ping", 1), how="client-closed")
    wire.post(request("ping", 1), how="complete").post(request("ping", 1))
    wire.answer_late(result(1), 1)  # no sooner than its id was taken again
    wire.post(request("ping", 1), how=None, session="a")
    assert problems(wire.post(request("ping", 1), session="b")) == []
    assert problems(wire.post(request("ping", 1), session="a")) == [IN_USE]


def test_id_may_be_free_after_an_answer_that_was_not_kept(wire: Wire) -> None:
    wire.client(request("ping", 1)).server(result(1, more="x" * KEPT_BYTES))
    assert problems(wire.client(request("ping", 1))) == []


def test_progress_token_is_unique_among_active_requests(wire: Wire) -> None:
    def call(number: int) -> dict[str, Any]:
        return request("tools/call", number, name="x", _meta={"progressToken": "t"})

    wire.client(call(1)).server(result(1)).client(call(2))
    assert problems(wire) == []
    assert problems(wire.client(call(3))) == [
        "params._meta.progressToken: is in use by a request that has no answer yet"
    ]
