"""The SDK's program takes the steps of supplemental scenarios, with real servers."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mcpconf.fixture_server.inprocess import serving
from mcpconf.fixture_server.options import Options
from mcpconf.revision import Revision
from mcpconf.supplemental.observation import ServerView, parse_log
from mcpconf.supplemental.schema import violations
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import ModuleType

pytest.importorskip("mcp", reason="the SDK under test is not installed here")
pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name == "nt", reason="results come on an inherited pipe"),
]

PROGRAM = Path(__file__).parents[2] / "mcpconf/client/python_sdk/program.py"
OWN_MODULES = ("assignment", "group", "connection", "failure")
LIMIT_S = 60

#: Agrees to everything at the version it is given; its tools go on for ever.
ENDLESS = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    result = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}],
              "nextCursor": "again"}
    if asked["method"] == "initialize":
        result = {"protocolVersion": sys.argv[1], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "endless", "version": "1"}}
    if "id" in asked:
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": result}
        print(json.dumps(answer), flush=True)
"""


def step(verb: str, key: str | None = None, /, **members: Any) -> dict[str, Any]:
    return {"id": key or verb, "verb": verb, **members}


def python(*arguments: str) -> dict[str, Any]:
    return {"argv": [sys.executable, "-I", *arguments], "env": {}}


