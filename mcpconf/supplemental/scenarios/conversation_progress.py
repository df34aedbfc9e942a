"""Notifications on the stream of a call: asked for, for nobody, and too late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    Kind,
    broken,
    holds,
    unobserved,
    unsupported,
)
from mcpconf.supplemental.looks import ended
from mcpconf.supplemental.observation import StepState
from mcpconf.supplemental.scenario import (
    CheckDefinition,
    Level,
    Scenario,
    call,
    connect,
)
from mcpconf.supplemental.scenarios.conversation_looks import (
    during,
    is_same_id,
    was_answered,
)

if TYPE_CHECKING:
    Json = Any

    from mcpconf.supplemental.observation import Observation, Seen

_PROGRESS = "notifications/progress"
_MESSAGE = "notifications/message"
_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
_PAGE, _PAGE_NOW = "basic/utilities/progress", "basic/patterns/progress"


def _is_token(value: Json) -> bool:
    if isinstance(value, float):
        return value.is_integer()  # 1.0 is an integer, to JSON and to its schemas
    return isinstance(value, str | int) and not isinstance(value, bool)


def _tokens(seen: Observation) -> list[Any]:
    requests = [
        request
        for tool in ("progress", "stray", "late_progress")
        for request in seen.subject.calls(tool)
    ]
    return [r.meta["progressToken"] for r in requests if "progressToken" in r.meta]


def _token_is_valid(seen: Observation) -> Finding:
    tokens = _tokens(seen)
    if not tokens:
        return unsupported("the client did not ask for progress: it sent no token")
    wrong = [token for token in tokens if not _is_token(token)]
    if wrong:
        return broken(f"the progress token {wrong[0]!r} is no string and no integer")
    return holds(f"the client sent the tokens {', '.join(map(repr, tokens))}")


def _told(seen: Observation, method: str) -> list[Seen]:
    """What the server told the call of ``progress``, by its log."""
    step = seen.step("told")
    return [each for each in during(seen.subject.sent, step) if each.method == method]


def _surfaced(seen: Observation, method: str, wanted: dict[str, Any]) -> Finding:
    step = seen.step("told")
    if step.state is not StepState.OK:
        return broken(f"the call that the notification belonged to {ended(step)}")
    notifications = step.value.get("notifications")
    if notifications is None:
        return unsupported("the client has no surface for notifications of a call")
    for each in notifications:
        params = each.get("params") or {}
        if each.get("method") == method and all(
            params.get(name) == value for name, value in wanted.items()
        ):
            return holds(f"{method} was sent before the result, and the host was told")
    return broken(f"{method} was sent before the result, and the host was not told")


def _progress_is_surfaced(seen: Observation) -> Finding:
    requests = seen.subject.calls("progress")
    token = requests[0].meta.get("progressToken") if requests else None
    if not _is_token(token):
        return unsupported("the client did not ask for progress with a valid token")
    if not any(
        is_same_id(each.params.get("progressToken"), token)
        for each in _told(seen, _PROGRESS)
    ):
        return unobserved("the server sent no progress under the client's token")
    return _surfaced(seen, _PROGRESS, {"progress": 1, "message": "fixture progress"})


def _log_is_surfaced(seen: Observation) -> Finding:
    levels = seen.subject.requests("logging/setLevel")
    asked = [r for r in seen.subject.calls("progress") if _LOG_LEVEL in r.meta]
    if not (asked if seen.is_stateless else levels):
        return unsupported("the client did not ask for log messages")
    if not _told(seen, _MESSAGE):
        return unobserved("the server sent no log message")
    return _surfaced(seen, _MESSAGE, {"level": "info", "data": "fixture log message"})


def _late_is_harmless(seen: Observation) -> Finding:
    finding = was_answered(seen, "late", "late_progress")
    if finding.kind is not Kind.HOLDS:
        return finding
    last = seen.subject.calls("late_progress")[-1]
    served = [
        each
        for each in seen.subject.faults("stray-notifications")
        if each.index > last.index and "after the answer" in str(each.value["detail"])
    ]
    if not served:
        return unobserved("no progress was sent after the answer")
    return was_answered(seen, "after", "echo", after=last)


SCENARIOS = (
    Scenario(
        name="progress",
        title="Progress and log messages on the stream of a call",
        profiles=("stray-notifications",),
        steps=(
            connect(),
            call("progress", id="told", progress=True, log_level="info"),
            call("stray", id="stray", progress=True),
            call("late_progress", id="late", progress=True),
            call("echo", {"text": "after"}, id="after"),
        ),
        checks=(
            CheckDefinition(
                id="progress-token-valid",
                sentence="A progress token is a string or an integer.",
                page=_PAGE,
                stateless_page=_PAGE_NOW,
                level=Level.MUST,
                looks_for="the progressToken in the _meta of every call that asks for "
                "progress",
                look=_token_is_valid,
                needs=("told",),
                broken=("asks_progress_with_a_fraction",),
            ),
            CheckDefinition(
                id="progress-surfaced",
                sentence="The progress that a client asked for is consumed and "
                "reaches its host. (No page demands it.)",
                page=_PAGE,
                stateless_page=_PAGE_NOW,
                level=Level.SHOULD,
                looks_for="progress sent under the client's token before the result, "
                "and the same among the notifications the host was told of",
                look=_progress_is_surfaced,
                needs=("told",),
                broken=("swallows_progress",),
            ),
            CheckDefinition(
                id="log-message-surfaced",
                sentence="The log messages that a client asked for are consumed and "
                "reach its host. (No page demands it.)",
                page="server/utilities/logging",
                level=Level.SHOULD,
                looks_for="a log message sent after the client opted in, and the same "
                "among the notifications the host was told of",
                look=_log_is_surfaced,
                needs=("told",),
                broken=("swallows_log_messages",),
            ),
            CheckDefinition(
                id="stray-notifications-harmless",
                sentence="Progress under an unknown token and notifications of an "
                "unknown kind are ignored. (No page demands it.)",
                page=_PAGE,
                stateless_page=_PAGE_NOW,
                level=Level.SHOULD,
                looks_for="the result of a call before which both were sent",
                look=lambda seen: was_answered(seen, "stray", "stray"),
                provoked_by=("stray-notifications",),
                needs=("stray",),
                broken=(
                    "breaks_on_unknown_progress_token",
                    "breaks_on_unknown_notification",
                ),
            ),
            CheckDefinition(
                id="late-progress-harmless",
                sentence="Progress that comes after the result is ignored. (No page "
                "demands it.)",
                page=_PAGE,
                stateless_page=_PAGE_NOW,
                level=Level.SHOULD,
                looks_for="the results of a call after which progress was sent under "
                "its token, and of the next call",
                look=_late_is_harmless,
                provoked_by=("stray-notifications",),
                needs=("late", "after"),
                broken=("breaks_on_late_progress",),
            ),
        ),
    ),
)
