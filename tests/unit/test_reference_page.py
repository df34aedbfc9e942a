"""The page about the reference client says what the table of broken ones says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "clients" / "reference.md"
TABLE = ROOT / "fixtures" / "clients" / "authorization" / "table.json"


def line(row: dict[str, Any]) -> str:
    ids = [f"`{each}`" for each in row["fails"]]
    ids += [f"`{each}` (warning)" for each in row["warns"]]
    cells = (
        row["does"],
        f"`{row['name']}`",
        row["scenario"].removeprefix("auth/"),
        row["revision"],
        ", ".join(ids) or f"none: {row.get('outcome', 'passed')}",
    )
    return f"| {' | '.join(cells)} |"


def test_the_page_shows_the_table_of_broken_clients() -> None:
    rows = json.loads(TABLE.read_text("utf-8"))
    _, _, below = PAGE.read_text("utf-8").partition("| a client that | fixture |")
    shown = below.partition("\n\n")[0].splitlines()[2:]

    assert shown == [line(row) for row in rows]


def test_the_page_counts_the_broken_clients_and_what_is_not_seen() -> None:
    rows = json.loads(TABLE.read_text("utf-8"))
    text = " ".join(PAGE.read_text("utf-8").split())

    assert f"breaks it in {len({row['name'] for row in rows})} ways" in text
    unseen = [row["name"] for row in rows if not row["fails"] and not row["warns"]]
    assert len(unseen) == 6
    assert "Six rows fail nothing" in text
