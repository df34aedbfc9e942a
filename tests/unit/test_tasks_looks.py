"""How findings come together, and what a stream shows that was lost too early."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tasks_scene import find, findings_in, fixture, observe

from mcpconf.server.exchange import Exchange, Form, How, Received
from mcpconf.supplemental.finding import (
    Finding,
    Kind,
    broken,
    holds,
    unobserved,
    unsupported,
)
from mcpconf.tasks_extension.facts import end_of, tasks_told
from mcpconf.tasks_extension.good_use import given, was_let_in
from mcpconf.tasks_extension.looks import all_have_status, all_of, worst_of
from mcpconf.tasks_extension.observation import Observation
from mcpconf.tasks_extension.registry import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Callable

_NOTIFICATIONS = "tasks/notifications"
_NOTHING = Observation(exchanges=())
_OF_SILENCE = ("no-progress", "no-message", "only-asked-for")


def test_what_is_broken_is_not_hidden_by_what_was_not_seen() -> None:
    found = [holds("a"), unsupported("b"), unobserved("c"), broken("d"), broken("e")]
    assert worst_of(found) == broken("d")
    assert worst_of(found[:3]) == unobserved("c")
    assert worst_of([holds("a"), holds("b")]) == holds("a; b")
    looks = [_always(each) for each in (unobserved("c"), broken("d"))]
    assert all_of(*looks)(Observation(exchanges=())) == broken("d")


def _always(finding: Finding) -> Callable[[Observation], Finding]:
    return lambda _: finding


def test_only_refusals_by_the_code_are_held_to_its_status() -> None:
    other = _answered("other", 200, error={"code": -32602, "message": "no"})
    right = _answered("right", 404, error={"code": -32601, "message": "no"})
    wrong = _answered("wrong", 200, error={"code": -32601, "message": "no"})
    assert all_have_status(404, -32601, [other, None]).kind is Kind.UNOBSERVED
    assert all_have_status(404, -32601, [other, right]).kind is Kind.HOLDS
    found = all_have_status(404, -32601, [right, wrong])
    assert found.kind is Kind.BROKEN
    assert "wrong" in found.detail


def test_a_task_in_a_refusal_by_status_is_no_task() -> None:
    task = {"taskId": "a", "status": "completed"}
    seen = Observation(exchanges=(_answered("end-1", 500, result=task),))
    assert tasks_told(seen, "end-") == []
    end = end_of(seen, "end-")
    assert isinstance(end, Finding)
    assert end.kind is Kind.UNOBSERVED


def _answered(label: str, status: int, **response: Any) -> Exchange:
    message = {"jsonrpc": "2.0", "id": 1, **response}
    return Exchange(
        label=label,
        t0_ms=0.0,
        t1_ms=1.0,
        method="POST",
        sent_headers={},
        sent={"jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": {}},
        status=status,
        headers={},
        form=Form.JSON,
        received=(Received(t_ms=1.0, message=message),),
        text=None,
        how=How.COMPLETE,
        problem=None,
    )


@pytest.fixture(scope="module")
def listened() -> Observation:
    """Two tasks, listened to on the good server."""
    with fixture("tasks") as url:
        return observe(SCENARIOS[_NOTIFICATIONS], url)


def _with(seen: Observation, label: str, **changes: Any) -> Observation:
    exchanges = [
        replace(each, **changes) if each.label == label else each
        for each in seen.exchanges
    ]
    return replace(seen, exchanges=tuple(exchanges))


def _of_silence(seen: Observation) -> set[Kind]:
    found = findings_in(SCENARIOS[_NOTIFICATIONS], seen)
    return {found[each].kind for each in _OF_SILENCE}


def _listen(seen: Observation) -> Exchange:
    exchange = seen["listen"]
    assert exchange is not None
    return exchange


def test_silence_holds_on_a_stream_that_outlived_its_tasks(
    listened: Observation,
) -> None:
    assert _listen(listened).how is How.CLOSED_BY_US
    assert _of_silence(listened) == {Kind.HOLDS}


@pytest.mark.parametrize("how", [each for each in How if each is not How.CLOSED_BY_US])
def test_silence_on_a_stream_that_was_lost_shows_nothing(
    listened: Observation, how: How
) -> None:
    """Right after the acknowledgement, or later: without a response it was no end."""
    received = _listen(listened).received
    for kept in (received[:1], received):
        lost = _with(listened, "listen", how=how, received=kept, problem=None)
        assert _of_silence(lost) == {Kind.UNOBSERVED}


def test_a_stream_that_was_closed_before_the_ends_shows_nothing(
    listened: Observation,
) -> None:
    early = _with(listened, "listen", t1_ms=_listen(listened).t0_ms + 1)
    assert _of_silence(early) == {Kind.UNOBSERVED}


def test_a_server_may_end_the_stream_when_all_has_been_told(
    listened: Observation,
) -> None:
    """By its response; and not before the ends were told."""
    listen = _listen(listened)
    sent: Any = listen.sent
    message = {"jsonrpc": "2.0", "id": sent["id"], "result": {}}
    end = Received(t_ms=listen.t1_ms, message=message)
    changes = {"how": How.COMPLETE, "t1_ms": listen.t0_ms + 1}
    told = (*listen.received, end)
    assert _of_silence(_with(listened, "listen", received=told, **changes)) == {
        Kind.HOLDS
    }
    silent = (listen.received[0], end)
    assert _of_silence(_with(listened, "listen", received=silent, **changes)) == {
        Kind.UNOBSERVED
    }


def test_what_is_wrong_on_a_stream_is_wrong_even_if_it_is_lost_then(
    listened: Observation,
) -> None:
    listen = _listen(listened)
    odd = [
        Received(t_ms=listen.t1_ms, message={"jsonrpc": "2.0", "method": method})
        for method in (
            "notifications/progress",
            "notifications/message",
            "notifications/prompts/list_changed",
        )
    ]
    received = (listen.received[0], *odd)
    lost = _with(listened, "listen", how=How.CUT, received=received)
    assert _of_silence(lost) == {Kind.BROKEN}


def test_a_stream_without_an_acknowledgement_is_not_unsupported(
    listened: Observation,
) -> None:
    """It is nothing that a server could be excused by."""
    silent = _with(listened, "listen", received=())
    assert _of_silence(silent) == {Kind.UNOBSERVED}


@pytest.mark.parametrize("label", ["get-working", "get-ended"])
def test_a_call_stream_that_was_cut_shows_nothing(label: str) -> None:
    scenario = SCENARIOS["tasks/call-stream"]
    with fixture("tasks") as url:
        seen = observe(scenario, url)
    kinds = {each.kind for each in findings_in(scenario, seen).values()}
    assert kinds == {Kind.HOLDS}
    cut = _with(seen, label, how=How.CUT, received=())
    kinds = {each.kind for each in findings_in(scenario, cut).values()}
    assert kinds == {Kind.UNOBSERVED}


def test_settings_of_the_extension_are_told_and_no_fault() -> None:
    scenario = SCENARIOS["tasks/discovery"]
    with fixture("tasks") as url:
        seen = observe(scenario, url)
        empty = find("tasks/discovery", url)["extension-is-an-object"]
    assert empty == holds("the settings are an object, and empty")
    discovered = seen["discover"]
    assert discovered is not None
    capabilities = {"extensions": {"io.modelcontextprotocol/tasks": {"odd": 1}}}
    sent: Any = discovered.sent
    message = {"id": sent["id"], "result": {"capabilities": capabilities}}
    odd = _with(seen, "discover", received=(Received(t_ms=1.0, message=message),))
    found = findings_in(scenario, odd)["extension-is-an-object"]
    assert found.kind is Kind.HOLDS
    assert "odd" in found.detail


def _retold(
    seen: Observation, prefix: str, change: Callable[[int], dict[str, Any]]
) -> Observation:
    """Every message of these steps that tells of a task tells of it so changed."""
    number = 0

    def changed(message: Any) -> Any:
        nonlocal number
        name = "result" if "result" in message else "params"
        if "status" not in message.get(name, {}):
            return message
        number += 1
        return {**message, name: {**message[name], **change(number)}}

    exchanges = [
        replace(
            each,
            received=tuple(
                replace(one, message=changed(one.message)) for one in each.received
            ),
        )
        if each.label.startswith(prefix)
        else each
        for each in seen.exchanges
    ]
    return replace(seen, exchanges=tuple(exchanges))


@pytest.mark.parametrize("hint", ["ttlMs", "pollIntervalMs"])
def test_a_hint_is_compared_only_where_it_stays_the_same(
    listened: Observation, hint: str
) -> None:
    """Both may change at any time; a listener hears of it no later than who asks."""
    stale = _retold(listened, "listen", lambda _: {hint: 77})
    found = findings_in(SCENARIOS[_NOTIFICATIONS], stale)["equal-to-get"]
    assert found.kind is Kind.BROKEN
    assert hint in found.detail
    changing = _retold(stale, "end-", lambda number: {hint: 1000 + number})
    found = findings_in(SCENARIOS[_NOTIFICATIONS], changing)["equal-to-get"]
    assert found.kind is Kind.HOLDS
    assert f"but for {hint}" in found.detail


def test_what_else_changes_is_compared(listened: Observation) -> None:
    odd = _retold(listened, "listen", lambda _: {"lastUpdatedAt": "2026-01-01"})
    found = findings_in(SCENARIOS[_NOTIFICATIONS], odd)["equal-to-get"]
    assert found.kind is Kind.BROKEN


@pytest.mark.parametrize(
    ("ended", "unseen"),
    [
        ("waiting", {"no-progress", "no-message", "end-told"}),
        ("stranger", {"only-asked-for"}),
    ],
)
def test_a_task_that_ended_before_anybody_listened_shows_nothing(
    listened: Observation, ended: str, unseen: set[str]
) -> None:
    """Of an end that was over nothing could be told, rightly or wrongly."""
    early = _retold(listened, f"asked-{ended}-", lambda _: {"status": "completed"})
    found = findings_in(SCENARIOS[_NOTIFICATIONS], early)
    assert {each for each, one in found.items() if one.kind is Kind.UNOBSERVED} == (
        unseen
    )
    assert all("before anybody listened" in found[each].detail for each in unseen)


@pytest.mark.parametrize("error", [-32021, -32602])
def test_a_listen_that_is_always_refused_shows_nothing_by_that(
    listened: Observation, error: int
) -> None:
    """With the declaration it was to be acknowledged; without that none counts."""
    checks = ("undeclared-refused", "undeclared-told-why", "acknowledged-known")
    found = findings_in(SCENARIOS[_NOTIFICATIONS], listened)
    assert {found[each].kind for each in checks} == {Kind.HOLDS}
    message = {"jsonrpc": "2.0", "id": _id_of(_listen(listened))}
    refusal = {**message, "error": {"code": error, "message": "no"}}
    received = (Received(t_ms=1.0, message=refusal),)
    refused = _with(listened, "listen", received=received, status=400)
    found = findings_in(SCENARIOS[_NOTIFICATIONS], refused)
    assert {found[each].kind for each in checks} == {Kind.UNOBSERVED}


def _id_of(exchange: Exchange) -> Any:
    sent: Any = exchange.sent
    return sent["id"]


def test_what_is_given_decides_only_over_what_holds() -> None:
    """And what was not seen of it is told beside what was."""
    good, bad = _always(holds("good")), _always(unobserved("never served"))
    assert given(good, _always(holds("a")))(_NOTHING) == holds("a")
    assert given(bad, _always(broken("a")))(_NOTHING) == broken("a")
    assert given(bad, _always(unsupported("a")))(_NOTHING) == unsupported("a")
    found = given(bad, _always(holds("refused")))(_NOTHING)
    assert found.kind is Kind.UNOBSERVED
    assert "refused" in found.detail
    assert "never served" in found.detail
    absent = _always(unsupported("no method"))
    assert given(absent, _always(holds("a")))(_NOTHING).kind is Kind.UNSUPPORTED


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ({"status": 200, "result": {"resultType": "complete"}}, Kind.HOLDS),
        ({"status": 400, "error": {"code": -32602, "message": "no"}}, Kind.HOLDS),
        ({"status": 400, "error": {"code": -32021, "message": "no"}}, Kind.UNOBSERVED),
        ({"status": 400, "error": {"code": -32003, "message": "no"}}, Kind.UNOBSERVED),
    ],
)
def test_who_declares_is_let_in_by_anything_but_that_refusal(
    declared: Any, kind: Kind
) -> None:
    seen = Observation(exchanges=(_answered("declared", **declared),))
    assert was_let_in("declared")(seen).kind is kind
    assert was_let_in("other")(seen).kind is Kind.UNOBSERVED
