"""
What SEP-2663 demands, one sentence at a time, under upstream's own ids.

The ids are those of ``src/seps/sep-2663.yaml`` in the suite's repository (0b3dba0): 41,
one more than the suite's 0.2.0-alpha.12 has (``sep-2663-client-honors-poll-interval``
came later). The sentences are ours. What no server can break has the reason beside it,
and nothing else has one: a test holds every other demand to a check.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from mcpconf.tasks_extension.definition import Level, sep

if TYPE_CHECKING:
    from collections.abc import Mapping


class Binds(StrEnum):
    """Whose duty a demand is."""

    SERVER = "server"
    CLIENT = "client"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One demand."""

    id: str
    #: What is demanded, in our words.
    sentence: str
    #: The address of the section that demands it.
    page: str
    level: Level
    binds: Binds
    #: Why no check of a server can be had; None where there are checks.
    reason: str | None = None
    #: Our checks of a client that look at it: ``scenario:check``.
    client_checks: tuple[str, ...] = ()


def _server(
    name: str, page: str, sentence: str, level: Level = Level.MUST
) -> Requirement:
    return Requirement(
        id=f"sep-2663-{name}",
        sentence=sentence,
        page=page,
        level=level,
        binds=Binds.SERVER,
    )


def _client(  # noqa: PLR0917 (the words of one row)
    name: str,
    page: str,
    sentence: str,
    reason: str,
    level: Level = Level.MUST,
    checks: tuple[str, ...] = (),
) -> Requirement:
    return Requirement(
        id=f"sep-2663-{name}",
        sentence=sentence,
        page=page,
        level=level,
        binds=Binds.CLIENT,
        reason=reason,
        client_checks=checks,
    )


_NEGOTIATION = sep("capability-negotiation")
_RESULTS = sep("polymorphic-results")
_STATUS = sep("task-status")
_CREATION = sep("task-creation")
_POLLING = sep("task-polling")
_UPDATE = sep("task-update-requests")
_CANCELLATION = sep("task-cancellation")
_NOTIFICATIONS = sep("task-status-notifications")
_HEADERS = sep("streamable-http-routing-headers")
_PROTOCOL_ERRORS = sep("protocol-errors")
_EXECUTION_ERRORS = sep("task-execution-errors")
_BACKWARD = sep("backward-compatibility")
_HEADER_PROCESSING = (
    "https://modelcontextprotocol.io/seps/2243-http-standardization#header-processing"
)

_NEGOTIATED = (
    _server(
        "server-rejects-undeclared-client",
        _NEGOTIATION,
        "Only a request that itself declares the extension may be answered with a "
        "task; what earlier requests declared does not matter.",
    ),
    _client(
        "client-handles-polymorphic-result",
        _NEGOTIATION,
        "A client that declares the extension copes with a plain result and with a "
        "task, whichever comes.",
        "It is about what a client does with an answer; a server under test shows "
        "nothing of it.",
        checks=(
            "tasks:task-plain-result-accepted",
            "tasks:task-result-accepted",
        ),
    ),
    _client(
        "client-rejects-task-result-on-unsupported",
        _NEGOTIATION,
        "A task in answer to a request that cannot become one is an invalid answer to "
        "the client.",
        "It is about what a client does with an answer that only a faulty server "
        "gives; a server under test shows nothing of it.",
        checks=(
            "task-for-list:task-for-list-is-invalid",
            "task-for-resource:task-for-resource-is-invalid",
        ),
    ),
    _server(
        "server-returns-missing-capability-when-required",
        _NEGOTIATION,
        "A request that can only be served as a task, and does not declare the "
        "extension, is refused with -32021.",
    ),
    _server(
        "server-returns-missing-capability-data-shape",
        _NEGOTIATION,
        "The refusal names the extension that is missing, in "
        "data.requiredCapabilities.extensions.",
    ),
    _server(
        "result-type-task-on-create",
        _RESULTS,
        'The answer that hands out a task says so: resultType is "task".',
    ),
    _server(
        "no-task-result-type-on-others",
        _RESULTS,
        'No other result has the resultType "task".',
    ),
)

_TASKS = (
    _server(
        "failed-status-jsonrpc-only",
        _STATUS,
        "A task is failed for a JSON-RPC error of its execution, which it carries, and "
        "for nothing else.",
    ),
    _server(
        "durable-create-strong-consistency",
        _CREATION,
        "A task is handed out only once tasks/get would find it.",
    ),
    _server(
        "mrtr-synchronous-before-task-creation",
        _CREATION,
        "Input that is needed before there is a task is asked for in rounds of the "
        "call itself, and all of them are over before the task is handed out.",
        Level.SHOULD,
    ),
    _server(
        "tasks-get-status-working",
        _POLLING,
        "tasks/get of a task in work gives the task, with the status working.",
    ),
    _server(
        "tasks-get-status-input-required",
        _POLLING,
        "tasks/get of a task that waits for input gives that status, and in "
        "inputRequests everything that is still asked for.",
    ),
    _server(
        "tasks-get-status-completed",
        _POLLING,
        "tasks/get of a completed task gives that status and the final result.",
    ),
    _server(
        "tasks-get-status-cancelled",
        _POLLING,
        "tasks/get of a cancelled task gives the task, with the status cancelled.",
    ),
    _server(
        "tasks-get-status-failed",
        _POLLING,
        "tasks/get of a failed task gives that status and the error.",
    ),
    _server(
        "result-type-complete-on-tasks-get",
        _POLLING,
        'The resultType of a tasks/get result is "complete", whatever the status.',
    ),
    _client(
        "client-honors-poll-interval",
        _POLLING,
        "A client asks no more often than pollIntervalMs says.",
        "The pace is the client's; a server that is asked shows nothing of it.",
        Level.SHOULD,
        checks=("task-polling:task-poll-interval",),
    ),
)

