"""
How large the page of a big report is, and how long it takes to open.

A figure, not a test: it is taken in the browser itself, which says when the page could
be used and when a result was open. Needs Debian's Chromium and Python's Playwright.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.sync_api import sync_playwright

from mcpconf.errors import UsageError
from mcpconf.render.html import Moment, Step, Transcript, render
from mcpconf.render.html.transcript import Way

if TYPE_CHECKING:
    from collections.abc import Mapping

    from playwright.sync_api import Browser, Playwright

REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
TRANSPORTS = ("stdio", "http")
#: No browser of a build service has a display, a GPU, or anything to fetch.
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: One in so many checks fails.
_FAILING = 20
_MESSAGES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class HtmlFigures:
    """What one page cost."""

    cells: int
    checks: int
    size_bytes: int
    #: From the start of the navigation until filters and keys work.
    interactive_s: float
    #: From a click on a result until its checks and its wire log are there.
    opened_s: float


def find_chromium() -> str:
    """
    The machine's own Chromium; no browser is ever downloaded.

    :raises UsageError: there is none.
    """
    found = shutil.which("chromium")
    if found is None:
        raise UsageError(
            "chromium is not on PATH: install it (Debian: apt-get install chromium)"
        )
    return found


def launch(playwright: Playwright) -> Browser:
    """
    Start the machine's own Chromium.

    :raises UsageError: there is none.
    """
    return playwright.chromium.launch(
        executable_path=find_chromium(), args=list(ARGUMENTS)
    )


def big_report(scenarios: int = 60, checks: int = 600) -> Mapping[str, Any]:
    """A report of `scenarios` in six legs, each with `checks` over all of them."""
    legs = [(each, revision) for each in TRANSPORTS for revision in REVISIONS]
    each_leg = max(1, checks // len(legs))
    return {
        "verdict": "NOT_CONFORMANT",
        "complete": True,
        "startedAt": "2026-01-01T00:00:00+00:00",
        "finishedAt": "2026-01-01T00:10:00+00:00",
        "client": {"name": "big", "title": "A big report"},
        "role": "client",
        "codexVersion": "1.0",
        "automaticAuthRequired": False,
        "officialConformance": {"gitRef": "none", "scope": "synthetic"},
        "policy": {"warnings": "fail", "revision": "same-era"},
        "run": {"id": "synthetic", "mcpconf": "0"},
        "artifacts": "runs/synthetic",
        "closing": None,
        "cases": [_leg(*leg, scenarios, each_leg) for leg in legs],
    }


def _leg(transport: str, revision: str, scenarios: int, checks: int) -> dict[str, Any]:
    names = [f"scenario-{number}" for number in range(scenarios)]
    return {
        "transport": transport,
        "mode": revision,
        "notScored": [],
        "checks": [
            _check(name, number, is_failing=(row + number) % _FAILING == 0)
            for row, name in enumerate(names)
            for number in range(checks)
        ],
        "scenarios": [_scenario(transport, revision, name) for name in names],
    }


def _check(scenario: str, number: int, *, is_failing: bool) -> dict[str, Any]:
    value = {
        "name": f"supplemental/{scenario}/check-{number}",
        "scenario": scenario,
        "check_id": f"check-{number}",
        "source": "supplemental",
        "status": "FAIL" if is_failing else "PASS",
        "detail": f"what was found of {number} in {scenario}",
        "level": "MUST",
        "demand": f"A client does {number}, whatever {scenario} does.",
        "pages": [f"https://spec.example/{scenario}"],
        "count": 1,
    }
    again = {"attribution": "subject", "reproduce": f"nox -s conformance -- {scenario}"}
    return {**value, **again} if is_failing else value


def _scenario(transport: str, revision: str, name: str) -> dict[str, Any]:
    return {
        "scenario": name,
        "source": "supplemental",
        "variant": None,
        "not_scored": None,
        "outcome": "failed",
        "attribution": "subject",
        "reason": "some checks failed",
        "revision": {"leg": revision, "offered": [revision], "agreed": [revision]},
        "silence": None,
        "client_stderr": None,
        "duration_seconds": 1.0,
        "evidence": f"supplemental/{revision}/{transport}/{name}",
        "reproduce": f"nox -s conformance -- {name}",
    }


def big_transcripts(report: Mapping[str, Any]) -> Mapping[str, Transcript]:
    """A conversation for each case of `big_report`."""
    moments = tuple(
        Moment(
            t_ms=float(number),
            way=Way.TO_CLIENT if number % 2 else Way.TO_SERVER,
            label=f"tools/call #{number}",
            kind="request",
            body=f'{{"id": {number}, "text": "{"x" * 400}"}}',
        )
        for number in range(_MESSAGES)
    )
    steps = (Step(name="connect", state="ok", t_ms=0.0, took_ms=1.0),)
    return {
        each["evidence"]: Transcript(
            evidence=each["evidence"], steps=steps, moments=moments
        )
        for case in report["cases"]
        for each in case["scenarios"]
    }


def measure(
    report: Mapping[str, Any], transcripts: Mapping[str, Transcript]
) -> HtmlFigures:
    """
    Render a report, open it, open its first result.

    :raises UsageError: there is no Chromium.
    """
    page = render(report, transcripts)
    with tempfile.TemporaryDirectory(prefix="mcpconf-bench-") as name:
        path = Path(name) / "report.html"
        path.write_text(page, encoding="utf-8")
        interactive_s, opened_s = _opened(path)
    cases = report["cases"]
    return HtmlFigures(
        cells=sum(len(case["scenarios"]) for case in cases),
        checks=sum(len(case["checks"]) for case in cases),
        size_bytes=len(page.encode()),
        interactive_s=interactive_s,
        opened_s=opened_s,
    )


def _opened(path: Path) -> tuple[float, float]:
    """Seconds until the page can be used, and until a clicked result is open."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        try:
            page = browser.new_page()
            page.goto(path.as_uri(), wait_until="commit")
            page.wait_for_selector("html[data-ready]", state="attached")
            mark = "name => performance.getEntriesByName(name)[0].startTime / 1000"
            interactive_s = float(page.evaluate(mark, "ready"))
            clicked_s = float(
                page.evaluate(
                    "() => { const now = performance.now();"
                    " document.querySelector('a.cell').click(); return now / 1000; }"
                )
            )
            page.wait_for_selector(".wire-log")
            page.wait_for_function(
                "() => performance.getEntriesByName('opened').length"
            )
            return interactive_s, float(page.evaluate(mark, "opened")) - clicked_s
        finally:
            browser.close()
