"""What an exchange says of the answer, and that it can be stored."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from mcpconf.decode import Reader, parse_json
from mcpconf.errors import DecodeError
from mcpconf.server.exchange import Exchange, Form, How, Received
from mcpconf.storage import json_bytes

if TYPE_CHECKING:
    from mcpconf.decode import Json


def exchange(*messages: Json, sent: Json = None, status: int = 200) -> Exchange:
    return Exchange(
        label="one",
        t0_ms=1.5,
        t1_ms=2.0,
        method="POST",
        sent_headers={"accept": "application/json"},
        sent={"jsonrpc": "2.0", "id": 1, "method": "m"} if sent is None else sent,
        status=status,
        headers={"content-type": "application/json"},
        form=Form.JSON,
        received=tuple(Received(t_ms=1.75, message=each) for each in messages),
        text=None,
        how=How.COMPLETE,
        problem=None,
    )


def test_response_is_the_one_with_the_id_that_was_sent() -> None:
    other: Json = {"id": 2, "result": {"of": "another"}}
    request: Json = {"id": 1, "method": "a request of the server"}
    wanted: Json = {"id": 1, "result": {"of": "ours"}}
    one = exchange(other, request, [wanted], wanted)
    assert one.response() == wanted
    assert one.result == {"of": "ours"}
    assert one.error is None


@pytest.mark.parametrize("given", ["1", 1.0, True, None])
def test_id_of_another_type_is_another_id(given: Json) -> None:
    assert exchange({"id": given, "result": {}}).response() is None


def test_null_is_no_id_that_is_answered_by_an_absent_one() -> None:
    assert exchange({"result": {}}, sent={"id": None}).response() is None


def test_text_that_was_sent_has_no_response() -> None:
    assert exchange({"id": 1, "result": {}}, sent="{").response() is None


def test_error_tells_its_code() -> None:
    one = exchange({"id": 1, "error": {"code": -32602, "message": "no"}})
    assert one.error == {"code": -32602, "message": "no"}
    assert one.error_code == -32602
    assert one.result is None


@pytest.mark.parametrize("code", [True, "-32602", 1.5, None])
def test_code_that_is_no_integer_is_none(code: Json) -> None:
    assert exchange({"id": 1, "error": {"code": code}}).error_code is None


@pytest.mark.parametrize("message", [{}, {"id": None}])
def test_error_without_id_counts_where_http_refuses(message: dict[str, Json]) -> None:
    """Whoever refuses by a header may not have read the body."""
    error: Json = {**message, "error": {"code": -32020}}
    assert exchange(error, status=400).error_code == -32020
    assert exchange(error, status=400).response() is None
    assert exchange(error, status=200).error_code is None
    stream = replace(exchange(error, status=400), form=Form.SSE)
    assert stream.error_code is None


def test_error_with_another_id_never_counts() -> None:
    assert exchange({"id": 7, "error": {"code": -32020}}, status=400).error is None


@pytest.mark.parametrize("value", [None, 1, [], "x"])
def test_result_that_is_no_object_is_none(value: Json) -> None:
    one = exchange({"id": 1, "result": value, "error": value})
    assert one.result is None
    assert one.error is None


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(exchange({"id": 1, "result": {"ü": ["\ud800", 1.5]}}), id="json"),
        pytest.param(
            replace(
                exchange(),
                status=None,
                form=Form.NONE,
                how=How.REFUSED,
                problem="no connection",
                text="x",
                sent="{",
            ),
            id="nothing",
        ),
    ],
)
def test_exchange_is_stored_and_read_back(one: Exchange) -> None:
    stored = parse_json(json_bytes(one.to_json()), "stored")
    assert Exchange.from_json(Reader(stored, "stored")) == one


def test_unknown_key_is_refused() -> None:
    stored = {**exchange().to_json(), "extra": 1}
    with pytest.raises(DecodeError, match="unknown key extra"):
        Exchange.from_json(Reader(stored, "stored"))


def test_unknown_end_is_refused() -> None:
    stored = {**exchange().to_json(), "how": "well"}
    with pytest.raises(DecodeError, match="unknown word 'well'"):
        Exchange.from_json(Reader(stored, "stored"))
