"""
One task of the extension ``io.modelcontextprotocol/tasks`` (SEP-2663): its states.

``working`` and ``input_required`` alternate until the task is ``completed``, ``failed``
or ``cancelled``; nothing changes then. Every change is told at once to `on_change`.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Json = Any


class Status(StrEnum):
    """The five words of the extension."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_terminal(self) -> bool:
        """Whether a task never leaves this state."""
        return self not in (Status.WORKING, Status.INPUT_REQUIRED)


def now() -> datetime:
    """The time, for what is shown of a task."""
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC, to the millisecond."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03}Z"


class Task:
    """Mutable, and equal only to itself."""

    def __init__(
        self,
        task_id: str,
        *,
        ttl_ms: int | None,
        poll_ms: int,
        on_change: Callable[[Task], None],
    ) -> None:
        self.id = task_id
        #: Milliseconds from the creation; None: it is kept for ever.
        self.ttl_ms = ttl_ms
        self.poll_ms = poll_ms
        self.status = Status.WORKING
        self.message: str | None = None
        self.created = self.updated = now()
        #: Of a completed task.
        self.result: Mapping[str, Any] | None = None
        #: Of a failed task: a JSON-RPC error object.
        self.error: Mapping[str, Any] | None = None
        #: What is asked and not answered, by key.
        self.asked: dict[str, Mapping[str, Any]] = {}
        #: What was answered, by key; a key is there once in the life of the task.
        self.answers: dict[str, Json] = {}
        self._keys = 0
        self._on_change = on_change
        self._answered = asyncio.Event()

    def new_key(self) -> str:
        """A key of an input request that the task has not had before."""
        self._keys += 1
        return f"input-{self._keys}"

    async def ask(self, requests: Mapping[str, Mapping[str, Any]]) -> dict[str, Json]:
        """Ask for input, and wait until all of it is there; the answers by key."""
        self.asked |= requests
        self._answered.clear()
        self._turn(Status.INPUT_REQUIRED)
        await self._answered.wait()
        return {key: self.answers[key] for key in requests if key in self.answers}

    def take(self, answers: Mapping[str, Json]) -> None:
        """Take answers to what is asked; the task goes on when nothing is left."""
        for key, answer in answers.items():
            del self.asked[key]
            self.answers[key] = answer
        if answers and not self.asked:
            self.go_on()
        elif answers:
            self.touch()

    def go_on(self) -> None:
        """Work on, with the answers there are."""
        self._turn(Status.WORKING)
        self._answered.set()

    def complete(self, result: Mapping[str, Any]) -> None:
        """End with what the call would have returned."""
        if not self.status.is_terminal:
            self.result = result
            self._turn(Status.COMPLETED)

    def fail(self, error: Mapping[str, Any]) -> None:
        """End with a JSON-RPC error, which the status message repeats in words."""
        if not self.status.is_terminal:
            self.error = error
            self.message = str(error["message"])
            self._turn(Status.FAILED)

    def cancel(self) -> None:
        """End because the client wants it."""
        if not self.status.is_terminal:
            self._turn(Status.CANCELLED)

    def touch(self) -> None:
        """Take note of a change, and tell of it."""
        self.updated = now()
        self._on_change(self)

    def _turn(self, status: Status) -> None:
        self.status = status
        if status.is_terminal:
            self.asked = {}
        self.touch()
