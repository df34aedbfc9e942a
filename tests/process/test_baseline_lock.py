"""Two programs that change one baseline at the same time."""

from __future__ import annotations

import functools
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from make_baseline import CATALOGUE, TODAY, make_baseline

from mcpconf.baseline.decode import load_baseline
from mcpconf.baseline.encode import to_json
from mcpconf.baseline.entry import CheckState
from mcpconf.baseline.store import write_baseline
from mcpconf.storage import json_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.process

ROOT = Path(__file__).parent.parent.parent
ROUNDS = 6
PROGRAMS = 3
LIMIT_S = 60.0
KILLS = 12

#: Turns `ROUNDS` passing checks of its own share into failing ones, one an update.
PROGRAM = """\
import sys
from dataclasses import replace
from pathlib import Path

from make_baseline import CATALOGUE, REVIEWED, TODAY

from mcpconf.baseline.decode import load_baseline
from mcpconf.baseline.entry import CheckState, ExpectedFailure
from mcpconf.baseline.store import update

path, share, programs, rounds = Path(sys.argv[1]), *map(int, sys.argv[2:])

def load(path):
    return load_baseline(path, catalogue=CATALOGUE, today=TODAY)

def make(older):
    ours = sorted(each for each in load_first.passing if each.source == "supplemental")
    identity = ours[share + programs * number]
    entry = ExpectedFailure(
        identity=identity,
        state=CheckState.WARNING,
        outcome="failed",
        explanation=REVIEWED,
    )
    return replace(
        older,
        passing=older.passing - {identity},
        failing={**older.failing, identity: entry},
    )

load_first = load(Path(sys.argv[1] + ".first"))
print("ready", flush=True)
sys.stdin.readline()
for number in range(rounds):
    update(path, make, load=load)
"""


def _start(path: Path, share: int) -> subprocess.Popen[str]:
    places = [str(ROOT), str(ROOT / "tests" / "unit")]
    return subprocess.Popen(
        [
            sys.executable,
            "-c",
            PROGRAM,
            str(path),
            *map(str, (share, PROGRAMS, ROUNDS)),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places)},
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A baseline, and a copy of it as it is at first."""
    path = tmp_path / "codex.json"
    write_baseline(path, make_baseline())
    write_baseline(tmp_path / "codex.json.first", make_baseline())
    return path


@pytest.fixture
def programs(path: Path) -> Iterator[list[subprocess.Popen[str]]]:
    started = [_start(path, share) for share in range(PROGRAMS)]
    yield started
    for each in started:
        each.kill()
        each.communicate()


def test_no_update_is_lost_and_no_half_of_a_file_is_seen(
    path: Path, programs: list[subprocess.Popen[str]]
) -> None:
    load = functools.partial(load_baseline, catalogue=CATALOGUE, today=TODAY)
    for each in programs:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    for each in programs:
        assert each.stdin is not None
        each.stdin.write("go\n")
        each.stdin.flush()
    looks = 0
    while any(each.poll() is None for each in programs):
        load(path)  # whole, at every moment
        looks += 1
    assert [each.wait(LIMIT_S) for each in programs] == [0] * PROGRAMS
    assert looks > 0
    made = load(path)
    warned = [e for e in made.failing.values() if e.state is CheckState.WARNING]
    baseline = make_baseline()
    before = sum(e.state is CheckState.WARNING for e in baseline.failing.values())
    assert len(warned) == before + PROGRAMS * ROUNDS
    assert len(made.passing) == len(baseline.passing) - PROGRAMS * ROUNDS
    assert path.read_bytes() == json_bytes(to_json(made))
    assert not list(path.parent.glob(".*.tmp"))
    assert json.loads(path.read_bytes())["baselineKind"] == "mcpconf-baseline-v2"


def test_an_update_killed_at_any_moment_leaves_the_old_file_or_the_new(
    path: Path,
) -> None:
    """What people wrote into a baseline is the one thing no run can make again."""
    load = functools.partial(load_baseline, catalogue=CATALOGUE, today=TODAY)
    moments = random.Random(20261130)  # noqa: S311 (moments, not secrets)
    seen = {path.read_bytes()}
    for _ in range(KILLS):
        program = _start(path, 0)
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        assert program.stdin is not None
        program.stdin.write("go\n")
        program.stdin.flush()
        end = time.monotonic() + moments.uniform(0, 0.5)
        while time.monotonic() < end:
            seen.add(path.read_bytes())
        program.kill()
        program.communicate()
        made = load(path)
        assert path.read_bytes() == json_bytes(to_json(made))
        seen.add(path.read_bytes())
    assert len(seen) > KILLS // 2, "the programs were killed before they began"
