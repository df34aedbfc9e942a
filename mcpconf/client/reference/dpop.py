"""
An authorization code and the token for it, both bound to a key (SEP-1932, RFC 9449).

The client registers, sends the user to the authorization endpoint, and exchanges the
code with a proof that it has the key. Every request to the MCP server then carries the
token under the scheme ``DPoP``, and a proof of its own. Where a server wants a nonce in
its proofs, the refused request is sent once more with it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from mcpconf.client import browser
from mcpconf.client.reference.authorizer import Authorizer
from mcpconf.client.reference.challenge import challenge_of
from mcpconf.client.reference.signing import ALGORITHM, Proofs, base64url, new_id
from mcpconf.client.reference.web import Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.client.reference.discovery import AuthorizationServer
    from mcpconf.client.reference.web import Answer, Web

#: Never listened on: the redirect is played here, in this process.
REDIRECT_URI = "http://127.0.0.1:33419/callback"
_CREATED = frozenset({200, 201})
_BAD_REQUEST = 400
_BROWSER_S = 10.0
_WANTS_NONCE = "use_dpop_nonce"


class BoundCode(Authorizer):
    """
    A token that is of no use without its key.

    Seams, beside those of `Authorizer`: `proofs`, `scheme`, `retries`.
    """

    extension = "io.modelcontextprotocol/auth/dpop"
    grant = "authorization_code"
    token_type = "dpop"  # noqa: S105 (a type's name)
    #: How the token is presented.
    scheme = "DPoP"

    def __init__(self, web: Web, url: str, context: Mapping[str, Any]) -> None:
        super().__init__(web, url, context)
        self.proofs = Proofs()

    def headers(self, method: str) -> dict[str, str]:
        """The token under its own scheme, and a fresh proof for this one request."""
        if self.token is None:
            return {}
        proof = self.proofs.make(method, self.url, self.token)
        return {"Authorization": f"{self.scheme} {self.token}", "DPoP": proof}

    def answer(self, refusal: Answer) -> None:
        """Make up for a 401: take the nonce that it names, or log in."""
        challenge = challenge_of(refusal)
        if challenge.parameters.get("error") == _WANTS_NONCE:
            if not self.proofs.take_nonce(self.url, refusal.headers):
                raise Refused("the server wants a nonce that it has got, or says none")
            return
        super().answer(refusal)

    def log_in(self, server: AuthorizationServer) -> str:
        """A new token: register, have the user consent, exchange the code."""
        server.require("dpop_signing_alg_values_supported", ALGORITHM)
        client_id = self.register(server)
        verifier = new_id() + new_id()
        code = self.authorize(server, client_id, verifier)
        form = {
            **self.form(server),
            "client_id": client_id,
            "code": code,
            "code_verifier": verifier,
            "redirect_uri": REDIRECT_URI,
        }
        return self.ask(server, form)

    def register(self, server: AuthorizationServer) -> str:
        """
        The id of this client at `server`.

        :raises Refused: it registers nobody.
        """
        place = server.endpoint("registration")
        answer = self.web.post_json(place, self.metadata(), {})
        client_id = answer.json().get("client_id")
        if answer.status not in _CREATED or not isinstance(client_id, str):
            raise Refused(f"{server.issuer} registers no client ({answer.status})")
        return client_id

    def metadata(self) -> dict[str, Any]:
        """What the client says of itself when it registers (RFC 7591, section 2)."""
        return {
            "client_name": "mcpconf reference client",
            "application_type": "native",
            "redirect_uris": [REDIRECT_URI],
            "grant_types": [self.grant],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "dpop_bound_access_tokens": True,
        }

    def authorize(
        self, server: AuthorizationServer, client_id: str, verifier: str
    ) -> str:
        """
        The code that the user's browser comes back with.

        :raises Refused: it comes back without one, or from another server.
        """
        query = urlencode(self.query(server, client_id, verifier))
        place = f"{server.endpoint('authorization')}?{query}"
        try:
            callback = browser.authorize(place, _BROWSER_S)
        except browser.UnsafeLogin as problem:
            raise Refused(f"the login is not safe: {problem}") from None
        given = dict(parse_qsl(urlsplit(callback.url).query))
        says = server.metadata.get("authorization_response_iss_parameter_supported")
        if given.get("iss", None if says else server.issuer) != server.issuer:
            raise Refused(f"the redirect comes from {given.get('iss')!r}")
        if "code" not in given:
            raise Refused(f"the user's login failed: {given.get('error')}")
        code: str = given["code"]
        return code

    def query(
        self, server: AuthorizationServer, client_id: str, verifier: str
    ) -> dict[str, str]:
        """The authorization request."""
        return {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": REDIRECT_URI,
            "state": new_id(),
            "code_challenge": base64url(hashlib.sha256(verifier.encode()).digest()),
            "code_challenge_method": "S256",
            "resource": server.resource,
            "dpop_jkt": self.proofs.thumbprint,
        }

    def form_headers(self, server: AuthorizationServer) -> dict[str, str]:
        """The proof for the token request."""
        return {"DPoP": self.proofs.make("POST", server.endpoint("token"))}

    def ask(self, server: AuthorizationServer, form: Mapping[str, str]) -> str:
        """Send the token request, and once more where a nonce was missing from it."""
        place = server.endpoint("token")
        answer = self.web.post_form(place, form, self.form_headers(server))
        if self.wants_nonce(place, answer):
            answer = self.web.post_form(place, form, self.form_headers(server))
        return self.token_of(answer)

    def wants_nonce(self, place: str, answer: Answer) -> bool:
        """Whether a token request was refused for a nonce, which is now at hand."""
        if answer.status != _BAD_REQUEST or answer.json().get("error") != _WANTS_NONCE:
            return False
        return self.proofs.take_nonce(place, answer.headers)
