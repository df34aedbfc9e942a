"""What holds of every baseline that can be made."""

from __future__ import annotations

import copy
import datetime as dt
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from make import (
    OLD,
    by_key,
    make_case,
    make_end,
    make_evidence,
    make_record,
    with_status,
)
from make_baseline import CATALOGUE, SHIPPING, TODAY, every_check, make_run

from mcpconf import report
from mcpconf.baseline.decode import from_json, load_baseline
from mcpconf.baseline.diff import diff
from mcpconf.baseline.encode import to_json
from mcpconf.baseline.entry import (
    CheckPolicy,
    CheckState,
    Explanation,
    FailureClass,
    WarningRules,
)
from mcpconf.baseline.extract import extract
from mcpconf.baseline.known import warning_refs
from mcpconf.baseline.migrate import migrate
from mcpconf.baseline.store import write_baseline
from mcpconf.decode import parse_json
from mcpconf.identity import OFFICIAL_HTTP
from mcpconf.judge import judge
from mcpconf.observed import observe
from mcpconf.record import CheckStatus, Policy, Source
from mcpconf.selection import Selection
from mcpconf.storage import json_bytes

if TYPE_CHECKING:
    import random

    from mcpconf.baseline.entry import Baseline
    from mcpconf.observed import ObservedRun

pytestmark = pytest.mark.property
FEW = settings(max_examples=20, deadline=None)

PASS, WARNING, FAIL, SKIP = CheckState
#: What a check of a run that can be a baseline may be; a skip hides nothing here, since
#: the other checks of its scenario are there.
_MAY_BE = [(FAIL, "failed"), (FAIL, "unobserved"), (WARNING, "failed")]
#: Checks that may be red without an official failure at the revision that ships, and
#: some that are only skipped.
_FREE = [
    each
    for each in every_check()
    if (each.transport, each.revision) != (OFFICIAL_HTTP, SHIPPING.revision)
]


@st.composite
def runs(draw: st.DrawFn) -> ObservedRun:
    """Whole runs with some checks that fail, warn, pass by turns, or are skipped."""
    named = draw(st.lists(st.sampled_from(_FREE), max_size=12, unique=True))
    run = make_run({each: draw(st.sampled_from(_MAY_BE)) for each in named})
    checks = dict(run.checks)
    for each in draw(st.lists(st.sampled_from(_FREE), max_size=4)):
        # Repeats of one check merge into a set of states.
        states = {*checks[each].states, draw(st.sampled_from([PASS, SKIP]))}
        checks[each] = checks[each]._replace(states=frozenset(states))
    return replace(run, checks=checks, strict_auth=draw(st.booleans()))


_DAYS = st.dates(dt.date(2020, 1, 1), TODAY).map(str)
_LATER = st.dates(TODAY + dt.timedelta(days=1), dt.date(2099, 1, 1)).map(str)
_EXPLANATIONS = st.builds(
    Explanation,
    reason=st.text(min_size=1, max_size=30).filter(str.strip),
    failure_class=st.sampled_from(FailureClass),
    link=st.none() | st.just("https://example.org/a?b=1"),
    since=_DAYS,
    expires=st.none() | _LATER,
)


@st.composite
def baselines(draw: st.DrawFn) -> Baseline:
    """Version 2 baselines that people have written in."""
    baseline = _extract(draw(runs()))
    refs = sorted(warning_refs(CATALOGUE))
    rules = WarningRules(
        default=draw(st.sampled_from(CheckPolicy)),
        checks=draw(
            st.dictionaries(
                st.sampled_from(refs), st.sampled_from(CheckPolicy), max_size=3
            )
        ),
    )
    return replace(
        baseline,
        failing={
            key: replace(entry, explanation=draw(_EXPLANATIONS))
            for key, entry in baseline.failing.items()
        },
        warnings=rules,
        shipping=draw(st.sampled_from([(), (OLD.value,)])),
    )


def _extract(
    run: ObservedRun, older: Baseline | None = None, version: int = 2
) -> Baseline:
    return extract(
        run, version=version, older=older, catalogue=CATALOGUE, today=TODAY
    ).baseline


def _decode(content: bytes) -> Baseline:
    value = parse_json(content, "x")
    return from_json(value, "x", catalogue=CATALOGUE, today=TODAY)


