"""What the negotiation checks see: which versions were declared, and who went on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.fixture_server.admission import UNSUPPORTED_VERSION
from mcpconf.fixture_server.profile.negotiation import UNKNOWN_NEW
from mcpconf.revision import Era, era_of
from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.looks import ended
from mcpconf.supplemental.observation import StepState
from mcpconf.supplemental.scenarios.conversation_looks import life_of

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation, Seen, StepResult
    from mcpconf.supplemental.scenario import Look

_VERSION = "io.modelcontextprotocol/protocolVersion"
_HEADER = "mcp-protocol-version"
_DISCOVER = "server/discover"
#: What may be sent whatever was refused: another attempt, in either era.
_OPENINGS = frozenset({"initialize", _DISCOVER})
_HARMLESS = _OPENINGS | {"ping", "notifications/cancelled"}
#: A client may try again; it does not try for ever. No page says how often: the bound
#: is ours, and what is a MUST does not rest on it.
_MOST_ATTEMPTS = 20
_TIMEOUT = "timeout"


def _failed(seen: Observation) -> StepResult | None:
    """The first step on the subject that the client itself reports as failed."""
    steps = (seen.steps[name] for name in ("connect", "list") if name in seen.steps)
    return next((each for each in steps if each.state is StepState.ERROR), None)


def _declares(seen: Observation, message: Seen) -> str | None:
    """The version that a message declares in ``_meta``, or else by HTTP's header."""
    version = message.meta.get(_VERSION)
    if isinstance(version, str):
        return version
    exchange = seen.subject.exchange_of(message)
    return exchange.header(_HEADER) if exchange else None


def _is_stateless(message: Seen) -> bool:
    version = message.meta.get(_VERSION)
    return isinstance(version, str) and era_of(version) is Era.STATELESS


def _first_refusal(seen: Observation, *methods: str) -> tuple[Seen, Seen] | None:
    """The first of these requests that was answered by an error, and the answer."""
    for request in seen.subject.requests(*methods):
        answer = seen.subject.answer_to(request)
        if answer is not None and answer.error is not None:
            return request, answer
    return None


def _after(seen: Observation, answer: Seen) -> list[Seen]:
    return [each for each in seen.subject.received if each.index > answer.index]


def look_at_stateless_requests(seen: Observation) -> Finding:
    """Refused by a server of the older era, a client does not go on as before."""
    refusal = _first_refusal(seen)
    if refusal is None or not _is_stateless(refusal[0]):
        return unobserved("no stateless request was refused")
    request, answer = refusal
    after = [each for each in _after(seen, answer) if _is_stateless(each)]
    others = [each for each in after if each.method != _DISCOVER]
    # Who does not ask first may meet a refusal of each list that it tries.
    is_warned = request.method == _DISCOVER
    if (is_warned and others) or len(after) > _MOST_ATTEMPTS:
        method = (others or after)[0].method
        return broken(
            f"{request.method} was refused; {len(after)} more stateless requests "
            f"were sent, {method} first"
        )
    failed = _failed(seen)
    shaken = [each for each in _after(seen, answer) if each.method == "initialize"]
    if failed is None and not shaken:
        return broken(f"{request.method} was refused; yet connect and list succeeded")
    how = f"{failed.id} {ended(failed)}" if failed else "initialize, and it succeeded"
    return holds(f"{request.method} was refused; then {how}")


def look_at_fallback(seen: Observation) -> Finding:
    """Who falls back offers a version that has a handshake, and completes it."""
    openings = seen.subject.requests("initialize")
    if not openings:
        failed = _failed(seen)
        if failed is None:
            return unobserved("no initialize was sent, and no step failed")
        return not_applicable(f"it does not fall back: {failed.id} {ended(failed)}")
    for each in openings:
        offered = each.params.get("protocolVersion")
        if not isinstance(offered, str) or era_of(offered) is not Era.HANDSHAKE:
            return broken(f"initialize offers {offered!r}, which has no handshake")
    return _after_a_good_offer(seen, openings[0].params["protocolVersion"])


