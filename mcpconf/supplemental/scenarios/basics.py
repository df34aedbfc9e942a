"""What every client does with a good server."""

from __future__ import annotations

from typing import Any

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
from mcpconf.supplemental.scenarios.basics_looks import (
    CALLERS_KEY,
    TEXT,
    URIS,
    every_request_has,
    look_at_all_resources,
    look_at_callers_meta,
    look_at_echo,
    look_at_handshake,
    look_at_identity,
    look_at_prompt,
    look_at_rpc_error,
    look_at_tool_error,
    look_at_unicode_resource,
    surfaces,
)
from mcpconf.supplemental.scenarios.headers import HEADERS


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
        call("echo", {"text": TEXT}, id="echo"),
        read(URIS[1]),
        _prompt_step(),
        call("fail", id="fail"),
        call("no_such_tool", id="unknown"),
        close(),
    ),
    checks=(
        _check(
            "identity",
            "The host learns which server it talks to. (No page demands it.)",
            look_at_identity,
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
            look_at_handshake,
            broken="asks_before_it_is_initialized",
            page="basic/lifecycle",
            looks_for="the order of the client's messages",
            revisions=HANDSHAKE,
        ),
        _check(
            "tools-inventory",
            "The host is shown the tools that the server lists, and no others. (No "
            "page demands it.)",
            surfaces("list", "tools/list", "tools", "name"),
            "list",
            broken="shows_a_tool_of_its_own",
            page="server/tools",
            level=Level.SHOULD,
        ),
        _check(
            "resources-inventory",
            "The host is shown the resources of every page.",
            look_at_all_resources,
            "resources",
            broken="drops_page_two_of_resources",
            page="server/utilities/pagination",
            level=Level.SHOULD,
        ),
        _check(
            "templates-inventory",
            "The host is shown the resource templates that the server lists. (No page "
            "demands it.)",
            surfaces(
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
            surfaces("prompts", "prompts/list", "prompts", "name"),
            "prompts",
            broken="hides_prompts",
            page="server/prompts",
            level=Level.SHOULD,
        ),
        _check(
            "echo",
            "A call reaches the server with its arguments, and its result the host.",
            look_at_echo,
            "echo",
            broken="answers_by_itself",
            page="server/tools",
        ),
        _check(
            "unicode-resource",
            "A resource is read under the very URI that the server gave it.",
            look_at_unicode_resource,
            "read",
            broken="percent_encodes_uris",
            page="server/resources",
        ),
        _check(
            "prompt",
            "A prompt is got with its arguments.",
            look_at_prompt,
            "prompt",
            broken="forgets_prompt_arguments",
            page="server/prompts",
        ),
        _check(
            "tool-error-is-a-result",
            "A tool's own failure is a result with isError, which the model should "
            "see.",
            look_at_tool_error,
            "fail",
            broken="hides_tool_errors",
            page="server/tools",
            level=Level.SHOULD,
        ),
        _check(
            "protocol-error-is-an-error",
            "A JSON-RPC error reaches the host as an error, and not as a result that "
            "says nothing of one. (No page demands it.)",
            look_at_rpc_error,
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
        call("client_metadata", id="call", meta={CALLERS_KEY: TEXT}),
    ),
    checks=(
        _check(
            "required-metadata",
            "Every request carries the protocol version and the client's "
            "capabilities in its _meta.",
            every_request_has("protocolVersion", "clientCapabilities"),
            broken="forgets_its_capabilities_once",
            page="basic",
            looks_for="_meta of every request",
        ),
        _check(
            "client-info",
            "Every request should say which client sends it.",
            every_request_has("clientInfo"),
            broken="does_not_say_who_it_is",
            page="basic",
            looks_for="_meta of every request",
            level=Level.SHOULD,
        ),
        _check(
            "callers-metadata",
            "What a caller puts into _meta goes out beside the client's own. (No page "
            "demands it.)",
            look_at_callers_meta,
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
    steps=(connect(), call("echo", {"text": TEXT}, id="echo"), close()),
    checks=(
        _check(
            "registered-and-used",
            "A call of a tool of a registered server goes to that server, as "
            "tools/call.",
            look_at_echo,
            "connect",
            "echo",
            broken="answers_by_itself",
            page="server/tools",
            looks_for="the call on the wire of the registered server",
        ),
    ),
)

SCENARIOS: tuple[Scenario, ...] = (REGISTRATION, BASICS, METADATA, HEADERS)
