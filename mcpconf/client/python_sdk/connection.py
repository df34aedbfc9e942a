"""
Open the SDK's client at exactly the revision the suite is running.

A leg that slides to another revision proves nothing, so none may. The SDK opens a
stateless connection with ``server/discover`` and falls back to a handshake where the
server refuses that; the fallback is an error here, and with authorization, where a
refusal is often the subject, the SDK is pinned and does not probe. In a handshake its
`Client` can only offer the newest revision; an older one is offered through
`ClientSession`, whose `adopt` is public for that.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeAlias

import httpx2
from mcp import Client, ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    ClientCapabilities,
    ElicitRequestFormParams,
    ElicitResult,
    Implementation,
    InitializedNotification,
    InitializeRequest,
    InitializeRequestParams,
    InitializeResult,
)
from mcp.types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.client.context import ClientRequestContext
    from mcp.client.session import ElicitationFnT, ListRootsFnT, SamplingFnT
    from mcp.types import ElicitRequestParams

    from mcpconf.client.python_sdk.assignment import Assignment, Unsupported
else:
    from assignment import Unsupported

#: Both have the same verbs, as far as the scenarios go.
Connection: TypeAlias = Client | ClientSession

#: Inside the limit of a scenario, so that a silent server is named before it.
REQUEST_S = 15.0


class RevisionError(Exception):
    """The server and the SDK agreed on a revision the leg is not about."""


async def fill_defaults(
    context: ClientRequestContext,  # noqa: ARG001 (the SDK passes it by name or place)
    params: ElicitRequestParams,
) -> ElicitResult:
    """Answer as a host whose user accepts every form just as it is shown."""
    if not isinstance(params, ElicitRequestFormParams):
        return ElicitResult(action="decline")
    fields = params.requested_schema.get("properties", {})
    content = {
        name: field["default"] for name, field in fields.items() if "default" in field
    }
    return ElicitResult(action="accept", content=content)


@asynccontextmanager
async def connect(
    assignment: Assignment,
    *,
    auth: httpx2.Auth | None = None,
    elicitation: ElicitationFnT | None = None,
    sampling: SamplingFnT | None = None,
    roots: ListRootsFnT | None = None,
) -> AsyncIterator[Connection]:
    """
    Open one connection; a callback that is given is also declared as a capability.

    :raises RevisionError: a stateless leg ended at another revision.
    :raises Unsupported: callbacks on a connection that is opened by hand.
    """
    me = Implementation(name="mcpconf-python-sdk", version=version("mcp"))
    if not assignment.is_stateless:
        mode = "legacy"
    else:
        mode = "auto" if auth is None else assignment.revision
    # No proxy from the environment: the suite's servers are on the loopback.
    async with httpx2.AsyncClient(
        auth=auth, timeout=REQUEST_S, trust_env=False
    ) as http:
        transport = streamable_http_client(assignment.url, http_client=http)
        if assignment.is_stateless or assignment.revision == LATEST_HANDSHAKE_VERSION:
            async with Client(
                transport,
                mode=mode,
                client_info=me,
                read_timeout_seconds=REQUEST_S,
                elicitation_callback=elicitation,
                sampling_callback=sampling,
                list_roots_callback=roots,
            ) as client:
                agreed = client.protocol_version
                if assignment.is_stateless and agreed != assignment.revision:
                    raise RevisionError(
                        f"agreed on {agreed}, not on {assignment.revision}"
                    )
                yield client
            return
        if elicitation or sampling or roots:
            raise Unsupported(f"callbacks are not declared at {assignment.revision}")
        async with (
            transport as (read, write),
            ClientSession(
                read, write, client_info=me, read_timeout_seconds=REQUEST_S
            ) as session,
        ):
            await _shake_hands(session, assignment.revision, me)
            yield session


async def _shake_hands(session: ClientSession, offer: str, me: Implementation) -> None:
    """Initialize `session` with an offer of our choice."""
    request = InitializeRequest(
        params=InitializeRequestParams(
            protocol_version=offer,
            capabilities=ClientCapabilities(),
            client_info=me,
        )
    )
    result = await session.send_request(request, InitializeResult)
    if result.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        raise RevisionError(f"the server answered {result.protocol_version}")
    session.adopt(result)
    await session.send_notification(InitializedNotification())