_MESSAGES = (
    _server(
        "input-request-key-unique-per-task",
        _UPDATE,
        "A key of inputRequests stands for one request, all the task's life.",
    ),
    _server(
        "no-key-reuse-after-response",
        _UPDATE,
        "A key that was answered is never used again, and no key for two requests.",
    ),
    _server(
        "update-ack-empty-result",
        _UPDATE,
        "tasks/update is acknowledged with an empty result.",
    ),
    _server(
        "update-error-unknown-task-id",
        _UPDATE,
        "tasks/update of a task that is not known is answered with an error.",
        Level.SHOULD,
    ),
    _server(
        "update-ignore-unknown-keys",
        _UPDATE,
        "Answers under keys that are not outstanding (never issued, answered, "
        "superseded) are ignored.",
        Level.SHOULD,
    ),
    _server(
        "result-type-complete-on-tasks-update",
        _UPDATE,
        'The resultType of a tasks/update result is "complete".',
    ),
    _server(
        "cancel-not-via-cancelled-notification",
        _CANCELLATION,
        "Tasks are not cancelled by notifications/cancelled; the client does not send "
        "it for that, and to a server it means nothing for a task.",
    ),
    _server(
        "cancel-ack-empty-result",
        _CANCELLATION,
        "tasks/cancel is acknowledged with an empty result.",
    ),
    _server(
        "cancel-error-unknown-task-id",
        _CANCELLATION,
        "tasks/cancel of a task that is not known is answered with an error.",
        Level.SHOULD,
    ),
    _server(
        "result-type-complete-on-tasks-cancel",
        _CANCELLATION,
        'The resultType of a tasks/cancel result is "complete".',
    ),
    _server(
        "subscribe-missing-capability-non-declaring",
        _NOTIFICATIONS,
        "Who asks to be told of tasks without declaring the extension is refused with "
        "-32021, which names what is missing.",
    ),
    _server(
        "no-progress-or-message-on-task-stream",
        _NOTIFICATIONS,
        "There is neither notifications/progress nor notifications/message for a task, "
        "on the listen stream or anywhere.",
    ),
)

_HTTP = (
    _client(
        "client-emits-mcp-name-on-tasks-methods",
        _HEADERS,
        "Over HTTP the Mcp-Name of a tasks request is the task's id.",
        "The header is the client's; whether a server minds a wrong one is a demand of "
        "its own.",
        checks=(
            "tasks:task-get-headers",
            "tasks:task-name-encoded",
            "task-input:task-update-headers",
            "task-cancellation:task-cancel-headers",
        ),
    ),
    _server(
        "routing-headers-accepted-on-tasks-get",
        _HEADERS,
        "Routing headers that agree with the body change nothing in the answer.",
    ),
    _server(
        "server-rejects-mismatched-mcp-name-on-tasks-get",
        _HEADER_PROCESSING,
        "A server that reads the body refuses a request whose headers say otherwise.",
    ),
)

_ERRORS = (
    _server(
        "tasks-get-invalid-task-id-32602",
        _PROTOCOL_ERRORS,
        "tasks/get of a task that is not known is answered with -32602.",
    ),
    _server(
        "tasks-update-cancel-invalid-task-id-32602",
        _PROTOCOL_ERRORS,
        "tasks/update and tasks/cancel of a task that is not known are answered with "
        "-32602.",
        Level.SHOULD,
    ),
    _server(
        "tasks-methods-non-declaring",
        _PROTOCOL_ERRORS,
        "tasks/get, tasks/update and tasks/cancel that do not declare the extension "
        "are refused with -32021.",
    ),
    _server(
        "failed-includes-statusmessage",
        _EXECUTION_ERRORS,
        "A failed task has a statusMessage that says what happened (and the error, "
        "always).",
        Level.SHOULD,
    ),
    _server(
        "tool-error-uses-completed-status",
        _EXECUTION_ERRORS,
        "A tool that ran and says isError has completed; its result says the rest.",
    ),
)

_OLD_FORMS = (
    _server(
        "tasks-result-removed-method-not-found",
        _BACKWARD,
        "tasks/result is gone: -32601.",
    ),
    _server(
        "legacy-task-param-ignored",
        _BACKWARD,
        "The old parameter task of tools/call is an unknown field, and no wish for a "
        "task.",
    ),
    _server(
        "migrate-from-legacy-capabilities",
        _BACKWARD,
        "The extension is advertised in place of the old tasks capability, never with "
        "it.",
    ),
    _server(
        "legacy-capability-treated-as-non-declaring",
        _BACKWARD,
        "A client that declares only the old capability has not declared the "
        "extension.",
    ),
)

#: Every demand by id, in upstream's order.
REQUIREMENTS: Mapping[str, Requirement] = {
    each.id: each
    for group in (_NEGOTIATED, _TASKS, _MESSAGES, _HTTP, _ERRORS, _OLD_FORMS)
    for each in group
}
