"""What did not pass, for a reader who has to do something about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Report = Mapping[str, Any]
    Check = Mapping[str, Any]

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
#: How a check of ours says that it asks more than any page.
_UNDEMANDED = "(No page demands it.)"
#: Outcomes of what a client lacks: in no ratio of ours.
LEFT_OUT = frozenset({"unsupported", "not-applicable"})
_NOT_HELD = LEFT_OUT | {"not-run"}
#: Scenarios that a line names before it counts.
_NAMED = 3


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
        if case["verdict"] != "INCONCLUSIVE":
            continue  # what a client lacks of our scenarios is no hole in a leg
        holes: dict[tuple[str, str], list[str]] = {}
        for each in case["scenarios"]:
            is_hole = each["outcome"] in _INCONCLUSIVE or (
                each["outcome"] != "passed" and each["attribution"] != "subject"
            )
            if is_hole and each["not_scored"] is None:
                key = (each["outcome"], _clip(each["reason"]))
                holes.setdefault(key, []).append(each["scenario"])
        for (outcome, reason), names in holes.items():
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            is_are = "are" if more else "is"
            where = f"{leg_of(case)} / {names[0]}{more}"
            yield f"  {where} {is_are} {outcome}: {reason}"


def failures(report: Report) -> Iterator[str]:
    """Every failed check: what, whose doing, which page, how to run it again."""
    levels: list[str] = []
    for case in report["cases"]:
        scenarios = _plain_scenarios(case)
        by_scenario: dict[str, list[Check]] = {}
        for check in case["checks"]:
            if check["status"] == "FAIL":
                by_scenario.setdefault(check["scenario"], []).append(check)
                levels += [check["level"]] if check.get("level") else []
        for name, checks in by_scenario.items():
            yield from _failure(report, leg_of(case), scenarios[name], checks)
    if levels:
        yield f"  {_levels(levels)} failed"


def _plain_scenarios(case: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {each["scenario"]: each for each in case["scenarios"] if not each["variant"]}


def _levels(levels: list[str]) -> str:
    return f"{levels.count('MUST')} MUST and {levels.count('SHOULD')} SHOULD"


def _failure(
    report: Report, leg: str, scenario: Mapping[str, Any], checks: list[Check]
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
    by_detail: dict[str, list[Check]] = {}
    for check in checks:
        if not check["detail"].startswith(_MISSING):
            by_detail.setdefault(check["detail"], []).append(check)
    for detail, alike in by_detail.items():
        yield from _finding(detail, alike)
    said = (scenario["client_stderr"] or "").splitlines()[-_LINES:]
    if said:
        yield "      the client wrote:"
        yield from (f"      | {line[:_DETAIL]}" for line in said)
    if scenario["outcome"] == "failed":  # else no page is about what happened
        yield from _pages(checks)
    yield f"      evidence: {_evidence(report, scenario)}"
    yield f"      again: {first['reproduce']}"


def _finding(detail: str, checks: list[Check]) -> Iterator[str]:
    """What was found, once for all checks that say the same, and what was demanded."""
    first = checks[0]
    others = f" and {_count(len(checks) - 1, 'more check')}" if checks[1:] else ""
    is_warning = first.get("suite_status") == "WARNING"
    note = " (warning)" if is_warning else ""
    label = first["name"].rsplit("/", 1)[-1]
    yield f"    - {label}{note}{others}: {_clip(detail)}"
    demanding = [check for check in checks if check.get("demand")]
    if demanding[1:] and all(each.get("outcome") != "failed" for each in demanding):
        levels = [each["level"] for each in demanding]  # it is about none in particular
        yield f"      leaves {_levels(levels)} unproven"
        return
    demands = dict.fromkeys((each["level"], each["demand"]) for each in demanding)
    yield from (f"      {level}: {_clip(demand)}" for level, demand in demands)


def _pages(checks: list[Check]) -> Iterator[str]:
    """The pages that demand it; a check that no page demands only cites a context."""
    pages = {
        page: None
        for check in checks
        if _UNDEMANDED not in (check.get("demand") or "")
        for page in check.get("pages", ())
    }
    yield from (f"      page: {page}" for page in pages)


def _evidence(report: Report, scenario: Mapping[str, Any]) -> str:
    """Where the evidence is, below the folder of the latest report."""
    artifacts = report["artifacts"]
    return f"{artifacts}/{scenario['evidence']}" if artifacts else scenario["evidence"]


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def warnings(report: Report) -> Iterator[str]:
    """What warns where the policy lets that pass."""
    if report["policy"]["warnings"] != "warn":
        return
    for case in report["cases"]:
        scenarios = _plain_scenarios(case)
        for check in case["checks"]:
            if check.get("suite_status") != "WARNING" or check["status"] != "SKIP":
                continue
            scenario = scenarios[check["scenario"]]
            if scenario["outcome"] in _NOT_HELD:
                continue  # it was not run to its end
            yield f"  {leg_of(case)} / {scenario['scenario']}"
            yield from _finding(check["detail"], [check])
            yield from _pages([check])
            yield f"      evidence: {_evidence(report, scenario)}"


def not_judged(report: Report) -> Iterator[str]:
    """What of ours a client cannot do or does not declare: a line a reason."""
    for case in report["cases"]:
        alike: dict[tuple[str, str], list[str]] = {}
        for check in case["checks"]:
            if check.get("outcome") in LEFT_OUT:
                key = (check["outcome"], _clip(check["detail"]))
                alike.setdefault(key, []).append(check["scenario"])
        if not alike:
            continue
        ours = [each for each in case["checks"] if "outcome" in each]
        skipped = sum(map(len, alike.values()))
        yield f"  {leg_of(case)}: {skipped} of {_count(len(ours), 'check')}"
        by_size = sorted(alike.items(), key=lambda item: -len(item[1]))
        for (outcome, reason), checked in by_size:
            names = list(dict.fromkeys(checked))
            more = f" and {len(names) - _NAMED} more" if names[_NAMED:] else ""
            where = f"{', '.join(names[:_NAMED])}{more}"
            yield f"    {len(checked)} {outcome}: {reason} ({where})"


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
