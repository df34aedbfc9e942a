"""A report as the gate sees it: what is read, merged, and refused with its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from gate_report import (
    APART,
    AUTH,
    MIDDLE,
    NEW,
    PLAIN,
    VARIANT,
    case_of,
    check_of,
    end_as,
    fail,
    flake,
    make_report,
    observed,
    scenario_of,
    settle,
    warn,
)

from mcpconf import observed_piece
from mcpconf.baseline.entry import CheckState
from mcpconf.decode import load_json
from mcpconf.errors import DecodeError
from mcpconf.identity import CheckIdentity
from mcpconf.observed import load_observed, observe
from mcpconf.report_schema import validate
from mcpconf.storage import json_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mcpconf.observed import ObservedCheck

    Report = dict[str, Any]

LEG = f"official-http {MIDDLE}"
OURS = f"stdio {MIDDLE}"


def named(
    report: Report, leg: str = LEG, name: str = PLAIN, check_id: str = "required-a"
) -> ObservedCheck:
    """One check of the report, as it is observed."""
    transport, revision = leg.split()
    source = "official" if transport == "official-http" else "supplemental"
    identity = CheckIdentity(revision, transport, source, name, check_id)
    return observed(report).checks[identity]


def test_the_builders_report_follows_the_shipped_schema() -> None:
    report = make_report()
    validate(report)
    fail(report, LEG, PLAIN)
    flake(report, OURS, "basics")
    validate(settle(report))


def test_a_report_is_read_with_all_that_decides() -> None:
    run = observed(make_report())
    assert (run.client, run.client_version) == ("command", "client 1.0")
    assert run.suite.git_ref == "npm:@modelcontextprotocol/conformance@9.9.9"
    assert (run.suite.integrity, run.is_complete) == ("sha512-x", True)
    assert run.scope.labels == ("stdio", "http", "official-http")
    assert run.scenarios[MIDDLE] == (PLAIN, AUTH)
    assert len(run.cases) == 9 + 9 + 4
    assert len(run.checks) == 9 * 6 + 1
    assert (run.selected, run.shard, run.faults) == ((), None, ())
    variant = next(each for each in run.cases if each.variant)
    assert (variant.leg.revision, variant.variant) == (NEW, VARIANT)


def test_what_does_not_count_is_no_check_of_the_run() -> None:
    assert not any(each.scenario == APART for each in observed(make_report()).checks)


def test_a_check_carries_pages_and_the_line_that_runs_it_again() -> None:
    report = make_report()
    fail(report, LEG, PLAIN)
    check = named(report)
    assert check.states == {CheckState.FAIL}
    assert (check.outcome, check.attribution) == ("failed", "subject")
    assert check.pages == ("https://a.page/",)
    assert check.reproduce == scenario_of(report, LEG, PLAIN)["reproduce"]


@pytest.mark.parametrize("policy", ["fail", "warn"])
@pytest.mark.parametrize(("leg", "name"), [(LEG, PLAIN), (OURS, "basics")])
def test_a_warning_is_one_whatever_the_run_made_of_it(
    policy: str, leg: str, name: str
) -> None:
    report = make_report(warnings=policy)
    warn(report, leg, name)
    assert named(report, leg, name).states == {CheckState.WARNING}


def test_a_warning_of_what_was_not_asked_is_skipped() -> None:
    report = make_report()
    end_as(report, LEG, PLAIN, "unsupported", attribution=None)
    check_of(report, LEG, PLAIN, "required-a")["suite_status"] = "WARNING"
    assert named(report).states == {CheckState.SKIP}


def test_repeats_of_a_check_are_one_with_all_their_states() -> None:
    report = make_report()
    fail(report, LEG, PLAIN)
    again = dict(check_of(make_report(), LEG, PLAIN, "required-a"))
    again |= {"name": f"official/{PLAIN}/required-a#2", "pages": ["https://b.page/"]}
    for position in (0, len(case_of(report, LEG)["checks"])):
        case_of(report, LEG)["checks"].insert(position, again)
        check = named(report)
        assert check.states == {CheckState.PASS, CheckState.FAIL}
        assert check.worst is CheckState.FAIL
        assert check.detail == "it does not hold"
        assert check.attribution == "subject"
        assert check.pages == ("https://a.page/", "https://b.page/")
        case_of(report, LEG)["checks"].remove(again)


def test_numbered_names_without_an_id_are_one_check() -> None:
    report = make_report()
    adapter = check_of(report, LEG, PLAIN, "adapter")
    case_of(report, LEG)["checks"].append(
        adapter | {"name": f"{adapter['name']}#2", "status": "SKIP"}
    )
    check = next(
        each
        for identity, each in observed(report).checks.items()
        if str(identity.leg) == LEG and identity.check_id == adapter["name"]
    )
    assert check.states == {CheckState.PASS, CheckState.SKIP}


def test_one_failure_that_was_not_rescued_is_no_flake() -> None:
    report = make_report()
    flake(report, LEG, PLAIN)
    assert named(report).is_flaky
    failed = dict(check_of(report, LEG, PLAIN, "required-a"))
    del failed["outcome"]
    case_of(report, LEG)["checks"].append(failed)
    check = named(report)
    assert not check.is_flaky
    assert check.outcome == "failed"


def test_a_check_that_passed_in_a_flaky_scenario_is_no_flake() -> None:
    report = make_report()
    flake(report, LEG, PLAIN)
    other = named(report, check_id="required-b")
    assert (other.outcome, other.is_flaky) == ("passed", False)


# --- refusals ----------------------------------------------------------------------


def _drop(*names: str) -> Callable[[Report], Any]:
    def change(report: Report) -> None:
        for name in names:
            del report[name]

    return change


def _check(**changes: Any) -> Callable[[Report], Any]:
    return lambda report: check_of(report, LEG, PLAIN, "required-a").update(changes)


def _ours(**changes: Any) -> Callable[[Report], Any]:
    return lambda report: check_of(report, OURS, "basics", "required-a").update(changes)


def _entry(**changes: Any) -> Callable[[Report], Any]:
    return lambda report: scenario_of(report, LEG, PLAIN).update(changes)


def _case(**changes: Any) -> Callable[[Report], Any]:
    return lambda report: case_of(report, LEG).update(changes)


#: Where the official case of 2025-11-25 and its first check are.
C = "cases[7]"
FIRST = f"{C}.checks[0]"
REFUSED: dict[str, tuple[Callable[[Report], Any], str]] = {
    "the original's": (_drop("verdict", "client"), "docs/migration.md"),
    "the original's review runner's": (
        lambda each: each.update(reviewer="codex-mcp-regression-suite"),
        "docs/migration.md",
    ),
    "another schema": (lambda each: each.update(schemaVersion=3), "schema 4, not 3"),
    "no schema": (_drop("schemaVersion"), "schemaVersion: is missing"),
    "a baseline": (lambda each: each.update(baselineKind="x"), "is a baseline"),
    "an older report of ours": (_drop("selection"), "run again with this version"),
    "no cases": (lambda each: each.update(cases=[]), "cases: is empty"),
    "another success": (lambda each: each.update(success=False), "contradicts verdict"),
    "another completeness": (
        lambda each: each["closing"].update(complete=False),
        "closing.complete: contradicts",
    ),
    "no closing record": (lambda each: each.update(closing=None), "is null"),
    "another authentication": (
        lambda each: each["selection"].update(authentication=False),
        "authenticationIncluded: contradicts selection",
    ),
    "an unknown transport": (_case(transport="ws"), f"{C}.transport: unknown"),
    "an unknown revision": (_case(mode="2024-11-05"), f"{C}.mode: unknown word"),
    "a leg twice": (
        lambda each: each["cases"].append(case_of(each, LEG)),
        f"cases[9]: is a second case of {LEG}",
    ),
    "a case of nothing": (_case(scenarios=[]), f"{C}.scenarios: is empty"),
    "a case without checks": (_case(checks=[]), f"{C}: has no check of {PLAIN}, "),
    "no list of checks": (_case(checks=None), f"{C}.checks: is not an array"),
    "an unknown outcome": (_entry(outcome="fine"), "unknown word 'fine'"),
    "a failure of nobody": (_entry(outcome="failed"), "failed without attribution"),
    "a scenario twice": (
        lambda each: case_of(each, LEG)["scenarios"].append(
            scenario_of(each, LEG, PLAIN)
        ),
        "is listed a second time",
    ),
    "a scenario of the other source": (_entry(source="supplemental"), "cannot be run"),
    "a check that is none": (
        lambda each: case_of(each, LEG)["checks"].insert(0, "PASS"),
        f"{FIRST}: is not an object",
    ),
    "a check without name": (_check(name=""), f"{FIRST}: ''"),
    "a check without detail": (_check(detail=None), FIRST),
    "an unknown status": (_check(status="OK"), "status 'OK' is unknown"),
    "a status that is no word": (_check(status=["PASS"]), "a word is none"),
    "a success that is not": (_check(success=False), "success contradicts"),
    "a success that is a number": (_check(success=1), "success contradicts"),
    "an unknown source": (_check(source="me"), "source 'me' is unknown"),
    "no source": (_check(source=None), FIRST),
    "no id": (_check(check_id=None), "check_id is missing"),
    "an unknown word of the suite": (_check(suite_status="FINE"), "'FINE' is unknown"),
    "no word of the suite": (_check(suite_status=None), "suite_status is missing"),
    "a pass of what failed": (_check(suite_status="FAILURE"), "PASS contradicts"),
    "a pass of what warned": (_check(suite_status="WARNING"), "PASS contradicts"),
    "a skip of what failed": (
        _check(suite_status="FAILURE", status="SKIP"),
        "SKIP contradicts suite_status FAILURE",
    ),
    "a warning forgiven by nobody": (
        _check(suite_status="WARNING", status="SKIP"),
        "SKIP contradicts suite_status WARNING",
    ),
    "a failure of what succeeded": (
        _check(status="FAIL", success=False, attribution="subject"),
        "FAIL contradicts suite_status SUCCESS",
    ),
    "a failing check of nobody": (
        _check(status="FAIL", success=False, suite_status="FAILURE"),
        "attribution is missing",
    ),
    "a failing check of somebody else": (
        _check(status="FAIL", success=False, suite_status="FAILURE", attribution="me"),
        "attribution 'me' is unknown",
    ),
    "a flake that nobody ran again": (
        lambda each: (
            flake(each, LEG, PLAIN) and scenario_of(each, LEG, PLAIN).update(reruns=[])
        ),
        "is flaky, and was not run again",
    ),
    "a flaky check that nobody ran again": (
        _check(status="FAIL", success=False, attribution="subject", outcome="flaky"),
        "is flaky, and its scenario was not run again",
    ),
    "a flake that passed": (
        _check(outcome="flaky"),
        "is flaky, and its status is PASS",
    ),
    "a pass in a crash": (
        _entry(outcome="crashed", attribution="subject"),
        "PASS contradicts outcome crashed",
    ),
    "a pass that was unsupported": (
        _ours(outcome="unsupported"),
        "PASS contradicts outcome unsupported",
    ),
    "an unknown outcome of a check": (_ours(outcome="fine"), "outcome 'fine'"),
    "an unknown level": (_ours(level="MAY"), "level 'MAY' is unknown"),
    "pages that are none": (_check(pages=[1]), "pages is not an array of strings"),
    "pages that are no list": (_check(pages="x"), "pages is not an array of strings"),
    "a check of another scenario": (
        _check(scenario="elsewhere"),
        "has no scenario elsewhere",
    ),
    "a check of the suite among ours": (
        _ours(source="official"),
        "is an official check in a case of ours",
    ),
    "a check that counts among those that do not": (
        lambda each: case_of(each, LEG)["notScored"].append(
            check_of(each, LEG, PLAIN, "required-a")
        ),
        "is in the wrong list: its scenario counts",
    ),
    "a check that does not count among those that do": (
        lambda each: case_of(each, LEG)["checks"].append(
            check_of(each, LEG, APART, "required-a")
        ),
        "is in the wrong list: its scenario does not count",
    ),
    "a variant that passed and failed": (
        lambda each: scenario_of(each, f"official-http {NEW}", AUTH, VARIANT).update(
            outcome="failed", attribution="subject"
        ),
        "PASS contradicts outcome failed",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_report_holds_is_refused_with_its_place(name: str) -> None:
    change, said = REFUSED[name]
    report = make_report()
    observe(report, "report.json")  # the good case
    change(report)
    with pytest.raises(DecodeError) as refused:
        observe(report, "report.json")
    assert said in str(refused.value)
    assert str(refused.value).startswith("report.json: ")


def test_a_run_that_was_stopped_says_what_it_lacks() -> None:
    report = make_report()
    report |= {"complete": False, "closing": None}
    assert not observed(report).is_complete


def test_the_closing_record_says_what_was_left() -> None:
    report = make_report()
    report["closing"] |= {"faults": ["no disk"], "openPorts": [1], "temporary": ["/x"]}
    assert observed(report).faults == (
        "no disk",
        "port 1 was still open",
        "/x was left behind",
    )


# --- files -------------------------------------------------------------------------


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("piece", [1, 700, 1 << 20])
def test_a_file_is_read_as_its_value_whatever_the_pieces(
    piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(observed_piece, "_PIECE", piece)
    report = make_report()
    fail(report, LEG, PLAIN)["detail"] = 'said "]\n        },\n", 世界 🌍'
    whole = observed(report)
    for content in (
        json_bytes(settle(report)),
        json.dumps(settle(report)).encode(),
        json.dumps(settle(report), indent=1).encode(),
    ):
        assert load_observed(_written(tmp_path / "report.json", content)) == whole


def test_lists_that_were_cut_out_are_held_once(tmp_path: Path) -> None:
    value, pieces = observed_piece.load_pieces(
        _written(tmp_path / "report.json", json_bytes(make_report())), max_bytes=10**7
    )
    assert isinstance(value, dict)
    # Nine lists of checks, and three of what does not count.
    assert sorted(pieces.lists) == list(range(1, 13))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        pytest.param(b'"status": "PASS"', b'"status": "OK"', "'OK'", id="a word"),
        pytest.param(
            b'"status": "PASS",',
            b'"status": "PASS", "status": "SKIP",',
            "dup",
            id="twice",
        ),
        pytest.param(b'"it holds"', b'"it" "holds"', "line", id="no JSON"),
        pytest.param(b'"it holds"', b"NaN", "NaN", id="no number"),
        pytest.param(b'"it holds"', b'"\xff"', "UTF-8", id="no text"),
        pytest.param(b'"checks": [\n', b'"checks": [\n,', "line", id="an empty place"),
        pytest.param(
            b'"checks": [\n', b'"checks": [1],\n"x": [', "an object", id="a number"
        ),
    ],
)
def test_a_fault_in_a_cut_list_is_refused_as_in_the_whole(
    old: bytes, new: bytes, said: str, tmp_path: Path
) -> None:
    content = json_bytes(make_report())
    assert old in content
    spoilt = content.replace(old, new, 1)
    path = _written(tmp_path / "report.json", spoilt)
    with pytest.raises(DecodeError) as refused:
        load_observed(path)
    with pytest.raises(DecodeError) as whole:
        observe(cast("Any", load_json(path)), path)
    assert said in str(refused.value)
    assert str(refused.value) == str(whole.value)


def test_a_file_that_is_cut_short_or_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = json_bytes(make_report())
    path = _written(tmp_path / "report.json", content[: len(content) // 2])
    with pytest.raises(DecodeError, match="line"):
        load_observed(path)
    monkeypatch.setattr("mcpconf.observed.REPORT_BYTES", 100)
    with pytest.raises(DecodeError, match="larger than 100 bytes"):
        load_observed(path)
    with pytest.raises(DecodeError, match="cannot be read"):
        load_observed(tmp_path / "nowhere.json")
