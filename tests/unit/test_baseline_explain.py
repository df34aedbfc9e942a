"""All that is known of one check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from make import (
    NEW,
    by_key,
    make_case,
    make_end,
    make_evidence,
    make_record,
    with_status,
)
from make_baseline import CATALOGUE, REVIEWED, make_baseline, make_unsupported

from mcpconf import report
from mcpconf.baseline.explain import explain
from mcpconf.baseline.known import known_checks
from mcpconf.errors import UsageError
from mcpconf.identity import Leg
from mcpconf.judge import judge
from mcpconf.record import CheckStatus, Policy
from mcpconf.render.explain import render_explained
from mcpconf.suite.catalogue import load_catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping

BASELINE = make_baseline()
LEG = Leg("official-http", NEW)


def _report() -> Mapping[str, Any]:
    """`required-b` fails in one scenario and passes in the other."""
    cases = [make_case("tools_call"), make_case("auth/basic-cimd")]
    results = []
    for case in cases:
        evidence = make_evidence(case)
        if case.key.scenario == "tools_call":
            evidence = with_status(
                evidence, "required-b", CheckStatus.FAILURE, error="it\x1b did not"
            )
        results.append(judge(case, evidence, Policy()))
    record = make_record(CATALOGUE, cases)
    built = report.build(record, cases, by_key(*results), CATALOGUE, make_end())
    return built.value


def test_a_check_of_ours_says_what_it_asks_and_where() -> None:
    found = explain("list-changed:list-change-followed", catalogue=CATALOGUE)
    assert found.sources == ("supplemental",)
    assert found.title is not None
    assert len(found.legs) == 6
    for demand in found.demands:
        assert demand.level == "SHOULD"
        assert demand.looks_for
        assert demand.pages[0].startswith("https://modelcontextprotocol.io/specifica")
    revisions = [each for demand in found.demands for each in demand.revisions]
    assert sorted(set(revisions)) == revisions
    assert len(revisions) == 3


def test_without_a_report_the_line_is_made_of_what_is_known() -> None:
    ours = explain("basics:identity", catalogue=CATALOGUE)
    assert ours.reproduce == (
        "nox -s conformance-2025-06-18 --"
        " --supplemental-scenario basics --transport stdio"
    )
    suites = explain("tools_call:silent", catalogue=CATALOGUE, baseline=BASELINE)
    assert suites.reproduce.endswith("-- --client codex --official-scenario tools_call")
    assert suites.latest == ()


def test_what_the_baseline_expects_is_told_with_its_reason() -> None:
    found = explain("basics:identity", catalogue=CATALOGUE, baseline=BASELINE)
    states = {str(each.leg): each for each in found.expected}
    assert states["stdio 2025-11-25"].state == "WARNING (failed)"
    assert states["stdio 2025-11-25"].explanation == REVIEWED
    assert states["http 2025-11-25"].state == "passes"


def test_a_scenario_that_is_not_done_explains_its_checks() -> None:
    found = explain(
        "tools_call:silent",
        catalogue=CATALOGUE,
        baseline=make_baseline(make_unsupported()),
    )
    (entry,) = [each for each in found.expected if each.state == "unsupported"]
    assert (entry.leg, entry.explanation) == (LEG, REVIEWED)


def test_a_report_says_what_was_seen_and_how_to_see_it_again() -> None:
    value = _report()
    found = explain("tools_call:required-b", catalogue=CATALOGUE, report=value)
    (seen,) = found.latest
    assert (seen.state, seen.outcome) == ("FAIL", "failed")
    assert seen.detail == "it\x1b did not"
    case = next(c for c in value["cases"] if c["transport"] == "official-http")
    scenario = next(s for s in case["scenarios"] if s["scenario"] == "tools_call")
    assert seen.evidence == f"{value['artifacts']}/{scenario['evidence']}"
    assert found.reproduce == scenario["reproduce"]


def test_the_suites_words_come_from_where_the_check_passes() -> None:
    """Where it fails, the report has the error instead."""
    value = _report()
    failing = explain("tools_call:required-b", catalogue=CATALOGUE, report=value)
    passing = explain("auth/basic-cimd:required-b", catalogue=CATALOGUE, report=value)
    assert failing.demands[0].sentence == passing.demands[0].sentence
    assert "did not" not in failing.demands[0].sentence
    alone = explain("tools_call:required-b", catalogue=CATALOGUE)
    assert alone.demands[0].sentence.startswith("The suite describes it in reports")


def test_a_harness_check_is_named_in_full_or_by_its_label() -> None:
    label = explain("tools_call:wire-schema", catalogue=CATALOGUE, report=_report())
    full = explain(
        "tools_call:harness/tools_call/wire-schema",
        catalogue=CATALOGUE,
        report=_report(),
    )
    assert label == full
    assert "schema" in label.demands[0].sentence


def test_each_statement_of_the_harness_has_a_sentence_of_its_own() -> None:
    scenario, pinned = "auth/iss-wrong-issuer", load_catalogue()
    labels = {
        each.rpartition("/")[2]
        for each in known_checks(pinned, LEG, scenario, "harness", client="codex")
    }
    sentences = {
        label: explain(f"{scenario}:{label}", catalogue=pinned).demands[0].sentence
        for label in labels
    }
    assert len(set(sentences.values())) == len(labels) == 7
    assert "comes as far as" in sentences["refusal-reached"]
    assert "no further" in sentences["expected-refusal"]
    assert "required check" in sentences["required-check"]
    assert "names its revision" in sentences["revision-named"]


@pytest.mark.parametrize("label", ["evidence", "refusal-reached", "expected-refusal"])
def test_a_statement_that_is_not_made_of_a_scenario_is_no_check_of_it(
    label: str,
) -> None:
    with pytest.raises(UsageError, match=f"has no check '{label}'"):
        explain(f"tools_call:{label}", catalogue=CATALOGUE)


def test_a_variant_is_explained() -> None:
    ref = "auth/offline-access-scope:auto_cimd"
    found = explain(ref, catalogue=load_catalogue())
    assert found.sources == ("supplemental",)
    assert found.legs == (LEG,)
    assert "auto_cimd" in found.demands[0].sentence


@pytest.mark.parametrize(
    ("ref", "said"),
    [
        ("tool_call:silent", "called 'tool_call'; did you mean tools_call?"),
        ("tools_call:silen", "has no check 'silen'; did you mean silent?"),
        ("tools_call:xyz", "has no check 'xyz'; it has codex-adapter"),
        ("tools_call", "tools_call: name a check of it"),
        ("", "no scenario that counts is called ''"),
    ],
)
def test_an_unknown_check_is_refused_with_a_suggestion(ref: str, said: str) -> None:
    explain("tools_call:silent", catalogue=CATALOGUE)
    with pytest.raises(UsageError) as caught:
        explain(ref, catalogue=CATALOGUE)
    assert said in str(caught.value)


def test_the_page_shows_all_of_it_and_no_escapes() -> None:
    ours = render_explained(
        explain("basics:identity", catalogue=CATALOGUE, baseline=BASELINE)
    )
    for said in (
        "basics:identity (supplemental)",
        "What it asks",
        "Looked for: ",
        "Page: https://",
        "What the baseline expects",
        "subject-bug, since 2026-11-01: It follows no redirect.",
        "Link: https://example.org/1",
        "Refused from 2027-01-01 on",
        "Run it again\n  nox -s conformance-",
    ):
        assert said in ours
    suites = render_explained(
        explain("tools_call:required-b", catalogue=CATALOGUE, report=_report())
    )
    assert "\x1b" not in suites
    assert "FAIL (failed)" in suites
    assert "Evidence: runs/" in suites
