"""Lists that change, and how a client hears of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.looks import ended
from mcpconf.supplemental.observation import StepState
from mcpconf.supplemental.scenario import (
    HTTP,
    STATELESS,
    STDIO,
    CheckDefinition,
    Level,
    Scenario,
    Step,
    call,
    connect,
    listing,
)
from mcpconf.supplemental.scenarios.conversation_looks import (
    during,
    is_same_id,
    is_where,
    life_of,
)
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation, Seen

_CHANGED = "notifications/tools/list_changed"
_UPDATED = "notifications/resources/updated"
_SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_PAGE = "basic/patterns/subscriptions"
#: The second is told of; the first is a stranger's, and never asked for.
_STRANGE, _WATCHED = "test://fixture/readme", "test://fixture/こんにちは"
_FILTER = {
    "toolsListChanged": True,
    "promptsListChanged": True,
    "resourcesListChanged": True,
    "resourceSubscriptions": [_WATCHED],
}


def _change_is_followed(seen: Observation) -> Finding:
    """A list that changed, of which the client was told, is listed again."""
    if not seen.subject.calls("grow"):
        return unobserved("the call that changes the tools was not made")
    told = [each for each in seen.subject.sent if each.method == _CHANGED]
    if not told:
        return not_applicable("the client keeps no stream on which it could be told")
    lists = _relisted(seen, told)
    step = seen.step("list-again")
    if step.state is not StepState.OK:
        return broken(f"listing again {ended(step)}")
    shown = any(item.get("name") == "grown" for item in step.value["items"])
    if not lists:
        return _not_relisted(
            seen,
            told,
            "the client was told that the tools had changed, and listed them no more; "
            f"the host was {'' if shown else 'not '}shown the new tool",
        )
    if not shown:
        return broken("the client listed again, and the host was not shown the tool")
    by_itself = lists[0].t_ms < step.t0_ms
    when = "by itself" if by_itself else "when the host listed again"
    return holds(f"the client listed again {when}; the host was shown the new tool")


def _relisted(seen: Observation, told: list[Seen]) -> list[Seen]:
    """The lists asked for where the client had been told that the tools changed."""
    return [
        each
        for each in seen.subject.requests("tools/list")
        if any(is_where(seen, each, note) for note in told)
    ]


def _not_relisted(seen: Observation, told: list[Seen], problem: str) -> Finding:
    """Of a client that did not; a new connection has no list that it could keep."""
    if any(r.index > told[0].index for r in seen.subject.requests("tools/list")):
        return unobserved("it listed again, but not on the connection that was told")
    return broken(problem)


def _listen(seen: Observation) -> Seen | Finding:
    """The subscription that the host asked for."""
    step = seen.step("listen")
    requests = [
        each
        for each in during(seen.subject.requests("subscriptions/listen"), step)
        if "resourceSubscriptions" in (each.params.get("notifications") or {})
        or "toolsListChanged" in (each.params.get("notifications") or {})
    ]
    if requests:
        return requests[-1]
    return unobserved(f"no subscription was asked for; the step {ended(step)}")


def _filter_is_sent(seen: Observation) -> Finding:
    request = _listen(seen)
    if isinstance(request, Finding):
        return request
    sent = {k: v for k, v in request.params["notifications"].items() if v is not False}
    if sent == _FILTER:
        return holds("the server was asked for what the host asked for")
    return broken(f"the host asked for {_FILTER}; the server was asked for {sent}")


def _heard(seen: Observation) -> list[dict[str, Any]] | Finding:
    step = seen.step("listen")
    if step.state is not StepState.OK:
        return broken(f"listening {ended(step)}")
    notifications: list[dict[str, Any]] = step.value["notifications"]
    return notifications


def _events_are_surfaced(seen: Observation) -> Finding:
    request, heard = _listen(seen), _heard(seen)
    if isinstance(request, Finding):
        return request
    if isinstance(heard, Finding):
        return heard
    sent = [
        each
        for each in seen.subject.sent
        if each.method == _CHANGED
        and is_same_id(each.meta.get(_SUBSCRIPTION), request.id)
    ]
    if not sent:
        return unobserved("the server told this subscription nothing of the tools")
    if any(each["method"] == _CHANGED for each in heard):
        return holds(f"{_CHANGED} was sent, and the host was told")
    return broken(f"{_CHANGED} was sent, and the host was not told")


def _stranger_is_kept_out(seen: Observation) -> Finding:
    heard = _heard(seen)
    if isinstance(heard, Finding):
        return heard
    sent = [each for each in seen.subject.sent if each.method == _UPDATED]
    if not any(each.params.get("uri") == _STRANGE for each in sent):
        return unobserved("nothing was sent under another subscription's id")
    for each in heard:
        if (each.get("params") or {}).get("uri") == _STRANGE:
            return broken("the host was told what belongs to another subscription")
    return holds("what belongs to another subscription did not reach the host")


def _subscription_is_ended(seen: Observation) -> Finding:
    request = _listen(seen)
    if isinstance(request, Finding):
        return request
    last = seen.step("after").t1_ms
    if seen.transport is Transport.HTTP:
        # The server says when it found it closed; the client's last step waits for it.
        for fault in seen.subject.faults("busy-subscription"):
            is_end = str(fault.value.get("detail")).startswith("ended")
            is_ours = fault.value.get("exchange") == request.exchange
            if is_end and is_ours and fault.t_ms <= last:
                return holds("the client closed the stream of the subscription")
        return broken("the client left the stream of the subscription open")
    for note in seen.subject.notifications("notifications/cancelled"):
        if is_same_id(note.params.get("requestId"), request.id) and note.t_ms <= last:
            return holds(f"notifications/cancelled named its id {request.id!r}")
    return broken("no notifications/cancelled named the subscription's id")


def _cache_is_invalidated(seen: Observation) -> Finding:
    step, heard = seen.step("list-again"), _heard(seen)
    if isinstance(heard, Finding):
        return unobserved(heard.detail)
    if step.state is not StepState.OK:
        return broken(f"listing again {ended(step)}")
    told = [each for each in seen.subject.sent if each.method == _CHANGED]
    if not told or not _listed_before(seen, told[0]):
        return unobserved("the client did not list before it was told of a change")
    if _relisted(seen, told):
        return holds("the tools were listed again long before their lifetime was over")
    problem = "the host was shown a list that the client knew to be out of date"
    return _not_relisted(seen, told, problem)


def _listed_before(seen: Observation, told: Seen) -> bool:
    """Whether the client could have kept a list when it was told."""
    return any(
        each.index < told.index and life_of(seen, each) == life_of(seen, told)
        for each in seen.subject.requests("tools/list")
    )


def _as_worded(check: CheckDefinition) -> tuple[CheckDefinition, CheckDefinition]:
    """How one ends a subscription: a MUST on stdio, over HTTP said without one."""
    return (
        replace(check, transports=STDIO),
        replace(check, transports=HTTP, level=Level.SHOULD),
    )


SCENARIOS = (
    Scenario(
        name="list-changed",
        title="A tool is added, and the client is told",
        profiles=("changing-list",),
        steps=(
            connect(),
            listing(),
            call("grow", id="grow"),
            call("settle", id="settle"),
            listing(id="list-again"),
        ),
        checks=(
            CheckDefinition(
                id="list-change-followed",
                sentence="A client that is told of changed tools lists them again, at "
                "the latest when its host wants them, whatever lifetime they had.",
                page="server/tools",
                stateless_page="server/utilities/caching",
                level=Level.SHOULD,
                looks_for="tools/list after the notification, and the new tool in "
                "what the host was shown",
                look=_change_is_followed,
                needs=("list", "grow", "list-again"),
                broken=("ignores_list_changed",),
            ),
        ),
    ),
    Scenario(
        name="subscription",
        title="A subscription from its acknowledgement to its end",
        revisions=STATELESS,
        profiles=("busy-subscription",),
        steps=(
            connect(),
            listing(),
            Step(
                id="listen",
                verb="listen",
                arguments={"filter": _FILTER, "count": 4, "timeout_s": 3.0},
            ),
            listing(id="list-again"),
            call("wait_for_ends", id="after"),
        ),
        checks=(
            CheckDefinition(
                id="subscription-filter-sent",
                sentence="A client asks for the notifications that its host wants, "
                "and for no others. (No page forbids more.)",
                page=_PAGE,
                level=Level.SHOULD,
                looks_for="the filter of subscriptions/listen",
                look=_filter_is_sent,
                needs=("listen",),
                broken=("listens_for_less",),
            ),
            CheckDefinition(
                id="subscription-surfaced",
                sentence="What is sent on a subscription reaches the host. (No page "
                "demands it.)",
                page=_PAGE,
                level=Level.SHOULD,
                looks_for="a change sent under the subscription's id, and the same "
                "among what the host was told",
                look=_events_are_surfaced,
                needs=("listen",),
                broken=("swallows_changes",),
            ),
            CheckDefinition(
                id="subscription-told-apart",
                sentence="On stdio a client takes for a subscription only what names "
                "its id.",
                page=_PAGE,
                level=Level.MUST,
                looks_for="a notification under a stranger's id, and no trace of it "
                "in what the host was told",
                look=_stranger_is_kept_out,
                transports=STDIO,
                needs=("listen",),
                broken=("ignores_subscription_ids",),
            ),
            *_as_worded(
                CheckDefinition(
                    id="subscription-ended",
                    sentence="A client ends a subscription by closing its stream "
                    "(HTTP) or by notifications/cancelled with its id (stdio).",
                    page=_PAGE,
                    level=Level.MUST,
                    looks_for="either of them, before the end of the client's last "
                    "step, a call that is answered when it has come or after 1 s",
                    look=_subscription_is_ended,
                    needs=("listen", "after"),
                    broken=("leaves_subscriptions_open",),
                ),
            ),
            CheckDefinition(
                id="list-change-ends-caching",
                sentence="A notification of change makes a kept list out of date at "
                "once, whatever lifetime it has left.",
                page="server/utilities/caching",
                level=Level.SHOULD,
                looks_for="tools/list after the notification, within the lifetime of "
                "ten minutes",
                look=_cache_is_invalidated,
                needs=("list", "listen", "list-again"),
                broken=("keeps_lists_for_their_lifetime",),
            ),
        ),
    ),
)