def _after_a_good_offer(seen: Observation, offered: str) -> Finding:
    """It completes the handshake and lists, or leaves before, as it may."""
    failed = _failed(seen)
    told = seen.subject.notifications("notifications/initialized")
    if failed is not None:
        problem = f"{offered} was offered; {failed.id} {ended(failed)}"
        is_lost = bool(told) or failed.error_kind == _TIMEOUT
        return broken(problem) if is_lost else not_applicable(problem)
    if not told:
        return broken("initialize was answered, and no initialized was sent")
    return holds(f"fell back with an offer of {offered}, and listed the tools")


def look_at_refused_handshake(seen: Observation) -> Finding:
    """A refusal ends in an error for the host, or in the era that was refused for."""
    refusal = _first_refusal(seen, "initialize")
    if refusal is None:
        return unobserved("no initialize was refused")
    failed = _failed(seen)
    if failed is None:
        retried = [each for each in _after(seen, refusal[1]) if _is_stateless(each)]
        if not retried:
            return broken("initialize was refused; yet connect and list succeeded")
        return holds("went on as the stateless revision does")
    if failed.error_kind == _TIMEOUT:
        return broken(
            f"initialize was refused at once; yet {failed.id} {ended(failed)}"
        )
    return holds(f"{failed.id} {ended(failed)}")


def look_at_nothing_else(seen: Observation) -> Finding:
    """After a refused handshake nothing is sent that needs one."""
    refusal = _first_refusal(seen, "initialize")
    if refusal is None:
        return unobserved("no initialize was refused")
    after = _after(seen, refusal[1])
    strange = [
        each
        for each in after
        if each.method not in _HARMLESS and not _is_stateless(each)
    ]
    if strange:
        return broken(f"initialize was refused; then {strange[0].method} was sent")
    return holds("nothing was sent after it that needs a handshake")


def look_at_refused_attempts(seen: Observation) -> Finding:
    """A refused handshake is not tried for ever."""
    count = len(seen.subject.requests("initialize"))
    if _first_refusal(seen, "initialize") is None:
        return unobserved("no initialize was refused")
    if count > _MOST_ATTEMPTS:
        return broken(f"initialize was refused, and sent {count} times")
    return holds(f"initialize was sent {count} time(s)")


def unknown_version(profile: str) -> Look:
    """A look: an answer with a version that the client does not know ends it."""

    def look(seen: Observation) -> Finding:
        detail = str(seen.subject.faults(profile)[0].value.get("detail"))
        fault = seen.subject.faults(profile)[0]
        after = [each for each in seen.subject.received if each.index > fault.index]
        strange = [each for each in after if each.method not in _HARMLESS]
        if strange:
            return broken(f"{detail}; the client went on with {strange[0].method}")
        if len(after) > _MOST_ATTEMPTS:
            return broken(f"{detail}; {len(after)} more attempts")
        failed = _failed(seen)
        if failed is None:
            return broken(f"{detail}; yet connect and list succeeded")
        if failed.error_kind == _TIMEOUT:
            return unobserved(f"{detail}; {failed.id} {ended(failed)}")
        return holds(f"{detail}; {failed.id} {ended(failed)}")

    return look


def look_at_no_common(seen: Observation) -> Finding:
    """No common version: an error for the host, after few attempts."""
    count = len(seen.subject.faults("no-common-version"))
    if count > _MOST_ATTEMPTS:
        return broken(f"refused {count} times, and asked again each time")
    failed = _failed(seen)
    if failed is None:
        return broken("every request was refused; yet connect and list succeeded")
    if failed.error_kind == _TIMEOUT:
        return broken(f"refused at once; yet {failed.id} {ended(failed)}")
    return holds(f"refused {count} time(s); {failed.id} {ended(failed)}")


def look_at_choice(seen: Observation) -> Finding:
    """Of the versions that a refusal named, the one that both speak is chosen."""
    if not any(_offers(seen, each) for each in seen.subject.requests()):
        opening = seen.step("connect")
        if opening.state is StepState.ERROR:
            return not_applicable(f"refused by the client itself: {opening.message}")
        return unobserved(f"{UNKNOWN_NEW} was not offered; connect {ended(opening)}")
    return _tried_after(seen, _unsupported(seen, UNKNOWN_NEW))


