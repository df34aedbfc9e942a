"""A report on a terminal: what must be read there, and what must not happen there."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import rendered
from make import (
    MIDDLE,
    OLD,
    SUITE,
    by_key,
    make_case,
    make_catalogue,
    make_check,
    make_end,
    make_ended,
    make_evidence,
    make_log,
    make_opening,
    make_record,
    with_status,
)

from mcpconf import report
from mcpconf.errors import UsageError
from mcpconf.judge import judge
from mcpconf.process import Leftover
from mcpconf.record import CheckStatus, Policy, WarningPolicy
from mcpconf.render import listing
from mcpconf.render.progress import LineProgress, LiveProgress, progress_for
from mcpconf.render.table import render
from mcpconf.render.text import cells, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcpconf.plan import PlannedCase
    from mcpconf.record import ScenarioResult
    from mcpconf.runrecord import EndRecord

CATALOGUE = make_catalogue()
PLAIN, AUTH = make_case(), make_case("auth/basic-cimd")
APART = make_case("auth/dpop", not_scored="extension")
WARN = Policy(warnings=WarningPolicy.WARN)


def _good(case: PlannedCase, **changes: Any) -> ScenarioResult:
    return judge(case, replace(make_evidence(case), **changes), Policy())


def _page(
    results: Sequence[ScenarioResult],
    *,
    end: EndRecord | None = None,
    full: bool = False,
    **changes: Any,
) -> str:
    cases = [
        each for each in (PLAIN, AUTH, APART) if each.key in {r.key for r in results}
    ]
    record = make_record(CATALOGUE, cases, **changes)
    built = report.build(record, cases, by_key(*results), CATALOGUE, end or make_end())
    return render(built.value, full=full)


def test_a_page_opens_with_the_verdict_and_says_who_was_judged() -> None:
    page = _page([_good(PLAIN)])
    lines = page.splitlines()
    assert lines[0] == "MCP conformance: CONFORMANT"
    assert "client 1.0" in lines[1]
    assert f"sha256:{'c' * 64}" in page
    assert "Failure details" not in page
    assert "INCOMPLETE" not in page
    assert "Scope: " in page
    assert "Ours: " not in page
    assert not any(line != line.rstrip() for line in lines[:6])


def test_a_suite_that_is_not_the_pinned_one_is_said_to_be() -> None:
    assert "NOT the pinned suite" not in _page([_good(PLAIN)])
    assert isinstance(SUITE, dict)
    other = {**SUITE, "source": "override", "package": None, "version": None}
    assert "NOT the pinned suite" in _page([_good(PLAIN)], suite=other)


def test_an_incomplete_run_is_said_to_be_no_verdict() -> None:
    page = _page([_good(PLAIN)], end=make_end(complete=False))
    assert page.startswith("MCP conformance: INCONCLUSIVE\n")
    assert "INCOMPLETE" in page


def test_a_failure_says_what_whose_which_page_and_how_to_run_it_again() -> None:
    evidence = with_status(
        make_evidence(PLAIN),
        "required-b",
        CheckStatus.FAILURE,
        error="the client did not",
        pages=("https://spec.example/tools",),
    )
    page = _page([judge(PLAIN, evidence, Policy()), _good(AUTH)])
    assert "2025-11-25 / tools_call: failed, the client's doing" in page
    assert "- RequiredB: the client did not" in page
    assert "page: https://spec.example/tools" in page
    assert "again: nox -s conformance-2025-11-25 -- " in page
    assert "--official-scenario tools_call" in page
    assert "auth/basic-cimd [" not in page


def test_a_warning_that_fails_is_called_one() -> None:
    evidence = with_status(make_evidence(PLAIN), "required-b", CheckStatus.WARNING)
    page = _page([judge(PLAIN, evidence, Policy())])
    assert "- RequiredB (warning): " in page


def test_another_revision_and_what_was_left_behind_are_shown() -> None:
    other = _good(PLAIN, wire=make_log(make_opening(MIDDLE, OLD)))
    left = make_ended(leftovers=(Leftover(pid=7, name="sleeper", description="s"),))
    page = _page(
        [other, _good(AUTH, ended=left)],
        end=make_end(open_ports=(4000,), temporary=("case-x",), faults=("x: lost",)),
    )
    assert "2025-06-18 in 1 scenario: tools_call" in page
    assert "auth/basic-cimd: killed afterwards: sleeper" in page
    for line in ("port 4000 still answers", "case-x was not deleted", "x: lost"):
        assert line in page


def test_what_does_not_count_is_shown_apart() -> None:
    page = _page([_good(PLAIN), _good(APART, wire=make_log())])
    assert page.startswith("MCP conformance: CONFORMANT")
    assert "Run without counting" in page
    assert "auth/dpop" in page.partition("Run without counting")[2]
    assert "auth/dpop" not in page.partition("Run without counting")[0]
    assert "1 of 1" in page


def test_the_matrix_is_shown_on_demand() -> None:
    assert "Per-test results" not in _page([_good(PLAIN)])
    full = _page([_good(PLAIN)], full=True)
    assert "official/tools_call/RequiredA" in full
    assert "official-http 2025-11-25" in full


def test_the_floor_stands_beside_the_score() -> None:
    assert "2025-11-25: null 0 of 2" in _page([_good(PLAIN), _good(AUTH)])


def test_no_floor_stands_beside_a_selection() -> None:
    assert "null 0 of" not in _page([_good(PLAIN)])


def test_a_run_without_a_verdict_says_why() -> None:
    broken = make_evidence(PLAIN, checks_fault="the suite wrote no checks.json")
    page = _page([judge(PLAIN, broken, Policy()), _good(AUTH)])
    assert "tools_call is harness-error: the suite wrote no checks.json" in page


def test_a_failure_shows_what_the_client_wrote() -> None:
    evidence = with_status(
        make_evidence(PLAIN, client_stderr="Traceback\nRuntimeError: boom"),
        "required-b",
        CheckStatus.FAILURE,
    )
    page = _page([judge(PLAIN, evidence, Policy())])
    assert "      | RuntimeError: boom\n" in page


def test_checks_never_reached_and_pages_of_html_are_kept_short() -> None:
    evidence = with_status(
        make_evidence(PLAIN),
        "required-a",
        CheckStatus.FAILURE,
        error="Expected Check Missing: token-request",
    )
    evidence = with_status(
        evidence, "required-b", CheckStatus.FAILURE, error="404: <!DOCTYPE html><p>"
    )
    page = _page([judge(PLAIN, evidence, Policy())])
    assert "- never reached: token-request" in page
    assert "- RequiredB: 404: (HTML)" in page


HOSTILE = "\x1b[2J\x1b[HMCP conformance: CONFORMANT\r\x07\ud800\u202e"


def test_a_client_cannot_write_to_the_terminal() -> None:
    """Neither over the verdict, nor so that printing fails."""
    evidence = with_status(
        make_evidence(PLAIN), "required-b", CheckStatus.FAILURE, error=HOSTILE
    )
    result = judge(PLAIN, evidence, Policy())
    page = _page([result])
    assert "\N{REPLACEMENT CHARACTER}[2J" in page
    page.encode("utf-8")
    assert not any(not (each.isprintable() or each == "\n") for each in page)
    stream = io.StringIO()
    LineProgress(1, stream).finished(result)
    assert "\x1b" not in stream.getvalue()


def test_a_long_detail_is_clipped() -> None:
    checks = (make_check(status=CheckStatus.FAILURE, error="word " * 1000),)
    page = _page([_good(PLAIN, checks=checks)])
    assert max(map(len, page.splitlines())) < 500


def test_a_forgiven_warning_of_the_suite_is_shown() -> None:
    evidence = with_status(make_evidence(PLAIN), "required-b", CheckStatus.WARNING)
    result = judge(PLAIN, evidence, WARN)
    assert result.standing == "passed with 1 warning"
    page = _page([result], policy=WARN)
    assert "\nWarnings\n  official-http 2025-11-25 / tools_call\n" in page
    assert "- RequiredB (warning): " in page


def test_columns_say_what_they_count() -> None:
    page = _page([_good(PLAIN)])
    assert "Harness" in page
    assert page.count("All checks") == 1, "a leg is about one source"


def test_evidence_is_named_below_the_folder_of_the_report() -> None:
    evidence = with_status(make_evidence(PLAIN), "required-b", CheckStatus.FAILURE)
    page = _page([judge(PLAIN, evidence, Policy())])
    place = "runs/20261130T000000Z-abcdef/cases/2025-11-25/tools_call"
    assert f"      evidence: {place}\n" in page


# -- the width of a terminal ---------------------------------------------------------


def _is_whole(line: str) -> bool:
    """A word that cannot be broken, or a command that is copied."""
    return "again: " in line or len(line.split()) == 1 or line.startswith("Client: ")


@pytest.mark.parametrize("width", [40, 60, 80, 120, 400])
@pytest.mark.parametrize("full", [True, False])
def test_no_line_is_wider_than_the_terminal(width: int, full: bool) -> None:
    page = render(rendered.mixed("word " * 60), full=full, width=width)
    wide = [line for line in page.splitlines() if len(line) > width]
    assert all(map(_is_whole, wide)), wide


def test_a_grid_that_is_too_wide_is_one_block_a_row() -> None:
    value = rendered.mixed()
    wide = render(value, full=True, width=300)
    narrow = render(value, full=True, width=80)
    assert "2025-11-25  0/1 (0%)" in wide
    assert "2025-11-25\n  Non-auth scenarios: 0/1 (0%)\n  Auth scenarios: 1/1" in narrow
    assert "supplemental/held/b\n  SKIP stdio 2025-11-25\n" in narrow
    assert "----" not in narrow.partition("Outcomes")[0]


def test_a_line_that_runs_it_again_is_never_broken() -> None:
    value = rendered.mixed()
    again = value["cases"][1]["checks"][0]["reproduce"]
    assert f"      again: {again}\n" in render(value, full=False, width=20)


def test_nothing_in_a_table_or_a_command_starts_a_line_of_its_own() -> None:
    value = rendered.mixed()
    value["cases"][1]["checks"][0]["reproduce"] = "nox -- 'a\nb'"
    value["cases"][1]["scenarios"][2]["scenario"] = "auth/dpop\nCONFORMANT"
    value["testMatrix"]["rows"][0]["test"] = "a test\nCONFORMANT"
    page = render(value, full=True)
    assert "      again: nox -- 'a b'\n" in page
    assert "auth/dpop CONFORMANT " in page
    assert "a test CONFORMANT " in page


def test_rates_of_a_revision_are_over_its_transports() -> None:
    page = render(rendered.mixed(), full=False)
    row = page.partition("Pass rates by revision\n")[2].splitlines()[2]
    assert row.split("  ")[0] == "2025-11-25"
    assert "14/18 (77.8%)" in row, "all checks"
    assert row.endswith("0/2 (0%)"), "transport cases"


def test_what_was_run_again_says_how_it_ended() -> None:
    page = render(rendered.flaky(), full=False)
    assert "tools_call: flaky, the client's doing\n" in page
    assert "      run again, alone: passed\n" in page


def test_wide_characters_and_marks_are_counted_as_they_are_shown() -> None:
    assert (cells("漢字"), cells("e\N{COMBINING ACUTE ACCENT}"), cells("ab")) == (
        4,
        1,
        2,
    )
    assert wrapped("漢字 漢字 漢字", 10) == "漢字 漢字\n  漢字"


@pytest.mark.parametrize("text", rendered.HOSTILE.values(), ids=rendered.HOSTILE)
@pytest.mark.parametrize("width", [None, 60])
def test_a_client_adds_no_row_and_no_headline(text: str, width: int | None) -> None:
    """Nor a command of the runner whose log it is: ``::`` first, or ``##[``."""
    value = rendered.mixed()
    pages = [
        render(rendered.poisoned(value, each), full=True, width=width).splitlines()
        for each in (text, "harmless")
    ]
    hostile, harmless = (
        [line for line in page if line[:1].strip() and not line.startswith("Client: ")]
        for page in pages
    )
    assert hostile == harmless
    for line in pages[0]:
        assert line.isprintable()
        assert not line.strip().startswith("::")
        assert "##[" not in line


