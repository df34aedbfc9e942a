"""One message as a server-sent event, and how bytes are cut up to be written."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

EVENT_STREAM = "text/event-stream"
#: ``X-Accel-Buffering`` keeps a proxy from holding events back (specification,
#: "Streamable HTTP").
STREAM_HEADERS = (
    ("Content-Type", EVENT_STREAM),
    ("Cache-Control", "no-cache"),
    ("X-Accel-Buffering", "no"),
)
KEEP_ALIVE = b": keep-alive\n\n"
#: The most that is handed to a connection at once; then its buffer must drain.
PIECE_BYTES = 64 * 1024


def event(data: bytes) -> bytes:
    """The event whose data is `data`, which has no line end."""
    return b"data: " + data + b"\n\n"


def pieces(data: bytes) -> Iterator[bytes]:
    """`data` in pieces of at most `PIECE_BYTES`, none of them empty."""
    if len(data) <= PIECE_BYTES:
        if data:
            yield data
        return
    view = memoryview(data)
    for start in range(0, len(data), PIECE_BYTES):
        yield bytes(view[start : start + PIECE_BYTES])
