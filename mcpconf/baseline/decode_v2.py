"""Read version 2: every expected failure with its reason, class, and date."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from mcpconf.baseline import field, rule
from mcpconf.baseline.decode_v2_checks import Checks, read_checks
from mcpconf.baseline.entry import (
    Baseline,
    CheckPolicy,
    ExpectedFailure,
    Scope,
    SuiteIdentity,
    WarningRules,
)
from mcpconf.baseline.known import (
    KnownChecks,
    did_you_mean,
    pinned_git_ref,
    warning_refs,
)
from mcpconf.errors import DecodeError
from mcpconf.identity import (
    HTTP,
    LABELS,
    OFFICIAL_HTTP,
    STDIO,
    CheckIdentity,
    Leg,
)
from mcpconf.origin import role_of
from mcpconf.record import RevisionPolicy, Role
from mcpconf.revision import Revision

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

    from mcpconf.baseline.problem import Problems
    from mcpconf.decode import Reader
    from mcpconf.suite.catalogue import Catalogue

_KEYS = (
    "baselineKind",
    "role",
    "client",
    "suite",
    "automaticAuthRequired",
    "modernFeatureEnablement",
    "revisionPolicy",
    "warnings",
    "shipping",
    "scope",
    "checks",
)
_NO_SUITE = SuiteIdentity(repository=None, git_ref="")
_NONE: tuple[str, ...] = ()
_NO_SCOPE = Scope(revisions=(), transports=(), sources=(), authentication=True)


def decode_v2(
    reader: Reader,
    problems: Problems,
    catalogue: Catalogue,
    today: dt.date,
    *,
    is_forerunner: bool,
) -> Baseline:
    """
    What a file says; nothing of it may be used unless `problems` stays empty.

    Of a forerunner only the reasons are wanted: it may name what no longer exists.
    """
    problems.only(reader, *_KEYS)
    client, client_version = problems.read(reader, "client", _client, ("", ""))
    suite = problems.read(reader, "suite", field.suite, _NO_SUITE)
    warnings = problems.read(reader, "warnings", _warnings, WarningRules())
    scope = replace(
        problems.read(reader, "scope", _scope, _NO_SCOPE), role=_role(reader, problems)
    )
    ships = field.words(*field.REVISIONS)
    shipping = problems.read(reader, "shipping", ships, _NONE)
    checks = read_checks(reader, problems, today)
    # A baseline of another catalogue is read, so that the gate can say which is which;
    # its lists of scenarios and ids cannot be judged by this one. Where only the build
    # differs, the scenarios are the catalogue's and the check ids need not be.
    is_ours = suite.catalogue == catalogue.digest and not is_forerunner
    is_pinned = is_ours and suite.git_ref == pinned_git_ref(catalogue)
    ours = () if is_forerunner else (STDIO, HTTP)
    known = KnownChecks(
        catalogue=catalogue, client=client, transports=LABELS if is_pinned else ours
    )
    if scope.labels and client:
        scenarios = _scenarios(scope, checks, catalogue if is_ours else None)
        _judge(problems, checks, known, scope, scenarios)
    else:
        scenarios = {}
    if is_pinned:
        _known_warnings(problems, warnings, catalogue)
    states = [(where, each.identity, each.state) for where, each in checks.failing]
    rule.green_where_shipping(problems, states, shipping, warnings)
    feature = field.exactly(True, "must be true: a run without it is not compared")  # noqa: FBT003 (a JSON value)
    problems.read(reader, "modernFeatureEnablement", feature, None)
    policies = field.word(*(each.value for each in RevisionPolicy))
    return Baseline(
        version=2,
        client=client,
        client_version=client_version,
        suite=suite,
        strict_auth=problems.read(
            reader, "automaticAuthRequired", lambda each: each.boolean(), fallback=False
        ),
        scope=scope,
        scenarios=scenarios,
        passing=rule.unique(problems, checks.passing),
        failing=_by_identity(problems, checks),
        unsupported=tuple(entry for _, entry in checks.unsupported),
        warnings=warnings,
        revision_policy=problems.read(reader, "revisionPolicy", policies, ""),
        shipping=shipping,
    )


def _client(reader: Reader) -> tuple[str, str]:
    reader.only("name", "version")
    return field.text(reader.key("name")), field.text(reader.key("version"))


def _role(reader: Reader, problems: Problems) -> Role:
    try:
        return role_of(reader)
    except DecodeError as error:
        problems.add(error.where, error.problem)
        return Role.CLIENT


def _warnings(reader: Reader) -> WarningRules:
    reader.only("default", "checks")
    policy = field.word(*(each.value for each in CheckPolicy))
    return WarningRules(
        default=CheckPolicy(policy(reader.key("default"))),
        checks={
            ref: CheckPolicy(policy(each))
            for ref, each in reader.key("checks").members()
        },
    )


def _known_warnings(
    problems: Problems, warnings: WarningRules, catalogue: Catalogue
) -> None:
    refs = warning_refs(catalogue)
    for ref in warnings.checks:
        if ref not in refs:
            hint = did_you_mean(ref, refs)
            problems.add(f"warnings.checks.{ref}", f"no check is called so{hint}")


def _scope(reader: Reader) -> Scope:
    reader.only("revisions", "transports", "sources", "authentication")
    sources = ("official", "supplemental")
    transports = reader.key("transports")
    scope = Scope(
        revisions=field.some(field.words(*field.REVISIONS))(reader.key("revisions")),
        transports=field.some(field.words(*LABELS))(transports),
        sources=field.some(field.words(*sources))(reader.key("sources")),
        authentication=reader.key("authentication").boolean(),
    )
    if {HTTP, OFFICIAL_HTTP} <= {*scope.transports}:
        transports.fail(f"{HTTP} holds {OFFICIAL_HTTP} already")
    if not scope.labels:
        reader.fail("holds no leg: the suite's scenarios run over HTTP alone")
    return scope


def _scenarios(
    scope: Scope, checks: Checks, catalogue: Catalogue | None
) -> Mapping[str, tuple[str, ...]]:
    """The suite's scored scenarios; those of the entries where no catalogue is ours."""
    if OFFICIAL_HTTP not in scope.labels:
        return {}
    if catalogue is not None:
        return {
            each: catalogue.scored(Revision(each), authentication=scope.authentication)
            for each in scope.revisions
        }
    named = {
        (identity.revision, identity.scenario)
        for _, identity in (*checks.passing, *checks.placed_failing)
        if identity.transport == OFFICIAL_HTTP and identity.source != "supplemental"
    } | {(each.leg.revision, each.scenario) for _, each in checks.unsupported}
    return {
        revision: tuple(sorted(name for where, name in named if where == revision))
        for revision in scope.revisions
    }


