"""The Codex driver against a fake Codex: real pipes, and every way to misbehave."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import psutil
import pytest

from mcpconf import evidence
from mcpconf.client.job import DriverVerdict
from mcpconf.decode import load_json
from mcpconf.process import EndKind

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="the fake uses signals"),
]

ENTRY = Path(evidence.__file__).parent / "client" / "entry.py"
FAKE = Path(__file__).parents[2] / "fixtures" / "codex" / "fake_codex.py"
#: Nothing that is meant to answer takes a tenth of it, even on a busy machine.
PATIENCE_S = 30.0
#: In the secret there is nothing that JSON or a URL would write in another way.
SECRET = "canary-secret-of-the-context"  # noqa: S105 (a canary)
FEATURE = "mcp_2026_07_28"
SERVER = "mcpconf_scenario"
DEFAULTS = "elicitation-sep1034-client-defaults"


class Drive:
    """One drive in a directory of its own."""

    def __init__(self, place: Path) -> None:
        self.home = place / "home"
        self.home.mkdir()
        self.report = place / "adapter.json"
        self.log = place / "received.jsonl"
        self.url = "http://127.0.0.1:1/mcp"
        self.context: dict[str, Any] | None = None
        self.job: dict[str, Any] = {
            "driver": "codex",
            "argv": [sys.executable, "-I", "-S", str(FAKE)],
            "home": str(self.home),
            "cwd": str(self.home),
            "report": str(self.report),
            "scenario": "tools_call",
            "revision": "2025-11-25",
            "deadline_s": 2 * PATIENCE_S,
            "request_s": PATIENCE_S,
            "environment": {},
            "options": {"auth": "assisted", "client_registration": None},
        }

    def run(self, sin: str = "", **job: object) -> evidence.AdapterRecord:
        """Drive once; the record, which must be there whatever happened."""
        self.job |= job
        self.job["environment"] = {
            "FAKE_CODEX": sin,
            "FAKE_CODEX_LOG": str(self.log),
            "MARK": str(self.home),
        }
        path = self.home.parent / "job.json"
        path.write_text(json.dumps(self.job), "utf-8")
        environment = {}
        if self.context is not None:
            environment["MCP_CONFORMANCE_CONTEXT"] = json.dumps(self.context)
        self.done = subprocess.run(
            [sys.executable, "-I", "-S", ENTRY, path, self.url],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=4 * PATIENCE_S,
            check=False,
        )
        return evidence.parse_adapter(load_json(self.report), self.report)

    def received(self, method: str | None = None) -> list[dict[str, Any]]:
        """What the app-server was sent; answers when `method` is None."""
        lines = self.log.read_text("utf-8").splitlines()
        messages = [json.loads(line) for line in lines]
        return [each for each in messages if each.get("method") == method]


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[Drive]:
    """A drive, after which no process of it may be left."""
    one = Drive(tmp_path)
    yield one
    left = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("MARK") == str(one.home):
                left.append(process)
        except psutil.Error:
            continue
    for process in left:
        process.kill()
    assert left == []


def steps(record: evidence.AdapterRecord) -> dict[str, bool]:
    return {name: ok for name, ok, _ in record.steps}


def failed(record: evidence.AdapterRecord) -> list[str]:
    return [name for name, ok, _ in record.steps if not ok]


def test_a_plain_scenario_registers_drives_and_unregisters(drive: Drive) -> None:
    record = drive.run()

    assert (record.verdict, record.error) == (DriverVerdict.DONE, None)
    assert (record.end.kind, record.end.exit_code) == (EndKind.EXITED, 0)
    assert [name for name, _, _ in record.steps] == [
        "mcp-add",
        "mcp-get",
        "app-server-initialize",
        "thread-start",
        "server-startup",
        "server-ready",
        "call add_numbers",
        "app-server-exit",
        "mcp-remove",
        "mcp-list-empty",
    ]
    (call,) = drive.received("mcpServer/tool/call")
    assert call["params"] == {
        "threadId": "thread-1",
        "server": SERVER,
        "tool": "add_numbers",
        "arguments": {"a": 2, "b": 3},
    }
    assert not drive.received("experimentalFeature/enablement/set")


def test_a_stateless_scenario_switches_the_feature_on_twice(drive: Drive) -> None:
    """In the configuration and in the app-server: either alone was not enough once."""
    record = drive.run(revision="2026-07-28")

    assert record.verdict is DriverVerdict.DONE
    assert {"feature-listed", "feature-enablement"} <= steps(record).keys()
    (request,) = drive.received("experimentalFeature/enablement/set")
    assert request["params"] == {"enablement": {FEATURE: True}}


@pytest.mark.parametrize(
    ("sin", "step"),
    [
        ("does not switch the feature on", "feature-listed"),
        ("ignores the enablement", "feature-enablement"),
    ],
)
def test_a_feature_that_stays_off_ends_the_drive(
    drive: Drive, sin: str, step: str
) -> None:
    """What would run then is another revision."""
    record = drive.run(sin, revision="2026-07-28")

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert failed(record) == [step]
    assert FEATURE in (record.error or "")
    assert "call add_numbers" not in steps(record)


@pytest.mark.parametrize("sin", ["shows another URL", "disables the server"])
@pytest.mark.parametrize("scenario", ["tools_call", "sse-retry"])
def test_a_registration_that_shows_something_else_ends_the_drive(
    drive: Drive, sin: str, scenario: str
) -> None:
    """By `mcp add` and by hand alike; and what was written is removed again."""
    record = drive.run(sin, scenario=scenario)

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert failed(record) == ["mcp-get"]
    assert steps(record)["mcp-list-empty"]
    assert "thread-start" not in steps(record)


def test_a_registration_that_is_refused_ends_the_drive(drive: Drive) -> None:
    record = drive.run("refuses to add")

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert record.error == "mcp-add: error: no"
    assert record.end.kind is EndKind.FAILED_TO_START  # no app-server was started


def test_a_server_that_stays_after_its_removal_is_a_finding(drive: Drive) -> None:
    record = drive.run("keeps the server")

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert failed(record) == ["mcp-list-empty"]
    assert steps(record)["call add_numbers"]


def test_an_app_server_that_answers_nothing_is_given_up_in_time(drive: Drive) -> None:
    asked = time.monotonic()
    record = drive.run("answers nothing", request_s=2.0)

    assert time.monotonic() - asked < PATIENCE_S
    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert record.error == "timed out waiting for an answer to initialize"
    assert (record.end.kind, record.end.exit_code) == (EndKind.EXITED, 0)
    assert steps(record)["mcp-remove"]


def test_an_app_server_that_never_leaves_is_killed_inside_the_drive(
    drive: Drive,
) -> None:
    """The record is written before the suite's own limit, four seconds later."""
    asked = time.monotonic()
    record = drive.run(
        "answers nothing and never leaves", request_s=2.0, deadline_s=4.0
    )

    assert time.monotonic() - asked < 4.0 + 4.0
    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert record.end.kind is EndKind.TIMED_OUT
    assert not steps(record)["app-server-exit"]


