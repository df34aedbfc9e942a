"""What the checks of `http_faults` look at: exchanges, sessions, push streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.fixture_server.profile import http_faults
from mcpconf.supplemental.finding import (
    Finding,
    Kind,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.looks import ended, failed, got_text, text_of
from mcpconf.supplemental.observation import StepState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mcpconf.supplemental.observation import (
        Exchange,
        Observation,
        Seen,
        ServerView,
    )
    from mcpconf.supplemental.scenario import Look

_SESSION = "mcp-session-id"
_NOT_FOUND, _NOT_ALLOWED, _OK = 404, 405, 200
#: Requests for these are the beginning of a login.
_LOGIN = ("/.well-known/", "/authorize", "/token", "/register")
#: A client that waits as it is asked to opens five streams in a second, and may have
#: two sessions; one that does not opens a hundred.
_MOST_STREAMS, _SECOND_MS = 12, 1000.0
#: The ways to take a notification.
_REPLIES = {
    each.name: each.reply
    for each in http_faults.PROFILES
    if issubclass(each, http_faults.Acknowledgement)
}


def within(
    exchanges: Iterable[Exchange], start_ms: float, end_ms: float
) -> tuple[Exchange, ...]:
    """The requests that came in a span of time."""
    return tuple(each for each in exchanges if start_ms <= each.t_ms <= end_ms)


def _session_of(view: ServerView, message: Seen) -> str | None:
    """The session a message travelled in."""
    exchange = view.exchange_of(message)
    return exchange.header(_SESSION) if exchange else None


def _answered(view: ServerView, tool: str, text: str | None = None) -> list[Seen]:
    """The calls of a tool, with this text where there is one, that had a result."""
    wanted = {} if text is None else {"text": text}
    return [
        each
        for each in view.calls(tool)
        if (each.params.get("arguments") or {}) == wanted
        and (answer := view.answer_to(each)) is not None
        and answer.result is not None
    ]


def _worked(seen: Observation, text: str) -> Finding:
    """The connection was opened, and its call gave the host this text."""
    opened = seen.step("connect")
    if opened.state is not StepState.OK:
        return broken(f"the opening {ended(opened)}")
    return got_text("call", text)(seen)


def _was_answered_by(profile: str, exchange: Exchange) -> bool:
    status, headers, _ = _REPLIES[profile]
    return exchange.status == status and all(
        exchange.response_headers.get(name.lower()) == (value,)
        for name, value in headers
    )


def taken(name: str) -> Look:
    """
    The session of the call that worked is one whose opening was acknowledged so.

    A session that the acknowledgement broke, and that another attempt replaced, is no
    evidence; nor is one in which there was nothing to acknowledge.
    """

    def look(seen: Observation) -> Finding:
        found = _worked(seen, name)
        if found.kind is not Kind.HOLDS:
            return found
        view = seen.subject
        sessions = {_session_of(view, e) for e in _answered(view, "echo", name)}
        for each in view.notifications("notifications/initialized"):
            exchange = view.exchange_of(each)
            if (
                exchange is not None
                and exchange.header(_SESSION) in sessions
                and _was_answered_by(name, exchange)
            ):
                return holds(f"{found.detail} in a session that was acknowledged so")
        return unobserved("no notification of the session that worked was answered so")

    return look


def goes_on_in_its_session(name: str, tool: str) -> Look:
    """The step echoed its own name, in the session of the call of `tool`."""

    def look(seen: Observation) -> Finding:
        found = got_text(name, name)(seen)
        if found.kind is not Kind.HOLDS:
            return found
        if not shares_session(seen, tool, "echo", name):
            return broken(f"{found.detail}, but the session had been given up")
        return found

    return look


def shares_session(
    seen: Observation, tool: str, then: str, text: str | None = None
) -> bool:
    """Whether an answered call of `then` was made in the session of one of `tool`."""
    view = seen.subject
    sessions = {_session_of(view, each) for each in view.calls(tool)}
    return any(_session_of(view, e) in sessions for e in _answered(view, then, text))


def no_probes(seen: Observation) -> Finding:
    """Nobody asked how to log in."""
    probes = sorted(
        {
            each.target
            for each in seen.subject.exchanges
            if any(part in each.target for part in _LOGIN)
        }
    )
    if probes:
        return broken(f"nothing asked for a login, but the client for {probes}")
    if text_of(seen.step("plain")) != "plain":
        return unobserved("no call was answered")
    count = len(seen.subject.exchanges)
    return holds(f"none of {count} requests was for anything about a login")


def is_bounded(name: str, most: int) -> Look:
    """The step ended with an error, and did not make more requests than `most`."""

    def look(seen: Observation) -> Finding:
        step = seen.step(name)
        made = within(seen.subject.exchanges, step.t0_ms, step.t1_ms)
        if len(made) > most:
            return broken(f"{len(made)} requests for one call")
        found = failed(name)(seen)
        return Finding(found.kind, f"{found.detail} ({len(made)} requests)")

    return look


def _first_session(view: ServerView) -> Exchange | None:
    """The exchange that gave the client its first session."""
    for each in view.exchanges:
        if each.status == _OK and each.response_headers.get(_SESSION):
            return each
    return None


def _openings(view: ServerView) -> dict[int | None, Seen]:
    """What needs no session: exchange → message."""
    return {
        each.exchange: each for each in view.requests("initialize", "server/discover")
    }


def names_session(seen: Observation) -> Finding:
    """Every request that needed it named a session."""
    view = seen.subject
    first = _first_session(view)
    if first is None:
        return unobserved("no session was opened")
    openings = _openings(view)
    later = [
        each
        for each in view.exchanges
        if each.id > first.id
        and each.id not in openings
        and each.method in {"POST", "GET", "DELETE"}
        and each.target == first.target
    ]
    for each in later:
        if each.header(_SESSION) is None:
            return broken(f"a {each.method} came without a session id")
    if not later:
        return unobserved("nothing came after the opening")
    return holds(f"all {len(later)} requests after the opening named their session")


def _new_openings(seen: Observation) -> tuple[Exchange | None, list[Exchange]]:
    """The first request that met the loss of its session; the openings after it."""
    view = seen.subject
    by_id = {each.id: each for each in view.exchanges}
    dropped = [
        by_id[number]
        for fault in view.faults("session-dropped")
        if (number := fault.value.get("exchange")) in by_id
    ]
    lost = next(
        (
            each
            for each in view.exchanges
            if each.status == _NOT_FOUND
            and any(
                each.id > drop.id and each.header(_SESSION) == drop.header(_SESSION)
                for drop in dropped
            )
        ),
        None,
    )
    if lost is None:
        return None, []
    openings = {each.exchange for each in view.requests("initialize")}
    return lost, [e for e in view.exchanges if e.id > lost.id and e.id in openings]


def starts_anew(seen: Observation) -> Finding:
    """After a 404 the client opened a session, and named none in that."""
    lost, openings = _new_openings(seen)
    if lost is None:
        return unobserved("the client made no request in the lost session")
    if not openings:
        return broken("no initialize followed the 404")
    if any(each.headers.get(_SESSION) for each in openings):
        return broken("the initialize after the 404 names a session")
    return holds("an initialize without a session id followed the 404")


def goes_on(seen: Observation) -> Finding:
    """A call after the new opening was made in the new session, and answered."""
    _, openings = _new_openings(seen)
    if not openings:
        return not_applicable("the client opened no new session")
    view = seen.subject
    given = {each.response_headers.get(_SESSION) for each in openings} - {None}
    for request in _answered(view, "echo", "after"):
        exchange = view.exchange_of(request)
        if exchange is not None and exchange.headers.get(_SESSION) in given:
            return got_text("after", "after")(seen)
    return broken(f"no later call names the new session: {ended(seen.step('after'))}")


def _push_streams(seen: Observation) -> tuple[Finding, tuple[Exchange, ...]]:
    """How the call went, and the GETs of its session from before it was answered."""
    view = seen.subject
    asked = tuple(e for e in view.exchanges if e.method == "GET" and e.header(_SESSION))
    if not asked:
        return not_applicable("the client asks for no push stream"), ()
    found = _worked(seen, "done")
    if found.kind is not Kind.HOLDS:
        return found, ()
    ends = {
        _session_of(view, each): answer.t_ms
        for each in _answered(view, "slow")
        if (answer := view.answer_to(each)) is not None
    }
    gets = [e for e in asked if e.t_ms <= ends.get(e.header(_SESSION), 0.0)]
    if not gets:
        return unobserved("the session that worked asked for no push stream"), ()
    return found, tuple(gets)


def push_stream_may_be_refused(seen: Observation) -> Finding:
    """The session goes on without a push stream."""
    found, gets = _push_streams(seen)
    if gets and not any(each.status == _NOT_ALLOWED for each in gets):
        return unobserved("no push stream of the session that worked was refused")
    return found


def push_stream_may_be_closed(seen: Observation) -> Finding:
    """The session goes on, and the stream is not asked for again and again."""
    served = [each for each in seen.subject.exchanges if each.method == "GET"]
    most = max(
        (len(within(served, e.t_ms, e.t_ms + _SECOND_MS)) for e in served), default=0
    )
    if most > _MOST_STREAMS:
        return broken(f"the stream was opened {most} times in a second")
    found, gets = _push_streams(seen)
    if gets and not any(each.status == _OK for each in gets):
        return unobserved("no push stream of the session that worked ended")
    return Finding(found.kind, f"{found.detail}; at most {most} push streams a second")
