"""A loopback MCP server that keeps what it is sent and answers as it is told."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

SESSION = "session-of-the-scripted-server"


class Seen(NamedTuple):
    """One POST, as it came."""

    headers: Mapping[str, str]
    message: dict[str, Any]


class Reply(NamedTuple):
    """What to answer; an open stream sends its one event and does not end."""

    status: int = 200
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    is_open_stream: bool = False


def grant(message: dict[str, Any]) -> Reply:
    """Agree to everything, at whatever revision is offered."""
    params = message.get("params", {})
    complete = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    server = {"name": "scripted", "version": "1"}
    schema = {"type": "object"}
    results: dict[str, dict[str, Any]] = {
        "initialize": {
            "protocolVersion": params.get("protocolVersion"),
            "capabilities": {"tools": {}},
            "serverInfo": server,
        },
        "server/discover": {
            **complete,
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}},
        },
        "tools/list": {
            **complete,
            "tools": [{"name": "add_numbers", "inputSchema": schema}],
        },
        "tools/call": {**complete, "content": [{"type": "text", "text": "8"}]},
    }
    if "id" not in message:
        return Reply(202)
    return Reply(result=results[message["method"]])


@contextmanager
def serving(
    answer: Callable[[dict[str, Any]], Reply],
) -> Iterator[tuple[str, list[Seen]]]:
    """Serve until the block ends; gives the URL and the growing list of what came."""
    seen: list[Seen] = []
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            message = json.loads(body)
            headers = {name.lower(): value for name, value in self.headers.items()}
            seen.append(Seen(headers, message))
            reply = answer(message)
            content: dict[str, Any] = {"jsonrpc": "2.0", "id": message.get("id")}
            if reply.error is not None:
                content["error"] = reply.error
            elif reply.result is not None:
                content["result"] = reply.result
            text = json.dumps(content).encode()
            self.send_response(reply.status)
            if message.get("method") == "initialize":
                self.send_header("Mcp-Session-Id", SESSION)
            if reply.is_open_stream:
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(b"event: message\ndata: " + text + b"\n\n")
                self.wfile.flush()
                over.wait(30)
                self.close_connection = True
                return
            if reply == Reply(202):
                text = b""
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def do_GET(self) -> None:
            self.send_response(405)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_DELETE(self) -> None:
            self.do_GET()

        def log_message(self, *_arguments: object) -> None:
            """Stay silent: the record is in `seen`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", seen
    finally:
        over.set()
        server.shutdown()
        thread.join(30)
        server.server_close()
