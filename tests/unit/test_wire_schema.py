"""Each rule about the client's messages, with one that breaks and one that keeps it."""

from __future__ import annotations

from typing import Any

import pytest
from wire_script import (
    META,
    Script,
    error,
    event,
    initialize,
    notification,
    request,
    result,
    stateless,
)

from mcpconf.wire import Side
from mcpconf.wire_schema import Violation, violations

OLD, HANDSHAKE, STATELESS = "2025-06-18", "2025-11-25", "2026-07-28"


def problems(script: Script, hint: str | None = HANDSHAKE) -> list[str]:
    return [each.problem for each in violations(script.log(), hint)]


def sent(*bodies: object, hint: str | None = HANDSHAKE) -> list[str]:
    script = Script()
    for body in bodies:
        script.exchange(body, status=202)
    return problems(script, hint)


def settled(version: str, number: float = 1) -> dict[str, Any]:
    return result(number, protocolVersion=version, capabilities={})


def session(version: str, offered: str = HANDSHAKE) -> Script:
    """A log in which that revision was agreed."""
    script = Script().exchange(initialize(offered), settled(version))
    return script.exchange(notification("notifications/initialized"), status=202)


def without(message: dict[str, Any], *path: str) -> dict[str, Any]:
    """The message less the member at the end of `path`."""
    name, *rest = path
    if not rest:
        return {key: value for key, value in message.items() if key != name}
    return {**message, name: without(message[name], *rest)}


# --- The envelope ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "problem", "kept"),
    [
        pytest.param(
            {**request("ping"), "jsonrpc": "1.0"},
            'jsonrpc: expected "2.0"',
            request("ping"),
            id="version",
        ),
        pytest.param(
            without(request("ping"), "jsonrpc"),
            'jsonrpc: expected "2.0"',
            request("ping"),
            id="no version",
        ),
        pytest.param(
            request("ping", None),
            "id: expected a string or an integer",
            request("ping", ""),
            id="null id",
        ),
        pytest.param(
            request("ping", 1.5),
            "id: expected a string or an integer",
            request("ping", 1.0),  # the same number, written otherwise
            id="fractional id",
        ),
        pytest.param(
            {**request("ping"), "id": True},
            "id: expected a string or an integer",
            request("ping", 0),
            id="true for an id",
        ),
        pytest.param(
            request("ping", [1]),
            "id: expected a string or an integer",
            request("ping", 1),
            id="array for an id",
        ),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1},
            "body: has no method, result or error",
            request("ping"),
            id="nothing in it",
        ),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "method": 5},
            "body: has no method, result or error",
            request("ping"),
            id="method is no text",
        ),
        pytest.param(
            {**request("ping"), "params": []},
            "params: expected an object",
            {**request("ping"), "params": {}},
            id="array for params",
        ),
        pytest.param(
            {**request("ping"), "params": None},
            "params: expected an object",
            request("ping"),
            id="null for params",
        ),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "result": []},
            "result: expected an object",
            result(1),
            id="array for a result",
        ),
        pytest.param(
            result(None),
            "id: expected a string or an integer",
            result("a"),
            id="answer",
        ),
        pytest.param(
            {**result(1), "error": {"code": 1, "message": ""}},
            "error: excludes a result",
            result(1),
            id="result and error",
        ),
        pytest.param(
            {"jsonrpc": "2.0", "id": 1, "error": "no"},
            "error: expected an object",
            error(1),
            id="text for an error",
        ),
        pytest.param(
            error(1, "x"), "error.code: expected an integer", error(1), id="code"
        ),
        pytest.param(
            error(1, 1, None),
            "error.message: expected a string",
            error(None),  # what could not be read has no id
            id="error message",
        ),
    ],
)
def test_envelope_is_that_of_json_rpc(
    broken: dict[str, Any], problem: str, kept: dict[str, Any]
) -> None:
    assert sent(broken) == [problem]
    assert sent(kept) == []


def test_envelope_is_judged_where_the_revision_is_not_known() -> None:
    (violation,) = violations(Script().exchange(request("ping", None)).log(), None)
    assert violation == Violation(
        exchange=1,
        direction=Side.CLIENT,
        method="ping",
        revision=None,
        problem="id: expected a string or an integer",
    )


def test_body_that_says_json_is_json() -> None:
    assert sent("{not json") == ["body: is not JSON"]
    assert sent("") == []
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert problems(Script().exchange("{not json", headers=form)) == []


@pytest.mark.parametrize(
    ("agreed", "expected"),
    [
        ("2025-03-26", []),
        (OLD, ["body: a batch is not part of this revision"]),
        (HANDSHAKE, ["body: a batch is not part of this revision"]),
    ],
)
def test_batch_is_refused_since_it_left_the_protocol(
    agreed: str, expected: list[str]
) -> None:
    batch = [request("ping", 2), request("tools/list", 3)]
    script = session(agreed).exchange(batch, status=202)
    found = violations(script.log(), None)
    assert list(dict.fromkeys(each.problem for each in found)) == expected
    assert problems(session(agreed).exchange(batch[0])) == []


