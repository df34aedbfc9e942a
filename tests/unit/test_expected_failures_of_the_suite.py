"""
What the real suite makes of a file that was exported from a baseline.

Each client here was run for what its baseline says; the suite's exit code is the proof.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from make_expected_failures import (
    MIDDLE,
    NEW,
    make_baseline,
    make_failure,
    make_identity,
    make_unsupported,
)

from mcpconf.render.expected_failures import export
from mcpconf.suite.catalogue import load_catalogue
from mcpconf.suite.install import install_suite

if TYPE_CHECKING:
    from mcpconf.baseline.entry import Baseline

pytestmark = [pytest.mark.process, pytest.mark.suite]

EXAMPLE = Path(__file__).parents[2] / "fixtures" / "clients" / "example.py"
GOOD = EXAMPLE.read_text("utf-8")
#: Does everything, and then ends badly: only a driver's own check can see it.
ENDS_BADLY = GOOD + "\nsys.exit(3)\n"
SILENT = "raise SystemExit(69)\n"

FAILS = make_baseline([make_failure(make_identity(), "adds nothing:\n- at all")])
PASSES = make_baseline(passing=[make_identity()])
DRIVER_FAILS = make_baseline(
    [make_failure(make_identity("harness/tools_call/adapter", source="harness"))],
    passing=[make_identity()],
)


def exit_code(
    program: str, text: str, directory: Path, scenario: str, revision: str
) -> int:
    """How the suite ends for one scenario, with one expected-failures file."""
    client = directory / "client.py"
    client.write_text(program, "utf-8")
    file = directory / "expected.yml"
    file.write_text(text, "utf-8")
    command = (
        *(*install_suite().argv_prefix, "client"),
        *("--command", shlex.join((sys.executable, str(client)))),
        *("--scenario", scenario, "--spec-version", revision),
        *("--expected-failures", str(file)),
    )
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    return done.returncode


@pytest.mark.parametrize(
    ("program", "baseline", "code"),
    [
        pytest.param(SILENT, FAILS, 0, id="fails as expected"),
        pytest.param(SILENT, PASSES, 1, id="fails though nothing is expected"),
        pytest.param(GOOD, FAILS, 1, id="passes, so the entry is stale"),
        pytest.param(GOOD, PASSES, 0, id="passes"),
        # The suite looks at checks alone: naming the scenario would be stale.
        pytest.param(ENDS_BADLY, DRIVER_FAILS, 0, id="only the driver fails"),
    ],
)
def test_the_suite_ends_as_the_baseline_says(
    tmp_path: Path, program: str, baseline: Baseline, code: int
) -> None:
    text = export(baseline, load_catalogue(), MIDDLE).text
    assert exit_code(program, text, tmp_path, "tools_call", MIDDLE) == code


def test_a_scenario_that_only_its_driver_fails_is_stale_if_named(
    tmp_path: Path,
) -> None:
    text = "client: [tools_call]\n"
    assert exit_code(ENDS_BADLY, text, tmp_path, "tools_call", MIDDLE) == 1


@pytest.mark.parametrize(
    "scenario",
    ["auth/authorization-server-migration", "http-invalid-tool-headers"],
)
def test_what_a_client_does_not_do_at_all_is_expected_check_by_check(
    tmp_path: Path, scenario: str
) -> None:
    catalogue = load_catalogue()
    baseline = make_baseline(unsupported=(make_unsupported(scenario),))
    text = export(baseline, catalogue, NEW).text
    assert exit_code(SILENT, text, tmp_path, scenario, NEW) == 0
    assert exit_code(SILENT, "client: []\n", tmp_path, scenario, NEW) == 1
