"""The page in a real browser: filters, search, links, keys, and what never happens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from html_make import (
    REVISION,
    make_case,
    make_check,
    make_gate,
    make_hostile_report,
    make_hostile_transcript,
    make_moments,
    make_report,
    make_scenario,
    make_small_report,
    make_transcript,
    make_transcripts,
)
from playwright.sync_api import expect

from mcpconf.bench_html import find_chromium
from mcpconf.errors import UsageError
from mcpconf.render.html import render

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Open, Watch
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser

PASSED = f"stdio/{REVISION}/basics"
FAILED = f"http/{REVISION}/basics"
CRASHED = f"stdio/{REVISION}/dies-early"
UNSUPPORTED = f"http/{REVISION}/dies-early"
HARNESS = f"official-http/{REVISION}/sse-retry"
TOOLS = f"official-http/{REVISION}/tools_call"
EVERY = {PASSED, FAILED, CRASHED, UNSUPPORTED, HARNESS, TOOLS}


def _shown(page: Page) -> set[str]:
    found = page.locator("a.cell:visible").all()
    return {each.get_attribute("data-key") or "" for each in found}


def _cell(page: Page, key: str) -> Locator:
    return page.locator(f'a.cell[data-key="{key}"]')


def _check(page: Page, name: str, value: str) -> None:
    page.locator(f'input[name="{name}"][value="{value}"]').check()


def _open(page: Page, key: str) -> None:
    _cell(page, key).click()
    _is_open(page)


def _is_open(page: Page) -> None:
    expect(page.locator("#panel .wire-log").first).to_be_visible()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("outcome", "failed", {FAILED}),
        ("outcome", "crashed", {CRASHED}),
        ("outcome", "unsupported", {UNSUPPORTED}),
        ("outcome", "passed", {PASSED, TOOLS}),
        ("attribution", "subject", {FAILED, CRASHED}),
        ("attribution", "harness", {HARNESS}),
        ("source", "official", {TOOLS}),
        ("source", "harness", {HARNESS}),
        ("source", "supplemental", {PASSED, FAILED, CRASHED, UNSUPPORTED}),
    ],
)
def test_a_filter_shows_what_it_names_and_hides_the_rest(
    open_page: Open, name: str, value: str, expected: set[str]
) -> None:
    page = open_page()
    assert _shown(page) == EVERY
    _check(page, name, value)
    expect(page.locator("#shown")).to_have_text(f"{len(expected)} of 6 results")
    assert _shown(page) == expected


def test_values_of_one_filter_add_up_and_filters_narrow_each_other(
    open_page: Open,
) -> None:
    page = open_page()
    _check(page, "outcome", "failed")
    _check(page, "outcome", "harness-error")
    expect(page.locator("#shown")).to_have_text("2 of 6 results")
    _check(page, "attribution", "harness")
    expect(page.locator("#shown")).to_have_text("1 of 6 results")
    assert _shown(page) == {HARNESS}
    page.get_by_role("button", name="Show all").first.click()
    expect(page.locator("#shown")).to_have_text("6 results")
    assert _shown(page) == EVERY


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("tools_call", {TOOLS}),
        ("NEEDLE hay", {PASSED}),
        ("wire-schema", {HARNESS}),
        ("alive", {CRASHED, UNSUPPORTED}),
        ("sigsegv", {CRASHED}),
    ],
)
def test_the_search_looks_at_scenarios_check_ids_and_details(
    open_page: Open, words: str, expected: set[str]
) -> None:
    page = open_page()
    page.get_by_label("Search scenarios").fill(words)
    expect(page.locator("#shown")).to_have_text(f"{len(expected)} of 6 results")
    assert _shown(page) == expected


def test_a_search_without_results_says_so_and_offers_the_way_back(
    open_page: Open,
) -> None:
    page = open_page()
    page.get_by_label("Search scenarios").fill("nothing of the kind")
    expect(page.locator("#nothing")).to_be_visible()
    page.locator("#nothing button").click()
    expect(page.locator("#nothing")).to_be_hidden()
    assert _shown(page) == EVERY


def test_a_cell_opens_its_checks_its_steps_and_its_wire_log(open_page: Open) -> None:
    page = open_page()
    _open(page, FAILED)
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", name="basics")).to_be_visible()
    expect(panel).to_contain_text("the client's doing")
    expect(panel).to_contain_text("Demand: A client does one.")
    expect(panel).to_contain_text("nox -s one -- --only one")
    expect(panel.locator(".check a[href^=https]").first).to_have_attribute(
        "href", "https://spec.example/lifecycle"
    )
    expect(panel.locator(".steps tbody tr")).to_have_count(2)
    expect(panel.locator(".moment")).to_have_count(5)
    expect(panel.locator(".moment .lane.client")).to_have_count(2)
    expect(panel.locator(".moment .lane.server")).to_have_count(1)
    expect(panel.locator(".moment time").first).to_have_text("0.0 ms")
    expect(panel.locator(".silent")).to_contain_text("never answered ping (id 7)")


def test_a_body_is_folded_until_it_is_asked_for(open_page: Open) -> None:
    page = open_page()
    _open(page, PASSED)
    message = page.locator(".lane.client details").first
    expect(message.locator("pre")).to_have_count(0)
    message.locator("summary").click()
    expect(message.locator("pre").nth(1)).to_contain_text('"id": 1')


def test_the_checks_that_passed_are_folded_below_those_that_failed(
    open_page: Open,
) -> None:
    page = open_page()
    _open(page, CRASHED)
    expect(page.locator(".of-checks > .checks > .check")).to_have_count(1)
    rest = page.locator(".of-checks .rest")
    expect(rest.locator(".check")).to_be_hidden()
    rest.locator("summary").click()
    expect(rest.locator(".check")).to_be_visible()


def test_a_link_opens_its_cell_and_survives_reload_and_back(open_page: Open) -> None:
    page = open_page(fragment=f"#/{CRASHED}")
    _is_open(page)
    expect(page.locator("#panel-title")).to_have_text("dies-early")
    expect(_cell(page, CRASHED)).to_have_attribute("aria-current", "true")
    page.reload()
    _is_open(page)
    page.locator("#panel .close").click()
    expect(page.locator("#panel")).to_be_hidden()
    page.go_back()
    _is_open(page)
    expect(page.locator("#panel-title")).to_have_text("dies-early")
    page.go_forward()
    expect(page.locator("#panel")).to_be_hidden()


def test_a_link_to_a_check_shows_that_check(open_page: Open) -> None:
    page = open_page(fragment=f"#/{CRASHED}?check=kept")
    check = page.locator('.check[data-check="kept"]')
    expect(check).to_be_visible()
    expect(check).to_be_in_viewport()
    expect(check).to_have_class("check found")


def test_filters_and_search_are_in_the_link_and_survive_a_reload(
    open_page: Open,
) -> None:
    page = open_page()
    _check(page, "outcome", "failed")
    _check(page, "outcome", "crashed")
    page.get_by_label("Search scenarios").fill("basics")
    expect(page.locator("#shown")).to_have_text("1 of 6 results")
    page.reload()
    expect(page.locator("#shown")).to_have_text("1 of 6 results")
    _open(page, FAILED)
    page.reload()
    _is_open(page)
    assert _shown(page) == {FAILED}
    assert page.locator('input[value="crashed"]').is_checked()
    assert page.get_by_label("Search scenarios").input_value() == "basics"


def test_a_link_to_nothing_says_so(open_page: Open) -> None:
    for fragment in ("#/stdio/none/nothing", "#/__proto__", "#/constructor"):
        page = open_page(fragment=fragment)
        expect(page.locator("#panel-title")).to_have_text("No such result")
    page = open_page(fragment="#/%E0%A4%A")
    expect(page.locator("#panel")).to_be_hidden()


def test_arrow_keys_move_enter_opens_and_escape_returns_the_focus(
    open_page: Open,
) -> None:
    page = open_page()
    _cell(page, PASSED).focus()
    page.keyboard.press("ArrowRight")
    expect(_cell(page, FAILED)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(_cell(page, UNSUPPORTED)).to_be_focused()
    page.keyboard.press("Home")
    expect(_cell(page, CRASHED)).to_be_focused()
    page.keyboard.press("Enter")
    _is_open(page)
    expect(page.locator("#panel-title")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("#panel")).to_be_hidden()
    expect(_cell(page, CRASHED)).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("ArrowUp")
    expect(_cell(page, FAILED)).to_be_focused()


def test_arrow_keys_pass_over_what_a_filter_hides(open_page: Open) -> None:
    page = open_page()
    _check(page, "attribution", "subject")
    expect(page.locator("#shown")).to_have_text("2 of 6 results")
    _cell(page, CRASHED).focus()
    page.keyboard.press("ArrowRight")
    expect(_cell(page, CRASHED)).to_be_focused()


def test_each_table_is_one_tab_stop_and_the_focus_is_seen(open_page: Open) -> None:
    page = open_page()
    expect(page.locator('a.cell[tabindex="0"]')).to_have_count(2)
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('a.cell')"):
            break
    focused = page.locator("a.cell:focus-visible")
    expect(focused).to_have_count(1)
    expect(focused).to_have_css("outline-style", "solid")


def test_previous_and_next_follow_what_is_shown(open_page: Open) -> None:
    page = open_page()
    _check(page, "attribution", "subject")
    expect(page.locator("#shown")).to_have_text("2 of 6 results")
    _open(page, FAILED)
    expect(page.locator("#panel .previous")).to_be_disabled()
    page.locator("#panel .next").click()
    expect(page.locator("#panel-title")).to_have_text("dies-early")
    expect(page.locator("#panel .next")).to_be_disabled()


def test_a_copy_button_copies_the_line(open_page: Open) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    _open(page, FAILED)
    page.locator(".check .copyable button").first.click()
    expect(page.locator("#said")).to_have_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "nox -s one -- --only one"


def test_evidence_that_is_not_there_is_said_and_not_invented(open_page: Open) -> None:
    report = make_small_report()
    missing = "the evidence is not beside the report"
    transcripts = make_transcripts(report)
    place = f"supplemental/{REVISION}/stdio/basics"
    transcripts[place] = make_transcript(
        place, missing=missing, steps=(), moments=(), endings=(), client_end=""
    )
    page = open_page(render(report, transcripts), fragment=f"#/{PASSED}")
    _is_open(page)
    expect(page.locator(".wire-log .notice")).to_contain_text(missing)
    expect(page.locator(".moment")).to_have_count(0)
    expect(page.locator(".silent")).to_have_count(0)
    page = open_page(render(report, {}), fragment=f"#/{PASSED}")
    expect(page.locator(".wire-log")).to_contain_text("made without the evidence")


def test_a_transcript_that_is_cut_says_where_the_rest_is(open_page: Open) -> None:
    report = make_small_report()
    transcripts = make_transcripts(report)
    place = f"supplemental/{REVISION}/stdio/basics"
    transcripts[place] = make_transcript(place, moments=make_moments(500))
    text = render(report, transcripts, transcript_bytes=1)
    page = open_page(text, fragment=f"#/{PASSED}")
    _is_open(page)
    expect(page.locator(".wire-log .left")).to_have_text(
        f"502 more messages and events are in runs/run-1/{place}"
    )


def test_a_flaky_result_shows_what_it_was_when_run_again(open_page: Open) -> None:
    again: dict[str, Any] = {
        "outcome": "passed",
        "attribution": None,
        "reason": "passed at last",
        "evidence": "reruns/1/x",
        "checks": {},
    }
    scenario = make_scenario("x", outcome="flaky", attribution="subject")
    scenario["reruns"] = [again]
    checks = [make_check("one", "FAIL", scenario="x", outcome="flaky")]
    report = make_report(make_case([scenario], checks))
    transcripts = {
        each: make_transcript(each) for each in (scenario["evidence"], "reruns/1/x")
    }
    page = open_page(render(report, transcripts), fragment=f"#/stdio/{REVISION}/x")
    expect(page.locator(".wire-log")).to_have_count(2)
    expect(page.locator(".rerun")).to_contain_text("passed at last")
    expect(page.locator(".check .badge")).to_have_text("flaky")


def test_a_finding_of_the_gate_leads_to_its_cell_and_check(open_page: Open) -> None:
    report = make_small_report()
    page = open_page(render(report, make_transcripts(report), make_gate()))
    page.locator(".gate a").first.click()
    _is_open(page)
    expect(page.locator('.check[data-check="one"]')).to_have_class("check found")


def test_strings_of_a_client_do_not_run_and_add_no_element(
    open_page: Open, watch: Watch
) -> None:
    report = make_hostile_report()
    evidence = report["cases"][0]["scenarios"][0]["evidence"]
    text = render(report, {evidence: make_hostile_transcript(evidence)})
    page = open_page(text)
    page.locator("a.cell").click()
    _is_open(page)
    for summary in page.locator("#panel summary").all():
        summary.click()
    expect(page.locator("#panel pre").last).to_contain_text("<script>")
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.locator("img, iframe, object, embed").count() == 0
    assert page.locator("script").count() == 3
    hrefs = page.evaluate("[...document.links].map((each) => each.protocol)")
    assert set(hrefs) <= {"https:", "file:"}
    assert watch.requests == []


def test_markup_that_got_in_would_still_not_run(
    open_page: Open, watch: Watch, small_page: str
) -> None:
    planted = (
        "<script>window.hacked=1</script><img src=https://x.example/a onerror=a()>"
    )
    page = open_page(small_page.replace("</header>", f"{planted}</header>"))
    assert page.evaluate("typeof window.hacked") == "undefined"
    # The script, the handler, and the picture.
    assert len(watch.console) == 3
    assert all("Content Security Policy" in each for each in watch.console)
    watch.console.clear()


def test_no_request_is_made_whatever_is_opened(open_page: Open, watch: Watch) -> None:
    page = open_page()
    for key in sorted(EVERY):
        _open(page, key)
        page.keyboard.press("Escape")
        expect(page.locator("#panel")).to_be_hidden()
    assert watch.requests == []


def test_on_paper_failures_are_spread_out_and_no_control_is_seen(
    open_page: Open,
) -> None:
    page = open_page(fragment=f"#/{PASSED}")
    _is_open(page)
    expect(page.locator(".failures")).to_be_hidden()
    page.emulate_media(media="print")
    for key in (FAILED, CRASHED, HARNESS):
        expect(page.locator(f'[id="/{key}"]')).to_be_visible()
    expect(page.locator(".failures")).to_contain_text("what was found of alive")
    for gone in ("#filters", "#panel", "button"):
        assert page.locator(f"{gone}:visible").count() == 0
    paper = page.viewport_size
    assert paper is not None
    page.set_viewport_size({"width": 700, "height": 1000})
    assert page.evaluate("document.documentElement.scrollWidth") <= 700


def test_a_filter_does_not_take_results_off_the_paper(open_page: Open) -> None:
    page = open_page()
    _check(page, "outcome", "failed")
    expect(page.locator("#shown")).to_have_text("1 of 6 results")
    page.emulate_media(media="print")
    assert _shown(page) == EVERY


def test_without_scripts_there_is_a_list_to_read(open_page: Open) -> None:
    page = open_page(fragment=f"#/{CRASHED}", java_script_enabled=False)
    expect(page.locator("#filters")).to_be_hidden()
    expect(page.locator(".matrix").first).to_be_visible()
    article = page.locator(f'[id="/{CRASHED}"]')
    expect(article).to_be_in_viewport()
    expect(article).to_contain_text("what was found of alive")


def test_on_a_narrow_screen_the_panel_covers_the_page_and_nothing_overflows(
    open_page: Open,
) -> None:
    page = open_page(viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    _open(page, FAILED)
    box = page.locator("#panel").bounding_box()
    assert box is not None
    assert box["width"] == 360
    expect(page.locator("#page")).to_have_js_property("inert", value=True)
    assert page.evaluate("document.getElementById('panel').scrollWidth") <= 360
    page.keyboard.press("Escape")
    expect(page.locator("#page")).to_have_js_property("inert", value=False)
    expect(_cell(page, FAILED)).to_be_focused()


def test_a_hostile_long_line_stays_inside_the_panel(open_page: Open) -> None:
    report = make_hostile_report()
    page = open_page(render(report, {}), viewport={"width": 1200, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200
    page.locator("a.cell").click()
    _is_open(page)
    panel = page.locator("#panel")
    assert panel.evaluate("each => each.scrollWidth - each.clientWidth") == 0


def test_a_missing_chromium_is_named_and_not_skipped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="chromium is not on PATH: install it"):
        find_chromium()
