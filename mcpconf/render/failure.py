"""What did not pass, for a reader who has to do something about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Report = Mapping[str, Any]

_DETAIL = 400
_LINES = 8
#: The report's words, as the README says them.
_WHOSE = {
    "subject": "the client's doing",
    "adapter": "the driver's doing",
    "harness": "the harness's doing",
    "suite": "the suite's doing",
}
_INCONCLUSIVE = ("unsupported", "harness-error", "suite-defect", "not-run")
_MISSING = "Expected Check Missing: "


def _clip(text: str) -> str:
    """One line of a detail; a page of HTML in it says nothing."""
    for mark in ("<!DOCTYPE", "<!doctype", "<html"):
        head, found, _ = text.partition(mark)
        text = f"{head}(HTML)" if found else text
    flat = " ".join(text.split())
    return flat if len(flat) <= _DETAIL else f"{flat[:_DETAIL]}…"


def leg_of(case: Mapping[str, Any]) -> str:
    """The transport and the revision of one case of a report."""
    return f"{case['transport']} {case['mode']}"


def no_verdict(report: Report) -> Iterator[str]:
    """Why a run is inconclusive: every scored scenario that leaves a hole."""
    if report["verdict"] != "INCONCLUSIVE":
        return
    for case in report["cases"]:
        for each in case["scenarios"]:
            is_hole = each["outcome"] in _INCONCLUSIVE or (
                each["outcome"] != "passed" and each["attribution"] != "subject"
            )
            if is_hole and each["not_scored"] is None:
                where = f"{leg_of(case)} / {each['scenario']}"
                yield f"  {where} is {each['outcome']}: {_clip(each['reason'])}"


def failures(report: Report) -> Iterator[str]:
    """Every failed check: what, whose doing, which page, how to run it again."""
    for case in report["cases"]:
        scenarios = {
            each["scenario"]: each for each in case["scenarios"] if not each["variant"]
        }
        by_scenario: dict[str, list[Mapping[str, Any]]] = {}
        for check in case["checks"]:
            if check["status"] == "FAIL":
                by_scenario.setdefault(check["scenario"], []).append(check)
        for name, checks in by_scenario.items():
            yield from _failure(leg_of(case), scenarios[name], checks)


def _failure(
    leg: str, scenario: Mapping[str, Any], checks: list[Mapping[str, Any]]
) -> Iterator[str]:
    first = checks[0]
    whose = _WHOSE[first["attribution"]]
    yield f"  {leg} / {scenario['scenario']}: {scenario['outcome']}, {whose}"
    never = [
        check["detail"].removeprefix(_MISSING)
        for check in checks
        if check["detail"].startswith(_MISSING)
    ]
    if never:
        yield f"    - never reached: {', '.join(never)}"
    for check in checks:
        if check["detail"].startswith(_MISSING):
            continue
        label = check["name"].rsplit("/", 1)[-1]
        note = " (warning)" if check.get("suite_status") == "WARNING" else ""
        yield f"    - {label}{note}: {_clip(check['detail'])}"
    said = (scenario["client_stderr"] or "").splitlines()[-_LINES:]
    if said:
        yield "      the client wrote:"
        yield from (f"      | {line[:_DETAIL]}" for line in said)
    pages = dict.fromkeys(page for check in checks for page in check.get("pages", ()))
    for page in pages:
        yield f"      page: {page}"
    yield f"      evidence: {scenario['evidence']}"
    yield f"      again: {first['reproduce']}"


def leftovers(report: Report) -> Iterator[str]:
    """What cases and the run left behind."""
    for case in report["cases"]:
        for each in case["scenarios"]:
            if each["leftovers"]:
                where = f"{leg_of(case)} / {each['scenario']}"
                yield f"  {where}: killed afterwards: {', '.join(each['leftovers'])}"
    closing = report["closing"] or {}
    for port in closing.get("openPorts", ()):
        yield f"  port {port} still answers"
    for name in closing.get("temporary", ()):
        yield f"  {name} was not deleted"
    for fault in closing.get("faults", ()):
        yield f"  {fault}"
