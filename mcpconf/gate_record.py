"""
What the gate is told, and what it answers.

The words of the answer are the original harness's where it had them
(``configurationErrors``, ``newFailures``, ``missingChecks``, ``knownFailures``,
``fixedChecks``); the others are additive.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from mcpconf.errors import ExitCode

if TYPE_CHECKING:
    from mcpconf.decode import Json, Reader
    from mcpconf.identity import CheckIdentity, Leg

KIND = "mcpconf-gate-v1"


class GateVerdict(StrEnum):
    """One per gate."""

    #: Nothing got worse.
    GREEN = "GREEN"
    #: Something did.
    REGRESSED = "REGRESSED"
    #: Baseline and report cannot be compared; nothing is known.
    REFUSED = "REFUSED"
    #: The run has a hole; nothing is known of what is in it.
    INCOMPLETE = "INCOMPLETE"

    @property
    def exit_code(self) -> ExitCode:
        """What the process ends with."""
        return {
            GateVerdict.GREEN: ExitCode.CONFORMANT,
            GateVerdict.REGRESSED: ExitCode.NOT_CONFORMANT,
            GateVerdict.REFUSED: ExitCode.BAD_INPUT,
            GateVerdict.INCOMPLETE: ExitCode.HARNESS,
        }[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class GatePolicy:
    """What the caller demands beyond the baseline."""

    #: A fixed check must be taken out of the baseline.
    ratchet: bool = False
    #: Flaky cases (a scenario in a leg) that one run may have.
    flaky_budget: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFinding:
    """One check or scenario, what is wrong with it, and what to do."""

    identity: CheckIdentity
    #: What is so and what to do about it, in one sentence.
    detail: str
    attribution: str | None = None
    #: The line that runs its scenario again.
    reproduce: str | None = None
    pages: tuple[str, ...] = ()
    #: Why the baseline expects it, where it does.
    reason: str | None = None
    #: The baseline's class of it: ``subject-bug``.
    failure_class: str | None = None

    def to_json(self) -> dict[str, Json]:
        """The five members of the identity, and what is known."""
        return {
            **self.identity.to_json(),
            "detail": self.detail,
            "attribution": self.attribution,
            "reproduce": self.reproduce,
            "pages": list(self.pages),
            "reason": self.reason,
            "class": self.failure_class,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class UnexpectedCase:
    """One case whose result is worse than the baseline says: what is run again."""

    leg: Leg
    scenario: str
    variant: str | None
    #: Its checks that are unexpectedly bad, or missing; a crash may have none.
    checks: tuple[CheckIdentity, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """The gate's answer; sorted, so that equal answers are equal bytes."""

    verdict: GateVerdict
    policy: GatePolicy
    #: ``whole``, or ``partial`` where only a part of the baseline was run.
    scope: str
    #: What of the baseline was not run, and what of the run no baseline holds.
    not_compared: tuple[str, ...] = ()
    #: Each says which side, which entry, what to do.
    configuration_errors: tuple[str, ...] = ()
    #: Why the run is incomplete.
    holes: tuple[str, ...] = ()
    new_failures: tuple[GateFinding, ...] = ()
    missing_checks: tuple[GateFinding, ...] = ()
    #: Expected to fail in one way, and failed in a worse one.
    changed_failures: tuple[GateFinding, ...] = ()
    known_failures: tuple[GateFinding, ...] = ()
    #: Scenarios of the suite that the client is known not to do, and why.
    known_unsupported: tuple[str, ...] = ()
    fixed_checks: tuple[GateFinding, ...] = ()
    #: Warnings that the baseline's policy lets pass.
    warnings: tuple[GateFinding, ...] = ()
    flaky: tuple[GateFinding, ...] = ()
    #: Passing checks that the baseline does not have yet.
    new_checks: tuple[GateFinding, ...] = ()
    #: Entries without a reviewed reason.
    unreasoned: tuple[str, ...] = ()
    #: What makes it red beyond single checks: budgets and the ratchet.
    demands: tuple[str, ...] = ()
    #: Name and ``sha256:`` of the baseline and the report, for who decides again.
    inputs: dict[str, str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        """The stored form, ``gate.json``."""
        groups = {
            "newFailures": self.new_failures,
            "missingChecks": self.missing_checks,
            "changedFailures": self.changed_failures,
            "knownFailures": self.known_failures,
            "fixedChecks": self.fixed_checks,
            "warnings": self.warnings,
            "flaky": self.flaky,
            "newChecks": self.new_checks,
        }
        return {
            "kind": KIND,
            "success": self.verdict is GateVerdict.GREEN,
            "verdict": self.verdict.value,
            "scope": self.scope,
            "policy": {
                "ratchet": self.policy.ratchet,
                "flakyBudget": self.policy.flaky_budget,
            },
            "notCompared": list(self.not_compared),
            "configurationErrors": list(self.configuration_errors),
            "holes": list(self.holes),
            **{
                name: [each.to_json() for each in group]
                for name, group in groups.items()
            },
            "knownUnsupported": list(self.known_unsupported),
            "unreasoned": list(self.unreasoned),
            "demands": list(self.demands),
            "inputs": dict(self.inputs),
        }


_IDENTITY = ("mode", "transport", "source", "scenario", "check_id", "detail")


def check_answer(reader: Reader) -> None:
    """
    Hold a stored answer against the form that `GateResult.to_json` gives it.

    :raises DecodeError: it is of another kind, or a member is missing or malformed.
    """
    kind = reader.key("kind")
    if kind.value != KIND:
        kind.fail(f"is no answer of a gate ({KIND})")
    reader.key("verdict").word(GateVerdict)
    empty = GateResult(verdict=GateVerdict.GREEN, policy=GatePolicy(), scope="whole")
    for name, value in empty.to_json().items():
        member = reader.key(name)
        if not isinstance(value, list):
            continue
        for each in member.items():
            if isinstance(each.value, str):
                continue
            for part in _IDENTITY:
                each.key(part).string()
