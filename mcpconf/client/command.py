"""
Drive any program that follows the suite's own contract (``docs/launch.md``).

The program gets the server's URL as its last argument and the suite's
``MCP_CONFORMANCE_*`` variables; its true end (exit, signal, time-out) is recorded here
because the suite loses it.
"""

from __future__ import annotations

import os
import subprocess
import sys

from mcpconf.client.job import (
    UNSUPPORTED_EXIT,
    ClientError,
    Unsupported,
    signal_name,
)

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from mcpconf.client.job import Record


_SHELL_SIGNALLED, _SIGNALS = 128, 32


def suite_variables() -> dict[str, str]:
    """The ``MCP_CONFORMANCE_*`` variables the suite set for this scenario."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.startswith("MCP_CONFORMANCE_")
    }


def drive(record: Record, url: str) -> None:
    """
    Run the program to its end.

    :raises ClientError: it failed, was killed, or outlived the drive's deadline.
    :raises Unsupported: it says that it cannot do this scenario (exit 69).
    """
    job = record.job
    environment = {**job.environment, **suite_variables()}
    try:
        # Inherits stdout and stderr: the suite collects them, bounded by us outside.
        process = subprocess.Popen(
            [*job.argv, url], cwd=job.cwd, env=environment, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        record.ended("failed-to-start")
        record.require("start", ok=False, detail=str(error))
        return
    try:
        status = process.wait(record.remaining_s())
    except subprocess.TimeoutExpired:
        record.ended("timed-out")
        # The supervisor ends the whole tree; this only keeps our own end prompt.
        process.kill()
        record.require(
            "run", ok=False, detail=f"still running after {job.deadline_s:g} s"
        )
        return
    _judge_end(record, status)


def _judge_end(record: Record, status: int) -> None:
    """
    Note how the program ended.

    :raises ClientError: by a signal, or with a status of failure.
    :raises Unsupported: exit 69.
    """
    name = _note_end(record, status)
    if name is not None:
        record.require("run", ok=False, detail=f"killed by {name}")
    if status == UNSUPPORTED_EXIT:
        record.step("run", "exit 69: cannot do this scenario", ok=False)
        raise Unsupported("the program says that it cannot do this scenario (exit 69)")
    record.step("run", f"exit {status}", ok=status == 0)
    if status != 0:
        raise ClientError(f"the program exited with {status}")


def _note_end(record: Record, status: int) -> str | None:
    """Note how the program ended; the name of the signal that did it."""
    if status < 0 or _SHELL_SIGNALLED < status < _SHELL_SIGNALLED + _SIGNALS:
        # A wrapping shell turns the death of its program into 128 and the signal.
        number = -status if status < 0 else status - _SHELL_SIGNALLED
        name = signal_name(number) if sys.platform != "win32" else str(status)
        record.ended("signalled", signal=name)
        return name
    record.ended("exited", exit_code=status)
    return None


def drive_steps(record: Record) -> None:
    """
    Have the program take the steps of a supplemental scenario.

    :raises ClientError: it failed, was killed, broke the contract or outlived a limit.
    :raises Unsupported: it says that it cannot do this scenario (exit 69).
    """
    if sys.platform == "win32":
        raise Unsupported("the results pipe cannot be handed on under Windows")
    from mcpconf.client import program  # noqa: PLC0415 (only supplemental drives)
    from mcpconf.client.steps import Results, StepTimedOut  # noqa: PLC0415

    results = Results(record)
    try:
        client = program.Program(record, results)
    except OSError as error:
        record.ended("failed-to-start")
        record.require("start", ok=False, detail=str(error))
        return
    try:
        status = client.take_all()
    except StepTimedOut:
        record.ended("timed-out")
        raise
    except ClientError:
        left = client.leave()
        if left is None:
            record.ended("timed-out")
        else:
            _note_end(record, left)
        raise
    finally:
        client.kill()
        results.finish()
    _judge_end(record, status)
