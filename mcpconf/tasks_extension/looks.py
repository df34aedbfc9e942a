"""What checks of every theme ask of an exchange, and how they speak of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import Finding, Kind, broken, holds, unobserved
from mcpconf.tasks_extension.definition import EXTENSION
from mcpconf.tasks_extension.session import result_in, task_id_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from mcpconf.server.exchange import Exchange
    from mcpconf.tasks_extension.definition import Look
    from mcpconf.tasks_extension.observation import Observation

METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602
HEADER_MISMATCH, MISSING_CAPABILITY = -32020, -32021
#: What the draft of the extension used for a capability that is not declared.
DRAFT_MISSING_CAPABILITY = -32003

#: Every member that a task, its payload included, may bring into a result.
TASK_MEMBERS = frozenset(
    {
        *("taskId", "status", "statusMessage", "createdAt", "lastUpdatedAt"),
        *("ttlMs", "pollIntervalMs", "inputRequests", "result", "error", "task"),
    }
)
_SHOWN = 160
#: The one tool of the inventory that always answers in the call.
_NEVER_A_TASK = "greet"


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


def all_have_status(
    status: int, code: int, exchanges: Iterable[Exchange | None]
) -> Finding:
    """Whichever of these were refused by a code came with this HTTP status."""
    refusals = [
        each for each in exchanges if each is not None and each.error_code == code
    ]
    if not refusals:
        return unobserved(f"nothing was refused by {code}")
    return worst_of([has_status(each, status) for each in refusals])


def has_status(exchange: Exchange, status: int) -> Finding:
    """Whether an answer came with this HTTP status."""
    said = f"{name_of(exchange)} was {told(exchange)}"
    if exchange.status != status:
        return broken(f"{said}, and not with {status}")
    return holds(said)


def all_of(*looks: Look) -> Look:
    """Every one of these holds; see `worst_of`."""
    return lambda seen: worst_of([each(seen) for each in looks])


def worst_of(findings: Sequence[Finding]) -> Finding:
    """
    Give what is found by all of them: the worst, or all that hold in one.

    What is broken is never hidden by what was not seen. There is at least one.
    """
    worst = min(findings, key=_weight)
    if worst.kind is not Kind.HOLDS:
        return worst
    return holds("; ".join(each.detail for each in findings))


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


def answered_in_the_call(seen: Observation) -> str | None:
    """
    A tool that could have made a task, of a server that made none of any call.

    None where a task was made, or where no such call was answered: what the last call
    of a tool came to counts, a result or a request for input. Calls that do not declare
    the extension show nothing, nor do those of the tool that never makes a task.
    """
    last: dict[str, Exchange] = {}
    for each in seen.exchanges:
        sent: Any = each.sent
        if not isinstance(sent, dict) or sent.get("method") != "tools/call":
            continue
        if task_id_of(each) is not None:
            return None
        if _declares(sent):
            last[str(sent["params"].get("name"))] = each
    last.pop(_NEVER_A_TASK, None)
    return next((name for name, each in last.items() if _is_answered(each)), None)


def _declares(sent: Mapping[str, Any]) -> bool:
    meta = sent["params"].get("_meta", {})
    capabilities = meta.get("io.modelcontextprotocol/clientCapabilities", {})
    return EXTENSION in capabilities.get("extensions", {})


def _is_answered(exchange: Exchange) -> bool:
    result = result_in(exchange) or {}
    kind = result.get("resultType")
    asks = kind == "input_required" and bool(result.get("inputRequests"))
    return asks or (kind == "complete" and isinstance(result.get("content"), list))


def is_missing_capability(exchange: Exchange, status: int | None = None) -> Finding:
    """Whether an exchange was refused for the capability that is not declared."""
    finding = is_refused(exchange, MISSING_CAPABILITY, status)
    if exchange.error_code == DRAFT_MISSING_CAPABILITY:
        return broken(
            f"{finding.detail}: {DRAFT_MISSING_CAPABILITY} was the code of the draft, "
            f"and was renumbered to {MISSING_CAPABILITY}; the final text knows no other"
        )
    return finding


def names_the_extension(error: Mapping[str, Any] | None) -> Finding:
    """
    Whether the ``data`` of a refusal names the extension as what is missing.

    It may name more: whatever else the request would have needed.
    """
    required = _required(error)
    extensions = required.get("extensions") if isinstance(required, dict) else None
    if not isinstance(extensions, dict) or EXTENSION not in extensions:
        return broken(
            f"data.requiredCapabilities is {shown(required)}, and does not name "
            f"{EXTENSION} under extensions"
        )
    return holds(f"data.requiredCapabilities is {shown(required)}")


def _required(error: Mapping[str, Any] | None) -> Any:
    data = (error or {}).get("data")
    return data.get("requiredCapabilities") if isinstance(data, dict) else None
