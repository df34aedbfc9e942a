"""What the fixture server with everything asks of its client, at each revision."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from fixture_call import HANDSHAKE, OLD, STATELESS
from fixture_everything import Everything
from mcp_types import methods

from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.everything.rounds import Seal

if TYPE_CHECKING:
    from mcpconf.revision import Revision

    Json = Any

ALL: dict[str, Any] = {"elicitation": {}, "sampling": {}, "roots": {}}
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
PREFIX = "test_input_required_result_"
SAMPLE = {
    "role": "assistant",
    "content": {"type": "text", "text": "Paris"},
    "model": "m",
}
ROOTS = {"roots": [{"uri": "file:///a"}, {"uri": "file:///b"}]}


def accept(**content: Json) -> dict[str, Any]:
    return {"action": "accept", "content": content}


# --- Handshake revisions --------------------------------------------------------


def asked(
    revision: Revision,
    tool: str,
    arguments: Json,
    answer: Json,
    capabilities: Json = None,
) -> tuple[list[Any], Json]:
    fixture = Everything(revision, ALL if capabilities is None else capabilities)
    params = {"name": tool, "arguments": arguments}
    call = fixture.call("tools/call", params)
    call.answer = answer
    asyncio.run(fixture.server.handle(call))
    for method, sent in call.asked:
        methods.parse_server_request(method, revision.value, sent)
    return call.asked, call.sent[-1]["result"]


@pytest.mark.parametrize("revision", [OLD, HANDSHAKE])
def test_a_sample_is_asked_for_and_shown(revision: Revision) -> None:
    ((method, sent),), result = asked(
        revision, "test_sampling", {"prompt": "Which city?"}, {"result": SAMPLE}
    )
    assert method == "sampling/createMessage"
    assert sent["messages"][0]["content"]["text"] == "Which city?"
    assert sent["maxTokens"] == 100
    assert result["content"][0]["text"] == "LLM response: Paris"


@pytest.mark.parametrize("revision", [OLD, HANDSHAKE])
def test_a_form_is_asked_for_and_shown(revision: Revision) -> None:
    ((method, sent),), result = asked(
        revision,
        "test_elicitation",
        {"message": "Who?"},
        {"result": accept(username="ann", email="a@example.com")},
    )
    assert method == "elicitation/create"
    assert sent["message"] == "Who?"
    assert sent["requestedSchema"]["required"] == ["username", "email"]
    assert ("mode" in sent) == (revision is HANDSHAKE), "forms have no name before"
    assert result["content"][0]["text"] == (
        'User response: action=accept, content={"email": "a@example.com", '
        '"username": "ann"}'
    )


def test_a_form_has_defaults_of_every_type() -> None:
    ((_, sent),), result = asked(
        HANDSHAKE,
        "test_elicitation_sep1034_defaults",
        {},
        {"result": {"action": "decline"}},
    )
    properties = sent["requestedSchema"]["properties"]
    assert {name: each["default"] for name, each in properties.items()} == {
        "name": "John Doe",
        "age": 30,
        "score": 95.5,
        "status": "active",
        "verified": True,
    }
    text = result["content"][0]["text"]
    assert text == "Elicitation completed: action=decline, content=null"


def test_a_form_has_every_kind_of_choice() -> None:
    ((_, sent),), _ = asked(
        HANDSHAKE,
        "test_elicitation_sep1330_enums",
        {},
        {"result": accept(untitledSingle="option1")},
    )
    properties = sent["requestedSchema"]["properties"]
    assert set(properties["untitledSingle"]) == {"type", "enum"}
    assert set(properties["titledSingle"]) == {"type", "oneOf"}
    legacy = properties["legacyEnum"]
    assert len(legacy["enum"]) == len(legacy["enumNames"])
    assert set(properties["untitledMulti"]["items"]) == {"type", "enum"}
    assert set(properties["titledMulti"]["items"]) == {"anyOf"}


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("test_sampling", {"prompt": "Which city?"}),
        ("test_elicitation", {"message": "Who?"}),
        ("test_elicitation_sep1034_defaults", {}),
    ],
)
def test_who_cannot_answer_is_not_asked(tool: str, arguments: Json) -> None:
    sent, result = asked(HANDSHAKE, tool, arguments, None, {"roots": {}})
    assert sent == []
    assert result["isError"] is True
    error = {"error": {"code": -1, "message": "not now"}}
    _, result = asked(HANDSHAKE, tool, arguments, error)
    assert result["isError"] is True
    assert "not now" in result["content"][0]["text"]


@pytest.mark.parametrize("arguments", [{}, {"prompt": 1}, {"prompt": "a", "odd": 1}])
def test_arguments_that_are_not_the_tools_are_refused(arguments: Json) -> None:
    fixture = Everything(HANDSHAKE, ALL)
    params = {"name": "test_sampling", "arguments": arguments}
    assert fixture.refused("tools/call", params)[0] == -32602


# --- 2026-07-28 -----------------------------------------------------------------


class Rounds:
    """One tool or prompt, by a client that declares all or what it is told."""

    def __init__(self, name: str, capabilities: Json = None) -> None:
        self.fixture = Everything()
        self.declared = ALL if capabilities is None else capabilities
        self.method = "prompts/get" if name.endswith("_prompt") else "tools/call"
        self.name = name if name.startswith("test_") else PREFIX + name

    def ask(self, answers: Json = None, state: Json = None, **more: Json) -> Json:
        params = {"name": self.name, **more}
        if answers is not None:
            params["inputResponses"] = answers
        if state is not None:
            params["requestState"] = state
        return self.fixture.ask(self.method, params, **{CAPABILITIES: self.declared})

    def result(self, answers: Json = None, state: Json = None) -> Json:
        return self.ask(answers, state)["result"]

    def code(self, answers: Json = None, state: Json = None, **more: Json) -> int:
        return int(self.ask(answers, state, **more)["error"]["code"])


def text(result: Json) -> str:
    assert result["resultType"] == "complete"
    if "messages" in result:
        return str(result["messages"][0]["content"]["text"])
    return str(result["content"][0]["text"])


@pytest.mark.parametrize(
    ("name", "answers", "said"),
    [
        ("elicitation", {"user_name": accept(name="Ann")}, "Hello, Ann!"),
        ("sampling", {"capital_question": SAMPLE}, "Paris"),
        ("list_roots", {"client_roots": ROOTS}, "Roots: file:///a, file:///b"),
        ("request_state", {"confirm": accept(ok=True)}, "state-ok: true"),
        ("tampered_state", {"confirm": accept(ok=False)}, "state-ok: false"),
        (
            "multiple_inputs",
            {
                "user_name": accept(name="Ann"),
                "greeting": SAMPLE,
                "client_roots": ROOTS,
            },
            "Ann / Paris / file:///a, file:///b",
        ),
        (
            f"{PREFIX}prompt",
            {"user_context": accept(context="rain")},
            "Use this context: rain",
        ),
    ],
)
def test_one_round_of_input(name: str, answers: Json, said: str) -> None:
    rounds = Rounds(name)
    first = rounds.result()
    assert first["resultType"] == "input_required"
    assert set(first["inputRequests"]) == set(answers)
    state = first.get("requestState")
    assert text(rounds.result({**answers, "odd": 1}, state)) == said

    wanting = dict(list(answers.items())[1:])
    again = rounds.result(wanting, state)
    assert again["inputRequests"] == first["inputRequests"], "asked again"
    assert text(rounds.result(answers, again.get("requestState"))) == said


def test_several_rounds_of_input_each_with_its_own_state() -> None:
    rounds = Rounds("multi_round")
    first = rounds.result()
    second = rounds.result({"step1": accept(name="Ann")}, first["requestState"])
    assert set(second["inputRequests"]) == {"step2"}
    assert second["requestState"] != first["requestState"]
    again = rounds.result({"step1": accept(name="Bob")}, second["requestState"])
    assert set(again["inputRequests"]) == {"step2"}, "the second round is the second"
    last = rounds.result({"step2": accept(color="blue")}, again["requestState"])
    assert text(last) == "Ann likes blue."


@pytest.mark.parametrize(
    ("name", "answers"),
    [
        ("elicitation", {"user_name": 12345}),
        ("elicitation", {"user_name": accept(name=1)}),
        ("elicitation", {"user_name": {"action": "accept"}}),
        ("elicitation", {"user_name": {"action": "maybe"}}),
        ("elicitation", []),
        ("request_state", {"confirm": accept(ok="yes")}),
        ("sampling", {"capital_question": {"content": SAMPLE["content"]}}),
        ("sampling", {"capital_question": {**SAMPLE, "content": "Paris"}}),
        ("list_roots", {"client_roots": {"roots": [{"uri": 1}]}}),
        ("list_roots", {"client_roots": {}}),
    ],
)
def test_answers_that_are_none_are_refused(name: str, answers: Json) -> None:
    rounds = Rounds(name)
    assert rounds.code(answers, rounds.result().get("requestState")) == -32602


def test_input_responses_of_null_are_refused() -> None:
    assert Rounds("elicitation").code(inputResponses=None) == -32602


@pytest.mark.parametrize("action", ["decline", "cancel"])
@pytest.mark.parametrize("name", ["elicitation", "multi_round", f"{PREFIX}prompt"])
def test_a_user_who_declines_is_believed(name: str, action: str) -> None:
    rounds = Rounds(name)
    first = rounds.result()
    (key,) = first["inputRequests"]
    result = rounds.result({key: {"action": action}}, first.get("requestState"))
    assert text(result) == f"The user's answer is {action}."


def test_a_state_is_good_as_it_was_given_out_and_for_nothing_else() -> None:
    rounds = Rounds("tampered_state")
    first = rounds.result()
    (key,), state = first["inputRequests"], first["requestState"]
    answers = {key: accept(ok=True)}
    others = rounds.fixture.ask(
        "tools/call", {"name": f"{PREFIX}multi_round"}, **{CAPABILITIES: ALL}
    )["result"]["requestState"]
    body, _, sign = state.partition(".")
    for bad in (
        f"{state}-TAMPERED",
        f"x{state}",
        f"{body}.{sign[::-1]}",
        body,
        "",
        "\ud800",
        "é.é",
        others,
        7,
    ):
        assert rounds.code(answers, bad) == -32602, bad
    assert rounds.code(answers) == -32602, "without the state that was given"
    assert text(rounds.result(answers, state)) == "state-ok: true"
    assert Rounds("elicitation").code({}, state) == -32602, "none was given there"


def test_a_seal_opens_what_it_closed_and_no_other_did() -> None:
    seal = Seal()
    value = ["a name", 1, {"key": "é\n"}]
    assert seal.open(seal.close(value)) == value
    with pytest.raises(RpcError):
        seal.open(Seal().close(value))


@pytest.mark.parametrize(
    ("name", "declared", "needed"),
    [
        ("elicitation", {"sampling": {}}, {"elicitation": {"form": {}}}),
        ("elicitation", {"elicitation": {"url": {}}}, {"elicitation": {"form": {}}}),
        ("sampling", {"elicitation": {}}, {"sampling": {}}),
        ("list_roots", {"roots": None}, {"roots": {}}),
        ("multiple_inputs", {"elicitation": {}}, {"sampling": {}, "roots": {}}),
        ("capabilities", {}, {"sampling": {}}),
        ("test_missing_capability", {}, {"sampling": {}}),
        ("test_streaming_elicitation", {}, {"elicitation": {"form": {}}}),
        (f"{PREFIX}prompt", {}, {"elicitation": {"form": {}}}),
    ],
)
def test_who_did_not_declare_it_is_not_asked(
    name: str, declared: Json, needed: Json
) -> None:
    rounds = Rounds(name, declared)
    error = rounds.ask()["error"]
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": needed})
    params = {"name": rounds.name}
    refused = rounds.fixture.refused(rounds.method, params, **{CAPABILITIES: declared})
    assert refused == (-32021, 400)


def test_a_capability_that_is_declared_is_enough() -> None:
    assert "sampling" in text(Rounds("test_missing_capability").result())


@pytest.mark.parametrize(
    ("declared", "keys"),
    [
        ({"sampling": {}}, {"capital_question"}),
        ({"elicitation": {}}, {"user_name"}),
        ({"roots": {}, "sampling": {}}, {"client_roots", "capital_question"}),
    ],
)
def test_a_client_is_asked_for_what_it_has(declared: Json, keys: set[str]) -> None:
    rounds = Rounds("capabilities", declared)
    assert set(rounds.result()["inputRequests"]) == keys
    answers = {
        "user_name": accept(name="Ann"),
        "capital_question": SAMPLE,
        "client_roots": ROOTS,
    }
    assert text(rounds.result({key: answers[key] for key in keys}))


def test_the_prompt_that_needs_input_is_listed_at_2026_07_28_only() -> None:
    for revision in (HANDSHAKE, STATELESS):
        (page,) = Everything(revision).listed("prompts/list", "prompts")
        names = {each["name"] for each in page}
        assert (f"{PREFIX}prompt" in names) == (revision is STATELESS)
    assert Everything(HANDSHAKE).refused(
        "prompts/get", {"name": f"{PREFIX}prompt"}
    ) == (-32602, 200)
