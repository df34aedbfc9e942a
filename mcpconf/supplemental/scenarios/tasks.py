"""A server that answers calls with tasks (SEP-2663)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.scenarios import (
    tasks_cancellation,
    tasks_elsewhere,
    tasks_end,
    tasks_handed,
    tasks_input,
)

if TYPE_CHECKING:
    from mcpconf.supplemental.scenario import Scenario

SCENARIOS: tuple[Scenario, ...] = (
    *tasks_handed.SCENARIOS,
    *tasks_end.SCENARIOS,
    *tasks_input.SCENARIOS,
    *tasks_cancellation.SCENARIOS,
    *tasks_elsewhere.SCENARIOS,
)
