"""When the alarm of the canaries goes off."""

from __future__ import annotations

from typing import Any

import pytest

from mcpconf.canaries import CanaryResult


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({}, None),
        ({"passed": ("a",)}, "null passed a"),
        ({"canary": "list-only", "passed": ("a",)}, None),
        ({"cases": 0}, "null ran nothing in 2026-07-28"),
        ({"unmeasured": ("a", "b")}, "null was not measured in 2026-07-28: a, b"),
        (
            {"canary": "list-only", "unmeasured": ("a",)},
            "list-only was not measured in 2026-07-28: a",
        ),
    ],
)
def test_a_canary_has_a_problem(changes: dict[str, Any], problem: str | None) -> None:
    values: dict[str, Any] = {
        "canary": "null",
        "leg": "2026-07-28",
        "passed": (),
        "cases": 2,
        "unmeasured": (),
        "floor": None,
    }
    assert CanaryResult(**{**values, **changes}).problem == problem
