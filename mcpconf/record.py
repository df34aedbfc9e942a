"""
The words of a verdict: statuses, outcomes, attributions, and one scenario's result.

*Status* is what the suite said of a check. *Outcome* is what we make of a scenario once
the evidence is weighed. *Verdict* is one per run. All records are frozen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from mcpconf.errors import ExitCode
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from mcpconf.decode import Json
    from mcpconf.revision import Revision


class Source(StrEnum):
    """Who wrote a scenario and its checks."""

    OFFICIAL = "official"
    SUPPLEMENTAL = "supplemental"


class CheckStatus(StrEnum):
    """What the suite says of one check, most severe first."""

    FAILURE = "FAILURE"
    WARNING = "WARNING"
    SUCCESS = "SUCCESS"
    SKIPPED = "SKIPPED"
    INFO = "INFO"

    @property
    def severity(self) -> int:
        """0 for the most severe; repeats of a check collapse to the lowest."""
        return tuple(CheckStatus).index(self)


class ReportStatus(StrEnum):
    """The three statuses of report schema 4."""

    PASS = "PASS"  # noqa: S105 (a status)
    FAIL = "FAIL"
    SKIP = "SKIP"


class Outcome(StrEnum):
    """What the evidence of one scenario amounts to."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not-applicable"
    UNSUPPORTED = "unsupported"
    UNOBSERVED = "unobserved"
    TIMED_OUT = "timed-out"
    CRASHED = "crashed"
    HARNESS_ERROR = "harness-error"
    SUITE_DEFECT = "suite-defect"
    #: Not passed at first, and passed when run again alone: never a plain pass.
    FLAKY = "flaky"
    NOT_RUN = "not-run"

    @property
    def report_status(self) -> ReportStatus:
        """The schema-4 status this outcome is reported with."""
        if self is Outcome.PASSED:
            return ReportStatus.PASS
        if self in {Outcome.NOT_APPLICABLE, Outcome.UNSUPPORTED, Outcome.NOT_RUN}:
            return ReportStatus.SKIP
        return ReportStatus.FAIL

    @property
    def is_inconclusive(self) -> bool:
        """Whether a scored scenario with this outcome leaves a run without verdict."""
        return self in {
            Outcome.UNSUPPORTED,
            Outcome.HARNESS_ERROR,
            Outcome.SUITE_DEFECT,
            Outcome.NOT_RUN,
        }


#: Outcomes under which nothing is judged.
QUIET = frozenset(each for each in Outcome if each.report_status is ReportStatus.SKIP)
#: Outcomes under which a check that reads SUCCESS was not earned.
UNEARNED = QUIET | {
    Outcome.UNOBSERVED,
    Outcome.TIMED_OUT,
    Outcome.CRASHED,
    Outcome.HARNESS_ERROR,
}


class Attribution(StrEnum):
    """Whose doing a result other than *passed* is."""

    SUBJECT = "subject"
    ADAPTER = "adapter"
    HARNESS = "harness"
    SUITE = "suite"


class Verdict(StrEnum):
    """One per run."""

    CONFORMANT = "CONFORMANT"
    NOT_CONFORMANT = "NOT_CONFORMANT"
    INCONCLUSIVE = "INCONCLUSIVE"

    @property
    def exit_code(self) -> ExitCode:
        """What a process ends with that is held against no baseline."""
        return {
            Verdict.CONFORMANT: ExitCode.CONFORMANT,
            Verdict.NOT_CONFORMANT: ExitCode.NOT_CONFORMANT,
            Verdict.INCONCLUSIVE: ExitCode.HARNESS,
        }[self]


class WarningPolicy(StrEnum):
    """Whether a WARNING of the suite (a SHOULD not followed) fails its scenario."""

    FAIL = "fail"
    WARN = "warn"


class RevisionPolicy(StrEnum):
    """
    Whether a leg counts when another revision was agreed than the leg's.

    The suite itself agrees on other handshake revisions than it was asked to test;
    ``same-era`` counts those and says so, ``exact`` does not count them.
    """

    SAME_ERA = "same-era"
    EXACT = "exact"


