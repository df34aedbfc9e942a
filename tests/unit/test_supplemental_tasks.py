"""What the checks of tasks make of things that no client of ours does."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpconf.revision import Revision
from mcpconf.supplemental.finding import Kind
from mcpconf.supplemental.observation import (
    Observation,
    ServerView,
    StepResult,
    StepState,
    parse_log,
)
from mcpconf.supplemental.registry import SCENARIOS
from mcpconf.supplemental.scenarios.tasks_looks import EXTENSION, decoded
from mcpconf.transport import Transport

_CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
_TASKS: dict[str, Any] = {"elicitation": {}, "extensions": {EXTENSION: {}}}
_ABOUT_TASKS = (
    "tasks",
    "task-polling",
    "task-ends",
    "task-input",
    "task-cancellation",
)

#: Direction, time in ms, message.
Line = tuple[str, float, dict[str, Any]]


def _log(*lines: Line) -> ServerView:
    rows = [
        {
            "type": kind,
            "t": t_ms,
            "pid": 1,
            "connection": 1,
            "bytes": 1,
            "sha256": "0",
            "message": {"jsonrpc": "2.0", **message},
            "cut": False,
        }
        for kind, t_ms, message in lines
    ]
    return parse_log("".join(json.dumps(row) + "\n" for row in rows).encode(), "log")


def _ask(
    number: int, t_ms: float, method: str, capabilities: object = None, **params: object
) -> Line:
    meta = {_CAPABILITIES: _TASKS if capabilities is None else capabilities}
    asked = {"method": method, "id": number, "params": {"_meta": meta, **params}}
    return "received", t_ms, asked


def _say(number: int, t_ms: float, status: str, **more: object) -> Line:
    task = {"taskId": "a", "status": status, "pollIntervalMs": 50, **more}
    return "sent", t_ms, {"id": number, "result": {"resultType": "complete", **task}}


def _handed(tool: str) -> tuple[Line, Line]:
    """A call that became the task ``a``, at 1 and 2 ms."""
    return (
        _ask(1, 1, "tools/call", name=tool, arguments={}),
        _say(1, 2, "working", resultType="task"),
    )


def _poll(number: int, t_ms: float, status: str, **more: object) -> tuple[Line, Line]:
    """One poll that is answered ten ms later."""
    return (
        _ask(number, t_ms, "tasks/get", taskId="a"),
        _say(number, t_ms + 10, status, **more),
    )


def _found(
    scenario: str, check_id: str, view: ServerView, **steps: StepResult
) -> tuple[Kind, str]:
    missing = {
        each.id: StepResult(id=each.id, verb=each.verb, state=StepState.MISSING)
        for each in SCENARIOS[scenario].steps
    }
    seen = Observation(
        revision=Revision.V2026_07_28,
        transport=Transport.STDIO,
        subject=view,
        control=ServerView(),
        steps={**missing, **{each.id: each for each in steps.values()}},
    )
    checks = SCENARIOS[scenario].checks
    finding = next(each for each in checks if each.id == check_id).look(seen)
    return finding.kind, finding.detail


def _step(name: str, state: StepState, **more: Any) -> StepResult:
    return StepResult(id=name, verb="call", state=state, **more)


_EVERY = [(name, check.id) for name in _ABOUT_TASKS for check in SCENARIOS[name].checks]


@pytest.mark.parametrize(("scenario", "check_id"), _EVERY)
@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"extensions": {"com.example/other": {}}},
        {"extensions": {EXTENSION: None}},
        {"tasks": {"requests": {"tools": {"call": {}}}}},
        {"extensions": [EXTENSION]},
        {"elicitation": {"form": {}}, "extensions": {}},
    ],
)
def test_a_client_without_the_extension_is_unsupported_and_its_words_are_shown(
    scenario: str, check_id: str, capabilities: dict[str, Any]
) -> None:
    answer = {"content": [{"type": "text", "text": "answered without a task"}]}
    view = _log(
        _ask(1, 1, "tools/call", capabilities, name="task_done", arguments={}),
        ("sent", 2, {"id": 1, "result": answer}),
    )
    kind, detail = _found(scenario, check_id, view)
    assert kind is Kind.UNSUPPORTED
    assert json.dumps(capabilities) in detail


@pytest.mark.parametrize(("scenario", "check_id"), _EVERY)
def test_of_a_client_that_calls_nothing_nothing_is_said(
    scenario: str, check_id: str
) -> None:
    view = _log(_ask(1, 1, "tools/list", {}))
    assert _found(scenario, check_id, view)[0] is Kind.UNOBSERVED


@pytest.mark.parametrize(
    ("second", "third", "kind"),
    [
        pytest.param(62, 472, Kind.HOLDS, id="on-time"),
        pytest.param(57, 440, Kind.HOLDS, id="a-little-early"),
        pytest.param(52, 472, Kind.BROKEN, id="counts-from-its-own-request"),
        pytest.param(62, 300, Kind.BROKEN, id="keeps-the-first"),
        pytest.param(900, 5000, Kind.HOLDS, id="slow"),
    ],
)
def test_the_time_between_polls_begins_with_the_answer(
    second: float, third: float, kind: Kind
) -> None:
    """The first answer is at 12 ms, and the second is ten after its poll."""
    view = _log(
        *_handed("task_paced"),
        *_poll(2, 2, "working"),
        *_poll(3, second, "working", pollIntervalMs=400),
        *_poll(4, third, "completed"),
    )
    assert _found("task-polling", "task-poll-interval", view)[0] is kind


def test_a_first_poll_may_come_at_once_and_one_interval_shows_no_change() -> None:
    view = _log(
        *_handed("task_paced"), *_poll(2, 2, "working"), *_poll(3, 62, "working")
    )
    found, _ = _found("task-polling", "task-poll-interval", view)
    assert found is Kind.UNOBSERVED


@pytest.mark.parametrize(
    ("more", "state", "kind"),
    [
        (3, StepState.ERROR, Kind.HOLDS),
        (4, StepState.ERROR, Kind.BROKEN),
        (0, StepState.OK, Kind.BROKEN),
        (0, StepState.TIMED_OUT, Kind.BROKEN),
    ],
)
def test_a_lost_task_may_be_doubted_for_a_while(
    more: int, state: StepState, kind: Kind
) -> None:
    lost = {"code": -32602, "message": "not found"}
    lines: list[Line] = [*_handed("task_lost")]
    for number in range(2, 3 + more):
        lines.append(_ask(number, number, "tasks/get", taskId="a"))
        lines.append(("sent", number, {"id": number, "error": lost}))
    found, _ = _found(
        "task-ends", "task-unknown-is-an-error", _log(*lines), step=_step("lost", state)
    )
    assert found is kind


@pytest.mark.parametrize(
    "error", [{"code": -32603, "message": "broke"}, {"code": "-32602"}, "-32602"]
)
def test_another_error_does_not_say_that_a_task_is_lost(error: object) -> None:
    view = _log(
        *_handed("task_lost"),
        _ask(2, 2, "tasks/get", taskId="a"),
        ("sent", 3, {"id": 2, "error": error}),
    )
    step = _step("lost", StepState.ERROR)
    found, _ = _found("task-ends", "task-unknown-is-an-error", view, step=step)
    assert found is Kind.UNOBSERVED


@pytest.mark.parametrize("status", ["completed", "failed", "cancelled"])
@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_nothing_is_asked_of_a_task_that_has_ended(status: str, method: str) -> None:
    ended = (*_handed("task_failed"), *_poll(2, 2, status))
    late = _ask(3, 99, method, taskId="a")
    other = _ask(3, 99, method, taskId="b")
    assert [
        _found("task-ends", "task-ends-are-final", _log(*lines))[0]
        for lines in (ended, (*ended, other), (*ended, late))
    ] == [Kind.HOLDS, Kind.HOLDS, Kind.BROKEN]


def test_where_no_task_ended_no_end_was_respected() -> None:
    view = _log(*_handed("task_failed"), *_poll(2, 2, "working"))
    found, _ = _found("task-ends", "task-ends-are-final", view)
    assert found is Kind.UNOBSERVED


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        pytest.param({"requestId": 1}, Kind.BROKEN, id="the-call"),
        pytest.param({"requestId": "a"}, Kind.BROKEN, id="the-task"),
        pytest.param({"taskId": "a"}, Kind.BROKEN, id="the-task-by-name"),
        pytest.param({"requestId": 2}, Kind.HOLDS, id="a-poll"),
        pytest.param({"requestId": "1"}, Kind.HOLDS, id="another-id"),
    ],
)
def test_a_poll_may_be_cancelled_by_notification_and_a_task_not(
    params: dict[str, Any], kind: Kind
) -> None:
    view = _log(
        *_handed("task_endless"),
        _ask(2, 3, "tasks/get", taskId="a"),
        ("received", 4, {"method": "notifications/cancelled", "params": params}),
        _ask(3, 5, "tasks/cancel", taskId="a"),
    )
    check_id = "task-not-cancelled-by-notification"
    assert _found("task-cancellation", check_id, view)[0] is kind


def test_a_call_may_be_cancelled_by_notification_before_it_is_a_task() -> None:
    called, handed = _handed("task_endless")
    params = {"requestId": 1}
    note = ("received", 2, {"method": "notifications/cancelled", "params": params})
    view = _log(called, note, handed, _ask(3, 5, "tasks/cancel", taskId="a"))
    check_id = "task-not-cancelled-by-notification"
    assert _found("task-cancellation", check_id, view)[0] is Kind.HOLDS


def test_who_cancels_nothing_does_not_do_it_well() -> None:
    view = _log(*_handed("task_endless"))
    done = _step("cancel", StepState.OK)
    unable = _step("cancel", StepState.ERROR)
    name = "task-cancellation"
    assert [
        _found(name, check_id, view, step=step)[0]
        for check_id, step in (
            ("task-cancelled-by-request", done),
            ("task-cancelled-by-request", unable),
            ("task-not-cancelled-by-notification", done),
        )
    ] == [Kind.BROKEN, Kind.UNOBSERVED, Kind.NOT_APPLICABLE]


_FORM = {
    "method": "elicitation/create",
    "params": {"message": "?", "requestedSchema": {"properties": {"size": {}}}},
}
_GIVEN = {"size": {"action": "accept", "content": {"size": "large"}}}


@pytest.mark.parametrize(
    ("responses", "kind"),
    [
        pytest.param(_GIVEN, Kind.HOLDS, id="its-key"),
        pytest.param({"size": {"action": "decline"}}, Kind.HOLDS, id="declined"),
        pytest.param({**_GIVEN, "colour": {}}, Kind.BROKEN, id="one-more"),
        pytest.param({}, Kind.BROKEN, id="none"),
        pytest.param([], Kind.BROKEN, id="no-object"),
        pytest.param({"size": "large"}, Kind.BROKEN, id="no-answer"),
    ],
)
def test_exactly_what_was_asked_is_answered(responses: object, kind: Kind) -> None:
    asked = _poll(2, 3, "input_required", inputRequests={"size": _FORM})
    update = _ask(3, 20, "tasks/update", taskId="a", inputResponses=responses)
    view = _log(*_handed("task_input"), *asked, update)
    assert _found("task-input", "task-input-keyed", view)[0] is kind


def test_an_answer_before_the_question_is_none_to_it() -> None:
    asked = _poll(2, 30, "input_required", inputRequests={"size": _FORM})
    update = _ask(3, 20, "tasks/update", taskId="a", inputResponses=_GIVEN)
    view = _log(*_handed("task_input"), update, *asked)
    assert _found("task-input", "task-input-keyed", view)[0] is Kind.BROKEN


def test_a_client_without_forms_is_not_asked_by_a_task() -> None:
    lone: dict[str, Any] = {"extensions": {EXTENSION: {}}}
    called = _ask(1, 1, "tools/call", lone, name="task_input", arguments={})
    view = _log(called, ("sent", 2, {"id": 1, "result": {"content": []}}))
    for check in SCENARIOS["task-input"].checks:
        assert _found("task-input", check.id, view)[0] is Kind.NOT_APPLICABLE, check.id


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("abc", "abc"),
        ("=?base64?dMOi?=", "t\u00e2"),
        ("=?base64?dMOi", "=?base64?dMOi"),
        ("=?base64?dMO?=", None),
        ("=?base64?w6?=", None),
        ("t\u00e2", None),
    ],
)
def test_a_header_stands_for_what_it_says_or_for_nothing(
    value: str, text: str | None
) -> None:
    assert decoded(value) == text
