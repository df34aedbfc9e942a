"""Supplemental steps with the Codex driver, against a fake Codex on real pipes."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcpconf import evidence
from mcpconf.client.codex.failure import step_error

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="the fake uses signals"),
]

ENTRY = Path(evidence.__file__).parent / "client" / "entry.py"
FAKE = Path(__file__).parents[2] / "fixtures" / "codex" / "fake_codex.py"
FEATURE = "mcp_2026_07_28"
OPT_IN = "CODEX_MCP_PROTOCOL_VERSION"
#: Nothing that is meant to answer takes a tenth of it, even on a busy machine.
PATIENCE_S = 30.0
STDIO = {"argv": ["python", "a b.py", 'quote"d'], "env": {"KEY": "välue"}}
HTTP = {"url": "http://127.0.0.1:1/mcp"}
CONNECT = {"id": "connect", "verb": "connect", "server": "subject"}
CALL = {"id": "call", "verb": "call", "tool": "echo", "arguments": {"text": "x"}}
CANCEL = {**CALL, "id": "cancel", "verb": "cancel", "after_s": 0.05}
CLOSE = {"id": "close", "verb": "close"}


class Drive:
    """One drive in a directory of its own."""

    def __init__(self, place: Path) -> None:
        self.home = place / "home"
        self.home.mkdir()
        self.tmp = place / "tmp"
        self.tmp.mkdir()
        self.log = place / "received.jsonl"
        self.record: dict[str, Any] = {}
        self.results: dict[str, dict[str, Any]] = {}

    def run(self, *steps: Mapping[str, Any], sin: str = "", **more: object) -> None:
        """Take these steps; what came of them is then in `record` and `results`."""
        job = {
            "kind": "supplemental",
            "driver": "codex",
            "argv": [sys.executable, "-I", "-S", str(FAKE)],
            "home": str(self.home),
            "cwd": str(self.home),
            "tmp": str(self.tmp),
            "report": str(self.home.parent / "adapter.json"),
            "scenario": "anything",
            "revision": "2025-11-25",
            "transport": "stdio",
            "servers": {"subject": STDIO, "control": STDIO},
            "steps": steps,
            "deadline_s": 2 * PATIENCE_S,
            "request_s": PATIENCE_S,
            "request_timeout_s": 5.0,
            "environment": {"FAKE_CODEX": sin, "FAKE_CODEX_LOG": str(self.log)},
            "options": {},
        } | more
        path = self.home.parent / "job.json"
        path.write_text(json.dumps(job), "utf-8")
        subprocess.run(
            [sys.executable, "-I", "-S", ENTRY, path],
            env={},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=4 * PATIENCE_S,
            check=False,
        )
        self.record = json.loads(Path(str(job["report"])).read_text("utf-8"))
        self.results = {each["id"]: each for each in self.record["results"]}

    def received(self, method: str | None) -> list[dict[str, Any]]:
        """What the app-server was sent; answers when `method` is None."""
        messages = map(json.loads, self.log.read_text("utf-8").splitlines())
        return [each for each in messages if each.get("method") == method]

    def value(self, step: str) -> dict[str, Any]:
        """A step's value, which there must be."""
        value: dict[str, Any] = self.results[step]["value"]
        return value

    def configuration(self) -> dict[str, Any]:
        """Codex's configuration as it was left."""
        return tomllib.loads((self.home / "codex" / "config.toml").read_text("utf-8"))

    def steps(self) -> list[str]:
        """The driver's own steps."""
        return [each["name"] for each in self.record["steps"]]


@pytest.fixture
def drive(tmp_path: Path) -> Drive:
    return Drive(tmp_path)


