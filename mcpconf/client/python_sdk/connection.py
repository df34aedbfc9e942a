"""
Open the SDK's client at exactly the revision the suite is running.

A leg that slides to another revision proves nothing, so none may. The SDK opens a
stateless connection with ``server/discover`` and falls back to a handshake where the
server refuses that; the fallback is an error in a scenario of the suite, and with
authorization, where a refusal is often the subject, the SDK is pinned and does not
probe. In a handshake its `Client` can only offer the newest revision; an older one, or
one that nobody knows, is offered through `ClientSession`, whose `adopt` is public for
that.
"""

from __future__ import annotations

import ssl
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeAlias, TypedDict

import httpx2
from mcp import Client, ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import (
    ClientCapabilities,
    ElicitationCapability,
    ElicitRequestFormParams,
    ElicitResult,
    Implementation,
    InitializedNotification,
    InitializeRequest,
    InitializeRequestParams,
    InitializeResult,
    RootsCapability,
    SamplingCapability,
)
from mcp.types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    MODERN_PROTOCOL_VERSIONS,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Unpack

    from mcp.client import Transport
    from mcp.client.context import ClientRequestContext
    from mcp.client.session import (
        ElicitationFnT,
        ListRootsFnT,
        LoggingFnT,
        MessageHandlerFnT,
        SamplingFnT,
    )
    from mcp.types import ElicitRequestParams

    from mcpconf.client.python_sdk.assignment import Assignment, Unsupported
else:
    from assignment import Unsupported

#: Both have the same verbs, as far as the scenarios go.
Connection: TypeAlias = Client | ClientSession

#: Inside the limit of a scenario, so that a silent server is named before it.
REQUEST_S = 15.0


class Callbacks(TypedDict, total=False):
    """
    A host's callbacks, by the SDK's own names.

    The first three are also declared as capabilities where they are given.
    """

    elicitation_callback: ElicitationFnT | None
    sampling_callback: SamplingFnT | None
    list_roots_callback: ListRootsFnT | None
    logging_callback: LoggingFnT | None
    message_handler: MessageHandlerFnT | None


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


def loopback_client(
    timeout: httpx2.Timeout, auth: httpx2.Auth | None = None
) -> httpx2.AsyncClient:
    """
    An HTTP client for servers on the loopback.

    It takes no proxy from the environment and trusts no authority: to load the usual
    ones takes 0.1 s, and all servers here speak plain HTTP.
    """
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    return httpx2.AsyncClient(auth=auth, timeout=timeout, trust_env=False, verify=trust)


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
    revision = assignment.revision
    if (elicitation or sampling or roots) and not _is_opened_by_client(revision):
        raise Unsupported(f"callbacks are not declared at {revision}")
    async with (
        loopback_client(httpx2.Timeout(REQUEST_S), auth) as http,
        open_at(
            revision,
            streamable_http_client(assignment.url, http_client=http),
            limit_s=REQUEST_S,
            probes=auth is None,
            elicitation_callback=elicitation,
            sampling_callback=sampling,
            list_roots_callback=roots,
        ) as connection,
    ):
        agreed = connection.protocol_version
        if assignment.is_stateless and agreed != revision:
            raise RevisionError(f"agreed on {agreed}, not on {revision}")
        yield connection


@asynccontextmanager
async def open_at(
    revision: str,
    transport: Transport,
    *,
    limit_s: float,
    probes: bool = True,
    **callbacks: Unpack[Callbacks],
) -> AsyncIterator[Connection]:
    """
    Open a connection with an offer of `revision`, whatever is agreed on then.

    `limit_s` is the SDK's limit for each request. A revision that the SDK does not know
    is offered in a handshake; `probes` is whether the SDK may ask the server for its
    era.

    :raises RevisionError: a handshake was answered with a revision nobody knows.
    """
    me = Implementation(name="mcpconf-python-sdk", version=version("mcp"))
    if _is_opened_by_client(revision):
        mode = "legacy"
        if revision in MODERN_PROTOCOL_VERSIONS:
            mode = "auto" if probes else revision
        async with Client(
            transport,
            mode=mode,
            client_info=me,
            read_timeout_seconds=limit_s,
            **callbacks,
        ) as client:
            yield client
        return
    async with (
        transport as (read, write),
        ClientSession(
            read, write, client_info=me, read_timeout_seconds=limit_s, **callbacks
        ) as session,
    ):
        await _shake_hands(session, revision, me, _declare(callbacks))
        yield session


def _is_opened_by_client(revision: str) -> bool:
    return revision in {*MODERN_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION}


def _declare(callbacks: Callbacks) -> ClientCapabilities:
    """What `callbacks` are for, as revisions before the newest handshake write it."""
    can_elicit = callbacks.get("elicitation_callback")
    can_sample = callbacks.get("sampling_callback")
    has_roots = callbacks.get("list_roots_callback")
    return ClientCapabilities(
        elicitation=ElicitationCapability() if can_elicit else None,
        sampling=SamplingCapability() if can_sample else None,
        roots=RootsCapability() if has_roots else None,
    )


async def _shake_hands(
    session: ClientSession,
    offer: str,
    me: Implementation,
    capabilities: ClientCapabilities,
) -> None:
    """Initialize `session` with an offer of our choice."""
    request = InitializeRequest(
        params=InitializeRequestParams(
            protocol_version=offer, capabilities=capabilities, client_info=me
        )
    )
    result = await session.send_request(request, InitializeResult)
    if result.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        raise RevisionError(f"the server answered {result.protocol_version}")
    session.adopt(result)
    await session.send_notification(InitializedNotification())
