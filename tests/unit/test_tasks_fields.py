"""Members of a task, one by one: what is right, and what is not."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

import pytest

from mcpconf.redaction import PLACEHOLDER
from mcpconf.server.exchange import Exchange, Form, How, Received
from mcpconf.supplemental.finding import Kind
from mcpconf.tasks_extension.definition import Level
from mcpconf.tasks_extension.looks import is_refused, names_the_extension, told
from mcpconf.tasks_extension.observation import Observation
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.tasks_extension.scenarios.fields import (
    has_interval,
    has_known_status,
    has_no,
    has_timestamps,
    has_ttl,
    is_timestamp,
    is_whole,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_CREATION = {each.id: each for each in SCENARIOS["tasks/creation"].checks}
_NEGOTIATION = {each.id: each for each in SCENARIOS["tasks/negotiation"].checks}


def _answer(label: str, status: int | None = 200, **members: Any) -> Exchange:
    message = {"jsonrpc": "2.0", "id": 1, **members}
    return Exchange(
        label=label,
        t0_ms=0.0,
        t1_ms=1.0,
        method="POST",
        sent_headers={},
        sent={"jsonrpc": "2.0", "id": 1, "method": "tools/call"},
        status=status,
        headers={},
        form=Form.JSON,
        received=(Received(t_ms=1.0, message=json.loads(json.dumps(message))),),
        text=None,
        how=How.COMPLETE,
        problem=None,
    )


def _kind_of_ids(check: str, ids: Sequence[str]) -> Kind:
    exchanges = tuple(
        _answer(f"create-{number}", result={"taskId": each, "resultType": "task"})
        for number, each in enumerate(ids)
    )
    return _CREATION[check].look(Observation(exchanges=exchanges)).kind


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        pytest.param([str(uuid.uuid4()) for _ in range(5)], Kind.HOLDS, id="uuid4"),
        pytest.param(
            [f"task-{uuid.uuid4().hex}-eu" for _ in range(5)], Kind.HOLDS, id="affixes"
        ),
        pytest.param(
            [f"0193a2b4-c5d6-7{uuid.uuid4().hex[:15]}" for _ in range(5)],
            Kind.HOLDS,
            id="time-and-random",
        ),
        pytest.param([f"task-{n}" for n in range(5)], Kind.BROKEN, id="counted"),
        pytest.param([f"{n:032d}" for n in range(5)], Kind.BROKEN, id="padded"),
        pytest.param(
            [f"{1_790_000_000_000 + n * 137}-{'f' * 12}" for n in range(5)],
            Kind.BROKEN,
            id="milliseconds",
        ),
        pytest.param(
            [f"{0x5E1B0C00 + n:08x}-7c1a-11f1-9c2e-0242ac120002" for n in range(5)],
            Kind.BROKEN,
            id="uuid1",
        ),
        pytest.param(
            [uuid.uuid4().hex[:15] for _ in range(5)], Kind.BROKEN, id="short"
        ),
        pytest.param([str(uuid.uuid4())] * 5, Kind.BROKEN, id="one-for-all"),
        pytest.param(
            [str(uuid.uuid4()) for _ in range(4)], Kind.UNOBSERVED, id="too-few"
        ),
        pytest.param([PLACEHOLDER] * 5, Kind.NOT_APPLICABLE, id="redacted"),
    ],
)
def test_ids_are_unguessable_as_far_as_can_be_seen(ids: list[str], kind: Kind) -> None:
    assert _kind_of_ids("task-ids-are-unguessable", ids) is kind


@pytest.mark.parametrize(
    ("ids", "kind"),
    [
        pytest.param([str(uuid.uuid4()) for _ in range(5)], Kind.HOLDS, id="uuid4"),
        pytest.param(
            [f"0193a2b4-c5d{n}-7{uuid.uuid4().hex[:15]}" for n in range(5)],
            Kind.HOLDS,
            id="time-and-random",
        ),
        pytest.param(["q7", "c1", "x9", "a4", "m2"], Kind.HOLDS, id="short"),
        pytest.param([f"t{n}" for n in (5, 1, 9, 3, 7)], Kind.HOLDS, id="no-order"),
        pytest.param(["+a", "+b", "+ü", "+d", "+e"], Kind.HOLDS, id="no-number"),
        pytest.param([f"task-{n}" for n in range(8, 13)], Kind.BROKEN, id="counted"),
        pytest.param([f"t{9 - n}" for n in range(5)], Kind.BROKEN, id="down"),
        pytest.param([f"{n:032d}" for n in range(5)], Kind.BROKEN, id="padded"),
        pytest.param([f"{n:x}-eu" for n in range(8, 13)], Kind.BROKEN, id="hex"),
        pytest.param(
            [f"{1_790_000_000_000 + n * 137}-{'f' * 12}" for n in range(5)],
            Kind.BROKEN,
            id="milliseconds",
        ),
        pytest.param(
            [f"{0x5E1B0C00 + n:08x}-7c1a-11f1-9c2e-0242ac120002" for n in range(5)],
            Kind.BROKEN,
            id="uuid1",
        ),
        pytest.param([str(uuid.uuid4())] * 5, Kind.BROKEN, id="one-for-all"),
        pytest.param(["a", "b", "c", "d"], Kind.UNOBSERVED, id="too-few"),
        pytest.param([PLACEHOLDER] * 5, Kind.NOT_APPLICABLE, id="redacted"),
    ],
)
def test_no_id_is_another_or_the_next_to_it(ids: list[str], kind: Kind) -> None:
    """How long they are is not asked here, nor whether they are random."""
    assert _kind_of_ids("task-ids-do-not-count", ids) is kind


def test_only_what_anybody_could_count_is_a_must() -> None:
    assert _CREATION["task-ids-do-not-count"].level is Level.MUST
    assert _CREATION["task-ids-are-unguessable"].level is Level.POLICY


@pytest.mark.parametrize(
    ("value", "is_right"),
    [
        ("2026-11-30T18:54:37Z", True),
        ("2026-11-30T18:54:37.211Z", True),
        ("2026-11-30T18:54:37.211+02:00", True),
        ("2026-11-30", False),
        ("2026-13-30T18:54:37Z", False),
        ("Mon Nov 30 12:00:00 2026", False),
        ("yesTerday", False),
        (1_800_000_000, False),
        (None, False),
    ],
)
def test_a_timestamp_is_a_date_and_a_time(value: object, is_right: bool) -> None:
    assert is_timestamp(value) is is_right


@pytest.mark.parametrize(
    ("value", "is_right"),
    [(0, True), (5, True), (-1, False), (5.0, False), (True, False), ("5", False)],
)
def test_a_number_of_milliseconds_is_whole(value: object, is_right: bool) -> None:
    assert is_whole(value) is is_right


@pytest.mark.parametrize(
    ("look", "task", "kind"),
    [
        (has_ttl, {"ttlMs": 5}, Kind.HOLDS),
        (has_ttl, {"ttlMs": None}, Kind.HOLDS),
        (has_ttl, {}, Kind.BROKEN),
        (has_ttl, {"ttlMs": 5, "ttl": 5}, Kind.BROKEN),
        (has_ttl, {"ttlMs": 5.5}, Kind.BROKEN),
        (has_interval, {"pollIntervalMs": 5}, Kind.HOLDS),
        (has_interval, {}, Kind.NOT_APPLICABLE),
        (has_interval, {"pollInterval": 5}, Kind.BROKEN),
        (has_interval, {"pollIntervalMs": None}, Kind.BROKEN),
        (has_known_status, {"status": "input_required"}, Kind.HOLDS),
        (has_known_status, {"status": "running"}, Kind.BROKEN),
        (has_known_status, {"status": "failed", "statusMessage": "a"}, Kind.HOLDS),
        (has_known_status, {"status": "working", "statusMessage": 1}, Kind.BROKEN),
        (has_known_status, {"status": "working", "statusMessage": None}, Kind.BROKEN),
        (has_known_status, {"status": ["working"]}, Kind.BROKEN),
        (has_timestamps, {"createdAt": "2026-11-30T18:54:37Z"}, Kind.BROKEN),
        (has_no("a", "b"), {"c": 1}, Kind.HOLDS),
        (has_no("a", "b"), {"b": None}, Kind.BROKEN),
    ],
)
def test_a_member_is_right_or_it_is_not(look: Any, task: Any, kind: Kind) -> None:
    assert look("tasks/get", (task,)).kind is kind


@pytest.mark.parametrize(
    "look", [has_ttl, has_known_status, has_no("a"), has_timestamps]
)
def test_of_no_task_nothing_holds(look: Any) -> None:
    assert look("tasks/get", ()).kind is Kind.UNOBSERVED


def test_one_wrong_task_among_many_is_found() -> None:
    tasks = ({"ttlMs": 5}, {"ttlMs": "5"}, {"ttlMs": 5})
    finding = has_ttl("tasks/get", tasks)
    assert finding.kind is Kind.BROKEN
    assert '"5"' in finding.detail


@pytest.mark.parametrize(
    ("exchange", "kind"),
    [
        (_answer("a", 400, error={"code": -32602, "message": "x"}), Kind.HOLDS),
        (_answer("a", 200, error={"code": -32602, "message": "x"}), Kind.BROKEN),
        (_answer("a", 400, error={"code": -32603, "message": "x"}), Kind.BROKEN),
        (_answer("a", 200, result={}), Kind.BROKEN),
        (_answer("a", 500), Kind.BROKEN),
        (_answer("a", None), Kind.UNOBSERVED),
    ],
    ids=["so", "status", "code", "served", "no-response", "silence"],
)
def test_silence_is_no_refusal(exchange: Exchange, kind: Kind) -> None:
    """And what it was answered with is told."""
    finding = is_refused(exchange, -32602, 400)
    assert finding.kind is kind
    assert told(exchange) in finding.detail


@pytest.mark.parametrize(
    ("check", "label"),
    [
        ("required-tool-is-refused", "required"),
        ("undeclared-get-is-refused", "undeclared-get"),
        ("undeclared-update-is-refused", "undeclared-update"),
        ("undeclared-cancel-is-refused", "undeclared-cancel"),
    ],
)
def test_the_code_of_the_draft_is_named_beside_the_one_that_took_its_place(
    check: str, label: str
) -> None:
    look = _NEGOTIATION[check].look
    error = {"code": -32003, "message": "x"}
    finding = look(Observation(exchanges=(_answer(label, 400, error=error),)))
    assert finding.kind is Kind.BROKEN
    assert "-32003" in finding.detail
    assert "renumbered to -32021" in finding.detail


_EXTENSION = "io.modelcontextprotocol/tasks"


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"requiredCapabilities": {"extensions": {_EXTENSION: {}}}}, Kind.HOLDS),
        (
            {
                "requiredCapabilities": {
                    "elicitation": {"form": {}},
                    "extensions": {_EXTENSION: {"list": True}, "com.example/b": {}},
                }
            },
            Kind.HOLDS,
        ),
        ({"requiredCapabilities": {"extensions": {"com.example/b": {}}}}, Kind.BROKEN),
        ({"requiredCapabilities": {"extensions": [_EXTENSION]}}, Kind.BROKEN),
        ({"requiredCapabilities": [_EXTENSION]}, Kind.BROKEN),
        ({"requiredCapabilities": {_EXTENSION: {}}}, Kind.BROKEN),
        (None, Kind.BROKEN),
    ],
)
def test_what_is_missing_may_be_more_than_the_extension(data: Any, kind: Kind) -> None:
    error = {"code": -32021, "message": "x", "data": data}
    assert names_the_extension(error).kind is kind
    look = _NEGOTIATION["refusal-names-the-extension"].look
    refused = _answer("required", 400, error=error)
    served = _answer("required-declared", result={"taskId": "t"})
    assert look(Observation(exchanges=(refused, served))).kind is kind


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ({"result": {"taskId": "t"}}, Kind.HOLDS),
        ({"error": {"code": -32021, "message": "x"}}, Kind.UNOBSERVED),
    ],
)
def test_a_tool_that_refuses_everybody_refuses_nobody_rightly(
    declared: Any, kind: Kind
) -> None:
    required: Any = {"extensions": {_EXTENSION: {}}}
    error = {
        "code": -32021,
        "message": "x",
        "data": {"requiredCapabilities": required},
    }
    exchanges = (
        _answer("required", 400, error=error),
        _answer("required-declared", **declared),
    )
    for check in (
        "required-tool-is-refused",
        "refusal-names-the-extension",
        "refusal-is-a-bad-request",
    ):
        assert _NEGOTIATION[check].look(Observation(exchanges=exchanges)).kind is kind


_TOOL_ERROR = {"resultType": "complete", "content": [], "isError": True}


@pytest.mark.parametrize(
    ("hinted", "plain", "kind"),
    [
        ({"result": {"content": []}}, {"result": {"content": []}}, Kind.HOLDS),
        ({"result": _TOOL_ERROR}, {"result": {"content": []}}, Kind.BROKEN),
        ({"result": _TOOL_ERROR}, {"result": _TOOL_ERROR}, Kind.UNOBSERVED),
        ({"result": {"content": []}}, {"result": _TOOL_ERROR}, Kind.UNOBSERVED),
        ({"error": {"code": 1}}, {"result": {"content": []}}, Kind.BROKEN),
        ({"error": {"code": 1}}, {"error": {"code": 1}}, Kind.UNOBSERVED),
        ({}, {"result": {"content": []}}, Kind.UNOBSERVED),
    ],
)
def test_an_old_parameter_is_to_blame_only_where_it_makes_the_difference(
    hinted: Any, plain: Any, kind: Kind
) -> None:
    exchanges = (_answer("first", **plain), _answer("hinted", **hinted))
    look = _NEGOTIATION["legacy-parameter-is-ignored"].look
    assert look(Observation(exchanges=exchanges)).kind is kind


_DONE = {"resultType": "complete", "content": []}


@pytest.mark.parametrize(
    ("declared", "undeclared", "kind"),
    [
        (_DONE, _DONE, Kind.NOT_APPLICABLE),
        ({"resultType": "task", "taskId": "t"}, _DONE, Kind.BROKEN),
        (_DONE, {"resultType": "task", "taskId": "t"}, Kind.BROKEN),
        ({}, _DONE, Kind.BROKEN),
        (_DONE, None, Kind.UNOBSERVED),
    ],
)
def test_a_tool_that_never_makes_a_task_needs_none(
    declared: Any, undeclared: Any, kind: Kind
) -> None:
    silence = None if undeclared is None else 200
    exchanges = (
        _answer("required", silence, **({"result": undeclared} if undeclared else {})),
        _answer("required-declared", result=declared),
    )
    look = _NEGOTIATION["required-tool-is-refused"].look
    assert look(Observation(exchanges=exchanges)).kind is kind
