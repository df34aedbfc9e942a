"""What is said of a server's end where no client of ours brings it about."""

from __future__ import annotations

from typing import Any

import pytest

from mcpconf.revision import Revision
from mcpconf.supplemental.finding import Kind
from mcpconf.supplemental.observation import (
    Aftermath,
    Event,
    Observation,
    ServerView,
    StepResult,
    StepState,
)
from mcpconf.supplemental.scenarios import stdio_looks as looks
from mcpconf.transport import Transport


def _seen(
    *records: tuple[int, str, dict[str, Any]],
    survivors: tuple[str, ...] = (),
    steps: tuple[StepResult, ...] = (),
) -> Observation:
    events = tuple(
        Event(t_ms=float(index), pid=pid, index=index, type=kind, value=value)
        for index, (pid, kind, value) in enumerate(records)
    )
    return Observation(
        revision=Revision.V2025_11_25,
        transport=Transport.STDIO,
        subject=ServerView(events=events),
        control=ServerView(),
        steps={step.id: step for step in steps},
        aftermath=Aftermath(survivors=survivors),
    )


def _step(name: str, state: StepState, took_ms: float = 0.0, **more: Any) -> StepResult:
    return StepResult(id=name, verb="call", state=state, t1_ms=took_ms, **more)


START = (7, "start", {"environment": ["PATH"]})
OTHER_START = (8, "start", {"environment": ["PATH"]})
EOF = (7, "connection", {"event": "closed", "by": "client"})
TERM = (7, "signal", {"name": "SIGTERM"})
EXIT = (7, "exit", {"code": 0})


@pytest.mark.parametrize(
    ("records", "survivors", "kind"),
    [
        pytest.param((START, EOF, TERM), (), Kind.HOLDS, id="as-it-should-be"),
        pytest.param((START, EOF), (), Kind.BROKEN, id="killed-at-once"),
        pytest.param((START, EOF), ("python3",), Kind.NOT_APPLICABLE, id="left-alone"),
        pytest.param(
            (START, EOF, TERM, OTHER_START), (), Kind.BROKEN, id="one-of-two-killed"
        ),
    ],
)
def test_every_server_is_terminated_before_it_is_killed(
    records: tuple[Any, ...], survivors: tuple[str, ...], kind: Kind
) -> None:
    """A server that was left alone says nothing of how it would have been ended."""
    assert looks.terminates_first(_seen(*records, survivors=survivors)).kind is kind


@pytest.mark.parametrize(
    ("records", "kind"),
    [
        pytest.param((START, EOF, TERM), Kind.HOLDS, id="input-first"),
        pytest.param((START, TERM, EOF), Kind.BROKEN, id="signal-first"),
        pytest.param((START, TERM), Kind.BROKEN, id="signal-alone"),
        pytest.param((START,), Kind.BROKEN, id="killed-unseen"),
    ],
)
def test_the_end_of_input_comes_before_any_signal(
    records: tuple[Any, ...], kind: Kind
) -> None:
    """A server that never saw the end of its input was not closed."""
    assert looks.closes_input_first(_seen(*records)).kind is kind


@pytest.mark.parametrize(
    ("records", "kind"),
    [
        pytest.param((START, EOF, EXIT), Kind.HOLDS, id="left"),
        pytest.param((START, EOF), Kind.BROKEN, id="killed-unseen"),
        pytest.param((START, EOF, TERM), Kind.BROKEN, id="terminated"),
    ],
)
def test_a_server_that_is_leaving_is_left_in_peace(
    records: tuple[Any, ...], kind: Kind
) -> None:
    """A server that did not write its last record did not leave by itself."""
    assert looks.may_leave_by_itself(_seen(*records)).kind is kind


@pytest.mark.parametrize(
    ("step", "following", "kind"),
    [
        (StepState.OK, StepState.OK, Kind.BROKEN),
        (StepState.ERROR, StepState.OK, Kind.HOLDS),
        (StepState.ERROR, StepState.ERROR, Kind.BROKEN),
    ],
)
def test_what_is_not_utf8_is_no_result_and_no_end(
    step: StepState, following: StepState, kind: Kind
) -> None:
    """A client that only times out from then on has stopped reading."""
    seen = _seen(
        steps=(
            _step("invalid-utf8", step, error_kind="timeout"),
            _step("after-invalid-utf8", following, error_kind="timeout"),
        )
    )
    assert looks.no_undecodable_result(seen).kind is kind


@pytest.mark.parametrize(
    ("took_ms", "error_kind", "kind"),
    [
        (100.0, "transport", Kind.HOLDS),
        (3000.0, "transport", Kind.BROKEN),
        (100.0, "timeout", Kind.BROKEN),
    ],
)
def test_an_early_exit_is_told_at_once(
    took_ms: float, error_kind: str, kind: Kind
) -> None:
    """An error that only a limit brings about is no news of the server's end."""
    step = _step("connect", StepState.ERROR, took_ms, error_kind=error_kind)
    assert looks.fails_before("connect", 2.5)(_seen(steps=(step,))).kind is kind


def test_nothing_is_said_of_survivors_where_no_server_was_asked() -> None:
    """A client that did nothing leaves nothing, and that is no merit."""
    assert looks.nothing_survives(_seen()).kind is Kind.UNOBSERVED


@pytest.mark.parametrize(
    ("first", "last", "kind"),
    [
        (5, 5, Kind.HOLDS),
        (5, 4, Kind.HOLDS),
        (5, 6, Kind.BROKEN),
        (None, 6, Kind.NOT_APPLICABLE),
    ],
)
def test_descriptors_do_not_grow(first: int | None, last: int, kind: Kind) -> None:
    """Where they cannot be counted nothing is said."""
    steps = (
        _step("close-1", StepState.OK, fds=first),
        _step("close-3", StepState.OK, fds=last),
    )
    assert looks.no_more_descriptors(_seen(steps=steps)).kind is kind
