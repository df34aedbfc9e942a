"""The catalogue: its form, and the committed one against the seed's lists."""

from __future__ import annotations

from typing import Any

import pytest
from make import MIDDLE, NEW, OLD, make_catalogue, make_entry

from mcpconf.client.manifest import MANIFESTS
from mcpconf.errors import DecodeError
from mcpconf.plan import select_cases
from mcpconf.revision import Revision
from mcpconf.suite.catalogue import (
    PINNED_VERSION,
    Catalogue,
    from_json,
    load_catalogue,
    to_json,
)
from mcpconf.suite.rejection import REJECTIONS

CATALOGUE = make_catalogue()


def _value() -> dict[str, Any]:
    value: Any = to_json(CATALOGUE)
    return dict(value)


def test_a_catalogue_reads_back_as_it_was() -> None:
    assert from_json(to_json(CATALOGUE), "x") == CATALOGUE


def test_equal_catalogues_have_one_digest_and_others_another() -> None:
    assert from_json(to_json(CATALOGUE), "x").digest == CATALOGUE.digest
    assert CATALOGUE.digest.startswith("sha256:")
    other = make_catalogue({NEW: (make_entry(silent_checks=()),)})
    assert other.digest != CATALOGUE.digest


def test_required_checks_are_those_that_silence_does_not_earn() -> None:
    assert make_entry().required == {"required-a", "required-b"}
    assert make_entry(checks=("silent",)).required == frozenset()


def test_a_scenario_is_found_in_its_revision_only() -> None:
    catalogue = make_catalogue({OLD: (make_entry("only-here"),)})
    assert catalogue.entry(OLD, "only-here") == make_entry("only-here")
    assert catalogue.entry(NEW, "only-here") is None


def test_what_is_not_scored_is_not_among_the_scored() -> None:
    entries = (make_entry("b"), make_entry("x", not_scored="pending"), make_entry("a"))
    assert make_catalogue({OLD: entries}).scored(OLD) == ("b", "a")


ENTRY: dict[str, Any] = {
    "scenario": "x",
    "not_scored": None,
    "auth": False,
    "timing_sensitive": False,
    "allow_client_error": False,
    "checks": [],
    "silent_checks": [],
}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"schema": 2}, "schema"),
        ({"extra": 1}, "unknown key extra"),
        ({"suite_version": None}, "suite_version"),
        ({"revisions": {}}, "lacks 2025-06-18, 2025-11-25, 2026-07-28"),
        ({"revisions": {"2024-11-05": []}}, "unknown revision"),
        ({"floors": {"2024-11-05": {}}}, "unknown revision"),
        ({"floors": {"2025-06-18": {"null": {"checks": 1}}}}, "scenarios: is missing"),
        ({"revisions": {"2025-06-18": [ENTRY, ENTRY]}}, "lists a scenario twice"),
        ({"revisions": {"2025-06-18": [ENTRY | {"new": 1}]}}, "[0]: unknown key new"),
        ({"revisions": {"2025-06-18": [ENTRY | {"auth": 1}]}}, "[0].auth"),
        ({"revisions": {"2025-06-18": [ENTRY | {"checks": [1]}]}}, "[0].checks[0]"),
    ],
)
def test_a_catalogue_of_another_form_is_refused(
    changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        from_json(_value() | changes, "catalogue.json")
    assert problem in str(caught.value)


def test_an_unknown_suite_version_has_no_catalogue() -> None:
    with pytest.raises(DecodeError, match="no client catalogue of suite version"):
        load_catalogue("0.0.0")


# -- the committed catalogue -------------------------------------------------------

TOKEN_ENDPOINT = {
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-none",
    "auth/token-endpoint-auth-post",
}
AUTH_2025_11_25 = TOKEN_ENDPOINT | {
    "auth/basic-cimd",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/pre-registration",
    "auth/scope-from-scopes-supported",
    "auth/scope-from-www-authenticate",
    "auth/scope-omitted-when-undefined",
    "auth/scope-retry-limit",
    "auth/scope-step-up",
}
#: What the original harness ran for each revision, and counted.
SCORED = {
    OLD: TOKEN_ENDPOINT | {"initialize", "tools_call"},
    MIDDLE: AUTH_2025_11_25
    | {
        "elicitation-sep1034-client-defaults",
        "initialize",
        "sse-retry",
        "tools_call",
    },
    NEW: AUTH_2025_11_25
    | {
        "auth/authorization-server-migration",
        "auth/iss-normalized",
        "auth/iss-not-advertised",
        "auth/iss-supported",
        "auth/iss-supported-missing",
        "auth/iss-unexpected",
        "auth/iss-wrong-issuer",
        "auth/metadata-issuer-mismatch",
        "auth/offline-access-not-supported",
        "auth/offline-access-scope",
        "auth/resource-mismatch",
        "http-custom-headers",
        "http-invalid-tool-headers",
        "http-standard-headers",
        "json-schema-ref-no-deref",
        "request-metadata",
        "sep-2322-client-request-state",
        "tools_call",
    },
}
EXTENSIONS = {
    "auth/client-credentials-basic",
    "auth/client-credentials-jwt",
    "auth/dpop",
    "auth/dpop-nonce",
    "auth/enterprise-managed-authorization",
    "auth/wif-jwt-bearer",
}


@pytest.fixture(scope="module")
def pinned() -> Catalogue:
    return load_catalogue()


@pytest.mark.parametrize(
    ("revision", "number"), [(OLD, 5), (MIDDLE, 18), (NEW, 32)], ids=str
)
def test_the_pinned_suite_scores_what_the_original_harness_ran(
    pinned: Catalogue, revision: Revision, number: int
) -> None:
    assert pinned.suite_version == PINNED_VERSION
    assert len(pinned.scored(revision)) == number
    assert set(pinned.scored(revision)) == SCORED[revision]


def test_extensions_run_without_counting(pinned: Catalogue) -> None:
    for revision in (MIDDLE, NEW):
        entries = pinned.revisions[revision]
        found = {each.scenario for each in entries if each.not_scored == "extension"}
        assert found == EXTENSIONS


def test_every_scenario_of_the_pinned_suite_can_be_passed(pinned: Catalogue) -> None:
    """A scenario without a required check could only ever be unobserved."""
    for revision, entries in pinned.revisions.items():
        for entry in entries:
            assert entry.required, f"{revision} {entry.scenario}"
            assert set(entry.silent_checks) <= set(entry.checks)
            assert entry.auth is entry.scenario.startswith("auth/")


def test_every_expected_refusal_is_one_the_suite_knows(pinned: Catalogue) -> None:
    for scenario in REJECTIONS:
        entry = pinned.entry(NEW, scenario)
        assert entry is not None, scenario
        assert entry.allow_client_error, scenario


def test_what_measures_time_runs_alone(pinned: Catalogue) -> None:
    entry = pinned.entry(MIDDLE, "sse-retry")
    assert entry is not None
    assert entry.timing_sensitive


@pytest.mark.parametrize("name", MANIFESTS)
def test_every_variant_of_a_client_finds_its_scenario(
    pinned: Catalogue, name: str
) -> None:
    variants = MANIFESTS[name].variants
    cases = select_cases(pinned, tuple(Revision), variants=variants)
    found = {case.key.variant for case in cases if case.key.variant is not None}
    assert found == {variant.name for variant in variants}
    assert all(c.entry.not_scored is None for c in cases if c.key.variant is not None)


def test_the_floor_of_every_revision_is_published(pinned: Catalogue) -> None:
    for revision in Revision:
        assert set(pinned.floors[revision]) == {"null", "initialize-only", "list-only"}
