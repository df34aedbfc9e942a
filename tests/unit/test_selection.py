"""Which source runs: the suite's scenarios, ours, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from make import make_catalogue

from mcpconf.errors import UsageError
from mcpconf.record import Role, Source
from mcpconf.revision import Revision
from mcpconf.selection import Selection, Shard, select
from mcpconf.setup import RunOptions, selection_of
from mcpconf.suite.catalogue import load_catalogue
from mcpconf.supplemental.registry import SCENARIOS
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from mcpconf.ours import Case

NEW = (Revision.V2026_07_28,)
BOTH = {Source.OFFICIAL, Source.SUPPLEMENTAL}


def _select(**options: Any) -> tuple[Case, ...]:
    selection = selection_of(RunOptions(revisions=NEW, **options))
    return select(selection, make_catalogue())


@pytest.mark.parametrize(
    ("options", "sources", "transports"),
    [
        ({}, BOTH, set(Transport)),
        ({"only": Source.OFFICIAL}, {Source.OFFICIAL}, {Transport.HTTP}),
        ({"only": Source.SUPPLEMENTAL}, {Source.SUPPLEMENTAL}, set(Transport)),
        ({"transports": (Transport.STDIO,)}, {Source.SUPPLEMENTAL}, {Transport.STDIO}),
        ({"transports": (Transport.HTTP,)}, BOTH, {Transport.HTTP}),
        ({"scenarios": ("tools_call",)}, {Source.OFFICIAL}, {Transport.HTTP}),
        ({"supplemental": ("basics",)}, {Source.SUPPLEMENTAL}, set(Transport)),
        (
            {"supplemental": ("basics",), "scenarios": ("tools_call",)},
            BOTH,
            set(Transport),
        ),
    ],
)
def test_a_selection_takes_its_sources(
    options: dict[str, object], sources: set[Source], transports: set[Transport]
) -> None:
    cases = _select(**options)
    assert {case.key.source for case in cases} == sources
    assert {case.key.transport for case in cases} == transports


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"only": Source.OFFICIAL, "supplemental": ("basics",)},
            "--only official leaves out the supplemental scenarios",
        ),
        (
            {"only": Source.SUPPLEMENTAL, "scenarios": ("tools_call",)},
            "--only supplemental leaves out the official scenarios",
        ),
        (
            {"only": Source.OFFICIAL, "transports": (Transport.STDIO,)},
            "drop --transport stdio",
        ),
        (
            {"scenarios": ("tools_call",), "transports": (Transport.STDIO,)},
            "drop --transport stdio",
        ),
    ],
)
def test_a_selection_that_contradicts_itself_is_refused(
    options: dict[str, object], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        _select(**options)


@pytest.mark.parametrize("of", [1, 2, 3, 7])
def test_shards_together_are_the_whole_and_share_nothing(of: int) -> None:
    whole = _select()
    parts = [_select(shard=Shard(index, of)) for index in range(1, of + 1)]
    assert sorted(str(case.key) for part in parts for case in part) == sorted(
        str(case.key) for case in whole
    )
    sizes = [len(part) for part in parts]
    assert max(sizes) - min(sizes) <= 1


def test_a_shard_without_a_case_is_refused() -> None:
    with pytest.raises(UsageError, match="--shard 4/4: there are only 2 cases"):
        _select(only=Source.OFFICIAL, shard=Shard(4, 4))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("5/4", "from 1/4 to 4/4"),
        ("0/4", "from 1/4"),
        ("2", "write it as 2/4"),
        ("-1/4", "write it"),
        ("a/b", "write it"),
        ("1/0", "from"),
        (" 1/2", "write it"),
    ],
)
def test_a_shard_that_cannot_be_is_refused(text: str, problem: str) -> None:
    assert Shard.parse("2/4") == Shard(2, 4)
    with pytest.raises(UsageError, match=problem):
        Shard.parse(text)


def test_no_scenario_of_ours_has_a_name_of_the_suite() -> None:
    """A report's selection is one list of names."""
    entries = load_catalogue().revisions.values()
    assert not {each.scenario for entry in entries for each in entry} & set(SCENARIOS)


def test_a_revision_without_any_scenario_of_ours_is_refused_by_name() -> None:
    servers = Selection(
        role=Role.SERVER,
        revisions=(Revision.V2025_11_25, Revision.V2026_07_28),
        transports=(Transport.HTTP,),
        sources=(Source.SUPPLEMENTAL,),
    )
    with pytest.raises(UsageError, match=r"^2025-11-25: has no scenario of ours"):
        select(servers, load_catalogue(role=Role.SERVER))


@pytest.mark.parametrize(
    ("role", "name", "command"),
    [(Role.SERVER, "basics", "run"), (Role.CLIENT, "tasks/ttl", "server")],
)
def test_a_scenario_of_the_other_role_is_told_from_a_typing_error(
    role: Role, name: str, command: str
) -> None:
    wanted = Selection(role=role, supplemental=(name,))
    with pytest.raises(UsageError, match=f"see `mcpconf {command}`"):
        select(wanted, load_catalogue(role=role))
