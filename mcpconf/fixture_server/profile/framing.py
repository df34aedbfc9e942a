"""
Answers on an event stream, spelled in every way that the WHATWG's page allows.

Each profile adds one tool, named after it, whose answer comes on a stream whatever the
client would rather have; only that answer is framed oddly. See
https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpconf.fixture_server.admission import encode
from mcpconf.fixture_server.profile.own_tool import OwnTool
from mcpconf.fixture_server.sse_writer import PIECE_BYTES, event
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.profile.base import Profile

_COMMENT = b": " + b"-" * 1021 + b"\n"


class Framed(OwnTool):
    """One tool whose answer is put on the stream in this profile's way."""

    transports = frozenset({Transport.HTTP})
    text = "framed"

    def opens_stream(self, call: Call) -> bool:
        """Only for our tool."""
        return self.is_ours(call)

    def frame(self, call: Call, text: str) -> Iterable[bytes] | None:
        """Only what our tool answers."""
        return self.pieces(text) if self.is_ours(call) else None

    def pieces(self, text: str) -> Iterable[bytes]:
        """The bytes of one message, in the pieces in which they are written."""
        return (event(text.encode()),)


class LineEndsCr(Framed):
    """Bare carriage returns."""

    name, title = "sse-cr", "lines end with CR"

    def pieces(self, text: str) -> Iterable[bytes]:
        """One event."""
        return (event(text.encode()).replace(b"\n", b"\r"),)


class LineEndsCrlf(Framed):
    """Carriage return and line feed."""

    name, title = "sse-crlf", "lines end with CR LF"

    def pieces(self, text: str) -> Iterable[bytes]:
        """One event."""
        return (event(text.encode()).replace(b"\n", b"\r\n"),)


class Comments(Framed):
    """Comments round the data of an event."""

    name, title = "sse-comments", "comments before and after an event's data"

    def pieces(self, text: str) -> Iterable[bytes]:
        """One event."""
        yield b": before\n:\ndata: " + text.encode() + b"\n: after\n\n"


class EmptyBlocks(Framed):
    """Blocks that are no events, since they have no data."""

    name, title = "sse-empty-blocks", "blocks of comments alone come before the event"

    def pieces(self, text: str) -> Iterable[bytes]:
        """Two blocks of nothing, and the event."""
        yield b": keep-alive\n\n"
        yield b"\n:\n\n"
        yield event(text.encode())


class MultiLine(Framed):
    """A message with line ends between its tokens."""

    name, title = "sse-multi-line", "the message is spread over several data lines"

    def pieces(self, text: str) -> Iterable[bytes]:
        """One event with a data line for every line of the indented message."""
        lines = json.dumps(json.loads(text), ensure_ascii=False, indent=1).split("\n")
        yield "".join(f"data: {line}\n" for line in lines).encode() + b"\n"


class Fields(Framed):
    """The three other fields."""

    name, title = "sse-fields", "event, id and retry stand beside the data"

    def pieces(self, text: str) -> Iterable[bytes]:
        """One event of the type that is the default anyway."""
        yield b"event: message\nid: 7\nretry: 3000\n" + event(text.encode())


class Priming(Framed):
    """An event with an id and empty data, as 2025-11-25 has streams begin."""

    name, title = "sse-priming", "an event with an id and empty data comes first"

    def pieces(self, text: str) -> Iterable[bytes]:
        """That event, and the one with the message."""
        yield b"id: 0\ndata:\n\n"
        yield event(text.encode())


class UnknownFields(Framed):
    """Fields that nobody knows."""

    name, title = "sse-unknown-fields", "fields without a meaning stand beside the data"

    def pieces(self, text: str) -> Iterable[bytes]:
        """One event; the names of fields are in small letters."""
        yield b"DATA: shout\nother: 1\n" + event(text.encode())


class NoColon(Framed):
    """A line that is a field's name and nothing else."""

    name, title = "sse-no-colon", "a field has no colon and no value"

    def pieces(self, text: str) -> Iterable[bytes]:
        """One event; the line means that its id is empty."""
        yield b"id\n" + event(text.encode())


class NoSpace(Framed):
    """No space after the colon."""

    name, title = "sse-no-space", "no space after the colon"

    def pieces(self, text: str) -> Iterable[bytes]:
        """One event."""
        yield b"data:" + text.encode() + b"\n\n"


