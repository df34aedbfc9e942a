"""
Runs with a baseline, from the command line to the exit code.

Each is a real client on the fixture server. What is known to fail is green, what is new
is red, and what crashes, hangs or says nothing is never green.
"""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from scene import CLIENTS, REVISION, Scene, passing_baseline, staged

from mcpconf import cli, evidence, gating, ledger, run
from mcpconf.baseline.entry import CheckPolicy as Policy
from mcpconf.baseline.entry import (
    CheckState,
    ExpectedFailure,
    Explanation,
    FailureClass,
    WarningRules,
)
from mcpconf.baseline.store import write_baseline
from mcpconf.errors import ExitCode
from mcpconf.identity import CheckIdentity
from mcpconf.rejudge import rejudge
from mcpconf.suite.catalogue import load_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mcpconf.baseline.entry import Baseline

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="the programs use Linux"),
]

SCENARIO = "basics"
IDENTITY = ("mode", "transport", "source", "scenario", "check_id")
WHY = Explanation(
    reason="it hides them",
    failure_class=FailureClass.SUBJECT_BUG,
    link=None,
    since="2026-11-01",
)


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    one = staged(tmp_path, monkeypatch)
    yield one
    one.check_nothing_is_left()


def _run(program: str | Path, *options: str) -> int:
    """A run of one scenario over stdio; its exit code."""
    command = shlex.join([sys.executable, str(CLIENTS / program)])
    return cli.main(
        [
            *("run", "--client-command", command, "--revision", REVISION),
            *("--supplemental-scenario", SCENARIO, "--transport", "stdio", *options),
        ]
    )


def _prepared(scene: Scene, **changes: Any) -> list[str]:
    """The options of a gated run: a baseline in which all but `changes` passes."""
    assert _run("good.py") == ExitCode.CONFORMANT
    write_baseline(
        scene.cwd / "baseline.json", replace(passing_baseline(scene), **changes)
    )
    return ["--baseline", "baseline.json"]


def _answer(scene: Scene) -> dict[str, Any]:
    """The stored answer of the gate, which is about the stored report."""
    found = gating.load_answer(
        scene.output / gating.GATE, scene.output / run.REPORT, named=True
    )
    assert found is not None
    assert json.loads((_latest(scene) / gating.GATE).read_bytes()) == found
    return found


def _latest(scene: Scene) -> Path:
    """The folder of the latest run."""
    name: str = scene.report()["run"]["id"]
    return scene.output / run.RUNS / name


def _hidden() -> CheckIdentity:
    return CheckIdentity(
        REVISION, "stdio", "supplemental", SCENARIO, "prompts-inventory"
    )


def _knows(scene: Scene, state: CheckState = CheckState.FAIL) -> dict[str, Any]:
    """The members of a baseline that knows of the hidden prompts."""
    assert _run("good.py") == ExitCode.CONFORMANT
    whole: Baseline = passing_baseline(scene)
    entry = ExpectedFailure(
        identity=_hidden(), state=state, outcome="failed", explanation=WHY
    )
    return {
        "passing": whole.passing - {_hidden()},
        "failing": {_hidden(): entry},
    }


