"""docs/tasks-extension.md says what the code does, and leaves no demand out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcpconf.fixture_server.profile import PROFILES
from mcpconf.supplemental.registry import SCENARIOS as CLIENT_SCENARIOS
from mcpconf.tasks_extension.definition import Level
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.tasks_extension.requirement import REQUIREMENTS, Binds, Requirement
from mcpconf.tasks_extension.traceability import (
    TOOLS,
    checks_of,
    fault_names,
    render,
)

if TYPE_CHECKING:
    from mcpconf.tasks_extension.definition import TaskCheck

ROOT = Path(__file__).parents[2]
CHECKS = [
    pytest.param(check, id=f"{scenario.name}:{check.id}")
    for scenario in SCENARIOS.values()
    for check in scenario.checks
]
#: What the ten scenarios of the suite's 0.2.0-alpha.12 emit for tasks.
OFFICIAL = """
    sep-2663-cancel-ack-empty-result
    sep-2663-durable-create-strong-consistency
    sep-2663-legacy-task-param-ignored
    sep-2663-mrtr-synchronous-before-task-creation
    sep-2663-result-type-task-on-create
    sep-2663-routing-headers-accepted-on-tasks-get
    sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get
    sep-2663-server-rejects-undeclared-client
    sep-2663-server-returns-missing-capability-data-shape
    sep-2663-server-returns-missing-capability-when-required
    sep-2663-tasks-get-invalid-task-id-32602
    sep-2663-tasks-get-status-completed
    sep-2663-tasks-get-status-failed
    sep-2663-tasks-get-status-input-required
    sep-2663-tasks-get-status-working
    sep-2663-tasks-methods-non-declaring
    sep-2663-tasks-result-removed-method-not-found
    sep-2663-tool-error-uses-completed-status
    tasks-cancel-terminal-idempotent-ack
    tasks-create-result-no-request-state
    tasks-extension-advertised
    tasks-get-detailed-no-request-state
    tasks-headers-reject-mismatched-method
    tasks-headers-tolerate-mcp-method-on-tools-call
    tasks-immediate-result-shortcut
    tasks-mrtr-partial-fulfillment
    tasks-mrtr-tasks-update-resumes
    tasks-no-early-ttl-expiry
    tasks-no-related-task-meta-on-inlined-result
    tasks-per-request-meta-opt-in
    tasks-removed-tasks-list
    tasks-result-type-complete-on-non-task-responses
    tasks-server-directed-creation-no-hint
    tasks-status-notifications
    tasks-sync-tool-call
    tasks-wire-field-renames
"""


def test_the_document_is_what_the_code_says() -> None:
    written = (ROOT / "docs" / "tasks-extension.md").read_text(encoding="utf-8")
    assert written == render(), "run `invoke tasks-extension.document`"


def test_all_demands_of_the_suite_are_there() -> None:
    assert len(REQUIREMENTS) == 41
    assert all(name == each.id for name, each in REQUIREMENTS.items())
    assert all(name.startswith("sep-2663-") for name in REQUIREMENTS)


@pytest.mark.parametrize("demand", REQUIREMENTS.values(), ids=lambda each: each.id)
def test_a_demand_has_a_check_or_a_reason(demand: Requirement) -> None:
    assert bool(checks_of(demand)) != bool(demand.reason)
    assert (demand.binds is Binds.CLIENT) == (demand.reason is not None)
    assert demand.page.startswith("https://")
    assert demand.level is not Level.POLICY


def test_the_checks_of_a_client_are_there() -> None:
    written = {
        f"{scenario.name}:{check.id}"
        for scenario in CLIENT_SCENARIOS.values()
        for check in scenario.checks
    }
    for demand in REQUIREMENTS.values():
        assert set(demand.client_checks) <= written, demand.id
        assert bool(demand.client_checks) == (demand.binds is Binds.CLIENT), demand.id


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_names_only_what_is_there(check: TaskCheck) -> None:
    assert check.broken, "no server is seen to fail it"
    assert set(check.broken) <= set(fault_names())
    assert set(check.requirements) <= set(REQUIREMENTS)
    assert set(check.official) <= set(OFFICIAL.split())
    assert check.page.startswith("https://")


def test_every_fault_is_failed_by_a_check() -> None:
    named = {
        fault
        for scenario in SCENARIOS.values()
        for check in scenario.checks
        for fault in check.broken
    }
    assert named == set(fault_names())
    assert all(name in PROFILES for name in named)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_has_checks_of_its_own_names_and_known_tools(name: str) -> None:
    scenario = SCENARIOS[name]
    ids = [check.id for check in scenario.checks]
    assert ids
    assert len(ids) == len(set(ids))
    assert set(scenario.tools) <= set(TOOLS)
    for check in scenario.checks:
        assert set(scenario.tools_of(check)) <= set(TOOLS), check.id


def test_every_official_check_of_tasks_is_looked_at_by_ours() -> None:
    named = {
        official
        for scenario in SCENARIOS.values()
        for check in scenario.checks
        for official in check.official
    }
    # It passes whether a task comes or a result: there is nothing to look at.
    assert set(OFFICIAL.split()) - named == {"tasks-immediate-result-shortcut"}
