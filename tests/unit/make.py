"""
Builders of records for the tests: good by default, each fault asked for by name.

What is built here is what a conformant client leaves behind; a test changes the one
thing it is about.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcpconf.client.job import DriverVerdict
from mcpconf.client.subject import SubjectRecord
from mcpconf.evidence import AdapterRecord, CaseEvidence, ClientEnd
from mcpconf.plan import PlannedCase
from mcpconf.process import Ended, EndKind
from mcpconf.record import (
    AuthMode,
    CaseKey,
    Check,
    CheckStatus,
    Policy,
    ScenarioResult,
)
from mcpconf.revision import Era, Revision
from mcpconf.runrecord import EndRecord, RunRecord
from mcpconf.selection import Selection
from mcpconf.suite.catalogue import Catalogue, Floor, ScenarioEntry
from mcpconf.wire import Ended as ResponseEnd
from mcpconf.wire import Exchange, WireLog
from mcpconf.wire_message import META_REVISION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.decode import Json
    from mcpconf.ours import Case

OLD, MIDDLE, NEW = Revision

SUITE: Json = {
    "source": "pinned",
    "package": "@modelcontextprotocol/conformance",
    "version": "9.9.9",
    "integrity": "sha512-x",
    "entry_sha256": "e" * 64,
    "node_version": "24.0.0",
    "repository": "modelcontextprotocol/conformance",
    "reviewed_ancestor": None,
}


def make_entry(scenario: str = "tools_call", **changes: Any) -> ScenarioEntry:
    """A scored scenario with two required checks, and one that silence earns."""
    values: dict[str, Any] = {
        "scenario": scenario,
        "not_scored": None,
        "auth": scenario.startswith("auth/"),
        "timing_sensitive": False,
        "allow_client_error": False,
        "checks": ("required-a", "required-b", "silent"),
        "silent_checks": ("silent",),
    }
    return ScenarioEntry(**{**values, **changes})


def make_catalogue(
    revisions: Mapping[Revision, Sequence[ScenarioEntry]] | None = None,
    **changes: Any,
) -> Catalogue:
    """A catalogue of every revision; by default one plain and one auth scenario."""
    default = (make_entry(), make_entry("auth/basic-cimd"))
    given = revisions or {}
    values: dict[str, Any] = {
        "suite_version": "9.9.9",
        "integrity": "sha512-x",
        "revisions": {each: tuple(given.get(each, default)) for each in Revision},
        "unassigned": (),
        "floors": {each: {"null": Floor(scenarios=0, checks=1)} for each in Revision},
    }
    return Catalogue(**{**values, **changes})


def make_case(
    scenario: str = "tools_call",
    revision: Revision = MIDDLE,
    *,
    variant: str | None = None,
    options: Mapping[str, str] | None = None,
    **changes: Any,
) -> PlannedCase:
    """A planned case of `make_entry`."""
    return PlannedCase(
        key=CaseKey(revision=revision, scenario=scenario, variant=variant),
        entry=make_entry(scenario, **changes),
        options=options or {},
    )


def make_check(
    check_id: str = "required-a",
    status: CheckStatus = CheckStatus.SUCCESS,
    **changes: Any,
) -> Check:
    """A check as the suite says it."""
    values: dict[str, Any] = {
        "check_id": check_id,
        "name": check_id.title().replace("-", ""),
        "status": status,
        "description": f"what {check_id} says",
    }
    return Check(**{**values, **changes})


def make_ended(kind: EndKind = EndKind.EXITED, **changes: Any) -> Ended:
    """The suite's own end: green, unless it says otherwise."""
    values: dict[str, Any] = {
        "kind": kind,
        "exit_code": 0 if kind is EndKind.EXITED else None,
        "signal": "SIGKILL" if kind is EndKind.SIGNALLED else None,
        "duration_s": 1.5,
        "leftovers": (),
        "stdout_bytes": 0,
        "stderr_bytes": 0,
        "error": "no such file" if kind is EndKind.FAILED_TO_START else None,
        "cpu_s": None,
        "supervisor_cpu_s": None,
    }
    return Ended(**{**values, **changes})


def make_adapter(
    verdict: DriverVerdict = DriverVerdict.DONE,
    *,
    kind: EndKind = EndKind.EXITED,
    driver: str = "command",
    error: str | None = None,
) -> AdapterRecord:
    """A driver's record; anything but `done` says something."""
    if error is None and verdict is not DriverVerdict.DONE:
        error = f"it was {verdict.value}"
    return AdapterRecord(
        driver=driver,
        verdict=verdict,
        end=ClientEnd(
            kind=kind,
            exit_code=0 if kind is EndKind.EXITED else None,
            signal="SIGSEGV" if kind is EndKind.SIGNALLED else None,
        ),
        error=error,
        steps=(),
    )


