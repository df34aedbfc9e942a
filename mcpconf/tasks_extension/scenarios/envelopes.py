"""The answers that are no task: acknowledgements, and everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import broken, holds, unobserved
from mcpconf.tasks_extension.definition import Level, TaskCheck, TaskScenario, sep
from mcpconf.tasks_extension.looks import name_of, not_taken, shown, told
from mcpconf.tasks_extension.session import LONG_S, result_in, task_id_of

if TYPE_CHECKING:
    from mcpconf.supplemental.finding import Finding
    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.session import Session

#: All that an empty acknowledgement may have.
_ENVELOPE = frozenset({"resultType", "_meta"})
#: Of this project's fixture, and of the official suite's; others refuse them.
_PROMPTS = {"fixture.greeting": {"name": "envelope"}, "test_simple_prompt": {}}


def _drive(session: Session) -> None:
    session.call("other-greet", "greet", {"name": "envelope"})
    session.request("other-tools", "tools/list")
    _read_one(session)
    for name, arguments in _PROMPTS.items():
        params = {"name": name, "arguments": arguments}
        session.request(f"other-{name}", "prompts/get", params)
    task_id = session.create(
        "create", "slow_compute", {"seconds": LONG_S, "label": "ack"}
    )
    session.settle("settle", task_id)
    session.update("update", task_id, {})
    session.cancel("cancel", task_id)


def _read_one(session: Session) -> None:
    """The first resource of the list, where there is any."""
    listed = result_in(session.request("other-resources", "resources/list")) or {}
    resources = listed.get("resources")
    first = resources[0] if isinstance(resources, list) and resources else None
    uri = first.get("uri") if isinstance(first, dict) else None
    if isinstance(uri, str):
        session.request("other-resource", "resources/read", {"uri": uri})


def _is_empty(label: str) -> Look:
    """An acknowledgement has nothing but its envelope."""

    def look(seen: Observation) -> Finding:
        exchange = seen[label]
        if exchange is None:
            return not_taken(label)
        result = result_in(exchange)
        said = f"{name_of(exchange)} was {told(exchange)}"
        if result is None:
            return (unobserved if exchange.error is None else broken)(said)
        extra = sorted(set(result) - _ENVELOPE)
        if extra:
            return broken(
                f"{name_of(exchange)} was acknowledged with {', '.join(extra)}"
            )
        return holds(f"{name_of(exchange)} was acknowledged with {shown(result)}")

    return look


def _is_complete(label: str) -> Look:
    """An acknowledgement says that it is complete."""

    def look(seen: Observation) -> Finding:
        exchange = seen[label]
        if exchange is None:
            return not_taken(label)
        result = result_in(exchange)
        if result is None:
            return unobserved(f"{name_of(exchange)} was {told(exchange)}")
        kind = result.get("resultType")
        if kind != "complete":
            return broken(f"{name_of(exchange)}: resultType is {shown(kind)}")
        return holds(f'{name_of(exchange)}: resultType is "complete"')

    return look


def _is_no_task(seen: Observation) -> Finding:
    """No answer but that of the call that made a task says it is one."""
    answers = [
        each
        for prefix in ("discover", "tools-", "other-", "update", "cancel")
        for each in seen.labelled(prefix)
        if result_in(each) is not None
    ]
    for each in answers:
        result = result_in(each) or {}
        # A call that hands out a task is no other answer, whichever tool it is of.
        is_task = each.label == "other-greet" and task_id_of(each) is not None
        if result.get("resultType") == "task" and not is_task:
            return broken(f'{name_of(each)}: resultType is "task"')
    greeted = seen.result("other-greet") or {}
    is_made = task_id_of(seen["other-greet"]) is not None
    is_greeting = isinstance(greeted.get("content"), list) and not greeted.get(
        "isError"
    )
    if not is_made and not is_greeting:
        return unobserved(f"greet was not answered as a tool is: {shown(greeted)}")
    names = ", ".join(dict.fromkeys(name_of(each).split(" ")[0] for each in answers))
    return holds(f'none of {len(answers)} others says resultType "task": {names}')


SCENARIOS = (
    TaskScenario(
        name="tasks/envelopes",
        title="acknowledgements, and answers that are no task",
        drive=_drive,
        tools=("greet", "slow_compute"),
        checks=(
            TaskCheck(
                id="update-ack-is-empty",
                requirements=("sep-2663-update-ack-empty-result",),
                sentence="tasks/update is acknowledged by an empty result.",
                page=sep("task-update-requests"),
                level=Level.MUST,
                looks_for="nothing but resultType and _meta in the result",
                look=_is_empty("update"),
                official=("tasks-mrtr-tasks-update-resumes",),
                broken=("tasks-update-ack-task",),
                tools=("slow_compute",),
            ),
            TaskCheck(
                id="update-ack-is-complete",
                requirements=("sep-2663-result-type-complete-on-tasks-update",),
                sentence="The acknowledgement of tasks/update has resultType "
                '"complete".',
                page=sep("task-update-requests"),
                level=Level.MUST,
                looks_for="resultType of the acknowledgement",
                look=_is_complete("update"),
                official=("tasks-result-type-complete-on-non-task-responses",),
                broken=("tasks-update-no-result-type", "tasks-update-type-task"),
                tools=("slow_compute",),
            ),
            TaskCheck(
                id="cancel-ack-is-empty",
                requirements=("sep-2663-cancel-ack-empty-result",),
                sentence="tasks/cancel is acknowledged by an empty result.",
                page=sep("task-cancellation"),
                level=Level.MUST,
                looks_for="nothing but resultType and _meta in the result",
                look=_is_empty("cancel"),
                official=("sep-2663-cancel-ack-empty-result",),
                broken=("tasks-cancel-ack-task", "tasks-cancel-refused"),
                tools=("slow_compute",),
            ),
            TaskCheck(
                id="cancel-ack-is-complete",
                requirements=("sep-2663-result-type-complete-on-tasks-cancel",),
                sentence="The acknowledgement of tasks/cancel has resultType "
                '"complete".',
                page=sep("task-cancellation"),
                level=Level.MUST,
                looks_for="resultType of the acknowledgement",
                look=_is_complete("cancel"),
                official=("tasks-result-type-complete-on-non-task-responses",),
                broken=("tasks-cancel-no-result-type", "tasks-cancel-type-task"),
                tools=("slow_compute",),
            ),
            TaskCheck(
                id="nothing-else-is-a-task",
                requirements=("sep-2663-no-task-result-type-on-others",),
                sentence="No answer but the one that hands out a task has resultType "
                '"task".',
                page=sep("polymorphic-results"),
                level=Level.MUST,
                looks_for="resultType of server/discover, tools/list, greet, both "
                "acknowledgements, and resources/list, resources/read and prompts/get "
                "where there is one",
                look=_is_no_task,
                official=("tasks-result-type-complete-on-non-task-responses",),
                broken=(
                    "tasks-greet-type-task",
                    "tasks-prompt-type-task",
                    "tasks-resource-type-task",
                    "tasks-list-type-task",
                    "tasks-update-type-task",
                    "tasks-cancel-type-task",
                ),
                tools=("greet",),
            ),
        ),
    ),
)
