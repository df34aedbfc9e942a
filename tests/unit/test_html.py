"""The page of a report: one file, what it shows, and what cannot get out of it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from html.parser import HTMLParser
from typing import Any

import pytest
from html_make import (
    HOSTILE,
    REVISION,
    make_case,
    make_check,
    make_gate,
    make_hostile_report,
    make_hostile_transcript,
    make_report,
    make_scenario,
    make_small_report,
    make_transcript,
    make_transcripts,
)

from mcpconf.render.html import render
from mcpconf.render.html.model import cells_of, groups_of

_FETCHING = re.compile(r"""(?:src|srcset|action|poster|background)\s*=|url\(|@import""")


class _Page(HTMLParser):
    """The elements of a page, and the text in those that are asked for."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self._open: list[str] = []
        self.visible: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in self.inside:
            self.inside[tag].append("")
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open:
            self.inside[self._open[-1]][-1] += data
        else:
            self.visible.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.visible).split())


def _data(text: str) -> Any:
    return json.loads(_Page(text).inside["script"][-1])


def unpack(packed: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(packed)))


@pytest.fixture(scope="module")
def page() -> str:
    report = make_small_report()
    return render(report, make_transcripts(report), make_gate())


def test_equal_input_gives_equal_bytes(page: str) -> None:
    report = make_small_report()
    again = render(report, make_transcripts(report), make_gate())
    assert page.encode() == again.encode()


def test_nothing_is_fetched(page: str) -> None:
    parsed = _Page(page)
    links = [
        attrs for tag, attrs in parsed.elements if tag in {"link", "img", "iframe"}
    ]
    assert not links
    without_data = page[: page.index('<script type="application/json"')]
    assert not _FETCHING.search(without_data)


def test_the_policy_names_the_digest_of_each_style_and_script(page: str) -> None:
    parsed = _Page(page)
    policy = next(
        attrs["content"] or ""
        for tag, attrs in parsed.elements
        if tag == "meta" and attrs.get("http-equiv") == "Content-Security-Policy"
    )
    allowed = {
        f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
        for text in (*parsed.inside["style"], *parsed.inside["script"][:-1])
    }
    assert len(allowed) == 3
    assert set(re.findall(r"'sha256-[^']+'", policy)) == allowed
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy


def test_no_element_has_a_style_or_a_handler_of_its_own(page: str) -> None:
    for _, attrs in _Page(page).elements:
        assert not [name for name in attrs if name == "style" or name.startswith("on")]


def test_the_head_says_verdict_client_suite_scope_and_policy(page: str) -> None:
    text = _Page(page).text
    for said in (
        "Not conformant",
        "Acme Client acme 1.2.3",
        "npm:suite@9.9.9",
        "everything",
        "warnings fail, revision same-era",
        "2026-11-30 15:31:27 UTC",
        "1 min 46 s",
        "2 of 6 results passed; 1 failed, 1 crashed, 1 harness error, 1 unsupported.",
    ):
        assert said in text


def test_a_run_that_did_not_end_is_said_to_be_one() -> None:
    report = make_small_report(complete=False, closing=None, finishedAt=None)
    text = _Page(render(report, {})).text
    assert "The run did not come to its end." in text
    assert "not known: it never finished" in text


def test_what_the_closing_record_complains_of_is_on_the_page() -> None:
    closing = {"faults": ["disk full"], "openPorts": [4711], "temporary": ["left-over"]}
    text = _Page(render(make_small_report(closing=closing), {})).text
    for said in ("disk full", "port 4711 still answers", "left-over was not deleted"):
        assert said in text


def test_every_case_has_one_cell_whose_text_says_its_outcome(page: str) -> None:
    cells = {
        attrs["data-key"]: attrs
        for tag, attrs in _Page(page).elements
        if tag == "a" and "data-key" in attrs
    }
    report = make_small_report()
    assert len(cells) == sum(len(case["scenarios"]) for case in report["cases"])
    failed = cells[f"http/{REVISION}/basics"]
    assert failed["href"] == f"#/http/{REVISION}/basics"
    assert failed["data-attribution"] == "subject"
    assert ">harness error<" in page


def test_a_cell_is_found_by_the_source_of_what_failed() -> None:
    cells = {each.key: each for each in cells_of(groups_of(make_small_report()))}
    assert cells[f"official-http/{REVISION}/sse-retry"].sources == ("harness",)
    assert cells[f"official-http/{REVISION}/tools_call"].sources == ("official",)


def test_a_variant_has_its_own_cell_with_its_own_check() -> None:
    scenarios = [
        make_scenario("x", source="official"),
        make_scenario("x", source="official", variant="as_host", evidence="e"),
    ]
    checks = [
        make_check("plain", scenario="x", source="official"),
        make_check("as_host", "FAIL", scenario="x"),
    ]
    report = make_report(make_case(scenarios, checks, transport="official-http"))
    cells = {each.key: each for each in cells_of(groups_of(report))}
    plain = cells[f"official-http/{REVISION}/x"]
    variant = cells[f"official-http/{REVISION}/x@as_host"]
    assert [each["check_id"] for each in plain.value["checks"]] == ["plain"]
    assert [each["check_id"] for each in variant.value["checks"]] == ["as_host"]