def make_exchange(
    number: int = 1,
    method: str = "POST",
    url: str = "/mcp",
    **changes: Any,
) -> Exchange:
    """One HTTP exchange that was answered with 200."""
    values: dict[str, Any] = {
        "id": number,
        "port": 4000,
        "method": method,
        "url": url,
        "started_ms": float(number),
        "status": 200,
        "response_headers": {"content-type": ("application/json",)},
        "response_body": "",
        "answered_ms": number + 0.5,
        "ended": ResponseEnd.FINISHED,
        "ended_ms": number + 0.6,
    }
    return Exchange(**{**values, **changes})


def make_opening(
    offered: str, agreed: str | None = None, *, number: int = 1
) -> Exchange:
    """The exchange in which a client offers a revision, in the way of its era."""
    if offered >= NEW.value:
        request: Json = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/list",
            "params": {
                "_meta": {
                    META_REVISION: offered,
                    "io.modelcontextprotocol/clientCapabilities": {},
                }
            },
        }
        result: Json = {"tools": []}
    else:
        request = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "initialize",
            "params": {
                "protocolVersion": offered,
                "capabilities": {},
                "clientInfo": {"name": "a client", "version": "1"},
            },
        }
        result = {"protocolVersion": agreed or offered}
    answer: Json = {"jsonrpc": "2.0", "id": number, "result": result}
    return make_exchange(
        number, request_body=json.dumps(request), response_body=json.dumps(answer)
    )


def make_log(*exchanges: Exchange, truncated: bool = False) -> WireLog:
    """A wire log of one server that listened."""
    return WireLog(exchanges=exchanges, ports=frozenset({4000}), truncated=truncated)


def make_evidence(case: PlannedCase | None = None, **changes: Any) -> CaseEvidence:
    """What a client leaves that does everything its case asks for."""
    case = case or make_case()
    revision = case.key.revision
    values: dict[str, Any] = {
        "ended": make_ended(),
        "adapter": make_adapter(),
        "adapter_fault": None,
        "checks": tuple(make_check(each) for each in case.entry.checks),
        "checks_fault": None,
        "wire": make_log(make_opening(revision.value)),
        "diagnostics": None,
    }
    assert revision.era in Era
    return CaseEvidence(**{**values, **changes})


def make_record(
    catalogue: Catalogue, cases: Sequence[Case], **changes: Any
) -> RunRecord:
    """The record of a run over `cases`."""
    name = changes.pop("client", "command")
    value: Json = {
        "name": name,
        "title": "a program of your own",
        "driver": "command",
        "binary": "/opt/client",
        "sha256": "c" * 64,
        "version": "client 1.0",
        "source": "given",
        "features": {},
    }
    values: dict[str, Any] = {
        "run_id": "20261130T000000Z-abcdef",
        "started_at": "2026-11-30T00:00:00.000+00:00",
        "tool_version": "0.1.0",
        "subject": SubjectRecord(
            name=name, binary="/opt/client", version="client 1.0", value=value
        ),
        "suite": SUITE,
        "catalogue_version": catalogue.suite_version,
        "catalogue_digest": catalogue.digest,
        "policy": Policy(),
        "auth_mode": AuthMode.ASSISTED,
        "selection": Selection(
            revisions=tuple(
                each
                for each in Revision
                if each in {case.key.revision for case in cases}
            )
            or (MIDDLE,)
        ),
        "cases": tuple(
            (case.key, tuple(getattr(case, "options", {}).items())) for case in cases
        ),
        "command": ("--client-command", "./client --fast"),
    }
    return RunRecord(**{**values, **changes})


def make_end(**changes: Any) -> EndRecord:
    """A run that closed cleanly."""
    values: dict[str, Any] = {
        "finished_at": "2026-11-30T00:01:00.000+00:00",
        "complete": True,
        "faults": (),
        "open_ports": (),
        "temporary": (),
        "digests": {},
    }
    return EndRecord(**{**values, **changes})


def by_key(*results: ScenarioResult) -> dict[str, ScenarioResult]:
    """Results as a report takes them."""
    return {str(result.key): result for result in results}


def with_status(
    evidence: CaseEvidence, check_id: str, status: CheckStatus, **changes: Any
) -> CaseEvidence:
    """The same evidence, with another status for one check."""
    return replace(
        evidence,
        checks=tuple(
            replace(each, status=status, **changes)
            if each.check_id == check_id
            else each
            for each in evidence.checks
        ),
    )
