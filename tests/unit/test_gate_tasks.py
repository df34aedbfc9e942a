"""From a stored report to a baseline, a gate and every rendering, by tasks alone."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock
from xml.etree import ElementTree as ET

import pytest
from invoke.program import Program
from whole_report import MIDDLE, whole_report

from mcpconf.selection import Selection, Shard
from mcpconf.storage import write_json
from mcpconf.tasks import collection

if TYPE_CHECKING:
    from pathlib import Path

KNOWN, NEW = "sse-framing:sse-bom", "basics:unicode-resource"


@dataclass(frozen=True)
class Done:
    """How a task ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


def _invoke(*arguments: str, cwd: Path) -> Done:
    """One command line, in this process: a start of Python for each takes a second."""
    words = ["inv", *arguments]
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in "oe")
    code: object = 0
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", words),  # where the shards are counted
    ):
        try:
            Program(namespace=collection()).run(words)
        except SystemExit as end:
            code = end.code
    texts = []
    for each in (out, err):
        each.seek(0)
        texts.append(each.read())
    assert isinstance(code, int)
    return Done(code, *texts)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three reports, the baseline of the first, its one entry with a reason."""
    place = tmp_path_factory.mktemp("tasks")
    write_json(place / "known.json", whole_report([KNOWN]))
    write_json(place / "worse.json", whole_report([KNOWN, NEW]))
    write_json(place / "fixed.json", whole_report())
    done = _invoke(
        *("baseline.extract", "--report", "known.json", "--out", "baseline.json"),
        cwd=place,
    )
    assert done.returncode == 0, done.stderr
    baseline = json.loads((place / "baseline.json").read_bytes())
    (entry,) = baseline["checks"]["failing"]
    assert entry["class"] == "unreviewed"
    entry |= {"reason": "it keeps the mark", "class": "subject-bug"}
    write_json(place / "baseline.json", baseline)
    return place


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--report", "known.json"), 0, "Gate: GREEN: 0 new failures"),
        (("--report", "worse.json"), 1, "Gate: REGRESSED"),
        (("--report", "fixed.json"), 0, "1 fixed"),
        (("--report", "fixed.json", "--ratchet"), 1, "Gate: REGRESSED"),
        (("--report", "known.json", "--flaky-budget", "-1"), 2, "at least 0"),
        (("--report", "absent.json"), 2, "absent.json: cannot be read"),
        ((), 2, ".mcpconf/report.json: cannot be read"),
    ],
)
def test_the_gate_decides_again_about_a_stored_report(
    place: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = _invoke("gate", "--baseline", "baseline.json", *arguments, cwd=place)
    assert done.returncode == code, done.stderr
    assert said in done.stdout + done.stderr


def test_a_regression_is_named_with_the_line_that_runs_it(place: Path) -> None:
    done = _invoke(
        *("gate", "--baseline", "baseline.json", "--report", "worse.json"), cwd=place
    )
    assert NEW in done.stdout
    assert "again: nox -s conformance-2025-11-25 -- " in done.stdout


def test_extracting_again_carries_the_reason_over(place: Path, tmp_path: Path) -> None:
    copy = tmp_path / "again.json"
    copy.write_bytes((place / "baseline.json").read_bytes())
    words = ("baseline.extract", "--report", str(place / "known.json"))
    done = _invoke(*words, "--out", "again.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert copy.read_bytes() == (place / "baseline.json").read_bytes()


def test_the_diff_shows_what_a_reviewer_asks(place: Path) -> None:
    done = _invoke("baseline.diff", "baseline.json", "worse.json", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "unicode-resource" in done.stdout
    done = _invoke("baseline.diff", "baseline.json", "fixed.json", cwd=place)
    assert "sse-bom" in done.stdout
    assert "(was: it keeps the mark)" in done.stdout


def test_a_check_is_explained_with_its_reason(place: Path) -> None:
    done = _invoke(
        *("baseline.explain", KNOWN, "--baseline", "baseline.json"),
        *("--report", "known.json"),
        cwd=place,
    )
    assert done.returncode == 0, done.stderr
    assert "it keeps the mark" in done.stdout
    assert "nox -s conformance-2025-11-25 -- " in done.stdout
    done = _invoke("baseline.explain", "sse-framing:sse-bon", cwd=place)
    assert (done.returncode, "sse-bom" in done.stderr) == (2, True)


def test_a_baseline_of_version_1_gates_and_migrates(place: Path) -> None:
    whole = whole_report([KNOWN], Selection())
    write_json(place / "whole.json", whole)
    for words in (
        ("baseline.extract", "--report", "whole.json", "--format-version", "1"),
        ("gate", "--baseline", "v1.json", "--report", "whole.json"),
        ("baseline.migrate", "v1.json", "--client", "command"),
        ("gate", "--baseline", "v2.json", "--report", "whole.json"),
    ):
        more = {
            "baseline.extract": ("--out", "v1.json"),
            "baseline.migrate": ("--out", "v2.json", "--client-version", "1.0"),
        }.get(words[0], ())
        done = _invoke(*words, *more, cwd=place)
        assert done.returncode == 0, (words, done.stdout, done.stderr)


def test_expected_failures_go_out_and_come_back(tmp_path: Path) -> None:
    fails = "tools_call:tool-add-numbers"
    write_json(tmp_path / "report.json", whole_report([fails]))
    one = ("baseline.extract", "--report", "report.json", "--out", "one.json")
    out = ("baseline.export-expected-failures", "one.json", "--out", "ef.yml")
    back = ("baseline.import-expected-failures", "ef.yml", "--report", "report.json")
    for words in (one, out, (*back, "--out", "two.json")):
        done = _invoke(*words, cwd=tmp_path)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
    assert f"- {fails}" in (tmp_path / "ef.yml").read_text("utf-8")
    (entry,) = json.loads((tmp_path / "two.json").read_bytes())["checks"]["failing"]
    assert "ef.yml" in entry["reason"]


def _of(name: str, place: Path, *more: str) -> str:
    done = _invoke(f"report.{name}", "worse.json", *more, cwd=place)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_rendering_says_what_the_gate_said(place: Path) -> None:
    _invoke(
        *("gate", "--baseline", "baseline.json", "--report", "worse.json"),
        *("--out", "answer.json"),
        cwd=place,
    )
    gate = ("--gate", "answer.json")
    assert "gate REGRESSED" in _of("markdown", place, *gate)
    assert "::error" in _of("annotations", place, *gate)
    assert json.loads(_of("badge", place, *gate))["color"] == "red"
    suites = ET.fromstring(_of("junit", place, *gate))  # noqa: S314 (ours)
    assert suites.findall(".//failure")
    assert suites.findall(".//skipped")
    _of("html", place, *gate, "--out", "page.html")
    page = (place / "page.html").read_text("utf-8")
    assert page.startswith("<!doctype html>")
    assert "regressed" in page.lower()


def test_an_answer_about_another_report_is_not_shown(place: Path) -> None:
    words = ("gate", "--baseline", "baseline.json", "--report", "known.json")
    _invoke(*words, "--out", "gate.json", cwd=place)
    assert "gate GREEN" in _invoke("report.markdown", "known.json", cwd=place).stdout
    assert "gate" not in _of("markdown", place)  # gate.json lies beside it, too
    done = _invoke("report.markdown", "worse.json", "--gate", "gate.json", cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert "gate.json: inputs.reportDigest: is not of worse.json" in done.stderr


def test_any_number_of_shards_is_merged(tmp_path: Path) -> None:
    names = []
    for index in (1, 2, 3):
        selection = Selection(revisions=MIDDLE.revisions, shard=Shard(index, 3))
        names.append(f"shard-{index}.json")
        write_json(tmp_path / names[-1], whole_report([KNOWN], selection))
    done = _invoke("report.merge", *names, "--out", "all.json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr  # as the report of an undivided run
    merged: dict[str, Any] = json.loads((tmp_path / "all.json").read_bytes())
    assert merged["run"]["shards"] == ["run-1", "run-2", "run-3"]
    done = _invoke("report.merge", *names[:2], cwd=tmp_path)
    assert (done.returncode, "shard 3/3 is missing" in done.stderr) == (2, True)
    assert not (tmp_path / "merged.json").exists()


@pytest.mark.parametrize("gone", ["newFailures", "demands", "verdict", "scope"])
def test_an_answer_that_lacks_a_member_is_refused_by_name(
    place: Path, gone: str
) -> None:
    words = ("gate", "--baseline", "baseline.json", "--report", "worse.json")
    _invoke(*words, "--out", "whole.json", cwd=place)
    answer = json.loads((place / "whole.json").read_bytes())
    del answer[gone]
    write_json(place / "part.json", answer)
    for name in ("markdown", "junit", "html", "annotations", "badge"):
        done = _invoke(f"report.{name}", "worse.json", "--gate", "part.json", cwd=place)
        assert (done.returncode, done.stdout) == (2, "")
        assert f"part.json: {gone}: is missing" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("gate", "--baseline", "baseline.json", "--report", "known.json"),
        ("report.markdown", "known.json"),
        ("report.junit", "known.json"),
        ("report.html", "known.json"),
        ("report.merge", "worse.json", "known.json"),
        ("baseline.export-expected-failures", "known.json"),
        ("baseline.migrate", "v1.json", "--client-version", "1"),
    ],
)
def test_nothing_is_written_over_what_it_is_made_of(
    place: Path, words: tuple[str, ...]
) -> None:
    held = (place / "known.json").read_bytes()
    done = _invoke(*words, "--out", "known.json", cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--out known.json: " in done.stderr
    assert (place / "known.json").read_bytes() == held


def test_extraction_says_what_passes_no_more(place: Path, tmp_path: Path) -> None:
    """A regression must not disappear because somebody extracts again."""
    (tmp_path / "b.json").write_bytes((place / "baseline.json").read_bytes())
    report = json.loads((place / "known.json").read_bytes())
    for case in report["cases"]:
        case["checks"] = [each for each in case["checks"] if each["check_id"] != "echo"]
    write_json(tmp_path / "less.json", report)
    done = _invoke(
        "baseline.extract", "--report", "less.json", "--out", "b.json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "LOST: passed, and does no more (2)" in done.stdout
    assert "basics:echo" in done.stdout


def test_a_leg_of_which_nothing_was_judged_is_no_baseline(tmp_path: Path) -> None:
    report = whole_report()
    for case in report["cases"]:
        if case["transport"] == "official-http":
            for each in case["scenarios"]:
                each |= {"outcome": "unsupported", "attribution": None}
            for check in (*case["checks"], *case["notScored"]):
                check |= {"status": "SKIP", "success": True}
    report |= {"verdict": "INCONCLUSIVE", "success": False}
    write_json(tmp_path / "half.json", report)
    done = _invoke(
        "baseline.extract", "--report", "half.json", "--out", "b.json", cwd=tmp_path
    )
    assert (done.returncode, (tmp_path / "b.json").exists()) == (2, False)
    assert "nothing of official-http 2025-11-25 was judged" in done.stderr
    assert "--only supplemental" in done.stderr


def test_reasons_outlive_a_check_that_is_gone(place: Path, tmp_path: Path) -> None:
    """An upgrade takes a check away; the others keep what was written of them."""
    baseline = json.loads((place / "baseline.json").read_bytes())
    passing = baseline["checks"]["passing"]["stdio 2025-11-25"]["basics"]
    passing.append("supplemental:a-check-of-yesterday")
    write_json(tmp_path / "b.json", baseline)
    report = str(place / "known.json")
    refused = _invoke("gate", "--baseline", "b.json", "--report", report, cwd=tmp_path)
    assert (refused.returncode, "a-check-of-yesterday" in refused.stderr) == (2, True)
    words = ("baseline.extract", "--report", report, "--out", "b.json")
    done = _invoke(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "a-check-of-yesterday" in done.stdout
    assert (tmp_path / "b.json").read_bytes() == (place / "baseline.json").read_bytes()
