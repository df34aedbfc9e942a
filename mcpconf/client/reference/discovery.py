"""
From a 401 to the endpoints: RFC 9728 for the resource, RFC 8414 for its server.

Nothing that was found is used before it was held against what it was found for: the
resource is the server that was asked, the issuer is the one whose metadata was read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from mcpconf.client.reference.challenge import challenge_of
from mcpconf.client.reference.web import Refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mcpconf.client.reference.web import Answer, Web

_OK = 200


class AuthorizationServer(NamedTuple):
    """Where tokens for one resource come from."""

    #: The identifier of the resource, exactly as its metadata says it.
    resource: str
    issuer: str
    metadata: dict[str, Any]

    def endpoint(self, name: str) -> str:
        """
        The address of one endpoint, ``token`` for instance.

        :raises Refused: the metadata names none.
        """
        found = self.metadata.get(f"{name}_endpoint")
        if not isinstance(found, str):
            raise Refused(f"{self.issuer} has no {name} endpoint")
        return found

    def require(self, member: str, value: str) -> None:
        """
        See that the server supports something, where it says what it supports.

        :raises Refused: it does not.
        """
        supported = self.metadata.get(member)
        if isinstance(supported, list) and value not in supported:
            raise Refused(f"{self.issuer} does not support {value} ({member})")


def discover(web: Web, url: str, refusal: Answer) -> AuthorizationServer:
    """
    The authorization server of the MCP server at `url`, which answered `refusal`.

    :raises Refused: there is none, or the metadata is about something else.
    """
    named = challenge_of(refusal).parameters.get("resource_metadata")
    resource = _first(web, [named] if named else _resource_places(url))
    identifier, servers = (
        resource.get("resource"),
        resource.get("authorization_servers"),
    )
    if not isinstance(identifier, str) or not _is_for(identifier, url):
        raise Refused(f"the metadata is for the resource {identifier!r}, not for {url}")
    if not isinstance(servers, list) or not servers or not isinstance(servers[0], str):
        raise Refused(f"{identifier} names no authorization server")
    issuer = servers[0]
    metadata = _first(web, list(_server_places(issuer)))
    if metadata.get("issuer") != issuer:
        raise Refused(f"the metadata of {issuer} is of {metadata.get('issuer')!r}")
    return AuthorizationServer(identifier, issuer, metadata)


def _first(web: Web, places: list[str]) -> dict[str, Any]:
    for place in places:
        answer = web.get(place)
        if answer.status == _OK:
            return answer.json()
    raise Refused(f"no metadata at {', '.join(places)}")


def _resource_places(url: str) -> list[str]:
    server = urlsplit(url)
    root = f"{server.scheme}://{server.netloc}/.well-known/oauth-protected-resource"
    return [f"{root}{server.path.rstrip('/')}", root]


def _server_places(issuer: str) -> Iterator[str]:
    server = urlsplit(issuer)
    root, path = f"{server.scheme}://{server.netloc}", server.path.rstrip("/")
    yield f"{root}/.well-known/oauth-authorization-server{path}"
    yield f"{root}/.well-known/openid-configuration{path}"
    if path:
        yield f"{root}{path}/.well-known/openid-configuration"


def _is_for(identifier: str, url: str) -> bool:
    """Whether the resource is the server itself, or the part of it above `url`."""
    whole, part = urlsplit(identifier), urlsplit(url)
    if (whole.scheme, whole.netloc) != (part.scheme, part.netloc):
        return False
    above = whole.path.rstrip("/")
    return part.path == above or part.path.startswith(f"{above}/")
