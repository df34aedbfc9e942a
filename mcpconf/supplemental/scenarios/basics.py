"""What every client does with a good server."""

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
from mcpconf.supplemental.scenario import (
    HANDSHAKE,
    STATELESS,
    CheckDefinition,
    Level,
    Scenario,
    Step,
    call,
    close,
    connect,
    listing,
    read,
)
from mcpconf.supplemental.scenarios.headers import HEADERS

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation, Seen

_SERVER = {"name": "openai-mcp-spec-test-server", "version": "0.1.0"}
_URIS = ("test://fixture/readme", "test://fixture/こんにちは")
_TEXT = "Grüße, 世界 \N{EARTH GLOBE EUROPE-AFRICA}"
_CALLERS_KEY = "com.example/mcpconf"
_PREFIX = "io.modelcontextprotocol/"
#: What a client may ask before the handshake is over.
_EARLY = frozenset({"initialize", "ping", "server/discover"})


def _first_answer(seen: Observation, *methods: str) -> Seen | None:
    answers = map(seen.subject.answer_to, seen.subject.requests(*methods))
    return next((each for each in answers if each and each.result is not None), None)


def _identity(seen: Observation) -> Finding:
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


def _handshake(seen: Observation) -> Finding:
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


def _surfaces(step_id: str, method: str, member: str, key: str) -> Any:
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


def _all_resources(seen: Observation) -> Finding:
    step = seen.step("resources")
    if not seen.subject.requests("resources/list"):
        return unobserved("the client never sent resources/list")
    if step.state is not StepState.OK:
        return broken(f"the list {ended(step)}")
    got = {each.get("uri") for each in step.value["items"]}
    missing = [uri for uri in _URIS if uri not in got]
    if missing:
        return broken(f"the host was not shown {', '.join(missing)}")
    return holds("the host was shown the resources of both pages")


def _echo(seen: Observation) -> Finding:
    step, calls = seen.step("echo"), seen.subject.calls("echo")
    if not calls:
        answered = step.state is StepState.OK
        return (broken if answered else unobserved)(
            f"no call of echo is on the wire, and it {ended(step)}"
        )
    sent = (calls[-1].params.get("arguments") or {}).get("text")
    if sent != _TEXT:
        return broken(f"the text went out as {sent!r}")
    if step.state is not StepState.OK:
        return broken(f"the call {ended(step)}")
    if text_of(step) != _TEXT:
        return broken(f"the host got {text_of(step)!r}")
    return holds(f"{_TEXT!r} went out and came back")


def _unicode_resource(seen: Observation) -> Finding:
    step = seen.step("read")
    uris = [each.params.get("uri") for each in seen.subject.requests("resources/read")]
    if _URIS[1] not in uris:
        return (
            broken(f"the client asked for {uris}")
            if uris
            else unobserved(f"no resources/read is on the wire, and it {ended(step)}")
        )
    if step.state is not StepState.OK:
        return broken(f"the read {ended(step)}")
    texts = [each.get("text") for each in step.value["contents"]]
    if texts != [f"fixture contents for {_URIS[1]}"]:
        return broken(f"the host got {texts}")
    return holds(f"{_URIS[1]} was read")


def _prompt(seen: Observation) -> Finding:
    step = seen.step("prompt")
    if not seen.subject.requests("prompts/get"):
        return unobserved(f"no prompts/get is on the wire, and it {ended(step)}")
    if step.state is not StepState.OK:
        return broken(f"the prompt {ended(step)}")
    texts = [each.get("content", {}).get("text") for each in step.value["messages"]]
    if texts != ["Hello, Ada!"]:
        return broken(f"the host got {texts}")
    return holds("the argument went out and the message came back")


def _tool_error(seen: Observation) -> Finding:
    step = seen.step("fail")
    if not seen.subject.calls("fail"):
        return unobserved(f"no call of fail is on the wire, and it {ended(step)}")
    if step.state is not StepState.OK:
        return broken(f"a tool's own failure became an error: the call {ended(step)}")
    result = step.value["result"]
    if result.get("isError") is not True or text_of(step) != "fixture failure":
        return broken(f"the host got {result}")
    return holds("the host got the result with isError and its text")


def _rpc_error(seen: Observation) -> Finding:
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


def _every_request_has(*names: str) -> Any:
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


def _callers_meta(seen: Observation) -> Finding:
    calls = seen.subject.calls("client_metadata")
    if not calls:
        return unobserved("no call of client_metadata is on the wire")
    if calls[-1].meta.get(_CALLERS_KEY) != _TEXT:
        return broken(f"the caller's key {_CALLERS_KEY} did not go out")
    return holds(f"the caller's key {_CALLERS_KEY} went out beside the client's own")


def _prompt_step() -> Step:
    words = {"name": "fixture.greeting", "arguments": {"name": "Ada"}}
    return Step(id="prompt", verb="prompt", arguments=words)


def _check(
    id: str,  # noqa: A002
    sentence: str,
    look: Any,
    *needs: str,
    broken: str,
    **more: Any,
) -> CheckDefinition:
    return CheckDefinition(
        id=id,
        sentence=sentence,
        look=look,
        needs=needs,
        broken=(broken,),
        **{"level": Level.MUST, "looks_for": "the wire against what the host got"}
        | more,
    )


