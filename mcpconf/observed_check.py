"""
The checks of one case of a report, read strictly and merged by identity.

A report may be edited by hand, and may hold a hundred thousand checks. So every check
is held against what reports can say, in one pass, without a JSON Schema: a status that
its other members contradict is refused, never believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from mcpconf.baseline.entry import CheckState
from mcpconf.decode import Reader
from mcpconf.errors import DecodeError
from mcpconf.identity import OFFICIAL_HTTP, SOURCES, CheckIdentity, stable_name
from mcpconf.record import (
    QUIET,
    UNEARNED,
    Attribution,
    Outcome,
    ReportStatus,
    WarningPolicy,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpconf.decode import Json
    from mcpconf.identity import Leg

    #: Scenario and variant.
    CaseKey = tuple[str, str | None]

#: Mildest first: of several observations the last one counts.
SEVERITY = (
    Outcome.PASSED,
    Outcome.NOT_APPLICABLE,
    Outcome.UNSUPPORTED,
    Outcome.FLAKY,
    Outcome.FAILED,
    Outcome.UNOBSERVED,
    Outcome.TIMED_OUT,
    Outcome.CRASHED,
    Outcome.SUITE_DEFECT,
    Outcome.HARNESS_ERROR,
    Outcome.NOT_RUN,
)
_ORDER = (CheckState.FAIL, CheckState.WARNING, CheckState.PASS, CheckState.SKIP)
_BAD = frozenset({CheckState.FAIL, CheckState.WARNING})
_PASS, _FAIL, _SKIP = (each.value for each in ReportStatus)
#: What may be reported of what was said, but for checks that were rescued.
_MAY_BE = {
    "SUCCESS": (_PASS, _SKIP),
    "SKIPPED": (_SKIP,),
    "WARNING": (_FAIL, _SKIP),
    "FAILURE": (_FAIL, _SKIP),
}
#: Members of a check that are one of a few words, or absent.
_MEMBERS = {
    "status": frozenset({_PASS, _FAIL, _SKIP}),
    "source": frozenset(SOURCES),
    "suite_status": frozenset(_MAY_BE),
    "outcome": frozenset(each.value for each in Outcome),
    "attribution": frozenset(each.value for each in Attribution),
    "level": frozenset({"MUST", "SHOULD", "POLICY"}),
}


class ObservedCheck(NamedTuple):
    """
    Every observation of one check in one report, merged.

    A tuple, because a report has a hundred thousand of them.
    """

    identity: CheckIdentity
    #: Repeats of one check merge into a set, as in the original.
    states: frozenset[CheckState]
    #: The worst outcome it, or its scenario, had.
    outcome: str
    #: Whose doing it is where it fails.
    attribution: str | None
    #: Failed, then passed when run again alone: its states have FAIL all the same.
    is_flaky: bool
    detail: str
    reproduce: str | None
    pages: tuple[str, ...]
    level: str | None

    @property
    def worst(self) -> CheckState:
        """FAIL before WARNING before PASS before SKIP."""
        return next(each for each in _ORDER if each in self.states)


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """The scenario that a check was made in."""

    outcome: Outcome
    #: The outcome again: an enumeration's member is slow to look up by.
    word: str
    reproduce: str
    #: False: its checks are among the ``notScored``.
    counts: bool
    #: Nothing can be flaky where nothing was run again.
    was_rerun: bool


class _Ruling(NamedTuple):
    """What the words of a check amount to; a report has few combinations of them."""

    states: frozenset[CheckState]
    outcome: str
    attribution: str | None
    is_flaky: bool
    level: str | None


class _MalformedError(Exception):
    """Why a check is none; its place is known to whoever counts."""


class CheckReader:
    """Reads the checks of one case."""

    def __init__(
        self,
        case: Reader,
        leg: Leg,
        hosts: Mapping[CaseKey, Host],
        warnings: WarningPolicy,
    ) -> None:
        """`hosts` are the case's scenarios, by name and variant."""
        self._case, self._leg, self._hosts = case, leg, hosts
        self._warnings = warnings
        self._is_suites = leg.transport == OFFICIAL_HTTP
        self._rulings: dict[tuple[Json, ...], _Ruling] = {}
        self._pages: dict[tuple[Json, ...], tuple[str, ...]] = {}

    def read(
        self,
        chunks: Iterable[Json],
        name: str,
        found: dict[CheckIdentity, ObservedCheck],
    ) -> set[CaseKey]:
        """
        Add the checks of one list to `found`; say which scenarios they are of.

        :raises DecodeError: a check no report of ours can hold.
        """
        seen: set[CaseKey] = set()
        place = f"{self._case.where}.{name}"
        index = 0
        for values in chunks:
            if not isinstance(values, list):
                Reader(values, self._case.source, place).fail("is not an array")
            for value in values:
                try:
                    key, check = self._read(value, counts=name == "checks")
                except _MalformedError as error:
                    where = f"{place}[{index}]"
                    raise DecodeError(self._case.source, where, str(error)) from None
                index += 1
                seen.add(key)
                known = found.setdefault(check.identity, check)
                if known is not check:
                    found[check.identity] = merged(known, check)
        return seen

    def _read(self, value: Json, *, counts: bool) -> tuple[CaseKey, ObservedCheck]:
        if not isinstance(value, dict):
            raise _MalformedError("is not an object")
        get = value.get
        name, detail, source = get("name"), get("detail"), get("source")
        scenario, check_id = get("scenario"), get("check_id")
        if not (
            isinstance(name, str)
            and isinstance(detail, str)
            and isinstance(source, str)
            and isinstance(scenario, str)
            and (check_id is None or (isinstance(check_id, str) and check_id))
            and name
            and scenario
        ):
            raise _MalformedError(
                f"{name!r}: name, detail, source, scenario and check_id are strings, "
                "not empty; check_id may be null for the harness's own"
            )
        is_variants = self._is_suites and source == "supplemental"
        key = (scenario, check_id if is_variants else None)
        host = self._hosts.get(key)
        if host is None or host.counts is not counts:
            raise _MalformedError(f"{name}: {_misplaced(key, host)}")
        words = (
            get("status"),
            source,
            get("suite_status"),
            get("outcome"),
            get("attribution"),
            get("level"),
            check_id is None,
            is_variants,
            host.word,
            host.was_rerun,
        )
        if get("success") is not (words[0] != _FAIL):
            raise _MalformedError(f"{name}: success contradicts status {words[0]!r}")
        try:
            ruling = self._rulings.get(words)
        except TypeError:  # a list or an object where there should be a word
            raise _MalformedError(f"{name}: a member that is a word is none") from None
        if ruling is None:
            problem = _unknown(value) or self._problem(value, host)
            if problem is not None:
                raise _MalformedError(f"{name}: {problem}")
            ruling = self._rulings[words] = _ruling(value, host)
        return key, ObservedCheck(
            identity=CheckIdentity(
                self._leg.revision,
                self._leg.transport,
                source,
                scenario,
                stable_name(name) if check_id is None else check_id,
            ),
            states=ruling.states,
            outcome=ruling.outcome,
            attribution=ruling.attribution,
            is_flaky=ruling.is_flaky,
            detail=detail,
            reproduce=host.reproduce,
            pages=self._shared(get("pages"), name),
            level=ruling.level,
        )

    def _shared(self, pages: Json, name: str) -> tuple[str, ...]:
        """The pages of a check; many checks cite the same."""
        if pages is None:
            return ()
        try:
            key = tuple(pages) if isinstance(pages, list) else (None,)
            known = self._pages.get(key)
        except TypeError:  # not even words
            known, key = None, (None,)
        if known is not None:
            return known
        words = tuple(each for each in key if isinstance(each, str))
        if words == key:
            return self._pages.setdefault(key, words)
        raise _MalformedError(f"{name}: pages is not an array of strings")

    def _problem(self, value: Mapping[str, Json], host: Host) -> str | None:
        """What a check lacks, or where its status is not what its words lead to."""
        status, source = value["status"], value["source"]
        own, said = value.get("outcome"), value.get("suite_status")
        outcome = host.outcome if own is None else Outcome(str(own))
        problem = None
        if value.get("check_id") is None and source != "harness":
            problem = "check_id is missing"
        elif source == "official" and not self._is_suites:
            problem = "is an official check in a case of ours"
        elif source == "official" and said is None:
            problem = "suite_status is missing"
        elif status == _FAIL and value.get("attribution") is None:
            problem = "attribution is missing"
        elif own == Outcome.FLAKY.value:
            if status != _FAIL:
                problem = f"is flaky, and its status is {status}"
            elif not host.was_rerun:
                problem = "is flaky, and its scenario was not run again"
        elif said is not None:
            problem = self._contradiction(str(status), str(said), outcome)
        elif (
            self._is_suites
            and source == "supplemental"  # a variant's one check is its scenario
            and status != outcome.report_status.value
        ):
            problem = f"status {status} contradicts outcome {outcome.value}"
        return problem

    def _contradiction(self, status: str, said: str, outcome: Outcome) -> str | None:
        is_skipped_failure = said in {"FAILURE", "WARNING"} and status == _SKIP
        is_forgiven = said == "WARNING" and self._warnings is WarningPolicy.WARN
        if status not in _MAY_BE[said] or (
            is_skipped_failure and outcome not in QUIET and not is_forgiven
        ):
            return f"status {status} contradicts suite_status {said}"
        if status == _PASS and outcome in UNEARNED:
            return f"status PASS contradicts outcome {outcome.value}"
        return None


