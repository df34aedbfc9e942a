"""
Speed against the written budgets, as ratios measured in one run.

Nothing here is a test: a busy machine is slow, and that is no defect. Every figure is
set against another one of the same run, but for those that are absolute budgets
(seconds, memory, requests of the fixture server).
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tabulate import tabulate

from mcpconf import bench_fixture, bench_gate, evidence, run
from mcpconf.case import WITNESS
from mcpconf.errors import ExitCode
from mcpconf.process import Program
from mcpconf.process import run as run_program
from mcpconf.record import Source
from mcpconf.setup import RunOptions, resolve
from mcpconf.suite.install import install_suite

if TYPE_CHECKING:
    from mcpconf.ours import Case
    from mcpconf.record import ScenarioResult

_WITNESS_ROUNDS = 15
_JOBS = os.cpu_count() or 1


@dataclass(frozen=True, slots=True)
class Budget:
    """One figure, and what it may be at most."""

    what: str
    measured: float
    limit: float
    unit: str
    #: Whether it must be reached; otherwise it must not be exceeded.
    is_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the budget is kept."""
        if self.is_least:
            return self.measured >= self.limit
        return self.measured <= self.limit


class _FirstCase:
    """Notes when the first case was launched."""

    def __init__(self) -> None:
        self.at: float | None = None

    def started(self, _case: Case) -> None:
        """Note the time, once."""
        self.at = self.at or time.time()

    def finished(self, result: ScenarioResult) -> None:
        """Nothing to note."""


def measure(
    jobs: int, scenarios: tuple[str, ...], output_dir: Path
) -> dict[str, float]:
    """
    Run Codex and say what it cost: seconds, seconds of processor time, MiB.

    Runs in a process of its own, so that its memory and time are a runner's.
    """
    # Seconds of the epoch: the caller's clock, across two processes.
    first = _FirstCase()
    setup = resolve(
        RunOptions(
            jobs=jobs,
            scenarios=scenarios,
            only=Source.OFFICIAL,
            output_dir=output_dir,
        )
    )
    begun = time.monotonic()
    run.perform(setup, first)
    wall_s = time.monotonic() - begun
    own = resource.getrusage(resource.RUSAGE_SELF)
    run_dir = output_dir / run.RUNS / setup.record.run_id
    cases = [evidence.read_case(run_dir, case.key) for case in setup.cases]
    known = [case for case in cases if case is not None]
    return {
        "first_case_at": first.at or 0.0,
        "wall_s": wall_s,
        "cases": len(known),
        "runner_cpu_s": own.ru_utime + own.ru_stime,
        "supervisor_cpu_s": sum(case.ended.supervisor_cpu_s or 0.0 for case in known),
        "driver_cpu_s": sum(
            (case.adapter.cpu_s or 0.0) for case in known if case.adapter is not None
        ),
        "tree_cpu_s": sum(case.ended.cpu_s or 0.0 for case in known),
        "memory_mib": own.ru_maxrss / 1024,
    }


def _measured(
    jobs: int, scenarios: tuple[str, ...] = ()
) -> tuple[dict[str, float], float]:
    """`measure` in a process of its own; also when that process was started."""
    with tempfile.TemporaryDirectory(prefix="mcpconf-bench-") as name:
        started_at = time.time()
        done = subprocess.run(
            [sys.executable, "-m", "mcpconf.bench", str(jobs), name, *scenarios],
            stdout=subprocess.PIPE,
            check=True,
        )
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures, started_at


def _witness_cost() -> tuple[float, float]:
    """Processor seconds of one suite run: without the witness, and with it."""
    suite = install_suite()
    if suite.node is None:  # the pinned suite is always run by Node
        raise AssertionError
    words = ["client", "--command", "./client", "--scenario", "initialize"]
    words += ["--spec-version", "2025-11-25", "--timeout", "20000"]
    canary = Path(__file__).parent / "client" / "canary" / "initialize_only.py"
    taken: dict[bool, list[float]] = {False: [], True: []}
    with tempfile.TemporaryDirectory(prefix="mcpconf-bench-") as name:
        directory = Path(name)
        client = directory / "client"
        client.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{canary}" "$@"\n')
        client.chmod(0o755)
        for round_number in range(2 * _WITNESS_ROUNDS):
            with_witness = round_number % 2 == 1
            node = str(suite.node.path)
            loaded = ["--require", str(WITNESS)] if with_witness else []
            environment = {"PATH": os.environ.get("PATH", os.defpath)}
            if with_witness:
                environment["MCPCONF_WITNESS_FILE"] = str(directory / "wire.jsonl")
            ended = run_program(
                Program(
                    argv=(node, *loaded, str(suite.entry), *words),
                    cwd=directory,
                    environment=environment,
                    stdout=directory / "stdout",
                    stderr=directory / "stderr",
                    deadline_s=30,
                )
            )
            taken[with_witness].append(ended.cpu_s or 0.0)
    return statistics.median(taken[False]), statistics.median(taken[True])


