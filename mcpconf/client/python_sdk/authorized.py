"""
The parts of the authorization scenarios, with the SDK's own OAuth providers.

The SDK discovers, registers, authorizes, validates and refuses. This module is only
the host around it: a browser for the authorization URL, memory for tokens, and the
credentials a scenario hands over.
"""

from __future__ import annotations

import asyncio
import http.client
import json
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from mcp import MCPDeprecationWarning
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2
    from mcp.shared.auth import OAuthToken

    from mcpconf.client.python_sdk.assignment import Assignment
    from mcpconf.client.python_sdk.connection import REQUEST_S, connect
else:
    from connection import REQUEST_S, connect

#: Never listened on: the redirect is played here, in this process.
REDIRECT_URI = "http://localhost:33418/callback"

#: The one client id metadata document that ``auth/basic-cimd`` accepts.
CLIENT_METADATA_URL = "https://conformance-test.local/client-metadata.json"

#: Marks what the host sends itself: never evidence that the client is alive.
USER_AGENT = "mcpconf-browser"

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_OK = 200
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class HostError(Exception):
    """The host's own part of a login could not be played."""


class Answer(NamedTuple):
    """What the host got from one of its own requests."""

    status: int
    location: str
    body: bytes

    def json(self) -> Any:  # noqa: ANN401 (whatever the server sent)
        """The body of a successful answer."""
        if self.status != _OK:
            raise HostError(f"the server answered the host with {self.status}")
        return json.loads(self.body)


def _exchange(url: str, form: Mapping[str, str] | None) -> Answer:
    """Make one loopback request, without proxy and without following a redirect."""
    target = urlsplit(url)
    if target.scheme != "http" or target.hostname not in _LOOPBACK:
        raise HostError(f"{target.scheme}://{target.netloc} is not on the loopback")
    connection = http.client.HTTPConnection(
        target.hostname, target.port, timeout=REQUEST_S
    )
    resource = (target.path or "/") + (f"?{target.query}" if target.query else "")
    headers = {"User-Agent": USER_AGENT}
    try:
        if form is None:
            connection.request("GET", resource, headers=headers)
        else:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            connection.request("POST", resource, urlencode(form), headers)
        response = connection.getresponse()
        location = response.getheader("Location") or ""
        return Answer(response.status, location, response.read())
    finally:
        connection.close()


async def exchange(url: str, form: Mapping[str, str] | None = None) -> Answer:
    """Make one of the host's own requests: GET, or POST where there is a form."""
    return await asyncio.to_thread(_exchange, url, form)


class Browser:
    """A browser whose user consents at once, and the redirect it ends with."""

    def __init__(self) -> None:
        self._redirects: list[str] = []

    async def open(self, authorization_url: str) -> None:
        """Load the authorization URL and keep the redirect it answers."""
        answer = await exchange(authorization_url)
        if answer.status not in _REDIRECTS:
            raise HostError(f"the authorization URL answered {answer.status}")
        self._redirects.append(answer.location)

    async def callback(self) -> AuthorizationCodeResult:
        """Hand over the parameters of the last redirect, exactly as they came."""
        location = self._redirects.pop()
        if location.partition("?")[0] != REDIRECT_URI:
            raise HostError("the redirect does not lead back to this client")
        given = dict(parse_qsl(urlsplit(location).query))
        if "code" not in given:
            raise HostError(f"authorization failed: {given.get('error', 'no code')}")
        return AuthorizationCodeResult(
            code=given["code"], state=given.get("state"), iss=given.get("iss")
        )


class Memory:
    """Tokens and registrations, for as long as the process lives."""

    def __init__(self, client: OAuthClientInformationFull | None = None) -> None:
        self._client = client
        self._tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens of the last login."""
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keep the tokens of a login."""
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The registration in use."""
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keep a registration."""
        self._client = client_info


