"""
Why a baseline and a report cannot be held against each other at all.

Each sentence says which side is meant, which entry, and what to do. Nothing is compared
by guess: a wrong suite, client or catalogue would turn every answer into noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.baseline.legs import legs_of
from mcpconf.baseline.rule import is_shipping_failure
from mcpconf.client.manifest import manifest_of
from mcpconf.identity import OFFICIAL_HTTP
from mcpconf.record import Attribution, Source
from mcpconf.revision import Revision
from mcpconf.selection import select

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from mcpconf.baseline.entry import Baseline, CheckState
    from mcpconf.gate_scope import Comparison
    from mcpconf.identity import CheckIdentity
    from mcpconf.observed import ObservedCheck, ObservedRun
    from mcpconf.suite.catalogue import Catalogue

_AGAIN = "extract a new baseline from a whole run (`invoke baseline.extract`)"
_SUBJECT = Attribution.SUBJECT.value
_RUN = "run again with this version"


def configuration_errors(comparison: Comparison) -> tuple[str, ...]:
    """Every reason at once: of both sides, the baseline's, the report's."""
    baseline, run = comparison.baseline, comparison.run
    return (
        *_between(baseline, run),
        *_of_baseline(baseline),
        # Another suite has other scenarios; that was said.
        *(
            _baseline_lists(baseline, comparison.catalogue)
            if baseline.suite.git_ref == run.suite.git_ref
            else ()
        ),
        *_of_report(run, comparison.catalogue),
        *_shipping(baseline),
        *_nothing_common(comparison),
    )


def _between(baseline: Baseline, run: ObservedRun) -> Iterator[str]:
    """What both sides must have in common."""
    mine, theirs = baseline.suite, run.suite
    is_bound = baseline.version > 1
    how = f"use the same suite, or {_AGAIN}"
    if baseline.version == 1:
        how += "; for one of the original harness see docs/migration.md"
    pairs: list[tuple[str, object, object, str]] = [
        (
            "role",
            baseline.scope.role.value,
            run.scope.role.value,
            "gate a client against a client's baseline, a server against a server's",
        ),
        ("suite", mine.git_ref, theirs.git_ref, how),
    ]
    for what, one, other in (
        ("suite repository", mine.repository, theirs.repository),
        ("suite integrity", mine.integrity, theirs.integrity),
        ("suite catalogue", mine.catalogue, theirs.catalogue),
    ):
        # Version 1 does not say all of it; what it says is held against the report.
        if one is not None or (is_bound and what != "suite repository"):
            pairs.append((what, one, other, how))
    if baseline.client is not None:
        role = baseline.scope.role.value
        how = f"gate each {role} against its own baseline"
        pairs.append((role, baseline.client, run.client, how))
    modes = {True: "strict (--require-automatic-auth)", False: "assisted"}
    how = "run in the baseline's mode, or use the other mode's baseline"
    pairs += [
        ("auth mode", modes[baseline.strict_auth], modes[run.strict_auth], how),
        (
            "revision policy",
            baseline.revision_policy,
            run.revision_policy,
            "run with the baseline's --revision-policy",
        ),
        (
            "policy for warnings",
            baseline.warnings.default.value,
            run.warnings,
            "run with the baseline's --warnings",
        ),
    ]
    for what, expected, given, advice in pairs:
        if expected != given:
            yield f"baseline and report: {what} is {expected} and {given}; {advice}"


def _of_baseline(baseline: Baseline) -> Iterator[str]:
    """It must be complete for the scope it names."""
    legs = legs_of(baseline.scope)
    if not legs:
        yield f"baseline: its scope holds no leg at all; {_AGAIN}"
    identities = (*baseline.passing, *baseline.failing)
    filled = {(each.transport, each.revision) for each in identities}
    empty = [leg for leg in sorted(legs) if (leg.transport, leg.revision) not in filled]
    for leg in empty:
        yield f"baseline: holds no check of {leg}, which its scope names; {_AGAIN}"
    names = {(each.transport, each.revision) for each in legs}
    for transport, revision in sorted(filled - names):
        yield (
            f"baseline: holds checks of {transport} {revision}, which its scope leaves "
            f"out; take them out, or {_AGAIN}"
        )


def _baseline_lists(baseline: Baseline, catalogue: Catalogue) -> Iterator[str]:
    """It holds every scenario of the suite that counts, and no other."""
    legs = legs_of(baseline.scope)
    official = [leg.revision for leg in sorted(legs) if leg.transport == OFFICIAL_HTTP]
    seen = _official_scenarios((*baseline.passing, *baseline.failing))
    for revision in official:
        wanted = catalogue.scored(
            Revision(revision), authentication=baseline.scope.authentication
        )
        listed = baseline.scenarios.get(revision, ())
        yield from _same_list("baseline", revision, listed, wanted, _AGAIN)
        known = seen.get(revision, set())
        unsupported = {
            each.scenario
            for each in baseline.unsupported
            if each.leg.revision == revision
        }
        for name in wanted:
            if name not in known | unsupported:
                yield (
                    f"baseline: holds no check of {OFFICIAL_HTTP} {revision} / {name}, "
                    f"neither passing nor failing; {_AGAIN}"
                )
        for name in sorted((known | unsupported) - set(wanted)):
            yield (
                f"baseline: {OFFICIAL_HTTP} {revision} / {name} is no scenario that "
                f"counts there; take its entries out, or {_AGAIN}"
            )


def _official_scenarios(
    identities: Iterable[CheckIdentity],
) -> dict[str, set[str]]:
    """By revision, what the suite's own and the harness's checks are of."""
    found: dict[str, set[str]] = {}
    for each in identities:
        if each.transport == OFFICIAL_HTTP and each.source != "supplemental":
            found.setdefault(each.revision, set()).add(each.scenario)
    return found


def _same_list(
    side: str, revision: str, listed: Sequence[str], wanted: Sequence[str], how: str
) -> Iterator[str]:
    if tuple(listed) == tuple(wanted):
        return
    lacking = [name for name in wanted if name not in listed]
    beyond = [name for name in listed if name not in wanted]
    problems = [f"lacks {', '.join(lacking)}"] if lacking else []
    problems += [f"has {', '.join(beyond)} beyond it"] if beyond else []
    what = " and ".join(problems) or "has them in another order, or twice"
    yield (
        f"{side}: its list of {revision} scenarios is not the catalogue's: it {what}; "
        f"{how}"
    )


def _of_report(run: ObservedRun, catalogue: Catalogue) -> Iterator[str]:
    """A report must hold what its selection says it does."""
    if not run.version_checked:
        yield "report: the program did not tell its version; see `versionCheck`"
    if not run.modern_feature:
        yield "report: the modern feature was not enabled; run again with it"
    if run.suite.catalogue != catalogue.digest:
        yield (
            f"report: made with the catalogue {run.suite.catalogue}, and this version "
            f"has {catalogue.digest}; {_RUN}"
        )
    claimed = legs_of(run.scope)
    present = {each.leg for each in run.cases}
    if not run.selected and run.shard is None:
        for leg in sorted(claimed - present):
            yield f"report: the case {leg} is missing; {_RUN}"
    for leg in sorted(present - claimed):
        yield f"report: has a case {leg}, which its selection leaves out; {_RUN}"
    known = {each.scenario for each in run.cases}
    for name in run.selected:
        if name not in known and run.shard is None:
            yield f"report: {name} was asked for and has no result; {_RUN}"
    yield from _report_lists(run, catalogue)
    if run.shard is not None:
        yield from _of_shard(run, catalogue)


def _of_shard(run: ObservedRun, catalogue: Catalogue) -> Iterator[str]:
    """A shard has every case that is its own, and no other."""
    variants = manifest_of(run.scope.role, run.client).variants
    planned = {
        (
            OFFICIAL_HTTP if key.source is Source.OFFICIAL else key.transport.value,
            key.revision.value,
            key.scenario,
            key.variant,
        )
        for key in (each.key for each in select(run.selection, catalogue, variants))
    }
    ran = {
        (each.leg.transport, each.leg.revision, each.scenario, each.variant)
        for each in run.cases
    }
    for what, odd in (("lacks", planned - ran), ("has too much", ran - planned)):
        names = sorted(f"{leg} {revision} / {name}" for leg, revision, name, _ in odd)
        if names:
            more = f" and {len(names) - 1} more" if names[1:] else ""
            yield f"report: the shard {what}: {names[0]}{more}; {_RUN}"


def _report_lists(run: ObservedRun, catalogue: Catalogue) -> Iterator[str]:
    ran: dict[str, list[str]] = {}
    for each in run.cases:
        if each.is_scored and each.leg.transport == OFFICIAL_HTTP:
            ran.setdefault(each.leg.revision, []).append(each.scenario)
    is_official = OFFICIAL_HTTP in run.scope.labels
    for revision in sorted({*run.scenarios, *ran, *run.scope.revisions}):
        listed = run.scenarios.get(revision, ())
        wanted: tuple[str, ...] = ()
        if is_official and revision in run.scope.revisions:
            wanted = catalogue.scored(
                Revision(revision), authentication=run.scope.authentication
            )
        if run.selected:
            wanted = tuple(name for name in wanted if name in run.selected)
        if run.shard is not None:
            wanted = tuple(name for name in wanted if name in listed)
        yield from _same_list("report", revision, listed, wanted, _RUN)
        results = ran.get(revision, [])
        if list(listed) != results:
            odd = sorted(set(listed) ^ set(results))
            names = ", ".join(odd) or "the order"
            yield (
                f"report: its list of {revision} scenarios and its results differ in "
                f"{names}; {_RUN}"
            )


def _shipping(baseline: Baseline) -> Iterator[str]:
    """What ships must be green: no baseline may accept a failure there."""
    for identity, entry in sorted(baseline.failing.items()):
        if _ships_broken(baseline, identity, entry.state):
            yield (
                f"baseline: {identity} is expected to fail, and {identity.revision} is "
                "a shipping revision, which must be green; mend it, or extract a "
                "baseline with `--shipping none`, or without that revision"
            )


def _ships_broken(
    baseline: Baseline, identity: CheckIdentity, state: CheckState
) -> bool:
    return is_shipping_failure(identity, state, baseline.shipping, baseline.warnings)


def shipping_failures(comparison: Comparison) -> Iterator[str]:
    """What a run has at a shipping revision that must be green: worse than new."""
    baseline, run = comparison.baseline, comparison.run
    red = [
        each
        for identity, each in run.checks.items()
        if _is_told(each)
        and _ships_broken(baseline, identity, each.worst)
        and comparison.covers(identity)
    ]
    for each in sorted(red, key=lambda check: check.identity):
        yield (
            f"{each.identity} fails, and {each.identity.revision} is a shipping "
            "revision, which must be green"
        )


def _is_told(check: ObservedCheck) -> bool:
    """Whether a failure is the client's and stands; else it is flaky, or a hole."""
    return check.attribution == _SUBJECT and not check.is_flaky


def _nothing_common(comparison: Comparison) -> Iterator[str]:
    baseline = comparison.baseline
    is_common = (
        any(map(comparison.covers, baseline.passing))
        or any(map(comparison.covers, baseline.failing))
        or any(
            comparison.covers_case((each.leg, each.scenario, None))
            for each in baseline.unsupported
        )
    )
    if not is_common:
        yield (
            "baseline and report: have nothing in common, so nothing was compared; "
            "run a part that the baseline holds"
        )