def test_batch_of_a_stateless_client_is_refused() -> None:
    assert sent([stateless("tools/list")], hint=None) == [
        "body: a batch is not part of this revision"
    ]


# --- The schema -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("broken", "problem", "kept"),
    [
        pytest.param(
            without(initialize(HANDSHAKE), "params", "clientInfo", "version"),
            "params.clientInfo.version: is missing",
            initialize(HANDSHAKE),
            id="initialize",
        ),
        pytest.param(
            request("initialize"),
            "params: is missing",
            initialize(HANDSHAKE),
            id="no params",
        ),
        pytest.param(
            request("tools/call", name=5),
            "params.name: expected a string",
            request("tools/call", name="x"),
            id="string",
        ),
        pytest.param(
            request("tools/call", name="x", arguments=[]),
            "params.arguments: expected an object",
            request("tools/call", name="x", arguments={}),
            id="object",
        ),
        pytest.param(
            request("logging/setLevel", level="loud"),
            "params.level: expected 'alert', 'critical', 'debug', 'emergency', 'error',"
            " 'info', 'notice' or 'warning'",
            request("logging/setLevel", level="info"),
            id="literal",
        ),
        pytest.param(
            notification("notifications/progress", progressToken=1, progress="much"),
            "params.progress: expected a number",
            notification("notifications/progress", progressToken=1, progress=0.5),
            id="notification",
        ),
        pytest.param(
            request("tools/list", _meta={"progressToken": 1.5}),
            "params._meta.progressToken: is none of the kinds that the schema allows",
            request("tools/list", _meta={"progressToken": 1}),
            id="union",
        ),
        pytest.param(
            request("completion/complete", ref={"type": "x"}, argument={}),
            "params.ref: is none of the kinds that the schema allows",
            request(
                "completion/complete",
                ref={"type": "ref/prompt", "name": "p"},
                argument={"name": "a", "value": ""},
            ),
            id="union of objects",
        ),
    ],
)
def test_handshake_message_fits_its_schema(
    broken: dict[str, Any], problem: str, kept: dict[str, Any]
) -> None:
    found = sent(broken)
    assert problem in found
    assert len(found) == len(set(found))
    assert sent(kept) == []


META_PATH = ("params", "_meta")


@pytest.mark.parametrize(
    ("broken", "problem", "kept"),
    [
        pytest.param(
            request("tools/list"),
            "params: is missing",
            stateless("tools/list"),
            id="no params",
        ),
        pytest.param(
            request("tools/list", cursor="x"),
            "params._meta: is missing",
            stateless("tools/list", cursor="x"),
            id="no _meta",
        ),
        pytest.param(
            without(stateless("tools/list"), *META_PATH, f"{META}clientCapabilities"),
            f"params._meta.{META}clientCapabilities: is missing",
            stateless("tools/list"),
            id="no capabilities",
        ),
        pytest.param(
            without(stateless("tools/list"), *META_PATH, f"{META}protocolVersion"),
            f"params._meta.{META}protocolVersion: is missing",
            stateless("tools/list"),
            id="no version",
        ),
        pytest.param(
            stateless("tools/call", name="x", inputResponses={"k": {"action": "?"}}),
            "params.inputResponses.k: is none of the kinds that the schema allows",
            stateless(
                "tools/call", name="x", inputResponses={"k": {"action": "decline"}}
            ),
            id="input response",
        ),
        pytest.param(
            stateless("resources/read"),
            "params.uri: is missing",
            stateless("resources/read", uri="test://x"),
            id="resource",
        ),
        pytest.param(
            stateless("ping"),
            "method: is not part of this revision",
            stateless("server/discover"),
            id="removed method",
        ),
        pytest.param(
            notification("notifications/initialized"),
            "method: is not part of this revision",
            notification("notifications/cancelled", requestId=1),
            id="removed notification",
        ),
        pytest.param(
            result(1),
            "body: a client sends no responses in this revision",
            stateless("tools/list"),
            id="response",
        ),
    ],
)
def test_stateless_message_fits_its_schema(
    broken: dict[str, Any], problem: str, kept: dict[str, Any]
) -> None:
    assert sent(broken, hint=STATELESS) == [problem]
    assert sent(kept, hint=STATELESS) == []