async def _use(assignment: Assignment, provider: httpx2.Auth) -> None:
    """List the tools and call the first: each may ask for more authorization."""
    async with connect(assignment, auth=provider) as client:
        tools = (await client.list_tools()).tools
        await client.call_tool(tools[0].name, {})


async def authorization_code(assignment: Assignment) -> None:
    """Log in through the browser; with the scenario's own client where it has one."""
    metadata = OAuthClientMetadata.model_validate(
        {"client_name": "mcpconf", "redirect_uris": [REDIRECT_URI]}
    )
    registered = None
    if "client_id" in assignment.context:
        registered = OAuthClientInformationFull.model_validate(
            {
                "client_id": assignment.context["client_id"],
                "client_secret": assignment.context["client_secret"],
                "redirect_uris": [REDIRECT_URI],
                "token_endpoint_auth_method": "client_secret_basic",
            }
        )
    browser = Browser()
    provider = OAuthClientProvider(
        assignment.url,
        metadata,
        Memory(registered),
        redirect_handler=browser.open,
        callback_handler=browser.callback,
        client_metadata_url=CLIENT_METADATA_URL,
    )
    await _use(assignment, provider)


async def client_credentials_basic(assignment: Assignment) -> None:
    """Authenticate as the client itself, with its secret."""
    from mcp.client.auth.extensions.client_credentials import (  # noqa: PLC0415 (start-up)
        ClientCredentialsOAuthProvider,
    )

    with warnings.catch_warnings():
        # Without `issuer` the SDK finds the authorization server by discovery, which
        # is what the scenario is about; that this is deprecated is not its subject.
        warnings.simplefilter("ignore", MCPDeprecationWarning)
        provider = ClientCredentialsOAuthProvider(
            assignment.url,
            Memory(),
            client_id=assignment.context["client_id"],
            client_secret=assignment.context["client_secret"],
        )
    await _use(assignment, provider)


async def client_credentials_jwt(assignment: Assignment) -> None:
    """Authenticate as the client itself, with a signed assertion."""
    from mcp.client.auth.extensions.client_credentials import (  # noqa: PLC0415 (start-up)
        PrivateKeyJWTOAuthProvider,
        SignedJWTParameters,
    )

    client_id = assignment.context["client_id"]
    signing = SignedJWTParameters(
        issuer=client_id,
        subject=client_id,
        signing_algorithm=assignment.context["signing_algorithm"],
        signing_key=assignment.context["private_key_pem"],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MCPDeprecationWarning)  # as above
        provider = PrivateKeyJWTOAuthProvider(
            assignment.url,
            Memory(),
            client_id=client_id,
            assertion_provider=signing.create_assertion_provider(),
        )
    await _use(assignment, provider)


async def identity_assertion(assignment: Assignment) -> None:
    """Present an identity provider's grant to the server's authorization server."""
    from mcp.client.auth.extensions.identity_assertion import (  # noqa: PLC0415 (start-up)
        IdentityAssertionOAuthProvider,
    )

    context = assignment.context

    async def fetch_grant(audience: str, resource: str) -> str:
        # The SDK leaves this exchange with the identity provider to its host.
        answer = await exchange(
            context["idp_token_endpoint"],
            {
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
                "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
                "subject_token": context["idp_id_token"],
                "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
                "audience": audience,
                "resource": resource,
                "client_id": context["idp_client_id"],
            },
        )
        grant: str = answer.json()["access_token"]
        return grant

    # The SDK wants the issuer as configuration; the scenario only publishes it here.
    server = urlsplit(assignment.url)
    published = await exchange(
        f"{server.scheme}://{server.netloc}"
        f"/.well-known/oauth-protected-resource{server.path}"
    )
    provider = IdentityAssertionOAuthProvider(
        assignment.url,
        Memory(),
        client_id=context["client_id"],
        client_secret=context["client_secret"],
        issuer=published.json()["authorization_servers"][0],
        assertion_provider=fetch_grant,
        token_endpoint_auth_method="client_secret_basic",  # noqa: S106 (a method's name)
    )
    await _use(assignment, provider)
