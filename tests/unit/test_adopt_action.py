"""The steps of the GitHub Action: inputs to words, and what a run came to."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from make import (
    by_key,
    make_case,
    make_catalogue,
    make_end,
    make_evidence,
    make_record,
    with_status,
)

from mcpconf import gating, report, run, setup
from mcpconf.adopt import action
from mcpconf.adopt.config import Adoption
from mcpconf.adopt.inputs import PREFIX, Inputs, read_inputs
from mcpconf.adopt.outcome import GATE, REPORT, Watch
from mcpconf.errors import ExitCode, UsageError
from mcpconf.gate_record import KIND, GateVerdict
from mcpconf.judge import judge
from mcpconf.record import CheckStatus, Policy, Verdict
from mcpconf.storage import json_bytes, write_json
from mcpconf.tasks import namespace

#: Whatever a shell, a workflow or an option parser could take for something else.
HOSTILE = """a "b" 'c' $(touch pwned) `touch pwned` ${HOME} ; touch pwned
::error::x
--client=y && é \\ * ~ %0A"""

#: Writes down what it was called with; ends and leaves behind what the test says.
STUB = """
import json, os, pathlib, sys
pathlib.Path("argv.json").write_text(json.dumps(sys.argv[1:]))
print("::warning::a client said this")
for name in ("report", "gate"):
    content = os.environ.get("STUB_" + name.upper())
    if content:
        path = pathlib.Path(".mcpconf") / (name + ".json")
        path.parent.mkdir(exist_ok=True)
        new = path.with_suffix(".tmp")
        new.write_text(content, "utf-8")
        os.replace(new, path)