def _supplemental_s() -> float:
    """Seconds of our own scenarios with Codex: every revision, both transports."""
    with tempfile.TemporaryDirectory(prefix="mcpconf-bench-") as name:
        setup = resolve(
            RunOptions(jobs=_JOBS, only=Source.SUPPLEMENTAL, output_dir=Path(name))
        )
        begun = time.monotonic()
        run.perform(setup, _FirstCase())
        return time.monotonic() - begun


def budgets() -> tuple[Budget, ...]:
    """Measure everything; takes a few minutes."""
    _measured(1, ("tools_call",))  # fills the caches
    warm, started_at = _measured(1, ("tools_call",))
    one, _ = _measured(1)
    many, _ = _measured(_JOBS)
    without, with_witness = _witness_cost()
    witness_s = max(0.0, with_witness - without)
    ours = (
        many["runner_cpu_s"]
        + many["supervisor_cpu_s"]
        + many["driver_cpu_s"]
        + witness_s * many["cases"]
    )
    total = many["tree_cpu_s"] + many["runner_cpu_s"] + many["supervisor_cpu_s"]
    return (
        Budget(
            f"matrix at --jobs {_JOBS} ÷ --jobs 1",
            many["wall_s"] / one["wall_s"],
            0.70,
            "",
        ),
        Budget("our processor time ÷ total", ours / total, 0.12, ""),
        Budget("suite with witness ÷ without", with_witness / without, 1.05, ""),
        Budget(
            "warm start to first case", warm["first_case_at"] - started_at, 2.0, "s"
        ),
        Budget("runner memory", many["memory_mib"], 80.0, "MiB"),
        Budget("our scenarios with Codex", _supplemental_s(), 90.0, "s"),
        *_fixture_budgets(),
        *_gate_budgets(),
        *_page_budgets(),
    )


def _gate_budgets() -> tuple[Budget, ...]:
    figures = bench_gate.gate_figures()
    what = f"gate over {figures['checks']:,.0f} checks"
    return (
        Budget(what, figures["seconds"], 2.0, "s of processor time"),
        Budget(f"{what}, memory", figures["memory_mib"], 300, "MiB"),
    )


def _page_budgets() -> tuple[Budget, ...]:
    from mcpconf import bench_html  # noqa: PLC0415 (the one part that needs a browser)

    report = bench_html.big_report(60, 600)
    figures = bench_html.measure(report, bench_html.big_transcripts(report))
    what = f"HTML page of {figures.checks:,} checks"
    return (
        Budget(f"{what}, until it can be used", figures.interactive_s, 1.0, "s"),
        Budget(f"{what}, until a result is open", figures.opened_s, 1.0, "s"),
        Budget(f"{what}, size", figures.size_bytes / 2**20, 5.0, "MiB"),
    )


def _fixture_budgets() -> tuple[Budget, ...]:
    second = "requests per second of processor time"
    return (
        Budget(
            "fixture server over stdio",
            bench_fixture.stdio_requests_per_cpu_s(),
            2000,
            second,
            is_least=True,
        ),
        Budget(
            "fixture server over HTTP",
            bench_fixture.http_requests_per_cpu_s(),
            1000,
            second,
            is_least=True,
        ),
        Budget(
            "its memory, a line of 10 MiB", bench_fixture.stdio_flood_mib(), 60, "MiB"
        ),
        Budget(
            "its memory, 8 MiB of comments", bench_fixture.http_flood_mib(), 60, "MiB"
        ),
    )


def run_bench() -> ExitCode:
    """Print every figure beside its budget; 1 when one is not kept."""
    results = budgets()
    rows = [
        [
            each.what,
            f"{each.measured:.2f} {each.unit}".strip(),
            f"{'at least' if each.is_least else 'at most'} {each.limit:g}",
            "kept" if each.holds else "NOT KEPT",
        ]
        for each in results
    ]
    table = tabulate(rows, ["Figure", "Measured", "Budget", ""], tablefmt="simple")
    sys.stdout.write(f"{table}\n")
    kept = all(each.holds for each in results)
    return ExitCode.CONFORMANT if kept else ExitCode.NOT_CONFORMANT


if __name__ == "__main__":
    figures = measure(int(sys.argv[1]), tuple(sys.argv[3:]), Path(sys.argv[2]))
    sys.stdout.write(json.dumps(figures) + "\n")
