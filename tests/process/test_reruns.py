"""
A client that fails at first: run again alone, both results kept, never a plain pass.

The programs take turns, so that what is flaky is so on purpose and each time.
"""

from __future__ import annotations

import json
import logging
import os
import shlex
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import pytest
from invoke.exceptions import Exit

from mcpconf import evidence, ledger, pool, rerun, run
from mcpconf import report as report_module
from mcpconf.decode import load_json
from mcpconf.errors import DecodeError, ExitCode, FixtureError
from mcpconf.gate_record import UnexpectedCase
from mcpconf.identity import Leg, identity_of
from mcpconf.rejudge import rejudge
from mcpconf.render.progress import LineProgress
from mcpconf.rerun import Reruns
from mcpconf.revision import Revision
from mcpconf.setup import RunOptions, resolve
from mcpconf.storage import json_bytes
from mcpconf.suite.catalogue import load_catalogue
from mcpconf.supplemental import launch
from mcpconf.supplemental.plan import SupplementalCase
from mcpconf.tasks.report import report_rejudge
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.case import Launch
    from mcpconf.report_assembly import Report

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="the programs use Linux"),
]

PROGRAM = Path(__file__).parent / "programs" / "takes_turns.py"
SUITE = Path(__file__).parents[2] / "fixtures" / "suites" / "well_behaved.cjs"
SCENARIO = "pagination-cursors"
CURSORS = "cursor-is-opaque"
CASE = f"supplemental/2025-11-25/stdio/{SCENARIO}"


def all_but(*known: str) -> Reruns:
    """A baseline in which everything passes, `known` (check ids) apart."""

    def unexpected(report: Mapping[str, Any]) -> Sequence[UnexpectedCase]:
        cases = []
        for case in report["cases"]:
            leg = Leg(case["transport"], case["mode"])
            for scenario in case["scenarios"]:
                bad = tuple(
                    identity_of(leg, check)
                    for check in case["checks"]
                    if check["scenario"] == scenario["scenario"]
                    and check["status"] != "PASS"
                    and check["check_id"] not in known
                )
                if bad:
                    cases.append(
                        UnexpectedCase(
                            leg=leg,
                            scenario=scenario["scenario"],
                            variant=None,
                            checks=bad,
                        )
                    )
        return cases

    return Reruns(unexpected=unexpected, baseline="b.json", digest="sha256:0")


@dataclass
class Place:
    """Where a test's runs are, and what they launch."""

    path: Path
    lines: list[str] = field(default_factory=list)

    @property
    def output(self) -> Path:
        return self.path / "out"

    def write(self, text: str) -> None:
        self.lines.append(text)

    def flush(self) -> None:
        pass

    def run(
        self,
        turns: str,
        reruns: Reruns | None,
        *,
        official: str | None = None,
        ours: Sequence[str] = (SCENARIO,),
    ) -> Report:
        """One run of a client that takes `turns`."""
        place = self.path / "launches"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        words = (sys.executable, "-S", str(PROGRAM), str(place), turns)
        setup = resolve(
            RunOptions(
                client_command=shlex.join(words),
                revisions=(Revision.V2025_11_25,),
                transports=(Transport.HTTP if official else Transport.STDIO,),
                scenarios=(official,) if official else (),
                supplemental=() if official else tuple(ours),
                conformance_cli=SUITE,
                output_dir=self.output,
                timeout_s=30.0,
                jobs=1,
            )
        )
        self.lines.clear()
        progress = LineProgress(len(setup.launched), self)  # type: ignore[arg-type]
        return run.perform(setup, progress, reruns)

    def run_dir(self) -> Path:
        return max(
            (self.output / run.RUNS).iterdir(), key=lambda each: each.stat().st_mtime_ns
        )

    def ledger(self) -> list[dict[str, Any]]:
        text = (self.output / ledger.FILE).read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def scenario_of(report: Report) -> dict[str, Any]:
    (case,) = report.value["cases"]
    (scenario,) = case["scenarios"]
    result: dict[str, Any] = scenario
    return result


def checks_of(report: Report) -> dict[str, tuple[str, str | None]]:
    (case,) = report.value["cases"]
    return {
        check["check_id"] or check["name"]: (check["status"], check.get("outcome"))
        for check in case["checks"]
    }


def same_again(place: Place, report: Report) -> None:
    """The stored run gives the report again, byte for byte."""
    rejudged = rejudge(place.run_dir(), load_catalogue())
    assert json_bytes(rejudged.value) == json_bytes(report.value)
    assert (place.run_dir() / run.REPORT).read_bytes() == json_bytes(report.value)


