"""The invoke tasks: documented, listed, and one line where they refuse."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from invoke.program import Program
from make import by_key, make_case, make_catalogue, make_end, make_evidence, make_record

from mcpconf import report
from mcpconf.judge import judge
from mcpconf.record import Policy
from mcpconf.storage import json_bytes, write_json
from mcpconf.tasks import client as client_tasks
from mcpconf.tasks import namespace
from mcpconf.tasks import report as report_tasks
from mcpconf.tasks import suite as suite_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from invoke.collection import Collection

    from mcpconf.report_assembly import Report

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

import tasks  # noqa: E402 (lies beside the package, not in it)

WANTED = {
    "client": {"list", "show"},
    "baseline": {"diff", "explain", "extract", "migrate"},
    "report": {"html", "junit", "markdown", "merge", "rejudge", "table"},
    "supplemental": {"document", "list"},
    "suite": {"catalogue", "drift", "install", "scenarios"},
}
#: What writes into this checkout, so that no other repository has it.
OURS = {
    "suite.catalogue",
    "supplemental.document",
    "tasks-extension.document",
    "tasks-extension.kills",
}


def _tasks(namespace: Collection) -> Iterator[tuple[str, Any]]:
    for name in namespace.tasks:
        yield name, namespace.tasks[name]
    for name, collection in namespace.collections.items():
        for task_name, task in collection.tasks.items():
            yield f"{name}.{task_name}", task


def _invoke(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "invoke", "--search-root", str(ROOT), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_every_task_we_promise_exists() -> None:
    for name, members in WANTED.items():
        assert members <= set(tasks.namespace.collections[name].tasks), name
    assert "gate" in tasks.namespace.tasks


@pytest.mark.parametrize(("name", "task"), list(_tasks(tasks.namespace)))
def test_every_task_says_what_it_does_and_what_each_option_is(
    name: str,
    task: Any,
) -> None:
    assert task.__doc__, name
    assert task.__doc__.strip().splitlines()[0].endswith("."), "the line of inv --list"
    parameters = list(inspect.signature(task.body).parameters.values())[1:]
    described = {each.replace("-", "_") for each in task.help}
    # What collects further values of an option is no option of its own.
    named = {each.name for each in parameters if each.kind is not each.VAR_KEYWORD}
    assert described == named
    assert task.auto_shortflags is False


def test_other_repositories_have_all_but_what_writes_into_this_one() -> None:
    """Ours adds to a collection of its own: theirs stays as it was."""
    theirs = {name for name, _ in _tasks(namespace)}
    ours = {name for name, _ in _tasks(tasks.namespace)}
    assert ours - theirs == OURS
    assert theirs < ours


def test_the_tasks_run_where_there_is_no_tasks_file(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mcpconf.tasks", "report.table", "absent.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("mcpconf: error: absent.json: cannot be read")


def test_the_list_shows_every_task(tmp_path: Path) -> None:
    listed = _invoke("--list", cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    for name, members in WANTED.items():
        for member in members:
            assert f"{name}.{member} " in listed.stdout


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("suite.scenarios", "--revision", "2024-11-05"), "--revision 2024-11-05"),
        (("suite.drift", "--old", "absent.json", "--new", "x.json"), "absent.json"),
        (("suite.catalogue", "--jobs", "0"), "--jobs 0"),
        (("report.table", "absent.json"), "absent.json"),
        (("report.rejudge", "absent"), "absent/run.json"),
        (("client.show", "--client", "nosuch"), "--client nosuch"),
        (("client.show", "--binary", "absent"), "absent: no such file"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_a_task_refuses_bad_input_with_one_line_and_exit_code_two(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    named: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as end:
        Program(namespace=tasks.namespace).run(["inv", *arguments])
    printed = capsys.readouterr()
    assert end.value.code == 2
    assert printed.err.startswith("mcpconf: error: ")
    assert named in printed.err
    assert printed.err.count("\n") == 1
    assert printed.out == ""
    assert list(tmp_path.iterdir()) == []


def test_a_refusal_reaches_the_shell(tmp_path: Path) -> None:
    """The real program once: exit code and standard error are the process's own."""
    done = _invoke("report.table", "absent.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("mcpconf: error: absent.json: cannot be read")


def _report() -> Report:
    case, catalogue = make_case(), make_catalogue()
    results = by_key(judge(case, make_evidence(case), Policy()))
    record = make_record(catalogue, (case,))
    return report.build(record, (case,), results, catalogue, make_end())


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        (None, (0, "no report was stored")),
        ("the same", (0, "the stored report, byte for byte")),
        ("another", (3, "NOT the stored report")),
    ],
)
def test_another_report_than_the_stored_one_is_no_success(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stored: str | None,
    expected: tuple[int, str],
) -> None:
    code, said = expected
    derived = _report()
    monkeypatch.setattr("mcpconf.rejudge.rejudge", lambda *_: derived)
    if stored is not None:
        write_json(tmp_path / "report.json", derived.value)
    if stored == "another":
        with (tmp_path / "report.json").open("a") as file:
            file.write(" ")
    with pytest.raises(SystemExit) as end:
        Program(namespace=tasks.namespace).run(["inv", "report.rejudge", str(tmp_path)])
    assert end.value.code == code
    printed = capsys.readouterr()
    assert printed.err == f"CONFORMANT: {said}\n"
    assert printed.out == json_bytes(derived.value).decode()


def test_a_stored_report_is_printed_as_tables(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The good case, without which the refusals above would prove nothing."""
    write_json(tmp_path / "report.json", _report().value)
    report_tasks.report_table.body(None, str(tmp_path / "report.json"), matrix=True)
    assert "MCP conformance: CONFORMANT" in capsys.readouterr().out


def test_a_reader_who_stops_reading_is_no_error(tmp_path: Path) -> None:
    """As in ``invoke report.table R | head``, where head has left."""
    write_json(tmp_path / "report.json", _report().value)
    words = ["-m", "invoke", "--search-root", str(ROOT), "report.table", "report.json"]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_clients_and_scenarios_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    client_tasks.client_list.body(None)
    suite_tasks.suite_scenarios.body(None, revision="2025-06-18")
    printed = capsys.readouterr().out
    assert "codex" in printed
    assert "auth/token-endpoint-auth-basic" in printed
