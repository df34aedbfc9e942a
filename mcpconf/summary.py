"""
Counts over a report's checks: ratios per revision, and the matrix of tests.

Skipped checks are in no ratio. A scenario passes only when all its official and
harness checks do; what is not scored, and supplemental runs, are in no scenario ratio.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.record import ReportStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

CheckValue = dict[str, Any]
CaseValue = dict[str, Any]

#: What a client lacks is in no ratio of ours; the suite's requirement sets keep it.
_LEFT_OUT = {"supplemental": {"unsupported", "not-applicable"}, "official": set[str]()}
_PASS, _SKIP = ReportStatus.PASS.value, ReportStatus.SKIP.value


def ratio(passed: int, total: int) -> dict[str, int | float]:
    """Passed, total, and the percentage to one decimal; 0.0 of nothing."""
    percentage = round(passed / total * 100, 1) if total else 0.0
    return {"passed": passed, "total": total, "percentage": percentage}


def check_ratio(checks: Iterable[CheckValue]) -> dict[str, int | float]:
    """Over all checks that were not skipped."""
    counted = [check for check in checks if check["status"] != _SKIP]
    return ratio(sum(check["status"] == _PASS for check in counted), len(counted))


def scenario_ratio(
    case: CaseValue, source: str, category: str
) -> dict[str, int | float]:
    """Over the scored scenarios of one source and category, by outcome."""
    scored = [
        scenario
        for scenario in case["scenarios"]
        if scenario["scored"]
        and scenario["source"] == source
        and scenario["category"] == category
        and scenario["outcome"] not in _LEFT_OUT[source]
    ]
    return ratio(sum(each["outcome"] == "passed" for each in scored), len(scored))


def mode_summaries(cases: Sequence[CaseValue]) -> list[dict[str, Any]]:
    """The original harness's ratios for each revision, in report order."""
    summaries = []
    for case in cases:
        checks = case["checks"]
        official = [each for each in checks if each["source"] == "official"]
        summaries.append(
            {
                "transport": case["transport"],
                "mode": case["mode"],
                "checks": check_ratio(checks),
                "officialChecks": check_ratio(official),
                "officialNonAuthChecks": check_ratio(
                    each for each in official if each["category"] == "non-auth"
                ),
                "officialAuthChecks": check_ratio(
                    each for each in official if each["category"] == "auth"
                ),
                "officialNonAuthScenarios": scenario_ratio(
                    case, "official", "non-auth"
                ),
                "officialAuthScenarios": scenario_ratio(case, "official", "auth"),
                "supplementalScenarios": scenario_ratio(
                    case, "supplemental", "non-auth"
                ),
                "harnessChecks": check_ratio(
                    each for each in checks if each["source"] == "harness"
                ),
                "supplementalChecks": check_ratio(
                    each for each in checks if each["source"] == "supplemental"
                ),
                "transportCases": ratio(int(case["success"]), 1),
            }
        )
    return summaries


def test_matrix(cases: Sequence[CaseValue]) -> dict[str, Any]:
    """Rows of tests against one column a case; N/A where a case has no such test."""
    columns = [
        {
            "key": f"{case['transport']}:{case['mode']}",
            "transport": case["transport"],
            "mode": case["mode"],
        }
        for case in cases
    ]
    by_column = {
        column["key"]: {check["name"]: check["status"] for check in case["checks"]}
        for column, case in zip(columns, cases, strict=True)
    }
    names = sorted({name for tests in by_column.values() for name in tests})
    return {
        "columns": columns,
        "rows": [
            {
                "test": name,
                "results": {
                    key: tests.get(name, "N/A") for key, tests in by_column.items()
                },
            }
            for name in names
        ],
    }
