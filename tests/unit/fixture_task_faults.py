"""
What is other than on the good server, for every fault of the tasks extension.

Labels of `fixture_task_tour` to what `differences` finds there, both in words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# Labels where tasks are shown, by what they are in.
CREATED = "hint greet/declared create create/token create/level round/given"
WORKING = "get get/later get/named notified closed answered"
AGAIN = "completed/again completed/late completed/cancelled"
COMPLETED = (
    f"completed {AGAIN} failing_job answered/end declined part/end part/late/get "
    "round/end told/slow_compute/get told/multi_input/get"
)
ASKING = "asks asks/again asks/still part/get part/get/again"
FAILED = "protocol_error_job told/protocol_error_job/get"
CANCELLED = "cancel/get cancel/late stop/get"
GOT = f"{WORKING} {COMPLETED} {ASKING} {FAILED} {CANCELLED}"
TOLD = "told/slow_compute told/protocol_error_job told/multi_input"
SHOWN = f"{CREATED} {GOT} {TOLD}"
#: Where they are not as they were created.
CHANGED = f"answered {COMPLETED} {ASKING} {FAILED} stop/get {TOLD}"
# The same, and the subscription that was told.
WORKED = f"{WORKING} told/multi_input"
ASKED = f"{ASKING} told/multi_input"
BROKEN = f"{FAILED} told/protocol_error_job"
ENDED = f"{COMPLETED} told/slow_compute told/multi_input"

# Labels of other things.
UNDECLARED = "undeclared undeclared/hint undeclared/legacy undeclared/known"
GET_GATES = "gate/get gate-legacy/get gate-known/get"
UPDATE_GATES = "gate/update gate-legacy/update gate-known/update"
CANCEL_GATES = "gate/cancel gate-legacy/cancel gate-known/cancel"
LISTEN_GATES = "gate/listen gate-legacy/listen gate-known/listen"
GATES = f"{GET_GATES} {UPDATE_GATES} {CANCEL_GATES} {LISTEN_GATES}"
REFUSED = f"required refused {GATES}"
NAMED = "named/get named/update named/cancel"
UPDATED = "answer/unknown answer part part/again part/second part/late"
ROUNDS = "round/forged round/again round/given round/end"

# What differs: a task is there, a result for an error, the reverse, another error.
TASK = "+taskId +status +createdAt +lastUpdatedAt +ttlMs +pollIntervalMs"
SERVED = "+result -error statuses"
LOST = "-result +error statuses"
OTHER = "-data code message"

FAULTS: Mapping[str, Mapping[str, str]] = {
    "tasks-create-request-state": {CREATED: "+requestState"},
    "tasks-create-nested": {
        CREATED: (
            "+task -createdAt -lastUpdatedAt -pollIntervalMs -status -taskId -ttlMs"
        ),
    },
    "tasks-create-no-result-type": {CREATED: "-resultType"},
    "tasks-create-type-complete": {CREATED: "resultType"},
    "tasks-create-with-result": {CREATED: "+result"},
    "tasks-create-with-requests": {CREATED: "+inputRequests"},
    "tasks-late-creation": {
        ("get get/later get/named cancel cancel/get notified closed named/again"): LOST,
        "cancel/late": "status",
        "malformed/update": "message",
        (
            "answered answered/end declined part/get part/get/again "
            "part/end part/late/get stop/get"
        ): "lastUpdatedAt",
        TOLD: "-notifications/tasks",
    },
    "tasks-ids-guessable": {
        f"{GOT} {CREATED}": "taskId",
        TOLD: "taskId taskIds",
    },
    "tasks-ids-short": {
        f"{GOT} {CREATED}": "taskId",
        TOLD: "taskId taskIds",
    },
    "tasks-status-message-number": {
        f"{CREATED} {WORKED}": "+statusMessage",
    },
    "tasks-ids-collide": {
        "parallel": "parallel",
        f"{CHANGED} cancel/get cancel/late": "lastUpdatedAt",
        "create/token closed create/level": "createdAt lastUpdatedAt",
    },
    "tasks-undeclared-task": {
        UNDECLARED: f"{TASK} -content resultType",
        "required": SERVED,
        "refused": "-extensions",
    },
    "tasks-required-runs-sync": {"required": SERVED},
    "tasks-param-declares": {"undeclared/hint": f"{TASK} -content resultType"},
    "tasks-param-task": {"greet/hint": f"{TASK} -content resultType"},
    "tasks-param-ttl": {"hint": "ttlMs"},
    "tasks-param-refused": {"greet/hint undeclared/hint hint": LOST},
    "tasks-legacy-declaration": {
        "undeclared/legacy": f"{TASK} -content resultType",
        "gate-legacy/get gate-legacy/update": SERVED,
        "gate-legacy/cancel": OTHER,
        "gate-legacy/listen": "+method +params -error statuses",
    },
    "tasks-session-memory": {
        "gate-known/get gate-known/update": SERVED,
        "gate-known/cancel": OTHER,
        "gate-known/listen": "+method +params -error statuses",
    },
    "tasks-advertises-legacy": {"discover": "+tasks"},
    "tasks-advertised-true": {"discover": "io.modelcontextprotocol/tasks"},
    "tasks-ungated": {
        f"{GET_GATES} {UPDATE_GATES}": SERVED,
        CANCEL_GATES: OTHER,
    },
    "tasks-get-ungated": {GET_GATES: SERVED},
    "tasks-update-ungated": {UPDATE_GATES: SERVED},
    "tasks-cancel-ungated": {CANCEL_GATES: OTHER},
    "tasks-listen-ungated": {LISTEN_GATES: "+method +params -error statuses"},
    "tasks-missing-32003": {REFUSED: "code"},
    "tasks-missing-no-data": {REFUSED: "-data"},
    "tasks-missing-data-list": {REFUSED: "requiredCapabilities"},
    "tasks-missing-status-200": {REFUSED: "statuses"},
    "tasks-names-unchecked": {NAMED: "code message"},
    "tasks-get-name-unchecked": {"named/get": "code message"},
    "tasks-update-name-unchecked": {"named/update": "code message"},
    "tasks-cancel-name-unchecked": {"named/cancel": "code message"},
    "tasks-mismatch-status-200": {NAMED: "statuses"},
    "tasks-get-request-state": {GOT: "+requestState"},
    "tasks-get-no-result-type": {GOT: "-resultType"},
    "tasks-get-type-task": {GOT: "resultType"},
    "tasks-get-other-id": {GOT: "taskId"},
    "tasks-ttl-old-name": {SHOWN: "+ttl -ttlMs"},
    "tasks-poll-old-name": {SHOWN: "+pollInterval -pollIntervalMs"},
    "tasks-ttl-missing": {SHOWN: "-ttlMs"},
    "tasks-ttl-fraction": {SHOWN: "ttlMs"},
    "tasks-poll-fraction": {SHOWN: "pollIntervalMs"},
    "tasks-created-not-iso": {SHOWN: "createdAt"},
    "tasks-updated-not-iso": {SHOWN: "lastUpdatedAt"},
    "tasks-updated-missing": {SHOWN: "-lastUpdatedAt"},
    "tasks-created-changes": {CHANGED: "createdAt"},
    "tasks-updated-stuck": {CHANGED: "lastUpdatedAt"},
    "tasks-status-unknown": {f"{WORKED} {CREATED}": "status"},
    "tasks-working-result": {WORKED: "+result"},
    "tasks-working-requests": {WORKED: "+inputRequests"},
    "tasks-input-no-requests": {
        ASKED: "-inputRequests",
        "answered": "lastUpdatedAt status",
        "answered/end": "-result lastUpdatedAt status",
    },
    "tasks-input-method-unknown": {ASKED: "method"},
    "tasks-completed-no-result": {ENDED: "-result"},
    "tasks-completed-error": {ENDED: "+error"},
    "tasks-completed-task-result": {ENDED: "-content"},
    "tasks-related-task": {ENDED: "+_meta"},
    "tasks-failed-result": {BROKEN: "+result"},
    "tasks-failed-no-error": {BROKEN: "-error"},
    "tasks-failed-error-text": {BROKEN: "error"},
    "tasks-failed-no-message": {BROKEN: "-statusMessage"},
    "tasks-cancelled-result": {CANCELLED: "+result"},
    "tasks-cancelled-error": {CANCELLED: "+error"},
    "tasks-get-side-effects": {
        (
            f"{AGAIN} get/later get/named cancel/late asks/again "
            "asks/still part/get/again part/late/get"
        ): "lastUpdatedAt",
    },
    "tasks-completed-reopens": {f"{AGAIN} part/late/get": "-result status"},
    "tasks-completed-cancelled": {
        "completed/cancelled": "-result lastUpdatedAt status",
    },
    "tasks-early-expiry": {
        ("completed/late completed/cancel completed/cancelled cancel/late"): LOST,
    },
    "tasks-tool-error-failed": {"failing_job": "+error +statusMessage -result status"},
    "tasks-get-unknown-32603": {"unknown/get": "code message"},
    "tasks-get-unknown-working": {"unknown/get": SERVED},
    "tasks-update-unknown-acked": {"unknown/update": SERVED},
    "tasks-cancel-unknown-acked": {"unknown/cancel": SERVED},
    "tasks-cancel-terminal-error": {"completed/cancel": LOST},
    "tasks-cancel-refused": {
        "cancel stop": "+error -result",
        "cancel/get cancel/late": "status",
        "stop/get": "+inputRequests lastUpdatedAt status",
    },
    "tasks-cancel-ignored": {
        "cancel/get cancel/late": "status",
        "stop/get": "+inputRequests lastUpdatedAt status",
    },
    "tasks-notified-cancels": {"notified": "status"},
    "tasks-close-cancels": {
        "create/token": "statuses",
        "closed": "status",
    },
    "tasks-key-kept": {"part/get part/get/again": "+input-1"},
    "tasks-key-reused": {"answered/end declined": "+inputRequests -result status"},
    "tasks-key-two-requests": {"asks/again part/get": "message"},
    "tasks-partial-completes": {
        "part/get part/get/again": "-inputRequests status",
        "part/end part/late/get": "input-2 text",
    },
    "tasks-partial-lost": {"part/end part/late/get": "input-1 text"},
    "tasks-answer-overwritten": {"part/end part/late/get": "name"},
    "tasks-answered-key-refused": {"part/again part/late": LOST},
    "tasks-unknown-key-refused": {"answer/unknown": LOST},
    "tasks-asks-undeclared": {
        "formless": SERVED,
        "refused": "-elicitation",
    },
    "tasks-mrtr-skipped": {
        "tools": "description",
        "round": f"{TASK} -inputRequests -requestState resultType",
        "round/forged": "round/forged",
        "round/again": "round/again",
        "round/given": "round/given",
        "round/end": "round/end",
    },
    "tasks-mrtr-state-unchecked": {"round/forged": SERVED},
    "tasks-mrtr-answer-lost": {"round/end": "text"},
    "tasks-update-ack-task": {
        "named/again answer part/second": TASK,
        "answer/unknown part part/again": f"{TASK} +inputRequests",
        "part/late": f"{TASK} +result",
    },
    "tasks-update-no-result-type": {f"{UPDATED} named/again": "-resultType"},
    "tasks-update-type-task": {f"{UPDATED} named/again": "resultType"},
    "tasks-cancel-ack-task": {
        "completed/cancel": f"{TASK} +result",
        "cancel stop": TASK,
    },
    "tasks-cancel-no-result-type": {"completed/cancel cancel stop": "-resultType"},
    "tasks-cancel-type-task": {"completed/cancel cancel stop": "resultType"},
    "tasks-result-kept": {"result": SERVED},
    "tasks-list-kept": {"list": SERVED},
    "tasks-removed-status-200": {"result list": "statuses"},
    "tasks-greet-type-task": {"greet greet/hint greet/undeclared": "resultType"},
    "tasks-prompt-type-task": {"prompt": f"{TASK} -description -messages resultType"},
    "tasks-progress-on-create": {"create/token": "+notifications/progress"},
    "tasks-message-on-create": {"create/level": "+notifications/message"},
    "tasks-notified-on-create": {CREATED: "+notifications/tasks"},
    "tasks-progress-on-listen": {TOLD: "+notifications/progress"},
    "tasks-message-on-listen": {TOLD: "+notifications/message"},
    "tasks-notified-old-name": {TOLD: "method"},
    "tasks-notified-no-payload": {
        "told/slow_compute": "-result",
        "told/protocol_error_job": "-error",
        "told/multi_input": "-inputRequests -result",
    },
    "tasks-notified-state": {TOLD: "+requestState"},
    "tasks-notified-stale": {TOLD: "pollIntervalMs"},
    "tasks-notified-no-id": {TOLD: "-io.modelcontextprotocol/subscriptionId"},
    "tasks-notified-id-type": {TOLD: "io.modelcontextprotocol/subscriptionId"},
    "tasks-notified-stranger": {TOLD: "+notifications/tasks"},
    "tasks-notified-first": {TOLD: "+notifications/tasks"},
    "tasks-ack-no-ids": {f"{TOLD} listen/text": "-taskIds"},
    "tasks-ack-other-ids": {f"{TOLD} listen/text": "taskIds"},
    "tasks-trailing-progress": {TOLD: "+notifications/progress"},
    "tasks-notified-no-end": {TOLD: "-notifications/tasks"},
    "tasks-update-lost": {
        "answered": "+inputRequests lastUpdatedAt status",
        (
            "answered/end declined part/end part/late/get told/multi_input/get"
        ): "+inputRequests -result lastUpdatedAt status",
        "part/get part/get/again": "+input-1 lastUpdatedAt",
        "told/multi_input": "-notifications/tasks",
    },
    "tasks-unknown-key-counts": {"asks/still": "-inputRequests lastUpdatedAt status"},
    "tasks-key-returns": {"part/get/again": "+input-1"},
    "tasks-update-revives": {"part/late/get": "-result lastUpdatedAt status"},
    "tasks-decline-hangs": {"declined": "-result lastUpdatedAt status"},
    "tasks-dismiss-hangs": {
        "told/multi_input": "-notifications/tasks",
        "told/multi_input/get": "-result lastUpdatedAt status",
    },
    "tasks-cancelled-completes": {"cancel/late": "+result lastUpdatedAt status"},
    "tasks-result-once": {f"{AGAIN} part/late/get": "-result"},
    "tasks-swapped-results": {f"{AGAIN} completed": "text"},
    "tasks-input-list": {
        ASKED: "inputRequests",
        "answered": "+inputRequests lastUpdatedAt status",
        "answered/end": "+inputRequests -result lastUpdatedAt status",
    },
    "tasks-input-result": {ASKED: "+result"},
    "tasks-input-error": {ASKED: "+error"},
    "tasks-input-request-state": {ASKING: "+requestState"},
    "tasks-cancel-waiting-refused": {
        "stop": LOST,
        "stop/get": "+inputRequests lastUpdatedAt status",
    },
    "tasks-ack-unknown-id": {f"{TOLD} listen/text": "taskIds"},
    "tasks-listen-text-id": {"listen/text": "io.modelcontextprotocol/subscriptionId"},
    "tasks-list-changed-on-listen": {TOLD: "+notifications/tools/list_changed"},
    "tasks-listen-closes": {TOLD: "-notifications/tasks"},
    "tasks-resource-type-task": {"resource": "resultType"},
    "tasks-list-type-task": {"tools": "resultType"},
    "tasks-not-advertised": {"discover": "-io.modelcontextprotocol/tasks"},
    "tasks-greet-made": {"greet": f"{TASK} -content resultType"},
    "tasks-hint-needed": {
        "greet/declared": (
            "+content +isError -createdAt -lastUpdatedAt -pollIntervalMs "
            "-status -taskId -ttlMs resultType"
        ),
        "failing_job": (
            "-_meta -createdAt -lastUpdatedAt -pollIntervalMs -result "
            "-resultType -status -taskId -ttlMs"
        ),
    },
    "tasks-undeclared-memory": {"greet/declared": LOST},
    "tasks-malformed-accepted": {"malformed/update": SERVED},
    "tasks-matching-name-refused": {"named/again": LOST},
    "tasks-method-unchecked": {},
    "tasks-get-nested": {GOT: "+task"},
    "tasks-unknown-32001": {"unknown/update": "code"},
}
