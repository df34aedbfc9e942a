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
from mcpconf.tasks_extension.looks import (
    HEADER_MISMATCH,
    all_of,
    is_refused,
    name_of,
    not_taken,
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


def _matches(seen: Observation) -> Finding:
    """
    Each method is dispatched when the headers say what the body says.

    Only of tasks/get the task is wanted: a server may have another reason to refuse.
    """
    for label in ("match-get", "match-update", "match-cancel"):
        exchange = seen[label]
        if exchange is None:
            return not_taken(label)
        if exchange.error_code == HEADER_MISMATCH:
            sent = {
                name: exchange.sent_headers.get(name)
                for name in ("mcp-method", "mcp-name")
            }
            return broken(
                f"{name_of(exchange)} was {told(exchange)}, with {shown(sent)}"
            )
        is_dispatched = exchange.response() is not None and label != "match-get"
        if not (is_dispatched or tells_of_task(exchange)):
            return unobserved(f"{name_of(exchange)} was {told(exchange)}")
    return holds(
        "tasks/get told of a task, and tasks/update and tasks/cancel an answer"
    )


def _code(label: str) -> Look:
    def look(seen: Observation) -> Finding:
        exchange = seen[label]
        return (
            not_taken(label)
            if exchange is None
            else is_refused(exchange, HEADER_MISMATCH)
        )

    return look


def _is_bad_request(seen: Observation) -> Finding:
    refusals = [
        each
        for prefix in ("name-", "method-")
        for each in seen.labelled(prefix)
        if each.error_code == HEADER_MISMATCH
    ]
    for each in refusals:
        if each.status != HTTPStatus.BAD_REQUEST:
            return broken(f"{name_of(each)} was {told(each)}, not with 400")
    if not refusals:
        return unobserved("no mismatch was refused by -32020")
    return holds(f"{len(refusals)} mismatches were refused with 400")


def _name(method: str) -> TaskCheck:
    return TaskCheck(
        id=f"mismatched-name-on-{method}",
        requirements=("sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get",),
        sentence=f"tasks/{method} whose Mcp-Name is not its taskId is refused by "
        "-32020.",
        page=sep("streamable-http-routing-headers"),
        level=Level.MUST,
        looks_for=f"-32020 for tasks/{method} with the id of another task in Mcp-Name",
        look=_code(f"name-{method}"),
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
                look=_matches,
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
                look=all_of(
                    _code("method-get"),
                    _code("method-update"),
                    _code("method-cancel"),
                    _code("method-call"),
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
                look=_is_bad_request,
                broken=("tasks-mismatch-status-200",),
            ),
        ),
    ),
)