sys.exit(int(os.environ.get("STUB_EXIT", "0")))
"""


def _report(verdict: Verdict = Verdict.CONFORMANT) -> dict[str, Any]:
    case, catalogue = make_case(), make_catalogue()
    evidence = make_evidence(case)
    if verdict is Verdict.NOT_CONFORMANT:
        evidence = with_status(evidence, "required-b", CheckStatus.FAILURE, error="no")
    judged = by_key(judge(case, evidence, Policy()))
    results = {} if verdict is Verdict.INCONCLUSIVE else judged
    record = make_record(catalogue, (case,))
    built = report.build(record, (case,), results, catalogue, make_end())
    assert built.verdict is verdict
    return built.value


GOOD, FAILED, BAD = (json_bytes(_report(each)).decode() for each in Verdict)


def _gate(verdict: str, kind: str = KIND) -> str:
    return json.dumps({"kind": kind, "verdict": verdict})


@pytest.fixture
def stub(tmp_path: Path) -> Path:
    """Stand-ins for nox and for our tasks, which come first on the module path."""
    place = tmp_path / "stub"
    (place / "nox").mkdir(parents=True)
    (place / "nox" / "__main__.py").write_text(STUB, "utf-8")
    (place / "nox" / "__init__.py").touch()
    return place


def _variables(stub: Path, cwd: Path, inputs: dict[str, str]) -> dict[str, str]:
    (cwd / "outputs.txt").write_text("", "utf-8")
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(stub),
        "GITHUB_OUTPUT": str(cwd / "outputs.txt"),
        **{PREFIX + name: value for name, value in inputs.items()},
    }


def _outputs(cwd: Path) -> dict[str, str]:
    lines = (cwd / "outputs.txt").read_text("utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines)


class Step:
    """The step ``run``, in this process; what it starts is a process of its own."""

    def __init__(
        self,
        stub: Path,
        cwd: Path,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        self.stub, self.cwd = stub, cwd
        self._monkeypatch, self._capfd = monkeypatch, capfd

    def run(self, inputs: dict[str, str], **more: str) -> tuple[dict[str, str], str]:
        """The outputs, and what was printed."""
        variables = _variables(self.stub, self.cwd, inputs)
        self._monkeypatch.chdir(self.cwd)
        for name, value in {"PYTHONPATH": str(self.stub), **more}.items():
            self._monkeypatch.setenv(name, value)
        assert action.main(["run"], variables) == 0
        return _outputs(self.cwd), self._capfd.readouterr().out


@pytest.fixture
def step(
    stub: Path,
    cwd: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Step:
    return Step(stub, cwd, monkeypatch, capfd)


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    place = tmp_path / "repository"
    place.mkdir()
    return place


def test_every_input_reaches_nox_as_one_word_whatever_it_holds(
    stub: Path, cwd: Path
) -> None:
    given = {
        "COMMAND": HOSTILE,
        "BINARY": HOSTILE,
        "CLIENT_VERSION": HOSTILE,
        "BASELINE": HOSTILE,
        "SHARD": HOSTILE,
        "FLAKY_BUDGET": HOSTILE,
        "REVISIONS": "2025-06-18, $(touch\n2025-11-25)",
        "RATCHET": "true",
        "ARGUMENTS": "--report '$(touch pwned)' --jobs 2",
    }
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mcpconf.adopt.action", "run"],
        cwd=cwd,
        env=_variables(stub, cwd, given),
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    argv = json.loads((cwd / "argv.json").read_text("utf-8"))
    assert argv == [
        "--noxfile",
        str(action.NOXFILE),
        "--session",
        "conformance",
        "--",
        f"--client-command={HOSTILE}",
        f"--binary={HOSTILE}",
        f"--client-version={HOSTILE}",
        "--revision=2025-06-18",
        "--revision=$(touch",
        "--revision=2025-11-25)",
        f"--baseline={HOSTILE}",
        "--ratchet",
        f"--flaky-budget={HOSTILE}",
        f"--shard={HOSTILE}",
        "--report",
        "$(touch pwned)",
        "--jobs",
        "2",
    ]
    assert {each.name for each in cwd.iterdir()} == {"argv.json", "outputs.txt"}


def test_what_a_client_says_is_no_command_to_the_runner(step: Step) -> None:
    _, printed = step.run({"CLIENT": "codex"})
    lines = printed.splitlines()
    said = lines.index("::warning::a client said this")
    before = [line for line in lines[:said] if line.startswith("::stop-commands::")]
    word = before[0].removeprefix("::stop-commands::")
    assert len(word) == 32
    assert lines.index(f"::{word}::") > said
    assert lines[-1].startswith("::error title=mcpconf::exit code 0, but no ")


@pytest.mark.parametrize(
    ("stubbed", "inputs", "expected"),
    [
        ({"REPORT": GOOD}, {}, ("0", "CONFORMANT", "")),
        ({"REPORT": BAD, "EXIT": "3"}, {}, ("3", "INCONCLUSIVE", "")),
        ({"EXIT": "2"}, {}, ("2", "", "")),
        ({"EXIT": "1"}, {}, ("3", "", "")),
        ({"REPORT": GOOD, "EXIT": "1"}, {}, ("3", "CONFORMANT", "")),
        ({"REPORT": FAILED, "EXIT": "1"}, {}, ("1", "NOT_CONFORMANT", "")),
        ({}, {}, ("3", "", "")),
        ({"REPORT": BAD}, {}, ("3", "INCONCLUSIVE", "")),
        ({"EXIT": "5"}, {}, ("3", "", "")),
        ({"REPORT": "{"}, {}, ("3", "", "")),
        ({"REPORT": "{}", "EXIT": "1"}, {}, ("3", "", "")),
        ({"REPORT": GOOD, "EXIT": "1"}, {"BASELINE": "k"}, ("3", "CONFORMANT", "")),
        (
            {"REPORT": BAD, "GATE": _gate("GREEN")},
            {"BASELINE": "k.json"},
            ("0", "INCONCLUSIVE", "GREEN"),
        ),
        ({"REPORT": GOOD}, {"BASELINE": "k.json"}, ("3", "CONFORMANT", "")),
        (
            {"REPORT": GOOD, "GATE": _gate("REGRESSED")},
            {"BASELINE": "k.json"},
            ("3", "CONFORMANT", "REGRESSED"),
        ),
        (
            {"REPORT": GOOD, "GATE": _gate("REGRESSED"), "EXIT": "1"},
            {"BASELINE": "k.json"},
            ("1", "CONFORMANT", "REGRESSED"),
        ),
        ({"GATE": _gate("GREEN")}, {"BASELINE": "k.json"}, ("3", "", "GREEN")),
    ],
)
def test_the_exit_codes_zero_and_one_need_a_report_or_a_gate_that_says_so(
    step: Step,
    stubbed: dict[str, str],
    inputs: dict[str, str],
    expected: tuple[str, str, str],
) -> None:
    more = {f"STUB_{name}": value for name, value in stubbed.items()}
    outputs, _ = step.run({"CLIENT": "codex", **inputs}, **more)
    found = (outputs["exit-code"], outputs["verdict"], outputs["gate"])
    assert found == expected
    assert outputs["report"] == (REPORT.as_posix() if expected[1] else "")


def test_the_report_of_an_earlier_run_is_not_this_ones(step: Step, cwd: Path) -> None:
    write_json(cwd / REPORT, _report())
    outputs, printed = step.run({"CLIENT": "codex"})
    assert outputs == {"exit-code": "3", "verdict": "", "report": "", "gate": ""}
    assert "but no .mcpconf/report.json was written" in printed


@pytest.mark.parametrize(
    ("inputs", "named"),
    [
        ({}, ["name the client under test"]),
        ({"CLIENT": "codex", "RATCHET": "yes"}, ["ratchet: 'yes'"]),
        ({"CLIENT": "codex", "ARGUMENTS": "a 'b"}, ["arguments: cannot be split"]),
        ({"CLIENT": "codex", "ARGUMENTS": "--baseline x"}, ["--baseline is an input"]),
        (
            {"RATCHET": "1", "SHARDS": "none", "ARGUMENTS": "'"},
            ["ratchet: ", "shards: ", "arguments: "],
        ),
    ],
)
def test_inputs_that_make_no_sense_run_nothing(
    step: Step, cwd: Path, inputs: dict[str, str], named: list[str]
) -> None:
    outputs, printed = step.run(inputs)
    assert outputs == {"exit-code": "2", "verdict": "", "report": "", "gate": ""}
    errors = [line for line in printed.splitlines() if line.startswith("::error")]
    assert len(errors) == len(named)
    for each in named:
        assert each in printed
    assert not (cwd / "argv.json").exists()


def test_the_repositorys_own_table_is_used_and_inputs_win(
    step: Step, cwd: Path
) -> None:
    table = '[tool.mcpconf]\ncommand = ["my client"]\nwarnings = "warn"\n'
    (cwd / "pyproject.toml").write_text(table, "utf-8")
    step.run({"REVISIONS": "2025-11-25"})
    argv = json.loads((cwd / "argv.json").read_text("utf-8"))
    assert argv[argv.index("--") + 1 :] == [
        "--client-command='my client'",
        "--warnings=warn",
        "--revision=2025-11-25",
    ]
    step.run({"CLIENT": "codex"})
    argv = json.loads((cwd / "argv.json").read_text("utf-8"))
    assert argv[argv.index("--") + 1 :] == ["--warnings=warn", "--client=codex"]


def test_a_table_that_is_wrong_runs_nothing(step: Step, cwd: Path) -> None:
    (cwd / "pyproject.toml").write_text("[tool.mcpconf]\nclients = 1\n", "utf-8")
    outputs, _ = step.run({"CLIENT": "codex"})
    assert outputs["exit-code"] == "2"
    assert not (cwd / "argv.json").exists()


def test_a_step_without_inputs_is_read_as_nothing_given() -> None:
    assert read_inputs({}) == Inputs()
    assert Inputs().words() == ()
    with pytest.raises(UsageError):
        action.session_words(Inputs(), None)
    words = action.session_words(Inputs(shard="1/2"), Adoption(client="codex"))
    assert words == ("--client=codex", "--shard=1/2")


# -- merging -------------------------------------------------------------------------


@pytest.fixture
def called(cwd: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What was started, instead of starting it; `gate` answers GREEN."""
    calls: list[list[str]] = []

    def run(command: tuple[str, ...], **_: Any) -> subprocess.CompletedProcess[str]:
        calls.append(list(command[4:]))
        code = 0
        if action.MERGE in command:
            write_json(REPORT, _report(Verdict.INCONCLUSIVE))
            code = 3  # what the report says; the gate decides
        if action.DECIDE in command:
            write_json(GATE, {"kind": KIND, "verdict": "GREEN"})
        return subprocess.CompletedProcess(command, code, stdout="text\n")

    monkeypatch.chdir(cwd)
    monkeypatch.setattr("mcpconf.adopt.action.subprocess.run", run)
    return calls