def _judge(
    problems: Problems,
    checks: Checks,
    known: KnownChecks,
    scope: Scope,
    scenarios: Mapping[str, tuple[str, ...]],
) -> None:
    placed = [*checks.passing, *checks.placed_failing]
    rule.possible(problems, placed, known, scope, scenarios)
    places = rule.places_of(placed)
    seen = {(leg, name) for leg, source, name in places if rule.is_suites(leg, source)}
    listed: set[tuple[Leg, str]] = set()
    for where, entry in checks.unsupported:
        place = (entry.leg, entry.scenario)
        problem = (
            rule.outside(entry.leg, scope)
            or known.scenario_problem(entry.leg, entry.scenario, "official")
            or rule.not_listed(entry.leg.revision, entry.scenario, scenarios)
        )
        if problem is not None:
            problems.add(where, problem)
        elif place in listed:
            problems.add(where, f"{entry.leg} / {entry.scenario} is listed already")
        elif place in seen:
            problems.add(where, f"{entry.scenario!r} has checks at {entry.leg} as well")
        listed.add(place)
    rule.whole(problems, places, listed, scope, scenarios)


def _by_identity(
    problems: Problems, checks: Checks
) -> Mapping[CheckIdentity, ExpectedFailure]:
    rule.unique(problems, checks.placed_failing)
    return {entry.identity: entry for _, entry in checks.failing}