@FEW
@given(baselines())
def test_what_is_written_is_read_again_and_written_as_the_same_bytes(
    baseline: Baseline,
) -> None:
    content = json_bytes(to_json(baseline))
    again = _decode(content)
    assert again == baseline
    assert json_bytes(to_json(again)) == content


@FEW
@given(runs(), st.sampled_from([1, 2]))
def test_extracting_over_what_was_extracted_changes_no_byte(
    run: ObservedRun, version: int
) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "codex.json"
        write_baseline(path, _extract(run, version=version))
        first = path.read_bytes()
        read = load_baseline(path, catalogue=CATALOGUE, today=TODAY)
        write_baseline(path, _extract(run, read, version=version))
        assert path.read_bytes() == first


@FEW
@given(baselines(), st.data())
def test_what_people_wrote_outlives_an_extraction(
    baseline: Baseline, data: st.DataObject
) -> None:
    run = replace(
        data.draw(runs()),
        strict_auth=baseline.strict_auth,
        warnings=baseline.warnings.default.value,
    )
    made = _extract(run, baseline)
    for key in made.failing.keys() & baseline.failing.keys():
        assert made.failing[key].explanation == baseline.failing[key].explanation
    assert made.warnings == baseline.warnings
    assert made.shipping == baseline.shipping


@FEW
@given(runs(), st.sampled_from([1, 2]), st.randoms(use_true_random=False))
def test_the_order_of_checks_and_cases_never_matters(
    run: ObservedRun, version: int, chance: random.Random
) -> None:
    items, cases = list(run.checks.items()), list(run.cases)
    chance.shuffle(items)
    chance.shuffle(cases)
    other = replace(run, checks=dict(items), cases=tuple(cases))
    made = _extract(run, version=version)
    again = _extract(other, version=version)
    assert json_bytes(to_json(again)) == json_bytes(to_json(made))
    assert diff(made, other) == diff(again, run)


@FEW
@given(runs())
def test_a_report_never_differs_from_its_own_baseline(run: ObservedRun) -> None:
    found = diff(_extract(run), run)
    assert found.is_empty
    assert found.caveats == found.not_compared == ()


@FEW
@given(runs())
def test_a_migrated_baseline_holds_the_same_checks(run: ObservedRun) -> None:
    older = _extract(run, version=1)
    made = migrate(
        older, client="codex", client_version="1", catalogue=CATALOGUE, today=TODAY
    )
    assert made.passing == older.passing
    assert made.failing.keys() == older.failing.keys()
    assert _decode(json_bytes(to_json(made))) == made


@FEW
@given(runs(), runs())
def test_every_difference_is_of_one_kind_and_gone_after_an_extraction(
    one: ObservedRun, other: ObservedRun
) -> None:
    other = replace(other, strict_auth=one.strict_auth)
    baseline = _extract(one)
    found = diff(baseline, other)
    groups = (found.new, found.fixed, found.missing, found.changed, found.added)
    named = [row.identity for rows in groups for row in rows]
    assert len(set(named)) == len(named)
    assert found.is_empty is not bool(named)
    assert diff(_extract(other, baseline), other).is_empty


def _report() -> Any:
    """A report of the suite's scenarios, in which two checks fail."""
    cases = [
        make_case(entry.scenario, revision=revision)
        for revision, entries in CATALOGUE.revisions.items()
        for entry in entries
    ]
    results = [
        judge(
            case,
            with_status(make_evidence(case), "required-b", CheckStatus.FAILURE)
            if case.key.revision is not OLD and case.key.scenario == "tools_call"
            else make_evidence(case),
            Policy(),
        )
        for case in cases
    ]
    selection = Selection(sources=(Source.OFFICIAL,))
    record = make_record(CATALOGUE, cases, selection=selection)
    built = report.build(record, cases, by_key(*results), CATALOGUE, make_end())
    return json.loads(json_bytes(built.value))


REPORT = _report()


@FEW
@given(st.randoms(use_true_random=False))
def test_the_order_of_a_report_never_matters(chance: random.Random) -> None:
    value = copy.deepcopy(REPORT)
    for case in value["cases"]:
        chance.shuffle(case["checks"])
        chance.shuffle(case["scenarios"])
    chance.shuffle(value["cases"])
    made = _extract(observe(REPORT, "x"))
    again = _extract(observe(value, "x"))
    assert len(made.failing) == 2
    assert json_bytes(to_json(again)) == json_bytes(to_json(made))
