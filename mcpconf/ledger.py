"""
Which cases were flaky, run after run: ``.mcpconf/flakes.jsonl``.

One JSON object a line: one for every finished run that was held against a baseline, and
one for every case of it that was rescued. A rate needs both. The file is read and
written whole under a lock, so that two runs never interleave and a kill leaves the old
file. Whatever is in it that was not written here is refused, with its line.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import filelock

from mcpconf.decode import Json, Reader, parse_json
from mcpconf.errors import DecodeError, StorageError
from mcpconf.identity import LABELS
from mcpconf.record import Outcome
from mcpconf.storage import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

FILE = "flakes.jsonl"
#: Of each client the newest runs are kept: a rate is about the client of today, and the
#: whole file is read and written at the end of every run.
KEPT_RUNS = 500
#: A case adds about 2 KiB, and a run at most 25 cases: far more than all of it.
_MAX_BYTES = 64 * 1024 * 1024
_MAX_REASON = 500
_LOCK_TIMEOUT_S = 60.0
_NOT_NOTED = "the run is not in the ledger"
_RUN_KEYS = ("kind", "run", "client", "version", "cases", "finished_at")
_FLAKE_KEYS = (
    *("kind", "run", "client", "version", "mode", "transport", "scenario", "variant"),
    *("checks", "first", "again", "rate"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEntry:
    """One finished run that was held against a baseline."""

    #: Its id.
    run: str
    client: str
    version: str
    #: How many cases have a result.
    cases: int
    #: ISO 8601.
    finished_at: str

    def to_json(self) -> dict[str, Json]:
        """One line of the ledger."""
        return {
            "kind": "run",
            "run": self.run,
            "client": self.client,
            "version": self.version,
            "cases": self.cases,
            "finished_at": self.finished_at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What one launch of a case amounted to."""

    outcome: Outcome
    reason: str

    def to_json(self) -> dict[str, Json]:
        """As a line holds it; a long reason is cut."""
        return {"outcome": self.outcome.value, "reason": self.reason[:_MAX_REASON]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """How often one case was flaky, in how many runs of its client."""

    flaky: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FlakeEntry:
    """One case of one run that was rescued, wholly or in part."""

    run: str
    client: str
    version: str
    #: A dated revision.
    mode: str
    #: One of `mcpconf.identity.LABELS`.
    transport: str
    scenario: str
    variant: str | None
    #: The rescued checks, as ``source:check-id``.
    checks: tuple[str, ...]
    first: Said
    again: tuple[Said, ...]
    #: `record_run` counts it; this run included.
    rate: Rate = Rate(flaky=0, runs=0)

    @property
    def case(self) -> tuple[str, str, str, str, str | None]:
        """What is the same case in another run."""
        return self.client, self.mode, self.transport, self.scenario, self.variant

    def to_json(self) -> dict[str, Json]:
        """One line of the ledger."""
        return {
            "kind": "flake",
            "run": self.run,
            "client": self.client,
            "version": self.version,
            "mode": self.mode,
            "transport": self.transport,
            "scenario": self.scenario,
            "variant": self.variant,
            "checks": list(self.checks),
            "first": self.first.to_json(),
            "again": [each.to_json() for each in self.again],
            "rate": {"flaky": self.rate.flaky, "runs": self.rate.runs},
        }


@dataclass(frozen=True, slots=True)
class Ledger:
    """Everything that is known, oldest first."""

    runs: tuple[RunEntry, ...] = ()
    flakes: tuple[FlakeEntry, ...] = ()

    def rate_of(self, flake: FlakeEntry) -> Rate:
        """How often the case of `flake` was flaky, over the runs of its client."""
        return Rate(
            flaky=sum(each.case == flake.case for each in self.flakes),
            runs=sum(each.client == flake.client for each in self.runs),
        )

    def content(self) -> bytes:
        """The file: a run, then what was flaky in it."""
        by_run: dict[str, list[FlakeEntry]] = {}
        for flake in self.flakes:
            by_run.setdefault(flake.run, []).append(flake)
        lines = [
            json.dumps(entry.to_json(), sort_keys=True)
            for run in self.runs
            for entry in (run, *by_run.get(run.run, ()))
        ]
        return "".join(f"{line}\n" for line in lines).encode("ascii")


def load_ledger(path: Path) -> Ledger:
    """
    Read the ledger; a file that is not there yet is an empty one.

    :raises DecodeError: it cannot be read; every malformed line is named by its number.
    """
    try:
        if path.exists() and not path.is_file():  # a pipe would be waited for
            problem = "is no regular file; move it away to begin a new one"
            raise DecodeError(path, "", problem)
        with path.open("rb") as stream:
            content = stream.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return Ledger()
    except OSError as error:
        raise DecodeError(path, "", f"cannot be read: {error.strerror}") from None
    if len(content) > _MAX_BYTES:
        problem = f"is larger than {_MAX_BYTES} bytes; move it away"
        raise DecodeError(path, "", problem)
    lines = content.removesuffix(b"\n").split(b"\n") if content else []
    runs: dict[str, RunEntry] = {}
    flakes = []
    problems = []
    for number, line in enumerate(lines, 1):
        try:
            entry = _entry(line, path, f"line {number}", runs)
        except DecodeError as error:
            problems.append(f"{error.where}: {error.problem}")
            continue
        if isinstance(entry, RunEntry):
            runs[entry.run] = entry
        else:
            flakes.append(entry)
    if problems:
        advice = "repair these lines, or move the file away to begin a new one"
        raise DecodeError(path, "", f"{'; '.join(problems)}; {advice}")
    return Ledger(tuple(runs.values()), tuple(flakes))


def record_run(path: Path, run: RunEntry, flakes: Sequence[FlakeEntry]) -> None:
    """
    Add a finished run and its flaky cases, whose rates are counted now.

    :raises DecodeError: what is there is malformed; it was left alone.
    :raises StorageError: the file cannot be written, or its lock is not to be had.
    """
    lock_path = path.with_name(f"{path.name}.lock")
    lock = filelock.FileLock(lock_path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with lock.acquire(timeout=_LOCK_TIMEOUT_S):
            before = load_ledger(path)
            after = _newest(
                Ledger((*before.runs, run), (*before.flakes, *flakes)), KEPT_RUNS
            )
            counted = [
                replace(each, rate=after.rate_of(each)) if each.run == run.run else each
                for each in after.flakes
            ]
            whole = replace(after, flakes=tuple(counted))
            write_whole(path, whole.content(), durable=True)
    except filelock.Timeout:
        raise StorageError(
            lock_path,
            f"another process has held this lock for {_LOCK_TIMEOUT_S:g} s; "
            f"{_NOT_NOTED}; end that process",
        ) from None
    except StorageError as error:
        advice = f"{_NOT_NOTED}; make room, or make its folder writable"
        raise StorageError(error.path, f"{error.problem}; {advice}") from None
    except (OSError, NotImplementedError) as error:  # of the lock; the rest has its own
        said = error.strerror if isinstance(error, OSError) else error
        raise StorageError(
            lock_path,
            f"this lock cannot be had: {said}; {_NOT_NOTED}; remove it, and see that "
            "its folder is writable and its file system has locks",
        ) from None


def _newest(ledger: Ledger, kept: int) -> Ledger:
    """The newest runs of each client, and what was flaky in them."""
    seen: Counter[str] = Counter()
    names = set()
    for run in reversed(ledger.runs):
        seen[run.client] += 1
        if seen[run.client] <= kept:
            names.add(run.run)
    return Ledger(
        tuple(each for each in ledger.runs if each.run in names),
        tuple(each for each in ledger.flakes if each.run in names),
    )


def _entry(
    line: bytes, path: Path, where: str, runs: Mapping[str, RunEntry]
) -> RunEntry | FlakeEntry:
    """One line, after those of `runs`."""
    try:
        reader = Reader(parse_json(line, path), path, where)
    except DecodeError as error:
        place = f"{error.where}: " if error.where else ""
        raise DecodeError(path, where, f"{place}{error.problem}") from None
    kind = reader.key("kind")
    if kind.string() not in {"run", "flake"}:
        kind.fail(f"unknown word {kind.value!r}; known: run, flake")
    run = reader.key("run")
    if kind.value == "run":
        if run.string() in runs:
            run.fail(f"{run.value} is there twice")
        return _run(reader.only(*_RUN_KEYS))
    if run.string() not in runs:
        run.fail(f"no line above is the run {run.value}")
    return _flake(reader.only(*_FLAKE_KEYS))


def _run(reader: Reader) -> RunEntry:
    return RunEntry(
        run=reader.key("run").string(),
        client=reader.key("client").string(),
        version=reader.key("version").string(),
        cases=reader.key("cases").integer(),
        finished_at=reader.key("finished_at").string(),
    )


def _flake(reader: Reader) -> FlakeEntry:
    transport = reader.key("transport")
    if transport.string() not in LABELS:
        transport.fail(f"unknown word {transport.value!r}; known: {', '.join(LABELS)}")
    variant = reader.get("variant")
    rate = reader.key("rate").only("flaky", "runs")
    return FlakeEntry(
        run=reader.key("run").string(),
        client=reader.key("client").string(),
        version=reader.key("version").string(),
        mode=reader.key("mode").string(),
        transport=transport.string(),
        scenario=reader.key("scenario").string(),
        variant=variant.string() if variant else None,
        checks=reader.key("checks").strings(),
        first=_said(reader.key("first")),
        again=tuple(_said(each) for each in reader.key("again").items()),
        rate=Rate(
            flaky=rate.key("flaky").integer(),
            runs=rate.key("runs").integer(),
        ),
    )


def _said(reader: Reader) -> Said:
    reader.only("outcome", "reason")
    return Said(
        outcome=reader.key("outcome").word(Outcome),
        reason=reader.key("reason").string(),
    )
