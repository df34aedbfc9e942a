"""What the suite asks of servers: read from the suite, and as it is committed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from make import MIDDLE, NEW, OLD, make_case, make_catalogue, make_entry

from mcpconf.case import suite_program
from mcpconf.errors import DecodeError, UsageError
from mcpconf.record import Role
from mcpconf.render.listing import scenarios
from mcpconf.revision import Revision
from mcpconf.server.local import CANARIES
from mcpconf.storage import json_bytes, write_json
from mcpconf.suite.catalogue import (
    file_name,
    from_json,
    load_catalogue,
    to_json,
)
from mcpconf.suite.install import Suite
from mcpconf.survey import generate
from mcpconf.survey.listing import Listed, requirement_set, unassigned
from mcpconf.tasks.base import role_named

if TYPE_CHECKING:
    from pathlib import Path

SET = """
server: [tools-list]
client: [tools_call]
not_scored:
  - {scenario: tasks-lifecycle, leg: server, reason: extension, note: so far}
  - {scenario: auth/dpop, leg: client, reason: extension}
"""
SERVERS = make_catalogue(role=Role.SERVER)


@pytest.mark.parametrize(
    ("role", "listed"),
    [
        (Role.SERVER, [("tools-list", None), ("tasks-lifecycle", "extension")]),
        (Role.CLIENT, [("tools_call", None), ("auth/dpop", "extension")]),
    ],
)
def test_a_requirement_set_is_read_for_one_role(
    tmp_path: Path, role: Role, listed: list[tuple[str, str | None]]
) -> None:
    path = tmp_path / "set.yaml"
    path.write_text(SET)
    assert requirement_set(path, role) == tuple(Listed(*each) for each in listed)


def test_what_no_revision_names_is_unassigned() -> None:
    revisions = {MIDDLE: (make_entry("a"),), NEW: (make_entry("b"),)}
    assert unassigned(("d", "a", "c", "b"), revisions) == ("c", "d")


def test_a_catalogue_says_whose_it_is() -> None:
    assert from_json(to_json(SERVERS), "x.json") == SERVERS
    clients = replace(SERVERS, role=Role.CLIENT)
    assert from_json(to_json(clients), "x.json") == clients
    assert b"role" not in json_bytes(to_json(clients))
    assert clients.digest != SERVERS.digest


def test_the_two_roles_have_a_file_each() -> None:
    assert file_name("1.0", Role.CLIENT) == "catalogue-1.0.json"
    assert file_name("1.0", Role.SERVER) == "server-catalogue-1.0.json"
    with pytest.raises(DecodeError, match="no server catalogue of suite version"):
        load_catalogue("0.0.0", Role.SERVER)


def test_a_role_that_nobody_has_is_refused() -> None:
    assert role_named("server") is Role.SERVER
    with pytest.raises(UsageError, match="--role proxy: known are client, server"):
        role_named("proxy")


def test_catalogues_of_two_roles_are_not_compared(tmp_path: Path) -> None:
    path = tmp_path / "catalogue.json"
    write_json(path, to_json(SERVERS))
    with pytest.raises(UsageError, match="--role server"):
        generate.drift(path, path, role=Role.CLIENT, cli=None)
    assert generate.drift(path, path, role=Role.SERVER, cli=None) == ()


def test_a_list_says_what_a_client_may_and_nothing_of_servers() -> None:
    assert "Client may" in scenarios(replace(SERVERS, role=Role.CLIENT))
    assert "Client may" not in scenarios(SERVERS)


@pytest.mark.parametrize("reason", [None, "extension"])
def test_only_what_is_not_scored_is_forced(tmp_path: Path, reason: str | None) -> None:
    """Extensions are on no revision's time line: without it, the suite skips them."""
    case = make_case("tasks-lifecycle", NEW, not_scored=reason)
    program = suite_program(
        Suite(node=None, entry=tmp_path / "suite", provenance=None),  # type: ignore[arg-type]
        case,
        ("server", "--url", "http://127.0.0.1:1/mcp"),
        tmp_path,
        witness=tmp_path / "witness.cjs",
        witness_fd=7,
        environment={},
        limit_s=12.5,
        deadline_s=20.0,
    )
    assert program.argv[1:5] == (
        "server",
        "--url",
        "http://127.0.0.1:1/mcp",
        "--scenario",
    )
    assert ("--force" in program.argv) is (reason is not None)
    assert program.argv[-4:] == ("--timeout", "12500", "--output-dir", "out")
    assert program.pass_fds == (7,)


# -- the committed catalogue -------------------------------------------------------


def test_every_required_scenario_is_there() -> None:
    catalogue = load_catalogue(role=Role.SERVER)
    counts = {
        each: (len(catalogue.scored(each)), len(catalogue.revisions[each]))
        for each in Revision
    }
    assert counts == {OLD: (27, 27), MIDDLE: (30, 33), NEW: (37, 50)}
    reasons = {
        entry.not_scored
        for entries in catalogue.revisions.values()
        for entry in entries
    }
    assert reasons == {None, "extension", "added-after-release", "pending"}
    assert not any(
        entry.auth or entry.allow_client_error
        for entries in catalogue.revisions.values()
        for entry in entries
    )


def test_every_scenario_has_a_check_beside_the_schema() -> None:
    catalogue = load_catalogue(role=Role.SERVER)
    bare = {
        (revision.value, entry.scenario)
        for revision, entries in catalogue.revisions.items()
        for entry in entries
        if not set(entry.checks) - {"wire-schema-valid", "scenario-timeout"}
    }
    assert bare == set()


def test_sound_messages_alone_never_count() -> None:
    """A server that sends none has no unsound ones."""
    catalogue = load_catalogue(role=Role.SERVER)
    counting = {
        (revision.value, entry.scenario)
        for revision, entries in catalogue.revisions.items()
        for entry in entries
        if "wire-schema-valid" in entry.required
    }
    assert counting == set()


def test_the_floor_of_every_silent_server_is_known() -> None:
    catalogue = load_catalogue(role=Role.SERVER)
    assert {
        revision: tuple(floors) for revision, floors in catalogue.floors.items()
    } == {each: tuple(sorted(CANARIES)) for each in Revision}
    # By its own count the suite passes some of them in what is scored.
    counted = catalogue.floors[NEW]["closing"]
    assert 0 < counted.scenarios < len(catalogue.scored(NEW))


def test_a_scenario_that_changes_the_server_runs_alone() -> None:
    catalogue = load_catalogue(role=Role.SERVER)
    alone = {
        entry.scenario
        for entries in catalogue.revisions.values()
        for entry in entries
        if entry.timing_sensitive
    }
    assert alone == {"server-stateless"}
