"""A report as a badge: green is a conformant run, and nothing else is."""

from __future__ import annotations

import json
from typing import Any

import pytest
import rendered

from mcpconf.errors import UsageError
from mcpconf.render.badge import render

GREENS = {"brightgreen", "green", "yellowgreen"}


def _badge(value: dict[str, Any], gate: Any = None, **more: Any) -> dict[str, Any]:
    badge: dict[str, Any] = json.loads(render(value, gate, **more))
    assert set(badge) == {"schemaVersion", "label", "message", "color"}
    assert badge["schemaVersion"] == 1
    return badge


def _two() -> dict[str, Any]:
    """A report of two revisions: the older one is conformant, the newer one is not."""
    value = rendered.mixed()
    older = rendered.report_of(rendered.good("tools_call"), rendered.good())
    for each in (older["cases"][0], older["modeSummaries"][0]):
        each["mode"] = "2025-06-18"
    value["cases"].insert(0, older["cases"][0])
    value["modeSummaries"].insert(0, older["modeSummaries"][0])
    return value


def test_a_conformant_run_is_green() -> None:
    badge = _badge(rendered.report_of(rendered.good(), rendered.good("tools_call")))
    assert badge == {
        "schemaVersion": 1,
        "label": "MCP 2025-11-25",
        "message": "2/2 scenarios",
        "color": "brightgreen",
    }


def test_a_run_that_is_not_conformant_is_red_and_counts_the_suites_and_ours() -> None:
    badge = _badge(rendered.mixed())
    assert badge["message"] == "1/2 official, 1/2 supplemental"
    assert badge["color"] == "red"


def test_revisions_are_joined_or_one_is_asked_for() -> None:
    both = _badge(_two())
    assert both["label"] == "MCP 2025-06-18, 2025-11-25"
    assert both["message"] == "3/4 official, 1/2 supplemental"
    assert both["color"] == "red"
    older = _badge(_two(), revision="2025-06-18")
    assert older["label"] == "MCP 2025-06-18"
    assert (older["message"], older["color"]) == ("2/2 scenarios", "brightgreen")
    assert _badge(_two(), revision="2025-11-25")["color"] == "red"


def test_a_revision_that_was_not_run_has_no_badge() -> None:
    with pytest.raises(UsageError, match="2024-11-05: the report has 2025-11-25"):
        render(rendered.mixed(), revision="2024-11-05")


@pytest.mark.parametrize(
    "end",
    [
        {"complete": False},
        {"faults": ("x",)},
        {"open_ports": (4000,)},
        {"temporary": ("y",)},
    ],
)
def test_a_run_that_did_not_close_cleanly_is_grey(end: dict[str, Any]) -> None:
    value = rendered.report_of(rendered.good(), **end)
    badge = _badge(value, rendered.gate_of())
    assert badge["color"] == "lightgrey"
    assert badge["message"] == "1/1 scenarios, incomplete"


def test_an_inconclusive_leg_is_grey_and_never_green() -> None:
    value = rendered.report_of(rendered.good())
    value["cases"][0]["verdict"] = "INCONCLUSIVE"
    for gate in (None, rendered.gate_of()):
        badge = _badge(value, gate)
        assert badge["color"] == "lightgrey"
        assert badge["message"] == "1/1 scenarios, inconclusive"


def test_a_report_of_nothing_is_grey() -> None:
    value = rendered.report_of(rendered.good())
    value |= {"cases": [], "modeSummaries": []}
    badge = _badge(value)
    assert (badge["message"], badge["color"]) == ("inconclusive", "lightgrey")


@pytest.mark.parametrize(
    "part", [{"scenarios": ["tools_call"]}, {"shard": {"index": 1, "of": 2}}]
)
def test_a_few_scenarios_are_no_badge_of_the_whole(part: dict[str, Any]) -> None:
    value = rendered.report_of(rendered.good())
    value["selection"] |= part
    assert _badge(value)["color"] == "lightgrey"
    assert _badge(value)["message"].endswith(", partial")


@pytest.mark.parametrize(
    ("verdict", "color", "word"),
    [
        ("GREEN", "yellow", ""),
        ("REGRESSED", "red", ", regressed"),
        ("REFUSED", "lightgrey", ", refused"),
        ("INCOMPLETE", "lightgrey", ", incomplete"),
    ],
)
def test_a_gate_says_whether_it_got_worse(verdict: str, color: str, word: str) -> None:
    """What a baseline expects is not conformant: green stays for what is."""
    badge = _badge(rendered.mixed(), rendered.gate_of(verdict))
    assert badge["color"] == color
    assert badge["message"] == f"1/2 official, 1/2 supplemental{word}"
    clean = _badge(rendered.report_of(rendered.good()), rendered.gate_of(verdict))
    assert (clean["color"] in GREENS) is (verdict == "GREEN")


@pytest.mark.parametrize("text", rendered.HOSTILE.values(), ids=rendered.HOSTILE)
def test_a_client_has_no_say_in_it(text: str) -> None:
    value = rendered.mixed()
    value["closing"]["faults"] = ["x"]
    value["closing"]["temporary"] = ["x"]
    assert render(rendered.poisoned(value, text or "x")) == render(value)
