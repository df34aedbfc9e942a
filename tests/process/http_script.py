"""A client of the fixture server that sends what a test says; a scripted profile."""

from __future__ import annotations

import http.client
import json
import socket
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.fixture_server.inprocess import Running, serving
from mcpconf.fixture_server.options import Options
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.revision import Revision
from mcpconf.sse import parse_events
from mcpconf.transport import Transport

if TYPE_CHECKING:
    import queue
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from mcpconf.fixture_server.call import Call

    Json = Any

MODERN, LEGACY, OLDEST = (
    Revision.V2026_07_28,
    Revision.V2025_11_25,
    Revision.V2025_06_18,
)
BOTH = "application/json, text/event-stream"
META: dict[str, Json] = {
    "io.modelcontextprotocol/protocolVersion": MODERN.value,
    "io.modelcontextprotocol/clientCapabilities": {},
}
#: Reached only when a test fails.
PATIENCE_S = 10.0


class Client:
    """One keep-alive connection."""

    def __init__(self, running: Running, revision: Revision) -> None:
        self.revision = revision
        self.session: str | None = None
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", running.port, timeout=PATIENCE_S
        )

    def request(
        self,
        method: str,
        path: str = "/mcp",
        body: bytes | None = None,
        headers: Mapping[str, str | None] | None = None,
    ) -> http.client.HTTPResponse:
        """Send a good request, but for `headers`: None takes one away."""
        sent: dict[str, str | None] = {"Accept": BOTH}
        if body is not None:
            sent["Content-Type"] = "application/json"
        if self.session is not None:
            sent["Mcp-Session-Id"] = self.session
        sent.update(headers or {})
        given = {name: value for name, value in sent.items() if value is not None}
        self.connection.request(method, path, body, given)
        return self.connection.getresponse()

    def post(
        self, message: Json, headers: Mapping[str, str | None] | None = None
    ) -> http.client.HTTPResponse:
        """Send a message with the headers that its revision wants."""
        sent: dict[str, str | None] = {}
        if self.revision is MODERN and "id" in message:
            params = message.get("params") or {}
            sent = {
                "MCP-Protocol-Version": MODERN.value,
                "Mcp-Method": message["method"],
                "Mcp-Name": params.get("name") or params.get("uri"),
            }
        return self.request(
            "POST",
            body=json.dumps(message).encode(),
            headers={**sent, **(headers or {})},
        )

    def open_session(self, capabilities: Mapping[str, Any] | None = None) -> None:
        params = {
            "protocolVersion": self.revision.value,
            "capabilities": capabilities or {},
            "clientInfo": {"name": "test", "version": "1"},
        }
        answer = self.post(rpc("initialize", params))
        assert (answer.status, "result" in json.load(answer)) == (200, True)
        self.session = answer.headers["Mcp-Session-Id"]
        answer = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        assert (answer.status, answer.read()) == (202, b"")


def rpc(method: str, params: Json = None, request_id: Json = 1) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": method,
        "params": params or {},
    }


def tool(name: str, arguments: Json = None, **meta: Json) -> dict[str, Any]:
    params = {"name": name, "arguments": arguments or {}, "_meta": {**META, **meta}}
    return rpc("tools/call", params)


def options(revision: Revision, **more: Json) -> Options:
    return Options(revision=revision, transport=Transport.HTTP, **more)


@contextmanager
def client_of(
    revision: Revision, log: Path | None = None, *profiles: str, **more: Json
) -> Iterator[tuple[Client, Running]]:
    with serving(options(revision, profiles=profiles, **more), log) as running:
        client = Client(running, revision)
        with closing(client.connection):
            yield client, running


def records(log: Path, kind: str) -> list[dict[str, Any]]:
    every = [json.loads(line) for line in log.read_text().splitlines()]
    return [each for each in every if each["type"] == kind]


def messages(stream: Iterable[bytes]) -> list[Any]:
    text = b"".join(stream).decode()
    return [json.loads(each.data) for each in parse_events(text)]


def next_message(stream: http.client.HTTPResponse) -> Json:
    while not (line := stream.readline()).startswith(b"data: "):
        assert line, "the stream ended"
    assert stream.readline() == b"\n"
    return json.loads(line.removeprefix(b"data: "))


class Scripted(Profile):
    """Does what the test says, and tells it what came of it."""

    name = "scripted"
    title = "for tests"
    told: ClassVar[queue.Queue[Any]]

    async def intercept(self, call: Call) -> bool:
        script = getattr(self, "_" + call.method.replace("/", "_"), None)
        if script is not None:
            await script(call)
        return script is not None

    async def _test_wait(self, call: Call) -> None:
        self.told.put("waiting")
        self.told.put(await call.cancelled())

    async def _test_answer(self, call: Call) -> None:
        status, headers = call.params["status"], call.params["headers"]
        body = call.params["body"]
        await call.http.answer(status, headers, body and body.encode())

    async def _test_cut(self, call: Call) -> None:
        await call.raw(b"data: half")
        await call.cut()

    async def _test_flood(self, call: Call) -> None:
        transport = call._to._connection._writer.transport  # type: ignore[attr-defined]
        highest = 0
        for _ in range(8):
            await call.raw(b":" + b"x" * (1024 * 1024 - 2) + b"\n")
            highest = max(highest, transport.get_write_buffer_size())
        self.told.put(highest)
        await call.result({})

    async def _test_drop(self, call: Call) -> None:
        call.http.drop_session()
        await call.result({})

    async def _test_bug(self, call: Call) -> None:
        raise ZeroDivisionError(call.method)

    def opens_stream(self, call: Call) -> bool:
        return call.method == "ping"

    def frame(self, call: Call, text: str) -> Iterable[bytes] | None:
        if call.method != "ping":
            return None
        return [bytes([each]) for each in f"data: {text}\r\r".encode()]

    def acknowledgement(
        self, message: Mapping[str, Any]
    ) -> tuple[int, Sequence[tuple[str, str]], bytes | None] | None:
        return (204, [("X-Odd", "1")], None) if message["method"] == "odd" else None


def legacy_post(running: Running, client: Client, message: Json) -> socket.socket:
    """Send a message from a raw socket."""
    body = json.dumps(message).encode()
    raw = socket.create_connection(("127.0.0.1", running.port), PATIENCE_S)
    head = (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Accept: {BOTH}\r\nMcp-Session-Id: {client.session}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    raw.sendall(head.encode() + body)
    return raw


def read_all(raw: socket.socket) -> bytes:
    with raw:
        return b"".join(iter(lambda: raw.recv(65536), b""))
