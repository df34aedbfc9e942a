"""
Failures that upstream's own code is known to report wrongly, each with its thread.

A defect is recognised by something the suite itself printed that cannot be true of any
client. It is never a pass: the run is inconclusive until it is run again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcpconf.record import Check

#: A client cannot reconnect before the stream was closed: under load the suite takes
#: the client's ordinary GET for the reconnection. A range (``500-600ms``) is no sign.
_NEGATIVE_DELAY = re.compile(r"(?<![\w.])-\d+(?:\.\d+)?\s?ms")
#: The suite's own name for a message of its own that the schema forbids.
_OWN_MESSAGE = "wire-schema-harness-error"
_SSE_RETRY_THREAD = "modelcontextprotocol/conformance#500"


def known_defect(scenario: str, check: Check) -> str | None:
    """Why a failing check is upstream's fault, with the thread; else None."""
    if scenario == "sse-retry" and _NEGATIVE_DELAY.search(check.error or ""):
        return (
            "the suite measured a negative delay, which no client can cause "
            f"({_SSE_RETRY_THREAD})"
        )
    if check.check_id == _OWN_MESSAGE:
        return "the suite says that it sent a message which the schema forbids itself"
    return None
