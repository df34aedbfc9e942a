"""The client that docs/launch.md shows, judged by the real suite; and broken."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcpconf import run
from mcpconf.errors import ExitCode
from mcpconf.render.progress import LineProgress
from mcpconf.revision import Revision
from mcpconf.setup import RunOptions, resolve

if TYPE_CHECKING:
    from mcpconf.report_assembly import Report

pytestmark = [pytest.mark.process, pytest.mark.suite]

EXAMPLE = Path(__file__).parents[2] / "fixtures" / "clients" / "example.py"


def _judged(program: Path, output: Path, revision: Revision) -> Report:
    setup = resolve(
        RunOptions(
            client_command=shlex.join((sys.executable, str(program))),
            revisions=(revision,),
            scenarios=("tools_call",),
            output_dir=output,
        )
    )
    return run.perform(setup, LineProgress(1))


@pytest.mark.parametrize("revision", [Revision.V2025_06_18, Revision.V2025_11_25])
def test_the_example_passes(tmp_path: Path, revision: Revision) -> None:
    report = _judged(EXAMPLE, tmp_path, revision)
    (scenario,) = report.value["cases"][0]["scenarios"]
    assert scenario["reason"] == "passed"
    assert scenario["revision"]["agreed"] == [revision.value]
    assert report.exit_code is ExitCode.CONFORMANT


@pytest.mark.parametrize(
    ("old", "new", "outcome", "said"),
    [
        ('"tools/call"', '"tools/list"', "failed", "was not called"),
        ("dict.fromkeys(names, 2)", '{"a": 2}', "failed", "tool-add-numbers"),
        ('"capabilities": {},', "", "failed", ""),
        ('"tools_call" or', '"another" or', "unsupported", "exit 69"),
    ],
)
def test_the_example_broken_does_not_pass(
    tmp_path: Path, old: str, new: str, outcome: str, said: str
) -> None:
    source = EXAMPLE.read_text("utf-8")
    assert old in source
    broken = tmp_path / "broken.py"
    broken.write_text(source.replace(old, new), "utf-8")
    report = _judged(broken, tmp_path / "out", Revision.V2025_11_25)
    (scenario,) = report.value["cases"][0]["scenarios"]
    assert scenario["outcome"] == outcome
    assert said in scenario["reason"]
    assert report.exit_code is not ExitCode.CONFORMANT