def take(
    servers: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    results: Path,
    *,
    revision: str = "2025-11-25",
    limit_s: float = 20,
) -> dict[str, Any]:
    """Have all steps taken, then end the input; the results by id."""
    fd = os.open(results, os.O_CREAT | os.O_WRONLY, 0o600)
    try:
        ended = subprocess.run(
            [sys.executable, "-I", str(PROGRAM)],
            env={
                **os.environ,
                "MCPCONF_SCENARIO": "a-scenario",
                "MCPCONF_REVISION": revision,
                "MCPCONF_SERVERS": json.dumps(servers),
                "MCPCONF_REQUEST_TIMEOUT_S": str(limit_s),
                "MCPCONF_RESULTS_FD": str(fd),
            },
            input="".join(json.dumps(each) + "\n" for each in steps),
            pass_fds=(fd,),
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    finally:
        os.close(fd)
    assert ended.returncode == 0, ended.stderr
    said = [json.loads(line) for line in results.read_text().splitlines()]
    assert [each["id"] for each in said] == [each["id"] for each in steps]
    return {each["id"]: each for each in said}


EVERY_VERB = (
    step("connect", server="subject"),
    step("list", "tools", what="tools"),
    step("list", "resources", what="resources"),
    step("list", "templates", what="resourceTemplates"),
    step("list", "prompts", what="prompts"),
    step("call", tool="echo", arguments={"text": "ä"}, meta={"mcpconf/mark": 1}),
    step("call", "told", tool="progress", progress=True, log_level="debug"),
    step("call", "late", tool="slow", timeout_s=0.1),
    step("call", "unknown", tool="no-such-tool"),
    step("read", uri="test://fixture/readme"),
    step("prompt", name="fixture.greeting", arguments={"name": "Ann"}),
    step("cancel", tool="slow", after_s=0.1),
    step("listen", filter={"toolsListChanged": True}, count=1, timeout_s=0.3),
)


def take_every_verb(
    revision: str, transport: Transport, more: Sequence[Mapping[str, Any]], tmp: Path
) -> tuple[dict[str, Any], ServerView]:
    log = tmp / "wire.jsonl"
    with ExitStack() as stack:
        if transport is Transport.HTTP:
            options = Options(revision=Revision(revision), transport=transport)
            server = {"url": stack.enter_context(serving(options, log)).url}
        else:
            server = python(
                *("-m", "mcpconf.fixture_server", "--transport", "stdio"),
                *("--revision", revision, "--log", str(log)),
            )
        steps = (*EVERY_VERB, *more)
        said = take({"subject": server}, steps, tmp / "results", revision=revision)
    return said, parse_log(log.read_bytes(), log)


def check_every_verb(said: dict[str, Any], revision: str) -> None:
    """What is the same for all revisions and transports."""
    value = {name: each.get("value") for name, each in said.items()}
    connected = value["connect"]
    assert connected["protocolVersion"] == revision
    assert connected["serverInfo"]["name"] == "openai-mcp-spec-test-server"
    assert "tools" in connected["capabilities"]
    assert len(value["resources"]["items"]) == 2  # on two pages
    for name in ("tools", "templates", "prompts"):
        assert value[name]["items"][0]["name"]
    assert value["call"]["result"]["structuredContent"] == {"text": "ä"}
    assert [each["method"] for each in value["told"]["notifications"]] == [
        "notifications/progress",
        "notifications/message",
    ]
    assert value["told"]["notifications"][0]["params"]["progress"] == 1
    assert said["late"]["error"]["kind"] == "timeout"
    error = said["unknown"]["error"]
    assert (error["kind"], error["code"]) == ("rpc", -32602)
    assert value["read"]["contents"][0]["uri"] == "test://fixture/readme"
    assert value["prompt"]["messages"][0]["role"] == "user"
    assert value["cancel"] == {}


def test_every_verb_over_stdio_in_a_handshake_revision(tmp_path: Path) -> None:
    answer = {"action": "accept", "content": {"confirmation": "no"}}
    more = (
        step("call", "form", tool="ask_elicitation", answer=answer),
        step("call", "roots", tool="ask_roots"),
        step("call", "sampling", tool="ask_sampling"),
        step("call", "grow", tool="grow"),
        step("await", method="notifications/tools/list_changed", timeout_s=20),
    )
    said, view = take_every_verb("2025-06-18", Transport.STDIO, more, tmp_path)
    check_every_verb(said, "2025-06-18")
    assert said["await"]["ok"]
    form = said["form"]["value"]
    assert '"confirmation": "no"' in form["result"]["content"][0]["text"]
    assert form["elicitations"][0]["requestedSchema"]["required"] == ["confirmation"]
    for name in ("roots", "sampling"):
        assert '"result"' in said[name]["value"]["result"]["content"][0]["text"]
    assert "unsupported" in said["listen"]
    cancelled = view.notifications("notifications/cancelled")
    assert [each.params["requestId"] for each in cancelled] == [
        each.id for each in view.calls("slow")
    ]
    assert view.calls("echo")[0].meta["mcpconf/mark"] == 1
    # The end of the program's input is the end of the server's.
    assert view.of_type("exit")[0].value["code"] == 0
    assert violations(view, Revision.V2025_06_18) == ()


def test_every_verb_over_http_in_the_stateless_revision(tmp_path: Path) -> None:
    answer = {"action": "accept", "content": "defaults"}
    more = (step("call", "form", tool="request_input", answer=answer),)
    said, view = take_every_verb("2026-07-28", Transport.HTTP, more, tmp_path)
    check_every_verb(said, "2026-07-28")
    assert [each["method"] for each in said["listen"]["value"]["notifications"]] == [
        "notifications/subscriptions/acknowledged"
    ]
    assert len(said["form"]["value"]["elicitations"]) == 1
    # There, to cancel is to close the stream of the request.
    abandoned = [view.exchange_of(each) for each in view.calls("slow")]
    assert [each.how for each in abandoned if each] == ["client-closed"] * 2
    assert violations(view, Revision.V2026_07_28) == ()


def test_errors_are_told_apart(tmp_path: Path) -> None:
    servers = {
        "dead": {"url": "http://127.0.0.1:9/mcp"},
        "missing": {"argv": [str(tmp_path / "missing")], "env": {}},
        "exits": python("-c", ""),
        "strange": python("-c", ENDLESS, "1999-01-01"),
        "endless": python("-c", ENDLESS, "2025-11-25"),
    }
    steps = [step("connect", name, server=name) for name in servers]
    steps += [
        step("list", what="tools"),
        step("list", "first", what="tools", server="dead"),
        step("close"),
        step("list", "closed", what="tools"),
        step("dance"),
    ]
    said = take(servers, steps, tmp_path / "results")
    kinds = {
        name: each["error"]["kind"]
        for name, each in said.items()
        if not each.get("ok", True)
    }
    assert kinds == {
        "dead": "transport",
        "missing": "transport",
        "exits": "transport",
        "strange": "refused",
        "first": "other",
        "closed": "other",
    }
    # Where to stop is for the host, and this host is ours: nothing is said of the SDK.
    assert "no pager" in said["list"]["unsupported"]
    assert said["close"]["value"] == {}
    assert said["dance"]["unsupported"] == "no part is written for verb 'dance'"


def test_opening_is_given_up_at_the_limit(tmp_path: Path) -> None:
    servers = {"silent": python("-c", "import sys; sys.stdin.read()")}
    steps = [step("connect", server="silent")]
    said = take(servers, steps, tmp_path / "results", limit_s=0.2)
    assert said["connect"]["error"]["kind"] == "timeout"


def test_program_knows_no_other_revision_of_a_leg() -> None:
    ended = subprocess.run(
        [sys.executable, "-I", "-S", str(PROGRAM)],
        env={**os.environ, "MCPCONF_SCENARIO": "s", "MCPCONF_REVISION": "2024-11-05"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert ended.returncode == 69
    assert ended.stderr.startswith("unsupported: revision ")


# --- What an exception says -----------------------------------------------------


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    """The program's modules as it sees them itself, beside the SDK."""
    monkeypatch.syspath_prepend(str(PROGRAM.parent))
    yield {name: importlib.import_module(name) for name in OWN_MODULES}
    for name in OWN_MODULES:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("code", "message", "kind"),
    [
        (-32001, "Request 'tools/call' timed out", "timeout"),
        (-32001, "a server's own", "rpc"),
        (-32000, "Connection closed", "transport"),
        (-32603, "Server returned an error response", "transport"),
        (-32603, "internal", "rpc"),
        (-32600, "Unexpected content type: text/html", "refused"),
        (-32700, "Failed to parse JSON response: x", "refused"),
    ],
)
def test_what_the_sdk_found_itself_is_no_answer_of_the_server(
    own: dict[str, ModuleType], code: int, message: str, kind: str
) -> None:
    from mcp import MCPError  # noqa: PLC0415 (may be absent)

    said = own["failure"].describe(MCPError(code, message))
    assert said["kind"] == kind
    assert ("code" in said) == (kind == "rpc")


def test_group_speaks_through_its_first_member(own: dict[str, ModuleType]) -> None:
    import anyio  # noqa: PLC0415 (comes with the SDK)

    group = ExceptionGroup("outer", [ExceptionGroup("inner", [anyio.EndOfStream()])])
    assert own["failure"].describe(group)["kind"] == "transport"
    assert own["failure"].describe(RuntimeError("ours"))["kind"] == "other"
