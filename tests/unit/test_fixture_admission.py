"""Bytes, lines and what is no message."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcpconf.fixture_server.admission import admit, encode, parse, refusal
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.lines import LineSplitter
from mcpconf.revision import Era

if TYPE_CHECKING:
    from fixture_call import Json


@pytest.mark.parametrize(
    ("raw", "code", "answered_id"),
    [
        (b"{", -32700, None),
        (b'{"a": NaN}', -32700, None),
        (b'{"a": 1e999}', -32700, None),
        (b'"\xff"', -32700, None),
        (b"[" * 5000 + b"]" * 5000, -32700, None),
        (b"[" * 120 + b"]" * 120, -32700, None),
        (b"[]", -32600, None),
        (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":7,"method":3}', -32600, 7),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":"x","method":"ping","params":[]}', -32602, "x"),
    ],
)
@pytest.mark.parametrize("era", Era)
def test_what_is_no_message_is_refused_under_its_own_id_or_none(
    raw: bytes, code: int, answered_id: Json, era: Era
) -> None:
    """Without an id that can be told, 2026-07-28 has none and the others null."""
    value = None
    with pytest.raises(RpcError) as caught:
        admit(value := parse(raw), era)
    assert (caught.value.code, caught.value.status) == (code, 400)
    answer = refusal(value, caught.value, era)
    assert answer is not None
    if answered_id is None and era is Era.STATELESS:
        assert "id" not in answer
    else:
        assert answer["id"] == answered_id


def test_a_notification_is_refused_in_silence() -> None:
    value = {"jsonrpc": "2.0", "method": "notifications/initialized", "params": []}
    with pytest.raises(RpcError) as caught:
        admit(value, Era.HANDSHAKE)
    assert refusal(value, caught.value, Era.HANDSHAKE) is None


def test_only_handshake_revisions_admit_responses() -> None:
    value = {"jsonrpc": "2.0", "id": "server-1", "result": {}}
    assert admit(value, Era.HANDSHAKE).kind == "response"
    with pytest.raises(RpcError) as caught:
        admit(value, Era.STATELESS)
    assert caught.value.code == -32600


def test_what_utf_8_cannot_hold_is_escaped() -> None:
    assert encode("é") == '"é"'.encode()
    assert encode("\ud800") == b'"\\ud800"'


def test_lines_come_whole_however_they_are_cut_and_bounded() -> None:
    splitter = LineSplitter(limit=4)
    chunks = (b"ab", b"c\n\nde", b"fgh", b"ij\nk")
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    assert lines == [(b"abc", True), (b"", True), (b"defg", False)]
    assert list(splitter.close()) == [(b"k", True)]
    assert list(splitter.close()) == []
