"""
A program that takes steps: one JSON object a line, out by stdin, back by a pipe.

The driver's side of the second half of ``docs/launch.md``.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import time

from mcpconf.client.job import ClientError, Unsupported
from mcpconf.client.steps import ERROR_KINDS, StepError, StepTimedOut

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from mcpconf.client.job import Job, Record
    from mcpconf.client.steps import Results, Step

#: A longer line is refused: no result of a scenario comes near it.
MAX_LINE = 8 * 1024 * 1024
#: Deeper nesting of its objects and lists is refused: whoever reads the record later
#: takes it apart by recursion.
MAX_DEPTH = 64
#: How long it may take to close its connections and leave.
EXIT_S = 5.0
_CHUNK = 65536
_LOOK_S = 0.05
#: Outcomes, by what else they must hold.
_VALUE, _WHY = "value", "unsupported"


class ClientGone(Exception):  # noqa: N818 (an end, which may even be a good one)
    """The program closed its pipe: it ended, or will not answer any more."""


def environment(job: Job) -> dict[str, str]:
    """What the program is told, but for the pipe."""
    return {
        **job.environment,
        "MCPCONF_SCENARIO": job.scenario,
        "MCPCONF_REVISION": job.revision,
        "MCPCONF_TRANSPORT": job.transport or "",
        "MCPCONF_SERVERS": json.dumps(dict(job.servers)),
        "MCPCONF_REQUEST_TIMEOUT_S": f"{job.request_timeout_s:g}",
    }


class Program:
    """The running program."""

    def __init__(self, record: Record, results: Results) -> None:
        """
        Start it.

        :raises OSError: it cannot be started.
        """
        self._record, self._results = record, results
        self._rest = bytearray()
        self._searched = 0
        self._read, write = os.pipe()
        variables = {**environment(record.job), "MCPCONF_RESULTS_FD": str(write)}
        try:
            # Inherits stdout and stderr: they are bounded and collected outside.
            self._process = subprocess.Popen(
                record.job.argv,
                cwd=record.job.cwd,
                env=variables,
                stdin=subprocess.PIPE,
                pass_fds=(write,),
            )
        except OSError:
            os.close(self._read)
            raise
        finally:
            os.close(write)
        results.pid = self._process.pid

    def take_all(self) -> int:
        """
        Take every step, end the program's input, and wait; its exit status.

        :raises ClientError: it broke the contract, or left before the last step.
        :raises StepTimedOut: it outlived a step's limit, or would not leave.
        """
        for step in self._record.job.steps:
            try:
                self._results.take(step, self._act)
            except ClientGone:
                return self._gone(step)
        self._close_input()
        return self._wait("exit")

    def leave(self) -> int | None:
        """
        Stop listening to it; its exit status, None when it stays.

        Whatever it is still writing breaks off, so that it need not be waited for.
        """
        self._close_pipes()
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(min(EXIT_S, self._record.remaining_s()))
        return None

    def kill(self) -> None:
        """End it; whatever it started is the supervisor's to end."""
        self._close_pipes()
        self._process.kill()
        self._process.wait()

    def _gone(self, step: Step) -> int:
        status = self._wait(step["id"])
        if status == 0:
            self._record.ended("exited", exit_code=0)
            raise ClientError(f"{step['id']}: the program exited before its result")
        return status

    def _wait(self, name: str) -> int:
        limit_s = min(EXIT_S, self._record.remaining_s())
        try:
            return self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            problem = f"the program is still running {limit_s:g} s after its last word"
            self._record.step(name, problem, ok=False)
            raise StepTimedOut(f"{name}: {problem}") from None

    def _close_input(self) -> None:
        stdin = self._process.stdin
        if stdin is not None:
            with contextlib.suppress(OSError):
                stdin.close()

    def _close_pipes(self) -> None:
        self._close_input()
        read, self._read = self._read, -1
        if read >= 0:
            os.close(read)

    def _act(self, step: Step) -> dict[str, Any]:
        self._refuse_ahead(step)
        self._send(step)
        line = self._line(step)
        result = _parse(line, step)
        return _outcome(result, step)

    def _refuse_ahead(self, step: Step) -> None:
        """What is there before its step was sent is not a result of that step."""
        if not self._rest and select.select([self._read], [], [], 0)[0]:
            self._rest += os.read(self._read, _CHUNK)  # empty where the pipe is closed
        if self._rest:
            _refuse(step, f"wrote ahead of the step: {bytes(self._rest[:200])!r}")

    def _send(self, step: Step) -> None:
        stdin = self._process.stdin
        if stdin is None:  # a pipe: asked for above
            raise AssertionError
        # A step is far smaller than a pipe, so this cannot block on an idle program.
        try:
            stdin.write(json.dumps(step).encode() + b"\n")
            stdin.flush()
        except BrokenPipeError:
            raise ClientGone from None

    def _line(self, step: Step) -> bytes:
        deadline = time.monotonic() + self._results.remaining_s()
        while (end := self._rest.find(b"\n", self._searched)) < 0:
            self._searched = len(self._rest)
            if self._searched > MAX_LINE:
                _refuse(step, f"wrote a line of over {MAX_LINE} bytes")
            if not self._is_readable(deadline):
                raise StepTimedOut(f"{step['id']}: no result within its limit")
            chunk = os.read(self._read, _CHUNK)
            if not chunk:
                self._cut_off(step)
            self._rest += chunk
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        self._searched = 0
        return line

    def _is_readable(self, deadline: float) -> bool:
        """
        Wait for the pipe; False after `deadline`.

        :raises ClientGone: the program ended, and a child of its holds the pipe open.
        """
        while (left_s := deadline - time.monotonic()) > 0:
            gone = self._process.poll() is not None
            wait_s = 0 if gone else min(left_s, _LOOK_S)
            if select.select([self._read], [], [], wait_s)[0]:
                return True
            if gone:
                raise ClientGone
        return False

    def _cut_off(self, step: Step) -> NoReturn:
        if self._rest:
            self._record.step(
                step["id"], f"half a line: {bytes(self._rest[:200])!r}", ok=False
            )
        raise ClientGone


