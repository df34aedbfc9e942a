"""
What a baseline holds.

A requirement set is the contract; a baseline is a confession. Version 1 is the original
harness's compact file and knows only which checks pass and which fail. Version 2 says
of every expected failure why it is one, whose doing, and since when.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from mcpconf.record import Role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.identity import CheckIdentity, Leg

KIND_V1 = "mcp-conformance-regression-baseline-v1"
KIND_V2 = "mcpconf-baseline-v2"

#: The reason of an entry that nobody has looked at yet; `baseline.extract` writes it.
UNREASONED = "TODO: say why this fails, and whose doing it is"


class FailureClass(StrEnum):
    """Whose doing an expected failure is, once somebody has looked."""

    SUBJECT_BUG = "subject-bug"
    SUITE_BUG = "suite-bug"
    SPECIFICATION_AMBIGUITY = "specification-ambiguity"
    HARNESS_LIMIT = "harness-limit"
    NOT_IMPLEMENTED = "not-implemented"
    #: Nobody has looked: extracted, and to be reviewed.
    UNREVIEWED = "unreviewed"


class CheckState(StrEnum):
    """What one check amounts to, as the gate sees it."""

    PASS = "PASS"  # noqa: S105 (a status)
    WARNING = "WARNING"
    FAIL = "FAIL"
    SKIP = "SKIP"


class CheckPolicy(StrEnum):
    """What a WARNING (a SHOULD not followed) means to the gate."""

    FAIL = "fail"
    WARN = "warn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why something is expected not to pass."""

    reason: str
    failure_class: FailureClass
    #: A public thread, page or document; None where there is none.
    link: str | None
    #: ISO date of the report in which it was first seen, as ``2026-11-30``.
    since: str
    #: ISO date from which on the entry is refused; None: it does not expire.
    expires: str | None = None

    @property
    def is_reviewed(self) -> bool:
        """Whether somebody has looked, and said why."""
        is_classed = self.failure_class is not FailureClass.UNREVIEWED
        return is_classed and self.reason != UNREASONED


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedFailure:
    """A check that is known to fail or to warn."""

    identity: CheckIdentity
    #: FAIL or WARNING.
    state: CheckState
    #: The outcome of its scenario (of the check itself, where it is ours): ``failed``.
    outcome: str
    #: None in version 1, which has none.
    explanation: Explanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedUnsupported:
    """A scored scenario of the suite that the client is known not to do at all."""

    leg: Leg
    scenario: str
    explanation: Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteIdentity:
    """Which suite a baseline or a report is about."""

    repository: str | None
    #: ``npm:<package>@<version>`` for the pin, ``sha256:<entry>`` for another build.
    git_ref: str
    #: Of the package; None in version 1 and for builds that are not the pin.
    integrity: str | None = None
    #: ``sha256:`` of the catalogue; None in version 1.
    catalogue: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WarningRules:
    """The written policy for warnings: a default, and checks that differ."""

    default: CheckPolicy = CheckPolicy.FAIL
    #: ``scenario:check-id`` → what a warning of it means.
    checks: Mapping[str, CheckPolicy] = field(default_factory=dict)

    def of(self, identity: CheckIdentity) -> CheckPolicy:
        """What a warning of one check means."""
        return self.checks.get(identity.ref, self.default)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which whole legs were run."""

    role: Role = Role.CLIENT
    #: Oldest first.
    revisions: tuple[str, ...]
    #: Of ``stdio`` and ``http``; ``official-http`` instead of ``http`` where only the
    #: suite's scenarios ran over HTTP, as in the original harness.
    transports: tuple[str, ...]
    #: Of ``official`` and ``supplemental``.
    sources: tuple[str, ...]
    authentication: bool

    @property
    def labels(self) -> tuple[str, ...]:
        """The transports of the report's cases."""
        has_ours = "supplemental" in self.sources
        has_suites = "official" in self.sources
        http = {"http", "official-http"}
        return (
            *(each for each in self.transports if has_ours and each != "official-http"),
            *(("official-http",) if has_suites and http & {*self.transports} else ()),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """One baseline, of either version; `scope` says whose program it is about."""

    #: 1 or 2.
    version: int
    #: Name (``codex``) and version of the client, or of the server under test; None in
    #: version 1.
    client: str | None
    client_version: str | None
    suite: SuiteIdentity
    #: ``automaticAuthRequired``: true in strict mode.
    strict_auth: bool
    scope: Scope
    #: Official scored scenarios by revision, as the suite orders them.
    scenarios: Mapping[str, tuple[str, ...]]
    passing: frozenset[CheckIdentity]
    #: By identity; sorted where they are written.
    failing: Mapping[CheckIdentity, ExpectedFailure]
    unsupported: tuple[ExpectedUnsupported, ...] = ()
    warnings: WarningRules = field(default_factory=WarningRules)
    #: ``same-era`` or ``exact``.
    revision_policy: str = "same-era"
    #: Revisions whose official scenarios must be green: what ships.
    shipping: tuple[str, ...] = ("2025-06-18",)
