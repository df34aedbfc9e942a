"""What the checks of `http_faults` look at: exchanges, sessions, push streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import (
    Finding,
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
_NOT_FOUND, _OK = 404, 200
#: Requests for these are the beginning of a login.
_LOGIN = ("/.well-known/", "/authorize", "/token", "/register")
#: A client that waits as it is asked to opens four streams in the time; one that does
#: not opens a hundred.
_MOST_STREAMS = 10


def within(
    exchanges: Iterable[Exchange], start_ms: float, end_ms: float
) -> tuple[Exchange, ...]:
    """The requests that came in a span of time."""
    return tuple(each for each in exchanges if start_ms <= each.t_ms <= end_ms)


def taken(profile: str, kind: tuple[str, ...]) -> Look:
    """The sessions whose notifications this profile answered worked."""

    def look(seen: Observation) -> Finding:
        served = [event.t_ms for event in seen.subject.faults(profile)]
        found = None
        for name in kind:
            opened, called = seen.step(f"connect-{name}"), seen.step(f"call-{name}")
            last_ms = max(opened.t1_ms, called.t1_ms)
            if not any(opened.t0_ms <= t_ms <= last_ms for t_ms in served):
                continue
            if opened.state is not StepState.OK:
                return broken(f"the opening {ended(opened)}")
            found = got_text(called.id, name)(seen)
            if called.state is not StepState.OK:
                return found
        return found or unobserved("no session of the steps was answered so")

    return look


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


def _new_opening(seen: Observation) -> tuple[Exchange | None, Exchange | None]:
    """The first request answered 404 in a session's name; the opening after it."""
    view = seen.subject
    lost = next(
        (
            e
            for e in view.exchanges
            if e.status == _NOT_FOUND and e.headers.get(_SESSION)
        ),
        None,
    )
    if lost is None:
        return None, None
    openings = {each.exchange for each in view.requests("initialize")}
    later = (each for each in view.exchanges if each.id > lost.id)
    return lost, next((each for each in later if each.id in openings), None)


def starts_anew(seen: Observation) -> Finding:
    """After a 404 the client opened a session, and named none in that."""
    lost, opening = _new_opening(seen)
    if lost is None:
        return unobserved("the client made no request in the lost session")
    if opening is None:
        return broken("no initialize followed the 404")
    if opening.headers.get(_SESSION):
        return broken("the initialize after the 404 names a session")
    return holds("an initialize without a session id followed the 404")


def goes_on(seen: Observation) -> Finding:
    """A call after the new opening was made in the new session, and answered."""
    _, opening = _new_opening(seen)
    if opening is None:
        return not_applicable("the client opened no new session")
    view = seen.subject
    given = opening.response_headers.get(_SESSION)
    for request in view.calls("echo"):
        exchange = view.exchange_of(request)
        if (
            request.params.get("arguments") == {"text": "after"}
            and exchange is not None
            and exchange.headers.get(_SESSION) == given
        ):
            return got_text("after", "after")(seen)
    return broken(f"no later call names the new session: {ended(seen.step('after'))}")


def _pushed(seen: Observation, profile: str, session: str) -> tuple[int, Finding]:
    """How often a profile answered a GET, and whether the session worked."""
    opened, called = seen.step(f"connect-{session}"), seen.step(f"call-{session}")
    if opened.state is not StepState.OK:
        return len(seen.subject.faults(profile)), broken(f"the opening {ended(opened)}")
    return len(seen.subject.faults(profile)), got_text(called.id, "done")(seen)


def push_stream_may_be_refused(seen: Observation) -> Finding:
    """The session goes on without a push stream."""
    count, found = _pushed(seen, "push-refused", "refused")
    return found if count else not_applicable("the client asks for no push stream")


def push_stream_may_be_closed(seen: Observation) -> Finding:
    """The session goes on, and the stream is not asked for again and again."""
    count, found = _pushed(seen, "push-closed", "closed")
    if not count:
        return not_applicable("the client asks for no push stream")
    if count > _MOST_STREAMS:
        return broken(f"the stream was opened {count} times in less than a second")
    return Finding(found.kind, f"{found.detail}; {count} push streams")
