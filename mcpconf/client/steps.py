"""
The steps of a supplemental drive, and what is noted of each.

A driver makes one `Results`, hands every step of the job to `Results.take` together
with the function that has its client do it, and calls `finish` when its client has
ended. What a step yields is a value, or one of three exceptions:

`StepError`          the client says that the step failed, and how
`job.Unsupported`    the client has no way to do this step
`StepTimedOut`       the step outlived `Results.remaining_s`; ends the drive

Every other exception ends the drive too and leaves no result for the step.
"""

from __future__ import annotations

import json
import time

from mcpconf.client import residue
from mcpconf.client.job import ClientError, Unsupported

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from mcpconf.client.job import Record

    Step = dict[str, Any]

#: What `StepError.kind` may say.
ERROR_KINDS = ("rpc", "refused", "transport", "timeout", "other")
#: Beyond the client's own limit for a request: it must be able to say that it hit it.
GRACE_S = 3.0
#: All results of a drive, as JSON; below what `evidence` reads of an adapter record.
MAX_RESULTS = 12 * 1024 * 1024
_MESSAGE = 2000

_ITEM_KEYS = ("name", "uri", "uriTemplate")
_NOTIFICATIONS = (
    ("notifications", "a list of objects"),
    ("notifications.*.method", "a string!"),
    ("notifications.*.params", "an object"),
)
#: What the value of a verb holds: where, and of which shape of `_FITS`. An asterisk
#: stands for every element. Only where the shape ends in ``!`` it must be there; else
#: null is as good.
_SHAPES = {
    "connect": (
        ("protocolVersion", "a string"),
        ("serverInfo", "an object"),
        ("capabilities", "an object"),
        ("instructions", "a string"),
    ),
    "list": (
        ("items", "a list of objects!"),
        *((f"items.*.{key}", "a string") for key in _ITEM_KEYS),
    ),
    "call": (
        ("result", "an object!"),
        ("result.content", "a list of objects"),
        ("result.isError", "a boolean"),
        *_NOTIFICATIONS,
        ("elicitations", "a list of objects!"),
    ),
    "read": (("contents", "a list of objects!"),),
    "prompt": (
        ("messages", "a list of objects!"),
        ("messages.*.content", "an object!"),
    ),
    "await": (("params", "an object!"),),
    "listen": (("notifications", "a list of objects!"), *_NOTIFICATIONS[1:]),
}


class StepError(Exception):
    """A step failed: one of `ERROR_KINDS`, and the server's code for ``rpc``."""

    def __init__(self, kind: str, message: str, code: int | None = None) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind, self.message, self.code = kind, message, code


class StepTimedOut(ClientError):  # noqa: N818 (an event of the drive)
    """The client did not come back from a step."""


def limit_s(step: Step, request_timeout_s: float) -> float:
    """Seconds a step may take: a request's limit, its own waiting, and some grace."""
    waiting = float(step.get("timeout_s") or 0) + float(step.get("after_s") or 0)
    return request_timeout_s + waiting + GRACE_S


def shaped(value: object, step: Step) -> dict[str, Any]:
    """
    The value of a step, once it is of the shape that its verb promises.

    An odd value is the client's own failure; no check could say so as plainly.

    :raises ClientError: it is of another shape.
    """
    if not isinstance(value, dict):
        raise ClientError(f"step {step['id']}: value is not an object")
    for path, shape in _SHAPES.get(step["verb"], ()):
        words, is_due = shape.rstrip("!"), shape.endswith("!")
        for place, each in _places(value, path):
            if (is_due or each is not None) and not _FITS[words](each):
                raise ClientError(f"step {step['id']}: value.{place} is not {words}")
    return value


def _places(value: dict[str, Any], path: str) -> list[tuple[str, Any]]:
    """What is at a path, each with its own name: ``items.3.name``."""
    found: list[tuple[str, Any]] = [("", value)]
    for name in path.split("."):
        below = []
        for place, each in found:
            if name != "*":
                below.append((f"{place}.{name}".lstrip("."), each.get(name)))
            elif each is not None:
                below += [(f"{place}.{n}", element) for n, element in enumerate(each)]
        found = below
    return found


