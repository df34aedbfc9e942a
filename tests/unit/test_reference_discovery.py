"""The reference client uses no metadata that is about something else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mcpconf.client.reference.challenge import challenge_of
from mcpconf.client.reference.discovery import AuthorizationServer, discover
from mcpconf.client.reference.web import Answer, Refused, Web

URL = "http://127.0.0.1:1/mcp"
WELL_KNOWN = "http://127.0.0.1:1/.well-known/oauth-protected-resource"
ISSUER = "http://127.0.0.1:2"
OAUTH = f"{ISSUER}/.well-known/oauth-authorization-server"
RESOURCE = {"resource": URL, "authorization_servers": [ISSUER]}
SERVER = {"issuer": ISSUER, "token_endpoint": f"{ISSUER}/token"}


class Shelf(Web):
    """Metadata by address, and what was asked for."""

    def __init__(self, documents: dict[str, Any]) -> None:
        super().__init__()
        self.documents = documents
        self.asked: list[str] = []

    def get(self, url: str) -> Answer:
        self.asked.append(url)
        if url not in self.documents:
            return Answer(404, {}, b"")
        return Answer(200, {}, json.dumps(self.documents[url]).encode())


def refusal(value: str = "Bearer") -> Answer:
    return Answer(401, {"WWW-Authenticate": value}, b"")


def test_discovery_follows_the_challenge_before_the_well_known_places() -> None:
    place = "http://127.0.0.1:1/elsewhere"
    shelf = Shelf({place: RESOURCE, OAUTH: SERVER})

    found = discover(shelf, URL, refusal(f'Bearer resource_metadata="{place}"'))

    assert shelf.asked == [place, OAUTH]
    assert found == AuthorizationServer(URL, ISSUER, SERVER)
    assert found.endpoint("token") == f"{ISSUER}/token"


def test_discovery_tries_the_path_and_then_the_root() -> None:
    shelf = Shelf({WELL_KNOWN: RESOURCE, OAUTH: SERVER})
    discover(shelf, URL, refusal())
    assert shelf.asked == [f"{WELL_KNOWN}/mcp", WELL_KNOWN, OAUTH]


def test_discovery_falls_back_to_openid() -> None:
    openid = f"{ISSUER}/.well-known/openid-configuration"
    shelf = Shelf({f"{WELL_KNOWN}/mcp": RESOURCE, openid: SERVER})
    assert discover(shelf, URL, refusal()).issuer == ISSUER


@pytest.mark.parametrize(
    ("resource", "server", "problem"),
    [
        (RESOURCE | {"resource": "http://127.0.0.1:3/mcp"}, SERVER, "for the resource"),
        (RESOURCE | {"resource": f"{URL}/deeper"}, SERVER, "for the resource"),
        (RESOURCE | {"resource": None}, SERVER, "for the resource None"),
        (RESOURCE | {"authorization_servers": []}, SERVER, "names no authorization"),
        (RESOURCE, SERVER | {"issuer": f"{ISSUER}/"}, "the metadata of"),
        (RESOURCE, None, "no metadata at"),
    ],
)
def test_discovery_refuses_what_is_about_something_else(
    resource: dict[str, Any], server: dict[str, Any] | None, problem: str
) -> None:
    documents = {f"{WELL_KNOWN}/mcp": resource}
    documents |= {} if server is None else {OAUTH: server}
    with pytest.raises(Refused, match=problem):
        discover(Shelf(documents), URL, refusal())


def test_a_server_of_a_whole_origin_is_one_of_its_parts() -> None:
    whole = RESOURCE | {"resource": "http://127.0.0.1:1"}
    shelf = Shelf({f"{WELL_KNOWN}/mcp": whole, OAUTH: SERVER})
    assert discover(shelf, URL, refusal()).resource == "http://127.0.0.1:1"


def test_a_server_is_taken_at_its_word_where_it_says_what_it_supports() -> None:
    server = AuthorizationServer(URL, ISSUER, {"grant_types_supported": ["password"]})
    with pytest.raises(Refused, match="does not support client_credentials"):
        server.require("grant_types_supported", "client_credentials")
    server.require("scopes_supported", "any")
    with pytest.raises(Refused, match="has no registration endpoint"):
        server.endpoint("registration")


@pytest.mark.parametrize(
    ("header", "scheme", "parameters"),
    [
        (
            'DPoP error="use_dpop_nonce", resource_metadata="http://a/b?c=d,e"',
            "dpop",
            {"error": "use_dpop_nonce", "resource_metadata": "http://a/b?c=d,e"},
        ),
        ("Bearer Realm=plain , x = y", "bearer", {"realm": "plain", "x": "y"}),
        (r'Bearer realm="a \"b\""', "bearer", {"realm": 'a "b"'}),
        ("Bearer", "bearer", {}),
        ("", "", {}),
    ],
)
def test_a_challenge_is_read(
    header: str, scheme: str, parameters: dict[str, str]
) -> None:
    assert challenge_of(refusal(header)) == (scheme, parameters)


@pytest.mark.parametrize(
    "url", ["http://example.com/mcp", "ftp://127.0.0.1/x", "file:///etc/hosts"]
)
def test_nothing_is_sent_in_the_clear_beyond_the_loopback(url: str) -> None:
    with pytest.raises(Refused, match="is not secure"):
        Web().get(url)


@pytest.mark.parametrize("body", [b"[]", b"1", b"{", b"", b"\xff"])
def test_a_body_that_is_no_object_is_refused(body: bytes) -> None:
    with pytest.raises(Refused, match="a body that is not"):
        Answer(200, {}, body).json()
