"""When the alarm of the canaries goes off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from mcpconf import canaries
from mcpconf.canaries import CanaryResult, run_server_canaries
from mcpconf.judging import not_run
from mcpconf.record import Policy, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.ours import Case
    from mcpconf.record import ScenarioResult


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


class _Quiet:
    def started(self, case: Case) -> None:
        pass

    def finished(self, result: ScenarioResult) -> None:
        pass


def test_every_leg_of_a_server_has_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def judged(
        _suite: object, _name: str, cases: Sequence[Case], **_more: object
    ) -> tuple[ScenarioResult, ...]:
        return tuple(not_run(Role.SERVER, case, Policy()) for case in cases)

    monkeypatch.setattr(canaries, "install_suite", lambda: None)
    monkeypatch.setattr(canaries, "judged_canary", judged)
    sizes: list[int] = []

    def progress_for(size: int) -> _Quiet:
        sizes.append(size)
        return _Quiet()

    rows = run_server_canaries(progress_for)
    assert [(row.canary, row.leg) for row in rows] == [
        (canary, f"server {leg}")
        for canary in ("null", "empty", "closing")
        for leg in (
            "official-http 2025-06-18",
            "official-http 2025-11-25",
            "official-http 2026-07-28",
            "http 2026-07-28",
        )
    ]
    assert all(row.cases and len(row.unmeasured) == row.cases for row in rows)
    assert sum(row.cases for row in rows) == sum(sizes)
    # What the suite itself credits is not said of our own scenarios.
    assert [row.floor is None for row in rows[:4]] == [False, False, False, True]
