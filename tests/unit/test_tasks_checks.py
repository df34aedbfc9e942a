"""The checks of creation, members, errors and headers: each holds, and each fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tasks_scene import NAMES, find, fixture

from mcpconf.fixture_server.profile import PROFILES
from mcpconf.supplemental.finding import Kind
from mcpconf.tasks_extension.registry import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterator


def _faults() -> Iterator[str]:
    for name in NAMES:
        for check in SCENARIOS[name].checks:
            yield from check.broken


FAULTS = tuple(dict.fromkeys(_faults()))


@pytest.fixture(scope="module")
def good_url() -> Iterator[str]:
    with fixture("tasks") as url:
        yield url


@pytest.mark.parametrize("name", NAMES)
def test_a_good_server_passes_every_check(good_url: str, name: str) -> None:
    """Each has seen what it is about, and says what it saw."""
    found = find(name, good_url)
    assert {
        each: one.detail for each, one in found.items() if one.kind != "holds"
    } == {}
    assert all(each.detail for each in found.values())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fails_the_checks_that_name_it_and_no_other(fault: str) -> None:
    """In the same scenario; what it does not name is as it was."""
    for name in NAMES:
        named = {each.id for each in SCENARIOS[name].checks if fault in each.broken}
        if not named:
            continue
        with fixture(fault) as url:  # one server each: some faults remember
            found = find(name, url)
        # What is not seen for it is not named: it fails, and shows nothing of its own.
        failed = {
            each: one.detail for each, one in found.items() if one.kind is Kind.BROKEN
        }
        assert set(failed) == named, failed


def test_the_fault_of_every_check_is_a_profile_of_the_fixture() -> None:
    """A name that is misspelt would be tested by nothing."""
    checks = [check for name in NAMES for check in SCENARIOS[name].checks]
    assert [check.id for check in checks if not check.broken] == []
    assert sorted(set(FAULTS) - set(PROFILES)) == []


def test_check_ids_are_unique_in_a_scenario() -> None:
    """A baseline and a table of requirements name a check by the two."""
    for scenario in SCENARIOS.values():
        ids = [check.id for check in scenario.checks]
        assert len(set(ids)) == len(ids)
