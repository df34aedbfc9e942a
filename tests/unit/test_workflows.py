"""
The workflows and the action, as they are parsed: what no run here would show.

Every ``run`` script is free of ``${{ }}``; whatever comes from outside reaches it as a
variable. The scripts of the action are executed, with everything but their installing.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from mcpconf.adopt.inputs import PREFIX
from mcpconf.revision import KNOWN

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent.parent
ACTION = ROOT / "action.yml"
REUSABLE = ROOT / ".github" / "workflows" / "conformance.yml"
OURS = ROOT / ".github" / "workflows" / "ci.yml"
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.y*ml"))
DOCUMENT = ROOT / "docs" / "ci.md"
#: Where the action is checked out: `conformance.yml` cannot know its own place.
CHECKED_OUT = "./.mcpconf-action"
BASH = shutil.which("bash") or "bash"
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)


def _load(path: Path) -> dict[Any, Any]:
    loaded: dict[Any, Any] = yaml.safe_load(path.read_text("utf-8"))
    return loaded


def _jobs(path: Path) -> dict[str, dict[str, Any]]:
    jobs: dict[str, dict[str, Any]] = _load(path)["jobs"]
    return jobs


def _steps(path: Path) -> Iterator[dict[str, Any]]:
    if path == ACTION:
        yield from _load(path)["runs"]["steps"]
        return
    for job in _jobs(path).values():
        yield from job.get("steps", [])


def _references(path: Path) -> Iterator[str]:
    for step in _steps(path):
        if "uses" in step:
            yield step["uses"]
    if path != ACTION:
        yield from (job["uses"] for job in _jobs(path).values() if "uses" in job)


def _called(path: Path) -> dict[str, Any]:
    """Inputs of the action or of the reusable workflow."""
    loaded = _load(path)
    # YAML 1.1 reads the key `on` as true.
    inputs: dict[str, Any] = (
        loaded["inputs"] if path == ACTION else loaded[True]["workflow_call"]["inputs"]
    )
    return inputs


ALL = [ACTION, *WORKFLOWS]
each_file = pytest.mark.parametrize("path", ALL, ids=lambda path: path.name)


def test_the_workflows_are_these() -> None:
    """Or a new one is looked at by none of the tests below."""
    assert {each.name for each in WORKFLOWS} == {"ci.yml", "conformance.yml"}


@each_file
def test_no_script_holds_an_expression(path: Path) -> None:
    scripts = [step["run"] for step in _steps(path) if "run" in step]
    assert scripts
    for script in scripts:
        assert "${{" not in script
        checked = subprocess.run([BASH, "-n"], input=script, text=True, check=False)
        assert checked.returncode == 0, script


@each_file
def test_no_script_lets_the_shell_split_or_expand_a_variable(path: Path) -> None:
    """Each ``$NAME`` stands in double quotes, or where bash splits nothing."""
    for step in _steps(path):
        script = re.sub(r"\[\[.*?\]\]|\(\(.*?\)\)", "", step.get("run", ""))
        plain = re.sub(r'"(?:\\.|\$\([^)]*\)|[^"\\])*"', "", script)
        plain = re.sub(r"\w+=\$\(", "", plain)
        assert "$" not in plain, plain


@each_file
def test_every_foreign_action_is_referenced_by_a_version(path: Path) -> None:
    for reference in _references(path):
        if reference.startswith("./"):
            assert reference in {CHECKED_OUT, "./.github/workflows/conformance.yml"}
        else:
            assert re.fullmatch(r"actions/[\w-]+@v\d+(\.\d+)*", reference), reference


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_may_read_the_repository_and_nothing_else(path: Path) -> None:
    assert _load(path)["permissions"] == {"contents": "read"}
    for job in _jobs(path).values():
        assert "permissions" not in job
        assert "secrets" not in job
    assert "secrets." not in path.read_text("utf-8")
    assert "pull_request_target" not in path.read_text("utf-8")


@each_file
def test_what_was_found_is_uploaded_however_it_ended(path: Path) -> None:
    for step in _steps(path):
        if step.get("uses", "").startswith("actions/upload-artifact@"):
            assert step["if"] == "always()"
            assert step["with"]["path"] == ".mcpconf/"
            assert step["with"]["include-hidden-files"] is True
    if path == ACTION:
        ids = [step["id"] for step in _steps(path)]
        assert ids[-2:] == ["upload", "verdict"]


@each_file
def test_a_checkout_leaves_no_token_behind(path: Path) -> None:
    for step in _steps(path):
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


@each_file
def test_every_expression_reads_something_that_is_there(path: Path) -> None:
    text = path.read_text("utf-8")
    names = re.findall(r"\binputs\.([\w-]+)", text)
    declared = set() if path == OURS else set(_called(path))
    assert set(names) == declared, "an input nobody reads, or one nobody declares"
    ids = {step["id"] for step in _steps(path) if "id" in step}
    assert set(re.findall(r"\bsteps\.([\w-]+)\.", text)) <= ids
    if path == ACTION:
        return
    jobs = _jobs(path)
    for name, output in re.findall(
        r"\b(?:needs|jobs)\.([\w-]+)\.outputs\.([\w-]+)", text
    ):
        assert output in jobs[name]["outputs"]
    for job in jobs.values():
        needed = job.get("needs", [])
        needed = [needed] if isinstance(needed, str) else needed
        used = set(re.findall(r"\bneeds\.([\w-]+)\.", str(job)))
        assert used <= set(needed)


def test_whoever_calls_gives_only_inputs_that_exist() -> None:
    given = {CHECKED_OUT: _called(ACTION)}
    for step in _steps(REUSABLE):
        if step.get("uses") == CHECKED_OUT:
            assert set(step["with"]) <= set(given[CHECKED_OUT])
    for job in _jobs(OURS).values():
        if job.get("uses") == "./.github/workflows/conformance.yml":
            assert set(job["with"]) <= set(_called(REUSABLE))


def test_the_reusable_workflow_takes_what_the_action_takes() -> None:
    of_the_action = set(_called(ACTION)) - {"shard", "merge"}
    own = {"prepare", "mcpconf-repository", "mcpconf-ref"}
    assert set(_called(REUSABLE)) == of_the_action | own


def test_a_job_waits_no_longer_than_it_must() -> None:
    for path in WORKFLOWS:
        for name, job in _jobs(path).items():
            assert "uses" in job or job["timeout-minutes"] <= 40, name


# -- ours ----------------------------------------------------------------------------


def test_every_session_of_ours_is_run() -> None:
    """By the matrix, which is nox's own list, or against a baseline."""
    script = next(step["run"] for step in _steps(OURS) if step.get("id") == "list")
    assert "--list-sessions --json --tags ci" in script
    assert 'startswith("conformance")' in script
    assert "continue-on-error" not in OURS.read_text("utf-8")
    (job,) = [job for job in _jobs(OURS).values() if "uses" in job]
    assert "revisions" not in job["with"], f"all of {[each.value for each in KNOWN]}"
    assert job["with"]["ratchet"] is True
    rows = job["strategy"]["matrix"]["include"]
    judged = [(row["name"], row["client"], row["arguments"]) for row in rows]
    assert judged == [
        ("codex", "codex", ""),
        ("codex-strict", "codex", "--require-automatic-auth"),
        ("python-sdk", "python-sdk", ""),
    ]
    assert job["with"]["baseline"] == "baselines/${{ matrix.name }}.json"


