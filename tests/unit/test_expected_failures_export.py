"""A baseline becomes a file under which the suite ends with 0, as far as it can say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from make_expected_failures import (
    MIDDLE,
    NEW,
    make_baseline,
    make_explanation,
    make_failure,
    make_identity,
    make_unsupported,
)

from mcpconf.baseline.entry import CheckPolicy, CheckState, FailureClass, WarningRules
from mcpconf.errors import UsageError
from mcpconf.expected_failures import parse
from mcpconf.render.expected_failures import export
from mcpconf.revision import Revision
from mcpconf.suite.catalogue import load_catalogue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.baseline.entry import Baseline
    from mcpconf.identity import CheckIdentity

CATALOGUE = load_catalogue()
RETRY = "client-sse-retry-timing"


def exported(baseline: Baseline, revision: str | None = None) -> str:
    return export(baseline, CATALOGUE, revision).text


def names(text: str) -> list[str]:
    value = yaml.safe_load(text)
    assert list(value) == ["client"]
    return list(value["client"])


def test_every_failing_official_check_is_named_with_its_reason() -> None:
    new = make_identity(revision=NEW)
    baseline = make_baseline(
        [
            make_failure(
                make_identity(),
                "adds by hand",
                explanation=make_explanation(
                    "adds by hand", link="https://example.org/1", expires="2027-01-01"
                ),
            ),
            make_failure(new),
            make_failure(
                make_identity(RETRY, "sse-retry"), "late", state=CheckState.WARNING
            ),
        ]
    )
    text = exported(baseline)
    assert text.partition("client:\n")[2] == (
        "  # 2025-11-25: WARNING, subject-bug: late (since 2026-11-30)\n"
        "  - sse-retry:client-sse-retry-timing\n"
        "  # 2025-11-25: FAIL, subject-bug: adds by hand (since 2026-11-30, expires "
        "2027-01-01; https://example.org/1)\n"
        "  # 2026-07-28: FAIL, unreviewed: no reason yet (since 2026-11-30)\n"
        "  - tools_call:tool-add-numbers\n"
    )
    assert "# Expected failures of codex (1.2.3) at 2025-11-25, 2026-07-28.\n" in text


def test_equal_reasons_of_two_revisions_are_one_comment() -> None:
    baseline = make_baseline(
        make_failure(make_identity(revision=each), "same") for each in (NEW, MIDDLE)
    )
    assert "  # 2025-11-25, 2026-07-28: FAIL, subject-bug: same" in exported(baseline)


def test_order_of_the_baseline_does_not_matter() -> None:
    failures = [
        make_failure(make_identity(check, scenario, revision=revision))
        for check, scenario in (
            ("tool-add-numbers", "tools_call"),
            (RETRY, "sse-retry"),
        )
        for revision in (MIDDLE, NEW)
    ]
    assert exported(make_baseline(failures)) == exported(make_baseline(failures[::-1]))


def test_one_revision_is_exported_alone() -> None:
    baseline = make_baseline(
        [make_failure(make_identity()), make_failure(make_identity(RETRY, "sse-retry"))]
    )
    assert len(names(exported(baseline, MIDDLE))) == 2
    assert names(exported(baseline, NEW)) == []
    assert "--requirements 2026-07-28 --expected-failures" in exported(baseline, NEW)


def test_revision_without_a_requirement_set_is_selected_by_its_date() -> None:
    scope = replace(make_baseline().scope, revisions=("2025-06-18",))
    text = exported(make_baseline(scope=scope))
    assert "--suite all --spec-version 2025-06-18 --expected-failures FILE" in text


def test_nothing_failing_is_an_empty_list() -> None:
    text = exported(make_baseline())
    assert text.endswith("\nclient: []\n")


@pytest.mark.parametrize(
    ("changes", "revision"),
    [
        ({}, "2025-06-18"),
        ({"sources": ("supplemental",)}, None),
        ({"transports": ("stdio",)}, None),
    ],
)
def test_baseline_that_holds_no_such_leg_is_refused(
    changes: dict[str, Any], revision: str | None
) -> None:
    baseline = make_baseline(scope=replace(make_baseline().scope, **changes))
    with pytest.raises(UsageError, match="holds no scenarios of the suite at"):
        export(baseline, CATALOGUE, revision)


def test_reason_cannot_leave_its_comment() -> None:
    reason = "one\n- sse-retry\r\nclient: [x]\x85- y\u2028- z\x1b[2J\x00 #"
    text = exported(make_baseline([make_failure(make_identity(), reason)]))
    assert names(text) == ["tools_call:tool-add-numbers"]
    assert "\x1b" not in text


def test_version_1_has_no_reasons_and_is_exported_all_the_same() -> None:
    failure = make_failure(make_identity(), explanation=None)
    baseline = make_baseline([failure], version=1, client=None, client_version=None)
    text = exported(baseline)
    assert "no reason: the baseline is of version 1" in text
    assert "# Expected failures of a client at" in text
    assert names(text) == ["tools_call:tool-add-numbers"]


@pytest.mark.parametrize(
    ("identity", "said"),
    [
        (
            make_identity("harness/tools_call/codex-adapter", source="harness"),
            (
                "official-http 2025-11-25 / harness/tools_call/codex-adapter"
                ": the suite does not look at it, so the scenario is not named for it"
            ),
        ),
        (
            make_identity("official/tools_call/Nameless"),
            (
                "official-http 2025-11-25 / tools_call:official/tools_call/Nameless"
                ": the suite gives it no id to be named by"
            ),
        ),
        (
            make_identity("echo", "basics", transport="stdio", source="supplemental"),
            "basics:echo (stdio 2025-11-25): a check of mcpconf's own",
        ),
        (
            make_identity("forced_cimd", "auth/basic-cimd", source="supplemental"),
            (
                "auth/basic-cimd:forced_cimd (official-http 2025-11-25): a check of "
                "mcpconf's own"
            ),
        ),
    ],
)
def test_what_the_suite_cannot_mean_is_left_out_and_said(
    identity: CheckIdentity, said: str
) -> None:
    result = export(make_baseline([make_failure(identity)]), CATALOGUE)
    assert names(result.text) == []
    assert result.left_out == (said,)
    assert f"# * {said}\n" in result.text


def test_our_check_is_one_line_whatever_its_legs() -> None:
    failures = [
        make_failure(
            make_identity(
                "echo",
                "basics",
                transport=transport,
                revision=revision,
                source="supplemental",
            )
        )
        for transport in ("http", "stdio")
        for revision in (MIDDLE, NEW)
    ]
    assert export(make_baseline(failures), CATALOGUE).left_out == (
        (
            "basics:echo (http 2025-11-25, stdio 2025-11-25, http 2026-07-28, stdio "
            "2026-07-28): a check of mcpconf's own"
        ),
    )


def test_entry_that_another_revision_passes_is_said_to_be_stale_there() -> None:
    baseline = make_baseline(
        [make_failure(make_identity())], [make_identity(revision=NEW)]
    )
    (said,) = export(baseline, CATALOGUE).left_out
    assert said.startswith("tools_call:tool-add-numbers passes at 2026-07-28")
    assert export(baseline, CATALOGUE, MIDDLE).left_out == ()
    assert names(exported(baseline, NEW)) == []


def test_policy_that_lets_warnings_pass_cannot_be_said() -> None:
    ref = f"sse-retry:{RETRY}"
    one = WarningRules(checks={ref: CheckPolicy.WARN, "a:b": CheckPolicy.FAIL})
    assert export(make_baseline(warnings=one), CATALOGUE).left_out == (
        f"{ref}: the baseline lets a warning pass; it fails in the suite",
    )
    known = [make_failure(make_identity(RETRY, "sse-retry"))]
    assert export(make_baseline(known, warnings=one), CATALOGUE).left_out == ()
    every = WarningRules(default=CheckPolicy.WARN)
    (said,) = export(make_baseline(warnings=every), CATALOGUE).left_out
    assert said.startswith("warnings: the baseline's policy lets them pass")


def test_unsupported_scenario_is_named_by_all_that_silence_does_not_earn() -> None:
    scenario = "http-invalid-tool-headers"
    baseline = make_baseline(unsupported=(make_unsupported(scenario),))
    entry = CATALOGUE.entry(Revision(NEW), scenario)
    assert entry is not None
    assert entry.silent_checks
    assert names(exported(baseline)) == [
        f"{scenario}:{each}" for each in sorted(entry.required)
    ]
    assert names(exported(baseline, MIDDLE)) == []


def test_failure_that_is_more_than_one_says_so() -> None:
    failure = make_failure(make_identity(), outcome="unobserved")
    assert "# 2025-11-25: FAIL (unobserved), " in exported(make_baseline([failure]))


@pytest.mark.parametrize("reason", [FailureClass.SUITE_BUG, FailureClass.HARNESS_LIMIT])
def test_class_is_a_comment(reason: FailureClass) -> None:
    explanation = make_explanation("why", failure_class=reason)
    failure = make_failure(make_identity(), explanation=explanation)
    assert f"FAIL, {reason.value}: why" in exported(make_baseline([failure]))


# --- the suite's own rule, in our words ---------------------------------------------


def suite_is_content(
    entries: list[str], results: Mapping[str, Mapping[str, frozenset[str]]]
) -> bool:
    """What `evaluateBaseline` of the suite decides for entries that name checks."""
    for scenario, checks in results.items():
        named = {
            each.partition(":")[2]
            for each in entries
            if each.partition(":")[0] == scenario
        }
        for check, statuses in checks.items():
            is_failing = bool(statuses & {"FAILURE", "WARNING"})
            if is_failing and check not in named:
                return False  # unexpected
            if not is_failing and "SUCCESS" in statuses and check in named:
                return False  # stale
    return True


STATUSES = st.frozensets(st.sampled_from(["SUCCESS", "FAILURE", "WARNING", "SKIPPED"]))
SCENARIOS = {
    scenario: CATALOGUE.entry(Revision(MIDDLE), scenario)
    for scenario in ("tools_call", "sse-retry", "auth/scope-step-up")
}
RESULTS = st.fixed_dictionaries(
    {
        scenario: st.fixed_dictionaries(
            dict.fromkeys(entry.checks if entry else (), STATUSES)
        )
        for scenario, entry in SCENARIOS.items()
    }
)


@settings(max_examples=60, deadline=None)
@given(results=RESULTS)
def test_the_suite_is_content_with_what_the_baseline_was_made_of(
    results: dict[str, dict[str, frozenset[str]]],
) -> None:
    failing, passing = [], []
    for scenario, checks in results.items():
        for check, statuses in checks.items():
            identity = make_identity(check, scenario)
            if statuses & {"FAILURE", "WARNING"}:
                failing.append(make_failure(identity))
            if "SUCCESS" in statuses:
                passing.append(identity)
    text = exported(make_baseline(failing, passing), MIDDLE)
    entries = names(text)
    assert suite_is_content(entries, results)
    if entries:
        assert not suite_is_content(entries[1:], results)
    file = parse(text, "expected.yml", catalogue=CATALOGUE, revisions=(MIDDLE,))
    assert [str(each) for each in file.entries] == entries