def _merged(shards: str, **more: str) -> str:
    Path("out").touch()
    environment = {
        "GITHUB_OUTPUT": "out",
        PREFIX + "CLIENT": "codex",
        PREFIX + "MERGE": "shards",
        PREFIX + "SHARDS": shards,
        **{PREFIX + name: value for name, value in more.items()},
    }
    assert action.main(["run"], environment) == 0
    return Path("out").read_text("utf-8")


def _shards(*names: str) -> None:
    for name in names:
        write_json(Path("shards", name, "report.json"), _report())
        write_json(Path("shards", name, "runs", "x", "report.json"), _report())


def test_shards_are_merged_and_the_whole_is_gated(called: list[list[str]]) -> None:
    _shards("b", "a")
    more = {"BASELINE": "k.json", "RATCHET": "true", "FLAKY_BUDGET": "1"}
    outputs = _merged("2", **more)
    assert "exit-code=0\nverdict=INCONCLUSIVE\n" in outputs
    assert "gate=GREEN\n" in outputs
    assert called == [
        [
            "report.merge",
            str(Path("shards/a/report.json").absolute()),
            str(Path("shards/b/report.json").absolute()),
            "--out=.mcpconf/report.json",
        ],
        [
            "gate",
            "--report=.mcpconf/report.json",
            "--baseline=k.json",
            "--ratchet",
            "--flaky-budget=1",
            "--out=.mcpconf/gate.json",
        ],
    ]


