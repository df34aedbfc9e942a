"""A report on a terminal: the verdict, the tables, what to do about failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.render import failure
from mcpconf.render.grid import grid, is_within
from mcpconf.render.text import one_line, printable, wrapped
from mcpconf.view import leg_of, role_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Report = Mapping[str, Any]

#: The transport of the legs that the suite's scenarios run on.
_SUITES = "official-http"
_RATE_COLUMNS = {
    "officialNonAuthScenarios": "Non-auth scenarios",
    "officialAuthScenarios": "Auth scenarios",
    "officialChecks": "Official checks",
    "harnessChecks": "Harness",
    "supplementalScenarios": "Our scenarios",
    "supplementalChecks": "Our checks",
    "checks": "All checks",
    "transportCases": "Transport cases",
}
#: A row that is about one transport has no use for these.
_SUMS = ("checks", "transportCases")
_HEADLINE = 300
_FLOOR = "The suite by itself credits {}s that barely do anything"


def ratio_of(passed: int, total: int, left_out: int = 0) -> str:
    """``178/188 (94.7%), 5 not judged``; ``-`` of nothing."""
    more = f"{left_out} not judged" if left_out else ""
    if not total:
        return more or "-"
    ratio = f"{passed}/{total} ({round(passed / total * 100, 1):g}%)"
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
    version = one_line(client["version"], _HEADLINE)
    role = role_word(report).capitalize()
    yield f"{role}: {client['title']}, {version} ({client['source']})"
    yield f"        {client['binary']}"
    if client["sha256"] is not None:
        yield f"        sha256:{client['sha256']}"
    ours = [each for each in report["cases"] if each["transport"] != _SUITES]
    if len(ours) < len(report["cases"]) or not ours:
        suite_version = suite["version"] or "unknown version"
        yield f"Suite:  {suite['package'] or 'unknown package'} {suite_version}"
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
    mode = f"Auth:   {auth} mode; " if role == "Client" else "Policy: "
    yield f"{mode}warnings: {report['policy']['warnings']}"
    if not report["complete"]:
        yield "INCOMPLETE: not every case has run; this is no verdict."


def rates(report: Report) -> tuple[list[str], list[list[str]]]:
    """Headers and rows: what passed at each revision, over its transports."""
    by_revision: dict[str, list[Mapping[str, Any]]] = {}
    for item in report["modeSummaries"]:
        by_revision.setdefault(item["mode"], []).append(item)
    rows = [
        [revision, *(_sum(report, items, name) for name in _RATE_COLUMNS)]
        for revision, items in by_revision.items()
    ]
    return ["Revision", *_RATE_COLUMNS.values()], rows


def _sum(report: Report, items: list[Mapping[str, Any]], column: str) -> str:
    """One ratio over some of a report's cases."""
    cases = {leg_of(case): case for case in report["cases"]}
    return ratio_of(
        sum(item[column]["passed"] for item in items),
        sum(item[column]["total"] for item in items),
        sum(_left_out(cases[leg_of(item)], column) for item in items),
    )


def leg_rates(report: Report) -> tuple[list[str], list[list[str]]]:
    """Headers and rows: what passed in each leg, where that is more than one number."""
    columns = [name for name in _RATE_COLUMNS if name not in _SUMS]
    rows = [
        [str(leg_of(item)), *(_sum(report, [item], name) for name in columns)]
        for item in report["modeSummaries"]
    ]
    return ["Leg", *(_RATE_COLUMNS[name] for name in columns)], rows


def outcomes(report: Report) -> tuple[list[str], list[list[str]]]:
    """Headers and rows: scored scenarios of each leg, by outcome."""
    rows = []
    for case in report["cases"]:
        scored = [each for each in case["scenarios"] if each["scored"]]
        counts: dict[str, int] = {}
        for each in scored:
            counts[each["outcome"]] = counts.get(each["outcome"], 0) + 1
        rows.append(
            [
                str(leg_of(case)),
                f"{counts.get('passed', 0)} of {len(scored)}",
                ", ".join(
                    f"{number} {name}"
                    for name, number in sorted(counts.items())
                    if name != "passed"
                )
                or "-",
            ]
        )
    return ["Leg", "Passed", "Otherwise"], rows


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


