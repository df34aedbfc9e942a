"""``gate``: decide again about a stored report; nothing is run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from invoke.exceptions import Exit
from invoke.tasks import task

from mcpconf.tasks.base import LATEST, check_apart, number, refusing, report_path, say

if TYPE_CHECKING:
    from invoke.context import Context

    from mcpconf.gate_record import GateResult


@task(
    name="gate",
    help={
        "baseline": "The baseline to hold it to.",
        "report": "A stored report (default: the latest, .mcpconf/report.json).",
        "ratchet": "A check that is fixed must be taken out of the baseline.",
        "flaky-budget": "Cases that may pass only when run again, alone (default: 2).",
        "full": "Also list what is known to fail, and why.",
        "json": "Print the answer as JSON, as gate.json has it.",
        "out": "Also write the answer to this path.",
    },
    auto_shortflags=False,
)
def gate_again(
    _: Context,
    baseline: str = "",
    report: str = LATEST,
    *,
    ratchet: bool = False,
    flaky_budget: str = "2",
    full: bool = False,
    json: bool = False,
    out: str = "",
) -> None:
    """
    Hold a stored report to a baseline: exit 0 only if nothing got worse.

    1: something did; 2: they cannot be compared; 3: the run has a hole.
    """
    from mcpconf import gating  # noqa: PLC0415
    from mcpconf.errors import UsageError  # noqa: PLC0415
    from mcpconf.gate_record import GatePolicy  # noqa: PLC0415
    from mcpconf.render.gate import render  # noqa: PLC0415
    from mcpconf.render.text import terminal_width  # noqa: PLC0415
    from mcpconf.storage import json_bytes, write_json  # noqa: PLC0415

    def decide() -> GateResult:
        if not baseline:  # invoke's own refusal ends with 1, which is a verdict here
            raise UsageError("gate: give --baseline PATH")
        budget = number("--flaky-budget", flaky_budget)
        policy = GatePolicy(ratchet=ratchet, flaky_budget=budget)
        gate = gating.load_gate(Path(baseline), policy)
        check_apart(out, baseline, report)
        return gate.decide(report_path(report))

    answer = refusing(decide)
    if out:
        refusing(lambda: write_json(Path(out), answer.to_json()))
    if json:
        sys.stdout.write(json_bytes(answer.to_json()).decode())
    else:
        say(render(answer, full=full, width=terminal_width()))
    raise Exit(code=int(answer.verdict.exit_code))


TASKS = (gate_again,)