def _plan(tmp_path: Path, shards: str) -> tuple[int, str]:
    (step,) = _jobs(REUSABLE)["plan"]["steps"]
    output = tmp_path / "output"
    output.touch()
    done = subprocess.run(
        [BASH, "-e", "-o", "pipefail", "-c", step["run"]],
        env={"PATH": "/usr/bin:/bin", "GITHUB_OUTPUT": str(output), "SHARDS": shards},
        stdout=subprocess.DEVNULL,
        timeout=30,
        check=False,
    )
    return done.returncode, output.read_text("utf-8")


@pytest.mark.parametrize(
    ("shards", "planned"),
    [
        ("1", '[""]'),
        ("2", '["1/2","2/2"]'),
        ("12", "[" + ",".join(f'"{each}/12"' for each in range(1, 13)) + "]"),
    ],
)
def test_the_shards_are_planned(tmp_path: Path, shards: str, planned: str) -> None:
    assert _plan(tmp_path, shards) == (0, f"shards={planned}\n")


@pytest.mark.parametrize("shards", ["0", "", "-1", "1.5", "100", "2; id", "$(id)"])
def test_a_number_of_shards_that_is_none_is_refused(
    tmp_path: Path, shards: str
) -> None:
    assert _plan(tmp_path, shards) == (2, "")