@pytest.mark.parametrize(
    ("broken", "problem", "kept"),
    [
        pytest.param(
            request("server/discover"),
            "method: is not part of this revision",
            request("tools/list"),
            id="of a later revision",
        ),
        pytest.param(
            request("tools/execute"),
            "method: is not one that a client sends",
            request("acme/execute"),
            id="unknown, in the core's name space",
        ),
        pytest.param(
            request("execute"),
            "method: is not one that a client sends",
            request("tasks/get", taskId="t"),
            id="unknown, in no name space",
        ),
        pytest.param(
            request("sampling/createMessage"),
            "method: is not one that a client sends",
            request("tasks/list"),
            id="the server's",
        ),
        pytest.param(
            notification("notifications/message", level="info", data=""),
            "method: is not one that a client sends",
            notification("notifications/tasks/status", taskId="t"),
            id="the server's notification",
        ),
        pytest.param(
            request("notifications/initialized"),
            "id: a notification has none",
            notification("notifications/initialized"),
            id="notification with an id",
        ),
        pytest.param(
            notification("tools/list"),
            "id: is missing",
            request("tools/list"),
            id="request without an id",
        ),
    ],
)
def test_method_is_one_of_its_revision(
    broken: dict[str, Any], problem: str, kept: dict[str, Any]
) -> None:
    """Methods of extensions, like the kept ones here, are nobody's business."""
    assert sent(broken) == [problem]
    assert sent(kept) == []


def test_extension_of_the_stateless_revision_is_not_judged() -> None:
    assert sent(stateless("tasks/get", taskId=5), hint=STATELESS) == []


# --- Answers of the client ------------------------------------------------------


def answered(question: dict[str, Any], answer: dict[str, Any]) -> list[str]:
    script = session(HANDSHAKE).exchange(
        request("tools/call", 2, name="x"), event(question)
    )
    return problems(script.exchange(answer, status=202))


@pytest.mark.parametrize(
    ("question", "broken", "problem", "kept"),
    [
        pytest.param(
            request("elicitation/create", 9),
            result(9, action="maybe"),
            "result.action: expected 'accept', 'cancel' or 'decline'",
            result(9, action="cancel"),
            id="elicitation",
        ),
        pytest.param(
            request("elicitation/create", 9),
            result(9, action="accept", content={"a": {"b": 1}}),
            "result.content.a: is none of the kinds that the schema allows",
            result(9, action="accept", content={"a": ["b"]}),
            id="elicited content",
        ),
        pytest.param(
            request("roots/list", "r"),
            result("r", roots=[{"uri": 1}]),
            "result.roots[0].uri: expected a string",
            result("r", roots=[]),
            id="roots",
        ),
        pytest.param(
            request("ping", 9),
            error(9, None),
            "error.code: expected an integer",
            error(9),
            id="error",
        ),
    ],
)
def test_answer_fits_the_request_of_the_server(
    question: dict[str, Any],
    broken: dict[str, Any],
    problem: str,
    kept: dict[str, Any],
) -> None:
    assert answered(question, broken) == [problem]
    assert answered(question, kept) == []


def test_answer_to_nothing_that_was_seen_is_not_judged() -> None:
    """The request may be in a part of a stream that was not kept."""
    assert answered(request("elicitation/create", 9), result(8, action="?")) == []
    assert answered(request("elicitation/create", 9), result("9", action="?")) == []


def test_answer_to_nonsense_of_the_server_is_not_judged() -> None:
    assert answered(request("acme/dance", 9), result(9, steps=None)) == []
    script = session("2025-03-26").exchange(
        method="GET",
        answer=event(
            request("elicitation/create", 9)  # of a later revision
        ),
    )
    assert problems(script.exchange(result(9, action="?"), status=202)) == []


# --- The revision of a message --------------------------------------------------

#: Valid up to 2025-11-25 and not after.
BARE = request("tools/list", 5)


@pytest.mark.parametrize(
    ("script", "hint", "revision"),
    [
        pytest.param(session(OLD), STATELESS, None, id="agreed, so valid"),
        pytest.param(Script(), STATELESS, STATELESS, id="hint"),
        pytest.param(Script(), HANDSHAKE, None, id="hint, so valid"),
        pytest.param(Script(), None, None, id="not known, so not judged"),
        pytest.param(
            Script().exchange(initialize(OLD), error(), status=400),
            STATELESS,
            STATELESS,
            id="refused handshake settles nothing",
        ),
        pytest.param(
            Script().exchange(initialize(OLD), settled(OLD), port=2),
            STATELESS,
            STATELESS,
            id="another server's handshake",
        ),
        pytest.param(
            session("1999-01-01"), STATELESS, None, id="server agreed to nonsense"
        ),
        pytest.param(
            session(STATELESS), STATELESS, None, id="no handshake settles on this"
        ),
    ],
)
def test_revision_of_a_message_is_the_one_in_force(
    script: Script, hint: str | None, revision: str | None
) -> None:
    found = violations(script.exchange(BARE).log(), hint)
    assert [(each.method, each.revision) for each in found] == (
        [("tools/list", revision)] if revision else []
    )