def test_a_client_that_got_no_worse_is_green(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    options = _prepared(scene)
    assert _run("good.py", *options) == ExitCode.CONFORMANT
    assert _answer(scene)["verdict"] == "GREEN"
    assert "Gate: GREEN" in capsys.readouterr().out
    assert ledger.load_ledger(scene.output / ledger.FILE).runs


def test_a_client_that_got_worse_is_red_and_was_run_again(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    options = _prepared(scene)
    assert _run("hides_prompts.py", *options) == ExitCode.NOT_CONFORMANT
    answer = _answer(scene)
    assert answer["verdict"] == "REGRESSED"
    assert [each["check_id"] for each in answer["newFailures"]] == ["prompts-inventory"]
    assert "again: nox -s conformance-2025-11-25 -- " in capsys.readouterr().out
    assert (_latest(scene) / evidence.RERUNS).is_file()
    derived = rejudge(_latest(scene), load_catalogue())
    assert derived.value == scene.report()


def test_what_is_known_to_fail_is_green_and_what_is_fixed_is_ratcheted(
    scene: Scene,
) -> None:
    options = _prepared(scene, **_knows(scene))
    assert _run("hides_prompts.py", *options) == ExitCode.CONFORMANT
    assert len(_answer(scene)["knownFailures"]) == 1
    assert _run("good.py", *options) == ExitCode.CONFORMANT
    assert _run("good.py", *options, "--ratchet") == ExitCode.NOT_CONFORMANT
    assert len(_answer(scene)["fixedChecks"]) == 1


@pytest.mark.parametrize(
    ("program", "more", "code"),
    [
        ("import os; os.kill(os.getpid(), 11)", (), ExitCode.NOT_CONFORMANT),
        ("import signal; signal.pause()", ("--timeout", "2"), ExitCode.NOT_CONFORMANT),
        ("pass", (), ExitCode.NOT_CONFORMANT),
        ("import sys; sys.exit(1)", (), ExitCode.NOT_CONFORMANT),
        ("import sys; sys.exit(69)", (), ExitCode.HARNESS),
    ],
    ids=["crashes", "hangs", "says nothing", "ends with 1", "unsupported"],
)
def test_a_client_that_does_nothing_good_is_never_green(
    scene: Scene, program: str, more: tuple[str, ...], code: ExitCode
) -> None:
    """Not even where everything that it fails is known to fail."""
    path = scene.cwd / "client.py"
    path.write_text(program)
    options = _prepared(scene)
    assert _run(path, *options, *more) == code
    failing = [
        CheckIdentity(*(each[name] for name in IDENTITY))
        for group in ("newFailures", "missingChecks", "changedFailures")
        for each in _answer(scene)[group]
    ]
    whole = passing_baseline(scene)
    known = {
        each: ExpectedFailure(
            identity=each, state=CheckState.FAIL, outcome="failed", explanation=WHY
        )
        for each in failing
        if each in whole.passing
    }
    excused = replace(whole, passing=whole.passing - known.keys(), failing=known)
    write_baseline(scene.cwd / "baseline.json", excused)
    assert _run(path, *options, *more) != ExitCode.CONFORMANT
    assert _answer(scene)["success"] is False


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--require-automatic-auth",), "auth mode is assisted and strict"),
        (("--revision-policy", "exact"), "revision policy is same-era and exact"),
        (("--warnings", "warn"), "policy for warnings is fail and warn"),
        (("--report", "baseline.json"), "this run would write its report there"),
        (("--flaky-budget", "-1"), "at least 0"),
    ],
)
def test_what_cannot_be_compared_is_refused_before_anything_is_run(
    scene: Scene,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
    problem: str,
) -> None:
    gated = _prepared(scene)
    before = sorted((scene.output / run.RUNS).iterdir())
    held = (scene.cwd / "baseline.json").read_bytes()
    capsys.readouterr()
    assert _run("good.py", *gated, *options) == ExitCode.BAD_INPUT
    said = capsys.readouterr().err
    assert said.startswith("mcpconf: error: ")
    assert problem in said
    assert said.count("\n") == 1
    assert sorted((scene.output / run.RUNS).iterdir()) == before
    assert (scene.cwd / "baseline.json").read_bytes() == held


def test_a_run_takes_the_baselines_policy_for_warnings(scene: Scene) -> None:
    options = _prepared(scene, warnings=WarningRules(default=Policy.WARN))
    assert _run("good.py", *options) == ExitCode.CONFORMANT
    assert scene.report()["policy"]["warnings"] == "warn"


def test_an_answer_does_not_outlive_the_run_it_is_about(scene: Scene) -> None:
    assert _run("good.py", *_prepared(scene)) == ExitCode.CONFORMANT
    assert (scene.output / gating.GATE).is_file()
    assert _run("hides_prompts.py") == ExitCode.NOT_CONFORMANT
    assert not (scene.output / gating.GATE).exists()


@pytest.mark.parametrize("words", [("--ratchet",), ("--flaky-budget", "1")])
def test_what_is_about_a_baseline_needs_one(
    scene: Scene, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    assert _run("good.py", *words) == ExitCode.BAD_INPUT
    assert f"{words[0]}: is about a baseline" in capsys.readouterr().err
    assert not scene.output.exists()
