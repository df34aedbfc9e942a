"""What a stdio server finds in its environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import Finding, broken, holds, unobserved
from mcpconf.supplemental.scenario import (
    HANDSHAKE,
    STDIO,
    CheckDefinition,
    Level,
    Scenario,
    call,
    connect,
)

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation

#: A variable that one client keeps for itself, and must pass on where it does not use
#: it: the handshake revisions.
_NAME, _VALUE = "CODEX_MCP_PROTOCOL_VERSION", "review-legacy-protocol-environment"


def _value_arrives(seen: Observation) -> Finding:
    for request in seen.subject.calls("review_protocol_env"):
        answer = seen.subject.answer_to(request)
        result = answer.result if answer else None
        if isinstance(result, dict):
            value = (result.get("structuredContent") or {}).get("value")
            if value != _VALUE:
                return broken(f"the server found {_NAME}={value!r}, not {_VALUE!r}")
            return holds(f"the server found {_NAME} as it was configured")
    return unobserved("no answered call of review_protocol_env is on the wire")


SCENARIOS: tuple[Scenario, ...] = (
    Scenario(
        name="stdio-environment",
        title="A good server that shows one variable of its environment",
        revisions=HANDSHAKE,
        transports=STDIO,
        server_environment={_NAME: _VALUE},
        steps=(connect(), call("review_protocol_env", id="call")),
        checks=(
            CheckDefinition(
                id="configured-value-arrives",
                sentence="A stdio server gets the values that were configured for it. "
                "(No page demands it.)",
                page="basic",
                level=Level.SHOULD,
                looks_for="the value in the server's own answer",
                look=_value_arrives,
                needs=("call",),
                broken=("ignores_configured_environment",),
            ),
        ),
    ),
)
