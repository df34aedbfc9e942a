"""
What a run of the GitHub Action came to: exit code, verdict, gate.

Only a report that this run wrote counts, and the exit codes 0 and 1 count only with a
report, or a gate, that says the same. Everything else is 3: an old file, or none, is no
success, and a program that broke is no failure of the client.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mcpconf.decode import REPORT_BYTES, Reader, load_json
from mcpconf.errors import DecodeError, ExitCode
from mcpconf.gate_record import KIND, GateVerdict
from mcpconf.record import Verdict
from mcpconf.report_schema import load_report

FOLDER = Path(".mcpconf")
REPORT = FOLDER / "report.json"
GATE = FOLDER / "gate.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outputs of the action."""

    exit_code: ExitCode
    #: None where this run wrote no report, or no gate.
    verdict: Verdict | None = None
    gate: GateVerdict | None = None
    #: Why the exit code is not the one the program ended with.
    problem: str | None = None

    def outputs(self) -> str:
        """Lines for ``GITHUB_OUTPUT``; each value is one of a few known words."""
        values = {
            "exit-code": str(int(self.exit_code)),
            "verdict": self.verdict or "",
            "report": REPORT.as_posix() if self.verdict else "",
            "gate": self.gate or "",
        }
        return "".join(f"{name}={value}\n" for name, value in values.items())


class Watch:
    """The files of `FOLDER` as they were before."""

    def __init__(self) -> None:
        self._before = {path: _signature(path) for path in (REPORT, GATE)}

    def is_new(self, path: Path) -> bool:
        """Whether a file was written since; it is replaced, never changed in place."""
        now = _signature(path)
        return now is not None and now != self._before[path]

    def outcome(self, code: int, *, gated: bool) -> Outcome:
        """What a program that ended with `code` came to."""
        verdict = gate = None
        try:
            if self.is_new(REPORT):
                verdict = Verdict(load_report(REPORT)["verdict"])
            if self.is_new(GATE):
                gate = read_gate(GATE)
            problem = _problem(code, verdict, gate, gated=gated)
        except DecodeError as error:  # of a file of our own: no verdict
            problem = str(error)
        return Outcome(
            exit_code=ExitCode.HARNESS if problem else ExitCode(code),
            verdict=verdict,
            gate=gate,
            problem=problem,
        )


def read_gate(path: Path) -> GateVerdict:
    """
    The verdict of a stored gate.

    :raises DecodeError: it is not one.
    """
    reader = Reader(load_json(path, max_bytes=REPORT_BYTES), path)
    if reader.key("kind").string() != KIND:
        reader.key("kind").fail(f"expected {KIND}")
    return reader.key("verdict").word(GateVerdict)


def _problem(
    code: int, verdict: Verdict | None, gate: GateVerdict | None, *, gated: bool
) -> str | None:
    if code not in set(ExitCode):
        return f"the session ended with {code}, which is none of its exit codes"
    if code in {ExitCode.BAD_INPUT, ExitCode.HARNESS}:
        return None
    if verdict is None:
        return f"exit code {code}, but no {REPORT} was written"
    if gated and (gate is None or gate.exit_code != code):
        return f"exit code {code}, but {GATE} says {gate or 'nothing'}"
    if not gated and verdict.exit_code != code:
        return f"exit code {code}, but {REPORT} says {verdict}"
    return None


def _signature(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
