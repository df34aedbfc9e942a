"""What the conversation's checks make of things that no client of ours does."""

from __future__ import annotations

import asyncio
import itertools
import json
from dataclasses import replace
from typing import Any

import pytest
from fixture_call import FakeCall, Fixture

from mcpconf.revision import Revision
from mcpconf.supplemental.finding import Kind
from mcpconf.supplemental.observation import (
    Exchange,
    Observation,
    ServerView,
    StepResult,
    StepState,
    parse_log,
)
from mcpconf.supplemental.registry import SCENARIOS
from mcpconf.transport import Transport

_FORMS: dict[str, Any] = {
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}
}
_LISTED = {"method": "tools/list", "id": 1}


def _log(*messages: tuple[str, dict[str, Any]], connection: int = 1) -> ServerView:
    """A log on stdio; the messages came one a millisecond."""
    clock = itertools.count(1)
    rows = [
        {
            "type": kind,
            "t": next(clock),
            "pid": 1,
            "connection": connection,
            "bytes": 1,
            "sha256": "0",
            "message": {"jsonrpc": "2.0", **message},
            "cut": False,
        }
        for kind, message in messages
    ]
    return parse_log("".join(json.dumps(row) + "\n" for row in rows).encode(), "log")


def _step(name: str, value: object = None, **more: object) -> StepResult:
    state = StepState.OK if value is not None else StepState.ERROR
    whole: dict[str, Any] = {"state": state, "value": value, "t1_ms": 99.0, **more}
    return StepResult(id=name, verb="call", **whole)


def _kind(
    scenario: str, check_id: str, view: ServerView, *steps: StepResult
) -> tuple[Kind, str]:
    seen = Observation(
        revision=Revision.V2026_07_28,
        transport=Transport.STDIO,
        subject=view,
        control=ServerView(),
        steps={step.id: step for step in steps},
    )
    checks = SCENARIOS[scenario].checks
    finding = next(each for each in checks if each.id == check_id).look(seen)
    return finding.kind, finding.detail


def _call(number: int, tool: str, **params: object) -> dict[str, Any]:
    return {
        "method": "tools/call",
        "id": number,
        "params": {"_meta": _FORMS, "name": tool, "arguments": {}, **params},
    }


def _asks(number: int, *keys: str) -> dict[str, Any]:
    asked: dict[str, Any] = {key: {} for key in keys}
    return {
        "id": number,
        "result": {"resultType": "input_required", "inputRequests": asked},
    }


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        pytest.param(_step("flood", {"result": {}}), Kind.BROKEN, id="succeeded"),
        pytest.param(_step("flood", error_kind="timeout"), Kind.BROKEN, id="waited"),
        pytest.param(_step("flood", error_kind="refused"), Kind.HOLDS, id="refused"),
    ],
)
def test_a_part_of_the_inputs_is_enough_only_for_a_refusal(
    step: StepResult, kind: Kind
) -> None:
    """The detail says how many were answered, whatever came of it."""
    retry = _call(2, "inputs_bounded", inputResponses={"a": {}})
    view = _log(
        ("received", _call(1, "inputs_bounded")),
        ("sent", _asks(1, "a", "b", "c")),
        ("received", retry),
    )
    found, detail = _kind("input-flood", "many-inputs-bounded", view, step)
    assert found is kind
    assert "3 inputs were asked for at once; 1 were answered" in detail


@pytest.mark.parametrize(
    ("meta", "kind"),
    [
        pytest.param({}, Kind.NOT_APPLICABLE, id="undeclared"),
        pytest.param(_FORMS, Kind.UNOBSERVED, id="declared"),
    ],
)
def test_a_client_without_forms_is_not_asked(meta: dict[str, Any], kind: Kind) -> None:
    """Nothing was asked: that is the client's choice only where it declared nothing."""
    view = _log(("received", _call(1, "ask_pair", _meta=meta)))
    step = _step("pair", {"result": {}})
    assert _kind("input-rounds", "input-responses-keyed", view, step)[0] is kind


