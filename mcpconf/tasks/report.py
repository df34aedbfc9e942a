"""``report.*``: everything that is made from a stored report; nothing is run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from invoke.exceptions import Exit
from invoke.tasks import task

from mcpconf.errors import ExitCode
from mcpconf.tasks.base import refusing, say, stored_report

if TYPE_CHECKING:
    from invoke.context import Context


@task(
    name="rejudge",
    positional=["run"],
    help={
        "run": "The run's folder, .mcpconf/runs/<id>.",
        "out": "Write the report here instead of to standard output.",
    },
    auto_shortflags=False,
)
def report_rejudge(_: Context, run: str, out: str = "") -> None:
    """
    Derive a stored run's report again from its evidence: identical bytes.

    The exit code is the report's; 3 if another one is stored.
    """
    from mcpconf.rejudge import rejudge  # noqa: PLC0415
    from mcpconf.storage import json_bytes, write_json  # noqa: PLC0415

    run_dir = Path(run)
    report = refusing(lambda: rejudge(run_dir))
    content = json_bytes(report.value)
    if out:
        refusing(lambda: write_json(Path(out), report.value))
    else:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
    stored, code = run_dir / "report.json", report.exit_code
    how = "the stored report, byte for byte"
    if not stored.is_file():
        how = "no report was stored"
    elif stored.read_bytes() != content:
        how, code = "NOT the stored report", ExitCode.HARNESS
        if report.value["closing"] is None:  # nothing closed the run
            how = "the run was killed; its stored report is older than its evidence"
    print(f"{report.verdict.value}: {how}", file=sys.stderr)  # noqa: T201
    raise Exit(code=int(code))


@task(
    name="table",
    positional=["report"],
    help={
        "report": "A stored report, .mcpconf/report.json for the latest, or a run.",
        "matrix": "Also every test.",
    },
    auto_shortflags=False,
)
def report_table(_: Context, report: str, *, matrix: bool = False) -> None:
    """Print a stored report as tables."""
    from mcpconf.render import table  # noqa: PLC0415
    from mcpconf.render.text import terminal_width  # noqa: PLC0415

    _, value = refusing(lambda: stored_report(report))
    say(table.render(value, full=matrix, width=terminal_width()))


TASKS = (report_rejudge, report_table)