def test_without_a_baseline_the_merged_report_decides(called: list[list[str]]) -> None:
    _shards("b", "a")
    assert "exit-code=3\nverdict=INCONCLUSIVE\n" in _merged("2")
    assert [words[0] for words in called] == ["report.merge"]


@pytest.mark.parametrize(("ended", "code"), [(0, 3), (1, 3), (2, 2)])
def test_shards_that_cannot_be_merged_are_no_verdict(
    called: list[list[str]], monkeypatch: pytest.MonkeyPatch, ended: int, code: int
) -> None:
    def refused(command: tuple[str, ...], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, ended)

    monkeypatch.setattr("mcpconf.adopt.action.subprocess.run", refused)
    write_json(REPORT, _report())  # of an earlier run
    _shards("b", "a")
    assert _merged("2", BASELINE="k.json").startswith(f"exit-code={code}\nverdict=\n")
    assert called == []


def test_one_shard_is_the_whole(called: list[list[str]]) -> None:
    _shards("only")
    assert "exit-code=0\nverdict=CONFORMANT\n" in _merged("1")
    assert called == []
    assert REPORT.read_bytes() == Path("shards/only/report.json").read_bytes()


def test_one_shard_of_several_is_not_the_whole(called: list[list[str]]) -> None:
    """`shards` was left at 1: what is there goes to the merge, which refuses it."""
    value = _report()
    value["selection"]["shard"] = {"index": 1, "of": 2}
    write_json(Path("shards", "only", "report.json"), value)
    _merged("1")
    assert [words[0] for words in called] == ["report.merge"]


@pytest.mark.parametrize(("names", "shards"), [(("a",), "2"), ((), "1"), ("abc", "2")])
def test_a_shard_that_is_missing_is_no_verdict(
    called: list[list[str]], names: tuple[str, ...], shards: str
) -> None:
    _shards(*names)
    assert _merged(shards).startswith("exit-code=3\nverdict=\n")
    assert called == []


