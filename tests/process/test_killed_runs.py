"""
A run with a baseline that is killed, at any moment, is never green and loses nothing.

What was there stays, or what is new is whole: never half a file. A report that is there
can be read, and says that it is incomplete unless it is the whole one.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from scene import PATIENCE_S, Scene, passing_baseline, staged

from mcpconf import gating, ledger, run
from mcpconf.baseline.store import write_baseline
from mcpconf.errors import ExitCode
from mcpconf.gate_record import GatePolicy, GateVerdict
from mcpconf.report_schema import load_report
from mcpconf.suite.catalogue import load_catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="the programs use Linux"),
]

CATALOGUE = load_catalogue()
GOOD = str(Path(__file__).parents[2] / "fixtures" / "clients" / "good.py")
#: Random, and the same in every run of this test.
SEED = 20261130
MOMENTS = 50


def _words(baseline: Path | None) -> list[str]:
    command = subprocess.list2cmdline([sys.executable, GOOD])
    words = ["run", "--client-command", command, "--revision", "2025-11-25"]
    words += ["--supplemental-scenario", "basics", "--supplemental-scenario", "numbers"]
    return words + (["--baseline", str(baseline)] if baseline else [])


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    """A scene; SIGKILL is the one end after which private directories stay."""
    one = staged(tmp_path, monkeypatch)
    yield one
    for left in one.tmp.iterdir():
        assert left.stat().st_mode & 0o077 == 0
        shutil.rmtree(left)
    for half in one.output.rglob("*.tmp"):
        half.unlink()  # beside the files, under a name nobody reads
    one.check_nothing_is_left()


def _start(scene: Scene, words: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "mcpconf", *words],
        cwd=scene.cwd,
        env={**os.environ, "TMPDIR": str(scene.tmp)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def _killed_after(process: subprocess.Popen[bytes], moment_s: float) -> int:
    """The exit code of a run that is killed, unless it is over; its tree is gone."""
    try:
        return process.wait(moment_s)
    except subprocess.TimeoutExpired:
        tree = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        _, alive = psutil.wait_procs(tree, timeout=PATIENCE_S)
        assert alive == []
        return process.wait(PATIENCE_S)


def test_a_run_killed_at_any_moment_is_never_green_and_loses_nothing(
    scene: Scene,
) -> None:
    assert _start(scene, _words(None)).wait(PATIENCE_S) == ExitCode.CONFORMANT
    baseline = scene.cwd / "baseline.json"
    write_baseline(baseline, passing_baseline(scene))
    began = time.monotonic()
    assert _start(scene, _words(baseline)).wait(PATIENCE_S) == ExitCode.CONFORMANT
    whole_s = time.monotonic() - began
    moments = random.Random(SEED)  # noqa: S311 (moments, not secrets)
    partial = 0
    for _ in range(MOMENTS):
        code = _killed_after(
            _start(scene, _words(baseline)), moments.uniform(0, whole_s)
        )
        report = load_report(scene.output / run.REPORT)
        answer = scene.output / gating.GATE  # taken away when a run begins
        ledger.load_ledger(scene.output / ledger.FILE)
        assert code in {ExitCode.CONFORMANT, -signal.SIGKILL}
        partial += not report["complete"]
        about_it = gating.load_answer(answer, scene.output / run.REPORT, named=False)
        if code == ExitCode.CONFORMANT:
            assert (report["complete"], bool(about_it)) == (True, True)
        if not report["complete"]:
            assert (about_it, report["verdict"]) == (None, "INCONCLUSIVE")
            gate = gating.load_gate(baseline, GatePolicy(), CATALOGUE)
            assert (
                gate.decide(scene.output / run.REPORT).verdict is GateVerdict.INCOMPLETE
            )
    assert partial > MOMENTS // 4, "the moments were not in the middle of the runs"
