"""What did not pass, for a reader who has to do something about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.render.text import one_line, printable
from mcpconf.render.view import warns
from mcpconf.view import evidence_of, leg_of, role_word, views

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpconf.view import CheckView

    Report = Mapping[str, Any]
    Check = Mapping[str, Any]

#: How a line starts that is to be copied whole.
AGAIN = "      again: "
_DETAIL = 400
_LINES = 8
#: The report's words, as the README says them.
_WHOSE = {
    "adapter": "the driver's doing",
    "harness": "the harness's doing",
    "suite": "the suite's doing",
}
#: Outcomes in which the suite, or a check of ours, found something.
JUDGED = frozenset({"failed", "flaky"})
_INCONCLUSIVE = ("unsupported", "harness-error", "suite-defect", "not-run")
_MISSING = "Expected Check Missing: "
#: How a check of ours says that it asks more than any page.
_UNDEMANDED = "(No page demands it.)"
#: Outcomes of what a client lacks: in no ratio of ours.
LEFT_OUT = frozenset({"unsupported", "not-applicable"})
#: Scenarios that a line names before it counts.
_NAMED = 3


def clip(text: str) -> str:
    """One line of a detail; a page of HTML in it says nothing."""
    for mark in ("<!DOCTYPE", "<!doctype", "<html"):
        head, found, _ = text.partition(mark)
        text = f"{head}(HTML)" if found else text
    return one_line(text, _DETAIL)


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
                key = (each["outcome"], clip(each["reason"]))
                holes.setdefault(key, []).append(each["scenario"])
        for (outcome, reason), names in holes.items():
            more = f" and {len(names) - 1} more" if len(names) > 1 else ""
            is_are = "are" if more else "is"
            where = f"{leg_of(case)} / {names[0]}{more}"
            yield f"  {where} {is_are} {outcome}: {reason}"


def failures(report: Report) -> Iterator[str]:
    """Every failed check: what, whose doing, which page, how to run it again."""
    levels: list[str] = []
    told: dict[str, str] = {}
    for case in report["cases"]:
        for alike in by_scenario(case, "FAIL"):
            levels += [
                each.check["level"]
                for each in alike
                if each.check.get("level") and each.outcome in JUDGED
            ]
            yield from _failure(report, alike, told)
    if levels:
        yield f"  {_levels(levels)} failed"


def by_scenario(case: Mapping[str, Any], status: str) -> Iterator[list[CheckView]]:
    """The checks of one status in one case, each scenario's (or variant's) together."""
    alike: dict[tuple[str, str | None], list[CheckView]] = {}
    for view in views(case):
        if view.check["status"] == status:
            key = (view.scenario["scenario"], view.scenario["variant"])
            alike.setdefault(key, []).append(view)
    yield from alike.values()


def whose(report: Report, check: Check) -> str:
    """Whose doing a failed check is, in words."""
    mine = f"the {role_word(report)}'s doing"
    return mine if check["attribution"] == "subject" else _WHOSE[check["attribution"]]


def _levels(levels: list[str]) -> str:
    must, should, policy = map(levels.count, ("MUST", "SHOULD", "POLICY"))
    if policy:
        return f"{must} MUST, {should} SHOULD and {policy} POLICY"
    return f"{must} MUST and {should} SHOULD"


def _failure(
    report: Report, alike: list[CheckView], told: dict[str, str]
) -> Iterator[str]:
    """One scenario's; `told` has what the client wrote before, and where."""
    first, scenario = alike[0].check, alike[0].scenario
    variant = f" ({scenario['variant']})" if scenario["variant"] else ""
    where = f"{alike[0].leg} / {scenario['scenario']}{variant}"
    yield f"  {where}: {scenario['outcome']}, {whose(report, first)}"
    checks = [each.check for each in alike]
    never = [clip(name) for name in map(missing_of, checks) if name is not None]
    if never:
        yield f"    - never reached: {', '.join(never)}"
    by_detail: dict[str, list[Check]] = {}
    for check in checks:
        if missing_of(check) is None:
            by_detail.setdefault(check["detail"], []).append(check)
    for detail, same in by_detail.items():
        yield from _finding(detail, same)
    for again in scenario["reruns"]:
        yield f"      run again, alone: {rerun(again)}"
    said = scenario["client_stderr"] or ""
    yield from _said(role_word(report), said, where, told)
    if scenario["outcome"] in JUDGED:  # else no page is about what happened
        yield from (f"      page: {page}" for page in pages_of(checks))
    yield f"      evidence: {evidence_of(report, scenario)}"
    yield f"{AGAIN}{first['reproduce']}"


