"""The fault profiles by name; each theme has a module, and lists its own."""

from __future__ import annotations

from collections.abc import MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

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
