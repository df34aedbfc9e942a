"""
A baseline, held against a report: read, decided, written down.

The gate itself is pure (`mcpconf.gate`). Here is what surrounds it: which file is a
baseline, what is known before anything is run, and the stored answer, ``gate.json``.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcpconf import gate
from mcpconf.baseline.decode import from_json
from mcpconf.decode import REPORT_BYTES, Reader, load_json
from mcpconf.errors import UsageError
from mcpconf.gate_record import check_answer
from mcpconf.observed import load_observed, observe
from mcpconf.observed_piece import uncollected
from mcpconf.rerun import Reruns
from mcpconf.run import RUNS
from mcpconf.storage import sha256_of, write_json
from mcpconf.suite.catalogue import load_catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.baseline.entry import Baseline
    from mcpconf.gate_record import GatePolicy, GateResult, UnexpectedCase
    from mcpconf.suite.catalogue import Catalogue

GATE = "gate.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One baseline and one policy, ready to decide about reports."""

    #: As the caller named it.
    name: str
    #: ``sha256:`` of the file.
    digest: str
    baseline: Baseline
    policy: GatePolicy
    #: The committed one of the baseline's role.
    catalogue: Catalogue

    def decide(self, path: Path) -> GateResult:
        """
        The gate's answer for a stored report.

        :raises DecodeError: the report is malformed, or another harness's.
        """
        with uncollected():
            run = load_observed(path)
            result = gate.decide(self.baseline, run, self.policy, self.catalogue)
        inputs = {
            "baseline": self.name,
            "baselineDigest": self.digest,
            "report": str(path),
            "reportDigest": f"sha256:{sha256_of(path)}",
        }
        return replace(result, inputs=inputs)

    def unexpected(self, report: Mapping[str, Any]) -> Sequence[UnexpectedCase]:
        """The cases that are worse than the baseline says."""
        run = observe(report, "the report of this run")
        return gate.unexpected(self.baseline, run, self.catalogue)

    def reruns(self) -> Reruns:
        """What a run is told, so that it confirms what was not expected."""
        return Reruns(
            unexpected=self.unexpected,
            baseline=Path(self.name).name,
            digest=self.digest,
        )

    def check_before(self, report: Mapping[str, Any]) -> None:
        """
        Refuse before anything is run what the gate would refuse afterwards.

        `report` is the one of a run in which no case has run yet.

        :raises UsageError: baseline and run cannot be compared.
        """
        run = observe(report, "this run")
        refused = gate.refusals(self.baseline, run, self.catalogue)
        if refused:
            raise UsageError(f"--baseline {self.name}: {'; '.join(refused)}")

    def check_apart(self, *written: Path | None) -> None:
        """
        Refuse a baseline that a run is about to write over.

        :raises UsageError: it is one of the files that will be written.
        """
        mine = Path(self.name).resolve()
        for path in written:
            if path is not None and path.resolve() == mine:
                raise UsageError(
                    f"--baseline {self.name}: this run would write its report there; "
                    "keep the baseline elsewhere"
                )


def write_answer(answer: GateResult, output_dir: Path, run_id: str) -> None:
    """
    Store the gate's answer with the run, and as the latest one.

    :raises StorageError: a file cannot be written.
    """
    for place in (output_dir / RUNS / run_id, output_dir):
        write_json(place / GATE, answer.to_json())


def load_answer(path: Path, report: Path, *, named: bool) -> dict[str, Any] | None:
    """
    The stored answer at `path`, where it is about the `report` at that path.

    Beside a report there may be the answer about an older one, which says nothing: None
    then, or where there is none; unless the caller `named` it.

    :raises DecodeError: it cannot be read, or a named one is about another report.
    """
    if not named and not path.is_file():
        return None
    reader = Reader(load_json(path, max_bytes=REPORT_BYTES), path)
    check_answer(reader)
    digest = reader.key("inputs").key("reportDigest")
    if digest.string() != f"sha256:{sha256_of(report)}":
        if named:
            digest.fail(f"is not of {report}: decide again with `invoke gate`")
        return None
    return dict(reader.object())


def load_gate(
    path: Path, policy: GatePolicy, catalogue: Catalogue | None = None
) -> Gate:
    """
    Read a baseline of either version, or a report of ours in the place of one.

    It is held against the committed catalogue of its role, unless one is given.

    :raises DecodeError: unreadable or malformed; every problem at once.
    :raises UsageError: a report that cannot stand for a baseline.
    """
    with uncollected():
        baseline = _load(path, catalogue)
    return Gate(
        name=str(path),
        digest=f"sha256:{sha256_of(path)}",
        baseline=baseline,
        policy=policy,
        catalogue=catalogue or load_catalogue(role=baseline.scope.role),
    )


def _load(path: Path, catalogue: Catalogue | None) -> Baseline:
    value = load_json(path, max_bytes=REPORT_BYTES)
    if isinstance(value, dict) and "baselineKind" not in value and "cases" in value:
        return gate.baseline_of(load_observed(path))
    today = dt.datetime.now(dt.UTC).date()
    return from_json(value, path, catalogue=catalogue, today=today)
