"""An imported file explains failures: it makes none, and takes none away."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from make_expected_failures import (
    MIDDLE,
    NEW,
    make_baseline,
    make_failure,
    make_identity,
    make_unsupported,
)

from mcpconf.baseline.entry import UNREASONED, FailureClass
from mcpconf.errors import UsageError
from mcpconf.expected_failures import Import, merge_into, parse
from mcpconf.render.expected_failures import export
from mcpconf.suite.catalogue import load_catalogue

if TYPE_CHECKING:
    from mcpconf.baseline.entry import Baseline
    from mcpconf.identity import CheckIdentity

CATALOGUE = load_catalogue()
ADD = make_identity()
RETRY = make_identity("client-sse-retry-timing", "sse-retry")
RECONNECT = make_identity("client-sse-graceful-reconnect", "sse-retry")
DRIVER = make_identity("harness/sse-retry/adapter", "sse-retry", source="harness")
OURS = make_identity("echo", "basics", transport="stdio", source="supplemental")


def imported(baseline: Baseline, *entries: str) -> Import:
    text = "\n".join(["client:", *(f"- {each}" for each in entries)])
    file = parse(text, "teams/known.yml", catalogue=CATALOGUE, revisions=(MIDDLE, NEW))
    return merge_into(baseline, file)


def reason(result: Import, identity: CheckIdentity) -> str:
    explanation = result.baseline.failing[identity].explanation
    assert explanation is not None
    return explanation.reason


def refs(entries: tuple[object, ...]) -> list[str]:
    return [str(each) for each in entries]


def test_named_check_says_where_its_reason_came_from() -> None:
    before = make_baseline([make_failure(ADD), make_failure(RETRY)], [RECONNECT])
    result = imported(before, "tools_call:tool-add-numbers")
    explanation = result.baseline.failing[ADD].explanation
    assert explanation is not None
    assert explanation.reason == "imported from known.yml"
    assert explanation.failure_class is FailureClass.UNREVIEWED
    assert explanation.since == "2026-11-30"
    assert reason(result, RETRY) == UNREASONED
    assert refs(result.named) == ["tools_call:tool-add-numbers"]
    assert (result.stale, result.unseen, result.beyond) == ((), (), ())
    assert result.unnamed == (RETRY,)


def test_a_check_is_named_at_every_revision() -> None:
    new = make_identity(revision=NEW)
    result = imported(
        make_baseline([make_failure(ADD), make_failure(new)]),
        "tools_call:tool-add-numbers",
    )
    assert reason(result, ADD) == reason(result, new) == "imported from known.yml"


def test_whole_scenario_names_its_checks_and_its_driver() -> None:
    failures = [make_failure(each) for each in (RETRY, RECONNECT, DRIVER, ADD)]
    result = imported(make_baseline(failures), "sse-retry")
    assert {reason(result, each) for each in (RETRY, RECONNECT, DRIVER)} == {
        "imported from known.yml"
    }
    assert result.unnamed == (ADD,)
    assert result.beyond == ()


def test_one_check_does_not_name_the_driver() -> None:
    result = imported(
        make_baseline([make_failure(RETRY), make_failure(DRIVER), make_failure(OURS)]),
        "sse-retry:client-sse-retry-timing",
    )
    assert result.beyond == (DRIVER, OURS)
    assert reason(result, DRIVER) == UNREASONED


def test_scenario_that_only_its_driver_fails_is_stale_as_in_the_suite() -> None:
    result = imported(make_baseline([make_failure(DRIVER)], [RETRY]), "sse-retry")
    assert refs(result.stale) == ["sse-retry"]
    assert reason(result, DRIVER) == UNREASONED


@pytest.mark.parametrize("entry", ["sse-retry", "sse-retry:client-sse-retry-timing"])
def test_entry_whose_checks_pass_is_stale(entry: str) -> None:
    result = imported(make_baseline(passing=[RETRY]), entry)
    assert refs(result.stale) == [entry]
    assert (result.named, result.unseen) == ((), ())
    assert result.baseline.failing == {}


@pytest.mark.parametrize(
    "entry", ["sse-retry", "sse-retry:client-sse-retry-timing", "auth/dpop"]
)
def test_entry_about_what_was_not_seen_is_not_called_stale(entry: str) -> None:
    result = imported(make_baseline(passing=[ADD]), entry)
    assert refs(result.unseen) == [entry]
    assert result.stale == ()


def test_reason_that_somebody_gave_is_kept() -> None:
    before = make_baseline([make_failure(RETRY, "too early by 3 ms")])
    result = imported(before, "sse-retry")
    assert result.baseline == before
    assert refs(result.named) == ["sse-retry"]


def test_import_adds_and_takes_away_no_failure() -> None:
    before = make_baseline(
        [make_failure(RETRY), make_failure(DRIVER), make_failure(OURS)], [ADD]
    )
    after = imported(before, "sse-retry", "tools_call", "auth/basic-cimd").baseline
    assert list(after.failing) == list(before.failing)
    assert after.passing == before.passing
    for identity, failure in after.failing.items():
        assert failure.state is before.failing[identity].state
        assert failure.outcome == before.failing[identity].outcome


@pytest.mark.parametrize("outcome", ["crashed", "timed-out"])
def test_a_crash_is_never_explained_away(outcome: str) -> None:
    before = make_baseline([make_failure(RETRY, outcome=outcome)])
    result = imported(before, "sse-retry")
    assert result.baseline == before
    assert result.unnamed == (RETRY,)
    assert refs(result.unseen) == ["sse-retry"]


def test_unsupported_scenario_gets_the_reason_too() -> None:
    scenarios = ("auth/dpop", "tools_call")
    before = make_baseline(unsupported=tuple(map(make_unsupported, scenarios)))
    result = imported(before, "tools_call:tool-add-numbers")
    assert [each.explanation.reason for each in result.baseline.unsupported] == [
        UNREASONED,
        "imported from known.yml",
    ]
    assert refs(result.named) == ["tools_call:tool-add-numbers"]


def test_version_1_is_refused_because_it_holds_no_reasons() -> None:
    with pytest.raises(UsageError, match=r"invoke baseline\.migrate"):
        imported(make_baseline(version=1), "sse-retry")


def test_what_was_exported_names_every_official_failure_again() -> None:
    before = make_baseline(
        [make_failure(each) for each in (RETRY, RECONNECT, ADD, DRIVER)],
        unsupported=(make_unsupported("tools_call"),),
    )
    text = export(before, CATALOGUE).text
    file = parse(text, "f.yml", catalogue=CATALOGUE, revisions=(MIDDLE, NEW))
    result = merge_into(before, file)
    assert result.named == file.entries
    assert (result.stale, result.unseen, result.unnamed) == ((), (), ())
    assert result.beyond == (DRIVER,)
