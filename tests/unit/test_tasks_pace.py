"""How often a drive asks for a task, and what it asks of a server without tasks."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tasks_scripted import ANSWER, Scripted, session_of, task

from mcpconf.server.exchange import Exchange, How
from mcpconf.tasks_extension.session import OutOfTime

if TYPE_CHECKING:
    from collections.abc import Mapping


class Clock:
    """Time that passes only where somebody waits."""

    def __init__(self) -> None:
        self.now = 100.0
        self.waited: list[float] = []

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.waited.append(seconds)
        self.now += seconds
        return False


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for name in ("pace", "session"):
        monkeypatch.setattr(f"mcpconf.tasks_extension.{name}.time", made)
    monkeypatch.setattr("mcpconf.tasks_extension.session.threading.Event", lambda: made)
    return made


def test_a_task_is_not_asked_for_sooner_than_its_interval_says(clock: Clock) -> None:
    """The first time at once, and each task for itself."""
    scripted = Scripted(lambda each: task(taskId=_id_in(each), pollIntervalMs=2000))
    session = session_of(scripted)
    for label, task_id in (("a", "t"), ("b", "other")):
        session.get(label, task_id)
    assert clock.waited == []
    session.get("c", "t")
    assert clock.waited == [2.0]
    session.get("d", "other")  # its time was over in the meantime
    session.cancel("e", "t")
    session.update("f", "t", {})
    assert clock.waited == [2.0]


def _id_in(message: Mapping[str, Any]) -> str:
    return str(message["params"]["taskId"])


def test_the_interval_of_the_creation_counts_and_stays_where_none_is_told(
    clock: Clock,
) -> None:
    def answer(message: Mapping[str, Any]) -> dict[str, Any]:
        if message["method"] == "tools/call":
            return task(resultType="task", pollIntervalMs=500)
        return {"error": {"code": -32603, "message": "polled too fast"}}

    session = session_of(Scripted(answer))
    task_id = session.create("create", "tool")
    session.get("first", task_id)
    assert clock.waited == []
    session.get("second", task_id)
    session.get("third", task_id)
    assert clock.waited == [0.5, 0.5]


def test_no_interval_is_no_reason_to_wait_and_no_pause_is_endless(clock: Clock) -> None:
    told: list[Any] = [None, 10**400, None]
    scripted = Scripted(lambda _: task(pollIntervalMs=told[len(scripted.sent) - 1]))
    session = session_of(scripted)
    for label in ("a", "b"):
        session.get(label, "t")
    assert clock.waited == []
    session.get("c", "t")
    assert clock.waited == [5.0]


def test_polls_and_settling_keep_to_the_interval(clock: Clock) -> None:
    """One pause between two requests, not two."""
    statuses = iter(["working", "working", "completed"])
    scripted = Scripted(lambda _: task(status=next(statuses), pollIntervalMs=700))
    session = session_of(scripted)
    session.settle("settle", "t")
    session.poll("poll", "t")
    assert clock.waited == pytest.approx([0.7, 0.7])


def test_a_pause_that_outlasts_the_drive_is_cut(clock: Clock) -> None:
    scripted = Scripted(lambda _: task(pollIntervalMs=4000))
    session = session_of(scripted, deadline_s=1.0)
    session.get("a", "t")
    with pytest.raises(OutOfTime, match="b"):
        session.get("b", "t")
    assert clock.waited == [1.0]


def test_a_tool_that_works_in_the_call_is_given_no_more_long_work() -> None:
    def answer(message: Mapping[str, Any]) -> dict[str, Any]:
        assert message["params"]["arguments"]["seconds"] == 0
        return {"result": {"resultType": "complete", "content": []}}

    scripted = Silent(answer)
    session = session_of(scripted)
    for label in ("create", "create-2"):
        assert session.create(label, "tool", {"seconds": 600, "label": "a"}) is None
    seconds = [each["params"]["arguments"]["seconds"] for each in scripted.sent]
    assert seconds == [600, 0]
    assert session.create("create-3", "tool", {"seconds": 0}) is None
    assert len(scripted.sent) == 3


class Silent(Scripted):
    """One that does not come to an end of long work."""

    def post(self, label: str, body: bytes, **more: Any) -> Exchange:
        message = json.loads(body)
        if message["params"]["arguments"]["seconds"] == 0:
            return super().post(label, body, **more)
        self.sent.append(message)
        sent = replace(ANSWER, label=label, sent=message)
        return replace(sent, status=None, received=(), how=How.TIMED_OUT)