def test_a_flaky_client_is_flaky_with_both_evidences_and_a_rate(place: Place) -> None:
    report = place.run("normalises_cursors,good", all_but())

    scenario = scenario_of(report)
    assert scenario["outcome"] == "flaky"
    assert checks_of(report)[CURSORS] == ("FAIL", "flaky")
    assert report.exit_code is ExitCode.NOT_CONFORMANT
    (again,) = scenario["reruns"]
    assert (
        again["outcome"],
        again["checks"][f"supplemental/{SCENARIO}/{CURSORS}"],
    ) == (
        "passed",
        "PASS",
    )
    # Both evidences are kept, and named by the closing record.
    end = load_json(place.run_dir() / evidence.END)
    assert isinstance(end, dict)
    names = end["digests"]
    assert isinstance(names, dict)
    for folder in (CASE, f"reruns/1/{CASE}"):
        assert f"{folder}/{evidence.SUBJECT}" in names
        assert (place.run_dir() / folder / evidence.LAUNCH).is_file()
    assert again["evidence"] == f"reruns/1/{CASE}"
    assert evidence.RERUNS in names
    assert not (place.run_dir() / "reruns" / "2").exists()
    same_again(place, report)
    # The next run is flaky too.
    place.run("normalises_cursors,good", all_but())
    flakes = [line for line in place.ledger() if line["kind"] == "flake"]
    assert [line["rate"] for line in flakes] == [
        {"flaky": 1, "runs": 1},
        {"flaky": 2, "runs": 2},
    ]
    assert flakes[0]["checks"] == [f"supplemental:{CURSORS}"]
    assert flakes[0]["first"]["outcome"] == "failed"
    assert [each["outcome"] for each in flakes[0]["again"]] == ["passed"]
    assert flakes[0]["run"] == report.value["run"]["id"]


def test_a_steady_failure_is_red_after_one_confirmation(place: Place) -> None:
    report = place.run("normalises_cursors", all_but())

    scenario = scenario_of(report)
    assert scenario["outcome"] == "failed"
    assert [each["outcome"] for each in scenario["reruns"]] == ["failed"]
    assert checks_of(report)[CURSORS] == ("FAIL", "failed")
    assert [line["kind"] for line in place.ledger()] == ["run"]
    same_again(place, report)
    told = "".join(place.lines)
    assert f"[1/1] 2025-11-25/stdio/{SCENARIO} failed" in told
    assert f"[2/2] 2025-11-25/stdio/{SCENARIO} (again) failed" in told


def test_a_client_that_fails_in_another_way_each_time_is_red(place: Place) -> None:
    report = place.run("normalises_cursors,drops_page_two", all_but())

    scenario = scenario_of(report)
    assert scenario["outcome"] == "failed"
    assert checks_of(report)[CURSORS] == ("FAIL", "failed")
    # Both results are there to be seen.
    (again,) = scenario["reruns"]
    assert again["outcome"] == "failed"
    assert again["checks"][f"supplemental/{SCENARIO}/{CURSORS}"] == "PASS"
    assert again["checks"][f"supplemental/{SCENARIO}/tools-of-all-pages"] == "FAIL"
    assert [line["kind"] for line in place.ledger()] == ["run"]
    same_again(place, report)


def test_a_crash_is_never_rescued(place: Place) -> None:
    report = place.run("crash,good", all_but())

    scenario = scenario_of(report)
    assert scenario["outcome"] == "crashed"
    assert [each["outcome"] for each in scenario["reruns"]] == ["passed"]
    assert report.exit_code is ExitCode.NOT_CONFORMANT
    assert [line["kind"] for line in place.ledger()] == ["run"]
    same_again(place, report)


def test_what_is_known_to_fail_is_not_run_again(place: Place) -> None:
    report = place.run("normalises_cursors,good", all_but(CURSORS))

    assert scenario_of(report)["outcome"] == "failed"
    assert scenario_of(report)["reruns"] == []
    assert not (place.run_dir() / evidence.RERUNS).exists()
    same_again(place, report)


def test_what_is_known_to_fail_stays_so_beside_what_was_rescued(place: Place) -> None:
    """At first every check fails; the one that is known has passed since."""
    report = place.run("exits_with_a_code 3,good", all_but(CURSORS))

    told = checks_of(report)
    assert told[CURSORS][0] == "FAIL"
    assert told[CURSORS][1] != "flaky"
    assert scenario_of(report)["outcome"] == "flaky"
    assert {outcome for status, outcome in told.values() if status == "PASS"} == set()
    same_again(place, report)