def test_a_command_that_hangs_is_given_up_in_time(drive: Drive) -> None:
    record = drive.run("hangs in mcp get", request_s=2.0)

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert record.error == "codex mcp get timed out"
    assert steps(record)["mcp-list-empty"]


def test_an_app_server_that_closes_its_stdout_is_a_client_error(drive: Drive) -> None:
    record = drive.run("closes its stdout")

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert (record.error or "").startswith("app-server closed its stdout before")


def test_a_line_that_is_not_json_is_quoted(drive: Drive) -> None:
    record = drive.run("writes garbage")

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert "not JSON: b\"thread 'main' panicked" in (record.error or "")


@pytest.mark.parametrize(
    ("sin", "name"),
    [
        ("dies of a signal", "SIGSEGV"),
        pytest.param(
            "dies of a real-time signal",
            "SIG35",
            marks=pytest.mark.skipif(sys.platform != "linux", reason="Linux's numbers"),
        ),
    ],
)
def test_an_app_server_that_is_killed_is_recorded_so(
    drive: Drive, sin: str, name: str
) -> None:
    record = drive.run(sin)

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert (record.end.kind, record.end.signal) == (EndKind.SIGNALLED, name)


def test_an_app_server_that_exits_badly_is_a_finding(drive: Drive) -> None:
    record = drive.run("exits with 7")

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert failed(record) == ["app-server-exit"]
    assert record.end.exit_code == 7


@pytest.mark.parametrize(
    ("sin", "what"),
    [
        ("asks for something new", "applyPatchApproval"),
        ("elicits something new", "hologram"),
    ],
)
def test_a_request_the_driver_does_not_know_is_our_fault(
    drive: Drive, sin: str, what: str
) -> None:
    record = drive.run(sin)

    assert record.verdict is DriverVerdict.ADAPTER_FAULT
    assert "AdapterGap" in (record.error or "")
    assert what in (record.error or "")
    assert steps(record)["mcp-remove"]


@pytest.mark.parametrize(
    ("sin", "scenario", "defaults", "answer"),
    [
        ("elicits a form", DEFAULTS, "client", {"action": "accept", "content": {}}),
        (
            "elicits a form",
            DEFAULTS,
            "host",
            {"action": "accept", "content": {"name": "John"}},
        ),
        (
            "elicits a form",
            "tools_call",
            "client",
            {"action": "accept", "content": {"name": "John"}},
        ),
        (
            "elicits an approval",
            "tools_call",
            "client",
            {"action": "accept", "content": {}},
        ),
        (
            "elicits a URL",
            "tools_call",
            "client",
            {"action": "decline", "content": None},
        ),
    ],
)
def test_an_elicitation_is_answered_by_its_kind(
    drive: Drive, sin: str, scenario: str, defaults: str, answer: dict[str, Any]
) -> None:
    record = drive.run(sin, scenario=scenario, options={"defaults": defaults})

    assert record.verdict is DriverVerdict.DONE
    (sent,) = drive.received()
    assert sent["result"] == {**answer, "_meta": None}