# -- progress and listings ---------------------------------------------------------


def test_progress_in_a_log_is_one_line_for_each_case() -> None:
    stream = io.StringIO()
    with progress_for(2, stream) as progress:
        assert isinstance(progress, LineProgress)
        progress.started(PLAIN)
        progress.finished(_good(PLAIN))
        progress.finished(_good(AUTH, wire=make_log()))
    assert stream.getvalue().splitlines() == [
        "[1/2] 2025-11-25/tools_call passed 1.5s",
        "[2/2] 2025-11-25/auth/basic-cimd unobserved 1.5s: the client sent nothing",
    ]


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_on_a_terminal_is_live(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_for(2, _Terminal()) as progress:
        assert isinstance(progress, LiveProgress)
        progress.started(PLAIN)
        progress.finished(_good(PLAIN))
        progress.finished(_good(AUTH, wire=make_log()))
    assert "auth/basic-cimd unobserved" in capsys.readouterr().out


def test_scenarios_are_listed_for_one_revision_or_all() -> None:
    catalogue = make_catalogue()
    assert listing.scenarios(catalogue).count("tools_call") == 3
    assert listing.scenarios(catalogue, "2025-06-18").count("tools_call") == 1
    with pytest.raises(UsageError, match="--revision 2024-11-05: known are"):
        listing.scenarios(catalogue, "2024-11-05")


def test_every_client_is_listed() -> None:
    clients = listing.clients()
    for name in ("codex", "python-sdk", "null", "hang"):
        assert name in clients
