"""
What the steps of the GitHub Action call: ``python -P -m mcpconf.adopt.action``.

``run`` runs the conformance session through nox, or merges the reports of shards, and
writes the outputs. It ends with 0 even where the client fails, so that the steps after
it can summarise and upload; the last step of the action ends with the exit code.
``summarise`` writes the job summary and the annotations.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.adopt.config import TABLE, Adoption, read_pyproject
from mcpconf.adopt.inputs import read_inputs
from mcpconf.adopt.outcome import GATE, REPORT, Outcome, Watch
from mcpconf.errors import ExitCode, McpconfError, UsageError
from mcpconf.record import Verdict
from mcpconf.report_schema import load_report
from mcpconf.storage import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.adopt.inputs import Inputs

NOXFILE = Path(__file__).parent / "noxfile.py"
_PYTHON = (sys.executable, "-P", "-m")
#: What a task of `mcpconf.tasks` is called with; a test holds it against the tasks.
MARKDOWN, ANNOTATIONS = "report.markdown", "report.annotations"
MERGE, DECIDE = "report.merge", "gate"


def main(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """One step; its exit code is about the step, not about the client."""
    steps = {"run": _run, "summarise": _summarise}
    (step,) = arguments
    return steps[step](environ)


# -- run -----------------------------------------------------------------------------


def _run(environ: Mapping[str, str]) -> int:
    watch = Watch()
    try:
        inputs = read_inputs(environ)
        words = session_words(inputs, read_pyproject(Path("pyproject.toml")))
        baseline = [word for word in words if word.startswith("--baseline=")]
        if inputs.merge is None:
            code = _quietly((*_PYTHON, "nox", *_SESSION, "--", *words))
        else:
            code = _merge(inputs, inputs.merge, baseline, watch)
        outcome = watch.outcome(code, gated=bool(baseline))
    except McpconfError as error:
        _say_error(str(error))
        outcome = Outcome(exit_code=error.exit_code)
    if outcome.problem:
        _say_error(outcome.problem)
    with Path(environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.write(outcome.outputs())
    return 0


_SESSION = ("--noxfile", str(NOXFILE), "--session", "conformance")


def session_words(inputs: Inputs, adoption: Adoption | None) -> tuple[str, ...]:
    """
    The options of the run: what the inputs say, then what ``[tool.mcpconf]`` says.

    :raises UsageError: neither names a client.
    """
    given = inputs.words()
    if adoption is None:
        if not inputs.client and not inputs.command:
            raise UsageError(
                "name the client under test: the input client or command, or "
                f"[{TABLE}] in pyproject.toml"
            )
        adoption = Adoption()
    return (*adoption.words(given), *given)


def _merge(inputs: Inputs, folder: Path, baseline: Sequence[str], watch: Watch) -> int:
    """
    Make one report of the shards' reports, and decide again on the whole.

    Fewer reports than shards, or more, is no verdict.

    :raises DecodeError: a report that cannot be read.
    """
    reports = sorted(folder.glob(f"*/{REPORT.name}"))
    if len(reports) != inputs.shards:
        _say_error(
            f"{folder}: {len(reports)} reports of {inputs.shards} shards; see the "
            "jobs of the shards for why one wrote none"
        )
        return ExitCode.HARNESS
    if len(reports) == 1 and load_report(reports[0])["selection"]["shard"] is None:
        write_whole(REPORT, reports[0].read_bytes())
    else:
        given = [str(each.absolute()) for each in reports]  # none starts with a dash
        code = _task(MERGE, *given, f"--out={REPORT}")
        if not watch.is_new(REPORT):  # else the code is the merged report's
            return code or ExitCode.HARNESS
    if not baseline:
        return Verdict(load_report(REPORT)["verdict"]).exit_code
    return _task(
        DECIDE,
        f"--report={REPORT}",
        *baseline,
        *inputs.gate_words(),
        f"--out={GATE}",
    )


def _task(name: str, *words: str) -> int:
    return _quietly((*_PYTHON, "mcpconf.tasks", name, *words))


def _quietly(command: Sequence[str]) -> int:
    """
    Run a program that prints what a client said, which may look like a command.

    GitHub takes no ``::commands::`` from the log until it reads the word back.
    """
    word = secrets.token_hex(16)
    print(f"::stop-commands::{word}", flush=True)  # noqa: T201
    try:
        return subprocess.run(command, check=False).returncode
    finally:
        print(f"::{word}::", flush=True)  # noqa: T201


# -- summarise -----------------------------------------------------------------------


def _summarise(environ: Mapping[str, str]) -> int:
    """The Markdown of the report for the job's page, and annotations for its files."""
    code = environ.get("MCPCONF_EXIT_CODE") or str(int(ExitCode.HARNESS))
    report = environ.get("MCPCONF_REPORT", "")
    failed = 0
    text = f"## mcpconf: no report, exit code {code}\n\nThe log of the step says why.\n"
    if report:
        gate = (f"--gate={GATE}",) if environ.get("MCPCONF_GATE") else ()
        made = subprocess.run(
            (*_PYTHON, "mcpconf.tasks", MARKDOWN, report, *gate),
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            check=False,
        )
        failed |= made.returncode
        text = made.stdout
        shown = subprocess.run(
            (*_PYTHON, "mcpconf.tasks", ANNOTATIONS, report, *gate), check=False
        )
        failed |= shown.returncode
    else:
        _say_error(f"no report was written; exit code {code}")
    with Path(environ["GITHUB_STEP_SUMMARY"]).open("a", encoding="utf-8") as file:
        file.write(text)
    return int(ExitCode.HARNESS) if failed else 0


def _say_error(text: str) -> None:
    """An annotation for each line: ``%`` and line ends are the command's own."""
    for line in text.splitlines():
        escaped = line.replace("%", "%25").replace("\r", "%0D")
        print(f"::error title=mcpconf::{escaped}", flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
