"""What a baseline looks like on disk."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from make_baseline import (
    BAD,
    CATALOGUE,
    OFFICIAL,
    REVIEWED,
    SUPPLEMENTAL,
    make_baseline,
    make_run,
    scenarios_of,
)

from mcpconf.baseline.encode import to_json
from mcpconf.revision import Revision
from mcpconf.storage import json_bytes
from mcpconf.suite.install import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Collection

MODES = [each.value for each in Revision]
MEMBERS = ("mode", "transport", "source", "scenario", "check_id")


def _original_errors(report: dict[str, Any]) -> list[str]:
    """
    What the original's gate says against a compact baseline, retold from its text.

    Its suite is another one, so repository and reference are only looked at for being
    there; and it knows no warnings of ours over stdio, which it would not let ship.
    """
    official = report["officialConformance"]
    holds = {
        "schema": report["schemaVersion"] == 4,
        "version check": report["versionCheck"].get("success") is True,
        "modern feature": report["modernFeatureEnablement"] is True,
        "suite": official["repository"] and official["gitRef"],
        "auth": official["authenticationIncluded"] is True,
        "modes": report["requiredModes"] == MODES,
        "transports": sorted(report["transports"]) == ["official-http", "stdio"],
        "policy": isinstance(report["automaticAuthRequired"], bool),
    }
    errors = [name for name, is_so in holds.items() if not is_so]
    seen: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for bucket, status in (("passing", "PASS"), ("failing", "FAIL")):
        for record in report["checks"][bucket]:
            if not _is_well_formed(record):
                errors.append("malformed")
            identity = tuple(record[name] for name in MEMBERS)
            if status in seen[identity]:
                errors.append("duplicate")
            seen[identity].add(status)
    for mode in MODES:
        errors += _original_errors_of_mode(mode, official["scenarios"][mode], seen)
    if any("FAIL" in states for key, states in seen.items() if key[0] == MODES[0]):
        errors.append("shipping")
    return errors


def _is_well_formed(record: dict[str, Any]) -> bool:
    return (
        set(record) == set(MEMBERS)
        and record["mode"] in MODES
        and record["transport"] in {"stdio", "official-http"}
        and record["source"] in {"official", "harness", "supplemental"}
        and isinstance(record["scenario"], str)
        and bool(record["check_id"])
    )


def _original_errors_of_mode(
    mode: str, expected: list[str], seen: Collection[tuple[str, ...]]
) -> list[str]:
    observed = {
        scenario
        for revision, transport, source, scenario, _ in seen
        if (revision, transport) == (mode, "official-http") and source != "supplemental"
    }
    holds = {
        "catalogue": tuple(expected) == scenarios_of("official-http"),
        "scenarios": observed == set(expected),
        "stdio": any(key[:2] == (mode, "stdio") for key in seen),
        "official-http": any(key[:2] == (mode, "official-http") for key in seen),
    }
    return [name for name, is_so in holds.items() if not is_so]


def test_a_version_1_file_keeps_the_originals_rules() -> None:
    value: Any = to_json(make_baseline(version=1))
    assert _original_errors(value) == []
    assert len(value["checks"]["failing"]) == 2
    value["checks"]["passing"].append(value["checks"]["passing"][0])
    assert _original_errors(value) == ["duplicate"]


def test_a_version_1_file_has_the_originals_members_and_no_others() -> None:
    value: Any = to_json(make_baseline(version=1))
    assert set(value) == {
        "baselineKind",
        "schemaVersion",
        "requiredModes",
        "transports",
        "versionCheck",
        "modernFeatureEnablement",
        "automaticAuthRequired",
        "officialConformance",
        "checks",
    }
    assert set(value["officialConformance"]) == {
        "repository",
        "gitRef",
        "authenticationIncluded",
        "scenarios",
    }


def test_a_version_1_file_has_no_leg_that_the_original_does_not_know() -> None:
    assert any(each.transport == "http" for each in make_run().checks)
    value: Any = to_json(make_baseline(version=1))
    legs = {each["transport"] for each in value["checks"]["passing"]}
    assert legs == {"stdio", "official-http"}


def test_version_1_entries_are_sorted_as_the_original_sorts_them() -> None:
    value: Any = to_json(make_baseline(version=1))
    keys = [
        tuple(each[name] for name in MEMBERS) for each in value["checks"]["passing"]
    ]
    assert keys == sorted(keys)


def test_a_version_2_entry_says_why() -> None:
    value: Any = to_json(make_baseline())
    assert value["checks"]["failing"] == [
        {
            **SUPPLEMENTAL.to_json(),
            "status": "WARNING",
            "outcome": "failed",
            "reason": REVIEWED.reason,
            "class": "subject-bug",
            "link": REVIEWED.link,
            "since": "2026-11-01",
            "expires": "2027-01-01",
        },
        {
            **OFFICIAL.to_json(),
            "status": "FAIL",
            "outcome": "failed",
            "reason": REVIEWED.reason,
            "class": "subject-bug",
            "link": REVIEWED.link,
            "since": "2026-11-01",
            "expires": "2027-01-01",
        },
    ]
    passing = value["checks"]["passing"]["official-http 2026-07-28"]
    assert passing["tools_call"] == [
        "harness:harness/tools_call/codex-adapter",
        "harness:harness/tools_call/required-check",
        "harness:harness/tools_call/revision-named",
        "harness:harness/tools_call/wire-schema",
        "official:required-a",
        "official:required-b",
        "official:silent",
    ]


def test_equal_baselines_are_equal_bytes_whatever_order_they_came_in() -> None:
    for version in (1, 2):
        baseline = make_baseline(version=version)
        for keys in (sorted(baseline.failing), sorted(baseline.failing)[::-1]):
            entries = {key: baseline.failing[key] for key in keys}
            other = replace(baseline, failing=entries)
            assert json_bytes(to_json(other)) == json_bytes(to_json(baseline))


def test_a_version_2_entry_without_a_reason_is_never_written() -> None:
    baseline = make_baseline()
    bare = {
        key: replace(entry, explanation=None) for key, entry in baseline.failing.items()
    }
    assert bare.keys() == BAD.keys()
    with pytest.raises(ValueError, match="has an explanation"):
        to_json(replace(baseline, failing=bare))


def test_a_baseline_names_the_suite_as_reports_do() -> None:
    value: Any = json.loads(json_bytes(to_json(make_baseline())))
    assert value["suite"] == {
        "repository": "modelcontextprotocol/conformance",
        "gitRef": f"npm:{PACKAGE}@{CATALOGUE.suite_version}",
        "integrity": CATALOGUE.integrity,
        "catalogue": CATALOGUE.digest,
    }
