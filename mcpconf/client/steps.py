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

        `act` keeps to `remaining_s` itself and raises `StepTimedOut` beyond it.

        :raises StepTimedOut: it did; that is noted.
        :raises ClientError: the client failed otherwise, or said too much.
        """
        self._deadline = time.monotonic() + limit_s(
            step, self.record.job.request_timeout_s
        )
        started = time.monotonic()
        try:
            outcome: dict[str, Any] = {"ok": True, "value": act(step)}
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
        if is_last:  # the system's table of sockets is long where much is tested
            pids = [self.pid, *(each.pid for each in below)]
            self._listening = residue.listening(pids)
        return {"fds": residue.descriptors(self.pid), "children": residue.names(below)}


def _error(error: StepError) -> dict[str, Any]:
    said: dict[str, Any] = {"kind": error.kind, "message": error.message[:_MESSAGE]}
    return said if error.code is None else {**said, "code": error.code}
