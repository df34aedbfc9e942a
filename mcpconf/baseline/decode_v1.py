"""
Read version 1: the original harness's compact file, by the original's own rules.

It has no `http` leg, no reasons, and no client; whatever it lists as failing counts as
failed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.baseline import field, rule
from mcpconf.baseline.entry import (
    Baseline,
    CheckState,
    ExpectedFailure,
    Scope,
    SuiteIdentity,
    WarningRules,
)
from mcpconf.baseline.known import KnownChecks, pinned_git_ref
from mcpconf.errors import DecodeError
from mcpconf.identity import LABELS, OFFICIAL_HTTP, STDIO
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.baseline.problem import Problems
    from mcpconf.baseline.rule import Placed
    from mcpconf.decode import Reader
    from mcpconf.suite.catalogue import Catalogue

#: The report schema that the original's baselines belong to.
SCHEMA_VERSION = 4
#: The revision that the original ships.
SHIPPING = ("2025-06-18",)
#: All that a version 1 baseline can be about, which it must be whole.
SCOPE = Scope(
    revisions=field.REVISIONS,
    transports=(STDIO, OFFICIAL_HTTP),
    sources=("official", "supplemental"),
    authentication=True,
)
_OFFICIAL = ("repository", "gitRef", "authenticationIncluded", "scenarios")
_NOTHING: tuple[SuiteIdentity, Mapping[str, tuple[str, ...]]] = (
    SuiteIdentity(repository=None, git_ref=""),
    {},
)
_KEYS = (
    "baselineKind",
    "schemaVersion",
    "requiredModes",
    "transports",
    "versionCheck",
    "modernFeatureEnablement",
    "automaticAuthRequired",
    "officialConformance",
    "checks",
)


def decode_v1(reader: Reader, problems: Problems, catalogue: Catalogue) -> Baseline:
    """What a file says; nothing of it may be used unless `problems` stays empty."""
    problems.only(reader, *_KEYS)
    _fixed(reader, problems)
    suite, scenarios = problems.read(reader, "officialConformance", _official, _NOTHING)
    # Ids of another suite, and of the original's own checks beside it, are not in this
    # catalogue. Such a file is read all the same: the gate compares the suites, and its
    # refusal says more than a list of every id.
    is_ours = suite.git_ref == pinned_git_ref(catalogue)
    for revision, names in scenarios.items() if is_ours else ():
        if names != catalogue.scored(Revision(revision)):
            problems.add(
                f"officialConformance.scenarios.{revision}",
                "is not the whole catalogue, in the suite's order",
            )
    passing, failing = _checks(reader, problems)
    known = KnownChecks(
        catalogue=catalogue, client=None, transports=LABELS if is_ours else ()
    )
    named = [*passing, *failing]
    rule.possible(problems, named, known, SCOPE, scenarios)
    rule.whole(problems, rule.places_of(named), (), SCOPE, scenarios)
    states = [(where, identity, CheckState.FAIL) for where, identity in failing]
    rule.green_where_shipping(problems, states, SHIPPING, WarningRules())
    return Baseline(
        version=1,
        client=None,
        client_version=None,
        suite=suite,
        strict_auth=problems.read(
            reader, "automaticAuthRequired", lambda each: each.boolean(), fallback=False
        ),
        scope=SCOPE,
        scenarios=scenarios,
        passing=rule.unique(problems, passing),
        failing={
            identity: ExpectedFailure(
                identity=identity, state=CheckState.FAIL, outcome="failed"
            )
            for identity in rule.unique(problems, failing)
        },
        shipping=SHIPPING,
    )


def _fixed(reader: Reader, problems: Problems) -> None:
    """The members that have one value in every baseline of the original."""
    modes = list(field.REVISIONS)
    for name, value in (
        ("schemaVersion", SCHEMA_VERSION),
        ("requiredModes", modes),
        ("versionCheck", {"success": True}),
        ("modernFeatureEnablement", True),
    ):
        decode = field.exactly(value, f"must be {value!r} in version 1")
        problems.read(reader, name, decode, None)
    problems.read(reader, "transports", _transports, None)


def _transports(reader: Reader) -> None:
    # The original takes the two in either order.
    if sorted(reader.strings()) != sorted(SCOPE.transports):
        reader.fail(f"must be {list(SCOPE.transports)!r} in version 1")


def _official(reader: Reader) -> tuple[SuiteIdentity, Mapping[str, tuple[str, ...]]]:
    reader.only(*_OFFICIAL)
    field.exactly(
        True,  # noqa: FBT003 (a JSON value)
        "must be true: version 1 is of whole runs, authorization scenarios too",
    )(reader.key("authenticationIncluded"))
    suite = SuiteIdentity(
        repository=field.maybe(field.text)(reader.key("repository")),
        git_ref=field.text(reader.key("gitRef")),
    )
    lists = reader.key("scenarios").only(*field.REVISIONS)
    return suite, {each: lists.key(each).strings() for each in field.REVISIONS}


def _checks(reader: Reader, problems: Problems) -> tuple[list[Placed], list[Placed]]:
    both: list[list[Placed]] = []
    try:
        checks = reader.key("checks").only("passing", "failing")
    except DecodeError as error:
        problems.add(error.where, error.problem)
        return [], []
    for name in ("passing", "failing"):
        placed = []
        for entry in field.entries(problems, checks, name, field.IDENTITY_KEYS):
            identity = field.identity(problems, entry)
            if identity is not None:
                placed.append((entry.where, identity))
        both.append(placed)
    return both[0], both[1]
