"""
A report as a badge: the JSON that shields.io's *endpoint* badge reads.

Green is a whole run that is conformant, and nothing else is. What could not be judged,
and a run of a few scenarios, is grey, whatever the numbers are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.errors import UsageError
from mcpconf.storage import json_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.decode import Json

    Report = Mapping[str, Any]
    Gate = Mapping[str, Any]

_GREEN, _AMBER, _RED, _GREY = "brightgreen", "yellow", "red", "lightgrey"
#: The scenarios of the suite, and ours.
_OFFICIAL = ("officialNonAuthScenarios", "officialAuthScenarios")
_OURS = ("supplementalScenarios",)


def render(
    report: Report, gate: Gate | None = None, *, revision: str | None = None
) -> bytes:
    """
    The badge of all revisions of a report, or of one; equal input gives equal bytes.

    :raises UsageError: the report has nothing of that revision.
    """
    known = list(dict.fromkeys(case["mode"] for case in report["cases"]))
    if revision is not None and revision not in known:
        has = ", ".join(known) or "nothing"
        raise UsageError(f"revision {revision}: the report has {has}")
    wanted = known if revision is None else [revision]
    word, color = _standing(report, gate, wanted)
    summaries = [each for each in report["modeSummaries"] if each["mode"] in wanted]
    message = ", ".join(part for part in (_counts(summaries), word) if part)
    value: Json = {
        "schemaVersion": 1,
        "label": " ".join(["MCP", ", ".join(wanted)]).strip(),
        "message": message,
        "color": color,
    }
    return json_bytes(value)


def _counts(summaries: Sequence[Mapping[str, Any]]) -> str:
    """``29/32 scenarios``; the suite's and ours apart, where both were run."""
    official, ours = _ratio(summaries, _OFFICIAL), _ratio(summaries, _OURS)
    if official and ours:
        return f"{official} official, {ours} supplemental"
    return f"{official or ours} scenarios" if official or ours else ""


def _ratio(
    summaries: Sequence[Mapping[str, Any]], columns: Sequence[str]
) -> str | None:
    ratios = [each[column] for each in summaries for column in columns]
    total = sum(each["total"] for each in ratios)
    return f"{sum(each['passed'] for each in ratios)}/{total}" if total else None


def _standing(
    report: Report, gate: Gate | None, revisions: Sequence[str]
) -> tuple[str, str]:
    """A word, empty where the numbers say it all, and a colour."""
    if gate is not None and gate["verdict"] != "GREEN":
        color = _RED if gate["verdict"] == "REGRESSED" else _GREY
        return gate["verdict"].lower(), color
    if not _is_closed(report):
        return "incomplete", _GREY
    selection = report["selection"]
    if selection["scenarios"] or selection["shard"]:
        return "partial", _GREY
    verdicts = {
        case["verdict"] for case in report["cases"] if case["mode"] in revisions
    }
    if not verdicts or "INCONCLUSIVE" in verdicts:
        return "inconclusive", _GREY
    if verdicts == {"CONFORMANT"}:
        return "", _GREEN
    # Red is for what got worse; what a baseline expects is not conformant all the same.
    return "", _RED if gate is None else _AMBER


def _is_closed(report: Report) -> bool:
    """Whether the run ran to its end and left nothing behind."""
    closing = report["closing"] or {}
    traces = [closing.get(name) for name in ("faults", "openPorts", "temporary")]
    return report["complete"] is True and not any(traces)
