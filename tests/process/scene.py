"""A place for whole runs, watched for what is left in it."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from mcpconf import cli, evidence, run
from mcpconf.baseline.entry import Baseline, Scope
from mcpconf.baseline.known import known_checks
from mcpconf.identity import CheckIdentity, Leg
from mcpconf.observed import load_observed
from mcpconf.report_schema import load_report
from mcpconf.suite.catalogue import load_catalogue
from mcpconf.supplemental.registry import SCENARIOS

if TYPE_CHECKING:
    import pytest

FIXTURES = Path(__file__).parents[2] / "fixtures"
SUITES, CLIENTS = FIXTURES / "suites", FIXTURES / "clients"
#: Nothing here takes a tenth of it, even on a busy machine; it only bounds a defect.
PATIENCE_S = 60.0
REVISION = "2025-11-25"
SCENARIO = "tools_call"


class Scene:
    """A working directory and a temporary one, watched for what is left in them."""

    def __init__(self, place: Path, mark: str) -> None:
        self.cwd = place / "work"
        self.tmp = place / "tmp"
        self.mark = mark
        for each in (self.cwd, self.tmp):
            each.mkdir(parents=True)

    @property
    def output(self) -> Path:
        return self.cwd / ".mcpconf"

    def words(
        self, suite: str, client: str, *options: str, timeout_s: float = PATIENCE_S
    ) -> list[str]:
        """The arguments of one run."""
        return [
            *("run", "--revision", REVISION, "--timeout", f"{timeout_s:g}"),
            *("--conformance-cli", str(SUITES / suite)),
            *("--client-command", client_command(client)),
            *(options or ("--official-scenario", SCENARIO)),
        ]

    def run(self, suite: str, client: str, *options: str, **limit: float) -> int:
        """A run in this process; its exit code."""
        return cli.main(self.words(suite, client, *options, **limit))

    def start(self, suite: str, client: str, *options: str) -> subprocess.Popen[str]:
        """A run in a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "mcpconf", *self.words(suite, client, *options)],
            cwd=self.cwd,
            env={**os.environ, "TMPDIR": str(self.tmp)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def report(self) -> dict[str, Any]:
        """The latest report, held against the schema."""
        return load_report(self.output / run.REPORT)

    def scenario(self) -> dict[str, Any]:
        (only,) = self.report()["cases"]
        (scenario,) = only["scenarios"]
        result: dict[str, Any] = scenario
        return result

    def run_dir(self) -> Path:
        (only,) = (self.output / run.RUNS).iterdir()
        return only

    def survivors(self) -> list[psutil.Process]:
        """Processes that carry this scene's mark in their search path."""
        found = []
        for each in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if each.pid != os.getpid() and self.mark in each.environ().get(
                    "PATH", ""
                ):
                    found.append(each)
        return found

    def open_ports(self) -> list[int]:
        """Ports of this scene's servers that still answer."""
        ports = set()
        for log in self.output.rglob(evidence.WIRE):
            for line in log.read_text("utf-8").splitlines():
                record = json.loads(line)
                if record["type"] == "listen":
                    ports.add(record["port"])
        still = []
        for port in ports:
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", port), timeout=1.0).close()
                still.append(port)
        return still

    def check_nothing_is_left(self) -> None:
        left = self.survivors()
        for process in left:
            process.kill()
        assert left == []
        assert psutil.Process().children() == []
        assert sorted(path.name for path in self.tmp.iterdir()) == []
        assert self.open_ports() == []
        assert not list(self.output.rglob("*.tmp"))


def client_command(client: str) -> str:
    """``name.py and arguments`` of a fake client as a command."""
    name, *arguments = client.split(" ")
    words = [sys.executable, str(CLIENTS / name), *arguments]
    return subprocess.list2cmdline(words)


def staged(place: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    mark = f"/nowhere/{uuid.uuid4().hex}"
    # The one variable that everybody hands on.
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:{mark}")
    one = Scene(place, mark)
    monkeypatch.setattr(tempfile, "tempdir", str(one.tmp))
    monkeypatch.chdir(one.cwd)
    return one


def passing_baseline(scene: Scene) -> Baseline:
    """
    The baseline in which everything passes of our scenarios at `REVISION`.

    It is of the client and the suite of the scene's latest report.
    """
    catalogue = load_catalogue()
    report = load_observed(scene.output / run.REPORT)
    everything = frozenset(
        CheckIdentity(REVISION, label, source, scenario, check_id)
        for label in ("stdio", "http")
        for scenario in SCENARIOS
        for source in ("supplemental", "harness")
        for check_id in known_checks(
            catalogue, Leg(label, REVISION), scenario, source, client="command"
        )
    )
    return Baseline(
        version=2,
        client=report.client,
        client_version=report.client_version,
        suite=report.suite,
        strict_auth=False,
        scope=Scope(
            revisions=(REVISION,),
            transports=("stdio", "http"),
            sources=("supplemental",),
            authentication=True,
        ),
        scenarios={},
        passing=everything,
        failing={},
    )