def test_checks_that_are_not_scored_are_shown_with_their_scenario() -> None:
    case = make_case([make_scenario(not_scored="extension")], [])
    case["notScored"] = [make_check("apart")]
    (cell,) = cells_of(groups_of(make_report(case)))
    assert [each["check_id"] for each in cell.value["checks"]] == ["apart"]
    assert "not scored: extension" in _Page(render(make_report(case), {})).text


def test_a_reader_without_scripts_finds_every_failure_at_its_link(page: str) -> None:
    ids = {attrs["id"] for tag, attrs in _Page(page).elements if tag == "article"}
    assert ids == {
        f"/http/{REVISION}/basics",
        f"/stdio/{REVISION}/dies-early",
        f"/official-http/{REVISION}/sse-retry",
    }
    text = _Page(page).text
    assert "what was found of alive" in text
    assert "Silent at the end: the client owed an answer to ping" in text
    assert "nox -s conformance -- --supplemental-scenario dies-early" in text


def test_a_thousand_failing_checks_are_counted_and_not_all_listed() -> None:
    checks = [make_check(f"c{number}", "FAIL") for number in range(1_000)]
    case = make_case([make_scenario(outcome="failed", attribution="subject")], checks)
    text = _Page(render(make_report(case), {})).text
    assert "975 more failing checks are in the report." in text


def test_the_data_holds_every_check_and_every_transcript(page: str) -> None:
    data = _data(page)
    cells = unpack(data["report"])["cells"]
    assert [
        each["check_id"] for each in cells[f"stdio/{REVISION}/basics"]["checks"]
    ] == [
        "one",
        "two",
    ]
    transcript = unpack(data["transcripts"][f"supplemental/{REVISION}/stdio/basics"])
    assert [each["t"] for each in transcript["moments"]] == [0.0, 1.0, 2.5, 3.5, 4.5]
    assert transcript["left"] == 0


def test_the_gate_is_on_the_page_with_links_to_the_cells_it_is_about(page: str) -> None:
    text = _Page(page).text
    assert "Gate: regressed" in text
    assert "Only a part of the baseline was run." in text
    assert f'href="#/http/{REVISION}/basics?check=one"' in page
    assert "expected: a known bug" in text
    assert "gone:one" in text
    assert "#/http/2025-11-25/gone" not in page


def test_without_a_gate_there_is_no_word_of_one() -> None:
    assert "gate" not in _Page(render(make_small_report(), {})).text.lower()


def test_a_hostile_client_adds_no_element_to_the_page() -> None:
    report = make_hostile_report()
    evidence = report["cases"][0]["scenarios"][0]["evidence"]
    page = render(report, {evidence: make_hostile_transcript(evidence)})
    parsed = _Page(page)
    assert len(parsed.inside["script"]) == 3
    assert not [tag for tag, _ in parsed.elements if tag == "img"]
    hrefs = [attrs.get("href") or "#" for tag, attrs in parsed.elements if tag == "a"]
    assert all(each.startswith(("#", "https://")) for each in hrefs)


def test_a_hostile_client_leaves_no_character_that_acts() -> None:
    report = make_hostile_report()
    evidence = report["cases"][0]["scenarios"][0]["evidence"]
    page = render(report, {evidence: make_hostile_transcript(evidence)})
    data = _data(page)
    (transcript,) = data["transcripts"].values()
    found = [unpack(data["report"]), unpack(transcript), page]
    acting = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u202a-\u202e\ufeff\ud800]")
    for each in found:
        text = each if isinstance(each, str) else json.dumps(each, ensure_ascii=False)
        assert not acting.search(text)
    assert page.encode("utf-8")
    assert "⟦U+202E⟧gnp.exe ⟦U+001B⟧[31m ⟦U+0000⟧ ⟦U+D800⟧" in page


def test_a_long_line_is_cut_and_the_page_says_by_how_much() -> None:
    data = _data(render(make_hostile_report(), {}))
    (cell,) = unpack(data["report"])["cells"].values()
    detail = cell["checks"][0]["detail"]
    assert re.search(r"… \(\d+ more characters\)$", detail)
    assert len(detail) < 6_100


def test_a_report_without_results_says_so() -> None:
    assert "The report has no results." in _Page(render(make_report(), {})).text


def test_a_scenario_named_like_an_object_member_is_a_cell_like_any_other() -> None:
    case = make_case([make_scenario("__proto__", evidence="__proto__")], [])
    data = _data(render(make_report(case), {"__proto__": make_transcript("e")}))
    assert f"stdio/{REVISION}/__proto__" in unpack(data["report"])["cells"]
    assert "__proto__" in data["transcripts"]


def test_the_hostile_string_is_hostile() -> None:
    assert "<script>" in HOSTILE
    with pytest.raises(UnicodeEncodeError):
        HOSTILE.encode()
