"""
Make a baseline of what a report says, and carry over what people wrote in an older one.

Only a run that says something of every check can be one: a hole in it would become a
check that nobody misses. Why each entry is there is a person's to say; until then it is
marked.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from mcpconf.baseline.decode import from_json
from mcpconf.baseline.decode_v1 import SCOPE, SHIPPING
from mcpconf.baseline.encode import to_json
from mcpconf.baseline.entry import (
    UNREASONED,
    Baseline,
    CheckPolicy,
    CheckState,
    ExpectedFailure,
    ExpectedUnsupported,
    Explanation,
    FailureClass,
    SuiteIdentity,
    WarningRules,
)
from mcpconf.baseline.fit import (
    clipped,
    mismatched,
    unfit,
    unfit_for_version_1,
    unsupported_scenarios,
)
from mcpconf.baseline.rule import is_shipping_failure
from mcpconf.errors import DecodeError, UsageError
from mcpconf.record import Role

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Mapping, Sequence

    from mcpconf.identity import CheckIdentity
    from mcpconf.observed import ObservedRun
    from mcpconf.suite.catalogue import Catalogue

Entry: TypeAlias = ExpectedFailure | ExpectedUnsupported


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """A baseline, and what became of the entries of the one before it; all sorted."""

    baseline: Baseline
    #: Entries whose reviewed explanation comes from the older baseline.
    carried: tuple[Entry, ...]
    #: Those of them that now fail in another way, so that the reason may not hold.
    changed: tuple[Entry, ...]
    #: Entries without a reviewed reason; none in version 1, which has no reasons.
    unreasoned: tuple[Entry, ...]
    #: Entries of the older baseline that are expected no more.
    dropped: tuple[Entry, ...]
    #: Checks that the older baseline has as passing, and this one has not.
    lost: tuple[CheckIdentity, ...]


def extract(
    run: ObservedRun,
    *,
    version: int,
    older: Baseline | None,
    catalogue: Catalogue,
    today: dt.date,
    shipping: Sequence[str] | None = None,
) -> Extraction:
    """
    The baseline of one report, with the explanations of an older one.

    `today` is a UTC date. `shipping` names the revisions that must be green; None keeps
    the older baseline's, or the original's.

    :raises UsageError: the report cannot be a baseline, or the older one is of
        something else; every reason at once, each with what to do.
    """
    reasons = [*unfit(run), *mismatched(run, version, older)]
    if version == 1:
        reasons += unfit_for_version_1(run, shipping)
    if reasons:
        raise UsageError(f"the report cannot become a baseline: {'; '.join(reasons)}")
    made = _made(run, version, older, shipping)
    red = [
        f"{entry.identity} fails, and {entry.identity.revision} ships"
        for entry in made.failing.values()
        if is_shipping_failure(
            entry.identity, entry.state, made.shipping, made.warnings
        )
    ]
    if red:
        raise UsageError(
            f"what ships must be green: {'; '.join(clipped(sorted(red)))};"
            " mend them, or name other shipping revisions (version 2 alone can)"
        )
    try:
        # What is written can be read again, by the same rules: there is no way round.
        made = from_json(
            to_json(made), "the new baseline", catalogue=catalogue, today=today
        )
    except DecodeError as error:
        raise UsageError(f"the report cannot become a baseline; {error}") from None
    return _compared(made, older)


def _made(
    run: ObservedRun,
    version: int,
    older: Baseline | None,
    shipping: Sequence[str] | None,
) -> Baseline:
    is_first = version == 1
    checks = [
        each
        for each in run.checks.values()
        if not is_first or each.identity.transport in SCOPE.labels
    ]
    kept = older if older is not None and older.version > 1 else None
    # What ships of a server is told with --shipping; of Codex it is known.
    first = SHIPPING if run.scope.role is Role.CLIENT else ()
    ships = kept.shipping if kept is not None else first
    baseline = Baseline(
        version=version,
        client=None if is_first else run.client,
        client_version=None if is_first else run.client_version,
        suite=(
            SuiteIdentity(repository=run.suite.repository, git_ref=run.suite.git_ref)
            if is_first
            else run.suite
        ),
        strict_auth=run.strict_auth,
        scope=SCOPE if is_first else run.scope,
        scenarios=run.scenarios,
        passing=frozenset(
            each.identity for each in checks if CheckState.PASS in each.states
        ),
        failing={
            each.identity: ExpectedFailure(
                identity=each.identity,
                # The original has one word for both.
                state=CheckState.FAIL if is_first else each.worst,
                outcome="failed" if is_first else each.outcome,
            )
            for each in checks
            if each.worst in {CheckState.FAIL, CheckState.WARNING}
        },
        warnings=(
            kept.warnings
            if kept is not None
            else WarningRules(default=CheckPolicy(run.warnings))
        ),
        revision_policy=run.revision_policy,
        shipping=tuple(ships if shipping is None else shipping),
    )
    return baseline if is_first else _explained(baseline, run, kept)


def _explained(
    baseline: Baseline, run: ObservedRun, older: Baseline | None
) -> Baseline:
    """The same baseline, with the older explanations and marks where there is none."""
    # The day of the report, not of the extraction: extracting again gives equal bytes.
    unknown = unreviewed(run.started_at[:10])
    failing: Mapping[CheckIdentity, ExpectedFailure] = older.failing if older else {}
    unsupported = {
        (each.leg, each.scenario): each.explanation
        for each in (older.unsupported if older else ())
    }
    known = {key: entry.explanation for key, entry in failing.items()}
    return replace(
        baseline,
        failing={
            key: replace(entry, explanation=known.get(key) or unknown)
            for key, entry in baseline.failing.items()
        },
        unsupported=tuple(
            sorted(
                (
                    ExpectedUnsupported(
                        leg=each.leg,
                        scenario=each.scenario,
                        explanation=unsupported.get((each.leg, each.scenario), unknown),
                    )
                    for each in unsupported_scenarios(run)
                ),
                key=lambda each: (each.leg.revision, each.scenario),
            )
        ),
    )


def unreviewed(since: str) -> Explanation:
    """What stands in for an explanation until somebody has looked."""
    return Explanation(
        reason=UNREASONED,
        failure_class=FailureClass.UNREVIEWED,
        link=None,
        since=since,
    )


def _compared(made: Baseline, older: Baseline | None) -> Extraction:
    before = _entries(older) if older is not None else {}
    now = _entries(made)
    carried = [
        key
        for key, entry in now.items()
        # Nothing but an older baseline has reviewed explanations.
        if entry.explanation and entry.explanation.is_reviewed
    ]
    return Extraction(
        baseline=made,
        carried=tuple(now[key] for key in carried),
        changed=tuple(
            now[key] for key in carried if _way(now[key]) != _way(before[key])
        ),
        unreasoned=tuple(
            entry
            for entry in now.values()
            if entry.explanation and not entry.explanation.is_reviewed
        ),
        dropped=tuple(entry for key, entry in before.items() if key not in now),
        lost=tuple(sorted(older.passing - made.passing)) if older is not None else (),
    )


def _way(entry: Entry) -> tuple[str, str]:
    if isinstance(entry, ExpectedUnsupported):
        return "", ""
    return entry.state.value, entry.outcome


def _entries(baseline: Baseline) -> dict[tuple[str, ...], Entry]:
    """Every entry by what it is about: failing first, each group sorted."""
    entries: Iterable[Entry] = (
        *(baseline.failing[each] for each in sorted(baseline.failing)),
        *baseline.unsupported,
    )
    return {label_of(entry): entry for entry in entries}


def label_of(entry: Entry) -> tuple[str, ...]:
    """What an entry is about: leg, source, and scenario with or without check."""
    if isinstance(entry, ExpectedUnsupported):
        return str(entry.leg), "official", entry.scenario
    identity = entry.identity
    return str(identity.leg), identity.source, identity.scenario, identity.check_id
