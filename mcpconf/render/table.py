"""A report on a terminal: the verdict, the tables, what to do about failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tabulate import tabulate

from mcpconf.render import failure
from mcpconf.render.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Report = Mapping[str, Any]

#: The transport of the legs that the suite's scenarios run on.
_SUITES = "official-http"
_RATE_COLUMNS = {
    "officialNonAuthScenarios": "Non-auth scenarios",
    "officialAuthScenarios": "Auth scenarios",
    "officialChecks": "Official checks",
    "harnessChecks": "Driver and schema",
    "supplementalScenarios": "Our scenarios",
    "supplementalChecks": "Our checks",
    "checks": "All checks",
}


def _table(headers: list[str], rows: list[list[str]]) -> str:
    return tabulate(rows, headers, tablefmt="simple", disable_numparse=True)


def _ratio(value: Mapping[str, Any], left_out: int) -> str:
    more = f"{left_out} not judged" if left_out else ""
    if not value["total"]:
        return more or "-"
    ratio = f"{value['passed']}/{value['total']} ({value['percentage']:g}%)"
    return f"{ratio}, {more}" if more else ratio


def _scenarios(number: int) -> str:
    return "1 scenario" if number == 1 else f"{number} scenarios"


def _scenarios_left_out(case: Mapping[str, Any]) -> list[str]:
    """Scenarios of ours that are in no ratio, for what the client lacks."""
    return [
        each["scenario"]
        for each in case["scenarios"]
        if each["source"] == "supplemental"
        and each["scored"]
        and each["outcome"] in failure.LEFT_OUT
    ]


def _left_out(case: Mapping[str, Any], column: str) -> int:
    """How many scenarios or checks of ours the ratio of a column leaves out."""
    if column == "supplementalScenarios":
        return len(_scenarios_left_out(case))
    if column == "supplementalChecks":
        checks = case["checks"]
        return sum(each.get("outcome") in failure.LEFT_OUT for each in checks)
    return 0


def headline(report: Report) -> Iterator[str]:
    """Verdict, subject and suite: what was judged, by what."""
    suite = report["officialConformance"]["suite"]
    client = report["client"]
    yield f"MCP conformance: {report['verdict']}"
    yield f"Client: {client['title']}, {client['version']} ({client['source']})"
    yield f"        {client['binary']}"
    yield f"        sha256:{client['sha256']}"
    ours = [each for each in report["cases"] if each["transport"] != _SUITES]
    if len(ours) < len(report["cases"]) or not ours:
        version = suite["version"] or "unknown version"
        yield f"Suite:  {suite['package'] or 'unknown package'} {version}"
        if suite["source"] != "pinned":
            yield "        NOT the pinned suite: --conformance-cli was given"
        yield f"Scope:  {report['officialConformance']['scope']}"
    if ours:
        total = sum(len(each["scenarios"]) for each in ours)
        names = dict.fromkeys(each["transport"] for each in ours)
        left_out = sum(len(_scenarios_left_out(each)) for each in ours)
        more = f", {left_out} not judged" if left_out else ""
        yield f"Ours:   {_scenarios(total)} over {' and '.join(names)}{more}"
    auth = "strict" if report["automaticAuthRequired"] else "assisted"
    yield f"Auth:   {auth} mode; warnings: {report['policy']['warnings']}"
    if not report["complete"]:
        yield "INCOMPLETE: not every case has run; this is no verdict."


def pass_rates(report: Report, *, full: bool) -> str:
    """One row a transport and revision; `full` adds all checks in one column."""
    columns = [name for name in _RATE_COLUMNS if full or name != "checks"]
    cases = {failure.leg_of(case): case for case in report["cases"]}
    rows = []
    for item in report["modeSummaries"]:
        leg = failure.leg_of(item)
        ratios = [_ratio(item[name], _left_out(cases[leg], name)) for name in columns]
        rows.append([leg, *ratios])
    return _table(["Leg", *(_RATE_COLUMNS[name] for name in columns)], rows)


def outcomes(report: Report) -> str:
    """Scored scenarios of each leg, by outcome."""
    rows = []
    for case in report["cases"]:
        scored = [each for each in case["scenarios"] if each["scored"]]
        counts: dict[str, int] = {}
        for each in scored:
            counts[each["outcome"]] = counts.get(each["outcome"], 0) + 1
        rows.append(
            [
                failure.leg_of(case),
                f"{counts.get('passed', 0)} of {len(scored)}",
                ", ".join(
                    f"{number} {name}"
                    for name, number in sorted(counts.items())
                    if name != "passed"
                )
                or "-",
            ]
        )
    return _table(["Leg", "Passed", "Otherwise"], rows)


def floor(report: Report) -> Iterator[str]:
    """What a pass rate is worth: the score of clients that do next to nothing."""
    if not report["officialConformance"]["scope"].startswith("all"):
        return  # the floor is known of whole requirement sets only
    for case in report["cases"]:
        if case["transport"] != _SUITES:
            continue
        total = sum(each["scored"] for each in case["scenarios"])
        scores = ", ".join(
            f"{name} {value['scenarios']} of {total}"
            for name, value in report["floor"].get(case["mode"], {}).items()
        )
        if scores:
            yield f"  {case['mode']}: {scores}"


def matrix(report: Report) -> str:
    """Every test against every revision."""
    test_matrix = report["testMatrix"]
    keys = [column["key"] for column in test_matrix["columns"]]
    headers = [
        f"{column['transport']} {column['mode']}" for column in test_matrix["columns"]
    ]
    rows = [
        [row["test"], *(row["results"][key] for key in keys)]
        for row in test_matrix["rows"]
    ]
    return _table(["Test", *headers], rows)


def not_scored(report: Report) -> str:
    """What ran without counting, and why it does not count."""
    rows = [
        [case["mode"], each["scenario"], each["not_scored"], each["outcome"]]
        for case in report["cases"]
        for each in case["scenarios"]
        if each["not_scored"] is not None
    ]
    if not rows:
        return ""
    return _table(["Revision", "Scenario", "Not scored because", "Outcome"], rows)


def revisions(report: Report) -> Iterator[str]:
    """Scenarios that agreed on another revision than their leg's."""
    for case in report["cases"]:
        by_agreed: dict[str, list[str]] = {}
        for each in case["scenarios"]:
            others = [
                agreed
                for agreed in each["revision"]["agreed"]
                if agreed != each["revision"]["leg"]
            ]
            is_suites = each["source"] == "official"  # ours say no to it on purpose
            if others and is_suites and each["variant"] is None:
                by_agreed.setdefault(", ".join(others), []).append(each["scenario"])
        for agreed, scenarios in sorted(by_agreed.items()):
            yield (
                f"  {failure.leg_of(case)}: {agreed} in {_scenarios(len(scenarios))}: "
                + ", ".join(scenarios)
            )


def render(report: Report, *, full: bool) -> str:
    """The whole page; `full` adds all checks and the matrix of tests."""
    parts = ["\n".join(headline(report))]
    parts.append("Pass rates\n" + pass_rates(report, full=full))
    parts.append("Outcomes\n" + outcomes(report))
    if full:
        parts.append("Per-test results\n" + matrix(report))
    for title, lines in (
        ("The suite by itself credits clients that barely do anything", floor(report)),
        ("Another revision was agreed", revisions(report)),
        ("No verdict, because", failure.no_verdict(report)),
        ("Failure details", failure.failures(report)),
        ("Warnings", failure.warnings(report)),
        ("Not judged", failure.not_judged(report)),
        ("Left behind", failure.leftovers(report)),
    ):
        text = "\n".join(lines)
        if text:
            parts.append(f"{title}\n{text}")
    apart = not_scored(report)
    if apart:
        parts.append("Run without counting\n" + apart)
    return printable("\n\n".join(parts)) + "\n"
