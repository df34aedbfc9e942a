"""A report becomes a baseline; what people wrote in an older one is carried over."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from make import (
    MIDDLE,
    NEW,
    OLD,
    by_key,
    make_case,
    make_end,
    make_evidence,
    make_record,
    with_status,
)
from make_baseline import (
    BAD,
    CATALOGUE,
    FAILED,
    HARNESS,
    OFFICIAL,
    REVIEWED,
    SUPPLEMENTAL,
    TODAY,
    make_baseline,
    make_run,
    make_unsupported,
    narrowed,
    reviewed,
    seen_as,
)

from mcpconf import report
from mcpconf.baseline.entry import (
    UNREASONED,
    CheckPolicy,
    CheckState,
    FailureClass,
    WarningRules,
)
from mcpconf.baseline.extract import Extraction, extract, label_of
from mcpconf.errors import UsageError
from mcpconf.identity import Leg
from mcpconf.judge import judge
from mcpconf.observed import observe
from mcpconf.record import CheckStatus, Policy, Source
from mcpconf.render.baseline import render_extraction
from mcpconf.selection import Selection

if TYPE_CHECKING:
    from mcpconf.baseline.entry import Baseline
    from mcpconf.observed import ObservedRun

LEG = Leg("official-http", NEW)


def _extract(
    run: ObservedRun, older: Baseline | None = None, version: int = 2, **more: Any
) -> Extraction:
    return extract(
        run, version=version, older=older, catalogue=CATALOGUE, today=TODAY, **more
    )


# -- what is in it -----------------------------------------------------------------


def test_a_baseline_holds_what_passed_and_what_did_not() -> None:
    run = make_run(BAD)
    baseline = _extract(run).baseline
    assert baseline.passing == set(run.checks) - set(BAD)
    assert {key: (e.state, e.outcome) for key, e in baseline.failing.items()} == BAD
    assert baseline.client == "codex"
    assert baseline.client_version == "codex-cli 1.2.3"
    assert baseline.scope == run.scope
    assert baseline.scenarios == run.scenarios


def test_a_new_entry_is_marked_and_dated_by_its_report() -> None:
    extraction = _extract(make_run(BAD))
    for entry in extraction.baseline.failing.values():
        assert entry.explanation is not None
        assert entry.explanation.reason == UNREASONED
        assert entry.explanation.failure_class is FailureClass.UNREVIEWED
        assert entry.explanation.since == "2026-11-29"
    assert [label_of(each)[-1] for each in extraction.unreasoned] == [
        "identity",
        "required-a",
    ]


def test_repeats_of_a_check_are_in_both_lists() -> None:
    states = frozenset({CheckState.PASS, CheckState.FAIL, CheckState.SKIP})
    run = seen_as(HARNESS, states=states, outcome="failed")
    baseline = _extract(run).baseline
    assert HARNESS in baseline.passing
    assert baseline.failing[HARNESS].state is CheckState.FAIL


def test_what_was_only_skipped_is_in_no_list() -> None:
    baseline = _extract(
        seen_as(SUPPLEMENTAL, state=CheckState.SKIP, outcome="unsupported")
    ).baseline
    assert SUPPLEMENTAL not in baseline.passing | set(baseline.failing)


def test_a_scenario_that_the_client_does_not_do_is_listed_as_such() -> None:
    extraction = _extract(make_unsupported())
    (entry,) = extraction.baseline.unsupported
    assert (entry.leg, entry.scenario) == (LEG, "tools_call")
    assert entry in extraction.unreasoned


def test_version_1_has_one_word_for_failing_and_warning() -> None:
    baseline = _extract(make_run(BAD), version=1).baseline
    assert {(e.state, e.outcome) for e in baseline.failing.values()} == {FAILED}
    assert baseline.suite.catalogue is None
    assert baseline.client is None


def test_a_run_of_one_revision_is_a_baseline_of_that_revision() -> None:
    run = narrowed(make_run(BAD), revisions=(NEW,), transports=("stdio",))
    baseline = _extract(run).baseline
    assert {each.leg for each in baseline.passing} == {Leg("stdio", NEW)}


def test_a_report_as_it_is_built_becomes_a_baseline() -> None:
    """From evidence to a baseline, with nothing made by hand between."""
    cases = [
        make_case(entry.scenario, revision=revision)
        for revision, entries in CATALOGUE.revisions.items()
        for entry in entries
    ]
    results = []
    for case in cases:
        evidence = make_evidence(case)
        if (case.key.revision, case.key.scenario) == (NEW, "tools_call"):
            evidence = with_status(evidence, "required-b", CheckStatus.FAILURE)
        results.append(judge(case, evidence, Policy()))
    record = make_record(
        CATALOGUE, cases, selection=Selection(sources=(Source.OFFICIAL,))
    )
    built = report.build(record, cases, by_key(*results), CATALOGUE, make_end())
    run = observe(built.value, "report.json")
    baseline = _extract(run).baseline
    assert [each.ref for each in baseline.failing] == ["tools_call:required-b"]
    assert len(baseline.passing) == len(run.checks) - 1


# -- what is carried over ----------------------------------------------------------


def test_a_reason_outlives_the_next_extraction() -> None:
    older = make_baseline()
    extraction = _extract(make_run(BAD), older)
    assert extraction.baseline == older
    assert len(extraction.carried) == 2
    assert extraction.unreasoned == extraction.dropped == extraction.changed == ()


def test_a_reason_of_an_unsupported_scenario_is_carried_over() -> None:
    older = make_baseline(make_unsupported())
    extraction = _extract(make_unsupported(), older)
    assert extraction.baseline.unsupported[0].explanation == REVIEWED
    assert len(extraction.carried) == 3


def test_an_entry_that_nobody_has_looked_at_keeps_its_date() -> None:
    older = _extract(make_run(BAD)).baseline
    later = replace(make_run(BAD), started_at="2026-11-30T10:00:00.000+00:00")
    extraction = _extract(later, older)
    assert extraction.baseline == older
    assert len(extraction.unreasoned) == 2
    assert extraction.carried == ()


def test_what_fails_no_more_is_dropped() -> None:
    extraction = _extract(make_run({OFFICIAL: FAILED}), make_baseline())
    assert [label_of(each)[-1] for each in extraction.dropped] == ["identity"]
    assert SUPPLEMENTAL in extraction.baseline.passing


def test_what_fails_in_another_way_keeps_its_reason_and_is_shown() -> None:
    worse = {**BAD, SUPPLEMENTAL: FAILED}
    extraction = _extract(make_run(worse), make_baseline())
    (changed,) = extraction.changed
    assert changed.explanation == REVIEWED
    assert changed in extraction.carried


def test_what_people_decided_is_carried_over() -> None:
    rules = WarningRules(checks={"sse-retry:x": CheckPolicy.WARN})
    older = replace(make_baseline(), warnings=rules, shipping=(OLD, MIDDLE))
    run = make_run(BAD)
    with pytest.raises(UsageError, match="no check is called so"):
        _extract(run, older)
    rules = WarningRules(checks={"basics:identity": CheckPolicy.WARN})
    baseline = _extract(run, replace(older, warnings=rules)).baseline
    assert baseline.warnings == rules
    assert baseline.shipping == (OLD, MIDDLE)
    named = _extract(run, replace(older, warnings=rules), shipping=(MIDDLE,))
    assert named.baseline.shipping == (MIDDLE,)


def test_a_version_1_file_has_nothing_to_carry_over() -> None:
    older = make_baseline(version=1)
    extraction = _extract(make_run(BAD), older)
    assert extraction.carried == ()
    assert len(extraction.unreasoned) == 2


# -- what is shown -----------------------------------------------------------------


def test_a_summary_counts_and_names_what_is_to_be_done() -> None:
    older = make_baseline(make_run({**BAD, HARNESS: FAILED}))
    now = {SUPPLEMENTAL: FAILED, OFFICIAL._replace(check_id="silent"): FAILED}
    text = render_extraction(_extract(make_run(now), older))
    assert "Reasons carried over                  1" in text
    assert "To review: no reason yet (1)" in text
    assert "auth/basic-cimd:silent" in text
    assert "Look again: fails in another way than its reason says (1)" in text
    assert "Dropped: expected no more (2)" in text
    assert REVIEWED.reason in text


def test_a_summary_shows_no_escapes_of_a_file() -> None:
    older = reviewed(make_baseline(), replace(REVIEWED, reason="\x1b[2J\nred"))
    text = render_extraction(_extract(make_run({}), older))
    assert "\x1b" not in text
    assert "Dropped" in text