@pytest.mark.parametrize(
    ("step_id", "check_id", "kind"),
    [
        ("pair", "input-retry-has-new-id", Kind.UNOBSERVED),
        ("rounds", "input-latest-state-echoed", Kind.UNOBSERVED),
        ("state-only", "input-state-alone-retried", Kind.NOT_APPLICABLE),
        ("decline", "input-declined", Kind.NOT_APPLICABLE),
        ("accept", "input-accepted", Kind.BROKEN),
    ],
)
def test_only_an_accepted_form_must_be_followed_by_a_retry(
    step_id: str, check_id: str, kind: Kind
) -> None:
    """Servers may not count on a retry; but all clients support rounds of input."""
    view = _log(("received", _call(1, "ask_it")), ("sent", _asks(1, "a")))
    step = _step(step_id, error_kind="other")
    assert _kind("input-rounds", check_id, view, step)[0] is kind


@pytest.mark.parametrize(
    ("token", "kind"),
    [
        (1, Kind.HOLDS),
        (1.0, Kind.HOLDS),
        ("1", Kind.HOLDS),
        (0.5, Kind.BROKEN),
        (True, Kind.BROKEN),
    ],
)
def test_a_whole_number_is_an_integer_however_it_is_written(
    token: object, kind: Kind
) -> None:
    view = _log(("received", _call(1, "progress", _meta={"progressToken": token})))
    found, _ = _kind("progress", "progress-token-valid", view, _step("told", {}))
    assert found is kind


def test_a_client_may_refuse_to_name_its_roots() -> None:
    answer = {"id": 9, "error": {"code": -32603, "message": "no"}}
    view = _log(("sent", {"id": 9, "method": "roots/list"}), ("received", answer))
    found, _ = _kind("server-requests", "roots-answered", view, _step("roots", {}))
    assert found is Kind.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("connections", "kind"),
    [((1, 1), Kind.HOLDS), ((1, 2), Kind.UNOBSERVED), ((2, 1), Kind.HOLDS)],
)
def test_another_connection_says_nothing_of_the_first(
    connections: tuple[int, int], kind: Kind
) -> None:
    """Of two calls after the cancelled one, the host got the answer to the last."""
    view = _log(("received", _call(1, "slow")))
    result: dict[str, Any] = {"content": []}
    for number, connection in enumerate(connections, start=2):
        messages = (
            ("received", _call(number, "echo")),
            ("sent", {"id": number, "result": result}),
        )
        later = _log(*messages, connection=connection)
        received = tuple(replace(e, index=e.index + 9 * number) for e in later.received)
        sent = tuple(replace(e, index=e.index + 9 * number) for e in later.sent)
        view = replace(view, received=view.received + received, sent=view.sent + sent)
    step = _step("after-cancel", {"result": result})
    check_id = "cancellation-leaves-connection"
    assert _kind("cancellation", check_id, view, step)[0] is kind


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        pytest.param({"notifications": None}, Kind.UNSUPPORTED, id="no-surface"),
        pytest.param({"notifications": []}, Kind.BROKEN, id="not-told"),
        pytest.param(None, Kind.BROKEN, id="call-failed"),
    ],
)
def test_a_host_without_a_surface_is_not_a_client_that_swallows(
    value: object, kind: Kind
) -> None:
    """Null says that there is no surface; an empty list, that nothing came."""
    progress = {"progressToken": 7, "progress": 1, "message": "fixture progress"}
    view = _log(
        ("received", _call(1, "progress", _meta={"progressToken": 7})),
        ("sent", {"method": "notifications/progress", "params": progress}),
    )
    found, _ = _kind("progress", "progress-surfaced", view, _step("told", value))
    assert found is kind


def test_what_cancels_the_second_call_does_not_cancel_the_first() -> None:
    """The one notification comes after the call that ran out of time."""
    view = _log(
        ("received", _call(1, "slow")),
        ("received", _call(2, "late")),
        ("received", {"method": "notifications/cancelled", "params": {"requestId": 2}}),
    )
    steps = (_step("cancel", {}), _step("late", error_kind="timeout"))
    for check_id, kind in (
        ("cancellation-said", Kind.BROKEN),
        ("cancellation-names-request", Kind.NOT_APPLICABLE),
        ("timeout-cancels", Kind.HOLDS),
    ):
        assert _kind("cancellation", check_id, view, *steps)[0] is kind, check_id


def test_a_client_that_could_not_be_told_need_not_list_again() -> None:
    """No notification was sent: nobody subscribed."""
    view = _log(("received", _LISTED), ("received", _call(2, "grow")))
    step = _step("list-again", {"items": []})
    found, _ = _kind("list-changed", "list-change-followed", view, step)
    assert found is Kind.NOT_APPLICABLE


