"""
Take the steps of a supplemental scenario: one JSON object a line, both ways.

The client's side of the second half of ``docs/launch.md``; standard library only, the
SDK comes with the first step.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.client.python_sdk.assignment import REVISIONS, Unsupported
else:
    from assignment import REVISIONS, Unsupported


class Setting(NamedTuple):
    """What the driver says of a scenario before its first step."""

    #: Offered where a step names no other.
    revision: str
    #: Name → ``{"url"}``, or ``{"argv", "env"}`` for us to start.
    servers: Mapping[str, Mapping[str, Any]]
    #: The SDK's own limit for each of its requests.
    request_timeout_s: float
    results_fd: int


def parse_setting(environment: Mapping[str, str]) -> Setting:
    """
    Take the driver's variables together.

    :raises Unsupported: the revision is not one this program knows.
    :raises KeyError: a variable is missing.
    :raises ValueError: a variable is not what it should be.
    """
    revision = environment["MCPCONF_REVISION"]
    if revision not in REVISIONS:
        raise Unsupported(f"revision {revision!r} is not one of {', '.join(REVISIONS)}")
    return Setting(
        revision=revision,
        servers=json.loads(environment["MCPCONF_SERVERS"]),
        request_timeout_s=float(environment["MCPCONF_REQUEST_TIMEOUT_S"]),
        results_fd=int(environment["MCPCONF_RESULTS_FD"]),
    )


async def serve(setting: Setting) -> None:
    """Take steps until standard input ends, then close every connection."""
    # The SDK builds thousands of classes that live to the end. A collector that never
    # walks them, now or on leaving, saves a fifth of this program's own time.
    gc.disable()
    if TYPE_CHECKING:
        from mcpconf.client.python_sdk.step import Steps  # noqa: PLC0415
    else:
        from step import Steps  # noqa: PLC0415 (imports the SDK)
    gc.freeze()
    gc.enable()
    # The servers that are started must not hold the driver's pipe open.
    os.set_inheritable(setting.results_fd, False)  # noqa: FBT003 (the call's form)
    steps = Steps(setting)
    with os.fdopen(setting.results_fd, "wb", buffering=0) as results:
        try:
            # A thread, since not every kind of input can be waited for otherwise.
            while line := await asyncio.to_thread(sys.stdin.buffer.readline):
                results.write(_line(await steps.take(json.loads(line))))
        finally:
            for problem in await steps.close_all():
                sys.stderr.write(f"note: {problem!r} while closing\n")


def _line(result: dict[str, Any]) -> bytes:
    try:
        text = json.dumps(result, allow_nan=False)
    except ValueError as problem:  # a number that JSON does not have
        error = {"kind": "other", "message": str(problem)}
        text = json.dumps({"id": result["id"], "ok": False, "error": error})
    return text.encode() + b"\n"
