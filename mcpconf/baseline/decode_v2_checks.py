"""The lists of a version 2 baseline, entry by entry, each with its place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.baseline import field
from mcpconf.baseline.entry import CheckState, ExpectedFailure, ExpectedUnsupported
from mcpconf.identity import LABELS, OFFICIAL_HTTP, SOURCES, CheckIdentity, Leg
from mcpconf.record import Outcome

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterator

    from mcpconf.baseline.problem import Problems
    from mcpconf.baseline.rule import Placed
    from mcpconf.decode import Reader

_FAILING = (*field.IDENTITY_KEYS, "status", "outcome", *field.EXPLANATION_KEYS)
_UNSUPPORTED = ("mode", "transport", "scenario", *field.EXPLANATION_KEYS)
#: How a check that is expected to fail or to warn may have ended. Nothing is known of a
#: client that crashed or timed out, so no baseline expects that.
OUTCOMES = (Outcome.FAILED.value, Outcome.UNOBSERVED.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checks:
    """The lists of a file, each entry with its place."""

    passing: list[Placed]
    failing: list[tuple[str, ExpectedFailure]]
    unsupported: list[tuple[str, ExpectedUnsupported]]

    @property
    def placed_failing(self) -> list[Placed]:
        """The identities of the failing ones."""
        return [(where, entry.identity) for where, entry in self.failing]


def read_checks(reader: Reader, problems: Problems, today: dt.date) -> Checks:
    """What can be read of the lists of a file; the rest is in `problems`."""
    found = Checks(passing=[], failing=[], unsupported=[])
    lists = problems.read(reader, "checks", _object, None)
    if lists is None:
        return found
    problems.only(lists, "passing", "failing", "unsupported")
    found.passing.extend(_passing(lists, problems))
    for entry in field.entries(problems, lists, "failing", _FAILING):
        failure = _failure(problems, entry, today)
        if failure is not None:
            found.failing.append((entry.where, failure))
    for entry in field.entries(problems, lists, "unsupported", _UNSUPPORTED):
        unsupported = _not_done(problems, entry, today)
        if unsupported is not None:
            found.unsupported.append((entry.where, unsupported))
    return found


def _object(reader: Reader) -> Reader:
    reader.object()
    return reader


def _passing(lists: Reader, problems: Problems) -> Iterator[Placed]:
    """``{"stdio 2025-06-18": {"basics": ["supplemental:identity"]}}``, taken apart."""
    nothing: list[tuple[str, Reader]] = []
    none: list[Reader] = []
    for name, _ in problems.read(lists, "passing", _members, nothing):
        transport, _, revision = name.partition(" ")
        legs = lists.key("passing")
        if transport not in LABELS or revision not in field.REVISIONS:
            problem = "is no leg; write the transport, a space, and the revision"
            problems.add(f"{legs.where}.{name}", problem)
            continue
        for scenario, _ in problems.read(legs, name, _members, nothing):
            for each in problems.read(legs.key(name), scenario, _items, none):
                source, mark, check_id = _halves(each)
                if source not in SOURCES or not mark or not check_id:
                    problem = f"{each.value!r} is not of the form <source>:<check id>"
                    problems.add(each.where, problem)
                    continue
                yield (
                    each.where,
                    CheckIdentity(revision, transport, source, scenario, check_id),
                )


def _halves(reader: Reader) -> tuple[str, str, str]:
    return str(reader.value).partition(":")


def _members(reader: Reader) -> list[tuple[str, Reader]]:
    return list(reader.members())


def _items(reader: Reader) -> list[Reader]:
    return list(reader.items())


def _failure(
    problems: Problems, entry: Reader, today: dt.date
) -> ExpectedFailure | None:
    identity = field.identity(problems, entry)
    states = field.word(CheckState.FAIL.value, CheckState.WARNING.value)
    state = CheckState(problems.read(entry, "status", states, CheckState.FAIL.value))

    def outcome(reader: Reader) -> str:
        value = field.word(*(each.value for each in Outcome))(reader)
        # Under a policy that lets warnings pass, a scenario that warns has passed.
        is_warned = state is CheckState.WARNING and value == Outcome.PASSED.value
        if value not in OUTCOMES and not is_warned:
            reader.fail(f"{value!r} is never expected; known: {', '.join(OUTCOMES)}")
        return value

    ended = problems.read(entry, "outcome", outcome, "")
    explanation = field.explanation(problems, entry, today)
    if identity is None:
        return None
    return ExpectedFailure(
        identity=identity, state=state, outcome=ended, explanation=explanation
    )


def _not_done(
    problems: Problems, entry: Reader, today: dt.date
) -> ExpectedUnsupported | None:
    before = len(problems)
    revision = problems.read(entry, "mode", field.word(*field.REVISIONS), "")
    transport = problems.read(entry, "transport", field.word(OFFICIAL_HTTP), "")
    scenario = problems.read(entry, "scenario", field.text, "")
    is_whole = len(problems) == before
    explanation = field.explanation(problems, entry, today)
    if not is_whole:
        return None
    return ExpectedUnsupported(
        leg=Leg(transport, revision), scenario=scenario, explanation=explanation
    )