def test_without_a_baseline_nothing_is_run_again_or_noted(place: Place) -> None:
    report = place.run("normalises_cursors,good", None)

    assert scenario_of(report)["outcome"] == "failed"
    assert not (place.output / ledger.FILE).exists()


def test_a_measured_case_has_a_second_confirmation(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SupplementalCase, "timing_sensitive", property(lambda _: True))
    turns = "normalises_cursors,normalises_cursors,good"

    report = place.run(turns, all_but())

    scenario = scenario_of(report)
    assert scenario["outcome"] == "flaky"
    assert [each["outcome"] for each in scenario["reruns"]] == ["failed", "passed"]
    assert (place.run_dir() / "reruns" / "2" / CASE).is_dir()
    same_again(place, report)


def test_a_scenario_of_the_suite_is_run_again_in_the_same_way(place: Place) -> None:
    report = place.run(
        "exits_with_a_code 3,adds_two_numbers", all_but(), official="tools_call"
    )

    scenario = scenario_of(report)
    assert scenario["outcome"] == "flaky", scenario
    assert scenario["reruns"][0]["outcome"] == "passed"
    told = checks_of(report)
    assert told["harness/tools_call/command-adapter"] == ("FAIL", "flaky")
    assert ("PASS", None) in told.values()
    same_again(place, report)


def test_a_stop_during_the_reruns_is_reported_as_incomplete(place: Place) -> None:
    report = place.run(f"normalises_cursors,stop {os.getpid()}", all_but())

    assert (report.value["complete"], report.exit_code) == (False, ExitCode.HARNESS)
    scenario = scenario_of(report)
    assert scenario["outcome"] == "failed"
    assert [each["outcome"] for each in scenario["reruns"]] == ["not-run"]
    assert not (place.output / ledger.FILE).exists()
    same_again(place, report)


def test_a_rerun_that_breaks_the_harness_is_a_fault_and_rescues_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = launch.launch_case

    def broken(how: Launch, case: SupplementalCase, started: Any) -> object:
        if "reruns" in how.run_dir.parts:
            raise FixtureError("the fixture server broke")
        return whole(how, case, started)

    monkeypatch.setattr(launch, "launch_case", broken)
    report = place.run("normalises_cursors,good", all_but())

    assert report.exit_code is ExitCode.HARNESS
    (fault,) = report.value["closing"]["faults"]
    assert f"{SCENARIO} (run again): the fixture server broke" in fault
    assert scenario_of(report)["outcome"] == "failed"
    assert scenario_of(report)["reruns"] == []
    same_again(place, report)


