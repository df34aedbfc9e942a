"""
Another repository, made here, that judges its own client: the real nox and a real run.

Its client is ours under another name, or a copy of it that breaks one thing.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from mcpconf.adopt.inputs import PREFIX

pytestmark = pytest.mark.process

CLIENTS = Path(__file__).parents[2] / "fixtures" / "clients"
DOCUMENT = (Path(__file__).parents[2] / "docs" / "adopt.md").read_text("utf-8")
#: As the document shows it. Its dependencies are there, so nox looks no further.
NOXFILE = re.sub(
    r"mcpconf @ [^\"]+", "mcpconf", DOCUMENT.split("```python\n")[1].split("```")[0]
)
TASKS = "from mcpconf.tasks import namespace\n"
BASICS = ("--only", "supplemental", "--supplemental-scenario", "basics")
#: The folder's name holds what quoting is for.
FOLDER = "my client's $(home)"


class Repository:
    """A repository with a client, a noxfile, tasks and a table."""

    def __init__(self, root: Path, client: str = "good") -> None:
        self.root = root
        folder = root / FOLDER
        shutil.copytree(CLIENTS / "reference", folder / "reference")
        shutil.copy(CLIENTS / f"{client}.py", folder / "client.py")
        (root / "noxfile.py").write_text(NOXFILE, "utf-8")
        (root / "tasks.py").write_text(TASKS, "utf-8")
        self.table(f"command = {json.dumps([sys.executable, f'{FOLDER}/client.py'])}")

    def table(self, *lines: str) -> None:
        text = "\n".join(("[tool.mcpconf]", *lines, ""))
        (self.root / "pyproject.toml").write_text(text, "utf-8")

    def start(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Start a module with the interpreter that has nox and mcpconf."""
        return subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.root,
            env={**os.environ, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def nox(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.start("nox", *words)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "theirs")


def test_a_repository_of_ten_lines_judges_its_client(repository: Repository) -> None:
    done = repository.nox("-s", "conformance-2025-11-25", "--", *BASICS)
    assert done.returncode == 0, done.stderr
    assert "MCP conformance: CONFORMANT" in done.stdout
    report = json.loads((repository.root / ".mcpconf/report.json").read_text("utf-8"))
    assert report["verdict"] == "CONFORMANT"
    assert {case["mode"] for case in report["cases"]} == {"2025-11-25"}
    assert report["summary"]["total"] == 2

    table = repository.start("invoke", "report.table", ".mcpconf/report.json")
    assert table.returncode == 0, table.stderr
    assert "MCP conformance: CONFORMANT" in table.stdout
    assert not list(repository.root.glob(".nox/*")), "nothing is installed again"


def test_a_client_that_breaks_one_thing_fails(tmp_path: Path) -> None:
    """Named in the noxfile this time, and there is no table."""
    theirs = Repository(tmp_path, "hides_tool_errors")
    (tmp_path / "pyproject.toml").unlink()
    argument = f"sessions(command=({sys.executable!r}, {FOLDER + '/client.py'!r}))"
    noxfile = NOXFILE.replace("sessions()", argument)
    (tmp_path / "noxfile.py").write_text(noxfile, "utf-8")
    done = theirs.nox("-s", "conformance-2025-11-25", "--", *BASICS)
    assert done.returncode == 1, done.stderr
    assert "MCP conformance: NOT_CONFORMANT" in done.stdout


def _wheel(folder: Path) -> Path:
    """A client in Python, as its own build would give it."""
    path = folder / "theirs-1.0-py3-none-any.whl"
    files = {
        f"reference/{each.name}": each.read_text("utf-8")
        for each in (CLIENTS / "reference").glob("*.py")
    }
    files["theirs.py"] = (CLIENTS / "good.py").read_text("utf-8")
    info = "theirs-1.0.dist-info"
    files[f"{info}/METADATA"] = "Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n"
    files[f"{info}/WHEEL"] = (
        "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = "".join(f"{name},,\n" for name in (*files, f"{info}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**files, f"{info}/RECORD": record}.items():
            archive.writestr(name, content)
    return path


def test_a_client_in_python_is_installed_into_the_session(tmp_path: Path) -> None:
    """Its ``python`` is the session's: no other has a module `theirs`."""
    theirs = Repository(tmp_path)
    theirs.table('command = ["python", "-m", "theirs"]')
    install = ("--no-index", _wheel(tmp_path).name)
    noxfile = NOXFILE.replace("sessions()", f"sessions(install={install!r})")
    (tmp_path / "noxfile.py").write_text(noxfile, "utf-8")
    done = theirs.nox("-s", "conformance-2025-11-25", "--", *BASICS)
    assert done.returncode == 0, done.stderr + done.stdout
    found = [each.name for each in (tmp_path / ".nox").iterdir() if each.is_dir()]
    assert "conformance-2025-11-25" in found


def test_the_sessions_and_tasks_have_the_same_names(repository: Repository) -> None:
    revisions = ("2025-06-18", "2025-11-25", "2026-07-28")
    names = [*(f"conformance-{each}" for each in revisions), "conformance"]
    listed = repository.nox("--list-sessions", "--json", "-s", *names)
    assert listed.returncode == 0, listed.stderr
    found = {each["session"]: each for each in json.loads(listed.stdout)}
    assert list(found) == names
    assert len({each["description"] for each in found.values()}) == len(found)
    tagged = repository.nox("--list-sessions", "--json", "-t", "conformance")
    assert len(json.loads(tagged.stdout)) == len(revisions)

    tasks = repository.start("invoke", "--list")
    assert tasks.returncode == 0, tasks.stderr
    for name in ("report.table", "report.rejudge", "suite.scenarios", "client.list"):
        assert f"{name} " in tasks.stdout
    for name in ("suite.catalogue", "supplemental.document"):
        assert name not in tasks.stdout, "those write into our own checkout"


def test_a_table_that_is_wrong_ends_with_two_and_one_line_a_fault(
    repository: Repository,
) -> None:
    repository.table('client = "nosuch"', "command = []", 'baseline = "absent.json"')
    done = repository.nox("-s", "conformance")
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("mcpconf: error: ") for line in lines)
    assert not (repository.root / ".mcpconf").exists()