def _are_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, dict) for each in value)


_FITS: dict[str, Callable[[Any], bool]] = {
    "a string": lambda value: isinstance(value, str),
    "a boolean": lambda value: isinstance(value, bool),
    "an object": lambda value: isinstance(value, dict),
    "a list of objects": _are_objects,
}


class Results:
    """The results of one drive, kept in ``record.results``."""

    def __init__(self, record: Record, pid: int | None = None) -> None:
        """`pid` is the client's process, for what is noted beside each result."""
        self.record = record
        self.pid = pid
        self._listening: list[int] = []
        self._size = 0
        self._deadline = 0.0
        self._results: list[dict[str, Any]] = []
        record.results = self._results

    def remaining_s(self) -> float:
        """Seconds left for the step being taken; never negative."""
        left = self._deadline - time.monotonic()
        return max(0.0, min(left, self.record.remaining_s()))

    def take(self, step: Step, act: Callable[[Step], dict[str, Any]]) -> None:
        """
        Have `act` do one step, and note what came of it.

        Its value must be of the shape that the verb promises (see `shaped`).
        `act` keeps to `remaining_s` itself and raises `StepTimedOut` beyond it.

        :raises StepTimedOut: it did; that is noted.
        :raises ClientError: the client failed otherwise, or said too much, or what no
            such step yields.
        """
        self._deadline = time.monotonic() + limit_s(
            step, self.record.job.request_timeout_s
        )
        started = time.monotonic()
        try:
            outcome: dict[str, Any] = {"ok": True, "value": shaped(act(step), step)}
        except StepError as error:
            outcome = {"ok": False, "error": _error(error)}
        except Unsupported as why:
            outcome = {"unsupported": str(why)[:_MESSAGE]}
        except StepTimedOut as problem:
            self._note(step, started, {"timed_out": True}, is_last=True)
            self.record.step(step["id"], str(problem), ok=False)
            raise
        is_last = step is self.record.job.steps[-1]
        self._note(step, started, outcome, is_last=is_last)
        # Not `ok=False`: a failure may be what the scenario asks of a client.
        told = "" if outcome.get("ok") else json.dumps(outcome)
        self.record.step(step["id"], told)

    def finish(self) -> None:
        """Note what the client left; call it when its process has ended."""
        self.record.aftermath = residue.aftermath(self.record.job.tmp, self._listening)

    def _note(
        self, step: Step, started: float, outcome: dict[str, Any], *, is_last: bool
    ) -> None:
        result = {
            "id": step["id"],
            **outcome,
            "t0_ms": round(started * 1000, 3),
            "t1_ms": round(time.monotonic() * 1000, 3),
            **self._annotations(is_last=is_last),
        }
        self._size += len(json.dumps(result))
        if self._size > MAX_RESULTS:
            raise ClientError(f"{step['id']}: results of over {MAX_RESULTS} bytes")
        self._results.append(result)

    def _annotations(self, *, is_last: bool) -> dict[str, Any]:
        if self.pid is None:
            return {"fds": None, "children": []}
        below = residue.descendants(self.pid)
        pids = [self.pid, *(each.pid for each in below)]
        if is_last:  # the system's table of sockets is long where much is tested
            self._listening = residue.listening(pids)
        # A launcher round the client must hide nothing of what the client holds; a
        # server that takes its time to end is not held by anybody.
        servers = [each.get("argv") for each in self.record.job.servers.values()]
        held = [pid for pid in pids if not residue.is_server(pid, servers)]
        return {"fds": residue.descriptors(held), "children": residue.names(below)}


def _error(error: StepError) -> dict[str, Any]:
    said: dict[str, Any] = {"kind": error.kind, "message": error.message[:_MESSAGE]}
    return said if error.code is None else {**said, "code": error.code}
