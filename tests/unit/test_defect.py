"""A fault of the suite is known by what cannot be true of any client."""

from __future__ import annotations

import pytest
from make import make_check

from mcpconf.record import CheckStatus
from mcpconf.suite.defect import known_defect


@pytest.mark.parametrize(
    ("scenario", "error", "is_defect"),
    [
        ("sse-retry", "reconnected too early (-12ms instead of 500ms)", True),
        ("sse-retry", "reconnected after -0.5 ms", True),
        ("sse-retry", "-3ms", True),
        ("sse-retry", "reconnected too early (12ms instead of 500ms)", False),
        ("sse-retry", "reconnected after 620ms, allowed are 450-600ms", False),
        ("sse-retry", "SEP-1699 ms", False),
        ("sse-retry", None, False),
        ("tools_call", "reconnected too early (-12ms instead of 500ms)", False),
    ],
)
def test_only_an_impossible_measurement_is_a_defect(
    scenario: str, error: str | None, is_defect: bool
) -> None:
    check = make_check("client-sse-retry-timing", CheckStatus.FAILURE, error=error)
    said = known_defect(scenario, check)
    assert (said is not None) is is_defect
    if said is not None:
        assert "modelcontextprotocol/conformance#" in said
