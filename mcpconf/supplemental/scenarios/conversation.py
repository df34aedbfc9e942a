"""A server that asks back, tells and is interrupted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.scenarios import (
    conversation_cancellation,
    conversation_change,
    conversation_flood,
    conversation_input,
    conversation_progress,
    conversation_requests,
)

if TYPE_CHECKING:
    from mcpconf.supplemental.scenario import Scenario

SCENARIOS: tuple[Scenario, ...] = (
    *conversation_progress.SCENARIOS,
    *conversation_input.SCENARIOS,
    *conversation_flood.SCENARIOS,
    *conversation_requests.SCENARIOS,
    *conversation_cancellation.SCENARIOS,
    *conversation_change.SCENARIOS,
)
