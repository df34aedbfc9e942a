"""The good client under the real driver, against the real fixture server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcpconf import evidence
from mcpconf.client.job import DriverVerdict
from mcpconf.decode import load_json

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="a descriptor is handed on"),
]

ROOT = Path(__file__).parent.parent.parent
ENTRY = ROOT / "mcpconf" / "client" / "entry.py"
PATIENCE_S = 30.0
REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
BIG = 2**53 + 1

CONNECT = {"id": "connect", "verb": "connect", "server": "subject"}
CLOSE = {"id": "close", "verb": "close"}


def call(tool: str, id: str = "call", **more: object) -> dict[str, Any]:  # noqa: A002
    return {"id": id, "verb": "call", "tool": tool, "arguments": {}, **more}


class Desk:
    """A case directory with servers in it."""

    def __init__(self, place: Path, stack: ExitStack) -> None:
        self.place, self._stack = place, stack
        self.log = place / "subject.jsonl"
        self.error: str | None = None

    def server(self, revision: str, transport: str, *words: str) -> dict[str, Any]:
        argv = [sys.executable, "-I", "-m", "mcpconf.fixture_server"]
        argv += ["--revision", revision, "--transport", transport]
        argv += [*words, "--log", str(self.log)]
        if transport == "stdio":
            return {"argv": argv, "env": {"GIVEN": "by the step"}}
        process = self._stack.enter_context(
            subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
        )
        self._stack.callback(process.kill)
        assert process.stderr is not None
        return {"url": process.stderr.readline().split()[-1]}

    def drive(
        self,
        server: dict[str, Any],
        *steps: dict[str, Any],
        revision: str,
        client: str = "good.py",
    ) -> dict[str, Any]:
        """Have the client take the steps; id → result."""
        report = self.place / "adapter.json"
        job = {
            "driver": "command",
            "argv": [sys.executable, "-S", str(ROOT / "fixtures" / "clients" / client)],
            "home": str(self.place),
            "cwd": str(self.place),
            "report": str(report),
            "scenario": "made-up",
            "revision": revision,
            "deadline_s": PATIENCE_S,
            "request_s": PATIENCE_S,
            "environment": {"PATH": os.environ["PATH"], "SECRET": "not for servers"},
            "options": {},
            "kind": "supplemental",
            "transport": "stdio" if "argv" in server else "http",
            "servers": {"subject": server},
            "steps": [CONNECT, *steps],
            "request_timeout_s": 5.0,
            "tmp": str(self.place / "tmp"),
        }
        path = self.place / "job.json"
        path.write_text(json.dumps(job), "utf-8")
        entry = [sys.executable, "-I", "-S", str(ENTRY), str(path)]
        # A parent of its own, to which no other server belongs.
        parent = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"
        subprocess.run(
            [sys.executable, "-I", "-S", "-c", parent, *entry],
            stdin=subprocess.DEVNULL,
            timeout=PATIENCE_S,
            check=False,
        )
        record = evidence.parse_adapter(load_json(report), report)
        assert record.verdict is DriverVerdict.DONE, record.error
        assert record.aftermath is not None
        assert record.aftermath["survivors"] == []
        return {str(each["id"]): each for each in record.results or ()}

    def records(self, kind: str) -> list[Any]:
        lines = self.log.read_text("utf-8").splitlines()
        return [each for each in map(json.loads, lines) if each["type"] == kind]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with ExitStack() as stack:
        yield Desk(tmp_path, stack)


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("revision", REVISIONS)
def test_the_good_client_knows_every_verb(
    desk: Desk, revision: str, transport: str
) -> None:
    is_stateless = revision == REVISIONS[-1]
    asks = "request_input" if is_stateless else "ask_elicitation"
    header = {"region": "eu", "attempt": -3, "enabled": True, "greeting": "こんにちは"}
    results = desk.drive(
        desk.server(revision, transport),
        {"id": "tools", "verb": "list", "what": "tools"},
        {"id": "resources", "verb": "list", "what": "resources"},
        call("header_echo", "mirrored", arguments=header),
        call("numbers", "big", arguments={"integer": BIG, "number": 0.1}),
        call("progress", "progress", progress=True, log_level="info"),
        call(asks, "asked"),
        {"id": "read", "verb": "read", "uri": "test://fixture/こんにちは"},
        {
            "id": "prompt",
            "verb": "prompt",
            "name": "fixture.greeting",
            "arguments": {"name": "you"},
        },
        {"id": "cancel", "verb": "cancel", "tool": "slow", "after_s": 0.05},
        {
            "id": "await",
            "verb": "await",
            "method": "notifications/progress",
            "timeout_s": 5,
        },
        {
            "id": "listen",
            "verb": "listen",
            "filter": {"toolsListChanged": True},
            "count": 1,
            "timeout_s": 5,
        },
        CLOSE,
        revision=revision,
    )

    wrong = {name: each for name, each in results.items() if not each.get("ok")}
    assert set(wrong) == (set() if is_stateless else {"listen"})
    values = {name: each.get("value") for name, each in results.items()}
    assert values["connect"]["protocolVersion"] == revision
    assert values["connect"]["serverInfo"]["version"] == "0.1.0"
    assert len(values["resources"]["items"]) == 2
    assert values["mirrored"]["result"]["structuredContent"] == header
    assert values["big"]["result"]["structuredContent"]["integer"] == BIG
    assert [each["method"] for each in values["progress"]["notifications"]] == [
        "notifications/progress",
        "notifications/message",
    ]
    assert len(values["asked"]["elicitations"]) == 1
    assert "confirmed" in values["asked"]["result"]["content"][0]["text"]
    assert len(values["read"]["contents"]) == len(values["prompt"]["messages"]) == 1
    assert results["close"]["children"] == []


def test_requests_of_the_server_are_answered(desk: Desk) -> None:
    answers = {
        "ask_sampling": "a fixed answer",
        "ask_roots": "file:///reference",
        "ask_ping": '"result": {}',
        "ask_unknown": "-32601",
    }

    results = desk.drive(
        desk.server("2025-11-25", "stdio"),
        *(call(tool, tool) for tool in answers),
        revision="2025-11-25",
    )

    for tool, answer in answers.items():
        assert answer in results[tool]["value"]["result"]["content"][0]["text"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_calls_that_become_tasks_are_followed_to_their_end(
    desk: Desk, transport: str
) -> None:
    """By a server that checks every request about a task, and keeps time."""
    words = ("--profile", "tasks", "--task-second-s", "0.1", "--task-poll-ms", "20")
    confirms = {"action": "accept", "content": {"confirm": True}}
    results = desk.drive(
        desk.server("2026-07-28", transport, *words),
        call("greet", "plain", arguments={"name": "you"}),
        call("slow_compute", "slow", arguments={"seconds": 1}),
        call("confirm_delete", "asked", arguments={"filename": "a"}, answer=confirms),
        call("multi_input", "twice", answer=confirms),
        call("failing_job", "failing"),
        call("protocol_error_job", "broken"),
        {
            **call("slow_compute", "cancelled", arguments={"seconds": 60}),
            "verb": "cancel",
            "after_s": 1.0,
        },
        CLOSE,
        revision="2026-07-28",
    )
    texts = {
        name: each["value"]["result"]["content"][0]["text"]
        for name, each in results.items()
        if each["ok"] and "result" in each["value"]
    }
    assert texts.pop("twice").count("accept") == 2
    assert texts == {
        "plain": "Hello, you!",
        "slow": "Computed nothing in 1 s.",
        "asked": "Deleted a.",
        "failing": "The job failed, as it was made to.",
    }
    assert results["failing"]["value"]["result"]["isError"] is True
    assert results["broken"]["error"]["code"] == -32603
    sent = [each["message"].get("method") for each in desk.records("received")]
    assert sent.count("tasks/update") == 2
    assert sent[-1] == "tasks/cancel"


def test_a_lost_session_is_begun_anew(desk: Desk) -> None:
    revision = "2025-11-25"
    results = desk.drive(
        desk.server(revision, "http", "--profile", "session-dropped"),
        call("echo", "first", arguments={"text": "1"}),
        call("echo", "second", arguments={"text": "2"}),
        call("echo", "third", arguments={"text": "3"}),
        revision=revision,
    )

    assert all(each.get("ok") for each in results.values()), results
    if desk.records("fault"):
        opened = [
            each["message"]
            for each in desk.records("received")
            if (each["message"] or {}).get("method") == "initialize"
        ]
        assert len(opened) >= 2


@pytest.mark.parametrize(
    ("speaks", "offer", "kind"),
    [
        ("2025-11-25", "2026-07-28", None),  # an older server: falls back
        ("2026-07-28", "2025-11-25", "rpc"),  # it knows no initialize
        ("2026-07-28", "2099-01-01", None),  # -32022 names a common version
        ("2025-11-25", "1999-01-01", None),  # agrees on the server's own
    ],
)
def test_versions_are_negotiated(
    desk: Desk, speaks: str, offer: str, kind: str | None
) -> None:
    server = desk.server(speaks, "stdio")

    connect = desk.drive(server, revision=offer)["connect"]

    if kind is None:
        assert connect["value"]["protocolVersion"] == speaks
    else:
        assert connect["error"]["kind"] == kind


def test_a_server_is_given_safe_variables_and_its_own(desk: Desk) -> None:
    desk.drive(desk.server("2025-11-25", "stdio"), revision="2025-11-25")

    (start,) = desk.records("start")
    assert "GIVEN" in start["environment"]
    assert not {"SECRET", "MCPCONF_RESULTS_FD"} & set(start["environment"])


def test_an_unruly_server_and_its_child_are_ended(desk: Desk) -> None:
    words = ("--profile", "ignores-eof", "--profile", "ignores-sigterm")

    results = desk.drive(
        desk.server("2025-11-25", "stdio", *words), CLOSE, revision="2025-11-25"
    )

    assert results["close"]["ok"]
    assert results["close"]["children"] == []


@pytest.mark.parametrize(
    "profile", ["repeated-cursor", "long-cursor", "endless-cursor"]
)
def test_pages_that_lead_nowhere_are_refused(desk: Desk, profile: str) -> None:
    results = desk.drive(
        desk.server("2025-11-25", "stdio", "--profile", profile),
        {"id": "list", "verb": "list", "what": "tools"},
        revision="2025-11-25",
    )

    assert results["list"]["error"]["kind"] == "refused"


@pytest.mark.parametrize(
    ("client", "kind"), [("good.py", "refused"), ("accepts_wrong_id.py", None)]
)
def test_one_method_makes_a_broken_client(
    desk: Desk, client: str, kind: str | None
) -> None:
    results = desk.drive(
        desk.server("2025-11-25", "http", "--profile", "list-other-id"),
        {"id": "list", "verb": "list", "what": "tools"},
        revision="2025-11-25",
        client=client,
    )

    assert results["list"].get("error", {}).get("kind") == kind
