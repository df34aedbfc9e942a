"""
What a host does in each scenario without authorization.

Opening the connection and listing tools happens by itself when a thread starts; a
scenario adds the calls that its mock server waits for.
"""

from __future__ import annotations

from mcpconf.client.codex.session import schema_defaults

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mcpconf.client.codex.session import Session

    Context = Mapping[str, Any]
    Fill = Callable[[Mapping[str, Any]], dict[str, Any]]


def _discover(_session: Session, _context: Context) -> None:
    """Opening and listing is all the scenario looks at."""


def _call(tool: str, **arguments: object) -> Callable[[Session, Context], None]:
    def act(session: Session, _context: Context) -> None:
        session.call_tool(tool, arguments)

    return act


def _request_state(session: Session, _context: Context) -> None:
    for tool in ("unrelated", "no_result_type", "echo_state", "no_state"):
        session.call_tool(f"test_mrtr_{tool}", {})


def _standard_headers(session: Session, _context: Context) -> None:
    session.call_tool("test_headers", {})
    resources = session.inventory().get("resources")
    uris = [
        resource["uri"]
        for resource in (resources if isinstance(resources, list) else [])
        if isinstance(resource, dict) and isinstance(resource.get("uri"), str)
    ]
    session.record.require("listed resources", bool(uris), f"{len(uris)} listed")
    session.read_resource(uris[0])


def _custom_headers(session: Session, context: Context) -> None:
    calls = context.get("toolCalls")
    session.record.require(
        "context names the calls", isinstance(calls, list) and bool(calls)
    )
    for call in calls if isinstance(calls, list) else []:
        session.call_tool(call["name"], call["arguments"])


def _invalid_tool_headers(session: Session, _context: Context) -> None:
    # Every surfaced tool is called: one that should have been dropped and was not
    # would otherwise never be seen, and the scenario would pass untested.
    tools = session.inventory().get("tools")
    names = sorted(tools) if isinstance(tools, dict) else []
    session.record.require("valid tool survived", "valid_tool" in names, f"{names}")
    session.call_tool("valid_tool", {"region": "us-west1"})
    for name in names:
        if name != "valid_tool":
            session.try_tool(name, {"region": "us-west1"})
            session.record.step(f"call {name}", "surfaced, so called")


def _schema_echo(session: Session, _context: Context) -> None:
    tools = session.inventory().get("tools")
    tool = tools.get("json_schema_2020_12_tool") if isinstance(tools, dict) else None
    schema = tool.get("inputSchema") if isinstance(tool, dict) else None
    session.record.require("schema surfaced", isinstance(schema, dict))
    session.call_tool("json_schema_echo", {"schema": schema})


#: Scenario → what the host does once the thread's server is ready.
SCENARIOS: Mapping[str, Callable[[Session, Context], None]] = {
    "initialize": _discover,
    "request-metadata": _discover,
    "json-schema-ref-no-deref": _discover,
    "tools_call": _call("add_numbers", a=2, b=3),
    "elicitation-sep1034-client-defaults": _call("test_client_elicitation_defaults"),
    "sse-retry": _call("test_reconnection"),
    "sep-2322-client-request-state": _request_state,
    "http-standard-headers": _standard_headers,
    "http-custom-headers": _custom_headers,
    "http-invalid-tool-headers": _invalid_tool_headers,
    "json-schema-2020-12-preservation": _schema_echo,
}


def form_answer(scenario: str, defaults: str) -> Fill:
    """
    What the host puts into a form.

    `defaults` is the policy for a form with defaults: ``client`` submits it empty, so
    that the client must fill them in (SEP-1034); ``host`` fills them in itself.
    """
    if scenario == "sep-2322-client-request-state":
        return lambda _schema: {"confirmed": True}
    if scenario == "elicitation-sep1034-client-defaults" and defaults == "client":
        return lambda _schema: {}
    return schema_defaults
