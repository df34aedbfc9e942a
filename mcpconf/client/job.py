"""
What one driver is asked to do, and the record it leaves.

The runner writes a job file, the suite starts ``entry.py`` with it, and the driver
answers with an adapter record: the steps it took, how the client program ended, and
one verdict about its own work (never about conformance).

Drivers start once per scenario, without site-packages: everything here keeps to the
cheap part of the standard library.
"""

from __future__ import annotations

import json
import os
import signal
import time
from enum import StrEnum

# Not from `typing`: every drive imports this, and that import costs five milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: Exit status of a client that cannot do a scenario at all (``EX_UNAVAILABLE``).
UNSUPPORTED_EXIT = 69


class DriverVerdict(StrEnum):
    """What a driver says of its own work."""

    DONE = "done"
    CLIENT_ERROR = "client-error"
    UNSUPPORTED = "unsupported"
    ADAPTER_FAULT = "adapter-fault"


def signal_name(number: int) -> str:
    """The name of a signal; a real-time signal has none of its own."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


class Job:
    """One scenario for one client; times in seconds."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        """
        Take what the runner wrote.

        :raises KeyError: a member is missing (the two halves of mcpconf disagree).
        """
        self.driver: str = raw["driver"]
        self.argv: tuple[str, ...] = tuple(raw["argv"])
        self.home: str = raw["home"]
        self.cwd: str = raw["cwd"]
        self.report: str = raw["report"]
        self.scenario: str = raw["scenario"]
        self.revision: str = raw["revision"]
        self.deadline_s: float = raw["deadline_s"]
        self.request_s: float = raw["request_s"]
        self.environment: Mapping[str, str] = raw["environment"]
        self.options: Mapping[str, str | None] = raw["options"]
        #: ``official`` or ``supplemental``; the members below are the latter's.
        self.kind: str = raw.get("kind", "official")
        self.transport: str | None = raw.get("transport")
        #: Name → ``{"url"}``, or ``{"argv", "env"}`` for the client to start.
        self.servers: Mapping[str, Mapping[str, Any]] = raw.get("servers", {})
        self.steps: list[dict[str, Any]] = raw.get("steps", [])
        self.request_timeout_s: float = raw.get("request_timeout_s", self.request_s)
        #: The private ``TMPDIR``.
        self.tmp: str | None = raw.get("tmp")
        #: Where the record goes instead of into a file that the client could find.
        self.report_fd: int | None = raw.get("report_fd")
        #: A directory that the drives of a run share: for what is slow to make.
        self.shared: str | None = raw.get("shared")

    @property
    def is_stateless(self) -> bool:
        """Whether the leg is of the stateless era."""
        return self.revision >= "2026-07-28"


def load_job(path: str) -> Job:
    """
    Read the job file the runner wrote.

    :raises KeyError: a member is missing (the two halves of mcpconf disagree).
    """
    with open(path, encoding="utf-8") as stream:
        raw = json.load(stream)
    return Job(raw)


class ClientError(Exception):
    """The client refused, failed or fell silent: its own doing."""


class Unsupported(Exception):  # noqa: N818 (a fact about the client, not an error)
    """The client has no way to do this scenario."""


class Record:
    """The steps of one driver run; written once, whole, at the end."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.steps: list[dict[str, Any]] = []
        #: Of a supplemental drive, see `steps.Results`; None: there was none.
        self.results: list[dict[str, Any]] | None = None
        self.aftermath: dict[str, Any] | None = None
        self.end: dict[str, Any] = {
            "kind": "failed-to-start",
            "exit_code": None,
            "signal": None,
        }
        self._deadline = time.monotonic() + job.deadline_s

    def remaining_s(self) -> float:
        """Seconds until the whole drive must be over; never negative."""
        return max(0.0, self._deadline - time.monotonic())

    def budget_s(self) -> float:
        """Seconds one request may take: its own limit inside the drive's."""
        return min(self.job.request_s, self.remaining_s())

    def step(self, name: str, detail: str = "", *, ok: bool = True) -> None:
        """Note one step."""
        self.steps.append({"name": name, "ok": ok, "detail": detail[-2000:]})

    def require(self, name: str, ok: bool, detail: str = "") -> None:  # noqa: FBT001
        """Note one step; the drive ends here when it failed."""
        self.step(name, detail, ok=ok)
        if not ok:
            raise ClientError(f"{name}: {detail}")

    def failed_steps(self) -> list[str]:
        """What went wrong in steps that did not end the drive."""
        return [f"{s['name']}: {s['detail']}" for s in self.steps if not s["ok"]]

    def ended(
        self, kind: str, exit_code: int | None = None, signal: str | None = None
    ) -> None:
        """Note how the client program ended."""
        self.end = {"kind": kind, "exit_code": exit_code, "signal": signal}

    def write(self, verdict: DriverVerdict, error: str | None) -> None:
        """Write the adapter record in one step (temporary name, rename)."""
        content: dict[str, Any] = {
            "schema": 1,
            "driver": self.job.driver,
            "steps": self.steps,
            "end": self.end,
            "verdict": verdict.value,
            "error": None if error is None else error[-4000:],
            # The driver's own cost, without the client's; for the benchmark.
            "cpu_s": time.process_time(),
        }
        if self.results is not None:
            content["results"] = self.results
        if self.aftermath is not None:
            content["aftermath"] = self.aftermath
        if self.job.report_fd is not None:
            with open(self.job.report_fd, "wb") as stream:
                stream.write(json.dumps(content).encode())
            return
        temporary = self.job.report + ".tmp"
        with open(
            temporary, "w", encoding="utf-8", errors="backslashreplace"
        ) as stream:
            json.dump(content, stream)
        os.replace(temporary, self.job.report)
