"""
The routing headers of the tasks methods.

Whether a request without ``Mcp-Name`` is refused is not specified for these methods:
it is on record, and nothing is demanded.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import broken, holds, unobserved
from mcpconf.tasks_extension.definition import (
    Level,
    TaskCheck,
    TaskScenario,
    sep,
    specification,
)
from mcpconf.tasks_extension.good_use import given, got_a_task
from mcpconf.tasks_extension.looks import (
    HEADER_MISMATCH,
    all_have_status,
    all_of,
    name_of,
    not_taken,
    refused,
    shown,
    told,
)
from mcpconf.tasks_extension.session import LONG_S, header_value, tells_of_task

if TYPE_CHECKING:
    from mcpconf.supplemental.finding import Finding
    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.session import Session

_LONG = {"seconds": LONG_S, "label": "headers"}
_NAME = {"name": "headers"}
_NO_NAME = {"mcp-name": None}
_HTTP = specification("basic/transports/streamable-http")


def _drive(session: Session) -> None:
    task_id = session.create("create", "slow_compute", _LONG)
    other = session.create("other", "slow_compute", _LONG)
    session.settle("settle", task_id)
    session.settle("settle-other", other)
    wrong = {"mcp-name": header_value(other or "another task")}
    session.get("name-get", task_id, headers=wrong)
    session.update("name-update", task_id, {}, headers=wrong)
    session.cancel("name-cancel", task_id, headers=wrong)
    session.get("method-get", task_id, headers={"mcp-method": "tools/call"})
    session.update("method-update", task_id, {}, headers={"mcp-method": "tasks/get"})
    session.cancel("method-cancel", task_id, headers={"mcp-method": "tasks/get"})
    session.call("method-call", "greet", _NAME, headers={"mcp-method": "tasks/get"})
    # On record for a reader; no check is about them.
    session.get("absent-get", task_id, headers=_NO_NAME)
    session.update("absent-update", task_id, {}, headers=_NO_NAME)
    session.cancel("absent-cancel", other, headers=_NO_NAME)
    session.get("match-get", task_id)
    session.update("match-update", task_id, {})
    session.cancel("match-cancel", task_id)


def _matches(label: str) -> Look:
    """
    A method is dispatched when the headers say what the body says.

    Only of tasks/get the task is wanted: a server may have another reason to refuse.
    """

    def look(seen: Observation) -> Finding:
        exchange = seen[label]
        if exchange is None:
            return not_taken(label)
        said = f"{name_of(exchange)} was {told(exchange)}"
        if exchange.error_code == HEADER_MISMATCH:
            sent = {
                name: exchange.sent_headers.get(name)
                for name in ("mcp-method", "mcp-name")
            }
            return broken(f"{said}, with {shown(sent)}")
        is_dispatched = exchange.response() is not None and label != "match-get"
        if not (is_dispatched or tells_of_task(exchange)):
            return unobserved(said)
        return holds(said)

    return look


def _of_one_that_serves(look: Look) -> Look:
    """A refusal counts where the same is served under headers that match."""
    return given(got_a_task("match-get"), look)


def _is_bad_request(seen: Observation) -> Finding:
    mismatches = (*seen.labelled("name-"), *seen.labelled("method-"))
    return all_have_status(HTTPStatus.BAD_REQUEST, HEADER_MISMATCH, mismatches)


def _name(method: str) -> TaskCheck:
    return TaskCheck(
        id=f"mismatched-name-on-{method}",
        requirements=("sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get",),
        sentence=f"tasks/{method} whose Mcp-Name is not its taskId is refused by "
        "-32020.",
        page=sep("streamable-http-routing-headers"),
        level=Level.MUST,
        looks_for=f"-32020 for tasks/{method} with the id of another task in Mcp-Name",
        look=_of_one_that_serves(refused(f"name-{method}", HEADER_MISMATCH)),
        official=(
            ("sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get",)
            if method == "get"
            else ()
        ),
        broken=(f"tasks-{method}-name-unchecked", "tasks-names-unchecked"),
        tools=("slow_compute",),
    )


SCENARIOS = (
    TaskScenario(
        name="tasks/headers",
        title="Mcp-Method and Mcp-Name of the tasks methods",
        drive=_drive,
        tools=("greet", "slow_compute"),
        checks=(
            TaskCheck(
                id="matching-headers-are-accepted",
                requirements=("sep-2663-routing-headers-accepted-on-tasks-get",),
                sentence="With Mcp-Method and Mcp-Name that say what the body says, "
                "the tasks methods are served.",
                page=sep("streamable-http-routing-headers"),
                level=Level.MUST,
                looks_for="a task from tasks/get, and anything but -32020 from "
                "tasks/update and tasks/cancel",
                look=all_of(
                    _matches("match-get"),
                    _matches("match-update"),
                    _matches("match-cancel"),
                ),
                official=("sep-2663-routing-headers-accepted-on-tasks-get",),
                broken=("tasks-matching-name-refused",),
                tools=("slow_compute",),
            ),
            _name("get"),
            _name("update"),
            _name("cancel"),
            TaskCheck(
                id="mismatched-method-is-refused",
                sentence="A request whose Mcp-Method is not its method is refused by "
                "-32020, the tasks methods among them.",
                page=_HTTP,
                level=Level.MUST,
                looks_for="-32020 for tasks/get, tasks/update and tasks/cancel under "
                "another name, and for tools/call under that of tasks/get",
                look=_of_one_that_serves(
                    all_of(
                        refused("method-get", HEADER_MISMATCH),
                        refused("method-update", HEADER_MISMATCH),
                        refused("method-cancel", HEADER_MISMATCH),
                        refused("method-call", HEADER_MISMATCH),
                    )
                ),
                official=("tasks-headers-reject-mismatched-method",),
                broken=("tasks-method-unchecked",),
            ),
            TaskCheck(
                id="mismatch-is-a-bad-request",
                sentence="-32020 comes with the status 400.",
                page=_HTTP,
                level=Level.MUST,
                looks_for="400 wherever a mismatch was refused by -32020",
                look=_of_one_that_serves(_is_bad_request),
                broken=("tasks-mismatch-status-200",),
            ),
        ),
    ),
)