def test_a_list_shown_without_the_new_tool_is_not_followed() -> None:
    """The wire alone does not tell what the host was shown."""
    view = _log(
        ("received", _call(1, "grow")),
        ("sent", {"method": "notifications/tools/list_changed"}),
        ("received", {**_LISTED, "id": 2}),
    )
    for items, kind in (([], Kind.BROKEN), ([{"name": "grown"}], Kind.HOLDS)):
        step = _step("list-again", {"items": items})
        found, _ = _kind("list-changed", "list-change-followed", view, step)
        assert found is kind


_CHANGED = {"method": "notifications/tools/list_changed"}


@pytest.mark.parametrize(
    ("connection", "kind"), [(1, Kind.HOLDS), (2, Kind.UNOBSERVED)]
)
@pytest.mark.parametrize(
    ("scenario", "check_id"),
    [
        ("list-changed", "list-change-followed"),
        ("subscription", "list-change-ends-caching"),
    ],
)
def test_a_list_of_another_connection_follows_no_change(
    scenario: str, check_id: str, connection: int, kind: Kind
) -> None:
    """Who connects afresh had nothing to keep."""
    told = _log(
        ("received", _LISTED), ("received", _call(2, "grow")), ("sent", _CHANGED)
    )
    again = _log(("received", {**_LISTED, "id": 3}), connection=connection)
    later = tuple(replace(each, index=each.index + 9) for each in again.received)
    steps = (
        _step("grow", {}),
        _step("listen", {"notifications": []}),
        _step("list-again", {"items": [{"name": "grown"}]}),
    )
    view = replace(told, received=told.received + later)
    assert _kind(scenario, check_id, view, *steps)[0] is kind
    assert _kind(scenario, check_id, told, *steps)[0] is Kind.BROKEN


def test_over_http_without_sessions_an_opening_begins_another_connection() -> None:
    opening = {"method": "server/discover", "id": 2}
    again = ("received", {**_LISTED, "id": 3})
    steps = _step("listen", {"notifications": []}), _step("list-again", {"items": []})
    told = (("received", _LISTED), ("sent", _CHANGED))
    check_id = "list-change-ends-caching"
    for more, kind in (
        ((again,), Kind.HOLDS),
        ((("received", opening), again), Kind.UNOBSERVED),
    ):
        view = _log(*told, *more)
        exchange = Exchange(
            id=1, connection=1, t_ms=1.0, method="POST", target="/mcp", headers={}
        )
        view = replace(
            view,
            received=tuple(replace(each, exchange=1) for each in view.received),
            sent=tuple(replace(each, exchange=1) for each in view.sent),
            exchanges=(exchange,),
        )
        assert _kind("subscription", check_id, view, *steps)[0] is kind


@pytest.mark.parametrize(
    ("order", "kind"),
    [("after-late", Kind.HOLDS), ("late-after", Kind.UNOBSERVED)],
)
def test_a_late_answer_must_find_another_call_waiting(order: str, kind: Kind) -> None:
    late = ("sent", {"id": 1, "result": {"content": [{"text": "late"}]}})
    after = ("received", _call(2, "after_late"))
    result: dict[str, Any] = {"content": [{"text": "on time"}]}
    rest = (after, late) if order == "after-late" else (late, after)
    view = _log(
        ("received", _call(1, "late")), *rest, ("sent", {"id": 2, "result": result})
    )
    steps = _step("late", error_kind="timeout"), _step("after-late", {"result": result})
    assert _kind("cancellation", "late-answer-ignored", view, *steps)[0] is kind


def test_each_late_answer_waits_for_a_call_of_its_own() -> None:
    """A second round finds nothing of the first."""

    async def rounds() -> list[str]:
        fixture = Fixture(profiles=("late-answers",), delay_s=30)
        order: list[str] = []

        async def handle(name: str, call: FakeCall) -> None:
            await fixture.server.handle(call)
            order.append(name)

        for number in (1, 2):
            late = fixture.call("tools/call", {"name": "late", "arguments": {}})
            late.gone.set()
            after = fixture.call("tools/call", {"name": "after_late", "arguments": {}})
            async with asyncio.TaskGroup() as group:
                group.create_task(handle(f"late {number}", late))
                for _ in range(9):
                    await asyncio.sleep(0)
                order.append(f"waits {number}")
                group.create_task(handle(f"after {number}", after))
        return order

    order = asyncio.run(rounds())
    expected = [f"{what} {n}" for n in (1, 2) for what in ("waits", "late", "after")]
    assert order == expected
