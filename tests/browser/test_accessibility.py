"""The page held to the rules of axe-core: light and dark, closed and open."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Any

import pytest
from html_make import (
    REVISION,
    make_gate,
    make_small_report,
    make_transcripts,
)
from playwright.sync_api import expect

from mcpconf.render.html import render

if TYPE_CHECKING:
    from conftest import Open
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

#: The package only carries it; the page under test is given it as text.
AXE_SCRIPT = (resources.files("axe_playwright_python") / "axe.min.js").read_text(
    encoding="utf-8"
)
KEYS = {
    "closed": "",
    "failed": f"#/http/{REVISION}/basics",
    "crashed": f"#/stdio/{REVISION}/dies-early",
    "passed": f"#/stdio/{REVISION}/basics",
    "harness-error": f"#/official-http/{REVISION}/sse-retry",
}


def _violations(page: Page) -> list[str]:
    """What axe-core finds; its script runs beside the page's policy, not under it."""
    page.evaluate(AXE_SCRIPT)
    found: Any = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    assert len(found["passes"]) > 10
    return [
        f"{each['id']}: {node['html'][:200]}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", list(KEYS))
def test_axe_finds_nothing(open_page: Open, scheme: str, state: str) -> None:
    report = make_small_report()
    text = render(report, make_transcripts(report), make_gate())
    page = open_page(text, fragment=KEYS[state], color_scheme=scheme)
    if state != "closed":
        expect(page.locator(".wire-log")).to_be_visible()
        for summary in page.locator("#panel summary").all():
            summary.click()
    page.locator('input[value="failed"]').first.check()
    assert _violations(page) == []


def test_axe_finds_nothing_on_a_narrow_screen(open_page: Open) -> None:
    page = open_page(viewport={"width": 360, "height": 740})
    assert _violations(page) == []
    page.locator("a.cell").first.click()
    expect(page.locator(".wire-log")).to_be_visible()
    assert _violations(page) == []


def test_axe_would_find_a_label_that_is_missing(
    open_page: Open, small_page: str
) -> None:
    broken = small_page.replace('<label for="search">', "<span>", 1)
    page = open_page(broken.replace('placeholder="', 'data-was="', 1))
    assert any(each.startswith("label: ") for each in _violations(page))
