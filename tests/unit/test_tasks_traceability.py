"""docs/tasks-extension.md says what the code does, and leaves no demand out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcpconf.fixture_server.profile import PROFILES
from mcpconf.storage import json_bytes
from mcpconf.suite.catalogue import PINNED_VERSION
from mcpconf.supplemental.registry import SCENARIOS as CLIENT_SCENARIOS
from mcpconf.tasks_extension.definition import Level
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.tasks_extension.requirement import REQUIREMENTS, Binds, Requirement
from mcpconf.tasks_extension.traceability import (
    TOOLS,
    checks_failed_by,
    checks_of,
    fault_names,
    faults_value,
    official_kills,
    render,
)
from mcpconf.tasks_extension.unseen import UNSEEN

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


#: The ids of upstream's table, without their prefix.
DEMANDS = """
    server-rejects-undeclared-client
    client-handles-polymorphic-result
    client-rejects-task-result-on-unsupported
    server-returns-missing-capability-when-required
    server-returns-missing-capability-data-shape
    result-type-task-on-create
    no-task-result-type-on-others
    failed-status-jsonrpc-only
    durable-create-strong-consistency
    mrtr-synchronous-before-task-creation
    tasks-get-status-working
    tasks-get-status-input-required
    tasks-get-status-completed
    tasks-get-status-cancelled
    tasks-get-status-failed
    result-type-complete-on-tasks-get
    input-request-key-unique-per-task
    no-key-reuse-after-response
    update-ack-empty-result
    update-error-unknown-task-id
    update-ignore-unknown-keys
    result-type-complete-on-tasks-update
    cancel-not-via-cancelled-notification
    cancel-ack-empty-result
    cancel-error-unknown-task-id
    result-type-complete-on-tasks-cancel
    subscribe-missing-capability-non-declaring
    no-progress-or-message-on-task-stream
    client-honors-poll-interval
    client-emits-mcp-name-on-tasks-methods
    routing-headers-accepted-on-tasks-get
    server-rejects-mismatched-mcp-name-on-tasks-get
    tasks-get-invalid-task-id-32602
    tasks-update-cancel-invalid-task-id-32602
    tasks-methods-non-declaring
    failed-includes-statusmessage
    tool-error-uses-completed-status
    tasks-result-removed-method-not-found
    legacy-task-param-ignored
    migrate-from-legacy-capabilities
    legacy-capability-treated-as-non-declaring
"""


def test_the_document_is_what_the_code_says() -> None:
    written = (ROOT / "docs" / "tasks-extension.md").read_text(encoding="utf-8")
    assert written == render(), "run `invoke tasks-extension.document`"


def test_the_list_of_faults_is_what_the_code_says() -> None:
    path = ROOT / "fixtures" / "servers" / "tasks-faults.json"
    assert path.read_bytes() == json_bytes(faults_value()), (
        "run `invoke tasks-extension.document`"
    )


def test_all_demands_of_the_suite_are_there() -> None:
    assert {name.removeprefix("sep-2663-") for name in REQUIREMENTS} == set(
        DEMANDS.split()
    )
    assert all(name == each.id for name, each in REQUIREMENTS.items())


def test_what_has_no_id_has_a_reason() -> None:
    for each in UNSEEN:
        assert each.reason.endswith(".")
        assert each.page.startswith("https://")


def test_the_official_scenarios_were_held_against_every_fault() -> None:
    version, kills = official_kills()
    assert version == PINNED_VERSION, "run `invoke tasks-extension.kills`"
    assert set(kills) == set(fault_names()), "run `invoke tasks-extension.kills`"
    assert 0 < sum(map(bool, kills.values())) < len(kills)


def test_our_checks_see_every_fault() -> None:
    assert all(checks_failed_by(name) for name in fault_names())


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
