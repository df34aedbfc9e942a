"""What is said of a server's end where no client of ours brings it about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mcpconf.revision import Revision
from mcpconf.supplemental.finding import Kind
from mcpconf.supplemental.observation import (
    Aftermath,
    Event,
    Observation,
    Seen,
    ServerView,
    StepResult,
    StepState,
)
from mcpconf.supplemental.scenarios import leftovers
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
        pytest.param((), (), Kind.UNOBSERVED, id="none-started"),
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
        pytest.param((START, EOF, OTHER_START), Kind.BROKEN, id="one-of-two"),
        pytest.param((), Kind.UNOBSERVED, id="none-started"),
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
        pytest.param((), Kind.UNOBSERVED, id="none-started"),
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


GONE = (7, "exit", {"code": 3})
LATER = (9, "exit", {"code": 3})


@pytest.mark.parametrize(
    ("records", "took_ms", "error_kind", "kind"),
    [
        pytest.param((GONE,), 100.0, "transport", Kind.HOLDS, id="at-once"),
        pytest.param((GONE,), 3000.0, "transport", Kind.BROKEN, id="waited"),
        pytest.param((GONE,), 100.0, "timeout", Kind.BROKEN, id="its-own-limit"),
        pytest.param((), 100.0, "transport", Kind.UNOBSERVED, id="nothing-ended"),
    ],
)
def test_an_early_exit_is_told_at_once(
    records: tuple[Any, ...], took_ms: float, error_kind: str, kind: Kind
) -> None:
    """An error that only a limit brings about is no news of the server's end."""
    step = _step("connect", StepState.ERROR, took_ms, error_kind=error_kind)
    seen = _seen(*records, steps=(step,))
    assert looks.fails_soon_after_exit("connect", 2.5)(seen).kind is kind


def test_a_server_may_be_started_again_before_an_error_is_told() -> None:
    """What counts is the time since the last of them ended."""
    step = _step("connect", StepState.ERROR, 4000.0, error_kind="transport")
    first, last = _seen(GONE, LATER).subject.events
    events = (first, replace(last, t_ms=3000.0))
    seen = replace(_seen(steps=(step,)), subject=ServerView(events=events))
    assert looks.fails_soon_after_exit("connect", 2.5)(seen).kind is Kind.HOLDS


def _message(pid: int, index: int, message: dict[str, Any]) -> Seen:
    return Seen(
        t_ms=float(index),
        pid=pid,
        connection=pid,
        exchange=None,
        index=index,
        bytes=0,
        sha256="",
        message=message,
        text=None,
        cut=False,
    )


ASKED = {"id": 1, "method": "initialize"}
CALLED = {
    "id": 2,
    "method": "tools/call",
    "params": {"name": "echo", "arguments": {"text": "heard"}},
}


@pytest.mark.parametrize(
    ("slow", "times", "kind"),
    [
        pytest.param(7, 1, Kind.HOLDS, id="waited"),
        pytest.param(7, 2, Kind.BROKEN, id="asked-again"),
        pytest.param(8, 1, Kind.UNOBSERVED, id="another-process"),
    ],
)
def test_the_server_that_answered_is_the_one_that_was_slow(
    slow: int, times: int, kind: Kind
) -> None:
    """A client that gave it up, and did better with another, did not wait."""
    fault = {"profile": "slow-start"}
    value = {"result": {"content": [{"type": "text", "text": "heard"}]}}
    received = [_message(7, index, ASKED) for index in range(times)]
    view = ServerView(
        received=(*received, _message(7, 6, CALLED)),
        sent=(
            _message(7, 5, {"id": 1, "result": {}}),
            _message(7, 7, {"id": 2, "result": {}}),
        ),
        events=(Event(t_ms=0.0, pid=slow, index=0, type="fault", value=fault),),
    )
    steps = (_step("connect", StepState.OK), _step("call", StepState.OK, value=value))
    seen = replace(_seen(steps=steps), subject=view)
    assert looks.waits_for_start("heard")(seen).kind is kind


@pytest.mark.parametrize(
    ("name", "earlier", "kind"),
    [
        pytest.param("two", False, Kind.HOLDS, id="during"),
        pytest.param("three", True, Kind.HOLDS, id="after"),
        pytest.param("three", False, Kind.UNOBSERVED, id="not-during"),
        pytest.param("two", True, Kind.UNOBSERVED, id="not-before"),
    ],
)
def test_an_exit_counts_for_the_call_it_concerns(
    name: str, *, earlier: bool, kind: Kind
) -> None:
    """The end of another process at another time shows nothing of this call."""
    fault = (7, "fault", {"profile": "exit-after-calls"})
    error: dict[str, Any] = {
        "verb": "call",
        "state": StepState.ERROR,
        "error_kind": "transport",
    }
    steps = (
        StepResult(id="two", t0_ms=0.0, t1_ms=5.0, **error),
        StepResult(id="three", t0_ms=6.0, t1_ms=9.0, **error),
    )
    look = looks.survives_exit(name, earlier=earlier)
    assert look(_seen(START, fault, steps=steps)).kind is kind


def test_an_error_result_is_no_result_of_what_is_not_utf8() -> None:
    """Some hosts are told of errors in a result."""
    value = {"result": {"isError": True, "content": []}}
    steps = (
        _step("invalid-utf8", StepState.OK, value=value),
        _step("after-invalid-utf8", StepState.OK),
    )
    assert looks.no_undecodable_result(_seen(steps=steps)).kind is Kind.HOLDS


@pytest.mark.parametrize("text", ["heard", None])
def test_what_was_never_used_leaves_nothing(text: str | None) -> None:
    """Three connections that failed say nothing of what is left of connections."""
    value = {"result": {"content": [{"type": "text", "text": text}]}}
    steps = tuple(
        _step(f"call-{number}", StepState.OK, value=value) for number in (1, 2, 3)
    )
    found = leftovers.after_use(looks.no_temporary_files)(_seen(steps=steps))
    assert found.kind is (Kind.HOLDS if text else Kind.UNOBSERVED)


def test_nothing_is_said_of_survivors_where_no_server_was_asked() -> None:
    """A client that did nothing leaves nothing, and that is no merit."""
    assert looks.nothing_survives(_seen()).kind is Kind.UNOBSERVED


@pytest.mark.parametrize(
    ("counts", "kind"),
    [
        ((5, 5, 5), Kind.HOLDS),
        ((5, 4, 4), Kind.HOLDS),
        ((5, 5, 6), Kind.HOLDS),  # a socket on its way out
        ((5, 6, 5), Kind.HOLDS),
        ((5, 6, 7), Kind.BROKEN),
        ((None, 6, 7), Kind.NOT_APPLICABLE),
    ],
)
def test_descriptors_do_not_grow_with_each_connection(
    counts: tuple[int | None, ...], kind: Kind
) -> None:
    """Where they cannot be counted nothing is said."""
    steps = tuple(
        _step(f"close-{number}", StepState.OK, fds=count)
        for number, count in enumerate(counts, start=1)
    )
    assert looks.no_more_descriptors(_seen(steps=steps)).kind is kind
