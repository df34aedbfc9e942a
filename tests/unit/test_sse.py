"""Event streams, as the HTML standard reads them."""

from __future__ import annotations

import pytest

from mcpconf.sse import Event, parse_events


@pytest.mark.parametrize(
    ("text", "data"),
    [
        pytest.param("data: a\n\n", ["a"], id="line feeds"),
        pytest.param("data: a\r\rdata: b\r\r", ["a", "b"], id="carriage returns"),
        pytest.param("data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"], id="both"),
        pytest.param("data: a\n\r\ndata: b\r\n\r", ["a", "b"], id="mixed"),
        pytest.param("data:a\n\n", ["a"], id="no space"),
        pytest.param("data:  a\n\n", [" a"], id="only one space is taken"),
        pytest.param("data: a\ndata: b\n\n", ["a\nb"], id="several data lines"),
        pytest.param("data\n\n", [""], id="a field without a colon"),
        pytest.param(": ping\n\ndata: a\n: x\n\n", ["a"], id="comments"),
        pytest.param("id: 1\nretry: 5\n\n", [], id="no data, no event"),
        pytest.param("id: 1\ndata: a\nretry: 5\n\n", ["a"], id="other fields"),
        pytest.param("\ufeffdata: a\n\n", ["a"], id="byte order mark"),
        pytest.param("\ufeff\ufeffdata: a\n\n", [], id="only one of them"),
        pytest.param("data: a\n\ndata: b\n", ["a"], id="cut before the blank line"),
        pytest.param("data: a\n\ndata: b", ["a"], id="cut in a line"),
        pytest.param("data: a\n\n\n\n", ["a"], id="blank lines"),
        pytest.param("data: a\u2028b\x0bc\n\n", ["a\u2028b\x0bc"], id="no line ends"),
        pytest.param("Data: a\n data: b\n\n", [], id="names are exact"),
        pytest.param("data: a: b\n\n", ["a: b"], id="colon in the value"),
        pytest.param("", [], id="empty"),
    ],
)
def test_stream_gives_its_whole_events(text: str, data: list[str]) -> None:
    assert [event.data for event in parse_events(text)] == data


def test_event_name_holds_for_one_event() -> None:
    text = "event: endpoint\ndata: a\n\ndata: b\n\nevent: x\n\ndata: c\n\n"
    assert list(parse_events(text)) == [
        Event("endpoint", "a"),
        Event("message", "b"),
        Event("message", "c"),
    ]
