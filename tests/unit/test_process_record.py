"""The record of an end is read back strictly."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from mcpconf.decode import Reader
from mcpconf.errors import DecodeError
from mcpconf.process_record import Ended, EndKind, Leftover, Program

if TYPE_CHECKING:
    from mcpconf.decode import Json

ENDED = Ended(
    kind=EndKind.EXITED,
    exit_code=0,
    signal=None,
    duration_s=1.5,
    leftovers=(Leftover(pid=7, name="sh", description="dash job.sh"),),
    stdout_bytes=10,
    stderr_bytes=0,
    error=None,
    cpu_s=0.25,
    supervisor_cpu_s=None,
)


def read(changes: dict[str, Json]) -> Ended:
    return Ended.from_json(Reader(ENDED.to_json() | changes, "launch.json"))


def test_an_end_survives_being_written_and_read() -> None:
    assert read({}) == ENDED


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param({"kind": "fine"}, "kind: expected one of exited", id="kind"),
        pytest.param({"exit_code": None}, "has no exit_code", id="exit without code"),
        pytest.param({"kind": "signalled"}, "has no signal", id="signal without name"),
        pytest.param({"exit_code": "0"}, "exit_code: expected an integer", id="type"),
        pytest.param({"mood": "good"}, "unknown key mood", id="unknown key"),
        pytest.param(
            {"leftovers": [{"pid": 1, "name": "x"}]},
            "leftovers[0].description: is missing",
            id="leftover",
        ),
    ],
)
def test_an_end_that_says_too_little_or_too_much_is_refused(
    changes: dict[str, Json], problem: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        read(changes)
    assert problem in str(caught.value)


@pytest.mark.parametrize("seconds", [math.inf, math.nan, -1.0])
def test_a_program_without_a_finite_deadline_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="deadline_s must be a finite time"):
        program(argv=("true",), deadline_s=seconds)


def test_a_program_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="argv is empty"):
        program(argv=(), deadline_s=1.0)


def program(*, argv: tuple[str, ...], deadline_s: float) -> Program:
    here = Path()
    return Program(
        argv=argv,
        cwd=here,
        environment={},
        stdout=here,
        stderr=here,
        deadline_s=deadline_s,
    )


def test_a_leftover_prints_what_to_look_for() -> None:
    assert str(ENDED.leftovers[0]) == "dash job.sh (pid 7)"
