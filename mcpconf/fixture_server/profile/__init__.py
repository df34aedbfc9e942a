"""The fault profiles by name; each theme has a module, and lists its own."""

from __future__ import annotations

from collections.abc import MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from mcpconf.fixture_server.profile.base import Profile

#: Theme (a module here) → the names of its profiles, in its order.
THEMES = {
    "pagination": (
        "odd-cursors",
        "empty-page",
        "empty-cursor",
        "repeated-cursor",
        "endless-cursor",
        "long-cursor",
        "bad-cursor",
        "counted-catalogue",
    ),
    "discovery": (
        "opening-other-id",
        "opening-null-id",
        "opening-typed-id",
        "list-other-id",
        "list-null-id",
        "list-typed-id",
        "answers-twice",
        "answers-late",
        "never-answers-opening",
        "never-answers-list",
        "malformed-answers",
    ),
    "negotiation": (
        "agrees-on-1999",
        "agrees-on-2099",
        "no-common-version",
        "first-request-unsupported",
    ),
    "conversation": (
        "stray-notifications",
        "trusting-input",
        "numbered-requests",
        "late-answers",
        "silent-initialize",
        "changing-list",
        "busy-subscription",
    ),
    "framing": (
        "sse-cr",
        "sse-crlf",
        "sse-comments",
        "sse-empty-blocks",
        "sse-multi-line",
        "sse-fields",
        "sse-priming",
        "sse-unknown-fields",
        "sse-no-colon",
        "sse-no-space",
        "sse-bom",
        "sse-bytewise",
        "sse-split-character",
        "sse-separators",
        "sse-comment-flood",
        "sse-long-event",
        "sse-cut",
        "sse-unfinished",
        "sse-no-answer",
        "sse-two-answers",
    ),
    "http_faults": (
        "ack-204",
        "ack-200",
        "ack-200-chunked",
        "ack-202-close",
        "push-refused",
        "push-closed",
        "session-dropped",
        "content-type-charset",
        "content-type-stream-charset",
        "content-type-case",
        "content-type-missing",
        "status-401",
        "status-403",
        "status-429",
        "status-500",
        "status-503",
    ),
    "stdio_faults": (
        "stdout-noise",
        "stderr-flood",
        "slow-start",
        "early-exit",
        "exit-after-calls",
        "long-line",
        "crlf-line",
        "invalid-utf8",
        "partial-line",
        "unended-line",
        "slow-exit",
        "ignores-eof",
        "ignores-sigterm",
        "leaves-child",
    ),
    "values": (
        "any-headers",
        "broken-promise",
    ),
    "tasks": ("tasks",),
    "tasks_creation": (
        "tasks-create-request-state",
        "tasks-create-nested",
        "tasks-create-no-result-type",
        "tasks-create-type-complete",
        "tasks-create-with-result",
        "tasks-create-with-requests",
        "tasks-late-creation",
        "tasks-ids-guessable",
        "tasks-ids-collide",
        "tasks-undeclared-task",
        "tasks-required-runs-sync",
        "tasks-param-declares",
        "tasks-param-task",
        "tasks-param-ttl",
        "tasks-param-refused",
    ),
    "tasks_gate": (
        "tasks-legacy-declaration",
        "tasks-session-memory",
        "tasks-advertises-legacy",
        "tasks-advertised-true",
        "tasks-ungated",
        "tasks-get-ungated",
        "tasks-update-ungated",
        "tasks-cancel-ungated",
        "tasks-listen-ungated",
        "tasks-missing-32003",
        "tasks-missing-no-data",
        "tasks-missing-data-list",
        "tasks-missing-status-200",
        "tasks-names-unchecked",
        "tasks-get-name-unchecked",
        "tasks-update-name-unchecked",
        "tasks-cancel-name-unchecked",
        "tasks-mismatch-status-200",
    ),
    "tasks_showing": (
        "tasks-get-request-state",
        "tasks-get-no-result-type",
        "tasks-get-type-task",
        "tasks-get-other-id",
        "tasks-ttl-old-name",
        "tasks-poll-old-name",
        "tasks-ttl-missing",
        "tasks-ttl-fraction",
        "tasks-poll-fraction",
        "tasks-created-not-iso",
        "tasks-updated-not-iso",
        "tasks-updated-missing",
        "tasks-created-changes",
        "tasks-updated-stuck",
        "tasks-status-unknown",
        "tasks-working-result",
        "tasks-working-requests",
        "tasks-input-no-requests",
        "tasks-input-method-unknown",
        "tasks-completed-no-result",
        "tasks-completed-error",
        "tasks-completed-task-result",
        "tasks-related-task",
        "tasks-failed-result",
        "tasks-failed-no-error",
        "tasks-failed-error-text",
        "tasks-failed-no-message",
        "tasks-cancelled-result",
        "tasks-cancelled-error",
    ),
    "tasks_states": (
        "tasks-get-side-effects",
        "tasks-completed-reopens",
        "tasks-completed-cancelled",
        "tasks-early-expiry",
        "tasks-tool-error-failed",
        "tasks-get-unknown-32603",
        "tasks-get-unknown-working",
        "tasks-update-unknown-acked",
        "tasks-cancel-unknown-acked",
        "tasks-cancel-terminal-error",
        "tasks-cancel-refused",
        "tasks-cancel-ignored",
        "tasks-notified-cancels",
        "tasks-close-cancels",
    ),
    "tasks_input": (
        "tasks-key-kept",
        "tasks-key-reused",
        "tasks-key-two-requests",
        "tasks-partial-completes",
        "tasks-partial-lost",
        "tasks-answer-overwritten",
        "tasks-answered-key-refused",
        "tasks-unknown-key-refused",
        "tasks-asks-undeclared",
        "tasks-mrtr-skipped",
        "tasks-mrtr-state-unchecked",
        "tasks-mrtr-answer-lost",
    ),
    "tasks_envelope": (
        "tasks-update-ack-task",
        "tasks-update-no-result-type",
        "tasks-update-type-task",
        "tasks-cancel-ack-task",
        "tasks-cancel-no-result-type",
        "tasks-cancel-type-task",
        "tasks-result-kept",
        "tasks-list-kept",
        "tasks-removed-status-200",
        "tasks-greet-type-task",
        "tasks-prompt-type-task",
    ),
    "tasks_telling": (
        "tasks-progress-on-create",
        "tasks-message-on-create",
        "tasks-notified-on-create",
        "tasks-progress-on-listen",
        "tasks-message-on-listen",
        "tasks-notified-old-name",
        "tasks-notified-no-payload",
        "tasks-notified-state",
        "tasks-notified-stale",
        "tasks-notified-no-id",
        "tasks-notified-id-type",
        "tasks-notified-stranger",
        "tasks-notified-first",
        "tasks-ack-no-ids",
        "tasks-ack-other-ids",
    ),
    "tasks_late": (
        "tasks-trailing-progress",
        "tasks-notified-no-end",
        "tasks-update-lost",
        "tasks-unknown-key-counts",
        "tasks-key-returns",
        "tasks-update-revives",
        "tasks-decline-hangs",
        "tasks-dismiss-hangs",
        "tasks-cancelled-completes",
        "tasks-result-once",
        "tasks-swapped-results",
        "tasks-input-list",
    ),
    "tasks_offer": (
        "tasks-not-advertised",
        "tasks-greet-made",
        "tasks-hint-needed",
        "tasks-undeclared-memory",
        "tasks-malformed-accepted",
        "tasks-matching-name-refused",
        "tasks-method-unchecked",
        "tasks-unknown-32001",
        "tasks-get-nested",
    ),
    "tasks_more": (
        "tasks-input-result",
        "tasks-input-error",
        "tasks-input-request-state",
        "tasks-cancel-waiting-refused",
        "tasks-ack-unknown-id",
        "tasks-listen-text-id",
        "tasks-list-changed-on-listen",
        "tasks-listen-closes",
        "tasks-resource-type-task",
        "tasks-list-type-task",
    ),
    "tasks_patient": (
        "patient-tasks",
        "synchronous-tasks",
    ),
    "tasks_more2": (
        "tasks-status-message-number",
        "tasks-ids-short",
    ),
    "tasks_client": (
        "trusting-tasks",
        "task-for-list",
        "task-for-resource",
        "unnegotiated-results",
    ),
}