def test_a_shard_that_is_no_report_is_refused(called: list[list[str]]) -> None:
    write_json(Path("shards", "a", "report.json"), {})
    assert _merged("1").startswith("exit-code=2\nverdict=\n")
    assert called == []


# -- the summary -----------------------------------------------------------------------


def _summarised(**environment: str) -> tuple[int, str]:
    Path("summary").touch()
    code = action.main(["summarise"], {"GITHUB_STEP_SUMMARY": "summary", **environment})
    return code, Path("summary").read_text("utf-8")


def test_the_summary_is_the_reports_markdown(called: list[list[str]]) -> None:
    found = _summarised(
        MCPCONF_REPORT="r.json", MCPCONF_EXIT_CODE="0", MCPCONF_GATE="GREEN"
    )
    assert found == (0, "text\n")
    gate = "--gate=.mcpconf/gate.json"
    assert called == [
        ["report.markdown", "r.json", gate],
        ["report.annotations", "r.json", gate],
    ]


@pytest.mark.parametrize("code", ["2", ""])
def test_a_run_without_a_report_says_so(called: list[list[str]], code: str) -> None:
    step, text = _summarised(MCPCONF_EXIT_CODE=code)
    assert step == 0
    assert f"no report, exit code {code or 3}" in text
    assert called == []


def test_a_summary_that_cannot_be_made_is_no_success(
    called: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(command: tuple[str, ...], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, stdout="")

    monkeypatch.setattr("mcpconf.adopt.action.subprocess.run", broken)
    step, _ = _summarised(MCPCONF_REPORT="r.json", MCPCONF_EXIT_CODE="0")
    assert step == 3
    assert called == []


def test_every_task_the_action_calls_takes_what_it_is_called_with() -> None:
    """Read from the tasks, so that renaming an option there is noticed here."""
    wanted = {
        action.MARKDOWN: {"report", "gate"},
        action.ANNOTATIONS: {"report", "gate"},
        action.MERGE: {"report", "out"},
        action.DECIDE: {"report", "baseline", "ratchet", "flaky_budget", "out"},
    }
    for name, options in wanted.items():
        task: Any = namespace[name]
        assert options <= set(inspect.signature(task.body).parameters), name


# -- the outcome -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "where"),
    [
        ("[]", "expected an object"),
        ("{}", "kind: is missing"),
        (_gate("GREEN", "another"), f"kind: expected {KIND}"),
        (_gate("green"), "verdict: unknown word 'green'"),
    ],
)
def test_a_gate_that_is_none_is_refused(
    cwd: Path, monkeypatch: pytest.MonkeyPatch, content: str, where: str
) -> None:
    monkeypatch.chdir(cwd)
    watch = Watch()
    GATE.parent.mkdir()
    GATE.write_text(content, "utf-8")
    outcome = watch.outcome(1, gated=True)
    assert (outcome.exit_code, outcome.gate) == (ExitCode.HARNESS, None)
    assert outcome.problem is not None
    assert where in outcome.problem


def test_outputs_are_known_words_alone(
    cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cwd)
    watch = Watch()
    write_json(REPORT, _report())
    write_json(GATE, {"kind": KIND, "verdict": "INCOMPLETE"})
    outcome = watch.outcome(3, gated=True)
    assert outcome.exit_code is ExitCode.HARNESS
    assert (outcome.verdict, outcome.gate) == (
        Verdict.CONFORMANT,
        GateVerdict.INCOMPLETE,
    )
    assert outcome.outputs() == (
        "exit-code=3\nverdict=CONFORMANT\nreport=.mcpconf/report.json\ngate=INCOMPLETE\n"
    )


def test_the_files_are_where_a_run_puts_them() -> None:
    assert Path(setup.OUTPUT, run.REPORT) == REPORT
    assert Path(setup.OUTPUT, gating.GATE) == GATE