def test_a_repository_that_names_no_client_is_refused(repository: Repository) -> None:
    (repository.root / "pyproject.toml").write_text("[project]\nname='x'\n", "utf-8")
    done = repository.nox("--list-sessions")
    assert done.returncode == 2
    assert "there is no [tool.mcpconf]" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_exit_codes_two_and_three_come_through_nox(repository: Repository) -> None:
    """Two: an option that is refused. Three: a program that takes part in nothing."""
    refused = repository.nox("-s", "conformance", "--", "--jobs", "0")
    assert refused.returncode == 2
    assert "mcpconf: error: --jobs 0" in refused.stderr + refused.stdout

    command = json.dumps([sys.executable, f"{FOLDER}/client.py"])
    repository.table(f"command = {command}", 'baseline = "known.json"')
    (repository.root / "known.json").write_text("[]", "utf-8")
    malformed = repository.nox("-s", "conformance")
    assert malformed.returncode == 2, "the baseline of the table is the run's"
    assert "known.json" in malformed.stdout + malformed.stderr

    repository.table(f"command = {command}")
    (repository.root / FOLDER / "client.py").write_text("raise SystemExit(69)", "utf-8")
    nothing = repository.nox("-s", "conformance-2025-11-25", "--", *BASICS)
    assert nothing.returncode == 3


def test_what_lies_in_the_repository_is_none_of_our_modules(
    repository: Repository,
) -> None:
    for name in ("mcpconf", "requests", "tomllib"):
        (repository.root / f"{name}.py").write_text("raise SystemExit('theirs')")
    nox = Path(sys.executable).with_name("nox")
    done = subprocess.run(
        [nox, "-s", "conformance", "--", "--jobs", "0"],
        cwd=repository.root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "mcpconf: error: --jobs 0" in done.stderr + done.stdout


def test_the_program_of_the_action_runs_it_for_real(
    repository: Repository, tmp_path: Path
) -> None:
    """From inputs to outputs, with the noxfile we ship and no stand-in."""
    outputs = tmp_path / "outputs"
    variables = {
        "GITHUB_OUTPUT": str(outputs),
        PREFIX + "REVISIONS": "2025-11-25",
        PREFIX + "ARGUMENTS": " ".join(BASICS),
    }
    done = repository.start("mcpconf.adopt.action", "run", **variables)
    assert done.returncode == 0, done.stderr
    assert outputs.read_text("utf-8") == (
        "exit-code=0\nverdict=CONFORMANT\nreport=.mcpconf/report.json\ngate=\n"
    ), done.stdout + done.stderr
    assert (repository.root / ".mcpconf" / "report.json").is_file()
