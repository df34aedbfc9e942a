"""What the basic checks see: the wire of a good server against what the host got."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    unobserved,
    unsupported,
)
from mcpconf.supplemental.looks import ended, has_error_result, text_of
from mcpconf.supplemental.observation import StepState

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation, Seen

_SERVER = {"name": "openai-mcp-spec-test-server", "version": "0.1.0"}
URIS = ("test://fixture/readme", "test://fixture/こんにちは")
TEXT = "Grüße, 世界 \N{EARTH GLOBE EUROPE-AFRICA}"
CALLERS_KEY = "com.example/mcpconf"
_PREFIX = "io.modelcontextprotocol/"
#: What a client may ask before the handshake is over.
_EARLY = frozenset({"initialize", "ping", "server/discover"})


def _first_answer(seen: Observation, *methods: str) -> Seen | None:
    answers = map(seen.subject.answer_to, seen.subject.requests(*methods))
    return next((each for each in answers if each and each.result is not None), None)


def look_at_identity(seen: Observation) -> Finding:
    """The host learns which server it talks to."""
    step = seen.step("connect")
    if _first_answer(seen, "initialize", "server/discover", "tools/list") is None:
        return unobserved("no opening of the client was answered")
    if step.state is not StepState.OK:
        return broken(f"the server answered and the connection {ended(step)}")
    info = step.value.get("serverInfo")
    if info is None:
        return unsupported("the client does not show its host who the server is")
    wrong = {
        name: info.get(name) for name in _SERVER if info.get(name) != _SERVER[name]
    }
    if wrong:
        return broken(f"the host was told {wrong}")
    return holds(f"the host was told {_SERVER['name']} {_SERVER['version']}")


def look_at_handshake(seen: Observation) -> Finding:
    """`initialize`, its answer, `notifications/initialized`, and only then the rest."""
    by_connection: dict[Any, list[Seen]] = {}
    for each in seen.subject.received:
        exchange = seen.subject.exchange_of(each)
        session = exchange.header("mcp-session-id") if exchange else each.connection
        by_connection.setdefault(session, []).append(each)
    if not any(each.method == "initialize" for each in seen.subject.received):
        return unobserved("the client never sent initialize")
    told = False
    for messages in by_connection.values():
        ready = False
        for each in messages:
            if each.method == "notifications/initialized":
                ready = told = True
            elif not ready and each.is_request and each.method not in _EARLY:
                return broken(f"{each.method} came before notifications/initialized")
    if not told:
        return broken("the client never sent notifications/initialized")
    return holds("initialize, notifications/initialized, and only then the rest")


def surfaces(step_id: str, method: str, member: str, key: str) -> Any:
    """Whether a host got every item that the pages of a list hold."""

    def look(seen: Observation) -> Finding:
        step = seen.step(step_id)
        served = [
            each[key]
            for answer in map(seen.subject.answer_to, seen.subject.requests(method))
            if answer and isinstance(answer.result, dict)
            for each in answer.result.get(member, ())
        ]
        if not served:
            return unobserved(f"no answered {method} is on the wire")
        if step.state is not StepState.OK:
            return broken(f"the server answered and the list {ended(step)}")
        got = [each.get(key) for each in step.value["items"]]
        missing = sorted(set(served) - set(got))
        if missing:
            return broken(f"the host was not shown {', '.join(missing)}")
        made_up = sorted(set(map(str, got)) - set(served))
        if made_up:
            return broken(f"the host was shown {', '.join(made_up)}, never served")
        return holds(f"the host was shown all {len(set(served))} that were served")

    return look


def look_at_all_resources(seen: Observation) -> Finding:
    """The host is shown the resources of both pages."""
    step = seen.step("resources")
    if not seen.subject.requests("resources/list"):
        return unobserved("the client never sent resources/list")
    if step.state is not StepState.OK:
        return broken(f"the list {ended(step)}")
    got = {each.get("uri") for each in step.value["items"]}
    missing = [uri for uri in URIS if uri not in got]
    if missing:
        return broken(f"the host was not shown {', '.join(missing)}")
    return holds("the host was shown the resources of both pages")


def look_at_echo(seen: Observation) -> Finding:
    """The call went out as it was made, and its result came back."""
    step, calls = seen.step("echo"), seen.subject.calls("echo")
    if not calls:
        answered = step.state is StepState.OK
        return (broken if answered else unobserved)(
            f"no call of echo is on the wire, and it {ended(step)}"
        )
    sent = (calls[-1].params.get("arguments") or {}).get("text")
    if sent != TEXT:
        return broken(f"the text went out as {sent!r}")
    if step.state is not StepState.OK:
        return broken(f"the call {ended(step)}")
    if text_of(step) != TEXT:
        return broken(f"the host got {text_of(step)!r}")
    return holds(f"{TEXT!r} went out and came back")


def look_at_unicode_resource(seen: Observation) -> Finding:
    """The resource was read under its own URI."""
    step = seen.step("read")
    uris = [each.params.get("uri") for each in seen.subject.requests("resources/read")]
    if URIS[1] not in uris:
        return (
            broken(f"the client asked for {uris}")
            if uris
            else unobserved(f"no resources/read is on the wire, and it {ended(step)}")
        )
    if step.state is not StepState.OK:
        return broken(f"the read {ended(step)}")
    texts = [each.get("text") for each in step.value["contents"]]
    if texts != [f"fixture contents for {URIS[1]}"]:
        return broken(f"the host got {texts}")
    return holds(f"{URIS[1]} was read")


def look_at_prompt(seen: Observation) -> Finding:
    """The prompt was got with its argument."""
    step = seen.step("prompt")
    if not seen.subject.requests("prompts/get"):
        return unobserved(f"no prompts/get is on the wire, and it {ended(step)}")
    if step.state is not StepState.OK:
        return broken(f"the prompt {ended(step)}")
    texts = [each.get("content", {}).get("text") for each in step.value["messages"]]
    if texts != ["Hello, Ada!"]:
        return broken(f"the host got {texts}")
    return holds("the argument went out and the message came back")


def look_at_tool_error(seen: Observation) -> Finding:
    """A tool's own failure reached the host as a result that says so."""
    step = seen.step("fail")
    if not seen.subject.calls("fail"):
        return unobserved(f"no call of fail is on the wire, and it {ended(step)}")
    if step.state is not StepState.OK:
        return broken(f"a tool's own failure became an error: the call {ended(step)}")
    result = step.value["result"]
    if result.get("isError") is not True or text_of(step) != "fixture failure":
        return broken(f"the host got {result}")
    return holds("the host got the result with isError and its text")


