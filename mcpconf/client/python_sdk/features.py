"""The parts of the scenarios without authorization: tools, headers, input requests."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from mcp.types import CreateMessageResult, ListRootsResult, TextContent
from pydantic import ValidationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.client.context import ClientRequestContext
    from mcp.types import CreateMessageRequestParams, ElicitRequestParams, ElicitResult

    from mcpconf.client.python_sdk.assignment import Assignment
    from mcpconf.client.python_sdk.connection import connect, fill_defaults
else:
    from connection import connect, fill_defaults

#: One value of every JSON Schema type, for arguments a scenario leaves to the host.
_SAMPLES: Mapping[str, Any] = {
    "string": "x",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "object": {},
    "array": [],
    "null": None,
}


async def list_tools(assignment: Assignment) -> None:
    """Open a connection and list the tools; never resolve what a schema points to."""
    async with connect(assignment) as client:
        await client.list_tools()


async def call_add_numbers(assignment: Assignment) -> None:
    """List the tools, then add two numbers."""
    async with connect(assignment) as client:
        await client.list_tools()
        await client.call_tool("add_numbers", {"a": 5, "b": 3})


async def elicit_defaults(assignment: Assignment) -> None:
    """Call a tool that asks the user, and accept its form unchanged."""
    async with connect(assignment, elicitation=fill_defaults) as client:
        await client.list_tools()
        await client.call_tool("test_client_elicitation_defaults", {})


async def call_through_reconnection(assignment: Assignment) -> None:
    """Call a tool whose stream breaks off before the result."""
    async with connect(assignment) as client:
        await client.list_tools()
        await client.call_tool("test_reconnection", {})


async def _sample(
    context: ClientRequestContext,  # noqa: ARG001 (the SDK's signature)
    params: CreateMessageRequestParams,  # noqa: ARG001 (the SDK's signature)
) -> CreateMessageResult:
    text = TextContent(type="text", text="a sampled answer")
    return CreateMessageResult(role="assistant", content=text, model="none")


async def _no_roots(
    context: ClientRequestContext,  # noqa: ARG001 (the SDK's signature)
) -> ListRootsResult:
    return ListRootsResult(roots=[])


async def declare_every_capability(assignment: Assignment) -> None:
    """Make ordinary requests with elicitation, sampling and roots all declared."""
    async with connect(
        assignment, elicitation=fill_defaults, sampling=_sample, roots=_no_roots
    ) as client:
        await client.list_tools()
        await client.call_tool("add_numbers", {"a": 5, "b": 3})


async def use_every_primitive(assignment: Assignment) -> None:
    """List and use each tool, resource and prompt, so that no header goes unseen."""
    async with connect(assignment) as client:
        for tool in (await client.list_tools()).tools:
            await client.call_tool(tool.name, {})
        for resource in (await client.list_resources()).resources:
            await client.read_resource(str(resource.uri))
        for prompt in (await client.list_prompts()).prompts:
            await client.get_prompt(prompt.name)


async def make_given_calls(assignment: Assignment) -> None:
    """
    Make the calls the scenario hands over, argument for argument.

    The tools are listed first: their schemas say what goes into headers.
    """
    async with connect(assignment) as client:
        await client.list_tools()
        for call in assignment.context["toolCalls"]:
            await client.call_tool(call["name"], call["arguments"])


async def call_every_surfaced_tool(assignment: Assignment) -> None:
    """
    Call each tool that the SDK surfaces, whatever it is called.

    A tool the SDK ought to have dropped would otherwise never show; nor would one
    behind a call that failed, so failures wait for the end.
    """
    failures: list[Exception] = []
    async with connect(assignment) as client:
        for tool in (await client.list_tools()).tools:
            fields = tool.input_schema.get("properties", {})
            arguments = {
                name: _SAMPLES.get(str(fields.get(name, {}).get("type")), "x")
                for name in tool.input_schema.get("required", [])
            }
            try:
                await client.call_tool(tool.name, arguments)
            except Exception as error:  # noqa: BLE001 (raised below, with the others)
                failures.append(error)
    if failures:
        raise ExceptionGroup("some calls failed", failures)


async def answer_input_requests(assignment: Assignment) -> None:
    """Answer two tools' input requests, with another call between their rounds."""

    async def answer(
        context: ClientRequestContext, params: ElicitRequestParams
    ) -> ElicitResult:
        # The first call has not been retried yet: its state must not leak into this.
        await context.session.call_tool("test_mrtr_unrelated", {})
        return await fill_defaults(context, params)

    async with connect(assignment, elicitation=answer) as client:
        await client.list_tools()
        await client.call_tool("test_mrtr_echo_state", {})
        await client.call_tool("test_mrtr_no_state", {})
        try:
            await client.call_tool("test_mrtr_no_result_type", {})
        except ValidationError as error:
            # The scenario wants no retry, and there is none. That the SDK then
            # refuses the result, which should count as complete, it cannot see.
            sys.stderr.write(f"note: refused without resultType: {error.title}\n")


async def echo_schema(assignment: Assignment) -> None:
    """Send one tool's input schema back as the SDK hands it to a host."""
    async with connect(assignment) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        schema = listed["json_schema_2020_12_tool"].input_schema
        await client.call_tool("json_schema_echo", {"schema": schema})
