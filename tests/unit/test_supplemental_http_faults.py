"""Looks at sessions and statuses, where no client of ours brings the case about."""

from __future__ import annotations

from typing import Any

import pytest

from mcpconf.revision import Revision
from mcpconf.supplemental.finding import Kind
from mcpconf.supplemental.observation import (
    Event,
    Exchange,
    Observation,
    Seen,
    ServerView,
    StepResult,
    StepState,
)
from mcpconf.supplemental.scenarios import http_looks as looks
from mcpconf.transport import Transport

NAME = "mcp-session-id"


def _exchange(number: int, method: str = "POST", **more: Any) -> Exchange:
    session, given = more.get("session"), more.get("given")
    answer = {NAME: (given,)} if given else {}
    return Exchange(
        id=number,
        connection=number,
        t_ms=float(number),
        method=method,
        target=more.get("target", "/mcp"),
        headers={NAME: (session,)} if session else {},
        status=more.get("status", 200),
        response_headers=answer | more.get("answer", {}),
    )


def _message(exchange: int, message: dict[str, Any], after: float = 0.0) -> Seen:
    return Seen(
        t_ms=exchange + after,
        pid=1,
        connection=exchange,
        exchange=exchange,
        index=int(10 * (exchange + after)),
        bytes=0,
        sha256="",
        message=message,
        text=None,
        cut=False,
    )


def _seen(
    *exchanges: Exchange,
    opening: tuple[int, ...] = (1,),
    steps: tuple[StepResult, ...] = (),
    received: tuple[Seen, ...] = (),
    sent: tuple[Seen, ...] = (),
) -> Observation:
    fault = {"profile": "session-dropped", "exchange": 2}
    initialize = {"id": 1, "method": "initialize"}
    return Observation(
        revision=Revision.V2025_11_25,
        transport=Transport.HTTP,
        subject=ServerView(
            received=(*(_message(each, initialize) for each in opening), *received),
            sent=sent,
            exchanges=exchanges,
            events=(Event(t_ms=2.0, pid=1, index=0, type="fault", value=fault),),
        ),
        control=ServerView(),
        steps={step.id: step for step in steps},
    )


OPENING = _exchange(1, given="a")
DROP = _exchange(2, session="a")
LOST = _exchange(3, session="a", status=404)


def _steps(text: str) -> tuple[StepResult, ...]:
    value = {"result": {"content": [{"type": "text", "text": text}]}}
    return (
        StepResult(id="connect", verb="connect", state=StepState.OK),
        StepResult(id="call", verb="call", state=StepState.OK, value=value),
    )


def _call(exchange: int, tool: str, arguments: dict[str, Any]) -> Seen:
    params = {"name": tool, "arguments": arguments}
    return _message(exchange, {"id": 9, "method": "tools/call", "params": params})


def _answer(exchange: int) -> Seen:
    return _message(exchange, {"id": 9, "result": {}}, after=0.5)


@pytest.mark.parametrize(
    ("exchanges", "opening", "kind"),
    [
        pytest.param((OPENING,), (1,), Kind.UNOBSERVED, id="no-404"),
        pytest.param((OPENING, DROP, LOST), (1,), Kind.BROKEN, id="nothing-follows"),
        pytest.param(
            (OPENING, DROP, LOST, _exchange(4, given="b")),
            (1, 4),
            Kind.HOLDS,
            id="anew",
        ),
        pytest.param(
            (OPENING, DROP, LOST, _exchange(4, session="a")),
            (1, 4),
            Kind.BROKEN,
            id="named",
        ),
        pytest.param(
            (_exchange(0, given="b"), OPENING, DROP, LOST),
            (0, 1),
            Kind.BROKEN,
            id="before",
        ),
        pytest.param(
            (OPENING, DROP, _exchange(3, session="x", status=404), _exchange(4)),
            (1, 4),
            Kind.UNOBSERVED,
            id="404-for-another-session",
        ),
    ],
)
def test_a_404_for_a_session_is_followed_by_a_new_opening(
    exchanges: tuple[Exchange, ...], opening: tuple[int, ...], kind: Kind
) -> None:
    """An opening before the 404 is not the one that is asked for."""
    assert looks.starts_anew(_seen(*exchanges, opening=opening)).kind is kind


