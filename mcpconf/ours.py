"""
Our own scenarios, whoever is under test: of a client, or of a server.

What of a run is ours, by name and by case, is asked here; what a scenario is, and how
it is launched and judged, is the affair of its own room.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from mcpconf.errors import UsageError
from mcpconf.plan import PlannedCase
from mcpconf.record import Role
from mcpconf.supplemental import plan as of_clients
from mcpconf.supplemental.page import page_address
from mcpconf.supplemental.registry import SCENARIOS as CLIENT_SCENARIOS
from mcpconf.supplemental.scenario import CheckDefinition
from mcpconf.tasks_extension import plan as of_servers
from mcpconf.tasks_extension.definition import TaskCheck
from mcpconf.tasks_extension.registry import SCENARIOS as SERVER_SCENARIOS
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.record import CaseKey
    from mcpconf.revision import Revision
    from mcpconf.supplemental.scenario import Scenario
    from mcpconf.tasks_extension.definition import TaskScenario

#: One of ours, planned.
OurCase: TypeAlias = of_clients.SupplementalCase | of_servers.TasksCase
#: What it says of a program.
OurCheck: TypeAlias = CheckDefinition | TaskCheck
#: What a run launches: a scenario of the suite, or one of ours.
Case: TypeAlias = PlannedCase | OurCase


def scenarios(role: Role) -> Mapping[str, Scenario] | Mapping[str, TaskScenario]:
    """Every scenario of ours for a role, by name, in the order of reports."""
    return CLIENT_SCENARIOS if role is Role.CLIENT else SERVER_SCENARIOS


def transports(role: Role) -> tuple[Transport, ...]:
    """What a program in a role is reached by; a server is tested over HTTP alone."""
    return tuple(Transport) if role is Role.CLIENT else (Transport.HTTP,)


def planned(role: Role, key: CaseKey) -> OurCase | None:
    """The case of a key; None where no scenario of ours is meant by it."""
    if role is Role.CLIENT:
        return of_clients.planned(key)
    return of_servers.planned(key)


def check_of(role: Role, scenario: str, check_id: str) -> OurCheck:
    """One check of ours, which there is."""
    return next(
        each for each in scenarios(role)[scenario].checks if each.id == check_id
    )


def page_of(check: OurCheck, revision: Revision) -> str:
    """The address of the page that asks for what a check looks at."""
    if isinstance(check, TaskCheck):
        return check.page
    return page_address(check, revision)


def has_leg(role: Role, revision: Revision, transport: Transport) -> bool:
    """Whether anything of ours runs at a revision over a transport."""
    return any(
        case.key.transport is transport for case in select(role, [revision], transport)
    )


def select(
    role: Role,
    revisions: Sequence[Revision],
    *over: Transport,
    requested: Sequence[str] = (),
) -> tuple[OurCase, ...]:
    """
    Our cases, stdio before HTTP, oldest revision first.

    :raises UsageError: a requested name cannot run in what was selected.
    """
    _refuse_the_others(role, requested)
    if role is Role.CLIENT:
        return of_clients.select_supplemental(revisions, over, requested=requested)
    found = tuple(
        case
        for case in of_servers.select_tasks(requested=requested)
        if case.key.revision in revisions and case.key.transport in over
    )
    if requested and not found:
        names, where = ", ".join(requested), ", ".join(revisions)
        raise UsageError(f"{names}: the tasks extension does not exist at {where}")
    return found


def _refuse_the_others(role: Role, requested: Sequence[str]) -> None:
    (other,) = (each for each in Role if each is not role)
    mixed_up = [name for name in requested if name in scenarios(other)]
    if mixed_up:
        command = "run" if other is Role.CLIENT else "server"
        raise UsageError(
            f"{', '.join(mixed_up)}: is about a {other}; see `mcpconf {command}`"
        )
