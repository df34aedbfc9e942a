"""Which source runs: the suite's scenarios, ours, or both."""

from __future__ import annotations

import pytest
from make import make_catalogue

from mcpconf.errors import UsageError
from mcpconf.record import Source
from mcpconf.revision import Revision
from mcpconf.setup import RunOptions, select
from mcpconf.transport import Transport

NEW = (Revision.V2026_07_28,)
BOTH = {Source.OFFICIAL, Source.SUPPLEMENTAL}


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
    cases = select(RunOptions(revisions=NEW, **options), make_catalogue(), None)  # type: ignore[arg-type]
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
        select(RunOptions(revisions=NEW, **options), make_catalogue(), None)  # type: ignore[arg-type]
