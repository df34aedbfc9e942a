"""What a server says of the extension before anything is asked of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import Finding, broken, holds, not_applicable
from mcpconf.tasks_extension.definition import (
    EXTENSION,
    Level,
    TaskCheck,
    TaskScenario,
    sep,
)
from mcpconf.tasks_extension.looks import result_of, shown
from mcpconf.tasks_extension.session import LONG_S, task_id_of

if TYPE_CHECKING:
    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.session import Session

_GREETING = {"name": "discovery"}


def _drive(session: Session) -> None:
    session.call("greet", "greet", _GREETING)
    session.create("create", "slow_compute", {"seconds": LONG_S, "label": "discovery"})


def _is_advertised(seen: Observation) -> Finding:
    if seen.advertises_tasks:
        return holds(f"capabilities.extensions names {EXTENSION}")
    task_id = task_id_of(seen["create"])
    if task_id is not None:
        return broken(
            f"slow_compute was answered with a task ({shown(task_id)}), and "
            f"server/discover does not name {EXTENSION}"
        )
    return not_applicable(f"neither names {EXTENSION} nor hands out a task")


def _is_an_object(seen: Observation) -> Finding:
    extensions = (seen.capabilities or {})["extensions"]
    said = extensions[EXTENSION]
    if not isinstance(said, dict):
        return broken(f"the extension is advertised as {shown(said)}, not an object")
    if said:
        members = ", ".join(said)
        return holds(f"the settings are an object, with {members}; none are defined")
    return holds("the settings are an object, and empty")


def _has_no_legacy(seen: Observation) -> Finding:
    capabilities = seen.capabilities or {}
    if "tasks" in capabilities:
        return broken(f"capabilities.tasks is advertised: {shown(capabilities)}")
    return holds(f"capabilities: {shown(sorted(capabilities))}")


def _greet_is_synchronous(seen: Observation) -> Finding:
    result = result_of(seen, "greet")
    if isinstance(result, Finding):
        return result
    if task_id_of(seen["greet"]) is not None:
        return broken(f"greet was answered with a task: {shown(result)}")
    text = "Hello, discovery!"
    content = result.get("content")
    first = content[0] if isinstance(content, list) and content else {}
    if not isinstance(first, dict) or first.get("text") != text:
        return broken(f"greet was answered with {shown(result)}, not {text!r}")
    return holds(f"greet was answered at once with {text!r}")


SCENARIOS = (
    TaskScenario(
        name="tasks/discovery",
        title="what server/discover says of the extension",
        drive=_drive,
        tools=("greet", "slow_compute"),
        checks=(
            TaskCheck(
                id="extension-is-advertised",
                requirements=("sep-2663-migrate-from-legacy-capabilities",),
                sentence="A server that offers tasks names the extension in "
                "server/discover, under capabilities.extensions.",
                page=sep("capability-negotiation"),
                level=Level.MUST,
                looks_for="the extension's name in the result of server/discover; "
                "where it is missing, whether a task is handed out nevertheless",
                look=_is_advertised,
                official=("tasks-extension-advertised",),
                broken=("tasks-not-advertised",),
                tools=(),
                of_any_server=True,
            ),
            TaskCheck(
                id="extension-is-an-object",
                sentence="The extension's settings are an object. (None are defined; "
                "that there are some is told, and no fault.)",
                page=sep("capability-negotiation"),
                level=Level.MUST,
                looks_for="an object under the extension's name, and its members",
                look=_is_an_object,
                broken=("tasks-advertised-true",),
                tools=(),
            ),
            TaskCheck(
                id="no-legacy-capability",
                requirements=("sep-2663-migrate-from-legacy-capabilities",),
                sentence="A server that offers the extension does not advertise the "
                "capability tasks of 2025-11-25 beside it.",
                page=sep("backward-compatibility"),
                level=Level.MUST,
                looks_for="no capabilities.tasks in the result of server/discover",
                look=_has_no_legacy,
                official=("tasks-extension-advertised",),
                broken=("tasks-advertises-legacy",),
                tools=(),
            ),
            TaskCheck(
                id="quick-tool-is-synchronous",
                sentence="A tool that answers at once gives its result, also to a "
                "client that declares the extension.",
                page=sep("task-creation"),
                level=Level.POLICY,
                looks_for="the greeting, and no task",
                look=_greet_is_synchronous,
                official=(
                    "tasks-sync-tool-call",
                    "tasks-headers-tolerate-mcp-method-on-tools-call",
                ),
                broken=("tasks-greet-made",),
                tools=("greet",),
            ),
        ),
    ),
)
