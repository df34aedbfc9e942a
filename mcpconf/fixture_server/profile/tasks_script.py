"""What scripted tasks say of themselves, one ``tasks/get`` after the other."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.results import text_result

if TYPE_CHECKING:
    from collections.abc import Mapping

    #: What is particular to one state of a task; None: the server knows it no more.
    State = Mapping[str, Any] | None

#: Milliseconds between two polls: as a rule, and where a task has slowed down.
_POLL_MS, _SLOW_MS = 50, 400
_TTL_MS = 300_000
WORKING: Mapping[str, Any] = {"status": "working"}
_SLOW: Mapping[str, Any] = {"status": "working", "pollIntervalMs": _SLOW_MS}
_CANCELLED: Mapping[str, Any] = {"status": "cancelled"}
#: Members that no version of the extension has, some of them under familiar names.
_ODD: Mapping[str, Any] = {
    "progress": {"done": 1, "of": 2},
    "priority": None,
    "task": {"taskId": "of-another-time", "status": "failed"},
}


def _completed(text: str, **more: Any) -> Mapping[str, Any]:
    """A state with the result of the call, which says its type as all results do."""
    result = {"resultType": "complete", **text_result(text, **more)}
    return {"status": "completed", "result": result}


def _asks(*names: str) -> Mapping[str, Any]:
    """A state in which one form is asked for under each name, which is its key."""
    return {
        "status": "input_required",
        "inputRequests": {name: form(name) for name in names},
    }


def form(name: str) -> dict[str, Any]:
    """A request of a form with one text, whose default is known."""
    text = {"type": "string", "default": f"the {name}"}
    schema = {"type": "object", "properties": {name: text}, "required": [name]}
    params = {
        "mode": "form",
        "message": f"Please give the {name}.",
        "requestedSchema": schema,
    }
    return {"method": "elicitation/create", "params": params}


@dataclass(frozen=True, slots=True, kw_only=True)
class Script:
    """What the task of one tool says of itself."""

    #: Said by one ``tasks/get`` after the other; the last is said for ever. One that
    #: asks for input is said until there was a ``tasks/update``, and then once more:
    #: an acknowledgement promises nothing for the very next snapshot.
    states: tuple[State, ...]
    #: What the answer of the call says.
    seed: Mapping[str, Any] = field(default_factory=lambda: WORKING)
    #: What its id begins with.
    prefix: str = ""
    #: A round of input comes before the task, and brings a state of its own.
    has_rounds: bool = False

    @property
    def needs_form(self) -> bool:
        """Whether it asks a user."""
        return self.has_rounds or any("inputRequests" in (s or ()) for s in self.states)


SCRIPTS: Mapping[str, Script] = {
    "task_done": Script(states=(WORKING, WORKING, _completed("done by a task"))),
    "task_seeded": Script(
        seed={"status": "completed"}, states=(_completed("done before it was told"),)
    ),
    "task_odd": Script(
        seed={**WORKING, **_ODD},
        states=({**_completed("done, oddly"), **_ODD},),
    ),
    "task_untyped": Script(
        # As in the examples of the extension itself.
        states=({"status": "completed", "result": text_result("done, and no more")},)
    ),
    "task_named": Script(
        prefix="t\u00e2che-", states=(_completed("done under another name"),)
    ),
    "task_paced": Script(
        states=(WORKING, WORKING, _SLOW, _SLOW, _completed("done in its own time"))
    ),
    "task_error_result": Script(
        states=(_completed("the tool says that it failed", isError=True),)
    ),
    "task_failed": Script(
        states=(
            {
                "status": "failed",
                "statusMessage": "the work broke",
                "error": {"code": -32603, "message": "the work broke"},
            },
        )
    ),
    "task_cancelled": Script(
        states=(WORKING, {**_CANCELLED, "statusMessage": "stopped by the server"})
    ),
    "task_lost": Script(states=(WORKING, None)),
    "task_endless": Script(states=(WORKING,)),
    "task_input": Script(
        states=(
            WORKING,
            _asks("size", "colour"),
            WORKING,
            _asks("name"),
            _completed("had its input"),
        )
    ),
    "task_after_input": Script(
        has_rounds=True, states=(_completed("had its input before"),)
    ),
    "task_between_inputs": Script(
        has_rounds=True,
        states=(_asks("reason"), _completed("had its input before and after")),
    ),
}


class ScriptedTask:
    """One task; what it says next."""

    __slots__ = ("_at", "_created", "_is_answered", "_states", "id")

    def __init__(self, script: Script) -> None:
        self.id = script.prefix + os.urandom(16).hex()
        self._states = script.states
        self._at = 0
        self._is_answered = False
        self._created = _now()

    def said(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """The whole task in a state."""
        return {
            "taskId": self.id,
            "createdAt": self._created,
            "lastUpdatedAt": _now(),
            "ttlMs": _TTL_MS,
            "pollIntervalMs": _POLL_MS,
            **state,
        }

    def next(self) -> State:
        """The state to tell of now."""
        state = self._states[self._at]
        waits = state is not None and "inputRequests" in state and not self._is_answered
        if not waits and self._at + 1 < len(self._states):
            self._at, self._is_answered = self._at + 1, False
        return state

    def update(self) -> None:
        """Input came, whatever it was."""
        self._is_answered = True

    def cancel(self) -> None:
        """Say from now on that it was cancelled."""
        self._states, self._at = (_CANCELLED,), 0


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
