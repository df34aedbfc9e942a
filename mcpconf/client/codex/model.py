"""
A model that makes Codex call one tool: the way to a call that a user can interrupt.

A loopback endpoint of the Responses API, inside the driver. It asks for the scripted
call once, and says that it is done to everything else.
"""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: Name of the model, and of its provider in Codex's configuration.
NAME = "scripted"
_USAGE = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
_DONE = {
    "type": "message",
    "id": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "done"}],
}


class Model:
    """The endpoint, from its start to `close`."""

    def __init__(self) -> None:
        self._next: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._next))
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def configuration(self) -> list[str]:
        """Lines of TOML for the head of Codex's configuration: scalars, then tables."""
        return [
            f'model = "{NAME}"',
            f'model_provider = "{NAME}"',
            "",
            f"[model_providers.{NAME}]",
            f'name = "{NAME}"',
            f'base_url = "http://127.0.0.1:{self._server.server_port}/v1"',
            'wire_api = "responses"',
            "",
        ]

    def script(self, server: str, tool: str, arguments: Mapping[str, Any]) -> None:
        """Let the next answer be this call."""
        self._next.append(
            {
                "type": "function_call",
                "id": "call",
                "call_id": "call",
                "namespace": f"mcp__{server}",
                "name": tool,
                "arguments": json.dumps(dict(arguments)),
            }
        )

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


def _handler(script: list[dict[str, Any]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            body = _stream(script.pop() if script else _DONE)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing: stderr is the driver's own."""

    return Handler


def _stream(item: Mapping[str, Any]) -> bytes:
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "response"}},
        {"type": "response.output_item.done", "item": item},
        {"type": "response.completed", "response": {"id": "response", "usage": _USAGE}},
    ]
    return "".join(
        f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events
    ).encode()
