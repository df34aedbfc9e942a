"""What a slow server shows, and one without tasks; and a race that meets."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from tasks_scene import fixture, observe

from mcpconf.server.exchange import Exchange, Form, How, Received
from mcpconf.supplemental.finding import Finding, Kind
from mcpconf.tasks_extension.definition import EXTENSION
from mcpconf.tasks_extension.facts import tasks_told
from mcpconf.tasks_extension.looks import answered_in_the_call
from mcpconf.tasks_extension.observation import Observation
from mcpconf.tasks_extension.registry import SCENARIOS

_EXCHANGE = Exchange(
    label="",
    t0_ms=0.0,
    t1_ms=1.0,
    method="POST",
    sent_headers={},
    sent={},
    status=200,
    headers={},
    form=Form.JSON,
    received=(),
    text=None,
    how=How.COMPLETE,
    problem=None,
)
_DONE = {"resultType": "complete", "content": []}
_TASK = {"resultType": "task", "taskId": "t", "status": "working"}
_ASKS = {"resultType": "input_required", "inputRequests": {"a": {}}}


def _step(
    label: str, at_ms: float, *, sent: Any = None, status: int = 200, **answer: Any
) -> Exchange:
    message = json.loads(json.dumps({"jsonrpc": "2.0", "id": 1, **answer}))
    return replace(
        _EXCHANGE,
        label=label,
        t0_ms=at_ms,
        t1_ms=at_ms + 1,
        sent=sent or {"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {}},
        status=status,
        received=(Received(t_ms=at_ms + 1, message=message),),
    )


def _found(scenario: str, check: str, *exchanges: Exchange) -> Finding:
    checks = {each.id: each for each in SCENARIOS[scenario].checks}
    return checks[check].look(Observation(exchanges=exchanges))


_CREATED = _step("create", 0, result={**_TASK, "ttlMs": 5000})
_ENDED = {"taskId": "t", "status": "completed", "result": {}}


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        (({"result": _ENDED}, {"result": _ENDED}), Kind.HOLDS),
        (({"error": {"code": -32603, "message": "busy"}}, {"result": _ENDED}), "holds"),
        (({"result": _ENDED}, {"error": {"code": -32602, "message": "no"}}), "broken"),
        (({"error": {"code": -32603, "message": "busy"}},) * 2, Kind.UNOBSERVED),
        ((), Kind.UNOBSERVED),
    ],
)
def test_only_a_task_that_is_unknown_was_not_kept(answers: Any, kind: str) -> None:
    """A server that wants to be asked later says nothing of the task."""
    steps = [
        _step(label, 100, **answer)
        for label, answer in zip(("again", "later-1"), answers, strict=False)
    ]
    end = _step("end-1", 50, result=_ENDED)
    found = _found("tasks/ttl", "there-until-its-ttl", _CREATED, end, *steps)
    assert found.kind == kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        ("working", Kind.UNOBSERVED),
        ("input_required", Kind.UNOBSERVED),
        ("failed", Kind.BROKEN),
        ("cancelled", Kind.BROKEN),
        ("completed", Kind.HOLDS),
    ],
)
def test_a_task_that_works_when_patience_is_over_was_not_seen_to_end(
    status: str, kind: Kind
) -> None:
    task = {"taskId": "t", "status": status, "result": {}}
    steps = (
        _step("get-quick-new-1", 0, result=_TASK),
        _step("get-quick-1", 9_999, result=task),
    )
    found = _found("tasks/completion", "task-completes", *steps)
    assert found.kind is kind
    assert ("still working after 10 s" in found.detail) is (kind is Kind.UNOBSERVED)


def _call(tool: str, *, declared: bool = True, **answer: Any) -> Exchange:
    capabilities: Any = {"extensions": {EXTENSION: {}}} if declared else {}
    meta = {"io.modelcontextprotocol/clientCapabilities": capabilities}
    params = {"name": tool, "_meta": meta}
    sent = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return _step(tool, 0, sent=sent, **answer)


_FAILS: Any = {"error": {"code": -32603, "message": "no"}}


@pytest.mark.parametrize(
    ("calls", "tool"),
    [
        ((_call("a", result=_DONE),), "a"),
        ((_call("a", **_FAILS), _call("b", result=_DONE)), "b"),
        ((_call("a", result=_ASKS), _call("a", result=_DONE)), "a"),
        ((_call("a", result=_ASKS),), "a"),
        ((), None),
        ((_call("a", **_FAILS),), None),
        ((_call("a", result={}),), None),
        ((_call("a", result=_ASKS), _call("a", **_FAILS)), None),
        ((_call("greet", result=_DONE),), None),
        ((_call("a", result=_DONE, declared=False),), None),
        ((_call("a", result=_DONE), _call("b", result=_TASK)), None),
        ((_call("a", result=_DONE), _call("b", result=_TASK, declared=False)), None),
        ((_call("a", result=_DONE, status=500),), None),
    ],
)
def test_a_server_makes_no_tasks_if_it_answered_and_made_none(
    calls: tuple[Exchange, ...], tool: str | None
) -> None:
    assert answered_in_the_call(Observation(exchanges=calls)) == tool


def test_the_race_of_cancellation_and_work_meets_whatever_a_second_is() -> None:
    """A task that is cancelled at once is, and one that is cancelled late is done."""
    with fixture("tasks", second_s=0.2) as url:
        seen = observe(SCENARIOS["tasks/cancellation"], url)
    ends = {
        number: {task["status"] for _, task in tasks_told(seen, f"race-{number}-")}
        for number in range(5)
    }
    assert ends[0] == {"cancelled"}
    assert {"completed"} in ends.values()
    for number in range(5):
        cancelled = seen[f"cancel-race-{number}"]
        assert cancelled is not None
        assert cancelled.result is not None