def test_databases_are_made_once_and_copied_into_every_home(
    drive: Drive, tmp_path: Path
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    drive.run(CONNECT, shared=str(shared))
    (place,) = shared.iterdir()
    assert list(place.iterdir()) == []  # the fake has none
    assert len(drive.received("initialize")) == 2
    (place / "state.sqlite").write_bytes(b"empty")
    drive.run(CONNECT, shared=str(shared))
    assert len(drive.received("initialize")) == 3
    assert (drive.home / "codex" / "state.sqlite").read_bytes() == b"empty"
    assert drive.steps().count("app-server-initialize") == 1


def test_a_drive_connects_lists_calls_and_reads(drive: Drive) -> None:
    drive.run(
        CONNECT,
        {"id": "tools", "verb": "list", "what": "tools"},
        {"id": "resources", "verb": "list", "what": "resources"},
        {**CALL, "meta": {"a": 1}, "progress": True, "log_level": "info"},
        {"id": "read", "verb": "read", "uri": "test://one"},
    )
    assert drive.record["verdict"] == "done"
    assert drive.value("connect")["serverInfo"] == {"name": "fake", "version": "1"}
    assert drive.value("tools") == {"items": [{"name": "valid_tool"}]}
    assert drive.value("resources") == {"items": [{"uri": "test://one"}]}
    assert drive.value("read")["contents"][0]["text"] == "body"
    (call,) = drive.received("mcpServer/tool/call")
    assert call["params"] == {
        "threadId": "thread-1",
        "server": "mcp_spec_fixture",
        "tool": "echo",
        "arguments": {"text": "x"},
        "_meta": {
            "a": 1,
            "progressToken": "call",
            "io.modelcontextprotocol/logLevel": "info",
        },
    }
    assert drive.record["aftermath"]["survivors"] == []
    assert drive.results["call"]["fds"] > 0


@pytest.mark.parametrize(
    ("revision", "opt_in"),
    [
        ("2025-11-25", "review-legacy-protocol-environment"),
        ("2026-07-28", "2026-07-28"),
    ],
)
def test_a_stdio_server_is_registered_whole(
    drive: Drive, revision: str, opt_in: str
) -> None:
    drive.run(CONNECT, CALL, revision=revision)
    assert drive.value("call")["result"]["server"] == {
        "command": "python",
        "args": ["a b.py", 'quote"d'],
        "startup_timeout_sec": 5,
        "tool_timeout_sec": 5,
        "env": {"KEY": "välue", OPT_IN: opt_in},
    }
    switched = drive.configuration()["features"].get(FEATURE, False)
    assert switched is (revision == "2026-07-28")
    enablements = drive.received("experimentalFeature/enablement/set")
    assert len(enablements) == (revision == "2026-07-28")


def test_only_connected_servers_are_configured(drive: Drive) -> None:
    control = {"id": "other", "verb": "connect", "server": "control"}
    drive.run(CONNECT, control, CALL, {**CALL, "id": "back", "server": "subject"})
    assert set(drive.configuration()["mcp_servers"]) == {
        "mcp_spec_fixture",
        "mcp_spec_control",
    }
    assert len(drive.received("thread/start")) == 1
    assert len(drive.received("config/mcpServer/reload")) == 1
    called = [
        each["params"]["server"] for each in drive.received("mcpServer/tool/call")
    ]
    assert called == ["mcp_spec_control", "mcp_spec_fixture"]


def test_close_lets_the_servers_go_and_a_later_connect_starts_them_anew(
    drive: Drive,
) -> None:
    drive.run(
        CONNECT, CLOSE, {**CALL, "id": "closed"}, {**CONNECT, "id": "again"}, CALL
    )
    assert drive.value("closed")["result"]["server"] == {}
    assert drive.value("call")["result"]["server"]["command"] == "python"
    assert len(drive.received("initialize")) == 1


def test_a_calls_own_limit_holds_for_that_call_alone(drive: Drive) -> None:
    drive.run(CONNECT, {**CALL, "id": "short", "timeout_s": 0.5}, CALL)
    limits = {
        step: drive.value(step)["result"]["server"]["tool_timeout_sec"]
        for step in ("short", "call")
    }
    assert limits == {"short": 0.5, "call": 5}


def test_a_form_is_answered_as_the_step_says(drive: Drive) -> None:
    expected: dict[str, tuple[dict[str, Any] | None, tuple[str, Any]]] = {
        "unsaid": (None, ("accept", {"name": "John"})),
        "defaults": (
            {"action": "accept", "content": "defaults"},
            ("accept", {"name": "John"}),
        ),
        "said": ({"action": "accept", "content": {"age": 3}}, ("accept", {"age": 3})),
        "cancelled": ({"action": "cancel"}, ("cancel", None)),
    }
    calls = [{**CALL, "id": each, "answer": expected[each][0]} for each in expected]
    drive.run(CONNECT, *calls, sin="elicits a form")
    answers = [each["result"] for each in drive.received(None)]
    given = [(each["action"], each["content"]) for each in answers]
    assert given == [each[1] for each in expected.values()]
    (shown,) = drive.value("cancelled")["elicitations"]
    assert shown["mode"] == "form"


def test_an_address_is_declined_with_nobody_to_visit_it(drive: Drive) -> None:
    drive.run(CONNECT, CALL, sin="elicits a URL")
    (answer,) = drive.received(None)
    assert answer["result"]["action"] == "decline"


def test_an_unknown_elicitation_is_our_gap(drive: Drive) -> None:
    drive.run(CONNECT, CALL, CLOSE, sin="elicits something new")
    assert drive.record["verdict"] == "adapter-fault"
    assert "hologram" in drive.record["error"]
    assert set(drive.results) == {"connect"}


def test_progress_that_is_shown_to_the_host_is_a_notification(drive: Drive) -> None:
    drive.run(CONNECT, CALL, sin="shows progress")
    assert drive.value("call")["notifications"] == [
        {"method": "notifications/progress", "params": {"message": "half"}}
    ]


def test_what_codex_lacks_is_unsupported_and_the_drive_goes_on(drive: Drive) -> None:
    lacking = ["prompt", "listen", "await"]
    drive.run(CONNECT, *({"id": verb, "verb": verb} for verb in lacking), CALL)
    assert all(drive.results[verb]["unsupported"] for verb in lacking)
    assert drive.results["call"]["ok"] is True


def test_a_call_of_the_model_is_interrupted(drive: Drive) -> None:
    drive.run(CONNECT, CANCEL)
    assert drive.value("cancel") == {}
    (choice,) = drive.received("the model's choice")
    chosen = [choice["params"][each] for each in ("namespace", "name", "arguments")]
    assert chosen == ["mcp__mcp_spec_fixture", "echo", '{"text": "x"}']
    (interrupt,) = drive.received("turn/interrupt")
    assert interrupt["params"] == {
        "threadId": "thread-1",
        "turnId": "turn of thread-1",
    }


def test_a_call_that_had_ended_was_not_cancelled(drive: Drive) -> None:
    drive.run(CONNECT, CANCEL, sin="ends the turn early")
    assert "had ended" in drive.results["cancel"]["error"]["message"]
    assert drive.received("turn/interrupt") == []


def test_a_failed_server_is_not_started_again_by_a_later_reload(drive: Drive) -> None:
    sin = "fails to start the server"
    drive.run(CONNECT, {**CONNECT, "id": "other", "server": "control"}, sin=sin)
    assert drive.configuration()["mcp_servers"].keys() == {"mcp_spec_control"}


def test_a_failed_start_is_an_error_of_the_step_alone(drive: Drive) -> None:
    drive.run(CONNECT, CALL, sin="fails to start the server")
    assert drive.results["connect"]["error"] == {"kind": "other", "message": "boom"}
    assert drive.record["verdict"] == "done"


def test_a_servers_error_keeps_its_code(drive: Drive) -> None:
    drive.run(CONNECT, CALL, sin="refuses tool calls")
    assert drive.results["call"]["error"] == {
        "kind": "rpc",
        "message": "not today",
        "code": -32000,
    }


def test_silence_ends_the_drive(drive: Drive) -> None:
    silent = "says nothing of a tool call"
    drive.run(CONNECT, CALL, CLOSE, sin=silent, request_timeout_s=0.1)
    assert drive.results["call"]["timed_out"] is True
    assert "close" not in drive.results
    assert drive.record["end"]["kind"] == "timed-out"
    assert drive.record["verdict"] == "client-error"


@pytest.mark.parametrize("server", [STDIO, HTTP])
def test_codex_registers_a_server_itself_where_asked(
    drive: Drive, server: dict[str, Any]
) -> None:
    cli = {"registration": "cli"}
    drive.run(CONNECT, CALL, options=cli, servers={"subject": server})
    assert drive.record["verdict"] == "done", drive.record["error"]
    assert [each for each in drive.steps() if each.startswith("mcp-")] == [
        "mcp-add",
        "mcp-get",
        "mcp-remove",
        "mcp-list-empty",
    ]
    assert drive.value("call")["result"]["server"]["tool_timeout_sec"] == 5
    assert "mcp_servers" not in drive.configuration()


@pytest.mark.parametrize(
    ("sin", "failed"),
    [
        ("shows another command", "mcp-get"),
        ("refuses to add", "mcp-add"),
        ("keeps the server", "mcp-list-empty"),
    ],
)
def test_a_wrong_registration_is_seen(drive: Drive, sin: str, failed: str) -> None:
    drive.run(CONNECT, sin=sin, options={"registration": "cli"})
    bad = [each["name"] for each in drive.record["steps"] if not each["ok"]]
    assert failed in bad
    assert drive.record["verdict"] == "client-error"


def test_an_offer_goes_before_the_legs_revision(drive: Drive) -> None:
    offer = {**CONNECT, "offer": "2025-06-18"}
    drive.run(offer, CALL, revision="2026-07-28")
    assert drive.value("call")["result"]["server"]["env"][OPT_IN] == "2025-06-18"
    assert FEATURE not in drive.configuration()["features"]


def test_an_unheard_of_offer_is_unsupported_over_http(drive: Drive) -> None:
    offer = {**CONNECT, "offer": "1999-01-01"}
    drive.run(offer, CALL, servers={"subject": HTTP})
    assert "over HTTP" in drive.results["connect"]["unsupported"]
    assert drive.results["call"]["unsupported"]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (
            "tool call failed for `a/b`: timed out awaiting tools/call after 3s",
            "timeout",
        ),
        ("MCP client for `a` timed out after 2 seconds. Add or adjust", "timeout"),
        ("tool call failed for `a/b`: Transport closed", "transport"),
        ("MCP startup failed: No such file or directory (os error 2)", "transport"),
        ("tool call failed for `a/b`: Unexpected response type", "refused"),
        ("tools/list returned a repeated pagination cursor", "refused"),
        ("handshaking with MCP server failed: expect initialized result", "refused"),
        ("unknown MCP server 'a'", "other"),
    ],
)
def test_codexs_own_words_tell_the_kind(message: str, kind: str) -> None:
    assert step_error(message, -32603).kind == kind


def test_an_error_of_the_server_at_start_up_is_its_own() -> None:
    error = step_error("handshaking failed: Mcp error: -32022: no", -32603)
    assert (error.kind, error.code) == ("rpc", -32022)
