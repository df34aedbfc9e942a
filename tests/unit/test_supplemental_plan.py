"""Our scenarios are selected by revision, transport and name; the rest is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpconf.errors import UsageError
from mcpconf.fixture_server.options import LIMIT_NAMES, Limits
from mcpconf.fixture_server.profile import PROFILES, THEMES
from mcpconf.record import CaseKey, Source
from mcpconf.render.supplemental import document
from mcpconf.revision import Revision
from mcpconf.supplemental.plan import planned, select_supplemental
from mcpconf.supplemental.registry import SCENARIOS
from mcpconf.transport import Transport

ROOT = Path(__file__).parent.parent.parent
HTTP, STDIO = Transport.HTTP, Transport.STDIO
OLD, NEW = Revision.V2025_06_18, Revision.V2026_07_28


def test_stdio_comes_before_http_and_old_revisions_before_new_ones() -> None:
    legs = [
        (case.key.transport, case.key.revision)
        for case in select_supplemental(tuple(Revision), tuple(Transport))
    ]
    order = [(each, revision) for each in (STDIO, HTTP) for revision in Revision]
    assert list(dict.fromkeys(legs)) == order
    assert legs == sorted(legs, key=order.index)


def test_only_what_was_selected_is_run() -> None:
    cases = select_supplemental((NEW,), (STDIO,), requested=("metadata",))
    assert [str(case.key) for case in cases] == ["2026-07-28/stdio/metadata"]
    assert cases[0].key.path == "supplemental/2026-07-28/stdio/metadata"


@pytest.mark.parametrize(
    ("names", "legs", "problem"),
    [
        (("metadatta",), ((NEW,), (STDIO,)), "did you mean metadata"),
        (("basics", "x"), ((NEW,), (STDIO,)), "x: no supplemental scenario"),
        (("metadata",), ((OLD,), (STDIO,)), "metadata: not at the selected"),
        (("headers",), ((OLD,), (STDIO,)), "headers: not at the selected"),
    ],
)
def test_a_name_that_cannot_run_is_refused(
    names: tuple[str, ...],
    legs: tuple[tuple[Revision, ...], tuple[Transport, ...]],
    problem: str,
) -> None:
    with pytest.raises(UsageError, match=problem):
        select_supplemental(*legs, requested=names)


def test_a_stored_key_of_no_scenario_of_ours_is_none() -> None:
    key = CaseKey(revision=OLD, scenario="metadata", source=Source.SUPPLEMENTAL)
    assert planned(key) is None


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_names_profiles_and_limits_that_are_there(name: str) -> None:
    scenario = SCENARIOS[name]
    for profile in scenario.profiles:
        kind = PROFILES[profile]
        assert scenario.transports <= kind.transports, profile
        assert scenario.revisions <= kind.revisions, profile
    assert set(scenario.limits) <= set(LIMIT_NAMES)
    for limit, value in scenario.limits.items():
        assert isinstance(value, type(getattr(Limits(), limit))), limit


def test_every_profile_is_served_by_a_scenario() -> None:
    """But for the tasks of a server: those are for the checks of servers."""
    served = {profile for each in SCENARIOS.values() for profile in each.profiles}
    of_servers = {
        name
        for theme, names in THEMES.items()
        if theme.startswith("tasks") and theme != "tasks_client"
        for name in names
    }
    assert set(PROFILES) - of_servers == served


def test_the_document_is_what_the_code_says() -> None:
    written = (ROOT / "docs" / "supplemental.md").read_text(encoding="utf-8")
    assert written == document(), "run `invoke supplemental.document`"
