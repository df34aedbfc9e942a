"""Every framing means the message it was made of, and is not the usual one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from mcpconf.fixture_server.log import Log
from mcpconf.fixture_server.options import Limits, Options
from mcpconf.fixture_server.profile.framing import (
    FRAMINGS,
    Bytewise,
    CommentFlood,
    Framed,
    LongEvent,
    SplitCharacter,
)
from mcpconf.fixture_server.sse_writer import event
from mcpconf.revision import Revision
from mcpconf.supplemental.finding import Kind
from mcpconf.supplemental.observation import (
    Exchange,
    Observation,
    Seen,
    ServerView,
    StepResult,
    StepState,
)
from mcpconf.supplemental.scenarios.framing import ENDINGS
from mcpconf.transport import Transport

_ODD = (*FRAMINGS, CommentFlood, LongEvent)


def _profile(kind: type[Framed]) -> Framed:
    limits = Limits(comment_bytes=200_000, event_bytes=100_000)
    options = Options(
        revision=Revision.V2025_11_25, transport=Transport.HTTP, limits=limits
    )
    return kind(options, Log())


def _message(kind: type[Framed]) -> str:
    return json.dumps({"id": 1, "text": kind.text}, ensure_ascii=False)


def _events(stream: bytes) -> list[str]:
    """The data of events, read as the WHATWG's page has it: slowly, all at once."""
    text = stream.decode("utf-8-sig")
    found, data = [], None
    for line in re.split("\r\n|\n|\r", text):
        name, _, value = line.partition(":")
        if not line and data is not None:
            found.append(data)
        if not line:
            data = None
        elif name == "data":
            value = value.removeprefix(" ")
            data = value if data is None else f"{data}\n{value}"
    return found


@pytest.mark.parametrize("kind", _ODD, ids=lambda kind: kind.name)
def test_a_framing_means_the_message_it_was_made_of(kind: type[Framed]) -> None:
    """An odd framing is no fault of the server's."""
    message = _message(kind)
    found = [each for each in _events(b"".join(_profile(kind).pieces(message))) if each]
    assert [json.loads(each) for each in found] == [json.loads(message)]


@pytest.mark.parametrize("kind", _ODD, ids=lambda kind: kind.name)
def test_a_framing_is_not_the_usual_one(kind: type[Framed]) -> None:
    """A profile that changes nothing would let every client pass."""
    message = _message(kind)
    usual = event(json.dumps({"id": 1, "text": "framed"}).encode())
    assert tuple(_profile(kind).pieces(message)) != (usual,)


def test_every_byte_is_written_by_itself() -> None:
    """Cutting between lines alone would find nobody out."""
    pieces = tuple(_profile(Bytewise).pieces(_message(Bytewise)))
    assert {len(each) for each in pieces} == {1}


def test_the_cut_goes_through_a_character() -> None:
    """The first piece alone is not UTF-8."""
    first, _ = _profile(SplitCharacter).pieces(_message(SplitCharacter))
    with pytest.raises(UnicodeDecodeError):
        first.decode()


@pytest.mark.parametrize(
    ("kind", "least"), [(CommentFlood, 200_000), (LongEvent, 100_000)]
)
def test_a_flood_is_as_long_as_its_limit_and_never_whole(
    kind: type[Framed], least: int
) -> None:
    """It is made in pieces, so that the server's memory stays small."""
    sizes = [len(each) for each in _profile(kind).pieces(_message(kind))]
    assert sum(sizes) >= least
    assert max(sizes) <= 64 * 1024


def _step(state: StepState, text: str = "", **more: bool) -> StepResult:
    value = {"result": {"content": [{"type": "text", "text": text}], **more}}
    return StepResult(id="after-two-answers", verb="call", state=state, value=value)


@pytest.mark.parametrize(
    ("step", "session", "kind"),
    [
        pytest.param(
            _step(StepState.OK, "progress complete"), "a", Kind.HOLDS, id="own"
        ),
        pytest.param(
            _step(StepState.OK, "progress complete"),
            "b",
            Kind.UNOBSERVED,
            id="in-another-session",
        ),
        pytest.param(_step(StepState.OK, "second"), "a", Kind.BROKEN, id="another's"),
        pytest.param(_step(StepState.ERROR), "a", Kind.UNOBSERVED, id="error"),
        pytest.param(
            _step(StepState.OK, "lost", isError=True),
            "a",
            Kind.UNOBSERVED,
            id="error-result",
        ),
    ],
)
def test_a_wrong_answer_alone_breaks_the_rule_of_ids(
    step: StepResult, session: str, kind: Kind
) -> None:
    """An error is no answer of another request, and no merit either."""
    received = (
        _call(1, {"name": "sse_two_answers"}),
        _call(2, {"name": "progress", "arguments": {}}),
    )
    sent = replace(received[1], index=3, message={"id": 2, "result": {}})
    exchanges = tuple(
        Exchange(
            id=number,
            connection=number,
            t_ms=0.0,
            method="POST",
            target="/mcp",
            headers={"mcp-session-id": (name,)},
        )
        for number, name in ((1, "a"), (2, session))
    )
    subject = ServerView(received=received, sent=(sent,), exchanges=exchanges)
    seen = Observation(
        revision=Revision.V2025_11_25,
        transport=Transport.HTTP,
        subject=subject,
        control=ServerView(),
        steps={step.id: step},
    )
    check = next(
        e for e in ENDINGS.checks if e.id == "sse-next-call-has-its-own-answer"
    )
    assert check.look(seen).kind is kind


def _call(number: int, params: dict[str, Any]) -> Seen:
    return Seen(
        t_ms=0.0,
        pid=1,
        connection=number,
        exchange=number,
        index=number,
        bytes=0,
        sha256="",
        message={"id": number, "method": "tools/call", "params": params},
        text=None,
        cut=False,
    )
