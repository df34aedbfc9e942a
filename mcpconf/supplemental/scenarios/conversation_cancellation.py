"""Calls that are not waited for to the end: cancelled by the host, or out of time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    Kind,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.looks import ended, text_of
from mcpconf.supplemental.observation import StepState
from mcpconf.supplemental.scenario import (
    CONTROL,
    HANDSHAKE,
    HTTP,
    STATELESS,
    STDIO,
    CheckDefinition,
    Level,
    Scenario,
    Step,
    call,
    connect,
)
from mcpconf.supplemental.scenarios.conversation_looks import (
    closed_ms,
    is_same_id,
    was_answered,
)
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation, Seen

_CANCELLED = "notifications/cancelled"
_PAGE, _PAGE_NOW = "basic/utilities/cancellation", "basic/patterns/cancellation"
_TIMEOUTS, _TIMEOUTS_NOW = "basic/lifecycle", "basic/patterns/cancellation"


def _closes(seen: Observation) -> bool:
    """Whether closing the response is how one cancels here."""
    return seen.is_stateless and seen.transport is Transport.HTTP


def _last_ms(seen: Observation) -> float:
    """When the last step was over: what comes later is the end of the client."""
    return max(step.t1_ms for step in seen.steps.values())


def _cancelled_ids(seen: Observation, request: Seen) -> list[Any]:
    """The ids that ``notifications/cancelled`` named after one of the two calls."""
    last, later = _last_ms(seen), seen.subject.calls("late")
    # What is said after the second call is said of the second.
    until = next((each.index for each in later if each.index > request.index), None)
    return [
        note.params.get("requestId")
        for note in seen.subject.notifications(_CANCELLED)
        if note.index > request.index
        and (until is None or note.index < until)
        and note.t_ms <= last
    ]


def _was_left(seen: Observation, request: Seen) -> bool:
    """Whether the client closed the response before it was there (HTTP)."""
    exchange = seen.subject.exchange_of(request)
    closed = closed_ms(seen.subject, request)
    return (
        exchange is not None
        and exchange.how == "client-closed"
        and closed is not None
        and closed <= _last_ms(seen)
    )


def _was_cancelled(seen: Observation, request: Seen) -> Finding:
    """Whether the client told the server, as its revision and transport have it."""
    if _closes(seen):
        # At the end every connection is closed, and that cancels nothing.
        if _was_left(seen, request):
            return holds("the client closed the response of the call")
        return broken("the client left the response of the call open")
    named = _cancelled_ids(seen, request)
    if named:
        return holds(f"notifications/cancelled followed, for the id {named[0]!r}")
    return broken("the client sent no notifications/cancelled")


def _cancel_is_said(seen: Observation) -> Finding:
    step, calls = seen.step("cancel"), seen.subject.calls("slow")
    if not calls:
        return unobserved("the call that was to be cancelled was not made")
    if step.state is not StepState.OK:
        return unobserved(f"the client did not cancel: the step {ended(step)}")
    return _was_cancelled(seen, calls[0])


def _cancel_names_the_call(seen: Observation) -> Finding:
    calls = seen.subject.calls("slow")
    named = _cancelled_ids(seen, calls[0]) if calls else []
    if not named:
        return not_applicable("the client sent no notifications/cancelled")
    if is_same_id(named[0], calls[0].id):
        return holds(f"notifications/cancelled named the call's id {named[0]!r}")
    return broken(
        f"notifications/cancelled named {named[0]!r}; the call's id is {calls[0].id!r}"
    )


def _connection_is_usable(seen: Observation) -> Finding:
    calls = seen.subject.calls("slow")
    if not calls:
        return unobserved("the call that was to be cancelled was not made")
    return was_answered(seen, "after-cancel", "echo", after=calls[0])


def _gives_up(seen: Observation) -> Finding:
    step = seen.step("late")
    if step.state is StepState.ERROR and step.error_kind == "timeout":
        return holds(f"the call ended after {step.t1_ms - step.t0_ms:.0f} ms")
    if step.state is StepState.OK:
        return broken("the call outlived the limit that was set for it, and succeeded")
    return broken(f"not the client's own time-out: the call {ended(step)}")


def _timeout_is_said(seen: Observation) -> Finding:
    calls = seen.subject.calls("late")
    if not calls:
        return unobserved("the call that was to run out of time was not made")
    given_up = _gives_up(seen)
    if given_up.kind is not Kind.HOLDS:
        return not_applicable(f"the client did not give up: {given_up.detail}")
    return _was_cancelled(seen, calls[0])


def _late_answer_is_ignored(seen: Observation) -> Finding:
    calls = seen.subject.calls("late")
    answer = seen.subject.answer_to(calls[0]) if calls else None
    if answer is None:
        return unobserved("the server never answered late")
    if _gives_up(seen).kind is not Kind.HOLDS:
        return not_applicable("the client waited, so that nothing came late")
    if not any(each.index < answer.index for each in seen.subject.calls("after_late")):
        return unobserved("the late answer found no other call waiting for its own")
    if text_of(seen.step("after-late")) == "late":
        return broken("the next call was given the late answer")
    return was_answered(seen, "after-late", "after_late", after=calls[0])


def _initialize_is_not_cancelled(seen: Observation) -> Finding:
    step = seen.step("connect")
    opening = seen.subject.requests("initialize")
    if step.state is StepState.OK or not opening:
        return unobserved(f"the client did not give up an opening: it {ended(step)}")
    for note in seen.subject.notifications(_CANCELLED):
        named = note.params.get("requestId")
        if any(is_same_id(each.id, named) for each in opening):
            return broken(f"notifications/cancelled named initialize, id {named!r}")
    return holds(f"the client gave up without cancelling it: {step.message}")


def _where_named(check: CheckDefinition) -> tuple[CheckDefinition, CheckDefinition]:
    """The check everywhere but where closing a response is how one cancels."""
    return (
        replace(check, revisions=HANDSHAKE),
        replace(check, revisions=STATELESS, transports=STDIO),
    )


def _as_worded(check: CheckDefinition) -> tuple[CheckDefinition, ...]:
    """That one says so is a MUST of 2026-07-28 on stdio, and elsewhere a SHOULD."""
    should = replace(check, level=Level.SHOULD)
    return (
        replace(should, revisions=HANDSHAKE),
        replace(check, revisions=STATELESS, transports=STDIO),
        replace(should, revisions=STATELESS, transports=HTTP),
    )


SCENARIOS = (
    Scenario(
        name="cancellation",
        title="A call that is cancelled, and one that runs out of time",
        profiles=("late-answers",),
        limits={"delay_s": 2.5},
        steps=(
            connect(),
            Step(
                id="cancel",
                verb="cancel",
                arguments={"tool": "slow", "arguments": {}, "after_s": 0.3},
            ),
            call("echo", {"text": "after"}, id="after-cancel"),
            call("late", id="late", timeout_s=0.6),
            call("after_late", id="after-late"),
            call("echo", {"text": "at last"}, id="at-last"),
        ),
        checks=(
            *_as_worded(
                CheckDefinition(
                    id="cancellation-said",
                    sentence="A client that cancels a request says so: by "
                    "notifications/cancelled; from 2026-07-28 on, "
                    "over HTTP, by closing its response.",
                    page=_PAGE,
                    stateless_page=_PAGE_NOW,
                    level=Level.MUST,
                    looks_for="the notification, or the end of the connection that the "
                    "call came on",
                    look=_cancel_is_said,
                    needs=("cancel",),
                    broken=("cancels_in_silence",),
                ),
            ),
            *_where_named(
                CheckDefinition(
                    id="cancellation-names-request",
                    sentence="A notifications/cancelled names a request that is under "
                    "way, by its id in value and in type.",
                    page=_PAGE,
                    stateless_page=_PAGE_NOW,
                    level=Level.MUST,
                    looks_for="the requestId of the notification and the call's id",
                    look=_cancel_names_the_call,
                    needs=("cancel",),
                    broken=("cancels_another_request",),
                ),
            ),
            CheckDefinition(
                id="cancellation-leaves-connection",
                sentence="A request that was cancelled leaves the connection usable.",
                page=_PAGE,
                stateless_page=_PAGE_NOW,
                level=Level.SHOULD,
                looks_for="the answer to a call after a cancelled one",
                look=_connection_is_usable,
                needs=("cancel", "after-cancel"),
                broken=("is_lost_after_cancelling",),
            ),
            CheckDefinition(
                id="timeout-kept",
                sentence="A client does not wait beyond its limit for an answer.",
                page=_TIMEOUTS,
                stateless_page=_TIMEOUTS_NOW,
                level=Level.SHOULD,
                looks_for="the client's own time-out of a call that takes longer",
                look=_gives_up,
                needs=("late",),
                broken=("never_times_out",),
            ),
            CheckDefinition(
                id="timeout-cancels",
                sentence="A client that stops waiting cancels the request.",
                page=_TIMEOUTS,
                stateless_page=_TIMEOUTS_NOW,
                level=Level.SHOULD,
                looks_for="the notification, or the end of the connection that the "
                "call came on",
                look=_timeout_is_said,
                needs=("late",),
                broken=("times_out_in_silence",),
            ),
            *_where_named(
                CheckDefinition(
                    id="late-answer-ignored",
                    sentence="An answer that comes after the request was given up is "
                    "ignored, and the connection remains usable.",
                    page=_PAGE,
                    stateless_page=_PAGE_NOW,
                    level=Level.SHOULD,
                    looks_for="an answer sent after the client gave up, and the next "
                    "call's own answer",
                    look=_late_answer_is_ignored,
                    needs=("late", "after-late"),
                    broken=("takes_late_answers_for_the_next",),
                ),
            ),
        ),
    ),
    Scenario(
        name="initialize-unanswered",
        title="An opening that is never answered",
        revisions=HANDSHAKE,
        profiles=("silent-initialize",),
        has_control=True,
        request_timeout_s=2.0,
        steps=(*CONTROL, connect()),
        checks=(
            CheckDefinition(
                id="initialize-not-cancelled",
                sentence="A client never cancels its initialize request.",
                page="basic/utilities/cancellation",
                level=Level.MUST,
                looks_for="no notifications/cancelled under its id after the client "
                "gave up",
                look=_initialize_is_not_cancelled,
                provoked_by=("silent-initialize",),
                needs=("connect",),
                broken=("cancels_initialize",),
            ),
        ),
    ),
)
