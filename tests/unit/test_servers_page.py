"""The page about servers shows the figures of the reports, and none typed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "servers.md").read_text("utf-8")
RESULTS = json.loads(
    (ROOT / "fixtures" / "servers" / "results.json").read_text("utf-8")
)
VERDICTS = {
    "CONFORMANT": "conformant",
    "NOT_CONFORMANT": "not conformant",
    "INCONCLUSIVE": "none",
}


def share(outcomes: dict[str, int]) -> str:
    return f"{outcomes.get('passed', 0)} / {sum(outcomes.values())}"


def ours(outcomes: dict[str, int]) -> str:
    order = ("passed", "failed", "unobserved", "unsupported", "not-applicable")
    assert set(outcomes) <= set(order)
    told = [f"{outcomes[each]} {each}" for each in order if each in outcomes]
    return ", ".join(told).replace("not-applicable", "not applicable") or "-"


def row(revision: str, value: dict[str, Any]) -> str:
    cells = (
        revision,
        VERDICTS[value["verdict"]],
        share(value["scored"]),
        share(value["notScored"]),
        ours(value["ours"]),
    )
    return f"| {' | '.join(cells)} |"


def test_every_row_is_what_a_report_says() -> None:
    _, _, table = PAGE.partition("## Three servers")
    lines = [each for each in table.splitlines() if each.startswith("|")]
    shown = [f"|{each.split('|', 2)[2]}" for each in lines[2:8]]
    wanted = [
        row(revision, value)
        for name in ("python-sdk", "fastmcp", "server-everything")
        for revision, value in sorted(RESULTS[name].items())
    ]
    assert shown == wanted
