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
from tasks_fault_case import GOOD, PATIENT, SYNCHRONOUS, findings_of

from mcpconf.supplemental.finding import Kind
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.tasks_extension.traceability import fault_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.supplemental.finding import Finding

    Findings = Mapping[str, Finding]

FAULTS = fault_names()


@pytest.fixture(scope="module")
def found() -> Mapping[str, Findings]:
    """What every check finds in every server, by the server's profile."""
    names = (GOOD, PATIENT, SYNCHRONOUS, *FAULTS)
    processes = (os.cpu_count() or 1) + 1  # they wait a lot
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        return dict(zip(names, pool.map(findings_of, names), strict=True))


@pytest.mark.parametrize("good", [GOOD, PATIENT])
def test_a_good_server_passes_every_check(
    good: str, found: Mapping[str, Findings]
) -> None:
    not_held = {
        name: each for name, each in found[good].items() if each.kind is not Kind.HOLDS
    }
    assert not not_held, not_held


def test_a_server_that_never_makes_a_task_fails_nothing_and_passes_nothing(
    found: Mapping[str, Findings],
) -> None:
    """It is compliant; that it was asked for tasks in vain is one thing, said once."""
    by_kind: dict[Kind, set[str]] = {}
    for name, each in found[SYNCHRONOUS].items():
        by_kind.setdefault(each.kind, set()).add(name)
    assert by_kind[Kind.UNOBSERVED] == {"tasks/creation:created-result-type"}
    assert Kind.BROKEN not in by_kind
    tasks = found[SYNCHRONOUS]["tasks/completion:task-completes"]
    assert tasks.kind is Kind.NOT_APPLICABLE
    assert "answered slow_compute in the call" in tasks.detail


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
