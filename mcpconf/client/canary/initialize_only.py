"""
A client that opens a connection at the leg's revision and then leaves.

``python initialize_only.py URL``. Where a handshake opens the connection it is made in
full; where nothing does, ``server/discover`` stands for it. Whatever the server
answers, a refusal included, the program is content and exits 0.
"""

from __future__ import annotations

import http.client
import json
import os
import sys
from typing import Any, NamedTuple
from urllib.parse import urlsplit

#: The first revision without a handshake; dates compare as text.
FIRST_STATELESS = "2026-07-28"

REQUEST_S = 10.0

_ABOUT_ME = {"name": "mcpconf-canary", "version": "1"}
_OK = 200


class Answer(NamedTuple):
    """What the server made of one message."""

    status: int
    session: str | None
    #: The JSON-RPC message, or nothing where there was none.
    message: dict[str, Any]

    @property
    def is_result(self) -> bool:
        """Whether the request was granted."""
        return self.status == _OK and "result" in self.message


def _read_message(response: http.client.HTTPResponse) -> dict[str, Any]:
    """Read one JSON-RPC message from a body that is JSON or an event stream."""
    if "text/event-stream" not in (response.getheader("Content-Type") or ""):
        text = response.read()
    else:
        text = b""
        # A stream may outlive the answer: its first event with content is enough.
        while line := response.readline():
            if line.startswith(b"data:"):
                text += line.removeprefix(b"data:")
            elif not line.strip() and text.strip():
                break
    try:
        message = json.loads(text)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


class Connection:
    """One connection at one revision; a handshake's findings go into later requests."""

    def __init__(self, url: str, revision: str) -> None:
        """Keep where to and at what; nothing is sent yet."""
        self._target = urlsplit(url)
        self._revision = revision
        #: Of the revision asked for: a server may answer a handshake with any other.
        self.is_stateless = revision >= FIRST_STATELESS
        self._session: str | None = None
        self._opened = False
        self._last_id = 0

    def _headers(self, method: str) -> dict[str, str]:
        headers = {
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
        }
        if self.is_stateless or self._opened:
            headers["MCP-Protocol-Version"] = self._revision
        if self.is_stateless:
            headers["Mcp-Method"] = method
        if self._session is not None:
            headers["Mcp-Session-Id"] = self._session
        return headers

    def _post(self, message: dict[str, Any]) -> Answer:
        connection = http.client.HTTPConnection(
            self._target.hostname or "", self._target.port, timeout=REQUEST_S
        )
        try:
            connection.request(
                "POST",
                self._target.path or "/",
                body=json.dumps(message),
                headers=self._headers(message["method"]),
            )
            response = connection.getresponse()
            session = response.getheader("Mcp-Session-Id")
            return Answer(response.status, session, _read_message(response))
        finally:
            connection.close()

    def request(self, method: str, params: dict[str, Any]) -> Answer:
        """Send one request and wait for its answer."""
        self._last_id += 1
        if self.is_stateless:
            meta = {
                "io.modelcontextprotocol/protocolVersion": self._revision,
                "io.modelcontextprotocol/clientInfo": _ABOUT_ME,
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            params = {**params, "_meta": meta}
        return self._post(
            {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params}
        )

    def open(self) -> bool:
        """Open the connection; whether the server let us in."""
        if self.is_stateless:
            return self.request("server/discover", {}).is_result
        answer = self.request(
            "initialize",
            {
                "protocolVersion": self._revision,
                "capabilities": {},
                "clientInfo": _ABOUT_ME,
            },
        )
        if not answer.is_result:
            return False
        self._revision = answer.message["result"]["protocolVersion"]
        self._session = answer.session
        self._opened = True
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return True


def connection_of(url: str) -> Connection:
    """The connection that the suite's variables ask for."""
    return Connection(url, os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"])


if __name__ == "__main__":
    connection_of(sys.argv[-1]).open()
