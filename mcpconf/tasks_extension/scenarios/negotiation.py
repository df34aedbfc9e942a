"""Who declares the extension, and what is done for those who do not."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import Finding, broken, holds, unobserved
from mcpconf.tasks_extension.definition import (
    Level,
    TaskCheck,
    TaskScenario,
    sep,
    specification,
)
from mcpconf.tasks_extension.looks import (
    MISSING_CAPABILITY,
    REQUIRED_CAPABILITIES,
    all_of,
    is_refused,
    name_of,
    not_taken,
    required_capabilities,
    result_of,
    shown,
    told,
)
from mcpconf.tasks_extension.session import (
    LONG_S,
    STRANGER,
    UNDECLARED,
    named,
    result_in,
    task_id_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.server.exchange import Exchange
    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation
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
#: What the draft of the extension used for a capability that is not declared.
_DRAFT_CODE = -32003
#: Calls of a tool that could run as a task, by clients that do not declare it.
_UNDECLARED_CALLS: Mapping[str, Mapping[str, Any]] = {
    "undeclared": {"declare": UNDECLARED, "meta": STRANGER},
    "after": {"declare": UNDECLARED, "meta": named("declared")},
    "legacy": {"declare": _LEGACY, "meta": STRANGER},
    "hinted-undeclared": {"declare": UNDECLARED, "meta": STRANGER, "params": _HINT},
}
_METHODS = ("undeclared-get", "undeclared-update", "undeclared-cancel")


def _drive(session: Session) -> None:
    task_id = session.create("create", "slow_compute", _LONG)
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


def _undeclared(session: Session, task_id: str | None) -> None:
    """By a client that has never declared anything."""
    more = {"declare": UNDECLARED, "meta": STRANGER}
    session.call("required", "failing_job", **more)
    session.get("undeclared-get", task_id, **more)
    session.update("undeclared-update", task_id, {}, **more)
    session.cancel("undeclared-cancel", task_id, **more)


def _makes_no_task(label: str) -> Look:
    """A call was answered with its result, or with the capability that is missing."""

    def look(seen: Observation) -> Finding:
        exchange = seen[label]
        if exchange is None:
            return not_taken(label)
        result = result_in(exchange)
        said = f"{name_of(exchange)} was {told(exchange)}"
        if result is not None:
            return _is_no_task(exchange)
        if exchange.error_code == MISSING_CAPABILITY:
            return holds(said)
        return (unobserved if exchange.error is None else broken)(said)

    return look


def _is_no_task(exchange: Exchange) -> Finding:
    result = result_in(exchange) or {}
    is_task = result.get("resultType") == "task" and "content" not in result
    if is_task or task_id_of(exchange) is not None:
        return broken(f"{name_of(exchange)} was answered with a task: {shown(result)}")
    if not isinstance(result.get("content"), list):
        return broken(f"{name_of(exchange)} has no content: {shown(result)}")
    return holds(f"{name_of(exchange)} was answered with its result")


def _is_missing_capability(exchange: Exchange) -> Finding:
    finding = is_refused(exchange, MISSING_CAPABILITY)
    if exchange.error_code == _DRAFT_CODE:
        return broken(
            f"{finding.detail}: {_DRAFT_CODE} was the code of the draft, and was "
            f"renumbered to {MISSING_CAPABILITY}; the final text knows no other"
        )
    return finding


def _missing(label: str) -> Look:
    def look(seen: Observation) -> Finding:
        exchange = seen[label]
        return (
            not_taken(label) if exchange is None else _is_missing_capability(exchange)
        )

    return look


def _of_refusals(*labels: str) -> Callable[[Callable[[Exchange], Finding]], Look]:
    """Every refusal for the missing capability among these steps is right."""

    def over(right: Callable[[Exchange], Finding]) -> Look:
        def look(seen: Observation) -> Finding:
            refusals = [
                each
                for label in labels
                if (each := seen[label]) is not None
                and each.error_code in {MISSING_CAPABILITY, _DRAFT_CODE}
            ]
            if not refusals:
                return unobserved("nothing was refused for a missing capability")
            return all_of(*(lambda _, each=each: right(each) for each in refusals))(
                seen
            )

        return look

    return over


def _names_the_extension(exchange: Exchange) -> Finding:
    required = required_capabilities(exchange)
    if required != REQUIRED_CAPABILITIES:
        said = (exchange.error or {}).get("data")
        return broken(
            f"{name_of(exchange)}: data is {shown(said)}, not "
            f"{shown({'requiredCapabilities': REQUIRED_CAPABILITIES})}"
        )
    return holds(f"{name_of(exchange)}: requiredCapabilities is {shown(required)}")


def _is_bad_request(exchange: Exchange) -> Finding:
    said = f"{name_of(exchange)} was {told(exchange)}"
    if exchange.status != HTTPStatus.BAD_REQUEST:
        return broken(f"{said}, and not with 400")
    return holds(said)


def _ignores_hint(seen: Observation) -> Finding:
    exchange = seen["hinted"]
    if exchange is None:
        return not_taken("hinted")
    if result_in(exchange) is None:
        said = f"{name_of(exchange)} was {told(exchange)}"
        return (unobserved if exchange.error is None else broken)(said)
    return _is_no_task(exchange)


def _takes_no_ttl_from_hint(seen: Observation) -> Finding:
    plain, hinted = seen.result("create"), seen.result("hinted-create")
    if plain is None or hinted is None or task_id_of(seen["hinted-create"]) is None:
        return unobserved("slow_compute made no task with, or none without, a hint")
    for name, told_ in (("ttlMs", 90_000), ("pollIntervalMs", 700)):
        if hinted.get(name) == told_ != plain.get(name):
            return broken(f"{name} is {told_}, as params.task asked for it")
    return holds(f"ttlMs is {shown(hinted.get('ttlMs'))} with a hint and without")


def _may_make_task(seen: Observation) -> Finding:
    result = result_of(seen, "again")
    if isinstance(result, Finding):
        return result
    if task_id_of(seen["again"]) is None:
        return broken(f"slow_compute made no task: {shown(result)}")
    return holds("slow_compute made a task for a request that declares the extension")


def _method_check(method: str) -> TaskCheck:
    return TaskCheck(
        id=f"undeclared-{method}-is-refused",
        requirements=("sep-2663-tasks-methods-non-declaring",),
        sentence=f"tasks/{method} of a request that does not declare the extension is "
        "refused by -32021, whatever the client declared before.",
        page=sep("protocol-errors"),
        level=Level.MUST,
        looks_for=f"-32021 for tasks/{method} of a task that is there",
        look=_missing(f"undeclared-{method}"),
        official=("sep-2663-tasks-methods-non-declaring",),
        broken=(f"tasks-{method}-ungated", "tasks-ungated", "tasks-missing-32003"),
        tools=("slow_compute",),
    )


_REFUSALS = _of_refusals("required", *_METHODS)

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
                look=_makes_no_task("undeclared"),
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
                look=_makes_no_task("after"),
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
                look=_may_make_task,
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
                looks_for="-32021, and not the draft's -32003, for failing_job",
                look=_missing("required"),
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
                looks_for="exactly that in every refusal: of failing_job, tasks/get, "
                "tasks/update and tasks/cancel",
                look=_REFUSALS(_names_the_extension),
                official=("sep-2663-server-returns-missing-capability-data-shape",),
                broken=("tasks-missing-no-data", "tasks-missing-data-list"),
            ),
            TaskCheck(
                id="refusal-is-a-bad-request",
                sentence="Over HTTP, -32021 comes with the status 400.",
                page=specification("basic/transports/streamable-http"),
                level=Level.MUST,
                looks_for="400 for the same four refusals",
                look=_REFUSALS(_is_bad_request),
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
                look=all_of(_makes_no_task("legacy"), _missing("legacy-get")),
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
                look=_ignores_hint,
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
                look=_makes_no_task("hinted-undeclared"),
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
                look=_takes_no_ttl_from_hint,
                broken=("tasks-param-ttl",),
                tools=("slow_compute",),
            ),
        ),
    ),
)
