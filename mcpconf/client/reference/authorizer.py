"""
A token for one MCP server: asked for with a grant, presented with every request.

A refused token request is the end of the login. It is never repeated, and no other
grant is tried in its place: SEP-1933 asks for that, and the others lose nothing.
"""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from mcpconf.client.reference.discovery import discover
from mcpconf.client.reference.signing import client_assertion, load_key
from mcpconf.client.reference.web import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.client.reference.discovery import AuthorizationServer
    from mcpconf.client.reference.web import Answer, Web

CLIENT_CREDENTIALS = "client_credentials"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"  # noqa: S105 (names)
_CLIENT_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token"  # noqa: S105 (names)
_ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"

_OK = 200


def basic(client_id: str, secret: str) -> str:
    """The ``Authorization`` of a client with a secret (RFC 6749, section 2.3.1)."""
    pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
    return f"Basic {b64encode(pair.encode('ascii')).decode('ascii')}"


class Authorizer:
    """
    What a session knows of authorization: a bearer token, and a grant to get it by.

    Seams: `form` and `form_headers` (a token request), `log_in`, `headers`.
    """

    #: The extension of MCP that this is, declared among the client's capabilities.
    extension = ""
    #: The grant that is asked with.
    grant = ""
    #: What the server must call the token.
    token_type = "bearer"  # noqa: S105 (a type's name)

    def __init__(self, web: Web, url: str, context: Mapping[str, Any]) -> None:
        self.web, self.url, self.context = web, url, context
        self.token: str | None = None

    def headers(self, method: str) -> dict[str, str]:  # noqa: ARG002 (what a proof needs)
        """What authorizes one request to the MCP server; nothing before the login."""
        return {} if self.token is None else {"Authorization": f"Bearer {self.token}"}

    def answer(self, refusal: Answer) -> None:
        """
        Make up for a 401: after it the request can be sent once more.

        :raises Refused: a fresh token was refused, or there is none to be had.
        """
        if self.token is not None:
            raise Refused("the server does not take the token it was given")
        server = discover(self.web, self.url, refusal)
        server.require("grant_types_supported", self.grant)
        self.token = self.log_in(server)

    def log_in(self, server: AuthorizationServer) -> str:
        """
        A new token.

        :raises Refused: the server gives none, or not of the type that was asked for.
        """
        return self.ask(server, self.form(server))

    def form(self, server: AuthorizationServer) -> dict[str, str]:
        """The token request."""
        return {"grant_type": self.grant, "resource": server.resource}

    def form_headers(self, server: AuthorizationServer) -> dict[str, str]:  # noqa: ARG002 (a seam)
        """The headers of the token request."""
        return {}

    def ask(self, server: AuthorizationServer, form: Mapping[str, str]) -> str:
        """
        Send the token request once.

        :raises Refused: see `log_in`.
        """
        headers = self.form_headers(server)
        answer = self.web.post_form(server.endpoint("token"), form, headers)
        return self.token_of(answer)

    def token_of(self, answer: Answer) -> str:
        """
        The token of a token response.

        :raises Refused: it has none, or another type of token.
        """
        said = answer.json()
        if answer.status != _OK:
            problem, more = said.get("error"), said.get("error_description")
            raise Refused(f"no token: {problem} ({more})")
        token, kind = said.get("access_token"), str(said.get("token_type"))
        if not isinstance(token, str) or kind.lower() != self.token_type:
            raise Refused(f"a token of type {kind}, not {self.token_type}")
        return token


class SecretCredentials(Authorizer):
    """The client itself, with a secret (SEP-1046)."""

    extension = "io.modelcontextprotocol/oauth-client-credentials"
    grant = CLIENT_CREDENTIALS

    def form_headers(self, server: AuthorizationServer) -> dict[str, str]:
        """The secret, in the header that is made for it."""
        server.require("token_endpoint_auth_methods_supported", "client_secret_basic")
        secret = self.context["client_secret"]
        return {"Authorization": basic(self.context["client_id"], secret)}


class KeyCredentials(Authorizer):
    """The client itself, with a key (SEP-1046)."""

    extension = "io.modelcontextprotocol/oauth-client-credentials"
    grant = CLIENT_CREDENTIALS

    def form(self, server: AuthorizationServer) -> dict[str, str]:
        """The token request, with an assertion beside the grant."""
        server.require("token_endpoint_auth_methods_supported", "private_key_jwt")
        return {
            **super().form(server),
            "client_assertion_type": _CLIENT_ASSERTION,
            "client_assertion": self.assertion(server),
        }

    def assertion(self, server: AuthorizationServer) -> str:
        """What stands for a secret."""
        key = load_key(self.context["private_key_pem"])
        return client_assertion(key, self.context["client_id"], server.issuer)


class Workload(Authorizer):
    """A workload, with a token of the platform it runs on (SEP-1933)."""

    extension = "io.modelcontextprotocol/auth/wif"
    grant = JWT_BEARER

    def form(self, server: AuthorizationServer) -> dict[str, str]:
        """The token request: the platform's token is the grant."""
        return {
            **super().form(server),
            "client_id": self.context["client_id"],
            "assertion": self.context["valid_jwt"],
        }


class Enterprise(Authorizer):
    """A user whom an identity provider vouches for (SEP-990)."""

    extension = "io.modelcontextprotocol/enterprise-managed-authorization"
    grant = JWT_BEARER

    def form(self, server: AuthorizationServer) -> dict[str, str]:
        """The token request: what the identity provider gave is the grant."""
        return {**super().form(server), "assertion": self.exchange(server)}

    def form_headers(self, server: AuthorizationServer) -> dict[str, str]:  # noqa: ARG002 (a seam)
        """The secret of this client at the authorization server."""
        secret = self.context["client_secret"]
        return {"Authorization": basic(self.context["client_id"], secret)}

    def exchange(self, server: AuthorizationServer) -> str:
        """
        The identity provider's grant for this server, for the user's ID token.

        :raises Refused: it gives none.
        """
        answer = self.web.post_form(
            self.context["idp_token_endpoint"], self.exchange_form(server), {}
        )
        said = answer.json()
        grant = said.get("access_token")
        if answer.status != _OK or said.get("issued_token_type") != _ID_JAG:
            raise Refused(f"the identity provider gives no grant: {said.get('error')}")
        if not isinstance(grant, str):
            raise Refused("the identity provider's answer holds no grant")
        return grant

    def exchange_form(self, server: AuthorizationServer) -> dict[str, str]:
        """The request to the identity provider (RFC 8693)."""
        return {
            "grant_type": TOKEN_EXCHANGE,
            "requested_token_type": _ID_JAG,
            "subject_token": self.context["idp_id_token"],
            "subject_token_type": _ID_TOKEN,
            "audience": server.issuer,
            "resource": server.resource,
            "client_id": self.context["idp_client_id"],
        }