def _misplaced(key: CaseKey, host: Host | None) -> str:
    scenario, variant = key
    if host is None:
        more = f" with variant {variant}" if variant else ""
        return f"the case has no scenario {scenario}{more}"
    what = "counts" if host.counts else "does not count"
    return f"is in the wrong list: its scenario {what}"


def _unknown(value: Mapping[str, Json]) -> str | None:
    """The first word of a check that no report has."""
    if value.get("status") is None:
        return "status is missing"
    for member, known in _MEMBERS.items():
        said = value.get(member)
        if said is not None and said not in known:
            return f"{member} {said!r} is unknown"
    return None


def _ruling(value: Mapping[str, Json], host: Host) -> _Ruling:
    own, level = value.get("outcome"), value.get("level")
    attribution = value.get("attribution")
    state = _state_of(value, host.outcome)
    outcome = host.outcome if own is None else Outcome(str(own))
    if own is None and outcome is Outcome.FLAKY:
        # It was not rescued itself, so the scenario's word is not about it.
        outcome = Outcome.FAILED if state in _BAD else Outcome.PASSED
    return _Ruling(
        states=frozenset({state}),
        outcome=outcome.value,
        attribution=None if attribution is None else str(attribution),
        is_flaky=own == Outcome.FLAKY.value,
        level=None if level is None else str(level),
    )


def _state_of(value: Mapping[str, Json], outcome: Outcome) -> CheckState:
    status = value["status"]
    if status == _PASS:
        return CheckState.PASS
    if value.get("suite_status") == "WARNING":
        own = value.get("outcome")
        word = outcome if own is None else Outcome(str(own))
        if status == _FAIL or word not in QUIET:
            return CheckState.WARNING
    return CheckState.FAIL if status == _FAIL else CheckState.SKIP


def merged(one: ObservedCheck, other: ObservedCheck) -> ObservedCheck:
    """Both observations of one check: all states, and the words of the worst."""
    pair = (one, other)
    worst = min(
        pair,
        key=lambda each: (
            _ORDER.index(each.worst),
            each.detail,
            each.attribution or "",
        ),
    )
    severity = max(SEVERITY.index(Outcome(each.outcome)) for each in pair)
    bad = [each for each in pair if each.states & _BAD]
    return worst._replace(
        states=one.states | other.states,
        outcome=SEVERITY[severity].value,
        # One failure that was not rescued is a failure.
        is_flaky=bool(bad) and all(each.is_flaky for each in bad),
        pages=tuple(sorted({*one.pages, *other.pages})),
        level=min(filter(None, (one.level, other.level)), default=None),
    )