def _said(role: str, log: str, where: str, told: dict[str, str]) -> Iterator[str]:
    """The last of what the program wrote; once, where it always writes the same."""
    lines = log.splitlines()[-_LINES:]
    if not lines:
        return
    text = "\n".join(lines)
    if text in told:
        yield f"      the {role} wrote the same as in {told[text]}"
        return
    told[text] = where
    yield f"      the {role} wrote:"
    yield from (f"      | {_log_line(line)}" for line in lines)


def _log_line(line: str) -> str:
    """A line of a log, with its own indentation."""
    return printable(line[:_DETAIL])


def missing_of(check: Check) -> str | None:
    """What the suite waited for in vain, where a check says no more than that."""
    detail: str = check["detail"]
    return detail.removeprefix(_MISSING) if detail.startswith(_MISSING) else None


def rerun(again: Mapping[str, Any]) -> str:
    """How a scenario ended when it was run again, and why not otherwise."""
    outcome, reason = str(again["outcome"]), clip(again["reason"])
    return outcome if reason == outcome else f"{outcome}: {reason}"


def _finding(detail: str, checks: list[Check]) -> Iterator[str]:
    """What was found, once for all checks that say the same, and what was demanded."""
    first = checks[0]
    others = f" and {_count(len(checks) - 1, 'more check')}" if checks[1:] else ""
    is_warning = first.get("suite_status") == "WARNING"
    note = " (warning)" if is_warning else ""
    label = first["name"].rsplit("/", 1)[-1]
    yield f"    - {label}{note}{others}: {clip(detail)}"
    demanding = [check for check in checks if check.get("demand")]
    if demanding[1:] and all(each.get("outcome") not in JUDGED for each in demanding):
        levels = [each["level"] for each in demanding]  # it is about none in particular
        yield f"      leaves {_levels(levels)} unproven"
        return
    demands = dict.fromkeys((each["level"], each["demand"]) for each in demanding)
    yield from (f"      {level}: {clip(demand)}" for level, demand in demands)


def pages_of(checks: list[Check]) -> list[str]:
    """The pages that demand it; a check that no page demands only cites a context."""
    pages = {
        page: None
        for check in checks
        if _UNDEMANDED not in (check.get("demand") or "")
        for page in check.get("pages", ())
    }
    return list(pages)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def warnings(report: Report) -> Iterator[str]:
    """What warns where the policy lets that pass."""
    if report["policy"]["warnings"] != "warn":
        return
    for case in report["cases"]:
        for view in filter(warns, views(case)):
            yield f"  {view.leg} / {view.scenario['scenario']}"
            yield from _finding(view.check["detail"], [view.check])
            yield from (f"      page: {page}" for page in pages_of([view.check]))
            yield f"      evidence: {evidence_of(report, view.scenario)}"


def not_judged(report: Report) -> Iterator[str]:
    """What of ours a client cannot do or does not declare: a line a reason."""
    for case in report["cases"]:
        alike: dict[tuple[str, str], list[str]] = {}
        for check in case["checks"]:
            if check.get("outcome") in LEFT_OUT:
                key = (check["outcome"], clip(check["detail"]))
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
                names = clip(", ".join(each["leftovers"]))
                yield f"  {where}: killed afterwards: {names}"
    yield from unclosed(report)


def unclosed(report: Report) -> Iterator[str]:
    """What the run as a whole left behind: such a run has no verdict."""
    closing = report["closing"] or {}
    for port in closing.get("openPorts", ()):
        yield f"  port {port} still answers"
    for name in closing.get("temporary", ()):
        yield f"  file {clip(name)} was not deleted"
    for fault in closing.get("faults", ()):
        yield f"  run: {clip(fault)}"