# -- the action, executed --------------------------------------------------------------

STUB = """
import os, pathlib, sys
pathlib.Path("argv.txt").write_text("\\n".join(sys.argv[1:]))
sys.exit(int(os.environ["STUB_EXIT"]))
"""


def _execute(
    step: dict[str, Any], values: dict[str, str], cwd: Path, base: dict[str, str]
) -> int:
    """Run one step as the runner would: its expressions go into its environment."""

    def value(match: re.Match[str]) -> str:
        return values.get(match[1].strip(), "")

    variables = {
        name: EXPRESSION.sub(value, text) for name, text in step["env"].items()
    }
    return subprocess.run(
        [BASH, "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=cwd,
        env={**base, **variables},
        stdout=subprocess.DEVNULL,
        timeout=60,
        check=False,
    ).returncode


@pytest.mark.parametrize(("ended", "expected"), [(0, 3), (1, 3), (2, 2), (3, 3)])
def test_the_action_ends_with_the_exit_code_of_the_run(
    tmp_path: Path, ended: int, expected: int
) -> None:
    """Its scripts, in order; 0 and 1 without a report are 3."""
    stub = tmp_path / "stub" / "nox"
    stub.mkdir(parents=True)
    (stub / "__init__.py").touch()
    (stub / "__main__.py").write_text(STUB, "utf-8")
    files = {name: tmp_path / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    base = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(stub.parent),
        "STUB_EXIT": str(ended),
        **{name: str(path) for name, path in files.items()},
    }
    command = "my client 'a b' $(touch pwned)\n"
    values = {
        "steps.install.outputs.python": sys.executable,
        "inputs.command": command,
        "inputs.ratchet": "false",
    }
    steps = {step["id"]: step for step in _steps(ACTION)}
    assert _execute(steps["run"], values, tmp_path, base) == 0
    words = (tmp_path / "argv.txt").read_text("utf-8").split("\n--\n")[1]
    assert words == f"--client-command={command}"
    for line in files["GITHUB_OUTPUT"].read_text("utf-8").splitlines():
        name, _, text = line.partition("=")
        values[f"steps.run.outputs.{name}"] = text
    assert _execute(steps["summary"], values, tmp_path, base) == 0
    assert "no report" in files["GITHUB_STEP_SUMMARY"].read_text("utf-8")
    assert _execute(steps["verdict"], values, tmp_path, base) == expected
    assert not (tmp_path / "pwned").exists()


def test_an_action_that_did_not_come_to_run_has_no_verdict(tmp_path: Path) -> None:
    steps = {step["id"]: step for step in _steps(ACTION)}
    assert _execute(steps["verdict"], {}, tmp_path, {"PATH": "/usr/bin:/bin"}) == 3


def test_every_input_of_the_action_is_handed_to_the_program() -> None:
    """But for those of the steps around it."""
    (run,) = [step for step in _steps(ACTION) if step["id"] == "run"]
    handed = {
        name.removeprefix(PREFIX).lower().replace("_", "-"): text
        for name, text in run["env"].items()
        if name.startswith(PREFIX)
    }
    around = {"python-version", "mcpconf", "artifact"}
    assert set(handed) == set(_called(ACTION)) - around
    for name, text in handed.items():
        assert text == f"${{{{ inputs.{name} }}}}"


# -- the document ----------------------------------------------------------------------


def test_the_document_lists_every_input_and_output() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \|", DOCUMENT.read_text("utf-8"), re.MULTILINE)
    wanted = {*_called(ACTION), *_called(REUSABLE), *_load(ACTION)["outputs"]}
    assert sorted(rows) == sorted(wanted)


def test_what_the_document_shows_can_be_copied() -> None:
    """Its workflows parse, give only inputs there are, and ask for no more rights."""
    blocks = re.findall(r"```yaml\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    inputs = {
        "OWNER/mcpconf": _called(ACTION),
        "OWNER/mcpconf/.github/workflows/conformance.yml": _called(REUSABLE),
    }
    used = []
    for block in blocks:
        workflow = yaml.safe_load(block)
        assert workflow["permissions"] == {"contents": "read"}
        (job,) = workflow["jobs"].values()
        for each in (job, *job.get("steps", [])):
            name, _, version = each.get("uses", "").partition("@")
            if name in inputs:
                assert version == "v0.1.0"
                assert set(each["with"]) <= set(inputs[name])
                used.append(name)
    assert used == list(inputs)