class ByteOrderMark(Framed):
    """A byte order mark at the beginning of the stream."""

    name, title = "sse-bom", "the stream begins with a byte order mark"

    def pieces(self, text: str) -> Iterable[bytes]:
        """One event."""
        yield b"\xef\xbb\xbf" + event(text.encode())


class Bytewise(Framed):
    """Every byte by itself."""

    name, title = "sse-bytewise", "every byte is written by itself"

    def pieces(self, text: str) -> Iterable[bytes]:
        """One event, byte by byte."""
        whole = event(text.encode())
        return (whole[at : at + 1] for at in range(len(whole)))


class SplitCharacter(Framed):
    """A character cut in two."""

    name, title = "sse-split-character", "a character is split over two writes"
    text = "nihongo 日本語"

    def pieces(self, text: str) -> Iterable[bytes]:
        """One event, cut after the first byte of its first long character."""
        whole = event(text.encode())
        cut = next(at for at, each in enumerate(whole) if each > 0x7F) + 1  # noqa: PLR2004 (ASCII)
        return (whole[:cut], whole[cut:])


class Separators(Framed):
    """Characters that end lines elsewhere, but not here."""

    name = "sse-separators"
    title = "the message has U+0085, U+2028 and U+2029 in it, as they are"
    text = "one\u0085two\u2028three\u2029four"


class CommentFlood(Framed):
    """More comment than any event may be long."""

    name, title = "sse-comment-flood", "a flood of comments comes before the event"

    def pieces(self, text: str) -> Iterator[bytes]:
        """`Limits.comment_bytes` of comment lines, and the event."""
        per_piece = PIECE_BYTES // len(_COMMENT)
        for _ in range(-(-self.limits.comment_bytes // (per_piece * len(_COMMENT)))):
            yield _COMMENT * per_piece
        yield event(text.encode())


class LongEvent(Framed):
    """One event that is longer than a client need hold."""

    name, title = "sse-long-event", "one event is very long"

    def pieces(self, text: str) -> Iterator[bytes]:
        """One event of `Limits.event_bytes`, nearly all of it spaces in the JSON."""
        yield b"data: {"
        left = self.limits.event_bytes
        while left > 0:
            yield b" " * min(left, PIECE_BYTES)
            left -= PIECE_BYTES
        yield text[1:].encode() + b"\n\n"


class CutEvent(OwnTool):
    """The connection breaks in the middle of an event."""

    name, title = "sse-cut", "the connection breaks inside an event"
    transports = frozenset({Transport.HTTP})

    async def serve(self, call: Call) -> None:
        """Send the first half of the event, and close the connection."""
        whole = event(encode(self.response(call)))
        await call.raw(whole[: len(whole) // 2])
        await call.cut()


class UnfinishedEvent(OwnTool):
    """The stream ends in good order before the empty line that ends its event."""

    name, title = "sse-unfinished", "the stream ends before its only event does"
    transports = frozenset({Transport.HTTP})
    text = "must not be dispatched"

    async def serve(self, call: Call) -> None:
        """Send the event but for its last line end."""
        await call.raw(event(encode(self.response(call))).removesuffix(b"\n"))
        await call.finish()


class NoAnswer(OwnTool):
    """The stream ends, and there was no response on it."""

    name, title = "sse-no-answer", "the stream ends without a response"
    transports = frozenset({Transport.HTTP})

    async def serve(self, call: Call) -> None:
        """Open a stream and end it."""
        await call.finish()


class TwoAnswers(OwnTool):
    """Two responses to one request, which say different things."""

    name, title = "sse-two-answers", "a second response follows on the same stream"
    transports = frozenset({Transport.HTTP})

    async def serve(self, call: Call) -> None:
        """Answer ``first``, then ``second`` under the same id."""
        await call.send(self.response(call, "first"))
        await call.respond(self.response(call, "second"))


FRAMINGS = (
    LineEndsCr,
    LineEndsCrlf,
    Comments,
    EmptyBlocks,
    MultiLine,
    Fields,
    Priming,
    UnknownFields,
    NoColon,
    NoSpace,
    ByteOrderMark,
    Bytewise,
    SplitCharacter,
    Separators,
)
PROFILES: tuple[type[Profile], ...] = (
    *FRAMINGS,
    CommentFlood,
    LongEvent,
    CutEvent,
    UnfinishedEvent,
    NoAnswer,
    TwoAnswers,
)
