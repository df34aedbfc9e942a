"""What the fixture server has beside the plain one when it has everything."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from fixture_call import HANDSHAKE, OLD, STATELESS, Fixture
from fixture_everything import Everything, everything_at

from mcpconf.errors import UsageError
from mcpconf.fixture_server.cli import options_from
from mcpconf.fixture_server.profile import PROFILES
from mcpconf.revision import KNOWN, Revision
from mcpconf.transport import Transport

if TYPE_CHECKING:
    Json = Any

CONTENT = {
    "json_schema_2020_12_tool",
    "test_audio_content",
    "test_embedded_resource",
    "test_error_handling",
    "test_image_content",
    "test_logging_tool",
    "test_multiple_content_types",
    "test_simple_text",
    "test_tool_with_logging",
    "test_tool_with_progress",
    "test_trigger_prompt_change",
    "test_trigger_tool_change",
}
ASKING = {"test_elicitation", "test_sampling"}
FORMS = {"test_elicitation_sep1034_defaults", "test_elicitation_sep1330_enums"}
INPUT = {
    "test_input_required_result_capabilities",
    "test_input_required_result_elicitation",
    "test_input_required_result_list_roots",
    "test_input_required_result_multi_round",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_request_state",
    "test_input_required_result_sampling",
    "test_input_required_result_tampered_state",
    "test_missing_capability",
    "test_streaming_elicitation",
}
LOG_LEVEL = "io.modelcontextprotocol/logLevel"


def tools_of(fixture: Fixture) -> set[str]:
    (page,) = fixture.listed("tools/list", "tools")
    return {each["name"] for each in page}


# --- The switch -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("revision", "own"),
    [
        (OLD, CONTENT | ASKING),
        (HANDSHAKE, CONTENT | ASKING | FORMS | {"test_reconnection"}),
    ],
)
def test_everything_adds_tools_to_those_of_the_handshake_revisions(
    revision: Revision, own: set[str]
) -> None:
    assert tools_of(Everything(revision)) == tools_of(Fixture(revision)) | own


def test_everything_adds_tools_and_the_tasks_to_those_of_2026_07_28() -> None:
    with_tasks = tools_of(Fixture(STATELESS, profiles=("tasks",)))
    assert tools_of(Everything()) == with_tasks | CONTENT | INPUT
    assert [each.name for each in Everything().server.profiles] == [
        "everything",
        "tasks",
    ]


def test_a_profile_beside_everything_is_served_once() -> None:
    server = Everything(profiles=("tasks", "any-headers")).server
    assert [each.name for each in server.profiles] == [
        "everything",
        "tasks",
        "any-headers",
    ]


@pytest.mark.parametrize("revision", KNOWN)
def test_nothing_of_it_shows_without_the_switch(revision: Revision) -> None:
    fixture = Fixture(revision)
    assert not tools_of(fixture) & (CONTENT | ASKING | FORMS | INPUT)
    assert len(fixture.listed("resources/list", "resources")) == 2
    assert len(fixture.listed("prompts/list", "prompts")[0]) == 1
    assert "everything" not in PROFILES
    assert fixture.refused("completion/complete")[0] == -32601


def test_nothing_of_it_is_imported_without_the_switch() -> None:
    program = (
        "import sys\n"
        "from mcpconf.fixture_server.cli import options_from\n"
        "from mcpconf.fixture_server.log import Log\n"
        "from mcpconf.fixture_server.server import Server\n"
        "Server(options_from([])[0], Log())\n"
        "print([each for each in sys.modules if 'everything' in each])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "[]\n"


@pytest.mark.parametrize(
    "argv",
    [
        ["--everything", "--transport", "http", "--revision", "2025-11-25"],
        ["--transport", "http", "--everything", "--revision", "2025-11-25"],
        ["--revision=2025-11-25", "--transport=http", "--everything"],
    ],
)
def test_the_switch_stands_anywhere_and_takes_no_word(argv: list[str]) -> None:
    assert options_from(argv) == (everything_at(HANDSHAKE), None)
    without, _ = options_from([each for each in argv if each != "--everything"])
    assert not without.everything


@pytest.mark.parametrize("argv", [["--everything", "yes"], ["--host", "--everything"]])
def test_the_switch_is_no_word_and_has_none(argv: list[str]) -> None:
    with pytest.raises(UsageError):
        options_from([*argv, "--transport", "http"])


def test_everything_is_for_http() -> None:
    with pytest.raises(UsageError, match=r"--everything: is for --transport http"):
        options_from(["--everything", "--transport", Transport.STDIO])


# --- Content --------------------------------------------------------------------


@pytest.mark.parametrize("revision", KNOWN)
@pytest.mark.parametrize(
    ("tool", "kinds"),
    [
        ("test_simple_text", ["text"]),
        ("test_image_content", ["image"]),
        ("test_audio_content", ["audio"]),
        ("test_embedded_resource", ["resource"]),
        ("test_multiple_content_types", ["text", "image", "resource"]),
    ],
)
def test_a_tool_answers_with_each_kind_of_content(
    revision: Revision, tool: str, kinds: list[str]
) -> None:
    result = Everything(revision).tool(tool)["result"]
    assert [each["type"] for each in result["content"]] == kinds
    assert not result.get("isError")


def test_the_image_and_the_sound_are_whole_files() -> None:
    fixture = Everything()
    ((image,), (sound,)) = (
        fixture.tool(f"test_{kind}_content")["result"]["content"]
        for kind in ("image", "audio")
    )
    png, wav = (base64.b64decode(each["data"]) for each in (image, sound))
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    assert png[-8:-4] == b"IEND"
    assert (wav[:4], wav[8:12]) == (b"RIFF", b"WAVE")
    assert int.from_bytes(wav[4:8], "little") == len(wav) - 8


def test_a_failing_tool_says_so_in_its_result() -> None:
    result = Everything().tool("test_error_handling")["result"]
    assert result["isError"] is True
    (content,) = result["content"]
    assert content["text"] == "This tool intentionally returns an error for testing"


@pytest.mark.parametrize("revision", KNOWN)
def test_a_schema_is_shown_with_all_its_keywords(revision: Revision) -> None:
    (page,) = Everything(revision).listed("tools/list", "tools")
    (schema,) = (
        each["inputSchema"]
        for each in page
        if each["name"] == "json_schema_2020_12_tool"
    )
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$defs"]["address"]["$anchor"] == "addressDef"
    assert schema["allOf"][0]["anyOf"]
    assert {"if", "then", "else"} <= set(schema)
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize(
    ("arguments", "is_error"),
    [
        ({"contactMethod": "phone", "phone": "1"}, False),
        ({"email": "a@example.com"}, False),
        ({"contactMethod": "phone", "email": "a@example.com"}, True),
        ({"phone": "1"}, True),
    ],
)
def test_a_tool_holds_its_arguments_to_its_schema(
    arguments: Json, *, is_error: bool
) -> None:
    result = Everything().tool("json_schema_2020_12_tool", arguments)["result"]
    assert result.get("isError", False) is is_error


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("test_unknown", {}),
        ("test_simple_text", {"odd": 1}),
        ("json_schema_2020_12_tool", {"odd": 1, "email": "x"}),
    ],
)
def test_what_no_tool_takes_is_refused(tool: str, arguments: Json) -> None:
    params = {"name": tool, "arguments": arguments}
    for revision in KNOWN:
        assert Everything(revision).refused("tools/call", params)[0] == -32602


# --- Log messages, progress, changes --------------------------------------------


@pytest.mark.parametrize("tool", ["test_tool_with_logging", "test_logging_tool"])
@pytest.mark.parametrize(
    ("level", "count"), [("debug", 3), ("info", 3), ("notice", 0), (None, 0)]
)
def test_messages_are_logged_for_who_asked_for_their_level(
    tool: str, level: str | None, count: int
) -> None:
    for revision in (HANDSHAKE, STATELESS):
        fixture = Everything(revision)
        meta = {}
        if level is not None and revision is HANDSHAKE:
            fixture.ask("logging/setLevel", {"level": level})
        elif level is not None:
            meta = {LOG_LEVEL: level}
        call = asyncio.run(fixture.answered("tools/call", {"name": tool}, **meta))
        *told, answer = call.sent
        assert [each["method"] for each in told] == ["notifications/message"] * count
        assert "result" in answer


@pytest.mark.parametrize("token", ["a token", 7, None, True])
def test_progress_is_reported_to_a_token(token: Json) -> None:
    fixture = Everything(HANDSHAKE)
    meta = {} if token is None else {"progressToken": token}
    params = {"name": "test_tool_with_progress"}
    call = fixture.call("tools/call", params, **meta)
    asyncio.run(fixture.server.handle(call))
    *told, answer = call.sent
    expected = [(token, each, 100) for each in (0, 50, 100)]
    if token is None or token is True:
        expected = []
    assert [tuple(each["params"].values()) for each in told] == expected
    assert "result" in answer


@pytest.mark.parametrize(
    ("kind", "flag", "name"),
    [
        ("tool", "toolsListChanged", "test_changing_tool"),
        ("prompt", "promptsListChanged", "test_changing_prompt"),
    ],
)
def test_a_change_shows_in_the_list_and_who_asked_hears_of_it(
    kind: str, flag: str, name: str
) -> None:
    fixture = Everything()

    async def change() -> list[str]:
        listening = fixture.call(
            "subscriptions/listen", {"notifications": {flag: True}}
        )
        task = asyncio.ensure_future(fixture.server.handle(listening))
        await listening.heard.wait()
        listening.heard.clear()
        await fixture.answered("tools/call", {"name": f"test_trigger_{kind}_change"})
        await fixture.answered("tools/call", {"name": "test_trigger_tool_change"})
        listening.gone.set()
        await task
        return [each["method"] for each in listening.sent]

    def shown() -> list[str]:
        (page,) = fixture.listed(f"{kind}s/list", f"{kind}s")
        return [each["description"] for each in page if each["name"] == name]

    assert shown() == []
    heard = asyncio.run(change())
    assert heard[:2] == [
        "notifications/subscriptions/acknowledged",
        f"notifications/{kind}s/list_changed",
    ]
    assert len(heard) == (3 if kind == "tool" else 2)
    changes = 2 if kind == "tool" else 1
    assert shown() == [f"Was changed {changes} times."]
    fixture.tool(f"test_trigger_{kind}_change")
    assert shown() == [f"Was changed {changes + 1} times."]
    if kind == "prompt":
        prompt = fixture.ask("prompts/get", {"name": name})["result"]
        assert prompt["messages"][0]["content"]["text"] == shown()[0]
    else:
        assert not fixture.tool(name)["result"].get("isError")


# --- Resources ------------------------------------------------------------------


@pytest.mark.parametrize("revision", KNOWN)
def test_every_resource_that_is_listed_can_be_read(revision: Revision) -> None:
    fixture = Everything(revision)
    pages = fixture.listed("resources/list", "resources")
    uris = [each["uri"] for page in pages for each in page]
    assert {"test://static-text", "test://static-binary"} < set(uris)
    assert "test://fixture/readme" in uris, "the plain server's own"
    for uri in uris:
        (contents,) = fixture.ask("resources/read", {"uri": uri})["result"]["contents"]
        assert contents["uri"] == uri
        assert contents.get("text") or contents.get("blob")


def test_a_template_has_what_is_read_through_it() -> None:
    fixture = Everything()
    (page,) = fixture.listed("resources/templates/list", "resourceTemplates")
    assert "test://template/{id}/data" in [each["uriTemplate"] for each in page]
    uri = "test://template/12 3/data"
    (contents,) = fixture.ask("resources/read", {"uri": uri})["result"]["contents"]
    assert json.loads(contents["text"]) == {
        "id": "12 3",
        "templateTest": True,
        "data": "Data for ID: 12 3",
    }


@pytest.mark.parametrize(
    "uri",
    ["test://none", "test://template//data", "test://template/1/2/data", None, []],
)
def test_an_unknown_resource_is_refused_as_the_revision_has_it(uri: Json) -> None:
    for revision in KNOWN:
        code, _ = Everything(revision).refused("resources/read", {"uri": uri})
        is_new = revision is STATELESS or not isinstance(uri, str)
        assert code == (-32602 if is_new else -32002)


@pytest.mark.parametrize("method", ["resources/list", "prompts/list", "tools/list"])
@pytest.mark.parametrize("cursor", ["page-1", "page-99", "", 1])
def test_a_cursor_that_was_not_given_out_is_refused(method: str, cursor: Json) -> None:
    for revision in KNOWN:
        fixture = Everything(revision)
        assert fixture.refused(method, {"cursor": cursor})[0] == -32602


def test_a_watched_resource_is_watched_until_it_is_not() -> None:
    fixture = Everything(HANDSHAKE)
    watched = {"uri": "test://watched-resource"}
    assert fixture.ask("resources/subscribe", watched)["result"] == {}
    assert fixture.session.watched == {"test://watched-resource"}
    assert fixture.ask("resources/unsubscribe", watched)["result"] == {}
    assert fixture.session.watched == set()
    unknown: tuple[Json, ...] = ("test://none", [], None)
    for uri in unknown:
        assert fixture.refused("resources/subscribe", {"uri": uri})[0] == -32602


def test_a_watched_resource_can_be_listened_to_at_2026_07_28() -> None:
    fixture = Everything()
    uris = ["test://none", "test://watched-resource", "test://fixture/readme"]

    async def listen() -> Json:
        filters = {"notifications": {"resourceSubscriptions": uris}}
        listening = fixture.call("subscriptions/listen", filters)
        listening.gone.set()
        await fixture.server.handle(listening)
        return listening.sent[0]["params"]["notifications"]

    assert asyncio.run(listen()) == {"resourceSubscriptions": uris[:0:-1]}
    assert fixture.refused("resources/subscribe", {"uri": uris[1]}) == (-32601, 404)


# --- Prompts and completions ----------------------------------------------------


@pytest.mark.parametrize("revision", KNOWN)
@pytest.mark.parametrize(
    ("name", "arguments", "kinds"),
    [
        ("test_simple_prompt", {}, ["text"]),
        ("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"}, ["text"]),
        (
            "test_prompt_with_embedded_resource",
            {"resourceUri": "test://x"},
            ["resource", "text"],
        ),
        ("test_prompt_with_image", {}, ["image", "text"]),
        ("fixture.greeting", {"name": "Ann"}, ["text"]),
    ],
)
def test_every_prompt_is_listed_and_had(
    revision: Revision, name: str, arguments: Json, kinds: list[str]
) -> None:
    fixture = Everything(revision)
    (page,) = fixture.listed("prompts/list", "prompts")
    (shown,) = (each for each in page if each["name"] == name)
    assert [each["name"] for each in shown.get("arguments", [])] == list(arguments)
    given = {"name": name, "arguments": arguments}
    messages = fixture.ask("prompts/get", given)["result"]["messages"]
    assert [each["content"]["type"] for each in messages] == kinds
    said = json.dumps(messages)
    assert all(value in said for value in arguments.values())


@pytest.mark.parametrize(
    "params",
    [
        {"name": "test_none"},
        {"name": 1},
        {},
        {"name": "test_prompt_with_arguments"},
        {"name": "test_prompt_with_arguments", "arguments": {"arg1": "a"}},
        {"name": "test_prompt_with_arguments", "arguments": {"arg1": "a", "arg2": 1}},
        {"name": "test_simple_prompt", "arguments": []},
        {"name": "test_changing_prompt_"},
    ],
)
def test_a_prompt_that_cannot_be_had_is_refused(params: Json) -> None:
    for revision in KNOWN:
        assert Everything(revision).refused("prompts/get", params)[0] == -32602


@pytest.mark.parametrize("revision", KNOWN)
def test_words_complete_an_argument(revision: Revision) -> None:
    fixture = Everything(revision)
    for reference in (
        {"type": "ref/prompt", "name": "test_prompt_with_arguments"},
        {"type": "ref/resource", "uri": "test://template/{id}/data"},
    ):
        params = {"ref": reference, "argument": {"name": "arg1", "value": "par"}}
        completion = fixture.ask("completion/complete", params)["result"]["completion"]
        assert completion["values"] == ["paris", "park", "party"]
        assert (completion["total"], completion["hasMore"]) == (3, False)


@pytest.mark.parametrize(
    ("reference", "argument"),
    [
        ({"type": "ref/prompt", "name": "none"}, {"name": "a", "value": ""}),
        ({"type": "ref/prompt", "name": []}, {"name": "a", "value": ""}),
        ({"type": "ref/odd", "name": "test_simple_prompt"}, {"name": "a", "value": ""}),
        ({"type": [], "name": "test_simple_prompt"}, {"name": "a", "value": ""}),
        (None, {"name": "a", "value": ""}),
        ({"type": "ref/prompt", "name": "test_simple_prompt"}, {"name": "a"}),
        ({"type": "ref/prompt", "name": "test_simple_prompt"}, None),
    ],
)
def test_what_cannot_be_completed_is_refused(reference: Json, argument: Json) -> None:
    params = {"ref": reference, "argument": argument}
    assert Everything().refused("completion/complete", params)[0] == -32602


@pytest.mark.parametrize("revision", KNOWN)
def test_completions_are_declared(revision: Revision) -> None:
    fixture = Everything(revision)
    if revision is STATELESS:
        declared = fixture.ask("server/discover")["result"]["capabilities"]
    else:
        fixture.session.initialize_seen = False
        opening: Json = {"protocolVersion": revision.value, "capabilities": {}}
        declared = fixture.ask("initialize", opening)["result"]["capabilities"]
    assert declared["completions"] == {}
