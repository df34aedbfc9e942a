"""Every scenario of the tasks extension, by name, in the order of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.tasks_extension.scenarios import (
    asking,
    call_stream,
    cancellation,
    completion,
    consistency,
    creation,
    discovery,
    envelopes,
    errors,
    headers,
    immutability,
    mrtr,
    negotiation,
    notifications,
    partial,
    ttl,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.tasks_extension.definition import TaskScenario

_THEMES = (
    discovery,
    negotiation,
    creation,
    completion,
    envelopes,
    errors,
    headers,
    notifications,
    call_stream,
    asking,
    partial,
    cancellation,
    immutability,
    ttl,
    consistency,
    mrtr,
)

SCENARIOS: Mapping[str, TaskScenario] = {
    scenario.name: scenario for theme in _THEMES for scenario in theme.SCENARIOS
}
