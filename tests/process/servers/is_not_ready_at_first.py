"""
Answers 503 twice, then hangs up twice, then answers as the server it is.

Argument: the port.
"""

import http.server
import itertools
import json
import sys

_turns = itertools.count()
_HANDSHAKE = {"protocolVersion": "2025-11-25", "serverInfo": {"name": "late"}}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        turn = next(_turns)
        if turn in (2, 3):
            self.close_connection = True
            return
        message = json.loads(body)
        answer = {"jsonrpc": "2.0", "id": message.get("id"), "result": _HANDSHAKE}
        text = json.dumps(answer).encode()
        self.send_response(503 if turn < 2 else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(0 if turn < 2 else len(text)))
        self.end_headers()
        if turn >= 2:
            self.wfile.write(text)


http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