@pytest.mark.parametrize(
    ("later", "kind"),
    [
        pytest.param((), Kind.UNOBSERVED, id="nothing-later"),
        pytest.param((_exchange(2, session="a"),), Kind.HOLDS, id="named"),
        pytest.param((_exchange(2, "DELETE"),), Kind.BROKEN, id="nameless"),
        pytest.param(
            (_exchange(2, session="a"), _exchange(3, target="/.well-known/x")),
            Kind.HOLDS,
            id="elsewhere",
        ),
    ],
)
def test_every_later_request_names_its_session(
    later: tuple[Exchange, ...], kind: Kind
) -> None:
    """What goes to another path is no request of the session."""
    assert looks.names_session(_seen(OPENING, *later)).kind is kind


def test_a_loop_is_found_even_where_it_ends_in_an_error() -> None:
    """The host sees an error; the server sees a storm."""
    step = StepResult(
        id="status-401",
        verb="call",
        state=StepState.ERROR,
        error_kind="transport",
        t0_ms=0.0,
        t1_ms=100.0,
    )
    storm = tuple(_exchange(number) for number in range(30))
    look = looks.is_bounded("status-401", 25)
    assert look(_seen(*storm, steps=(step,))).kind is Kind.BROKEN
    assert look(_seen(*storm[:25], steps=(step,))).kind is Kind.HOLDS


INITIALIZED = {"method": "notifications/initialized"}
EMPTY = {"content-length": ("0",)}


@pytest.mark.parametrize(
    ("exchanges", "kind"),
    [
        pytest.param(
            (_exchange(2, session="a", answer=EMPTY), _exchange(3, session="a")),
            Kind.HOLDS,
            id="same-session",
        ),
        pytest.param(
            (_exchange(2, session="a", answer=EMPTY), _exchange(3, session="b")),
            Kind.UNOBSERVED,
            id="another-attempt-worked",
        ),
        pytest.param(
            (
                _exchange(2, session="a", status=202, answer=EMPTY),
                _exchange(3, session="a"),
            ),
            Kind.UNOBSERVED,
            id="another-answer",
        ),
        pytest.param(
            (_exchange(2, session="a"), _exchange(3, session="a")),
            Kind.UNOBSERVED,
            id="another-body",
        ),
    ],
)
def test_an_acknowledgement_counts_in_the_session_that_worked(
    exchanges: tuple[Exchange, ...], kind: Kind
) -> None:
    """A client that gives the session up and tries another did not survive it."""
    seen = _seen(
        *exchanges,
        received=(_message(2, INITIALIZED), _call(3, "echo", {"text": "ack-200"})),
        sent=(_answer(3),),
        steps=_steps("ack-200"),
    )
    assert looks.taken("ack-200")(seen).kind is kind


@pytest.mark.parametrize(
    ("gets", "kind"),
    [
        pytest.param((), Kind.NOT_APPLICABLE, id="asks-for-none"),
        pytest.param(((2, "a", 405),), Kind.HOLDS, id="refused"),
        pytest.param(((2, "b", 405),), Kind.UNOBSERVED, id="another-attempt"),
        pytest.param(((4, "a", 405),), Kind.UNOBSERVED, id="after-the-call"),
        pytest.param(((2, "a", 200),), Kind.UNOBSERVED, id="given"),
    ],
)
def test_a_push_stream_is_refused_in_the_session_that_worked(
    gets: tuple[tuple[int, str, int], ...], kind: Kind
) -> None:
    """A GET of another session, or one after the call, shows nothing of it."""
    streams = (_exchange(n, "GET", session=s, status=code) for n, s, code in gets)
    seen = _seen(
        *streams,
        _exchange(3, session="a"),
        received=(_call(3, "slow", {}),),
        sent=(_answer(3),),
        steps=_steps("done"),
    )
    assert looks.push_stream_may_be_refused(seen).kind is kind


@pytest.mark.parametrize(("session", "shares"), [("a", True), ("b", False)])
def test_a_call_in_another_session_is_no_next_call(
    session: str, *, shares: bool
) -> None:
    """The host saw the echo; but the connection had been replaced."""
    seen = _seen(
        _exchange(2, session="a", status=503),
        _exchange(3, session=session),
        received=(_call(2, "status_503", {}), _call(3, "echo", {"text": "again"})),
        sent=(_answer(3),),
    )
    assert looks.shares_session(seen, "status_503", "echo", "again") is shares