class _Profiles(MutableMapping[str, Any]):
    """
    The profiles; a theme is imported when one of its own is asked for.

    A stdio server starts often, and has one profile or none.
    """

    def __init__(self) -> None:
        self._themes = {
            name: theme for theme, names in THEMES.items() for name in names
        }
        self._loaded: dict[str, type[Profile]] = {}

    def __getitem__(self, name: str) -> type[Profile]:
        if name not in self._loaded:
            module = import_module(f"{__name__}.{self._themes[name]}")
            self._loaded |= {each.name: each for each in module.PROFILES}
        return self._loaded[name]

    def __setitem__(self, name: str, profile: type[Profile]) -> None:
        self._themes[name] = profile.__module__
        self._loaded[name] = profile

    def __delitem__(self, name: str) -> None:
        del self._themes[name]
        self._loaded.pop(name, None)

    def __contains__(self, name: object) -> bool:
        return name in self._themes

    def __iter__(self) -> Iterator[str]:
        return iter(self._themes)

    def __len__(self) -> int:
        return len(self._themes)


PROFILES: MutableMapping[str, type[Profile]] = _Profiles()


def with_implied(
    names: Sequence[str], known: Mapping[str, type[Profile]]
) -> tuple[str, ...]:
    """`names`, each once, and before each the profiles that it implies."""
    every = (each for name in names for each in (*known[name].implies, name))
    return tuple(dict.fromkeys(every))