@pytest.mark.parametrize(
    ("sin", "step", "scenario"),
    [
        ("fails to start the server", "server-ready", "tools_call"),
        ("refuses tool calls", "call add_numbers", "tools_call"),
        ("lists no tools", "inventory", "http-invalid-tool-headers"),
    ],
)
def test_work_that_codex_does_not_do_is_a_client_error(
    drive: Drive, sin: str, step: str, scenario: str
) -> None:
    record = drive.run(sin, scenario=scenario)

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert failed(record) == [step]


@pytest.mark.parametrize("scenario", ["no-such-scenario", "auth/no-such-scenario"])
def test_a_scenario_without_steps_is_unsupported_and_starts_nothing(
    drive: Drive, scenario: str
) -> None:
    record = drive.run(scenario=scenario)

    assert record.verdict is DriverVerdict.UNSUPPORTED
    assert drive.done.returncode == 69
    assert scenario in (record.error or "")
    assert list(drive.home.iterdir()) == []


def test_a_program_that_is_not_there_is_a_client_error(drive: Drive) -> None:
    record = drive.run(argv=[str(drive.home / "codex")])

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert "did not start" in (record.error or "")
    assert record.end.kind is EndKind.FAILED_TO_START


# Logins


@pytest.fixture
def visits(drive: Drive) -> Iterator[list[str]]:
    """An authorization endpoint on the server's port; the paths that were visited."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            query = parse_qs(urlsplit(self.path).query)
            (redirect_uri,), (state,) = query["redirect_uri"], query["state"]
            self.send_response(302)
            self.send_header("Location", f"{redirect_uri}?code=c-1&state={state}")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            """Stay silent: the record is in `seen`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    drive.url = f"http://127.0.0.1:{server.server_port}/mcp"
    yield seen
    server.shutdown()
    thread.join(PATIENCE_S)
    server.server_close()


def with_secret(drive: Drive) -> None:
    drive.context = {"client_id": "canary-client", "client_secret": SECRET}
    drive.job["scenario"] = "auth/pre-registration"


def test_a_login_is_made_once_and_taken_up(drive: Drive, visits: list[str]) -> None:
    record = drive.run(scenario="auth/metadata-default")

    assert (record.verdict, record.error) == (DriverVerdict.DONE, None)
    assert len(visits) == 1
    assert steps(record)["call test-tool"]
    (login,) = drive.received("mcpServer/oauth/login")
    assert login["params"]["threadId"] == "thread-1"
    assert "clientRegistration" not in login["params"]


@pytest.mark.parametrize(
    ("sin", "error"),
    [
        ("fails the login", "login: login failed: token endpoint said no"),
        ("refuses the login", "login: login refused: "),
    ],
)
def test_a_login_that_fails_is_a_client_error(
    drive: Drive, visits: list[str], sin: str, error: str
) -> None:
    record = drive.run(sin, scenario="auth/metadata-default")

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert (record.error or "").startswith(error)
    assert len(visits) == (sin == "fails the login")
    assert "call test-tool" not in steps(record)


@pytest.mark.parametrize(
    ("sin", "verdict"),
    [
        ("refuses the login", DriverVerdict.DONE),
        ("fails the login", DriverVerdict.DONE),
        ("", DriverVerdict.CLIENT_ERROR),
    ],
)
def test_a_login_that_had_to_fail_is_done_when_it_failed(
    drive: Drive, visits: list[str], sin: str, verdict: DriverVerdict
) -> None:
    record = drive.run(sin, scenario="auth/resource-mismatch")

    assert record.verdict is verdict
    assert len(visits) == (sin != "refuses the login")


def test_an_unsafe_login_is_not_visited(drive: Drive, visits: list[str]) -> None:
    record = drive.run("redirects to a stranger", scenario="auth/metadata-default")

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert (record.error or "").startswith("unsafe login: redirect_uri is not plain")
    assert visits == []


def test_a_secret_goes_over_the_pipe_and_into_no_file(
    drive: Drive, visits: list[str]
) -> None:
    with_secret(drive)

    record = drive.run()

    assert (record.verdict, record.error) == (DriverVerdict.DONE, None)
    assert steps(record)["client-secret-not-persisted"]
    threads = drive.received("thread/start")
    key = f"mcp_servers.{SERVER}.oauth.client_secret"
    assert [each["params"]["config"] for each in threads] == 2 * [{key: SECRET}]
    assert SECRET not in drive.report.read_text("utf-8")
    assert len(visits) == 1


@pytest.mark.parametrize(
    "sin",
    [
        "persists the secret",
        "persists the secret, refuses the login",
    ],
)
def test_a_secret_in_a_file_is_found_whether_the_login_succeeded_or_not(
    drive: Drive, visits: list[str], sin: str
) -> None:
    """The record names the file and never the secret."""
    with_secret(drive)

    record = drive.run(sin)

    assert record.verdict is DriverVerdict.CLIENT_ERROR
    assert failed(record)[-1] == "client-secret-not-persisted"
    assert "codex/log/trace.log" in (record.error or "")
    assert SECRET not in drive.report.read_text("utf-8")
    assert len(visits) == (sin == "persists the secret")
