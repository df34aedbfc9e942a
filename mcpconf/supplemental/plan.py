"""Which of our scenarios are run: by revision, transport and name."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.errors import UsageError
from mcpconf.record import CaseKey, Source
from mcpconf.revision import Revision
from mcpconf.supplemental.registry import SCENARIOS
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.supplemental.scenario import CheckDefinition, Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementalCase:
    """One of our scenarios at one revision over one transport."""

    key: CaseKey
    scenario: Scenario

    @property
    def is_scored(self) -> bool:
        """All of ours count."""
        return True

    @property
    def timing_sensitive(self) -> bool:
        """Whether it must run alone."""
        return self.scenario.timing_sensitive

    @property
    def checks(self) -> tuple[CheckDefinition, ...]:
        """The checks that apply at this revision over this transport."""
        return tuple(
            check
            for check in self.scenario.checks
            if self.key.revision in check.revisions
            and self.key.transport in check.transports
        )


def planned(key: CaseKey) -> SupplementalCase | None:
    """The case of a key; None where no scenario of ours is meant by it."""
    scenario = SCENARIOS.get(key.scenario)
    if (
        scenario is None
        or key.revision not in scenario.revisions
        or key.transport not in scenario.transports
    ):
        return None
    case = SupplementalCase(key=key, scenario=scenario)
    return case if case.checks else None


def select_supplemental(
    revisions: Sequence[Revision],
    transports: Sequence[Transport],
    *,
    requested: Sequence[str] = (),
) -> tuple[SupplementalCase, ...]:
    """
    Our cases, stdio before HTTP, oldest revision first.

    :raises UsageError: a requested name cannot run in what was selected.
    """
    unknown = [name for name in requested if name not in SCENARIOS]
    if unknown:
        raise UsageError(
            "; ".join(
                f"{name}: no supplemental scenario has this name; {_hint(name)}"
                for name in dict.fromkeys(unknown)
            )
        )
    cases = []
    for transport in Transport:
        for revision in Revision:
            if transport not in transports or revision not in revisions:
                continue
            for name in SCENARIOS:
                if requested and name not in requested:
                    continue
                key = CaseKey(
                    revision=revision,
                    scenario=name,
                    source=Source.SUPPLEMENTAL,
                    transport=transport,
                )
                case = planned(key)
                if case is not None:
                    cases.append(case)
    _check_all_used(requested, cases)
    return tuple(cases)


def _check_all_used(
    requested: Sequence[str], cases: Sequence[SupplementalCase]
) -> None:
    used = {case.key.scenario for case in cases}
    left_out = [name for name in dict.fromkeys(requested) if name not in used]
    if left_out:
        names = ", ".join(left_out)
        raise UsageError(
            f"{names}: not at the selected revisions over the selected transports; "
            "see `invoke supplemental.list`"
        )


def _hint(name: str) -> str:
    alike = difflib.get_close_matches(name, sorted(SCENARIOS), n=1)
    return f"did you mean {alike[0]}?" if alike else "see `invoke supplemental.list`"