def test_more_than_the_bound_is_not_run_again_and_says_so(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(rerun, "MAX_CASES", 0)
    with caplog.at_level(logging.WARNING):
        report = place.run("normalises_cursors,good", all_but())

    assert "that is no flake" in caplog.text
    assert scenario_of(report)["outcome"] == "failed"
    assert scenario_of(report)["reruns"] == []
    assert report.value["closing"]["faults"] == []
    stored = load_json(place.run_dir() / evidence.RERUNS)
    assert isinstance(stored, dict)
    assert stored["rounds"] == []
    assert "that is no flake" in str(stored["note"])
    same_again(place, report)


class Killed(BaseException):
    """In place of SIGKILL: nothing is closed after it."""


def killed_at(
    monkeypatch: pytest.MonkeyPatch, folder: str, scenario: str, after: Event
) -> None:
    """The run ends where this case is launched for this folder."""
    whole = launch.launch_case

    def launched(how: Launch, case: SupplementalCase, started: Any) -> object:
        if how.run_dir.match(folder) and case.key.scenario == scenario:
            after.wait(5)
            raise Killed
        return whole(how, case, started)

    monkeypatch.setattr(launch, "launch_case", launched)


def killed_report(place: Place) -> dict[str, Any]:
    """What such a run leaves, which is what its evidence gives."""
    assert not (place.run_dir() / evidence.END).exists()
    stored = (place.run_dir() / run.REPORT).read_bytes()
    assert json_bytes(rejudge(place.run_dir(), load_catalogue()).value) == stored
    value: dict[str, Any] = json.loads(stored)
    return value


def test_a_run_killed_in_its_second_round_has_told_of_the_first(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SupplementalCase, "timing_sensitive", property(lambda _: True))
    at_once = Event()
    at_once.set()
    killed_at(monkeypatch, "reruns/2", SCENARIO, at_once)

    with pytest.raises(Killed):
        place.run("normalises_cursors", all_but())

    (case,) = killed_report(place)["cases"]
    assert [len(each["reruns"]) for each in case["scenarios"]] == [1]


def test_a_run_killed_within_a_round_has_told_of_what_was_judged_in_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Event()
    whole = report_module.build

    def build(*arguments: Any) -> Report:
        built = whole(*arguments)
        if any(each.reruns for each in arguments[2].values()):
            told.set()
        return built

    monkeypatch.setattr(report_module, "build", build)
    monkeypatch.setattr(pool, "PUBLISH_EVERY_S", 0.0)
    killed_at(monkeypatch, "reruns/1", SCENARIO, told)

    with pytest.raises(Killed):
        place.run("exits_with_a_code 3", all_but(), ours=("basics", SCENARIO))

    (case,) = killed_report(place)["cases"]
    reruns = {each["scenario"]: len(each["reruns"]) for each in case["scenarios"]}
    assert reruns == {"basics": 1, SCENARIO: 0}


def test_a_ledger_that_cannot_be_written_costs_no_verdict(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    lock = place.output / f"{ledger.FILE}.lock"
    lock.mkdir(parents=True)

    with caplog.at_level(logging.ERROR):
        report = place.run("normalises_cursors,good", all_but())

    assert scenario_of(report)["outcome"] == "flaky"
    assert report.value["complete"]
    same_again(place, report)
    (record,) = caplog.records
    assert record.getMessage().startswith(f"{lock}: this lock cannot be had: ")
    assert "\n" not in record.getMessage()
    assert record.exc_info is None
    assert not (place.output / ledger.FILE).exists()


def test_a_ledger_that_is_no_file_is_refused_before_anything_runs(place: Place) -> None:
    (place.output / ledger.FILE).mkdir(parents=True)

    with pytest.raises(DecodeError, match="is no regular file"):
        place.run("good", all_but())

    assert not (place.output / run.RUNS).exists()


def test_a_malformed_ledger_is_refused_before_anything_runs(place: Place) -> None:
    place.output.mkdir()
    (place.output / ledger.FILE).write_text("half a li", "utf-8")

    with pytest.raises(DecodeError, match=r"flakes\.jsonl: line 1") as caught:
        place.run("good", all_but())

    assert caught.value.exit_code is ExitCode.BAD_INPUT
    assert not (place.output / run.RUNS).exists()


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One run with a rerun."""
    place = Place(tmp_path_factory.mktemp("stored"))
    place.run("normalises_cursors", all_but())
    return place.run_dir()


@pytest.mark.parametrize("damage", ["changed", "gone", "added", "other checks"])
def test_reruns_that_are_not_those_of_the_run_are_refused(
    stored: Path, tmp_path: Path, damage: str
) -> None:
    run_dir = tmp_path / "run"
    shutil.copytree(stored, run_dir)
    plan, again = run_dir / evidence.RERUNS, evidence.rerun_dir(run_dir, 1) / CASE
    if damage == "changed":
        shutil.copy(again / evidence.ADAPTER, again / evidence.LAUNCH)
    elif damage == "gone":
        shutil.rmtree(again)
    elif damage == "added":
        shutil.copytree(again, evidence.rerun_dir(run_dir, 2) / CASE)
    else:
        text = plan.read_text("utf-8")
        assert CURSORS in text
        plan.write_text(text.replace(CURSORS, "another"), "utf-8")

    with pytest.raises(DecodeError, match=r"closing record|not the file that was"):
        rejudge(run_dir, load_catalogue())


def test_a_run_killed_among_its_reruns_is_judged_by_what_is_there(
    stored: Path, tmp_path: Path
) -> None:
    run_dir = tmp_path / "run"
    shutil.copytree(stored, run_dir)
    (run_dir / evidence.END).unlink()
    shutil.rmtree(run_dir / "reruns")

    report = rejudge(run_dir, load_catalogue())

    assert report.exit_code is ExitCode.HARNESS
    assert scenario_of(report)["outcome"] == "failed"
    assert scenario_of(report)["reruns"] == []


@pytest.mark.parametrize(
    ("is_closed", "said"),
    [
        (False, "the run was killed; its stored report is older than its evidence"),
        (True, "NOT the stored report"),
    ],
)
def test_a_killed_run_is_told_from_one_whose_report_was_changed(
    stored: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    is_closed: bool,
    said: str,
) -> None:
    run_dir = tmp_path / "run"
    shutil.copytree(stored, run_dir)
    (run_dir / run.REPORT).write_text("{}", "utf-8")
    if not is_closed:
        (run_dir / evidence.END).unlink()

    with pytest.raises(Exit) as end:
        report_rejudge.body(None, str(run_dir))

    assert end.value.code == ExitCode.HARNESS
    assert capsys.readouterr().err.endswith(f": {said}\n")
