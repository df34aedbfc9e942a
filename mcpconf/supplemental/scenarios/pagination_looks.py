"""What the pagination checks see in the pages served and in the lists surfaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.profile.pagination import (
    BAD_CURSOR,
    ODD_CURSORS,
    REPEATED_CURSOR,
)
from mcpconf.supplemental.finding import Finding, broken, holds, unobserved
from mcpconf.supplemental.looks import ended
from mcpconf.supplemental.observation import StepState

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation, Seen, StepResult
    from mcpconf.supplemental.scenario import Look

TOOLS = "tools/list"
#: Of one cursor in one list; a client may list several times, and each time meet it.
MOST_REPEATS = 100
_MEMBERS = {TOOLS: ("tools", "name"), "resources/list": ("resources", "uri")}
_STEPS = {TOOLS: "list", "resources/list": "list-resources"}
#: A walk that its own limit ended was not stopped by what it met.
_TIMEOUT = "timeout"


def cursors_of(seen: Observation, method: str) -> list[Any]:
    """The cursors that the client sent, in order."""
    requests = seen.subject.requests(method)
    return [each.params["cursor"] for each in requests if "cursor" in each.params]


def _listings(seen: Observation) -> list[list[Seen]]:
    """The requests for tools, list by list: one without a cursor begins another."""
    found: list[list[Seen]] = []
    for request in seen.subject.requests(TOOLS):
        if not found or "cursor" not in request.params:
            found.append([])
        found[-1].append(request)
    return found


def _served(seen: Observation, method: str) -> tuple[set[str], list[str]]:
    """What was on the pages that were sent, and the cursors they named."""
    member, key = _MEMBERS[method]
    names: set[str] = set()
    cursors = []
    for request in seen.subject.requests(method):
        answer = seen.subject.answer_to(request)
        result = answer.result if answer else None
        if isinstance(result, dict):
            names.update(each[key] for each in result.get(member, ()))
            if "nextCursor" in result:
                cursors.append(result["nextCursor"])
    return names, cursors


def surfaced(step: StepResult, key: str = "name") -> list[str]:
    """What the host was given, by name."""
    items = step.value.get("items") if isinstance(step.value, dict) else None
    items = items if isinstance(items, list) else []
    return [str(each.get(key)) for each in items if isinstance(each, dict)]


def look_at_cursors(seen: Observation) -> Finding:
    """Every cursor of tools comes back as it was given."""
    came = cursors_of(seen, TOOLS)
    changed = [each for each in came if each not in ODD_CURSORS]
    if changed:
        return broken(f"a cursor came back that was never given: {changed[0]!r:.120}")
    missing = [each for each in ODD_CURSORS if each not in came]
    if missing:
        return unobserved(f"the cursor {missing[0]!r:.60} was not followed")
    return holds(f"{len(ODD_CURSORS)} cursors came back as they were given")


def whole_list(method: str) -> Look:
    """A look: everything on every page is surfaced, and every page was asked for."""
    key = _MEMBERS[method][1]

    def look(seen: Observation) -> Finding:
        step = seen.step(_STEPS[method])
        if step.state is not StepState.OK:
            return broken(f"the list {ended(step)}")
        names, given = _served(seen, method)
        came = cursors_of(seen, method)
        if not given:
            return unobserved(f"no page of {method} named another")
        if len(came) < len(set(given)):
            return broken(f"{len(set(given)) - len(came)} page(s) were not asked for")
        lost = sorted(names - set(surfaced(step, key)))
        if lost:
            return broken(f"{len(lost)} of {len(names)} were lost: {lost[0]} …")
        return holds(f"{len(names)} from {len(set(given)) + 1} pages were surfaced")

    return look


def look_at_empty_cursor(seen: Observation) -> Finding:
    """The empty string is sent back like any other cursor, by a client that pages."""
    given = seen.subject.faults("empty-cursor")[0]
    requests = seen.subject.requests("resources/list")
    came = [each for each in requests if each.params.get("cursor") == ""]
    if any(each.index > given.index for each in came):
        return holds("the empty cursor came back")
    step = seen.step("list-resources")
    if step.error_kind == _TIMEOUT:
        return unobserved(f"the list {ended(step)}")
    return broken(f"the empty cursor was not sent; the list {ended(step)}")


def look_at_repeats(seen: Observation) -> Finding:
    """A cursor that repeats ends the walk."""
    counts = [
        sum(each.params.get("cursor") == REPEATED_CURSOR for each in requests)
        for requests in _listings(seen)
    ]
    count = max(counts, default=0)
    if count > MOST_REPEATS:
        return broken(f"the same cursor was sent {count} times in one list")
    return _stopped(seen, f"the repeated cursor was sent {count} times")


def look_at_endless(seen: Observation) -> Finding:
    """A list without an end is left at some time."""
    pages = max(map(len, _listings(seen)), default=0)
    answers = map(seen.subject.answer_to, seen.subject.requests(TOOLS))
    if any(map(_is_last, answers)):
        return broken(f"all {pages} pages that there were were asked for: no bound")
    return _stopped(seen, f"stopped after {pages} pages")


def _is_last(answer: Seen | None) -> bool:
    result = answer.result if answer else None
    return isinstance(result, dict) and "nextCursor" not in result


def _stopped(seen: Observation, what: str) -> Finding:
    """It stopped by itself: the list came to an end, or the client refused it."""
    step = _first_end(seen)
    if step.error_kind == _TIMEOUT:
        return unobserved(f"{what}; then its own limit of time ended the list")
    return holds(f"{what}; the list {ended(step)}")


def _first_end(seen: Observation) -> StepResult:
    """The step that shows what became of the list: a client may list on connecting."""
    connect = seen.step("connect")
    return connect if connect.state is StepState.ERROR else seen.step("list")


def look_at_long_cursor(seen: Observation) -> Finding:
    """Sent back whole, or not at all; never cut."""
    details = [str(e.value.get("detail")) for e in seen.subject.faults("long-cursor")]
    changed = [each for each in details if each.startswith("altered")]
    if changed:
        return broken(changed[0])
    step = _first_end(seen)
    whole = [each for each in details if each.startswith("whole")]
    if whole:
        return holds(f"{whole[0]}; the list {ended(step)}")
    if step.state is StepState.OK:
        return unobserved("the list succeeded, and the cursor was not sent")
    if step.error_kind == _TIMEOUT:
        return unobserved(f"the list {ended(step)}")
    return holds(f"refused: {step.message}")


def whole_catalogue(size: int) -> Look:
    """A look: all the tools, or a refusal; the numbers are in the detail."""

    def look(seen: Observation) -> Finding:
        faults = seen.subject.faults("counted-catalogue")
        counts = [str(each.value["detail"]) for each in faults]
        asked = max(int(each.split()[0]) for each in counts)
        step = _first_end(seen)
        if step.error_kind == _TIMEOUT:
            return unobserved(f"the list {ended(step)}")
        if step.state is not StepState.OK:
            return holds(f"refused after {asked} tools were served: {step.message}")
        if f"{size} tools, last" not in counts:
            return broken(f"the list succeeded after {asked} tools, before its end")
        found = len(set(surfaced(step)))
        if found != size:
            return broken(f"{size} tools were served, {found} surfaced, and no error")
        return holds(f"all {size} tools were surfaced")

    return look


def look_at_bad_cursor(seen: Observation) -> Finding:
    """An error in the middle ends the walk, one way or the other."""
    count = cursors_of(seen, TOOLS).count(BAD_CURSOR)
    if count > MOST_REPEATS:
        return broken(f"the refused cursor was sent {count} times")
    step = _first_end(seen)
    if step.error_kind == _TIMEOUT:
        return broken(f"the error was sent, yet the list {ended(step)}")
    if step.state is StepState.OK and not surfaced(step):
        return broken("the list succeeded and is empty")
    return holds(f"the refused cursor was sent {count} time(s); the list {ended(step)}")
