"""
Which cases of a run are run again, for which checks, and what comes of it.

``reruns.json`` is written before each round, so that a stored run gives the same report
again: it says what was unexpected, which only the baseline of that day knew. Nothing is
started here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mcpconf import flake
from mcpconf.decode import Json, Reader, load_json
from mcpconf.evidence import MAX_ROUNDS
from mcpconf.identity import SOURCES
from mcpconf.report_assembly import LABELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from mcpconf.flake import CheckName
    from mcpconf.gate_record import UnexpectedCase
    from mcpconf.ours import Case
    from mcpconf.record import CaseKey, ScenarioResult

SCHEMA = 1
#: So many unexpected cases are no flake but a change, and running them again costs up
#: to a minute each: nothing is run again then. It is well above every budget of flaky
#: cases (2, unless one asks for another), and a fourteenth of all cases.
MAX_CASES = 25


@dataclass(frozen=True, slots=True, kw_only=True)
class Reruns:
    """What a run that is held against a baseline is told."""

    #: From the value of a report, which is not closed yet, to what is unexpected in it.
    unexpected: Callable[[dict[str, Any]], Sequence[UnexpectedCase]]
    #: The baseline's file name, and ``sha256:`` of it.
    baseline: str
    digest: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One case to run again, and the checks that it is about."""

    key: CaseKey
    #: Empty where a case crashed of which no check was expected to pass: a rerun shows
    #: more of it, and rescues nothing.
    checks: frozenset[CheckName]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """``reruns.json``."""

    baseline: str
    digest: str
    #: At most `mcpconf.evidence.MAX_ROUNDS`; each holds cases of the one before.
    rounds: tuple[tuple[Entry, ...], ...] = ()
    #: Why nothing is run again, where something was unexpected.
    note: str | None = None

    def to_json(self) -> Json:
        """The stored form."""
        return {
            "schema": SCHEMA,
            "baseline": {"name": self.baseline, "digest": self.digest},
            "rounds": [
                [
                    {
                        "case": entry.key.to_json(),
                        "checks": [list(name) for name in sorted(entry.checks)],
                    }
                    for entry in entries
                ]
                for entries in self.rounds
            ],
            "note": self.note,
        }


def load_plan(path: Path, keys: Iterable[CaseKey]) -> Plan:
    """
    Read a stored plan of the run whose cases are `keys`.

    :raises DecodeError: malformed, or it names a case or check that it cannot mean.
    """
    reader = Reader(load_json(path), path).only("schema", "baseline", "rounds", "note")
    if reader.key("schema").integer() != SCHEMA:
        reader.key("schema").fail(f"this version reads reruns schema {SCHEMA}")
    baseline, note = reader.key("baseline").only("name", "digest"), reader.get("note")
    known = {tuple(key.to_json().items()): key for key in keys}
    rounds: list[tuple[Entry, ...]] = []
    for each in reader.key("rounds").items():
        before = {entry.key: entry.checks for entry in rounds[-1]} if rounds else None
        if len(rounds) == MAX_ROUNDS:
            each.fail(f"nothing is run again more than {MAX_ROUNDS} times")
        rounds.append(_round(each, known, before))
    return Plan(
        baseline=baseline.key("name").string(),
        digest=baseline.key("digest").string(),
        rounds=tuple(rounds),
        note=note.string() if note else None,
    )


def planned(
    reruns: Reruns,
    cases: Sequence[Case],
    results: Mapping[str, ScenarioResult],
    report: dict[str, Any],
) -> Plan | None:
    """
    The first round, in the order of `cases`; None when nothing is to be confirmed.

    A case that has no result was not run, and is not run again either.
    """
    wanted: dict[tuple[str, str, str, str | None], set[CheckName]] = {}
    for each in reruns.unexpected(report):
        place = (each.leg.transport, each.leg.revision, each.scenario, each.variant)
        wanted.setdefault(place, set()).update(
            (check.source, check.check_id) for check in each.checks
        )
    entries = tuple(
        Entry(case.key, frozenset(checks))
        for case in cases
        if str(case.key) in results
        and (checks := wanted.get(_place(case.key))) is not None
    )
    if not entries:
        return None
    plan = Plan(baseline=reruns.baseline, digest=reruns.digest)
    if len(entries) > MAX_CASES:
        note = (
            f"{len(entries)} cases are not as {reruns.baseline} expects them, more "
            f"than {MAX_CASES}: that is no flake, and none of them is run again"
        )
        return replace(plan, note=note)
    return replace(plan, rounds=(entries,))


def extended(
    plan: Plan,
    cases: Sequence[Case],
    results: Mapping[str, ScenarioResult],
    again: Sequence[Mapping[str, ScenarioResult]],
) -> Plan:
    """The plan with one more round: time is measured in these, and they are bad yet."""
    if len(plan.rounds) == MAX_ROUNDS:
        return plan
    sensitive = {case.key for case in cases if case.timing_sensitive}
    entries = []
    for entry in plan.rounds[-1]:
        if entry.key in sensitive:
            first, later = _launches(entry.key, results, again)
            checks = entry.checks - flake.rescued(first, later, entry.checks)
            if checks:
                entries.append(Entry(entry.key, checks))
    return replace(plan, rounds=(*plan.rounds, tuple(entries))) if entries else plan


def confirmed(
    plan: Plan,
    results: Mapping[str, ScenarioResult],
    again: Sequence[Mapping[str, ScenarioResult]],
) -> dict[str, ScenarioResult]:
    """The first results, each with what its reruns showed; `again` is by round."""
    found = dict(results)
    for entry in plan.rounds[0] if plan.rounds else ():
        if str(entry.key) in results:
            first, later = _launches(entry.key, results, again)
            found[str(entry.key)] = flake.combined(first, later, entry.checks)
    return found


def _launches(
    key: CaseKey,
    results: Mapping[str, ScenarioResult],
    again: Sequence[Mapping[str, ScenarioResult]],
) -> tuple[ScenarioResult, list[ScenarioResult]]:
    name = str(key)
    return results[name], [each[name] for each in again if name in each]


def _place(key: CaseKey) -> tuple[str, str, str, str | None]:
    label = LABELS[key.source, key.transport]
    return label, key.revision.value, key.scenario, key.variant


def _round(
    reader: Reader,
    known: Mapping[tuple[tuple[str, Json], ...], CaseKey],
    before: Mapping[CaseKey, frozenset[CheckName]] | None,
) -> tuple[Entry, ...]:
    entries: dict[CaseKey, Entry] = {}
    for each in reader.items():
        case = each.only("case", "checks").key("case")
        names = ("source", "transport", "revision", "scenario", "variant")
        members = case.only(*names).object()
        key = known.get(tuple((name, _text(members.get(name))) for name in names))
        if key is None:
            case.fail("is no case of this run")
        if key in entries:
            case.fail(f"{key} is there twice")
        checks = frozenset(_name(name) for name in each.key("checks").items())
        # Without checks nothing is left to confirm.
        earlier = checks if before is None else before.get(key, frozenset())
        if not checks <= earlier or (before is not None and not checks):
            each.fail(f"{key} was not run again for these checks before")
        entries[key] = Entry(key, checks)
    return tuple(entries.values())


def _text(value: Json) -> str | None:
    """What no case has where it is not a text."""
    return value if isinstance(value, str) or value is None else repr(value)


def _name(reader: Reader) -> CheckName:
    words = reader.strings()
    if len(words) != 2 or words[0] not in SOURCES:  # noqa: PLR2004 (a pair)
        reader.fail(f"is no pair of a source ({', '.join(SOURCES)}) and a check id")
    return words[0], words[1]
