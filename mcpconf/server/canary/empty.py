"""A server that answers 200 and ``{}`` to everything."""

from __future__ import annotations

import argparse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_BODY = b"{}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        length = self.headers.get("Content-Length", "0")
        self.rfile.read(int(length) if length.isdigit() else 0)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(_BODY)))
        self.end_headers()
        self.wfile.write(_BODY)

    do_DELETE = do_GET = do_POST = _answer  # noqa: N815 (the library's names)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    """Serve until somebody else ends it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    address = ("127.0.0.1", parser.parse_args().port)
    ThreadingHTTPServer(address, _Handler).serve_forever()


if __name__ == "__main__":
    main()
