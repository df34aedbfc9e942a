"""Servers that tasks checks are held against, and what the checks find on them."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple

from mcpconf.fixture_server.inprocess import serving
from mcpconf.fixture_server.options import Limits, Options
from mcpconf.revision import Revision
from mcpconf.tasks_extension.drive import run_scenario
from mcpconf.tasks_extension.observation import Observation
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.tasks_extension.rule import finding_of
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpconf.server.exchange import Exchange
    from mcpconf.supplemental.finding import Finding
    from mcpconf.tasks_extension.definition import TaskScenario

#: Of creation, negotiation, members, errors, headers and envelopes.
NAMES = (
    "tasks/discovery",
    "tasks/negotiation",
    "tasks/creation",
    "tasks/completion",
    "tasks/envelopes",
    "tasks/errors",
    "tasks/headers",
)


@contextmanager
def fixture(*profiles: str, second_s: float = 0.05) -> Iterator[str]:
    """The fixture server with these profiles; so long lasts a second of its tools."""
    options = Options(
        revision=Revision.V2026_07_28,
        transport=Transport.HTTP,
        profiles=profiles,
        limits=Limits(task_second_s=second_s),
    )
    with serving(options) as running:
        yield running.url


def observe(scenario: TaskScenario, url: str, **more: float) -> Observation:
    """Drive a scenario against a server, in this process."""
    exchanges: list[Exchange] = []
    run_scenario(scenario, url, exchanges.append, **more)
    return Observation(exchanges=tuple(exchanges))


def findings_in(scenario: TaskScenario, seen: Observation) -> Mapping[str, Finding]:
    """What every check of a scenario finds."""
    return {each.id: finding_of(scenario, each, seen) for each in scenario.checks}


def find(name: str, url: str) -> Mapping[str, Finding]:
    """What the checks of a scenario find on a server."""
    scenario = SCENARIOS[name]
    return findings_in(scenario, observe(scenario, url))


@contextmanager
def canned(answer: bytes) -> Iterator[str]:
    """A server that answers every request with these bytes, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_serve, args=(listener, answer), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        finally:
            # An accept that waits is not ended by a close from another thread.
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(listener: socket.socket, answer: bytes) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.settimeout(5)
            try:
                connection.recv(1 << 16)
                connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(1 << 16):
                    pass
            except OSError:
                pass


class Refusal(NamedTuple):
    """An error, and the HTTP status it comes with."""

    status: int
    error: Mapping[str, Any]


@contextmanager
def answering(result_of: Callable[[str], object]) -> Iterator[str]:
    """
    A server whose result for a method is what `result_of` gives, in good form.

    A `Refusal` is answered as that.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers["Content-Length"])
            message = json.loads(self.rfile.read(length))
            result = result_of(message["method"])
            status, response = 200, {"result": result}
            if isinstance(result, Refusal):
                status, response = result.status, {"error": result.error}
            answer = {"jsonrpc": "2.0", "id": message.get("id"), **response}
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()
            thread.join()


def http(status: str, body: bytes, kind: str = "application/json") -> bytes:
    """A whole HTTP answer."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
