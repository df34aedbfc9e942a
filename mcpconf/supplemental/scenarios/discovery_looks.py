"""What the discovery checks see: who went on, and what of a wrong answer was used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcpconf.fixture_server.profile.discovery import GIVEN_UP, PLANTED
from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
    unsupported,
)
from mcpconf.supplemental.looks import ended, has_error_result, text_of
from mcpconf.supplemental.observation import StepState
from mcpconf.supplemental.scenarios.conversation_looks import life_of
from mcpconf.supplemental.scenarios.pagination_looks import surfaced
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Event, Observation, Seen, StepResult
    from mcpconf.supplemental.scenario import Look

#: What may be sent by a client that does not know what it is connected to.
_OPENINGS = frozenset({"initialize", "server/discover"})
_HARMLESS = _OPENINGS | {"ping", "notifications/cancelled"}
#: What is answered late: the opening of either era, and the tools.
_LATE = ("server/discover", "initialize", "tools/list")
#: A client may try again, and may fall back; it does not try for ever.
_MOST_OPENINGS = 20
_NO_DISCOVERY = "it sent no server/discover, which no client has to send"


def is_planted(step: StepResult) -> bool:
    """Whether the host was given anything of an answer that must not be used."""
    return PLANTED in json.dumps(step.value)


def _since(seen: Observation, fault: Event) -> list[Seen]:
    return [each for each in seen.subject.received if each.index > fault.index]


def _failed(*steps: StepResult) -> StepResult | None:
    """The first step that the client itself reports as failed."""
    return next((each for each in steps if each.state is StepState.ERROR), None)


def _not_met(seen: Observation) -> Finding:
    """Why the opening's fault was not served."""
    if seen.is_stateless and seen.subject.requests():
        return not_applicable(_NO_DISCOVERY)
    return unobserved("the client never opened a connection")


def wrong_opening(profile: str) -> Look:
    """A look: the answer under the wrong id is not used; the right one may be."""

    def look(seen: Observation) -> Finding:
        faults = seen.subject.faults(profile)
        if not faults:
            return _not_met(seen)
        fault, opening, listed = faults[0], seen.step("connect"), seen.step("list")
        detail = str(fault.value.get("detail"))
        if is_planted(opening) or is_planted(listed):
            return broken(f"{detail}; the host was given what it says")
        if seen.transport is Transport.STDIO and opening.state is StepState.OK:
            return _took_the_right_one(opening, detail)
        after = [each for each in _since(seen, fault) if each.method not in _HARMLESS]
        if not after or (opening.state is StepState.ERROR and not _completes(after)):
            return _refused(seen, detail)
        if seen.transport is Transport.HTTP and not seen.is_stateless:
            return broken(f"{detail}; the client went on with {after[0].method}")
        # A client may send any request without discovery, so this shows nothing.
        problem = f"{detail}; what went on needs no discovery, and the host is told"
        return unsupported(f"{problem} nothing of it")

    return look


def _took_the_right_one(opening: StepResult, detail: str) -> Finding:
    """On stdio the right answer followed; the host may see which it was."""
    said = opening.value if isinstance(opening.value, dict) else {}
    if not said.get("serverInfo") and not said.get("instructions"):
        return unsupported(f"{detail}; the host is not told which answer was taken")
    return holds(f"{detail}; the right answer, which followed, was taken")


def _completes(after: list[Seen]) -> bool:
    """Whether the client took the answer for that to its handshake."""
    return any(each.method == "notifications/initialized" for each in after)


def _refused(seen: Observation, detail: str) -> Finding:
    """Nothing presupposes the answer: an error told of at any step is one."""
    opening = seen.step("connect")
    failed = _failed(opening, seen.step("list"))
    if failed is None:
        return broken(f"{detail}; yet {opening.id} {ended(opening)}")
    return holds(f"{detail}; {failed.id} {ended(failed)}")


def no_downgrade(profile: str) -> Look:
    """A look: an answer that is no refusal is no reason to fall back."""

    def look(seen: Observation) -> Finding:
        faults = seen.subject.faults(profile)
        if not faults:
            return _not_met(seen)
        after = _since(seen, faults[0])
        if any(each.method == "initialize" for each in after):
            return broken("the client fell back to initialize")
        return holds("the client sent no initialize")

    return look


def wrong_list(profile: str) -> Look:
    """A look: what was listed under the wrong id is not surfaced."""

    def look(seen: Observation) -> Finding:
        detail = str(seen.subject.faults(profile)[0].value.get("detail"))
        opening, listed = seen.step("connect"), seen.step("list")
        if is_planted(opening) or is_planted(listed):
            return broken(f"{detail}; the host was given what it lists")
        failed = _failed(opening, listed)
        if failed is not None:
            return holds(f"{detail}; {failed.id} {ended(failed)}")
        if seen.transport is Transport.STDIO and surfaced(listed):
            return holds(f"{detail}; the right answer, which followed, was taken")
        return broken(f"{detail}; yet the list {ended(listed)}, and is empty")

    return look


