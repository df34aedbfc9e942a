"""
MCP over HTTP, as much of it as the scenarios need: open, list the tools, call them.

In the handshake era a session is opened with ``initialize``; from 2026-07-28 on every
request says for itself who sends it. A 401 is the authorizer's to answer, and the
request is sent again: once for the login, once for a nonce.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpconf.client.reference.web import Refused
from mcpconf.sse import parse_events

if TYPE_CHECKING:
    from mcpconf.client.python_sdk.assignment import Assignment
    from mcpconf.client.reference.authorizer import Authorizer
    from mcpconf.client.reference.web import Answer, Web

_INFO = {"name": "mcpconf-reference", "version": "1"}
_PREFIX = "io.modelcontextprotocol/"
_OK, _ACCEPTED, _UNAUTHORIZED = 200, 202, 401
#: A first request, one after the login, one with a nonce.
_SENDS = 3


class Session:
    """One connection; open it with `open`, which the stateless era does not need."""

    def __init__(
        self, web: Web, assignment: Assignment, authorizer: Authorizer | None
    ) -> None:
        self._web, self._assignment, self._authorizer = web, assignment, authorizer
        self._revision = assignment.revision
        self._session_id: str | None = None
        self._last_id = 0

    def open(self) -> None:
        """
        Agree on the revision, where there is a handshake.

        :raises Refused: the server speaks another one.
        """
        if self._assignment.is_stateless:
            return
        result = self.request(
            "initialize",
            {
                "protocolVersion": self._revision,
                "capabilities": self._capabilities(),
                "clientInfo": _INFO,
            },
        )
        if result.get("protocolVersion") != self._revision:
            raise Refused(f"the server speaks {result.get('protocolVersion')!r}")
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        answer = self._post(note, {"MCP-Protocol-Version": self._revision})
        if answer.status not in {_OK, _ACCEPTED}:
            raise Refused(f"notifications/initialized: {answer.status}")

    def list_tools(self) -> list[dict[str, Any]]:
        """The server's tools; one page, the scenarios have no second."""
        tools = self.request("tools/list", {}).get("tools")
        return [each for each in tools or () if isinstance(each, dict)]

    def call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """
        The result of one call.

        :raises Refused: the server answered with an error.
        """
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def close(self) -> None:
        """End the session, where the server began one."""
        if self._session_id is not None:
            headers = self._authorizer.headers("DELETE") if self._authorizer else {}
            headers["MCP-Protocol-Version"] = self._revision
            headers["Mcp-Session-Id"] = self._session_id
            self._web.delete(self._assignment.url, headers)

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """
        The result of one request.

        :raises Refused: it was answered with an error, or not at all.
        """
        self._last_id += 1
        headers = {}
        if method != "initialize":
            headers["MCP-Protocol-Version"] = self._revision
        if self._assignment.is_stateless:
            headers["Mcp-Method"] = method
            if "name" in params:
                headers["Mcp-Name"] = params["name"]
            params = {**params, "_meta": self._meta()}
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method}
        if params:
            message["params"] = params
        answer = self._post(message, headers)
        if answer.status != _OK:
            raise Refused(f"{method}: {answer.status} {answer.body[:200]!r}")
        if method == "initialize":
            self._session_id = answer.headers.get("Mcp-Session-Id")
        response = _response(answer, self._last_id)
        result = response.get("result")
        if not isinstance(result, dict):
            raise Refused(f"{method}: {json.dumps(response.get('error'))[:200]}")
        return result

    def _capabilities(self) -> dict[str, Any]:
        if self._authorizer is None:
            return {}
        return {"extensions": {self._authorizer.extension: {}}}

    def _meta(self) -> dict[str, Any]:
        return {
            f"{_PREFIX}protocolVersion": self._revision,
            f"{_PREFIX}clientCapabilities": self._capabilities(),
            f"{_PREFIX}clientInfo": _INFO,
        }

    def _post(self, message: dict[str, Any], headers: dict[str, str]) -> Answer:
        """Send one message; after a 401 again, as long as the authorizer knows how."""
        headers = {"Accept": "application/json, text/event-stream", **headers}
        if self._session_id is not None:
            headers["Mcp-Session-Id"] = self._session_id
        for left in reversed(range(_SENDS)):
            own = self._authorizer.headers("POST") if self._authorizer else {}
            answer = self._web.post_json(
                self._assignment.url, message, {**headers, **own}
            )
            if answer.status != _UNAUTHORIZED or self._authorizer is None or not left:
                break
            self._authorizer.answer(answer)
        return answer


def _response(answer: Answer, id_: int) -> dict[str, Any]:
    """The response to the request `id_`: the body, or one event of it."""
    if answer.kind == "application/json":
        found = [answer.json()]
    elif answer.kind == "text/event-stream":
        text = answer.body.decode("utf-8", "replace")
        found = [_message(each.data) for each in parse_events(text) if each.data]
    else:
        raise Refused(f"a body of type {answer.kind!r}")
    for each in found:
        if each.get("id") == id_ and "method" not in each:
            return each
    raise Refused("the answer holds no response to the request")


def _message(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        raise Refused(f"an event that is not JSON: {text[:100]!r}") from None
    return value if isinstance(value, dict) else {}