def _refuse(step: Step, problem: str) -> NoReturn:
    raise ClientError(f"{step['id']}: the program {problem}")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if value in {float("inf"), float("-inf")}:
        raise ValueError(f"{digits[:20]} is too large")
    return value


def _is_deeper(value: object, levels: int) -> bool:
    """Whether more than so many objects and lists are inside each other."""
    holders = [value] if isinstance(value, (dict, list)) else []
    for _ in range(levels):
        holders = [
            each
            for holder in holders
            for each in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(each, (dict, list))
        ]
    return bool(holders)


def _parse(line: bytes, step: Step) -> dict[str, Any]:
    try:
        # As strict as the reader of the record: what passes here can be read back.
        result = json.loads(
            line.decode("utf-8"), parse_constant=_no_constant, parse_float=_finite
        )
        is_deep = _is_deeper(result, MAX_DEPTH)
    except ValueError:
        _refuse(step, f"wrote a line that is not JSON: {line[:200]!r}")
    except RecursionError:
        is_deep = True
    if is_deep:
        _refuse(step, f"wrote a line of over {MAX_DEPTH} levels: {line[:200]!r}")
    if not isinstance(result, dict):
        _refuse(step, f"wrote a line that is not an object: {line[:200]!r}")
    if result.get("id") != step["id"]:
        _refuse(step, f"answered under the id {str(result.get('id'))[:200]!r}")
    return result


def _outcome(result: dict[str, Any], step: Step) -> dict[str, Any]:
    value, why, error = (result.get(each) for each in (_VALUE, _WHY, "error"))
    if isinstance(why, str):
        raise Unsupported(why)
    if result.get("ok") is True and isinstance(value, dict):
        return value
    if result.get("ok") is False and isinstance(error, dict):
        raise _step_error(error, step)
    _refuse(step, f"wrote no result: {json.dumps(result)[:200]}")


def _step_error(error: dict[str, Any], step: Step) -> StepError:
    kind, code, message = (error.get(each) for each in ("kind", "code", "message"))
    if kind not in ERROR_KINDS:
        _refuse(step, f"reported an error of the unknown kind {str(kind)[:200]!r}")
    whole = isinstance(code, int) and not isinstance(code, bool)
    return StepError(kind, str(message or ""), code if whole else None)
