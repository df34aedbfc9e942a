"""What the checks of ``tasks/negotiation`` look for."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import (
    Finding,
    Kind,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.tasks_extension.good_use import (
    counted,
    given,
    got_a_task,
    made_a_task,
    was_let_in,
)
from mcpconf.tasks_extension.looks import (
    DRAFT_MISSING_CAPABILITY,
    MISSING_CAPABILITY,
    has_status,
    is_missing_capability,
    name_of,
    names_the_extension,
    not_taken,
    result_of,
    shown,
    told,
    worst_of,
)
from mcpconf.tasks_extension.session import result_in, task_id_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.server.exchange import Exchange
    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation

#: The tasks/get, with the declaration, of the task that is asked for without it then.
DECLARED_GET = "declared-get"


def makes_no_task(label: str) -> Look:
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


def is_missing(label: str) -> Look:
    """A request was refused for the capability that is missing."""

    def look(seen: Observation) -> Finding:
        exchange = seen[label]
        return not_taken(label) if exchange is None else is_missing_capability(exchange)

    return look


def _refuses_where_it_must(seen: Observation) -> Finding:
    """
    A tool that makes a task where it may is no tool that can do without one.

    Where it makes none either way there is nothing that it requires.
    """
    exchange, declared = seen["required"], seen["required-declared"]
    if exchange is None:
        return not_taken("required")
    is_served = result_in(exchange) is not None
    if is_served and declared is not None and result_in(declared) is not None:
        is_synchronous = _is_no_task(declared).kind is Kind.HOLDS
        if is_synchronous and _is_no_task(exchange).kind is Kind.HOLDS:
            return not_applicable(
                f"{name_of(declared)} was answered with its result: no task is required"
            )
    return is_missing_capability(exchange)


#: The good use that goes with each refusal: the same, with the declaration.
_SERVED: Mapping[str, Look] = {
    "required": made_a_task("required-declared"),
    "undeclared-get": got_a_task(f"{DECLARED_GET}-"),
    "undeclared-update": was_let_in("declared-update"),
    "undeclared-cancel": was_let_in("declared-cancel"),
}


def _of_refusals(right: Callable[[Exchange], Finding]) -> Look:
    """
    Every refusal for the missing capability is right.

    One without its good use does not count where others have theirs.
    """

    def look(seen: Observation) -> Finding:
        findings = [
            counted(good(seen), right(each))
            for label, good in _SERVED.items()
            if (each := seen[label]) is not None
            and each.error_code in {MISSING_CAPABILITY, DRAFT_MISSING_CAPABILITY}
        ]
        if not findings:
            return unobserved("nothing was refused for a missing capability")
        counting = [each for each in findings if each.kind is not Kind.UNOBSERVED]
        return worst_of(counting or findings)

    return look


def _names_the_extension(exchange: Exchange) -> Finding:
    finding = names_the_extension(exchange.error)
    return replace(finding, detail=f"{name_of(exchange)}: {finding.detail}")


def _is_bad_request(exchange: Exchange) -> Finding:
    return has_status(exchange, HTTPStatus.BAD_REQUEST)


def _ignores_hint(seen: Observation) -> Finding:
    exchange = seen["hinted"]
    if exchange is None:
        return not_taken("hinted")
    if exchange.error is None and result_in(exchange) is None:
        return unobserved(f"{name_of(exchange)} was {told(exchange)}")
    if result_in(exchange) is not None and _is_well(exchange):
        return _is_no_task(exchange)
    of_the_tool = "" if exchange.error else ", an error of the tool"
    said = f"{name_of(exchange)} was {told(exchange)}{of_the_tool}"
    plain = _was_greeted(seen)
    if plain.kind is not Kind.HOLDS:
        return unobserved(f"{said}; but without params.task, {plain.detail}")
    return broken(f"{said}; without params.task, {plain.detail}")


def _is_well(exchange: Exchange) -> bool:
    return not (result_in(exchange) or {}).get("isError")


def _was_greeted(seen: Observation) -> Finding:
    """The good use of greet: without the parameter it greets."""
    exchange = seen["first"]
    if exchange is None:
        return not_taken("first")
    finding = _is_no_task(exchange)
    if finding.kind is not Kind.HOLDS or not _is_well(exchange):
        return unobserved(
            f"{name_of(exchange)} was {told(exchange)}, and did not greet"
        )
    return finding


def look_at_hinted_times(seen: Observation) -> Finding:
    """Neither time is the one that the old parameter asked for."""
    plain, hinted = seen.result("create"), seen.result("hinted-create")
    if plain is None or hinted is None or task_id_of(seen["hinted-create"]) is None:
        return unobserved("slow_compute made no task with, or none without, a hint")
    for name, told_ in (("ttlMs", 90_000), ("pollIntervalMs", 700)):
        if hinted.get(name) == told_ != plain.get(name):
            return broken(f"{name} is {told_}, as params.task asked for it")
    return holds(f"ttlMs is {shown(hinted.get('ttlMs'))} with a hint and without")


def look_at_the_next_task(seen: Observation) -> Finding:
    """After calls without a declaration, one with it made a task."""
    result = result_of(seen, "again")
    if isinstance(result, Finding):
        return result
    if task_id_of(seen["again"]) is None:
        said = f"slow_compute made no task: {shown(result)}"
        return broken(said) if seen.task_id("create") else unobserved(said)
    return holds("slow_compute made a task for a request that declares the extension")


def refused_but_served(method: str) -> Look:
    """A tasks method was refused without the declaration, and served with it."""
    label = f"undeclared-{method}"
    return given(_SERVED[label], is_missing(label))


look_at_the_required_tool = given(_SERVED["required"], _refuses_where_it_must)
look_at_names = _of_refusals(_names_the_extension)
look_at_statuses = _of_refusals(_is_bad_request)
look_at_the_hint = given(_was_greeted, _ignores_hint)
