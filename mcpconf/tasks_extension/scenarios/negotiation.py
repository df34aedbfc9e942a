"""Who declares the extension, and what is done for those who do not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from mcpconf.tasks_extension.definition import (
    Level,
    TaskCheck,
    TaskScenario,
    sep,
    specification,
)
from mcpconf.tasks_extension.good_use import given, got_a_task, made_a_task
from mcpconf.tasks_extension.looks import all_of
from mcpconf.tasks_extension.scenarios.negotiation_looks import (
    DECLARED_GET,
    is_missing,
    look_at_hinted_times,
    look_at_names,
    look_at_statuses,
    look_at_the_hint,
    look_at_the_next_task,
    look_at_the_required_tool,
    makes_no_task,
    refused_but_served,
)
from mcpconf.tasks_extension.session import LONG_S, STRANGER, UNDECLARED, named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.tasks_extension.session import Session

#: How a client of 2025-11-25 declared tasks.
_LEGACY: Mapping[str, Any] = {
    "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}},
    "elicitation": {},
    "sampling": {},
}
#: How it asked for one.
_HINT = {"task": {"ttl": 90_000, "pollInterval": 700}}
_SECOND = {"seconds": 1, "label": "negotiation"}
_LONG = {"seconds": LONG_S, "label": "negotiation"}
_NAME = {"name": "negotiation"}
#: Calls of a tool that could run as a task, by clients that do not declare it.
_UNDECLARED_CALLS: Mapping[str, Mapping[str, Any]] = {
    "undeclared": {"declare": UNDECLARED, "meta": STRANGER},
    "after": {"declare": UNDECLARED, "meta": named("declared")},
    "legacy": {"declare": _LEGACY, "meta": STRANGER},
    "hinted-undeclared": {"declare": UNDECLARED, "meta": STRANGER, "params": _HINT},
}


def _drive(session: Session) -> None:
    task_id = session.create("create", "slow_compute", _LONG)
    session.settle(DECLARED_GET, task_id)
    _undeclared(session, task_id)
    declared, changing = named("declared"), named("changing")
    session.create("before", "slow_compute", _LONG, meta=declared)
    session.call("first", "greet", _NAME, meta=changing, declare=UNDECLARED)
    session.create("again", "slow_compute", _SECOND, meta=changing)
    with ThreadPoolExecutor(len(_UNDECLARED_CALLS)) as pool:
        # At once, for each takes the tool's whole second.
        calls = [
            pool.submit(session.call, label, "slow_compute", _SECOND, **more)
            for label, more in _UNDECLARED_CALLS.items()
        ]
    for call in calls:
        call.result()
    session.get("legacy-get", task_id, declare=_LEGACY, meta=STRANGER)
    session.call("hinted", "greet", _NAME, params=_HINT)
    session.create("hinted-create", "slow_compute", _LONG, params=_HINT)
    session.update("declared-update", task_id, {})
    session.cancel("declared-cancel", task_id)


def _undeclared(session: Session, task_id: str | None) -> None:
    """By a client that has never declared anything."""
    more = {"declare": UNDECLARED, "meta": STRANGER}
    session.call("required", "failing_job", **more)
    session.create("required-declared", "failing_job")
    session.get("undeclared-get", task_id, **more)
    session.update("undeclared-update", task_id, {}, **more)
    session.cancel("undeclared-cancel", task_id, **more)


def _method_check(method: str) -> TaskCheck:
    return TaskCheck(
        id=f"undeclared-{method}-is-refused",
        requirements=("sep-2663-tasks-methods-non-declaring",),
        sentence=f"tasks/{method} of a request that does not declare the extension is "
        "refused by -32021, whatever the client declared before.",
        page=sep("protocol-errors"),
        level=Level.MUST,
        looks_for=f"-32021 for tasks/{method} of a task that is there, and is served "
        "with the declaration",
        look=refused_but_served(method),
        official=("sep-2663-tasks-methods-non-declaring",),
        broken=(f"tasks-{method}-ungated", "tasks-ungated", "tasks-missing-32003"),
        tools=("slow_compute",),
    )


SCENARIOS = (
    TaskScenario(
        name="tasks/negotiation",
        title="requests that declare the extension, and requests that do not",
        drive=_drive,
        tools=("greet", "slow_compute", "failing_job"),
        checks=(
            TaskCheck(
                id="undeclared-call-makes-no-task",
                requirements=("sep-2663-server-rejects-undeclared-client",),
                sentence="A tools/call that does not declare the extension is never "
                "answered with a task.",
                page=sep("capability-negotiation"),
                level=Level.MUST,
                looks_for="the result of slow_compute, or -32021, for a client that "
                "has never declared the extension",
                look=given(made_a_task("create"), makes_no_task("undeclared")),
                official=("sep-2663-server-rejects-undeclared-client",),
                broken=("tasks-undeclared-task",),
                tools=("slow_compute",),
            ),
            TaskCheck(
                id="declaration-is-not-remembered",
                requirements=("sep-2663-server-rejects-undeclared-client",),
                sentence="Only the request's own declaration counts, whatever the "
                "client declared before.",
                page=sep("capability-negotiation"),
                level=Level.MUST,
                looks_for="the result of slow_compute, or -32021, after a call of "
                "the same client that declared the extension",
                look=given(made_a_task("before"), makes_no_task("after")),
                official=("sep-2663-server-rejects-undeclared-client",),
                broken=("tasks-session-memory", "tasks-undeclared-task"),
                tools=("slow_compute",),
            ),
            TaskCheck(
                id="declaration-of-one-request-suffices",
                requirements=(),
                sentence="A request that declares the extension can be answered with a "
                "task, whatever was or was not declared before.",
                page=sep("capability-negotiation"),
                level=Level.POLICY,
                looks_for="a task for slow_compute, after requests that declared "
                "nothing",
                look=look_at_the_next_task,
                official=("tasks-per-request-meta-opt-in",),
                broken=("tasks-undeclared-memory",),
                tools=("slow_compute",),
            ),
            TaskCheck(
                id="required-tool-is-refused",
                requirements=(
                    "sep-2663-server-returns-missing-capability-when-required",
                ),
                sentence="A tool that can only run as a task refuses a request without "
                "the declaration by -32021.",
                page=sep("capability-negotiation"),
                level=Level.MUST,
                looks_for="-32021, and not the draft's -32003, for failing_job, which "
                "makes a task of a request with the declaration",
                look=look_at_the_required_tool,
                official=("sep-2663-server-returns-missing-capability-when-required",),
                broken=(
                    "tasks-required-runs-sync",
                    "tasks-missing-32003",
                    "tasks-undeclared-task",
                ),
                tools=("failing_job",),
            ),
            _method_check("get"),
            _method_check("update"),
            _method_check("cancel"),
            TaskCheck(
                id="refusal-names-the-extension",
                requirements=("sep-2663-server-returns-missing-capability-data-shape",),
                sentence="-32021 says what is missing: data.requiredCapabilities has "
                "the extension under extensions.",
                page=sep("capability-negotiation"),
                level=Level.MUST,
                looks_for="that, whatever else is named, in every refusal: of "
                "failing_job, tasks/get, tasks/update and tasks/cancel",
                look=look_at_names,
                official=("sep-2663-server-returns-missing-capability-data-shape",),
                broken=("tasks-missing-no-data", "tasks-missing-data-list"),
            ),
            TaskCheck(
                id="refusal-is-a-bad-request",
                sentence="Over HTTP, -32021 comes with the status 400.",
                page=specification("basic/transports/streamable-http"),
                level=Level.MUST,
                looks_for="400 for the same four refusals",
                look=look_at_statuses,
                broken=("tasks-missing-status-200",),
            ),
            TaskCheck(
                id="legacy-capability-is-no-declaration",
                requirements=("sep-2663-legacy-capability-treated-as-non-declaring",),
                sentence="A client that declares only capabilities.tasks of 2025-11-25 "
                "does not declare the extension.",
                page=sep("backward-compatibility"),
                level=Level.MUST,
                looks_for="no task for slow_compute, and -32021 for tasks/get",
                look=all_of(
                    given(made_a_task("create"), makes_no_task("legacy")),
                    given(got_a_task(f"{DECLARED_GET}-"), is_missing("legacy-get")),
                ),
                broken=(
                    "tasks-legacy-declaration",
                    "tasks-undeclared-task",
                    "tasks-get-ungated",
                    "tasks-ungated",
                    "tasks-missing-32003",
                ),
                tools=("slow_compute",),
            ),
            TaskCheck(
                id="legacy-parameter-is-ignored",
                requirements=("sep-2663-legacy-task-param-ignored",),
                sentence="params.task of 2025-11-25 is an unknown member: it neither "
                "makes a task nor is it an error.",
                page=sep("backward-compatibility"),
                level=Level.MUST,
                looks_for="the result of greet, with params.task and the declaration",
                look=look_at_the_hint,
                official=("sep-2663-legacy-task-param-ignored",),
                broken=("tasks-param-task", "tasks-param-refused"),
                tools=("greet",),
            ),
            TaskCheck(
                id="legacy-parameter-is-no-declaration",
                requirements=("sep-2663-legacy-task-param-ignored",),
                sentence="params.task does not take the place of the declaration.",
                page=sep("backward-compatibility"),
                level=Level.MUST,
                looks_for="the result of slow_compute, or -32021, with params.task and "
                "without the declaration",
                look=given(made_a_task("create"), makes_no_task("hinted-undeclared")),
                official=("sep-2663-legacy-task-param-ignored",),
                broken=(
                    "tasks-param-declares",
                    "tasks-param-refused",
                    "tasks-undeclared-task",
                ),
                tools=("slow_compute",),
            ),
            TaskCheck(
                id="legacy-parameter-sets-nothing",
                requirements=("sep-2663-legacy-task-param-ignored",),
                sentence="What params.task asks for, a time to live say, is not taken "
                "over into a task.",
                page=sep("backward-compatibility"),
                level=Level.MUST,
                looks_for="that ttlMs and pollIntervalMs are not the unusual ones of "
                "params.task",
                look=look_at_hinted_times,
                broken=("tasks-param-ttl",),
                tools=("slow_compute",),
            ),
        ),
    ),
)
