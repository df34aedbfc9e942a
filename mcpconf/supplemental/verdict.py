"""One stored case of ours, judged: the same way after its launch and ever after."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.errors import DecodeError
from mcpconf.supplemental import evidence
from mcpconf.supplemental.judge import judge, unreadable

if TYPE_CHECKING:
    from pathlib import Path

    from mcpconf.record import Policy, ScenarioResult
    from mcpconf.supplemental.plan import SupplementalCase


def judged(
    run_dir: Path, case: SupplementalCase, policy: Policy
) -> ScenarioResult | None:
    """
    The result of a case by what is stored of it; None when it was never launched.

    Evidence that was stored malformed (a wire log that a client wrote into, say) is a
    fault of the harness and no verdict on anybody.
    """
    try:
        stored = evidence.read(run_dir, case.key)
        return judge(case, stored, policy) if stored is not None else None
    except DecodeError as error:
        place = f"{error.where}: " if error.where else ""
        return unreadable(case, f"evidence: {place}{error.problem}")
