"""A stream read as it arrives gives the events of the stream as a whole."""

from __future__ import annotations

import pytest

from mcpconf.server.sse import EventReader
from mcpconf.sse import Event, parse_events

STREAMS = [
    "data: a\n\n",
    "data: a\r\rdata: b\r\r",
    "data: a\r\n\r\ndata: b\r\n\r\n",
    "data: a\n\r\ndata: b\r\n\r",
    "data: a\ndata: b\n\n",
    "data\n\n",
    ": ping\n\ndata: a\n: x\n\n",
    "id: 1\nretry: 5\n\nid: 2\ndata: a\nretry: x\n\n",
    "event: endpoint\ndata: a\n\ndata: b\n\nevent: x\n\ndata: c\n\n",
    "\ufeffdata: a\n\n",
    "\ufeff\ufeffdata: a\n\n",
    "data: a\n\ndata: b\n",
    "data: a\u2028b\x0bc\U0001f600\n\n",
    "\r\ndata: a\n\n\n\r",
]


@pytest.mark.parametrize("text", STREAMS)
def test_events_do_not_depend_on_how_the_bytes_come(text: str) -> None:
    whole = list(parse_events(text))
    content = text.encode()
    for size in range(1, len(content) + 1):
        reader = EventReader()
        found: list[Event] = []
        for start in range(0, len(content), size):
            found += reader.feed(content[start : start + size])
        assert found == whole


def test_event_is_there_with_its_empty_line() -> None:
    reader = EventReader()
    assert list(reader.feed(b"data: a\r")) == []
    assert list(reader.feed(b"\r")) == [Event("message", "a")]
    assert list(reader.feed(b"\ndata: b\n\n")) == [Event("message", "b")]


@pytest.mark.parametrize(
    ("text", "is_inside"),
    [
        (b"data: a\n\n", False),
        (b"data: a\n", True),
        (b"data: a", True),
        (b"id: 1\n", False),
        (b": comment", False),
        (b"", False),
    ],
)
def test_data_without_its_empty_line_is_an_event_cut_short(
    text: bytes, *, is_inside: bool
) -> None:
    reader = EventReader()
    list(reader.feed(text))
    assert reader.is_inside is is_inside


@pytest.mark.parametrize("size", [1, 2, 100])
def test_bytes_that_are_not_utf8_are_refused_after_what_was_before_them(
    size: int,
) -> None:
    reader = EventReader()
    content = "data: ü\n\ndata: ".encode() + b"\xff\n\n"
    found: list[Event] = []

    def feed_all() -> None:
        for start in range(0, len(content), size):
            for event in reader.feed(content[start : start + size]):
                found.append(event)  # noqa: PERF402 (extend keeps none on an error)

    with pytest.raises(UnicodeDecodeError):
        feed_all()
    assert found == [Event("message", "ü")]
