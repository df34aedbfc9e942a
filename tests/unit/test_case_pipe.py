"""What the runner keeps of the witness's words, and how it says that it cut them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from mcpconf.case import wire_of
from mcpconf.drain import Drain
from mcpconf.wire import parse_wire

if TYPE_CHECKING:
    from collections.abc import Callable

LINE = b'{"type":"listen","t":1,"port":1}\n'


@pytest.mark.parametrize(
    ("room", "is_cut"),
    [
        (lambda length: 2 * length, False),
        (lambda length: length, True),  # just behind a whole line
        (lambda length: length + 5, True),
    ],
)
def test_a_log_that_was_cut_is_torn_wherever_it_was_cut(
    room: Callable[[int], int], *, is_cut: bool
) -> None:
    pipe = Drain(room(len(LINE)))
    os.write(pipe.write, 2 * LINE)
    assert parse_wire(wire_of(pipe), "wire.jsonl").truncated is is_cut
