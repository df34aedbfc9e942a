"""
What the fixture server costs: requests a second of one core, and memory in floods.

The server runs as its own program with its log on, as it does in a case. Its processor
time is what counts, not the clock: that is the same figure on a busy machine.
"""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mcpconf.errors import ProvisionError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: As a case starts it over stdio.
_SERVER = Path(__file__).parent / "fixture_server" / "__main__.py"
_MODULE = "mcpconf.fixture_server"
_STDIO_REQUESTS, _HTTP_REQUESTS = 6000, 3000
#: Requests that are on their way at once over stdio: a pipe holds them.
_AHEAD = 50
_INITIALIZE = {
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bench", "version": "0"},
    },
}
_INITIALIZED = {"method": "notifications/initialized"}
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def _line(number: int | None, message: Mapping[str, object]) -> bytes:
    identity = {} if number is None else {"id": number}
    return json.dumps({"jsonrpc": "2.0", **identity, **message}).encode()


def _echo(number: int, *, is_stateless: bool) -> bytes:
    params: dict[str, object] = {"name": "echo", "arguments": {"text": "x" * 64}}
    if is_stateless:
        params["_meta"] = _META
    return _line(number, {"method": "tools/call", "params": params})


def _words(revision: str, transport: str, *more: str) -> list[str]:
    # HTTP needs site-packages.
    start = ("-S", str(_SERVER)) if transport == "stdio" else ("-m", _MODULE)
    words = [sys.executable, "-I", *start]
    return [*words, "--revision", revision, "--transport", transport, *more]


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def stdio_requests_per_cpu_s() -> float:
    """Echoes over stdio at 2025-11-25, by second of the server's processor time."""
    with tempfile.TemporaryDirectory(prefix="mcpconf-bench-") as name:
        log = str(Path(name) / "log.jsonl")
        before = _children_cpu_s()
        with subprocess.Popen(
            _words("2025-11-25", "stdio", "--log", log),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as server:
            stdin, stdout = server.stdin, server.stdout
            if stdin is None or stdout is None:
                raise AssertionError
            stdin.write(_line(0, _INITIALIZE) + b"\n")
            stdin.write(_line(None, _INITIALIZED) + b"\n")
            stdin.flush()
            stdout.readline()
            for first in range(1, _STDIO_REQUESTS, _AHEAD):
                for number in range(first, first + _AHEAD):
                    stdin.write(_echo(number, is_stateless=False) + b"\n")
                stdin.flush()
                for _ in range(_AHEAD):
                    _answered(stdout.readline())
            stdin.close()
        return _STDIO_REQUESTS / (_children_cpu_s() - before)


def _answered(data: bytes) -> None:
    if b'"result"' not in data:
        raise ProvisionError(f"the fixture server answered {data[:200]!r}")


@contextmanager
def _http_server(*more: str) -> Iterator[tuple[tuple[str, int], int]]:
    """A server over HTTP: its address and its process."""
    with subprocess.Popen(
        _words("2026-07-28", "http", "--port", "0", *more), stderr=subprocess.PIPE
    ) as server:
        if server.stderr is None:
            raise AssertionError
        address = server.stderr.readline().split()[-1].decode()
        host, _, port = address.split("/")[2].partition(":")
        try:
            yield (host, int(port)), server.pid
        finally:
            server.terminate()


def _post(body: bytes, tool: str = "echo", *, close: bool = False) -> bytes:
    last = "Connection: close\r\n" if close else ""
    head = (
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        "Accept: application/json, text/event-stream\r\n"
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
        f"Mcp-Name: {tool}\r\n{last}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def http_requests_per_cpu_s() -> float:
    """Echoes over one HTTP connection at 2026-07-28, by second of processor time."""
    with tempfile.TemporaryDirectory(prefix="mcpconf-bench-") as name:
        before = _children_cpu_s()
        with (
            _http_server("--log", str(Path(name) / "log.jsonl")) as (address, _),
            socket.create_connection(address) as connection,
            connection.makefile("rb") as answers,
        ):
            for number in range(_HTTP_REQUESTS):
                connection.sendall(_post(_echo(number, is_stateless=True)))
                length = 0
                while (line := answers.readline()) != b"\r\n":
                    field, _, value = line.partition(b":")
                    if field.lower() == b"content-length":
                        length = int(value)
                _answered(answers.read(length))
        return _HTTP_REQUESTS / (_children_cpu_s() - before)


def _peak_mib(pid: int) -> float:
    """
    The most memory a process has held since it began its program.

    What `wait4` says of a child includes its parent's size before that.
    """
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) / 1024


def stdio_flood_mib() -> float:
    """Memory of a server whose one answer is a line of 10 MiB."""
    params: dict[str, object] = {"name": "long_line", "arguments": {}, "_meta": _META}
    with subprocess.Popen(
        _words("2026-07-28", "stdio", "--profile", "long-line"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        if server.stdin is None or server.stdout is None:
            raise AssertionError
        server.stdin.write(_line(1, {"method": "tools/call", "params": params}) + b"\n")
        server.stdin.flush()
        _is_flood(len(server.stdout.readline()))
        return _peak_mib(server.pid)


def http_flood_mib() -> float:
    """Memory of a server that sends over 8 MiB of comments before its answer."""
    tool = "sse_comment_flood"
    params: dict[str, object] = {"name": tool, "arguments": {}, "_meta": _META}
    body = _line(1, {"method": "tools/call", "params": params})
    with _http_server("--profile", "sse-comment-flood") as (address, pid):
        with socket.create_connection(address) as connection:
            connection.sendall(_post(body, tool, close=True))
            taken = 0
            while data := connection.recv(1 << 16):
                taken += len(data)
        _is_flood(taken)
        return _peak_mib(pid)


def _is_flood(taken: int) -> None:
    if taken < 8 << 20:
        problem = f"the fixture server sent {taken} bytes, which is no flood"
        raise ProvisionError(problem)
