"""
Runs against servers, from the command line to the exit code.

The good server is our own fixture, started as any other is. What dies, changes or is no
server at all is told by name, and passes nothing.
"""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcpconf import cli, gating, run
from mcpconf.errors import ExitCode
from mcpconf.fixture_server.inprocess import serving
from mcpconf.fixture_server.options import Options
from mcpconf.rejudge import rejudge
from mcpconf.render.html.load import load_transcripts
from mcpconf.report_schema import load_report
from mcpconf.revision import Revision
from mcpconf.server.identity import ServerIdentity
from mcpconf.storage import json_bytes
from mcpconf.tasks import baseline
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = [pytest.mark.process, pytest.mark.suite]

SERVERS = Path(__file__).parent / "servers"
OUTPUT = Path(".mcpconf")
NEW = Revision.V2026_07_28
#: One scenario of the suite that calls a tool, one that does not, one of ours.
PART = (
    *("--official-scenario", "tools-call-simple-text"),
    *("--official-scenario", "tools-list"),
    *("--supplemental-scenario", "tasks/discovery"),
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def serve(*words: str) -> int:
    return cli.main(["server", "--revision", NEW.value, *words])


def command(script: str, *words: str) -> str:
    return shlex.join((sys.executable, str(SERVERS / script), *words, "{port}"))


@contextmanager
def fixture() -> Iterator[str]:
    options = Options(revision=NEW, transport=Transport.HTTP, everything=True)
    with serving(options) as running:
        yield running.url


def report() -> dict[str, Any]:
    return load_report(OUTPUT / run.REPORT)


def outcomes(value: dict[str, Any]) -> dict[str, str]:
    return {
        each["scenario"]: each["outcome"]
        for case in value["cases"]
        for each in case["scenarios"]
    }


def folder() -> Path:
    return OUTPUT / run.RUNS / str(report()["run"]["id"])


def test_the_fixture_needs_no_argument_and_its_report_is_derived_again() -> None:
    code = serve(*PART)

    value = report()
    assert (code, value["verdict"], value["role"]) == (0, "CONFORMANT", "server")
    assert set(outcomes(value).values()) == {"passed"}
    assert value["client"]["source"] == "fixture"
    assert value["client"]["server"]["name"] == value["client"]["name"]
    assert json_bytes(rejudge(folder()).value) == (folder() / run.REPORT).read_bytes()
    assert not value["closing"]["faults"]
    assert not value["closing"]["temporary"]


def test_which_process_served_a_case_is_on_record() -> None:
    serve(*PART)

    served = [
        json.loads(path.read_text("utf-8"))["server"]
        for path in sorted(folder().rglob("launch.json"))
    ]
    assert len(served) == 3
    assert all(isinstance(each["pid"], int) for each in served)
    assert all(each["url"].startswith("http://127.0.0.1:") for each in served)


def test_a_page_shows_what_was_said_to_the_server() -> None:
    serve(*PART)

    transcripts = load_transcripts(report(), OUTPUT)
    assert len(transcripts) == 3
    for each in transcripts.values():
        assert (each.missing, each.faults) == (None, ())
        assert any(moment.kind == "request" for moment in each.moments)
        assert any(moment.kind == "result" for moment in each.moments)


def test_a_server_that_runs_is_tested_at_its_url() -> None:
    with fixture() as url:
        code = serve("--url", url, *PART)

    value = report()
    assert code == ExitCode.CONFORMANT
    assert (value["client"]["binary"], value["client"]["sha256"]) == (url, None)
    again = value["cases"][0]["scenarios"][0]["reproduce"]
    assert again.startswith(f"nox -s tasks-extension -- --url {url} ")


def test_a_server_that_dies_has_crashed_and_the_next_case_has_another() -> None:
    killed = command("dies_of_a_tool.py", "test_simple_text")
    code = serve("--server-command", killed, "--jobs", "1", *PART)

    assert code == ExitCode.NOT_CONFORMANT
    assert outcomes(report()) == {
        "tools-call-simple-text": "crashed",
        "tools-list": "passed",
        "tasks/discovery": "passed",
    }
    (crashed,) = (
        each
        for case in report()["cases"]
        for each in case["scenarios"]
        if each["outcome"] == "crashed"
    )
    assert crashed["attribution"] == "subject"
    assert "exited with 3" in crashed["reason"]
    assert "cannot go on after test_simple_text" in crashed["client_stderr"]


def test_a_server_that_dies_in_a_check_of_ours_has_crashed() -> None:
    killed = command("dies_of_a_tool.py", "greet")
    serve("--server-command", killed, "--supplemental-scenario", "tasks/discovery")

    assert outcomes(report()) == {"tasks/discovery": "crashed"}
    assert not any(
        check["status"] == "PASS" and check["source"] == "supplemental"
        for case in report()["cases"]
        for check in case["checks"]
    )


def test_a_server_that_became_another_has_no_verdict(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def another(*_: object, **__: object) -> ServerIdentity:
        return ServerIdentity(
            name="stale", version="0", title=None, revisions=(), extensions=()
        )

    monkeypatch.setattr("mcpconf.server.hosts.identify", another)
    with fixture() as url:
        code = serve("--url", url, "--official-scenario", "tools-list")

    assert code == ExitCode.HARNESS
    (fault,) = report()["closing"]["faults"]
    assert "another server answers: stale 0" in fault


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The baseline of a whole run of the suite's scenarios."""
    place = tmp_path_factory.mktemp("known")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        serve("--only", "official")
        # What the task does, without what it prints.
        baseline._extracted(str(OUTPUT / run.REPORT), Path("b.json"), 2)
    return place / "b.json"


def test_a_baseline_of_a_server_gates_it_and_no_client(known: Path) -> None:
    part = ("--official-scenario", "tools-list")
    code = serve("--baseline", str(known), *part)
    answer = json.loads((OUTPUT / gating.GATE).read_text("utf-8"))
    assert (code, answer["verdict"]) == (ExitCode.CONFORMANT, "GREEN")
    assert json.loads(known.read_text("utf-8"))["role"] == "server"

    client = ("run", "--client", "null", "--revision", NEW.value, "--only", "official")
    assert cli.main([*client, "--baseline", str(known)]) == ExitCode.BAD_INPUT


def test_a_server_that_got_worse_is_red(known: Path) -> None:
    worse = command("dies_of_a_tool.py", "test_simple_text")
    words = ("--server-command", worse, "--baseline", str(known))
    code = serve(*words, "--official-scenario", "tools-call-simple-text")
    assert code == ExitCode.NOT_CONFORMANT


REFUSED: Sequence[tuple[tuple[str, ...], str]] = (
    (("--url", "http://127.0.0.1:9/mcp"), "127.0.0.1:9"),
    (("--url", "ftp://127.0.0.1/mcp"), "http://"),
    (("--url", "nonsense"), "http://"),
    (("--url", "http://u:p@127.0.0.1/mcp"), "user name or password"),
    (("--server-command", "true"), "{port}"),
    (("--server-command", "no-such-program {port}"), "no-such-program"),
    (("--server-command", "'x {port}"), "--server-command"),
    (("--server-command", "sh -c 'exit 7' {port}"), "exited with 7"),
    (("--official-scenario", "tool-list"), "no server scenario"),
    (("--supplemental-scenario", "tasks/x"), "tasks/x"),
    (("--jobs", "0"), "--jobs 0"),
)


@pytest.mark.parametrize(("words", "said"), REFUSED)
def test_bad_input_is_one_line_and_nothing_is_written(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert serve(*words) == ExitCode.BAD_INPUT
    error = capsys.readouterr().err
    assert error.startswith("mcpconf: error: ")
    assert said in error
    assert not OUTPUT.exists()


def test_a_url_and_a_command_exclude_each_other() -> None:
    with pytest.raises(SystemExit) as refused:
        serve("--url", "http://127.0.0.1:9/mcp", "--server-command", "x {port}")
    assert refused.value.code == ExitCode.BAD_INPUT


def test_the_tasks_extension_is_of_one_revision() -> None:
    words = ("--only", "supplemental", "--revision", "2025-11-25")
    assert cli.main(["server", *words]) == ExitCode.BAD_INPUT
