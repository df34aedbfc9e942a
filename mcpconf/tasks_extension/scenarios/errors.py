"""Requests about tasks that cannot be honoured."""

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
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    all_have_status,
    all_of,
    is_refused,
    name_of,
    not_taken,
    refused,
    shown,
    told,
)
from mcpconf.tasks_extension.session import LONG_S, STRANGER, UNDECLARED

if TYPE_CHECKING:
    from mcpconf.supplemental.finding import Finding
    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.session import Session

#: Of a form that servers use, and nobody's.
_NO_TASK = "7d0c5a4e-0000-4000-8000-6d6370636f6e"
#: The task that is there is got first.
_KNOWN = "get-known"
#: The only codes of MCP's own range, and of the one that was used before it.
_DEFINED = frozenset({HEADER_MISMATCH, MISSING_CAPABILITY, -32022})
_RESERVED = range(-32099, -31999)


def _drive(session: Session) -> None:
    task_id = session.create(
        "create", "slow_compute", {"seconds": LONG_S, "label": "errors"}
    )
    session.settle(_KNOWN, task_id)
    session.get("unknown-get", _NO_TASK)
    session.update("unknown-update", _NO_TASK, {})
    session.cancel("unknown-cancel", _NO_TASK)
    session.request("malformed-get", "tasks/get", {})
    session.request("malformed-cancel", "tasks/cancel", {"taskId": 7})
    if task_id is not None:
        session.request("malformed-update", "tasks/update", {"taskId": task_id})
    known = task_id or _NO_TASK
    session.request("removed-result", "tasks/result", {"taskId": known})
    session.request("removed-list", "tasks/list", {})
    # So that every kind of refusal is among those whose codes are looked at.
    session.get("undeclared", known, declare=UNDECLARED, meta=STRANGER)
    session.get("mismatched", known, headers={"mcp-name": _NO_TASK[::-1]})


def _of_one_that_serves(look: Look) -> Look:
    """A refusal counts where the tasks/get of a known task had that task."""
    return given(got_a_task(f"{_KNOWN}-"), look)


def _malformed(label: str) -> Look:
    """
    A request without what it must have is refused.

    By a server that looks at the headers first also as a mismatch: without a taskId
    there is nothing that Mcp-Name could be.
    """

    def look(seen: Observation) -> Finding:
        exchange = seen[label]
        if exchange is None:
            return not_taken(label)
        if exchange.error_code == HEADER_MISMATCH:
            return holds(f"{name_of(exchange)} was {told(exchange)}")
        return is_refused(exchange, INVALID_PARAMS)

    return look


def _codes_are_defined(seen: Observation) -> Finding:
    codes = {
        each.label: each.error_code
        for each in seen.exchanges
        if each.error_code is not None
    }
    for label, code in codes.items():
        if code in _RESERVED and code not in _DEFINED:
            return broken(
                f"{label}: {code} is of the range that MCP keeps for itself, and is "
                f"not defined at this revision"
            )
    if not codes:
        return unobserved("nothing was refused by an error")
    return holds(
        f"{len(codes)} errors, with the codes {shown(sorted(set(codes.values())))}"
    )


def _is_not_found(seen: Observation) -> Finding:
    removed = (seen["removed-result"], seen["removed-list"])
    return all_have_status(HTTPStatus.NOT_FOUND, METHOD_NOT_FOUND, removed)


def _unknown(method: str, level: Level, requirements: tuple[str, ...]) -> TaskCheck:
    return TaskCheck(
        id=f"unknown-id-on-{method}",
        requirements=requirements,
        sentence=f"tasks/{method} of a task that is not there is refused by -32602.",
        page=sep("protocol-errors"),
        level=level,
        looks_for=f"-32602 for tasks/{method} of {_NO_TASK}, by a server that "
        "answers tasks/get of a task that is there",
        look=_of_one_that_serves(refused(f"unknown-{method}", INVALID_PARAMS)),
        official=("sep-2663-tasks-get-invalid-task-id-32602",)
        if method == "get"
        else (),
        broken={
            "get": ("tasks-get-unknown-32603", "tasks-get-unknown-working"),
            "update": ("tasks-update-unknown-acked", "tasks-unknown-32001"),
            "cancel": ("tasks-cancel-unknown-acked",),
        }[method],
        tools=(),
    )


def _removed(method: str, requirements: tuple[str, ...], official: str) -> TaskCheck:
    return TaskCheck(
        id=f"{method}-is-removed",
        requirements=requirements,
        sentence=f"tasks/{method} of 2025-11-25 is no method any more.",
        page=sep("backward-compatibility"),
        level=Level.MUST,
        looks_for=f"-32601 for tasks/{method}, by a server that answers tasks/get",
        look=_of_one_that_serves(refused(f"removed-{method}", METHOD_NOT_FOUND)),
        official=(official,),
        broken=(f"tasks-{method}-kept",),
        tools=(),
    )


SCENARIOS = (
    TaskScenario(
        name="tasks/errors",
        title="unknown tasks, malformed requests, removed methods",
        drive=_drive,
        tools=("slow_compute",),
        checks=(
            _unknown("get", Level.MUST, ("sep-2663-tasks-get-invalid-task-id-32602",)),
            _unknown(
                "update",
                Level.SHOULD,
                (
                    "sep-2663-update-error-unknown-task-id",
                    "sep-2663-tasks-update-cancel-invalid-task-id-32602",
                ),
            ),
            _unknown(
                "cancel",
                Level.SHOULD,
                (
                    "sep-2663-cancel-error-unknown-task-id",
                    "sep-2663-tasks-update-cancel-invalid-task-id-32602",
                ),
            ),
            TaskCheck(
                id="malformed-params-are-refused",
                sentence="A request without what its method asks for is refused by "
                "-32602.",
                page=sep("protocol-errors"),
                level=Level.MUST,
                looks_for="-32602 for tasks/get without a taskId, tasks/cancel with a "
                "number for one, and tasks/update without inputResponses; or -32020 "
                "of a server that misses Mcp-Name first",
                look=_of_one_that_serves(
                    all_of(
                        _malformed("malformed-get"),
                        _malformed("malformed-cancel"),
                        _malformed("malformed-update"),
                    )
                ),
                broken=("tasks-malformed-accepted",),
            ),
            _removed(
                "result",
                ("sep-2663-tasks-result-removed-method-not-found",),
                "sep-2663-tasks-result-removed-method-not-found",
            ),
            _removed("list", (), "tasks-removed-tasks-list"),
            TaskCheck(
                id="removed-methods-are-not-found",
                sentence="Over HTTP, a method that is not there comes with the status "
                "404.",
                page=specification("basic/transports/streamable-http"),
                level=Level.MUST,
                looks_for="404 where tasks/result and tasks/list are refused by -32601",
                look=_of_one_that_serves(_is_not_found),
                broken=("tasks-removed-status-200",),
                tools=(),
            ),
            TaskCheck(
                id="codes-are-defined",
                sentence="Of the codes from -32000 to -32099 only those are used that "
                "the revision defines: -32020, -32021 and -32022. The drafts' -32001, "
                "-32003 and -32004 are gone, and so is -32002.",
                page=specification("basic"),
                level=Level.MUST,
                looks_for="the code of every error in this drive",
                look=_of_one_that_serves(_codes_are_defined),
                broken=("tasks-missing-32003", "tasks-unknown-32001"),
                tools=(),
            ),
        ),
    ),
)
