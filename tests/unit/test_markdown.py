"""A report as Markdown: what stands first, what is cut, and what nobody can add."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
import rendered
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from mcpconf.errors import UsageError
from mcpconf.render.markdown import SMALLEST_BYTES, render
from mcpconf.render.markup import code

if TYPE_CHECKING:
    from markdown_it.token import Token

READER = MarkdownIt("commonmark", {"html": True}).enable("table")


def _tokens(page: str) -> list[Token]:
    """Every token of a page, those within a line too."""
    found = []
    for token in READER.parse(page):
        found += [token, *(token.children or ())]
    return found


def _shape(page: str) -> list[tuple[str, str]]:
    """What a page is made of: its own words, and of code only that it is there."""
    return [
        (each.type, "" if each.type in {"code_inline", "inline"} else each.content)
        for each in _tokens(page)
    ]


def _many(number: int) -> dict[str, Any]:
    """A report with many failing scenarios."""
    value = rendered.mixed("said " * 60)
    case = value["cases"][1]
    for index in range(number):
        name = f"scenario-{index}"
        case["scenarios"].append(copy.deepcopy(case["scenarios"][0]))
        case["scenarios"][-1]["scenario"] = name
        case["checks"].append(copy.deepcopy(case["checks"][1]))
        case["checks"][-1] |= {"scenario": name, "name": f"official/{name}/RequiredB"}
    return value


def test_the_verdict_stands_first_and_the_rates_next() -> None:
    page = render(rendered.mixed())
    assert page.startswith("# MCP conformance: NOT_CONFORMANT\n")
    row = next(line for line in page.splitlines() if line.startswith("| 2025-11-25 |"))
    assert "| 0/1 (0%) | 1/1 (100%) | 4/6 (66.7%) |" in row
    assert row.endswith("| 14/18 (77.8%) | 0/2 (0%) |")


def test_each_revision_has_a_fold_with_what_failed_and_how_to_run_it_again() -> None:
    value = rendered.mixed()
    page = render(value)
    assert (
        "<details><summary>2025-11-25: 4 failed in 2 scenarios</summary>\n\n*" in page
    )
    assert page.count("<details>") == page.count("</details>") == 1
    assert "  * `RequiredA` (warning): `it should have`\n" in page
    assert f"  * page: <{rendered.PAGE}>\n" in page
    again = value["cases"][1]["checks"][0]["reproduce"]
    assert f"  * again: `{again}`\n" in page


def test_a_clean_report_has_no_fold() -> None:
    page = render(rendered.report_of(rendered.good()))
    assert page.startswith("# MCP conformance: CONFORMANT\n")
    assert "<details>" not in page


def test_the_gates_answer_stands_before_the_verdict_and_its_findings_first() -> None:
    new = rendered.finding(rendered.identity("required-b"), "it passed before")
    gone = rendered.finding(rendered.identity("silent"), "it is not there")
    worse = rendered.finding(rendered.identity("required-a"), "it crashed")
    gate = rendered.known_gate(
        "REGRESSED",
        scope="partial",
        new_failures=(new,),
        missing_checks=(gone,),
        changed_failures=(worse,),
        demands=("take one out",),
        not_compared=("stdio 2025-06-18",),
    )
    page = render(rendered.mixed(), gate)
    heading = "# MCP conformance: gate REGRESSED, over a part of the baseline\n"
    assert page.startswith(heading)
    order = [
        "1 new, 1 changed, 1 missing, 4 expected.",
        "Verdict of the run by itself: **NOT_CONFORMANT**",
        "| Revision |",
        "## Not green, because\n\n* `demanded: take one out`",
        "## New failures (1)\n\n* `official-http 2025-11-25 / tools_call`\n  * `requ",
        "  * again: `nox -s conformance-2025-11-25 -- --scenario tools_call`",
        "## Changed failures (1)",
        "## Missing checks (1)",
        "not compared: stdio 2025-06-18",
        "<details>",
        "(expected failure because `the client is slow`)",
    ]
    places = [page.index(each) for each in order]
    assert places[0] < places[1] < places[2] < places[3] < places[4]
    assert places == sorted(places)


def test_the_findings_of_one_scenario_stand_together() -> None:
    gone = tuple(rendered.finding(rendered.identity(f"c-{n}")) for n in range(25))
    gate = rendered.known_gate("REGRESSED", missing_checks=gone)
    section = render(rendered.mixed(), gate).partition("## Missing checks (25)\n\n")[2]
    assert section.partition("\n\n")[0].splitlines() == [
        "* `official-http 2025-11-25 / tools_call`",
        *(f"  * `c-{n}`: `it fails`" for n in range(20)),
        "  * and 5 more checks",
        f"  * page: <{rendered.PAGE}>",
        "  * again: `nox -s conformance-2025-11-25 -- --scenario tools_call`",
    ]


def test_a_check_that_is_expected_to_fail_says_why() -> None:
    page = render(rendered.mixed(), rendered.known_gate())
    assert page.startswith("# MCP conformance: gate GREEN\n\n4 expected.\n")
    assert "`RequiredA` (warning, expected failure because `a known bug`)" in page


def test_a_run_without_a_verdict_says_why() -> None:
    value = rendered.report_of(rendered.good(), complete=False, faults=("lost",))
    page = render(value)
    assert page.startswith("# MCP conformance: INCONCLUSIVE\n")
    assert "**Incomplete: not every case has run; this is no verdict.**" in page
    assert "## Left behind, and faults of the run\n\n* `run: lost`\n" in page


def test_what_was_run_again_says_how_it_ended() -> None:
    page = render(rendered.flaky())
    assert "`official-http 2025-11-25 / tools_call`: flaky" in page
    assert "  * run again, alone: `passed`\n" in page


def test_what_the_suite_waited_for_is_one_line() -> None:
    value = rendered.mixed()
    for check in value["cases"][1]["checks"][:2]:
        check["detail"] = f"Expected Check Missing: {check['check_id']}"
    page = render(value)
    assert "  * never reached (warning): `required-a`\n" in page
    assert "  * never reached: `required-b`\n" in page


@pytest.mark.parametrize("limit", [SMALLEST_BYTES, 20_000, 100_000])
def test_a_page_stays_below_its_limit_and_says_what_is_left_out(limit: int) -> None:
    value = _many(400)
    page = render(value, limit_bytes=limit)
    assert limit - 2_000 < len(page.encode()) <= limit
    assert page.count("<details>") == page.count("</details>") == 1
    shown = page.count("  * again: ")
    assert f"**Cut here:** {402 - shown} failing scenarios of 2025-11-25" in page
    assert page.endswith("The report has them all.\n")
    assert "Cut here" not in render(value)


def test_what_the_gate_finds_is_cut_last() -> None:
    findings = tuple(
        rendered.finding(rendered.identity("required-a", f"one-{index}"), "x" * 100)
        for index in range(100)
    )
    gate = rendered.known_gate("REGRESSED", new_failures=findings)
    page = render(_many(10), gate, limit_bytes=SMALLEST_BYTES)
    shown = page.count("  * `required-a`: `xxx")
    assert 10 < shown < 100
    left = f"{100 - shown} scenarios under “New failures”"
    assert f"{left}, 12 failing scenarios of 2025-11-25" in page


def test_a_limit_that_nothing_fits_in_is_refused() -> None:
    with pytest.raises(UsageError, match="limit 100: take 8000 bytes or more"):
        render(rendered.mixed(), limit_bytes=100)


def test_the_largest_head_fits_in_the_smallest_limit() -> None:
    value = rendered.poisoned(_many(5), "漢" * 1_000)
    value["officialConformance"]["suite"] |= {
        "package": "漢" * 999,
        "version": "漢" * 9,
    }
    page = render(value, limit_bytes=SMALLEST_BYTES)
    assert len(page.encode()) <= SMALLEST_BYTES
    assert "| Revision |" in page


# -- what a client may write -----------------------------------------------------------


@pytest.mark.parametrize("text", rendered.HOSTILE.values(), ids=rendered.HOSTILE)
def test_what_a_client_wrote_is_text_in_code_and_nothing_else(text: str) -> None:
    gate = rendered.known_gate()
    for each in gate["knownFailures"]:
        each["reason"] = f"{rendered.MARK}</details>"
    value = rendered.flaky() if text.startswith("|") else rendered.mixed()
    page = render(rendered.poisoned(value, text), gate)
    for token in _tokens(page):
        if token.type not in {"code_inline", "inline"}:
            said = f"{token.content}{token.attrs}"
            assert rendered.MARK not in said
    assert page.startswith("# MCP conformance: gate GREEN\n")
    assert all(line.isprintable() for line in page.split("\n"))
    assert [
        each.content for each in READER.parse(page) if each.type == "html_block"
    ] == [
        each.content
        for each in READER.parse(render(rendered.poisoned(value, "x"), gate))
        if each.type == "html_block"
    ]


@settings(max_examples=60, deadline=None)
@given(st.text(st.sampled_from("`|<>@#*_[]()!\\\n \r\x00\ud800&:-ax"), max_size=40))
def test_no_text_changes_the_shape(text: str) -> None:
    value = rendered.mixed()
    assert _shape(render(rendered.poisoned(value, text))) == _shape(
        render(rendered.poisoned(value, "harmless"))
    )


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("plain", "`plain`"),
        ("a`b", "``a`b``"),
        ("`a``", "``` `a`` ```"),
        ("", "`-`"),
        (" \n ", "`-`"),
        ("a\n\n# b", "`a # b`"),
        ("a|b", "`a|b`"),
    ],
)
def test_a_code_span_holds_ticks_and_no_line_end(text: str, span: str) -> None:
    assert code(text) == span


def test_an_address_that_is_none_is_no_link() -> None:
    value = rendered.mixed()
    value["cases"][1]["checks"][1]["pages"] = ["javascript:alert(1)", "http://a b>"]
    page = render(value)
    assert "  * page: `javascript:alert(1)`\n" in page
    assert "  * page: `http://a b>`\n" in page


def test_equal_reports_are_equal_pages() -> None:
    gate = rendered.known_gate()
    assert render(rendered.mixed(), gate) == render(rendered.mixed(), gate)
