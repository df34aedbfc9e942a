"""Every scenario of ours, by name, in the order in which they are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.scenarios import (
    basics,
    conversation,
    discovery,
    environment,
    framing,
    http_faults,
    negotiation,
    pagination,
    stdio_faults,
    tasks,
    values,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.supplemental.scenario import Scenario

_THEMES = (
    basics,
    conversation,
    values,
    pagination,
    discovery,
    negotiation,
    framing,
    http_faults,
    stdio_faults,
    environment,
    tasks,
)

SCENARIOS: Mapping[str, Scenario] = {
    scenario.name: scenario for theme in _THEMES for scenario in theme.SCENARIOS
}
