"""The program the suite starts: for real, with programs that end in every way."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mcpconf import evidence
from mcpconf.client.job import DriverVerdict
from mcpconf.decode import load_json
from mcpconf.process import EndKind

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="the programs use signals"),
]

ENTRY = Path(evidence.__file__).parent / "client" / "entry.py"
URL = "http://127.0.0.1:1/mcp"
#: Nothing here takes a tenth of it, even on a busy machine; it only bounds a defect.
PATIENCE_S = 30.0


class Desk:
    """A case directory, and the entry started in it as the suite would."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.report = place / "adapter.json"
        self.stdout = b""
        self.job: dict[str, Any] = {
            "driver": "command",
            "argv": [],
            "home": str(place),
            "cwd": str(place),
            "report": str(self.report),
            "scenario": "tools_call",
            "revision": "2025-11-25",
            "deadline_s": PATIENCE_S,
            "request_s": PATIENCE_S,
            "environment": {"GIVEN": "by the job"},
            "options": {},
        }

    def enter(self, *, words: tuple[str, ...] | None = None) -> int:
        job = self.place / "job.json"
        job.write_text(json.dumps(self.job), "utf-8")
        done = subprocess.run(
            [sys.executable, "-I", "-S", ENTRY, *(words or (str(job), URL))],
            env={"MCP_CONFORMANCE_SCENARIO": "tools_call", "OTHER": "of the suite"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
        self.stdout = done.stdout
        return done.returncode

    def run(self, program: str, *arguments: str) -> int:
        """Drive a Python program of one line."""
        argv = [sys.executable, "-I", "-S", "-c", program, *arguments]
        self.job["argv"] = argv
        return self.enter()

    def record(self) -> evidence.AdapterRecord:
        assert not list(self.place.glob("*.tmp"))
        return evidence.parse_adapter(load_json(self.report), self.report)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def test_a_program_that_does_its_work_is_done(desk: Desk) -> None:
    assert desk.run("pass") == 0

    record = desk.record()
    assert record.verdict is DriverVerdict.DONE
    assert (record.driver, record.error) == ("command", None)
    assert (record.end.kind, record.end.exit_code) == (EndKind.EXITED, 0)
    assert record.steps == (("run", True, "exit 0"),)


def test_a_program_gets_its_arguments_the_url_and_nothing_else(desk: Desk) -> None:
    """Of the suite's environment only its own variables, of ours only the job's."""
    desk.run(
        "import json, os, sys;"
        "print(json.dumps([sys.argv[1:], dict(os.environ), os.getcwd()]))",
        "a 'b' $c",
    )

    arguments, environment, cwd = json.loads(desk.stdout)
    assert arguments == ["a 'b' $c", URL]
    environment.pop("LC_CTYPE", None)  # Python sets it for itself
    assert environment == {
        "GIVEN": "by the job",
        "MCP_CONFORMANCE_SCENARIO": "tools_call",
    }
    assert cwd == str(desk.place)


def test_a_program_that_exits_with_a_code_is_a_client_error(desk: Desk) -> None:
    assert desk.run("raise SystemExit(7)") == 1

    record = desk.record()
    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert (record.end.kind, record.end.exit_code) == (EndKind.EXITED, 7)
    assert record.error == "the program exited with 7"


def test_exit_69_says_that_the_program_cannot_do_it(desk: Desk) -> None:
    assert desk.run("raise SystemExit(69)") == 69

    assert desk.record().verdict is DriverVerdict.UNSUPPORTED


@pytest.mark.parametrize(
    ("number", "name"),
    [
        (signal.SIGSEGV.value, "SIGSEGV"),
        (signal.SIGKILL.value, "SIGKILL"),
        pytest.param(
            36,
            "SIG36",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="Linux's numbers"),
        ),
    ],
)
def test_a_signal_is_recorded_as_the_programs_own_end(
    desk: Desk, number: int, name: str
) -> None:
    """The suite loses it: its shell makes an exit code of it, or nothing."""
    assert desk.run(f"import os; os.kill(os.getpid(), {number})") == 1

    record = desk.record()
    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert (record.end.kind, record.end.signal) == (EndKind.SIGNALLED, name)


def test_a_program_that_stays_is_ended_at_the_deadline(desk: Desk) -> None:
    desk.job["deadline_s"] = 0.5
    asked = time.monotonic()

    code = desk.run(
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
        "time.sleep(600)"
    )

    assert code == 1
    assert 0.5 <= time.monotonic() - asked < 0.5 * PATIENCE_S
    record = desk.record()
    assert record.end.kind is EndKind.TIMED_OUT
    assert record.error == "run: still running after 0.5 s"


@pytest.mark.parametrize("word", ["no-such-program", "./job.json"])
def test_a_program_that_cannot_be_started_has_not_exited(desk: Desk, word: str) -> None:
    desk.job["argv"] = [word]

    assert desk.enter() == 1

    record = desk.record()
    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert record.end.kind is EndKind.FAILED_TO_START


def test_a_fault_of_the_driver_is_not_the_clients(desk: Desk) -> None:
    """Every exception of our own code is an adapter fault, with its trace."""
    desk.job["argv"] = [7]

    assert desk.enter() == 70

    record = desk.record()
    assert record.verdict is DriverVerdict.ADAPTER_FAULT
    assert "Traceback" in (record.error or "")


@pytest.mark.parametrize("words", [("job.json",), ("job.json", URL, "more")])
def test_a_wrong_number_of_arguments_is_refused(
    desk: Desk, words: tuple[str, ...]
) -> None:
    assert desk.enter(words=words) == 64

    assert not desk.report.exists()


def test_a_broken_job_leaves_no_record(desk: Desk) -> None:
    """Nothing is known then, not even where a record would go."""
    del desk.job["report"]

    assert desk.enter() not in {0, 69}
    assert not desk.report.exists()