class Role(StrEnum):
    """Whose program is under test. One run has one role."""

    CLIENT = "client"
    SERVER = "server"


class AuthMode(StrEnum):
    """How much of authorization the host does for the client."""

    ASSISTED = "assisted"
    STRICT = "strict"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The written choices a judgement depends on."""

    warnings: WarningPolicy = WarningPolicy.FAIL
    revision: RevisionPolicy = RevisionPolicy.SAME_ERA


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One statement inside a scenario; repeats of the suite's are collapsed."""

    check_id: str
    name: str
    status: CheckStatus
    description: str
    error: str | None = None
    #: Specification pages, as the suite cites them.
    pages: tuple[str, ...] = ()
    #: How often the suite reported it.
    count: int = 1
    #: A check of ours is judged by itself; the suite's take their scenario's outcome,
    #: but for one that was rescued: it is flaky.
    outcome: Outcome | None = None
    attribution: Attribution | None = None
    #: What a check of ours demands, in our words, and how strongly: MUST or SHOULD.
    demand: str | None = None
    level: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseKey:
    """Names one launch: a scenario at a revision, plain or in a variant."""

    revision: Revision
    scenario: str
    #: ``auto_cimd`` and the like: the same scenario driven another way.
    variant: str | None = None
    source: Source = Source.OFFICIAL
    transport: Transport = Transport.HTTP

    def __str__(self) -> str:
        if self.source is Source.SUPPLEMENTAL:
            return f"{self.revision.value}/{self.transport.value}/{self.scenario}"
        suffix = f"@{self.variant}" if self.variant else ""
        return f"{self.revision.value}/{self.scenario}{suffix}"

    def to_json(self) -> dict[str, Json]:
        """As a run's records name it."""
        return {
            "source": self.source.value,
            "transport": self.transport.value,
            "revision": self.revision.value,
            "scenario": self.scenario,
            "variant": self.variant,
        }

    @property
    def path(self) -> str:
        """Where its evidence is, relative to the run's folder."""
        name = re.sub(r"[^A-Za-z0-9_.-]+", "-", self.scenario)
        if self.source is Source.SUPPLEMENTAL:
            place = f"{self.revision.value}/{self.transport.value}"
            return f"supplemental/{place}/{name}"
        suffix = f"@{self.variant}" if self.variant else ""
        return f"cases/{self.revision.value}/{name}{suffix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenarioResult:
    """One case, judged."""

    key: CaseKey
    outcome: Outcome
    attribution: Attribution | None
    #: One sentence a reader can act on.
    reason: str
    checks: tuple[Check, ...] = ()
    #: Statements of ours about the case: name → problem, or None when it holds.
    harness_checks: tuple[tuple[str, str | None], ...] = ()
    offered: tuple[str, ...] = ()
    agreed: tuple[str, ...] = ()
    #: Who owed the next message when nothing more came.
    silence: str | None = None
    leftovers: tuple[str, ...] = ()
    #: Check ids the catalogue promises and this run never saw.
    missing_checks: tuple[str, ...] = ()
    #: Check ids this run saw and the catalogue does not know.
    unknown_checks: tuple[str, ...] = ()
    duration_s: float = 0.0
    #: Names of statements of ours that did not hold at first, and then did.
    flaky_harness: tuple[str, ...] = ()
    #: What it was when it was run again, alone; the first time first.
    reruns: tuple[ScenarioResult, ...] = ()
    diagnostics: str | None = field(default=None, repr=False)
    client_stderr: str | None = field(default=None, repr=False)

    @property
    def standing(self) -> str:
        """
        The outcome, and what the word "passed" alone would hide.

        ``passed with 1 warning (3 of 6 checks not judged)``: warnings that the policy
        forgives, and checks that were skipped.
        """
        text = self.outcome.value
        if self.outcome is not Outcome.PASSED:
            return text
        statuses = [check.status for check in self.checks]
        warnings = statuses.count(CheckStatus.WARNING)
        skipped = statuses.count(CheckStatus.SKIPPED)
        if warnings:
            text += f" with {warnings} warning{'s' if warnings > 1 else ''}"
        if skipped:
            text += f" ({skipped} of {len(statuses)} checks not judged)"
        return text