def test_header_names_the_revision_before_the_hint_does() -> None:
    script = Script().exchange(BARE, headers={"mcp-protocol-version": STATELESS})
    assert problems(script, HANDSHAKE) == ["params: is missing"]
    script = Script().exchange(BARE, headers={"mcp-protocol-version": OLD})
    assert problems(script, STATELESS) == []


def test_message_itself_names_the_revision_before_all_else() -> None:
    script = session(HANDSHAKE).exchange(stateless("ping"))
    assert problems(script, HANDSHAKE) == ["method: is not part of this revision"]


def test_session_id_tells_two_sessions_of_one_server_apart() -> None:
    """A batch was fine in the first session, and is not in the second."""

    def opened(first: str, second: str) -> Script:
        script = Script()
        for version, name in (("2025-03-26", first), (HANDSHAKE, second)):
            heads = {"mcp-session-id": name}
            script.exchange(
                initialize(version), settled(version), response_headers=heads
            )
        return script.exchange([BARE], headers={"mcp-session-id": first})

    assert problems(opened("a", "b")) == []
    # Redacted ids tell nothing: the later session is the one in force.
    assert problems(opened("[REDACTED]", "[REDACTED]")) == [
        "body: a batch is not part of this revision"
    ]


@pytest.mark.parametrize(
    ("script", "method"),
    [
        pytest.param(
            Script().exchange(stateless("tools/list", version="2099-01-01")),
            "tools/list",
            id="in a message",
        ),
        pytest.param(
            Script().exchange(initialize("2099-01-01"), error(), status=400),
            "initialize",
            id="offered",
        ),
        pytest.param(
            Script().exchange(BARE, headers={"mcp-protocol-version": "2099-01-01"}),
            "tools/list",
            id="in a header",
        ),
    ],
)
def test_unknown_revision_that_the_client_names_is_a_violation(
    script: Script, method: str
) -> None:
    (violation,) = violations(script.log(), HANDSHAKE)
    assert violation.problem == "unknown revision"
    assert (violation.method, violation.revision) == (method, "2099-01-01")


def test_unknown_offer_that_the_server_counters_is_none() -> None:
    assert problems(session(HANDSHAKE, offered="2099-01-01")) == []


# --- Fairness -------------------------------------------------------------------


def test_body_that_was_not_kept_whole_is_skipped() -> None:
    bad = request("tools/call")
    whole = Script().exchange(bad)
    assert problems(whole) == ["params: is missing"]
    cut = Script().exchange(bad, truncated=True).exchange('{"x', aborted=True)
    assert problems(cut) == []


def test_what_redaction_replaced_is_not_judged() -> None:
    redacted = request("tools/list", _meta="[REDACTED]")
    assert sent(redacted) == []
    assert sent(request("tools/list", _meta="other")) != []
    broken = '{"jsonrpc": "2.0", [REDACTED]'
    assert sent(broken) == []


def test_redacted_form_is_no_message() -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    script = Script().exchange("grant_type=x&code=[REDACTED]", headers=form)
    assert problems(script) == []


def test_client_under_the_drivers_name_is_judged() -> None:
    driver = {"user-agent": "mcpconf-browser"}
    assert problems(Script().exchange(request("execute"), headers=driver)) != []


def test_server_is_not_judged() -> None:
    nonsense: dict[str, Any] = {"jsonrpc": "1.0", "id": None, "result": []}
    script = session(HANDSHAKE).exchange(request("ping", 2), [nonsense])
    assert problems(script.exchange(method="GET", answer=event(nonsense))) == []


def test_other_json_on_the_same_server_is_not_judged() -> None:
    registration = {"client_name": "x", "redirect_uris": ["http://127.0.0.1/"]}
    assert sent(registration, hint=STATELESS) == []


def test_problem_names_the_place_and_never_the_value() -> None:
    secret = "hunter2"  # noqa: S105 -- the text that must not come out
    found = [
        *sent(request("logging/setLevel", level=secret)),
        *sent(request("completion/complete", ref={"type": secret}, argument=secret)),
        *sent({**request(secret), "jsonrpc": secret}),
        *sent(request("tools/list", _meta={"progressToken": [secret]})),
        *sent(request("ping", {"id": secret})),
    ]
    assert len(found) == 7
    assert secret not in "".join(found)


def test_violations_come_in_the_order_of_the_wire() -> None:
    script = Script().exchange(request("execute")).exchange(request("tools/call"))
    found = violations(script.log(), HANDSHAKE)
    assert [(each.exchange, each.method) for each in found] == [
        (1, "execute"),
        (2, "tools/call"),
    ]