BASICS = Scenario(
    name="basics",
    title="A good server: opening, lists, calls, reads, prompts",
    steps=(
        connect(),
        listing(),
        listing("resources", id="resources"),
        listing("resourceTemplates", id="templates"),
        listing("prompts", id="prompts"),
        call("echo", {"text": _TEXT}, id="echo"),
        read(_URIS[1]),
        _prompt_step(),
        call("fail", id="fail"),
        call("no_such_tool", id="unknown"),
        close(),
    ),
    checks=(
        _check(
            "identity",
            "The host learns which server it talks to. (No page demands it.)",
            _identity,
            "connect",
            broken="reports_another_server",
            page="basic/lifecycle",
            level=Level.SHOULD,
            stateless_page="server/discover",
        ),
        _check(
            "handshake-in-order",
            "After initialize and before anything else a client sends "
            "notifications/initialized.",
            _handshake,
            broken="asks_before_it_is_initialized",
            page="basic/lifecycle",
            looks_for="the order of the client's messages",
            revisions=HANDSHAKE,
        ),
        _check(
            "tools-inventory",
            "The host is shown the tools that the server lists, and no others. (No "
            "page demands it.)",
            _surfaces("list", "tools/list", "tools", "name"),
            "list",
            broken="shows_a_tool_of_its_own",
            page="server/tools",
            level=Level.SHOULD,
        ),
        _check(
            "resources-inventory",
            "The host is shown the resources of every page.",
            _all_resources,
            "resources",
            broken="drops_page_two_of_resources",
            page="server/utilities/pagination",
            level=Level.SHOULD,
        ),
        _check(
            "templates-inventory",
            "The host is shown the resource templates that the server lists. (No page "
            "demands it.)",
            _surfaces(
                "templates",
                "resources/templates/list",
                "resourceTemplates",
                "uriTemplate",
            ),
            "templates",
            broken="hides_resource_templates",
            page="server/resources",
            level=Level.SHOULD,
        ),
        _check(
            "prompts-inventory",
            "The host is shown the prompts that the server lists. (No page demands "
            "it.)",
            _surfaces("prompts", "prompts/list", "prompts", "name"),
            "prompts",
            broken="hides_prompts",
            page="server/prompts",
            level=Level.SHOULD,
        ),
        _check(
            "echo",
            "A call reaches the server with its arguments, and its result the host.",
            _echo,
            "echo",
            broken="answers_by_itself",
            page="server/tools",
        ),
        _check(
            "unicode-resource",
            "A resource is read under the very URI that the server gave it.",
            _unicode_resource,
            "read",
            broken="percent_encodes_uris",
            page="server/resources",
        ),
        _check(
            "prompt",
            "A prompt is got with its arguments.",
            _prompt,
            "prompt",
            broken="forgets_prompt_arguments",
            page="server/prompts",
        ),
        _check(
            "tool-error-is-a-result",
            "A tool's own failure is a result with isError, which the model should "
            "see.",
            _tool_error,
            "fail",
            broken="hides_tool_errors",
            page="server/tools",
            level=Level.SHOULD,
        ),
        _check(
            "protocol-error-is-an-error",
            "A JSON-RPC error reaches the host as an error, and not as a result that "
            "says nothing of one. (No page demands it.)",
            _rpc_error,
            "unknown",
            broken="makes_results_of_errors",
            page="server/tools",
            level=Level.SHOULD,
        ),
    ),
)

METADATA = Scenario(
    name="metadata",
    title="A good server that shows the metadata of a request",
    revisions=STATELESS,
    steps=(
        connect(),
        listing(),
        call("client_metadata", id="call", meta={_CALLERS_KEY: _TEXT}),
    ),
    checks=(
        _check(
            "required-metadata",
            "Every request carries the protocol version and the client's "
            "capabilities in its _meta.",
            _every_request_has("protocolVersion", "clientCapabilities"),
            broken="forgets_its_capabilities_once",
            page="basic",
            looks_for="_meta of every request",
        ),
        _check(
            "client-info",
            "Every request should say which client sends it.",
            _every_request_has("clientInfo"),
            broken="does_not_say_who_it_is",
            page="basic",
            looks_for="_meta of every request",
            level=Level.SHOULD,
        ),
        _check(
            "callers-metadata",
            "What a caller puts into _meta goes out beside the client's own. (No page "
            "demands it.)",
            _callers_meta,
            "call",
            broken="drops_the_callers_metadata",
            page="basic",
            looks_for="_meta of tools/call",
            level=Level.SHOULD,
        ),
    ),
)

REGISTRATION = Scenario(
    name="registration",
    title="A good server, registered the way a user of the client would",
    options={"registration": "cli"},
    steps=(connect(), call("echo", {"text": _TEXT}, id="echo"), close()),
    checks=(
        _check(
            "registered-and-used",
            "A call of a tool of a registered server goes to that server, as "
            "tools/call.",
            _echo,
            "connect",
            "echo",
            broken="answers_by_itself",
            page="server/tools",
            looks_for="the call on the wire of the registered server",
        ),
    ),
)

SCENARIOS: tuple[Scenario, ...] = (REGISTRATION, BASICS, METADATA, HEADERS)