def look_at_silent_opening(seen: Observation) -> Finding:
    """Nothing was answered, so nothing can have been opened."""
    opening, listed = seen.step("connect"), seen.step("list")
    asked = seen.subject.requests(*_OPENINGS)
    if opening.state is StepState.OK and asked:
        return broken(f"{asked[0].method} was not answered; yet connect succeeded")
    failed = _failed(opening, listed)
    if failed is None:
        return broken(f"nothing was answered; yet the list {ended(listed)}")
    count = len(seen.subject.requests())
    if count > _MOST_OPENINGS:
        return broken(f"nothing was answered, and {count} requests were sent")
    return holds(f"{count} request(s) unanswered; {failed.id} {ended(failed)}")


def look_at_silent_list(seen: Observation) -> Finding:
    """The list was not answered, so there is none."""
    failed = _failed(seen.step("connect"), seen.step("list"))
    if failed is None:
        return broken(f"tools/list was not answered; yet {ended(seen.step('list'))}")
    count = len(seen.subject.requests("tools/list"))
    if count > _MOST_OPENINGS:
        return broken(f"tools/list was not answered, and sent {count} times")
    return holds(f"tools/list unanswered {count} time(s); {failed.id} {ended(failed)}")


def look_at_late(seen: Observation) -> Finding:
    """Late answers are answers: the connection is opened, the tools are there."""
    details = [str(e.value.get("detail")) for e in seen.subject.faults("answers-late")]
    impatience = next(filter(None, (_gave_up(seen, m) for m in _LATE)), None)
    if impatience is not None:
        return impatience
    failed = _failed(seen.step("connect"), seen.step("list"))
    if failed is not None:
        return broken(f"{details[-1]}; {failed.id} {ended(failed)}")
    listed = seen.step("list")
    if not surfaced(listed):
        return broken(f"{details[-1]}; the list {ended(listed)}, and is empty")
    if not any(each.startswith("tools/list") for each in details):
        return unobserved("tools/list was not sent")
    return holds("; ".join(dict.fromkeys(details)))


def _gave_up(seen: Observation, method: str) -> Finding | None:
    """Whether the first request of its kind was not waited for; None: it was."""
    asked = [e for e in seen.subject.requests(method) if "cursor" not in e.params]
    if not asked:
        return None
    first, *others = asked
    answer = seen.subject.answer_to(first)
    for fault in seen.subject.faults("answers-late"):
        is_its_own = (fault.pid, fault.value.get("exchange")) == (
            first.pid,
            first.exchange,
        )
        if is_its_own and str(fault.value.get("detail")).startswith(
            f"{method} {GIVEN_UP}"
        ):
            return broken(str(fault.value["detail"]))
    problem = f"{method} was asked again before it was answered"
    for each in others:
        if answer is not None and each.index > answer.index:
            break
        if life_of(seen, each) == life_of(seen, first):
            # Where nothing names a life, another client may have asked, in parallel.
            is_named = life_of(seen, first) is not None
            return broken(problem) if is_named else unobserved(problem)
    return None


def look_at_twice(seen: Observation) -> Finding:
    """The first answer counts, the second does no harm."""
    opening, listed, called = (seen.step(name) for name in ("connect", "list", "call"))
    failed = _failed(opening, listed, called)
    if failed is not None:
        return broken(f"answered twice; {failed.id} {ended(failed)}")
    if is_planted(opening) or is_planted(listed):
        return broken("the host was given what the second answer says")
    names = surfaced(listed)
    if len(names) != len(set(names)):
        return broken("the tools of both answers were put together")
    calls = seen.subject.calls("echo")
    answered = [each for each in calls if seen.subject.answer_to(each)]
    if not answered:
        return unobserved("no call was answered afterwards")
    lists = seen.subject.requests("tools/list")
    if not lists or life_of(seen, answered[-1]) != life_of(seen, lists[-1]):
        return unobserved("the call was made on another connection than the list")
    return holds(f"{len(names)} tools of the first answer; a call afterwards succeeded")


def malformed(tool: str) -> Look:
    """A look: what is no response is not passed on as one."""

    def look(seen: Observation) -> Finding:
        step = seen.step(tool)
        details = [e.value["detail"] for e in seen.subject.faults("malformed-answers")]
        if tool not in details:
            return unobserved(f"{tool} was not called: {ended(step)}")
        if step.state is StepState.OK and has_error_result(step):
            return holds(f"the host was given an error result: {text_of(step)!r}")
        if step.state is StepState.OK:
            return broken("the host was given a result")
        return holds(f"the call {ended(step)}")

    return look
