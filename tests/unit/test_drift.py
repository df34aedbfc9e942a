"""The differences of two catalogues: each named, none where they are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from make import NEW, make_catalogue, make_entry

from mcpconf.suite.drift import Drift, compare

if TYPE_CHECKING:
    from mcpconf.suite.catalogue import ScenarioEntry

BASE = make_entry("tools_call")


def _drift(
    before: tuple[ScenarioEntry, ...], after: tuple[ScenarioEntry, ...]
) -> list[str]:
    found = compare(make_catalogue({NEW: before}), make_catalogue({NEW: after}))
    assert {each.revision for each in found} <= {NEW.value}
    return [f"{each.kind} {each.scenario}: {each.detail}" for each in found]


def test_a_catalogue_does_not_drift_from_itself() -> None:
    assert compare(make_catalogue(), make_catalogue()) == ()


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ((), (BASE,), ["added tools_call: scenario"]),
        ((BASE,), (), ["removed tools_call: scenario"]),
        (
            (BASE,),
            (make_entry("tools-call"),),
            ["renamed tools_call: scenario, now tools-call"],
        ),
        (
            (BASE,),
            (make_entry("initialize"),),
            ["added initialize: scenario", "removed tools_call: scenario"],
        ),
        (
            (BASE,),
            (make_entry(checks=("required-a", "required-bb", "silent", "fresh")),),
            [
                "added tools_call: check fresh",
                "renamed tools_call: check required-b, now required-bb",
            ],
        ),
        (
            (BASE,),
            (make_entry(checks=("required-a", "silent")),),
            ["removed tools_call: check required-b"],
        ),
        (
            (BASE,),
            (make_entry(silent_checks=("required-a",)),),
            [
                "changed tools_call: silence earns required-a",
                "changed tools_call: silence no longer earns silent",
            ],
        ),
        (
            (BASE,),
            (make_entry(not_scored="pending"),),
            ["changed tools_call: not_scored was None, is pending"],
        ),
        (
            (BASE,),
            (make_entry(allow_client_error=True, timing_sensitive=True, auth=True),),
            [
                "changed tools_call: allow_client_error was False, is True",
                "changed tools_call: auth was False, is True",
                "changed tools_call: timing_sensitive was False, is True",
            ],
        ),
    ],
)
def test_every_difference_is_named(
    before: tuple[ScenarioEntry, ...],
    after: tuple[ScenarioEntry, ...],
    found: list[str],
) -> None:
    assert _drift(before, after) == found


def test_a_difference_prints_as_one_line() -> None:
    drift = Drift("2026-07-28", "tools_call", "added", "check x")
    assert str(drift) == "2026-07-28 added    tools_call: check x"
