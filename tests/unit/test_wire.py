"""The witness's log is decoded strictly, and its questions are answered from it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from wire_script import (
    Script,
    error,
    event,
    initialize,
    notification,
    request,
    result,
    stateless,
)

from mcpconf.client.browser import USER_AGENT
from mcpconf.errors import DecodeError
from mcpconf.wire import (
    DRIVER_AGENT,
    Ended,
    Kind,
    Side,
    client_exchanges,
    is_live,
    messages,
    parse_wire,
    revisions_of,
    silence_of,
)

DRIVER = {"user-agent": DRIVER_AGENT}


# --- The log ------------------------------------------------------------------


def test_log_becomes_exchanges() -> None:
    log = (
        Script()
        .listen(7)
        .exchange(
            {"a": 1},
            {"b": 2},
            port=7,
            url="/x?y",
            headers={"accept": ["p", "q"]},
            response_headers={"x": "z"},
        )
        .log()
    )
    (exchange,) = log.exchanges
    assert (exchange.id, exchange.port) == (1, 7)
    assert (exchange.method, exchange.url) == ("POST", "/x?y")
    assert exchange.request_headers["accept"] == ("p", "q")
    assert exchange.request_header("accept") == "p"
    assert exchange.request_header("missing") is None
    assert exchange.request_body == '{"a": 1}'
    assert exchange.request_whole
    assert not exchange.aborted
    assert (exchange.status, exchange.response_header("x")) == (200, "z")
    assert (exchange.response_body, exchange.ended) == ('{"b": 2}', Ended.FINISHED)
    assert (exchange.started_ms, exchange.answered_ms, exchange.ended_ms) == (2, 3, 4)
    assert log.ports == {7}
    assert not log.truncated


def test_exchange_that_was_not_answered_has_no_status() -> None:
    (exchange,) = Script().exchange(status=None, ended=None).log().exchanges
    assert (exchange.status, exchange.response_body, exchange.ended) == (None,) * 3
    assert (exchange.answered_ms, exchange.ended_ms) == (None, None)


def test_exchanges_are_in_the_order_of_their_requests() -> None:
    """A slow upload is complete after a quick request that began later."""
    script = Script().exchange(url="/slow").exchange(url="/quick")
    script.records[0]["t"] = 99.0
    assert [each.url for each in script.log().exchanges] == ["/quick", "/slow"]


def test_records_of_an_exchange_may_come_in_any_order() -> None:
    """A server that does not wait for the body answers before the request is whole."""
    script = Script().exchange({"a": 1}, {"b": 2})
    script.records.reverse()
    (exchange,) = script.log().exchanges
    assert (exchange.request_body, exchange.response_body) == ('{"a": 1}', '{"b": 2}')


def test_answer_whose_request_was_never_complete_is_left_out() -> None:
    script = Script().exchange(url="/whole").exchange(url="/cut")
    del script.records[3]
    assert [each.url for each in script.log().exchanges] == ["/whole"]


def test_empty_log_is_a_log() -> None:
    for nothing in ("", b"", "\n"[:0]):
        log = parse_wire(nothing, "wire.jsonl")
        assert (log.exchanges, log.ports, log.truncated) == ((), frozenset(), False)


@pytest.mark.parametrize("end", ["", "\n"], ids=["cut", "cut and closed"])
@pytest.mark.parametrize("kept", [1, 40])
def test_torn_last_line_is_dropped_and_said(end: str, kept: int) -> None:
    """A killed suite leaves it; whoever stores the log may end the line."""
    whole = Script().exchange({"a": 1}, {"b": 2}).text()
    torn = whole + Script().exchange().text()[:kept] + end
    for content in (torn, torn.encode()):
        log = parse_wire(content, "wire.jsonl")
        assert log.truncated
        assert len(log.exchanges) == 1


def test_line_torn_inside_a_character_is_dropped() -> None:
    content = Script().exchange().text().encode() + '{"body":"\u20ac'.encode()[:-1]
    assert parse_wire(content, "wire.jsonl").truncated


def test_last_line_without_its_end_is_kept_where_it_is_whole() -> None:
    log = parse_wire(Script().exchange().text().removesuffix("\n"), "wire.jsonl")
    assert (len(log.exchanges), log.truncated) == (1, False)


def test_line_separators_inside_a_body_tear_nothing() -> None:
    script = Script().exchange("a\u2028b\x85c")
    text = "\n".join(json.dumps(each, ensure_ascii=False) for each in script.records)
    assert parse_wire(text, "wire.jsonl").exchanges[0].request_body == "a\u2028b\x85c"


def changed(**members: object) -> str:
    """A log whose first record has other members; `...` takes one away."""
    script = Script().exchange({"a": 1}, {"b": 2})
    first = {**script.records[0], **members}
    script.records[0] = {key: value for key, value in first.items() if value is not ...}
    return script.text()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("{\n" + changed(), "line 1: ", id="torn line before the end"),
        pytest.param("\n" + changed(), "line 1: ", id="empty line"),
        pytest.param("[]\n", "line 1: expected an object", id="no object"),
        pytest.param(changed(type=...), "line 1.type: is missing", id="no type"),
        pytest.param(changed(type="x"), "line 1.type: is no record", id="other type"),
        pytest.param(changed(id="1"), "line 1.id: expected an integer", id="id"),
        pytest.param(changed(body=...), "line 1.body: is missing", id="no body"),
        pytest.param(changed(t="1"), "line 1.t: expected a number", id="time"),
        pytest.param(changed(more=1), "line 1: unknown key more", id="unknown key"),
        pytest.param(
            changed(headers={"a": [1]}),
            "line 1.headers.a[0]: expected a string",
            id="header",
        ),
        pytest.param(changed() * 2, "line 4.id: has a second request", id="twice"),
        pytest.param(
            '{"type":"listen","t":1,"port":"1"}\n',
            "line 1.port: expected an integer",
            id="port",
        ),
        pytest.param(
            Script().exchange({}, {}, ended="gone").text(),
            "line 3.ended: is no way",
            id="ending",
        ),
    ],
)
def test_line_that_the_witness_did_not_write_is_refused(
    text: str, complaint: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        parse_wire(text, "wire.jsonl")
    assert str(caught.value).startswith(f"wire.jsonl: {complaint}")


# --- Liveness -----------------------------------------------------------------


def test_driver_and_wire_agree_on_the_drivers_name() -> None:
    assert DRIVER_AGENT == USER_AGENT


def test_driver_alone_is_no_sign_of_life() -> None:
    """It plays the browser; a client that does nothing must not pass by it."""
    log = Script().listen().exchange(method="GET", headers=DRIVER).log()
    assert log.exchanges[0].driver
    assert not is_live(log)
    assert client_exchanges(log) == ()


def test_any_request_of_the_client_is_a_sign_of_life() -> None:
    log = Script().exchange(method="GET", headers=DRIVER).exchange(url="/any").log()
    assert is_live(log)
    assert [each.url for each in client_exchanges(log)] == ["/any"]


def test_nothing_at_all_is_no_sign_of_life() -> None:
    assert not is_live(Script().listen().log())


# --- Messages -----------------------------------------------------------------


def seen(script: Script) -> list[tuple[str, str, str | None, Any]]:
    return [
        (each.direction.value, each.kind.value, each.method, each.id)
        for each in messages(script.log())
    ]


@pytest.mark.parametrize(
    ("body", "kinds"),
    [
        pytest.param(request("a"), [(Kind.REQUEST, "a", 1)], id="request"),
        pytest.param(
            {"jsonrpc": "2.0", "id": None, "method": "a"},
            [(Kind.REQUEST, "a", None)],
            id="null id",
        ),
        pytest.param(
            notification("a"), [(Kind.NOTIFICATION, "a", None)], id="notification"
        ),
        pytest.param(result(3), [(Kind.RESPONSE, None, 3)], id="response"),
        pytest.param(error("x"), [(Kind.ERROR, None, "x")], id="error"),
        pytest.param({"jsonrpc": "2.0"}, [(Kind.INVALID, None, None)], id="invalid"),
        pytest.param(
            {"jsonrpc": "2.0", "method": 5}, [(Kind.INVALID, None, None)], id="number"
        ),
        pytest.param(
            {"method": "a"}, [(Kind.NOTIFICATION, "a", None)], id="no jsonrpc"
        ),
        pytest.param(
            [request("a", 1), notification("b"), 7],
            [(Kind.REQUEST, "a", 1), (Kind.NOTIFICATION, "b", None)],
            id="batch",
        ),
        pytest.param({"error": "invalid_grant"}, [], id="OAuth error"),
        pytest.param({"redirect_uris": [], "client_name": "x"}, [], id="registration"),
        pytest.param("grant_type=authorization_code", [], id="form"),
        pytest.param("{", [], id="no JSON"),
        pytest.param('{"method":"a","id":NaN}', [], id="NaN"),
        pytest.param("[" * 100_000, [], id="too deep"),
        pytest.param('"text"', [], id="no object"),
        pytest.param("", [], id="empty"),
    ],
)
def test_request_body_gives_its_messages(
    body: object, kinds: list[tuple[Kind, str | None, Any]]
) -> None:
    found = messages(Script().exchange(body).log())
    assert [(each.kind, each.method, each.id) for each in found] == kinds
    assert {each.direction for each in found} <= {Side.CLIENT}
    assert all(each.batched is isinstance(body, list) for each in found)


def test_messages_come_exchange_by_exchange() -> None:
    script = (
        Script()
        .exchange(request("a", 1), result(1))
        .exchange(method="GET", url="/authorize", headers=DRIVER)
        .exchange(
            request("b", 2),
            event(notification("n")) + event(request("s", 9)) + event(result(2)),
        )
        .exchange(result(9), status=202)
    )
    assert seen(script) == [
        ("client", "request", "a", 1),
        ("server", "response", None, 1),
        ("client", "request", "b", 2),
        ("server", "notification", "n", None),
        ("server", "request", "s", 9),
        ("server", "response", None, 2),
        ("client", "response", None, 9),
    ]


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(Script().exchange(request("a"), truncated=True), id="too long"),
        pytest.param(Script().exchange(request("a"), aborted=True), id="aborted"),
        pytest.param(
            Script().exchange(answer="event: endpoint\n" + event(result(1))),
            id="other event",
        ),
        pytest.param(
            Script().exchange(answer=event(result(1)).removesuffix("\n")),
            id="cut stream",
        ),
        pytest.param(
            Script().exchange(
                answer=result(1), response_headers={"content-type": "text/html"}
            ),
            id="no JSON by its type",
        ),
    ],
)
def test_what_is_no_whole_message_is_none(script: Script) -> None:
    assert seen(script) == []


# --- Revisions ----------------------------------------------------------------


def settled(version: str, number: float = 1) -> dict[str, Any]:
    return result(number, protocolVersion=version, capabilities={})


@pytest.mark.parametrize(
    ("script", "offered", "agreed"),
    [
        pytest.param(
            Script().exchange(initialize("2025-06-18"), settled("2025-11-25")),
            ["2025-06-18"],
            ["2025-11-25"],
            id="server counters",
        ),
        pytest.param(
            Script().exchange(initialize("2025-06-18"), event(settled("2025-06-18"))),
            ["2025-06-18"],
            ["2025-06-18"],
            id="on a stream",
        ),
        pytest.param(
            Script().exchange(initialize("2025-06-18"), error(), status=400),
            ["2025-06-18"],
            [],
            id="refused",
        ),
        pytest.param(
            Script().exchange(initialize("2025-06-18"), status=None),
            ["2025-06-18"],
            [],
            id="unanswered",
        ),
        pytest.param(
            Script().exchange(initialize("2025-06-18"), settled("2025-11-25", 2)),
            ["2025-06-18"],
            [],
            id="answer to another id",
        ),
        pytest.param(
            Script().exchange(initialize("2025-06-18"), settled("2025-11-25", 1.0)),
            ["2025-06-18"],
            [],
            id="1.0 is not 1",
        ),
        pytest.param(
            Script().exchange(stateless("tools/list"), result(1, tools=[])),
            ["2026-07-28"],
            ["2026-07-28"],
            id="stateless",
        ),
        pytest.param(
            Script().exchange(stateless("tools/list"), error(1, -32022), status=400),
            ["2026-07-28"],
            [],
            id="stateless, refused",
        ),
        pytest.param(
            Script()
            .exchange(stateless("server/discover"), error(), status=404)
            .exchange(initialize("2025-11-25", 2), settled("2025-11-25", 2))
            .exchange(initialize("2025-11-25", 3), settled("2025-11-25", 3)),
            ["2026-07-28", "2025-11-25"],
            ["2025-11-25"],
            id="falls back, twice",
        ),
        pytest.param(
            Script().exchange(
                method="GET", headers={"mcp-protocol-version": "2024-11-05"}
            ),
            ["2024-11-05"],
            [],
            id="header alone",
        ),
        pytest.param(
            Script()
            .exchange(method="GET", headers={"mcp-protocol-version": "2024-11-05"})
            .exchange(initialize("2025-06-18"), settled("2025-06-18")),
            ["2025-06-18"],
            ["2025-06-18"],
            id="header beside a message",
        ),
        pytest.param(
            Script().exchange(
                method="GET",
                headers={**DRIVER, "mcp-protocol-version": "2025-11-25"},
            ),
            ["2025-11-25"],
            [],
            id="a client's header under the driver's name",
        ),
        pytest.param(
            Script().exchange(request("initialize", protocolVersion=5)),
            [],
            [],
            id="no text",
        ),
        pytest.param(
            Script().exchange(request("tools/call", protocolVersion="2025-06-18")),
            [],
            [],
            id="other method",
        ),
        pytest.param(Script().listen(), [], [], id="nothing"),
    ],
)
def test_revisions_are_those_of_the_wire(
    script: Script, offered: list[str], agreed: list[str]
) -> None:
    found = revisions_of(script.log())
    assert (list(found.offered), list(found.agreed)) == (offered, agreed)


def test_answer_may_come_on_a_later_stream_of_the_same_server() -> None:
    """A stream that broke is taken up with a GET; its answers come there."""
    script = (
        Script()
        .exchange(initialize("2025-11-25"), "data: \n\n", ended="closed")
        .exchange(method="GET", answer=event(settled("2025-11-25")))
    )
    assert revisions_of(script.log()).agreed == ("2025-11-25",)
    other = Script().exchange(initialize("2025-11-25"), "data: \n\n", ended="closed")
    other.exchange(method="GET", answer=event(settled("2025-11-25")), port=2)
    assert revisions_of(other.log()).agreed == ()


def test_answer_beside_its_own_request_answers_no_other() -> None:
    """Each session numbers its requests anew."""
    script = (
        Script()
        .exchange(initialize("2025-06-18"), status=500)
        .exchange(initialize("2025-11-25"), settled("2025-11-25"))
    )
    found = revisions_of(script.log())
    assert found.agreed == ("2025-11-25",)
    waiting = Script().exchange(request("a"), "", ended="open")
    waiting.exchange(request("b"), result(1))
    silence = silence_of(waiting.log())
    assert silence is not None
    assert (silence.side, silence.exchange) == (Side.SERVER, 1)


# --- Silence ------------------------------------------------------------------

TITLE = "POST /mcp (tools/call)"
CALL = request("tools/call", 2, name="x")
ELICIT = request("elicitation/create", 9, message="?")


@pytest.mark.parametrize(
    ("script", "side", "exchange", "description"),
    [
        pytest.param(
            Script().listen(),
            Side.CLIENT,
            None,
            "the client sent nothing to the server that was listening",
            id="nothing was sent",
        ),
        pytest.param(
            Script().listen().exchange(method="GET", headers=DRIVER),
            Side.CLIENT,
            None,
            "the client sent nothing to the server that was listening",
            id="only the driver was there",
        ),
        pytest.param(
            Script().exchange(CALL, status=None, ended="open", url="/mcp?token=x"),
            Side.SERVER,
            1,
            f"{TITLE} was never answered by the server",
            id="no head",
        ),
        pytest.param(
            Script().exchange(CALL, status=None, ended=None),
            Side.SERVER,
            1,
            f"{TITLE} was never answered by the server",
            id="the log stops",
        ),
        pytest.param(
            Script().exchange(CALL, status=None, ended="closed"),
            Side.SERVER,
            1,
            f"{TITLE} was never answered by the server",
            id="the client was killed over it",
        ),
        pytest.param(
            Script()
            .exchange(CALL, status=None, ended="closed")
            .exchange(request("ping", 3), result(3)),
            Side.CLIENT,
            2,
            "POST /mcp (ping) was answered with 200; the client sent nothing more",
            id="the client gave up and went on",
        ),
        pytest.param(
            Script().exchange(CALL, event(notification("n")), ended="open"),
            Side.SERVER,
            1,
            f"{TITLE} got 200 and no answer after it",
            id="stream without the answer",
        ),
        pytest.param(
            Script().exchange(CALL, ended="open"),
            Side.SERVER,
            1,
            f"{TITLE} got 200 and no answer after it",
            id="head without a body",
        ),
        pytest.param(
            Script()
            .exchange(CALL, event(ELICIT), ended="open")
            .exchange(method="GET", answer="", ended="open"),
            Side.CLIENT,
            1,
            "the client did not answer the server's elicitation/create",
            id="the server waits for the client",
        ),
        pytest.param(
            Script()
            .exchange(CALL, event(ELICIT), ended="open")
            .exchange(result(9, action="accept"), status=202),
            Side.SERVER,
            1,
            f"{TITLE} got 200 and no answer after it",
            id="the client answered",
        ),
        pytest.param(
            Script()
            .exchange(CALL, event(ELICIT), ended="open")
            .exchange(error(9), status=202),
            Side.SERVER,
            1,
            f"{TITLE} got 200 and no answer after it",
            id="the client declined",
        ),
        pytest.param(
            Script()
            .exchange(CALL, event(result(2)), ended="open")
            .exchange(method="GET", answer="", ended="open"),
            Side.CLIENT,
            2,
            "GET /mcp was answered with 200; the client sent nothing more",
            id="streams that only stand",
        ),
        pytest.param(
            Script().exchange(stateless("subscriptions/listen"), "", ended="open"),
            Side.CLIENT,
            1,
            "POST /mcp (subscriptions/listen) was answered with 200;"
            " the client sent nothing more",
            id="a subscription",
        ),
        pytest.param(
            Script().exchange(CALL, result(2), ended="open"),
            Side.CLIENT,
            1,
            f"{TITLE} was answered with 200; the client sent nothing more",
            id="answered as the suite ended",
        ),
        pytest.param(
            Script().exchange(CALL, "data: \n\n"),
            Side.CLIENT,
            1,
            f"{TITLE} was answered with 200; the client sent nothing more",
            id="the client has to take up the stream",
        ),
        pytest.param(
            Script().exchange(CALL, status=401),
            Side.CLIENT,
            1,
            f"{TITLE} was answered with 401; the client sent nothing more",
            id="refused",
        ),
        pytest.param(
            Script().exchange(CALL, status=None, ended=None, aborted=True),
            Side.CLIENT,
            1,
            "the client broke off POST /mcp in its body",
            id="aborted",
        ),
        pytest.param(
            Script()
            .exchange(CALL, status=None, ended="open")
            .exchange(request("ping", 3), status=None, ended="open"),
            Side.SERVER,
            2,
            "POST /mcp (ping) was never answered by the server",
            id="the later of two",
        ),
        pytest.param(
            Script().exchange("grant_type=x", url="/token", status=None, ended="open"),
            Side.SERVER,
            1,
            "POST /token was never answered by the server",
            id="OAuth",
        ),
    ],
)
def test_silence_is_of_the_side_that_owed_the_next_message(
    script: Script, side: Side, exchange: int | None, description: str
) -> None:
    silence = silence_of(script.log())
    assert silence is not None
    assert (silence.side, silence.exchange) == (side, exchange)
    assert silence.description == description


def test_answer_beyond_what_was_kept_is_no_debt() -> None:
    script = Script().exchange(CALL, event(notification("n")), ended="open")
    script.records[-1]["truncated"] = True
    silence = silence_of(script.log())
    assert silence is not None
    assert silence.side is Side.CLIENT


def test_nobody_owes_anything_where_nothing_listened() -> None:
    assert silence_of(Script().log()) is None


def test_content_type_is_read_without_its_parameters() -> None:
    script = Script().exchange(
        CALL,
        result(2),
        response_headers={"content-type": "Application/JSON; charset=utf-8"},
    )
    assert [each.kind for each in messages(script.log())] == [
        Kind.REQUEST,
        Kind.RESPONSE,
    ]
