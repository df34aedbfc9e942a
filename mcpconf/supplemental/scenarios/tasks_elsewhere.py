"""
Tasks, and other results, where there may be none.

These are asked of every client: whoever declares no extension knows the two types of
the core, and whoever declares tasks knows them in answer to calls alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import Finding, broken, holds
from mcpconf.supplemental.looks import ended, failed, is_error
from mcpconf.supplemental.observation import StepState
from mcpconf.supplemental.scenario import (
    CONTROL,
    STATELESS,
    CheckDefinition,
    Level,
    Scenario,
    Step,
    call,
    connect,
    listing,
    read,
)
from mcpconf.supplemental.scenarios.tasks_looks import PAGE

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation
    from mcpconf.supplemental.scenario import Look

_SHOWN = 200


def _refused(name: str) -> Look:
    """The step `name`, or the connection that it is on, ended with an error."""

    def look(seen: Observation) -> Finding:
        step, opening = seen.step(name), seen.step("connect")
        if step.state is StepState.OK:
            return broken(f"the host was given {str(step.value)[:_SHOWN]}")
        for each in (opening, step):
            if is_error(each):
                return holds(f"the step {each.id!r} {ended(each)}")
        return broken(f"no error was told of but the client's limit: {ended(step)}")

    return look


def _elsewhere(name: str, method: str, step: Step) -> Scenario:
    return Scenario(
        name=name,
        title=f"{method} is answered with a task",
        revisions=STATELESS,
        profiles=(name,),
        has_control=True,
        steps=(*CONTROL, connect(), step),
        checks=(
            CheckDefinition(
                id=f"{name}-is-invalid",
                sentence=f"A task may answer a call alone: one in answer to {method} "
                "is an invalid response, whatever the client declares.",
                page=PAGE,
                level=Level.MUST,
                looks_for=f"{method} answered with a task, and an error for the host",
                look=_refused(step.id),
                provoked_by=(name,),
                needs=("connect", step.id),
                broken=("takes_tasks_for_anything",),
            ),
        ),
    )


SCENARIOS = (
    _elsewhere("task-for-list", "tools/list", listing()),
    _elsewhere("task-for-resource", "resources/read", read("test://fixture/readme")),
    Scenario(
        name="unnegotiated-results",
        title="Calls are answered with results of types that were not agreed on",
        revisions=STATELESS,
        profiles=("unnegotiated-results",),
        has_control=True,
        steps=(
            *CONTROL,
            connect(),
            call("partial_result", id="partial"),
            call("undeclared_task", id="undeclared"),
        ),
        checks=(
            CheckDefinition(
                id="unknown-result-type-is-invalid",
                sentence="A result whose resultType the client does not know is "
                "invalid, even where the rest of it looks like a result.",
                page="basic",
                level=Level.MUST,
                looks_for="a result of the type com.example/partial with content, and "
                "an error for the host",
                look=failed("partial"),
                provoked_by=("unnegotiated-results",),
                needs=("partial",),
                broken=("takes_any_result_type",),
            ),
            CheckDefinition(
                id="undeclared-result-type-is-invalid",
                sentence="The result types of an extension that the client did not "
                "declare are as unknown as any other.",
                page="basic",
                level=Level.MUST,
                looks_for="a task, where the client does not declare tasks (else a "
                "result of the type com.example/undeclared), and an error for the host",
                look=failed("undeclared"),
                provoked_by=("unnegotiated-results",),
                needs=("undeclared",),
                broken=("takes_any_result_type",),
            ),
        ),
    ),
)
