"""
Every fault of the tasks extension fails the checks that name it, and no other.

All checks look at all faults. The servers run beside one another, in processes of
their own, before the first test; each then reads what was found.
"""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest
from tasks_fault_case import GOOD, findings_of

from mcpconf.supplemental.finding import Kind
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.tasks_extension.traceability import fault_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.supplemental.finding import Finding

    Findings = Mapping[str, Finding]

FAULTS = fault_names()
#: The good server has no stream there that could be closed.
_NOT_THERE = {"tasks/cancellation:closing-cancels-nothing"}


@pytest.fixture(scope="module")
def found() -> Mapping[str, Findings]:
    """What every check finds in every server, by the server's profile."""
    names = (GOOD, *FAULTS)
    processes = (os.cpu_count() or 1) + 1  # they wait a lot
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return dict(zip(names, pool.map(findings_of, names), strict=True))


def test_the_good_server_passes_every_check(found: Mapping[str, Findings]) -> None:
    kinds = {name: each for name, each in found[GOOD].items() if name not in _NOT_THERE}
    not_held = {
        name: each for name, each in kinds.items() if each.kind is not Kind.HOLDS
    }
    assert not not_held, not_held
    assert {found[GOOD][name].kind for name in _NOT_THERE} == {Kind.NOT_APPLICABLE}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fails_its_own_checks_and_no_other(
    fault: str, found: Mapping[str, Findings]
) -> None:
    meant = {
        f"{scenario.name}:{check.id}"
        for scenario in SCENARIOS.values()
        for check in scenario.checks
        if fault in check.broken
    }
    failed = {
        name: each.detail
        for name, each in found[fault].items()
        if each.kind is Kind.BROKEN
    }
    assert meant, "no check names it"
    assert failed.keys() == meant, failed


def test_there_are_enough_faults_and_all_have_a_server() -> None:
    named = {
        fault
        for scenario in SCENARIOS.values()
        for check in scenario.checks
        for fault in check.broken
    }
    assert named == set(FAULTS)
    assert len(FAULTS) >= 40
