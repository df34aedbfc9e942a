"""What is read out of tasks, and how a form is filled in."""

from __future__ import annotations

from typing import Any

import pytest

from mcpconf.tasks_extension.facts import (
    accepted,
    differences,
    is_asking,
    requests_of,
    state_of,
    text_of,
)


def _form(**properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"method": "elicitation/create", "params": {"requestedSchema": schema}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        pytest.param({"type": "string"}, "word", id="text"),
        pytest.param({"type": "string", "enum": ["a", "b"]}, "a", id="choice"),
        pytest.param({"type": "boolean"}, True, id="boolean"),
        pytest.param({"type": "integer", "minimum": 3}, 3, id="integer"),
        pytest.param({"type": "number"}, 1, id="number"),
        pytest.param("no schema", True, id="none"),
    ],
)
def test_a_form_is_filled_in_as_its_schema_asks(schema: Any, value: Any) -> None:
    answer = accepted(_form(field=schema), "word")
    assert answer == {"action": "accept", "content": {"field": value}}


@pytest.mark.parametrize("request_", [None, [], {}, {"params": 1}])
def test_what_is_no_form_is_confirmed(request_: Any) -> None:
    answer = accepted(request_, "word")
    assert answer == {"action": "accept", "content": {"confirm": True}}


def test_other_kinds_of_input_get_what_their_results_are_made_of() -> None:
    sampled = accepted({"method": "sampling/createMessage"}, "word")
    assert sampled["content"] == {"type": "text", "text": "word"}
    assert accepted({"method": "roots/list"}, "word") == {"roots": []}


def test_a_member_that_is_null_differs_from_one_that_is_missing() -> None:
    assert differences({"a": None, "b": 1}, {"b": 1}) == ["a"]
    assert differences({"a": 1, "b": 1}, {"b": 2, "a": 1}) == ["b"]
    assert differences({"a": {"b": [1]}}, {"a": {"b": [1]}}) == []


def test_hints_and_the_envelope_are_no_part_of_the_state() -> None:
    task = {"status": "completed", "ttlMs": 1, "pollIntervalMs": 2, "_meta": {}}
    assert state_of(task) == {"status": "completed"}


@pytest.mark.parametrize("requests", [None, [], "text", 1])
def test_requests_that_are_no_map_are_none(requests: Any) -> None:
    assert requests_of({"inputRequests": requests}) == {}
    assert requests_of(None) == {}


@pytest.mark.parametrize(
    ("status", "is_one"),
    [("input_required", True), ("failed", True), ("working", False), (None, False)],
)
def test_a_task_that_waits_or_has_ended_will_not_ask_later(
    status: Any, is_one: bool
) -> None:
    assert is_asking({"status": status}) is is_one


@pytest.mark.parametrize("result", [None, {}, {"content": 1}, {"content": [1, {}]}])
def test_a_result_without_text_has_none(result: Any) -> None:
    assert text_of({"result": result}) == ""


def test_all_text_of_a_result_is_read() -> None:
    content = [{"text": "one"}, {"type": "image"}, {"text": "two"}]
    assert text_of({"result": {"content": content}}) == "one\ntwo"
