"""
What a gate over 100,000 checks costs: seconds, and memory.

A process of its own reads a report and its baseline, as files on disk, and decides. The
report is of a made-up suite of that size, in the form and of the sizes of real ones: so
every check is read, held against its scenario, and looked up in the baseline.
"""

from __future__ import annotations

import datetime as dt
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.baseline.decode import from_json as baseline_from_json
from mcpconf.baseline.encode import to_json as baseline_to_json
from mcpconf.baseline.extract import extract
from mcpconf.decode import REPORT_BYTES, load_json
from mcpconf.gate import decide
from mcpconf.gate_record import GatePolicy
from mcpconf.observed import load_observed
from mcpconf.observed_piece import uncollected
from mcpconf.revision import Revision
from mcpconf.storage import json_bytes, write_json
from mcpconf.suite.catalogue import Catalogue, ScenarioEntry
from mcpconf.suite.catalogue import from_json as catalogue_from_json
from mcpconf.suite.catalogue import to_json as catalogue_to_json

if TYPE_CHECKING:
    from mcpconf.decode import Json

CHECKS = 100_000
_SCENARIOS = 40
_DETAIL = "'Grüße, 世界 🌍' went out and came back, as the server had sent them"
_PAGE = "https://modelcontextprotocol.io/specification/2025-11-25/server/tools"


def gate_figures() -> dict[str, float]:
    """``seconds`` of processor time, and ``memory_mib``, for `CHECKS` checks."""
    with tempfile.TemporaryDirectory(prefix="mcpconf-bench-") as name:
        directory = Path(name)
        _prepare(directory)
        done = subprocess.run(
            [sys.executable, "-m", "mcpconf.bench_gate", name],
            stdout=subprocess.PIPE,
            check=True,
        )
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


def _prepare(directory: Path) -> None:
    """The three files that a gate reads."""
    catalogue = _catalogue()
    write_json(directory / "catalogue.json", catalogue_to_json(catalogue))
    write_json(directory / "report.json", _report(catalogue))
    run = load_observed(directory / "report.json")
    made = extract(
        run,
        version=2,
        older=None,
        catalogue=catalogue,
        today=dt.datetime.now(dt.UTC).date(),
    )
    value = baseline_to_json(made.baseline)
    (directory / "baseline.json").write_bytes(json_bytes(value))


def measure(directory: Path) -> dict[str, float]:
    """Read, decide, and say what that took; in a process of its own."""
    value = load_json(directory / "catalogue.json", max_bytes=REPORT_BYTES)
    catalogue = catalogue_from_json(value, "catalogue.json")
    begun = time.process_time()
    with uncollected():
        run = load_observed(directory / "report.json")
        value = load_json(directory / "baseline.json", max_bytes=REPORT_BYTES)
        today = dt.datetime.now(dt.UTC).date()
        baseline = baseline_from_json(
            value, "baseline.json", catalogue=catalogue, today=today
        )
        result = decide(baseline, run, GatePolicy(), catalogue)
    seconds = time.process_time() - begun
    if result.verdict.value != "GREEN" or len(run.checks) < CHECKS:
        raise AssertionError(result.configuration_errors[:3])
    return {
        "checks": len(run.checks),
        "seconds": round(seconds, 3),
        "memory_mib": round(_peak_mib(), 1),
    }


def _peak_mib() -> float:
    """What this program has held at most; `getrusage` counts its parent's as well."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) / 1024


def _catalogue() -> Catalogue:
    """A suite of `_SCENARIOS` scenarios a revision."""
    number = CHECKS // (_SCENARIOS * len(Revision)) + 1
    entries = tuple(
        ScenarioEntry(
            scenario=f"scenario-{index}",
            not_scored=None,
            auth=False,
            timing_sensitive=False,
            allow_client_error=False,
            checks=tuple(f"client-check-number-{each}" for each in range(number)),
            silent_checks=(),
        )
        for index in range(_SCENARIOS)
    )
    return Catalogue(
        suite_version="0.0.0",
        integrity="sha512-bench",
        revisions=dict.fromkeys(Revision, entries),
        unassigned=(),
        floors={each: {} for each in Revision},
    )


def _report(catalogue: Catalogue) -> Json:
    entries = catalogue.revisions[Revision.V2025_11_25]
    names: list[Json] = [each.scenario for each in entries]
    revisions: list[Json] = [each.value for each in Revision]
    suite = "@modelcontextprotocol/conformance"
    return {
        "schemaVersion": 4,
        "role": "client",
        "success": False,
        "verdict": "NOT_CONFORMANT",
        "complete": True,
        "startedAt": "2026-11-30T00:00:00.000+00:00",
        "client": {"name": "command", "version": "client 1.0"},
        "modernFeatureEnablement": True,
        "automaticAuthRequired": False,
        "officialConformance": {
            "repository": "modelcontextprotocol/conformance",
            "gitRef": f"npm:{suite}@{catalogue.suite_version}",
            "authenticationIncluded": True,
            "scenarios": {each.value: names for each in Revision},
            "suite": {"integrity": catalogue.integrity},
            "catalogue": {"digest": catalogue.digest},
        },
        "versionCheck": {"success": True},
        "policy": {"warnings": "fail", "revision": "same-era"},
        "selection": {
            "revisions": revisions,
            "transports": ["http"],
            "sources": ["official"],
            "authentication": True,
            "scenarios": [],
            "shard": None,
        },
        "closing": {"complete": True, "faults": [], "openPorts": [], "temporary": []},
        "cases": [_case(catalogue, revision) for revision in Revision],
    }


def _case(catalogue: Catalogue, revision: Revision) -> Json:
    """One in ten scenarios has a known failure, where that may be."""
    scenarios: list[Json] = []
    checks: list[Json] = []
    for index, entry in enumerate(catalogue.revisions[revision]):
        is_bad = index % 10 == 0 and revision is not Revision.V2025_06_18
        place = f"cases/{revision.value}/{entry.scenario}"
        again = f"nox -s conformance-{revision.value} -- --official-scenario {index}"
        scenarios.append(
            {
                "scenario": entry.scenario,
                "source": "official",
                "variant": None,
                "scored": True,
                "outcome": "failed" if is_bad else "passed",
                "attribution": "subject" if is_bad else None,
                "reason": "it rounds" if is_bad else "passed",
                "reproduce": again,
                "timing_sensitive": False,
                "reruns": [],
                "evidence": place,
            }
        )
        for number, check_id in enumerate(entry.checks):
            fails = is_bad and number == 0
            blame: dict[str, Json] = {
                "attribution": "subject",
                "reproduce": again,
                "evidence": place,
            }
            checks.append(
                {
                    "name": f"official/{entry.scenario}/{check_id}",
                    "success": not fails,
                    "detail": _DETAIL,
                    "status": "FAIL" if fails else "PASS",
                    "source": "official",
                    "scenario": entry.scenario,
                    "check_id": check_id,
                    "category": "non-auth",
                    "suite_status": "FAILURE" if fails else "SUCCESS",
                    "count": 1,
                    "pages": [_PAGE],
                    **(blame if fails else {}),
                }
            )
    return {
        "transport": "official-http",
        "mode": revision.value,
        "checks": checks,
        "notScored": [],
        "scenarios": scenarios,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(Path(sys.argv[1]))) + "\n")
