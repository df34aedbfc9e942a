"""Every fault of the tasks extension does what it says, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fixture_task_faults import FAULTS
from fixture_task_tour import differences, tour
from fixture_tasks import Json, Tasks, run

from mcpconf.fixture_server.cli import options_from
from mcpconf.fixture_server.profile import PROFILES

if TYPE_CHECKING:
    from collections.abc import Mapping

NAMES = [name for name in PROFILES if name.startswith("tasks-")]


@pytest.fixture(scope="module")
def good() -> Mapping[str, Json]:
    """What the good server says."""
    with pytest.MonkeyPatch.context() as patch:
        tasks = Tasks()
        said: Mapping[str, Json] = run(tour(tasks), patch)
        assert tasks.log.faults == []
        return said


def test_the_good_server_says_the_same_again(
    good: Mapping[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(tour(Tasks()), monkeypatch) == good


def test_every_fault_is_in_the_table() -> None:
    assert set(FAULTS) == set(NAMES)
    assert len(NAMES) > 100


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_shows_in_its_place_only(
    name: str, good: Mapping[str, Json], monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = Tasks(name)
    bad = run(tour(tasks), monkeypatch)
    expected = {
        label: set(found.split())
        for labels, found in FAULTS[name].items()
        for label in labels.split()
    }
    found = {
        label: set(differences(good.get(label), bad.get(label), label))
        for label in {**good, **bad}
    }
    assert {label: each for label, each in found.items() if each} == expected
    # One is about headers that only HTTP looks at: `test_fixture_tasks_http`.
    on_record = {name} if expected else set()
    assert {profile for profile, _ in tasks.log.faults} == on_record


@pytest.mark.parametrize("name", NAMES)
def test_a_fault_can_be_had_by_its_name_alone(name: str) -> None:
    profile = PROFILES[name]
    assert profile.implies == ("tasks",)
    assert profile.__doc__, "the rule that is broken"
    flags = ("--profile", name, "--transport", *sorted(profile.transports)[:1])
    assert options_from(flags)[0].profiles == (name,)
