"""A baseline file is read, or everything that is wrong with it is told at once."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from make import MIDDLE, NEW, make_catalogue, make_entry
from make_baseline import (
    BAD,
    CATALOGUE,
    OFFICIAL,
    TODAY,
    make_baseline,
    make_file,
    make_unsupported,
)

from mcpconf.baseline.decode import from_json, load_baseline
from mcpconf.baseline.encode import to_json
from mcpconf.baseline.problem import SHOWN
from mcpconf.errors import DecodeError
from mcpconf.identity import Leg
from mcpconf.storage import write_json

if TYPE_CHECKING:
    from pathlib import Path


def _decode(value: Any) -> object:
    return from_json(value, "codex.json", catalogue=CATALOGUE, today=TODAY)


def _refusal(value: Any) -> str:
    with pytest.raises(DecodeError) as caught:
        _decode(value)
    return str(caught.value)


PASSING = "official-http 2026-07-28"


def test_a_good_file_of_each_version_is_read(tmp_path: Path) -> None:
    for version in (1, 2):
        baseline = make_baseline(version=version)
        path = tmp_path / f"{version}.json"
        write_json(path, to_json(baseline))
        assert load_baseline(path, catalogue=CATALOGUE, today=TODAY) == baseline
        assert len(baseline.failing) == 2


def test_a_file_that_is_no_json_is_refused_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "codex.json"
    path.write_text('{"baselineKind": "x", "baselineKind": "y"}', encoding="utf-8")
    with pytest.raises(DecodeError, match=r"codex\.json: duplicate key 'baselineKind'"):
        load_baseline(path, catalogue=CATALOGUE, today=TODAY)
    with pytest.raises(DecodeError, match="cannot be read"):
        load_baseline(tmp_path / "absent", catalogue=CATALOGUE, today=TODAY)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        pytest.param([], "expected an object, got array", id="array"),
        pytest.param({}, "baselineKind is missing", id="nothing"),
        pytest.param(
            {"schemaVersion": 4, "cases": []}, "docs/migration.md", id="original report"
        ),
        pytest.param(
            {"cases": [], "verdict": "CONFORMANT"}, "baseline.extract", id="our report"
        ),
        pytest.param(
            {"baselineKind": "mcp-review-regression-baseline-v1"},
            "docs/migration.md",
            id="the original's other runner",
        ),
        pytest.param(
            {"baselineKind": "mcpconf-baseline-v3"}, "'mcpconf-baseline-v3'", id="newer"
        ),
        pytest.param({"baselineKind": 2}, "baselineKind: 2 is read by no", id="number"),
    ],
)
def test_another_kind_of_file_is_refused_by_what_it_is(value: Any, said: str) -> None:
    assert said in _refusal(value)


def test_every_problem_is_told_at_once_each_on_a_line_of_its_own() -> None:
    value = make_file()
    value["owner"] = "me"
    value["checks"]["failing"][0].update({"class": "bug", "reason": "", "status": "?"})
    value["checks"]["failing"][1]["expires"] = "2020-01-01"
    lines = _refusal(value).splitlines()
    assert lines[0] == "codex.json: 5 problems:"
    assert [line.split(":")[0].strip() for line in lines[1:]] == [
        "owner",
        "checks.failing[0].status",
        "checks.failing[0].reason",
        "checks.failing[0].class",
        "checks.failing[1].expires",
    ]


def test_no_more_problems_are_told_than_somebody_mends_in_one_go() -> None:
    value = make_file()
    value["checks"]["passing"][PASSING]["tools_call"] += [
        f"official:no-{number}" for number in range(SHOWN + 7)
    ]
    lines = _refusal(value).splitlines()
    assert len(lines) == SHOWN + 2
    assert lines[-1].strip() == "and 7 more"


def test_names_of_a_file_do_nothing_on_a_terminal() -> None:
    value = make_file()
    value["a\nb\x1b[2J"] = 1
    assert "a\\nb\\x1b[2J: unknown key" in _refusal(value)
    value["x" * 5000] = 1
    assert max(map(len, _refusal(value).splitlines())) < 1000


def test_an_unsupported_scenario_stands_for_its_checks() -> None:
    value: Any = to_json(make_baseline(make_unsupported()))
    _decode(copy.deepcopy(value))
    (entry,) = value["checks"]["unsupported"]
    for change, said in (
        ({"scenario": "tool_call"}, "did you mean tools_call?"),
        ({"scenario": "auth/basic-cimd"}, "has checks at official-http 2026-07-28"),
        ({"transport": "stdio"}, "unsupported[0].transport: unknown word 'stdio'"),
        ({"reason": ""}, "unsupported[0].reason: is empty"),
        ({"check_id": "x"}, "unsupported[0].check_id: unknown key"),
    ):
        spoilt = copy.deepcopy(value)
        spoilt["checks"]["unsupported"][0].update(change)
        assert said in _refusal(spoilt)
    value["checks"]["unsupported"].append(dict(entry))
    assert "unsupported[1]: official-http 2026-07-28 / tools_call is" in _refusal(value)


def test_a_warning_may_be_expected_of_a_scenario_that_passes() -> None:
    value = make_file()
    (warning,) = [e for e in value["checks"]["failing"] if e["status"] == "WARNING"]
    warning["outcome"] = "passed"
    _decode(value)


def test_a_warning_that_ships_is_green_where_the_policy_lets_it_pass() -> None:
    value = make_file()
    value["shipping"] = [NEW]
    failure = next(e for e in value["checks"]["failing"] if e["mode"] == NEW)
    assert "which ships" in _refusal(value)
    failure["status"] = "WARNING"
    assert "which ships" in _refusal(value)
    value["warnings"]["checks"]["auth/basic-cimd:required-a"] = "warn"
    _decode(value)


def test_a_file_of_another_suite_is_read_so_that_the_gate_can_say_so() -> None:
    """Its ids cannot be judged by this catalogue."""
    for version in (1, 2):
        value = make_file(version=version)
        text = json.dumps(value).replace("required-a", "of-another-version")
        strange = json.loads(text)
        assert "of-another-version" in _refusal(copy.deepcopy(strange))
        if version == 1:
            strange["officialConformance"]["gitRef"] = "49103de"
            # The original's own checks belong to no scenario.
            strange["checks"]["passing"].append(
                {
                    "mode": NEW,
                    "transport": "stdio",
                    "source": "supplemental",
                    "scenario": "",
                    "check_id": "mcp_add",
                }
            )
        else:
            strange["suite"]["gitRef"] = "npm:x@1"
            strange["suite"]["catalogue"] = "sha256:0"
        assert _decode(strange)


def test_a_build_that_is_not_the_pin_keeps_the_scenarios_of_the_catalogue() -> None:
    value = make_file()
    value["suite"].update(gitRef="sha256:abc", integrity=None)
    value["checks"]["passing"][PASSING]["tools_call"].append("official:of-that-build")
    _decode(copy.deepcopy(value))
    value["checks"]["passing"][PASSING].pop("tools_call")
    assert "no check of tools_call" in _refusal(value)


def test_what_runs_without_counting_is_in_no_baseline() -> None:
    entries = {
        MIDDLE: (
            *CATALOGUE.revisions[MIDDLE],
            make_entry("auth/dpop", not_scored="ext"),
        )
    }
    other = make_catalogue(entries)
    value = make_file()
    value["suite"]["catalogue"] = other.digest
    from_json(copy.deepcopy(value), "x", catalogue=other, today=TODAY)
    leg = value["checks"]["passing"]["official-http 2025-11-25"]
    leg["auth/dpop"] = ["official:required-a"]
    with pytest.raises(DecodeError, match="runs without counting at 2025-11-25"):
        from_json(value, "x", catalogue=other, today=TODAY)


def test_a_baseline_of_one_revision_over_stdio_is_whole_in_its_scope() -> None:
    baseline = make_baseline()
    scope = replace(baseline.scope, revisions=(MIDDLE,), transports=("stdio",))
    less = replace(
        baseline,
        scope=scope,
        scenarios={},
        passing=frozenset(
            each for each in baseline.passing if each.leg == Leg("stdio", MIDDLE)
        ),
        failing={key: e for key, e in baseline.failing.items() if key != OFFICIAL},
    )
    assert _decode(to_json(less)) == less
    assert set(BAD) - set(less.failing) == {OFFICIAL}
