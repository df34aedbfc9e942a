"""What can be run, and with whom: the scenarios and the clients, as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tabulate import tabulate

from mcpconf.client.manifest import MANIFESTS
from mcpconf.errors import UsageError
from mcpconf.record import Role
from mcpconf.revision import Revision
from mcpconf.tasks_extension.registry import SCENARIOS

if TYPE_CHECKING:
    from mcpconf.suite.catalogue import Catalogue


def scenarios(catalogue: Catalogue, revision: str = "") -> str:
    """
    Every scenario of a role at one revision, or at all.

    :raises UsageError: a revision we do not judge.
    """
    known = [each.value for each in Revision]
    if revision and revision not in known:
        raise UsageError(f"--revision {revision}: known are {', '.join(known)}")
    is_clients = catalogue.role is Role.CLIENT
    rows = [
        [
            each.value,
            entry.scenario,
            entry.not_scored or "scored",
            "alone" if entry.timing_sensitive else "",
            *(["refuses" if entry.allow_client_error else ""] if is_clients else []),
            str(len(entry.checks)),
        ]
        for each in Revision
        if revision in {"", each.value}
        for entry in catalogue.revisions[each]
    ]
    may = ["Client may"] if is_clients else []
    headers = ["Revision", "Scenario", "Counts", "Runs", *may, "Checks"]
    return tabulate(rows, headers, tablefmt="simple", disable_numparse=True)


def task_scenarios() -> str:
    """Every scenario of ours about a server's tasks, and the tools it calls."""
    rows = [
        [each.name, str(len(each.checks)), ", ".join(each.every_tool), each.title]
        for each in SCENARIOS.values()
    ]
    headers = ["Scenario", "Checks", "Tools", "What is looked at"]
    return tabulate(rows, headers, tablefmt="simple", disable_numparse=True)


def clients() -> str:
    """Every client, how it is obtained, and how it is driven."""
    rows = [
        [each.name, each.title, each.obtained, each.driver]
        for each in MANIFESTS.values()
    ]
    headers = ["Client", "What it is", "Obtained", "Driver"]
    return tabulate(rows, headers, tablefmt="simple", disable_numparse=True)
