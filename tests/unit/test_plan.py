"""Options become cases: which, in what order, and what is refused."""

from __future__ import annotations

import pytest
from make import MIDDLE, NEW, OLD, make_catalogue, make_entry

from mcpconf.errors import UsageError
from mcpconf.plan import Variant, select_cases
from mcpconf.record import CaseKey

CATALOGUE = make_catalogue(
    {
        OLD: (make_entry("tools_call"), make_entry("initialize")),
        MIDDLE: (make_entry("initialize"), make_entry("auth/basic-cimd")),
        NEW: (make_entry("auth/dpop", not_scored="extension"), make_entry("new-only")),
    }
)
ALL = (OLD, MIDDLE, NEW)
VARIANT = Variant(
    name="strict",
    scenario="auth/basic-cimd",
    revision=MIDDLE,
    options={"auth": "strict"},
)


def test_cases_come_oldest_revision_first_in_the_order_of_the_suite() -> None:
    cases = select_cases(CATALOGUE, (NEW, OLD))
    assert [str(case.key) for case in cases] == [
        "2025-06-18/tools_call",
        "2025-06-18/initialize",
        "2026-07-28/auth/dpop",
        "2026-07-28/new-only",
    ]


def test_a_requested_name_counts_for_every_revision_that_has_it() -> None:
    cases = select_cases(CATALOGUE, ALL, requested=("initialize", "initialize"))
    assert [case.key.revision for case in cases] == [OLD, MIDDLE]


def test_a_variant_follows_its_scenario_and_is_not_scored() -> None:
    cases = select_cases(CATALOGUE, ALL, variants=(VARIANT,))
    keys = [str(case.key) for case in cases]
    at = keys.index("2025-11-25/auth/basic-cimd@strict")
    assert keys[at - 1] == "2025-11-25/auth/basic-cimd"
    assert (cases[at].options, cases[at].is_scored) == ({"auth": "strict"}, False)
    assert (cases[at - 1].options, cases[at - 1].is_scored) == ({}, True)
    assert len(set(keys)) == len(keys)


def test_a_variant_is_left_out_with_its_scenario() -> None:
    for selected in (
        select_cases(CATALOGUE, ALL, variants=(VARIANT,), include_auth=False),
        select_cases(CATALOGUE, ALL, variants=(VARIANT,), requested=("initialize",)),
        select_cases(CATALOGUE, (NEW,), variants=(VARIANT,)),
    ):
        assert all(case.key.variant is None for case in selected)


def test_no_auth_leaves_out_what_needs_authorization() -> None:
    cases = select_cases(CATALOGUE, ALL, include_auth=False)
    assert [case.key.scenario for case in cases if case.entry.auth] == []
    assert len(cases) == 4


@pytest.mark.parametrize(
    ("revisions", "requested", "include_auth", "named"),
    [
        (ALL, ("tools-call",), True, "tools-call: no client scenario of suite 9.9.9"),
        (ALL, ("",), True, ": no client scenario"),
        ((OLD,), ("new-only",), True, "new-only: only in 2026-07-28"),
        (ALL, ("auth/basic-cimd",), False, "auth/basic-cimd: needs authorization"),
        ((OLD,), ("initialize", "nosuch", "new-only"), True, "nosuch: no client"),
        ((OLD,), ("initialize", "nosuch", "new-only"), True, "; new-only: only in"),
    ],
)
def test_a_name_that_cannot_run_is_refused_with_its_reason(
    revisions: tuple[object, ...],
    requested: tuple[str, ...],
    include_auth: bool,
    named: str,
) -> None:
    with pytest.raises(UsageError) as caught:
        select_cases(
            CATALOGUE,
            revisions,  # type: ignore[arg-type]
            requested=requested,
            include_auth=include_auth,
        )
    assert named in str(caught.value)


def test_a_selection_of_nothing_is_refused() -> None:
    only_auth = make_catalogue({NEW: (make_entry("auth/dpop"),)})
    with pytest.raises(UsageError, match="no scenario is left"):
        select_cases(only_auth, (NEW,), include_auth=False)
    with pytest.raises(UsageError, match="no scenario is left"):
        select_cases(CATALOGUE, ())


@pytest.mark.parametrize(
    ("key", "text", "path"),
    [
        (
            CaseKey(revision=OLD, scenario="auth/x"),
            "2025-06-18/auth/x",
            "cases/2025-06-18/auth-x",
        ),
        (
            CaseKey(revision=NEW, scenario="a b", variant="v"),
            "2026-07-28/a b@v",
            "cases/2026-07-28/a-b@v",
        ),
    ],
)
def test_a_case_has_a_name_and_a_place(key: CaseKey, text: str, path: str) -> None:
    assert (str(key), key.path) == (text, path)
