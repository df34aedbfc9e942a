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
    return Exchange(
        id=number,
        connection=number,
        t_ms=float(number),
        method=method,
        target=more.get("target", "/mcp"),
        headers={NAME: (session,)} if session else {},
        status=more.get("status", 200),
        response_headers={NAME: (given,)} if given else {},
    )


def _initialize(exchange: int) -> Seen:
    return Seen(
        t_ms=float(exchange),
        pid=1,
        connection=exchange,
        exchange=exchange,
        index=exchange,
        bytes=0,
        sha256="",
        message={"id": 1, "method": "initialize"},
        text=None,
        cut=False,
    )


def _seen(
    *exchanges: Exchange,
    opening: tuple[int, ...] = (1,),
    steps: tuple[StepResult, ...] = (),
    faults: tuple[float, ...] = (),
) -> Observation:
    events = tuple(
        Event(t_ms=t_ms, pid=1, index=0, type="fault", value={"profile": "ack-204"})
        for t_ms in faults
    )
    return Observation(
        revision=Revision.V2025_11_25,
        transport=Transport.HTTP,
        subject=ServerView(
            received=tuple(_initialize(each) for each in opening),
            exchanges=exchanges,
            events=events,
        ),
        control=ServerView(),
        steps={step.id: step for step in steps},
    )


OPENING = _exchange(1, given="a")
LOST = _exchange(3, session="a", status=404)


@pytest.mark.parametrize(
    ("exchanges", "opening", "kind"),
    [
        pytest.param((OPENING,), (1,), Kind.UNOBSERVED, id="no-404"),
        pytest.param((OPENING, LOST), (1,), Kind.BROKEN, id="nothing-follows"),
        pytest.param(
            (OPENING, LOST, _exchange(4, given="b")), (1, 4), Kind.HOLDS, id="anew"
        ),
        pytest.param(
            (OPENING, LOST, _exchange(4, session="a")), (1, 4), Kind.BROKEN, id="named"
        ),
        pytest.param(
            (OPENING, _exchange(2, given="b"), LOST), (1, 2), Kind.BROKEN, id="before"
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


def test_an_acknowledgement_of_no_session_of_ours_says_nothing() -> None:
    """The fault was served, but to a connection that no step asked for."""
    steps = tuple(
        StepResult(
            id=f"{verb}-ack-204", verb=verb, state=StepState.OK, t0_ms=5.0, t1_ms=9.0
        )
        for verb in ("connect", "call")
    )
    look = looks.taken("ack-204", ("ack-204",))
    assert look(_seen(steps=steps, faults=(1.0,))).kind is Kind.UNOBSERVED
