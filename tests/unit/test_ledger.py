"""The ledger of flaky cases: whole, counted, bounded, refused where it is not ours."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Thread
from typing import TYPE_CHECKING, Any

import filelock
import pytest

from mcpconf import ledger
from mcpconf.errors import DecodeError, ExitCode, StorageError
from mcpconf.ledger import FlakeEntry, Ledger, Rate, RunEntry, Said, load_ledger
from mcpconf.record import Outcome

if TYPE_CHECKING:
    from pathlib import Path


def run_entry(run: str, client: str = "codex") -> RunEntry:
    return RunEntry(
        run=run,
        client=client,
        version=f"{client} 1.0",
        cases=355,
        finished_at="2026-11-30T00:00:00.000+00:00",
    )


def flake_entry(run: str, client: str = "codex", **changes: Any) -> FlakeEntry:
    values: dict[str, Any] = {
        "run": run,
        "client": client,
        "version": f"{client} 1.0",
        "mode": "2025-11-25",
        "transport": "stdio",
        "scenario": "basics",
        "variant": None,
        "checks": ("supplemental:calls-the-tool",),
        "first": Said(outcome=Outcome.FAILED, reason="it did not\n“call”"),
        "again": (Said(outcome=Outcome.PASSED, reason="passed"),),
    }
    return FlakeEntry(**{**values, **changes})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".mcpconf" / ledger.FILE


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_ledger_that_is_not_there_is_an_empty_one(path: Path) -> None:
    assert load_ledger(path) == Ledger()


def test_an_empty_file_is_an_empty_one(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    assert load_ledger(path) == Ledger()


def test_a_run_without_a_flake_counts_too(path: Path) -> None:
    ledger.record_run(path, run_entry("r1"), [])

    assert lines_of(path) == [
        {
            "kind": "run",
            "run": "r1",
            "client": "codex",
            "version": "codex 1.0",
            "cases": 355,
            "finished_at": "2026-11-30T00:00:00.000+00:00",
        }
    ]
    assert load_ledger(path).runs == (run_entry("r1"),)


def test_a_rate_counts_the_case_over_the_runs_of_its_client(path: Path) -> None:
    ledger.record_run(path, run_entry("r1"), [flake_entry("r1")])
    ledger.record_run(path, run_entry("r2"), [])
    ledger.record_run(path, run_entry("r3", "other"), [flake_entry("r3", "other")])
    flakes = [flake_entry("r4"), flake_entry("r4", variant="another")]
    ledger.record_run(path, run_entry("r4"), flakes)

    kept = load_ledger(path)
    assert [(each.run, each.variant, each.rate) for each in kept.flakes] == [
        ("r1", None, Rate(flaky=1, runs=1)),
        ("r3", None, Rate(flaky=1, runs=1)),
        ("r4", None, Rate(flaky=2, runs=3)),
        ("r4", "another", Rate(flaky=1, runs=3)),
    ]
    assert kept.flakes[0] == flake_entry("r1", rate=Rate(flaky=1, runs=1))
    assert [line["run"] for line in lines_of(path)] == [
        *("r1", "r1", "r2", "r3", "r3", "r4", "r4", "r4"),
    ]


def test_a_line_stays_a_line_and_a_long_reason_is_cut(path: Path) -> None:
    reason = "a\u2028b\nc\ud800" + "x" * 10_000
    flake = flake_entry("r1", first=Said(outcome=Outcome.FAILED, reason=reason))
    ledger.record_run(path, run_entry("r1"), [flake])

    assert path.read_bytes().count(b"\n") == 2
    assert path.stat().st_size < 2000
    (kept,) = load_ledger(path).flakes
    assert kept.first.reason == reason[:500]


def test_the_oldest_runs_of_a_client_go_with_what_was_flaky_in_them(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "KEPT_RUNS", 2)
    ledger.record_run(path, run_entry("other", "other"), [])
    for name in ("r1", "r2", "r3"):
        ledger.record_run(path, run_entry(name), [flake_entry(name)])

    kept = load_ledger(path)
    assert [each.run for each in kept.runs] == ["other", "r2", "r3"]
    assert [each.run for each in kept.flakes] == ["r2", "r3"]
    assert kept.flakes[1].rate == Rate(flaky=2, runs=2)


def test_runs_that_end_together_are_all_there(path: Path) -> None:
    names = [f"r{number}" for number in range(12)]

    def record(name: str) -> None:
        ledger.record_run(path, run_entry(name), [flake_entry(name)])

    with ThreadPoolExecutor(4) as executor:
        list(executor.map(record, names))

    kept = load_ledger(path)
    assert sorted(each.run for each in kept.runs) == sorted(names)
    assert [each.rate.flaky for each in kept.flakes] == list(range(1, 13))


def test_an_end_in_the_middle_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger.record_run(path, run_entry("r1"), [])
    before = path.read_bytes()

    def broken(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(StorageError, match=r"No space left .*not in the ledger; make"):
        ledger.record_run(path, run_entry("r2"), [])

    assert path.read_bytes() == before
    assert sorted(each.name for each in path.parent.iterdir()) in (
        [ledger.FILE],
        [ledger.FILE, f"{ledger.FILE}.lock"],
    )


def test_a_lock_that_is_not_to_be_had_is_said(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "_LOCK_TIMEOUT_S", 0.0)
    path.parent.mkdir()
    with (
        filelock.FileLock(f"{path}.lock"),
        pytest.raises(StorageError, match=r"flakes\.jsonl\.lock: another process"),
    ):
        ledger.record_run(path, run_entry("r1"), [])
    assert not path.exists()


RUN = run_entry("r1").to_json()
FLAKE = replace(flake_entry("r1"), rate=Rate(flaky=1, runs=1)).to_json()


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "line 3: line 1 column 1: Expecting value"),
        ('{"kind": "run", "run', "line 3: line 1 column 17: Unterminated string"),
        ('{"kind": "run", "kind": "run"}', "line 3: duplicate key 'kind'"),
        ("[]", "line 3: expected an object, got array"),
        ("{}", "line 3.kind: is missing"),
        (json.dumps({**RUN, "kind": "note"}), "line 3.kind: unknown word 'note'"),
        (json.dumps(RUN), "line 3.run: r1 is there twice"),
        (json.dumps({**RUN, "run": "r2", "cases": "1"}), "line 3.cases: expected an"),
        (json.dumps({**RUN, "run": "r2", "more": 1}), "line 3: unknown key more"),
        (json.dumps({**FLAKE, "run": "r0"}), "line 3.run: no line above is the run r0"),
        (json.dumps({**FLAKE, "transport": "tcp"}), "line 3.transport: unknown word"),
        (json.dumps({**FLAKE, "checks": "a"}), "line 3.checks: expected an array"),
        (json.dumps({**FLAKE, "rate": {"flaky": 1}}), "line 3.rate.runs: is missing"),
        (
            json.dumps({**FLAKE, "first": {"outcome": "won", "reason": ""}}),
            "line 3.first.outcome: unknown word 'won'",
        ),
        (
            json.dumps({**FLAKE, "again": [{"outcome": "passed"}]}),
            "line 3.again[0].reason: is missing",
        ),
    ],
)
def test_a_malformed_line_is_refused_by_its_number_and_left_alone(
    path: Path, line: str, problem: str
) -> None:
    path.parent.mkdir()
    content = "".join(
        f"{each}\n" for each in (json.dumps(RUN), json.dumps(FLAKE), line)
    )
    path.write_text(content, "utf-8")

    with pytest.raises(DecodeError) as caught:
        load_ledger(path)
    assert problem in str(caught.value)
    assert "repair" in str(caught.value)
    assert caught.value.exit_code is ExitCode.BAD_INPUT
    with pytest.raises(DecodeError):
        ledger.record_run(path, run_entry("r2"), [])
    assert path.read_text("utf-8") == content


def test_every_malformed_line_is_named_at_once(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(f"?\n{json.dumps(RUN)}\n!\n", "utf-8")

    with pytest.raises(DecodeError, match=r"line 1: .*; line 3: "):
        load_ledger(path)


def test_a_ledger_without_its_last_line_end_is_read(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps(RUN), "utf-8")
    assert load_ledger(path).runs == (run_entry("r1"),)


def test_a_ledger_that_is_a_folder_is_refused(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(DecodeError, match="is no regular file; move it away"):
        load_ledger(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no such pipes")
def test_a_ledger_that_is_a_pipe_is_refused_and_not_waited_for(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    # Whoever waits for a writer gets one, so that this test fails and does not hang.
    writer = Thread(target=lambda: os.close(os.open(path, os.O_WRONLY)))
    writer.start()
    try:
        with pytest.raises(DecodeError, match="is no regular file; move it away"):
            load_ledger(path)
    finally:
        reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        writer.join()
        os.close(reader)


def test_a_lock_that_is_a_folder_is_named_with_what_to_do(path: Path) -> None:
    lock = path.with_name(f"{path.name}.lock")
    lock.mkdir(parents=True)

    with pytest.raises(StorageError) as caught:
        ledger.record_run(path, run_entry("r1"), [])

    assert str(caught.value).startswith(f"{lock}: this lock cannot be had: ")
    assert "the run is not in the ledger; remove it" in str(caught.value)


def test_a_file_system_without_locks_is_named(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> None:
        raise NotImplementedError("no flock here")

    monkeypatch.setattr(filelock.FileLock, "acquire", none)
    with pytest.raises(StorageError, match=r"\.lock: this lock .*: no flock here; "):
        ledger.record_run(path, run_entry("r1"), [])
