"""
What kind of failure Codex speaks of.

A server's JSON-RPC error comes through the app-server with its own code and message.
Every other failure has one code in common, so that its kind is in the words alone:
those of 0.171.0.
"""

from __future__ import annotations

import re

from mcpconf.client.steps import StepError

#: The code of what Codex itself says. A server that answers it too is not told apart.
_OWN = -32603
#: A server's JSON-RPC error inside Codex's words, as at start-up.
_RPC = re.compile(r"\b(?:Mcp|JSON-RPC) error: (-?\d+): ")
#: The first that is found decides.
_KINDS = (
    ("timeout", re.compile(r"timed out|deadline has elapsed", re.IGNORECASE)),
    (
        "transport",
        re.compile(
            r"transport (?:closed|error|channel)|connection closed|broken pipe"
            r"|error sending request|connection (?:refused|reset)|os error"
            r"|unexpected server response|session expired|http status|\bHTTP \d{3}\b"
            r"|auth(?:entication|orization)? required|unexpected end",
            re.IGNORECASE,
        ),
    ),
    (
        "refused",
        re.compile(
            r"handshaking|unsupported|unexpected|invalid|repeated|exceed|mismatch"
            r"|deserialize|expected|too (?:many|long|large)|limit|refus|reject|missing"
            r"|\bcursor\b|validation|not found",
            re.IGNORECASE,
        ),
    ),
)


def step_error(message: str, code: object = None) -> StepError:
    """The failure of a step: Codex's words, and the error's code where it has one."""
    if isinstance(code, int) and code != _OWN:
        return StepError("rpc", message, code)
    answer = _RPC.search(message)
    if answer:
        return StepError("rpc", message, int(answer.group(1)))
    for kind, words in _KINDS:
        if words.search(message):
            return StepError(kind, message)
    return StepError("other", message)
