"""What checks of every theme ask of an exchange, and how they speak of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import Finding, broken, holds, unobserved
from mcpconf.tasks_extension.definition import EXTENSION
from mcpconf.tasks_extension.session import result_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.server.exchange import Exchange
    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation

METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602
HEADER_MISMATCH, MISSING_CAPABILITY = -32020, -32021

#: Every member that a task, its payload included, may bring into a result.
TASK_MEMBERS = frozenset(
    {
        *("taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt"),
        *("ttlMs", "pollIntervalMs", "inputRequests", "result", "error", "task"),
    }
)
_SHOWN = 160


def shown(value: object) -> str:
    """A value for a sentence, cut where it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def told(exchange: Exchange) -> str:
    """How an exchange was answered: *answered with 400 and -32602 (…)*."""
    if exchange.status is None:
        return f"not answered ({exchange.problem or exchange.how.value})"
    error: Any = exchange.error
    if error is not None:
        code, message = error.get("code"), error.get("message")
        return f"answered with {exchange.status} and {code} ({shown(message)})"
    if result_in(exchange) is not None:
        return "answered with a result"
    form = exchange.problem or f"a body that is {exchange.form.value}"
    return f"answered with {exchange.status} and no JSON-RPC response ({form})"


def not_taken(label: str) -> Finding:
    """A step whose exchange is not there: what it needed never came about."""
    return unobserved(f"{label} was not sent: there was no task to send it for")


def without_result(exchange: Exchange) -> Finding:
    """A step that was to have a result, and has none."""
    return unobserved(f"{name_of(exchange)} was {told(exchange)}")


def name_of(exchange: Exchange) -> str:
    """A step by its request and its label: *tasks/get (get-1)*."""
    sent = exchange.sent
    method = sent.get("method") if isinstance(sent, dict) else None
    return f"{method or 'the request'} ({exchange.label})"


def result_of(seen: Observation, label: str) -> Mapping[str, Any] | Finding:
    """The result of a step, or the finding that there is none."""
    exchange = seen[label]
    if exchange is None:
        return not_taken(label)
    result = result_in(exchange)
    return result if result is not None else without_result(exchange)


def refused(label: str, code: int, status: int | None = None) -> Look:
    """A step was refused by this error, and by this HTTP status where one is asked."""

    def look(seen: Observation) -> Finding:
        exchange = seen[label]
        if exchange is None:
            return not_taken(label)
        return is_refused(exchange, code, status)

    return look


def is_refused(exchange: Exchange, code: int, status: int | None = None) -> Finding:
    """Whether an exchange was refused so; silence is no refusal."""
    said = f"{name_of(exchange)} was {told(exchange)}"
    if exchange.status is None:
        return unobserved(said)
    if exchange.error_code != code:
        return broken(f"{said}, not refused by {code}")
    if status is not None and exchange.status != status:
        return broken(f"{said}; the status of {code} is {status}")
    return holds(said)


def all_of(*looks: Look) -> Look:
    """Every one of these holds; the first that does not is what is found."""

    def look(seen: Observation) -> Finding:
        findings = [each(seen) for each in looks]
        for finding in sorted(findings, key=_weight):
            return (
                finding
                if finding.kind.value != "holds"
                else holds("; ".join(each.detail for each in findings))
            )
        raise AssertionError  # there is at least one

    return look


def _weight(finding: Finding) -> int:
    return ("broken", "unobserved", "unsupported", "not-applicable", "holds").index(
        finding.kind.value
    )


def acknowledged(label: str) -> Look:
    """A step was answered by an acknowledgement: complete, and no task."""

    def look(seen: Observation) -> Finding:
        result = result_of(seen, label)
        if isinstance(result, Finding):
            return result
        if result.get("resultType") != "complete":
            kind = shown(result.get("resultType"))
            return broken(f'{label}: resultType is {kind}, not "complete"')
        extra = sorted(TASK_MEMBERS & set(result))
        if extra:
            return broken(f"{label}: the acknowledgement has {', '.join(extra)}")
        return holds(f"{label}: {shown(result)}")

    return look


REQUIRED_CAPABILITIES: Mapping[str, Any] = {"extensions": {EXTENSION: {}}}


def required_capabilities(exchange: Exchange) -> Any:
    """``data.requiredCapabilities`` of an error; None where it has none."""
    error: Any = exchange.error
    data = error.get("data") if isinstance(error, dict) else None
    return data.get("requiredCapabilities") if isinstance(data, dict) else None
