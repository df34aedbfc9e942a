"""
One Chromium for all tests of the page; each test gets a page of its own.

Every request a page makes is recorded, and all but the file itself are refused. A
message on its console, an error of its script or a request fails the test that caused
it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import pytest
from html_make import make_small_report, make_transcripts
from playwright.sync_api import sync_playwright

from mcpconf.bench_html import launch
from mcpconf.render.html import render

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page, Route


@dataclass
class Watch:
    """What pages did that a report never does."""

    url: str = ""
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def on_route(self, route: Route) -> None:
        if route.request.url.partition("#")[0] == self.url:
            route.continue_()
            return
        self.requests.append(route.request.url)
        route.abort()

    def attach(self, page: Page) -> None:
        page.on("console", lambda message: self.console.append(message.text))
        page.on("pageerror", lambda error: self.console.append(str(error)))
        page.route("**/*", self.on_route)


class Open(Protocol):
    """Opens a page; with no text, that of the small report."""

    def __call__(
        self, text: str | None = None, *, fragment: str = "", **context: Any
    ) -> Page: ...


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = launch(playwright)
        yield started
        started.close()


@pytest.fixture(scope="module")
def small_page() -> str:
    report = make_small_report()
    return render(report, make_transcripts(report))


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def open_page(
    browser: Browser, tmp_path: Path, small_page: str, watch: Watch
) -> Iterator[Open]:
    contexts = []

    def opened(text: str | None = None, *, fragment: str = "", **context: Any) -> Page:
        path = tmp_path / "report.html"
        path.write_text(small_page if text is None else text, encoding="utf-8")
        watch.url = path.as_uri()
        made = browser.new_context(**context)
        # Generous: a busy machine is slow, and that is no defect.
        made.set_default_timeout(30_000)
        contexts.append(made)
        page = made.new_page()
        watch.attach(page)
        page.goto(watch.url + fragment)
        if context.get("java_script_enabled", True):
            page.wait_for_selector("html[data-ready]", state="attached")
        return page

    yield opened
    for each in contexts:
        each.close()
    assert watch.console == []
    assert watch.requests == []