def look_at_rpc_error(seen: Observation) -> Finding:
    """An error of the server reached the host as an error."""
    step = seen.step("unknown")
    calls = seen.subject.calls("no_such_tool")
    if not calls:
        if step.state is StepState.OK:
            return broken("a tool that no server has was called successfully")
        return unsupported("the client calls only tools that the server lists")
    if step.state is StepState.OK and has_error_result(step):
        return holds(f"the host was given an error result: {text_of(step)!r}")
    if step.state is StepState.OK:
        return broken(f"the server answered an error, the host got {step.value}")
    if step.error_kind == "timeout":
        return broken(f"the server answered an error and the call {ended(step)}")
    return holds(f"the call {ended(step)}")


def every_request_has(*names: str) -> Any:
    """A look: these members are in the ``_meta`` of every request."""

    def look(seen: Observation) -> Finding:
        requests = seen.subject.requests()
        for each in requests:
            for name in names:
                kind = str if name == "protocolVersion" else dict
                if not isinstance(each.meta.get(_PREFIX + name), kind):
                    return broken(f"{each.method} has no {name} in its _meta")
        if not requests:
            return unobserved("no request is on the wire")
        return holds(f"{' and '.join(names)} in all {len(requests)} requests")

    return look


def look_at_callers_meta(seen: Observation) -> Finding:
    """The caller's own metadata went out."""
    calls = seen.subject.calls("client_metadata")
    if not calls:
        return unobserved("no call of client_metadata is on the wire")
    if calls[-1].meta.get(CALLERS_KEY) != TEXT:
        return broken(f"the caller's key {CALLERS_KEY} did not go out")
    return holds(f"the caller's key {CALLERS_KEY} went out beside the client's own")