def matrix(report: Report, width: int | None) -> str:
    """Every test against every leg; where that is too wide, by what came of it."""
    columns = report["testMatrix"]["columns"]
    rows = report["testMatrix"]["rows"]
    headers = ["Test", *(str(leg_of(column)) for column in columns)]
    keys = [column["key"] for column in columns]
    cells = [[row["test"], *(row["results"][key] for key in keys)] for row in rows]
    text = grid(headers, cells, None)
    if width is None or is_within(text, width):
        return text
    return "\n".join(
        line for row in cells for line in _matrix_block(headers, row, width)
    )


def _matrix_block(headers: list[str], row: list[str], width: int) -> Iterator[str]:
    yield wrapped(one_line(row[0], _HEADLINE), width)
    legs: dict[str, list[str]] = {}
    for leg, result in zip(headers[1:], row[1:], strict=True):
        legs.setdefault(result, []).append(leg)
    for result in ("FAIL", "SKIP", "PASS"):
        if result in legs:
            yield wrapped(f"  {result} {', '.join(legs[result])}", width)


def not_scored(report: Report) -> tuple[list[str], list[list[str]]]:
    """Headers and rows: what ran without counting, and why it does not count."""
    rows = [
        [case["mode"], each["scenario"], each["not_scored"], each["outcome"]]
        for case in report["cases"]
        for each in case["scenarios"]
        if each["not_scored"] is not None
    ]
    return ["Revision", "Scenario", "Not scored because", "Outcome"], rows


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
                by_agreed.setdefault(failure.clip(", ".join(others)), []).append(
                    each["scenario"]
                )
        for agreed, scenarios in sorted(by_agreed.items()):
            yield (
                f"  {leg_of(case)}: {agreed} in {_scenarios(len(scenarios))}: "
                + ", ".join(scenarios)
            )


def render(report: Report, *, full: bool, width: int | None = None) -> str:
    """
    The whole page; `full` adds the matrix of tests.

    Nothing is wider than `width` columns (None: a log, which has none) but words and
    addresses longer than that, and the lines that run a scenario again, which are
    copied whole. There are no colours: a page reads the same everywhere.
    """
    parts = ["\n".join(_lines(headline(report), width))]
    parts += [
        f"{_title(title, width)}\n{grid(headers, rows, width)}"
        for title, (headers, rows) in (
            ("Pass rates by revision", rates(report)),
            ("Pass rates by leg", leg_rates(report)),
            ("Outcomes", outcomes(report)),
        )
    ]
    if full:
        parts.append("Per-test results\n" + matrix(report, width))
    for title, lines in (
        (_FLOOR.format(role_word(report)), floor(report)),
        ("Another revision was agreed", revisions(report)),
        ("No verdict, because", failure.no_verdict(report)),
        ("Failure details", failure.failures(report)),
        ("Warnings", failure.warnings(report)),
        ("Not judged", failure.not_judged(report)),
        ("Left behind, and faults of the run", failure.leftovers(report)),
    ):
        text = "\n".join(_lines(lines, width))
        if text:
            parts.append(f"{_title(title, width)}\n{text}")
    headers, rows = not_scored(report)
    if rows:
        parts.append("Run without counting\n" + grid(headers, rows, width))
    return "\n\n".join(parts) + "\n"


def _title(title: str, width: int | None) -> str:
    return title if width is None else wrapped(title, width)


def _lines(lines: Iterator[str], width: int | None) -> Iterator[str]:
    """Each on a line of its own, whoever wrote what is in it."""
    for line in lines:
        flat = printable(line.replace("\n", " "))
        if width is None or line.startswith(failure.AGAIN):
            yield flat
        else:
            yield wrapped(flat, width)