def look_at_retry(seen: Observation) -> Finding:
    """A version that both speak was refused and named: it is tried again."""
    return _tried_after(seen, _unsupported(seen, seen.revision.value))


def _unsupported(seen: Observation, version: str) -> list[tuple[Seen, Seen]]:
    """The requests of a version that were refused by -32022, and the refusals."""
    pairs = [(each, seen.subject.answer_to(each)) for each in seen.subject.requests()]
    return [
        (request, answer)
        for request, answer in pairs
        if request.meta.get(_VERSION) == version
        and answer is not None
        and isinstance(answer.error, dict)
        and answer.error.get("code") == UNSUPPORTED_VERSION
    ]


def _tried_after(seen: Observation, refusals: list[tuple[Seen, Seen]]) -> Finding:
    """The leg's version was tried where it was named, and the tools were listed so."""
    if not refusals:
        return unobserved("no request was refused by -32022")
    version, failed = seen.revision.value, _failed(seen)
    again = [each for refusal in refusals for each in _retries(seen, *refusal)]
    if failed is not None:
        how = "tried" if again else "not tried"
        return broken(f"{version} was named, and {how}; {failed.id} {ended(failed)}")
    if not again:
        return broken(f"{version} was named, and not tried on that connection")
    lists = [each for each in again if each.method == "tools/list"]
    answers = map(seen.subject.answer_to, lists)
    if not any(answer and answer.result is not None for answer in answers):
        return unobserved(f"{version} was tried; no list was answered there")
    return holds(f"{again[0].method} followed with {version}, and the list succeeded")


def _retries(seen: Observation, request: Seen, refusal: Seen) -> list[Seen]:
    """
    The client's requests of the leg's version that a refusal can have led to.

    On the same stdio process, and before a handshake: another process, and another
    era, are attempts that need no version to be chosen.
    """
    found = []
    for each in _after(seen, refusal):
        if life_of(seen, each) != life_of(seen, request):
            continue
        if each.method == "initialize":
            break
        if each.is_request and each.meta.get(_VERSION) == seen.revision.value:
            found.append(each)
    return found


def look_at_offer(seen: Observation) -> Finding:
    """Once the server has answered, nothing is declared that it does not speak."""
    opening = seen.step("connect")
    value = opening.value if isinstance(opening.value, dict) else {}
    agreed = value.get("protocolVersion")
    if agreed == UNKNOWN_NEW:
        return broken(f"connect reports that {UNKNOWN_NEW} was agreed on")
    offers = [each for each in seen.subject.requests() if _offers(seen, each)]
    if not offers and opening.state is StepState.ERROR:
        return holds(f"refused by the client itself: {opening.message}")
    answer = seen.subject.answer_to(offers[0]) if offers else None
    if answer is None:
        return unobserved(f"no answer to an offer of {UNKNOWN_NEW}")
    used = [each for each in _after(seen, answer) if _uses(seen, each)]
    if used:
        return broken(f"went on with {UNKNOWN_NEW}: {used[0].method}")
    how = f"agreed on {agreed}" if opening.state is StepState.OK else ended(opening)
    return holds(f"{UNKNOWN_NEW} was offered {len(offers)} time(s); connect: {how}")


def look_at_offers(seen: Observation) -> Finding:
    """A version that was refused, or answered by another, is not offered for ever."""
    offers = [each for each in seen.subject.requests() if _offers(seen, each)]
    if len(offers) > _MOST_ATTEMPTS:
        return broken(f"{UNKNOWN_NEW} was offered {len(offers)} times")
    opening = seen.step("connect")
    if not offers and opening.state is not StepState.ERROR:
        return unobserved(f"{UNKNOWN_NEW} was not offered; connect {ended(opening)}")
    return holds(f"{UNKNOWN_NEW} was offered {len(offers)} time(s)")


def _uses(seen: Observation, message: Seen) -> bool:
    """Whether it declares the version, and is more than another attempt."""
    return message.method not in _HARMLESS and _declares(seen, message) == UNKNOWN_NEW


def _offers(seen: Observation, message: Seen) -> bool:
    if message.method == "initialize":
        return bool(message.params.get("protocolVersion") == UNKNOWN_NEW)
    return _declares(seen, message) == UNKNOWN_NEW
