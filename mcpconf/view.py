"""A report's checks, each beside its scenario."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpconf.identity import CheckIdentity, Leg, identity_of, variant_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Report = Mapping[str, Any]
    Value = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckView:
    """One check of a report that counts."""

    leg: Leg
    #: As the report has it.
    check: Value
    #: The scenario's entry of the same case, or the variant's.
    scenario: Value

    @property
    def identity(self) -> CheckIdentity:
        """What names it across runs."""
        return identity_of(self.leg, self.check)

    @property
    def outcome(self) -> str:
        """Its own outcome, or its scenario's."""
        return str(self.check.get("outcome") or self.scenario["outcome"])

    @property
    def is_warning(self) -> bool:
        """A SHOULD not followed."""
        return bool(self.check.get("suite_status") == "WARNING")


def role_word(report: Report) -> str:
    """The word for the program under test: ``client`` or ``server``."""
    return str(report.get("role", "client"))


def leg_of(case: Value) -> Leg:
    """Transport and revision of one case of a report, or of a summary of one."""
    return Leg(case["transport"], case["mode"])


def views(case: Value) -> Iterator[CheckView]:
    """Every check of one case of a report, in its order."""
    leg = leg_of(case)
    entries = {(each["scenario"], each["variant"]): each for each in case["scenarios"]}
    for check in case["checks"]:
        variant = variant_of(leg.transport, check["source"], check["check_id"])
        entry = entries[check["scenario"], variant]
        yield CheckView(leg=leg, check=check, scenario=entry)


def evidence_of(report: Report, scenario: Value) -> str:
    """Where the evidence is, below the folder of the latest report."""
    artifacts = report["artifacts"]
    return f"{artifacts}/{scenario['evidence']}" if artifacts else scenario["evidence"]
