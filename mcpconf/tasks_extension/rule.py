"""
What one check finds: the rules that come before any check looks.

They are tried in order, and the first that applies decides:

1. ``server/discover`` has no result: the server refuses the revision → unsupported;
   else → unobserved
2. the extension is not advertised → not applicable (unless it is about that)
3. a tool it needs is not in the list of tools → unobserved
4. otherwise the check looks
5. it sees nothing, and no call of the drive made a task, for the server answered in
   the call → not applicable (unless it is about there being tasks)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.server.era import stateless_refusal
from mcpconf.supplemental.finding import Finding, Kind, not_applicable, unobserved
from mcpconf.supplemental.finding import unsupported as unsupported_by
from mcpconf.tasks_extension.definition import EXTENSION, REVISION
from mcpconf.tasks_extension.looks import answered_in_the_call, shown, told
from mcpconf.tasks_extension.observation import DISCOVER

if TYPE_CHECKING:
    from mcpconf.tasks_extension.definition import TaskCheck, TaskScenario
    from mcpconf.tasks_extension.observation import Observation


def finding_of(scenario: TaskScenario, check: TaskCheck, seen: Observation) -> Finding:
    """What a check of a scenario finds in what was seen of it."""
    before = _before(scenario, check, seen)
    if before is not None:
        return before
    finding = check.look(seen)
    if finding.kind is Kind.UNOBSERVED and not check.of_there_being_tasks:
        tool = answered_in_the_call(seen)
        if tool is not None:
            return not_applicable(
                f"no task was made: the server answered {tool} in the call"
            )
    return finding


def _before(
    scenario: TaskScenario, check: TaskCheck, seen: Observation
) -> Finding | None:
    discovered = seen[DISCOVER]
    if seen.advertises_tasks is None:
        if discovered is None:
            return unobserved("nothing was sent to the server")
        problem = f"server/discover was {told(discovered)}"
        refusal = stateless_refusal(
            "server/discover", discovered.status, discovered.error or {}, REVISION
        )
        if refusal is not None:
            return unsupported_by(f"no server of {REVISION.value}: {problem}")
        return unobserved(problem)
    if not seen.advertises_tasks and not check.of_any_server:
        said = (seen.capabilities or {}).get("extensions")
        return not_applicable(
            f"server/discover does not advertise {EXTENSION}; extensions: {shown(said)}"
        )
    missing = [
        tool for tool in scenario.tools_of(check) if tool not in (seen.tools or {tool})
    ]
    if missing:
        names = ", ".join(missing)
        return unobserved(f"the server has no tool {names}, which this calls")
    return None
