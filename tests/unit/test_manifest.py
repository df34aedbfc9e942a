"""What a client's manifest rules out, and why."""

from __future__ import annotations

import pytest

from mcpconf.client.manifest import CODEX, COMMAND, MANIFESTS, REFERENCE
from mcpconf.client.reference import program
from mcpconf.suite.catalogue import load_catalogue

EXTENSIONS = (
    "auth/client-credentials-jwt",
    "auth/client-credentials-basic",
    "auth/enterprise-managed-authorization",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/wif-jwt-bearer",
)


def test_a_scenario_that_has_steps_is_tried() -> None:
    assert CODEX.ruled_out("tools_call") is None
    assert REFERENCE.ruled_out("auth/dpop") is None


def test_a_scenario_without_steps_is_the_drivers_lack() -> None:
    said = REFERENCE.ruled_out("sse-retry")
    assert said is not None
    assert said.endswith("driver has no steps for this scenario")


def test_a_program_of_the_users_own_is_asked_itself() -> None:
    assert COMMAND.ruled_out("auth/dpop") is None


@pytest.mark.parametrize("scenario", EXTENSIONS)
def test_what_codex_lacks_for_an_extension_is_said(scenario: str) -> None:
    said = CODEX.ruled_out(scenario)
    assert said is not None
    assert said.startswith("Codex ")


@pytest.mark.parametrize("name", MANIFESTS)
def test_a_client_lacks_only_what_the_suite_has_and_nobody_plays(name: str) -> None:
    known = {
        entry.scenario
        for entries in load_catalogue().revisions.values()
        for entry in entries
    }
    lacks = set(MANIFESTS[name].lacks)
    assert lacks <= known
    assert not lacks & (MANIFESTS[name].scenarios or set())


def test_the_reference_client_has_a_part_for_each_of_its_scenarios() -> None:
    assert REFERENCE.scenarios is not None
    assert set(REFERENCE.scenarios) == {*program.PLAIN, *program.EXTENSIONS}
    assert set(program.EXTENSIONS) == set(EXTENSIONS)
