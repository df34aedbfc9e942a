"""What a gate says of a report's checks, from its stored answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcpconf.identity import CheckIdentity, Leg

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mcpconf.view import CheckView

    Value = Mapping[str, Any]

#: The groups of a gate's answer, the worst first, and what one finding of each is.
GROUPS = {
    "newFailures": "new failure",
    "changedFailures": "changed failure",
    "missingChecks": "missing check",
    "knownFailures": "expected failure",
    "flaky": "flaky",
    "warnings": "warning",
}
#: Those that make a gate red.
RED_GROUPS = tuple(GROUPS)[:3]
#: The members of ``gate.json`` that hold sentences, and what each is.
_SENTENCES = {
    "configurationErrors": "cannot be compared",
    "holes": "the run has a hole",
    "demands": "demanded",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What a gate says of one check."""

    #: A key of `GROUPS`.
    group: str
    #: The finding, as ``gate.json`` has it.
    finding: Value


def warns(view: CheckView) -> bool:
    """Whether a check warns where the policy lets that pass, and was run to its end."""
    not_held = {"unsupported", "not-applicable", "not-run"}
    return (
        view.is_warning
        and view.check["status"] == "SKIP"
        and not_held.isdisjoint({view.outcome, view.scenario["outcome"]})
    )


def identity_in(finding: Value) -> CheckIdentity:
    """The check that a finding of ``gate.json`` is about."""
    return CheckIdentity(
        revision=finding["mode"],
        transport=finding["transport"],
        source=finding["source"],
        scenario=finding["scenario"],
        check_id=finding["check_id"],
    )


def standings(gate: Value) -> dict[CheckIdentity, Standing]:
    """What a gate says of each check; the worst, where it says more than one thing."""
    found: dict[CheckIdentity, Standing] = {}
    for group in GROUPS:
        for finding in gate[group]:
            found.setdefault(
                identity_in(finding), Standing(group=group, finding=finding)
            )
    return found


def by_case(findings: Iterable[Value]) -> list[list[Value]]:
    """A gate's findings, those of one scenario in one leg together."""
    alike: dict[tuple[Leg, str], list[Value]] = {}
    for finding in findings:
        identity = identity_in(finding)
        alike.setdefault((identity.leg, identity.scenario), []).append(finding)
    return list(alike.values())


def trouble(gate: Value) -> list[str]:
    """Why a gate can say nothing, and what it demands beyond checks: a line each."""
    return [
        f"{what}: {sentence}"
        for name, what in _SENTENCES.items()
        for sentence in gate[name]
    ]
