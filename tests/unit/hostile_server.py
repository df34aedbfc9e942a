"""
Servers that misbehave, in a thread: a test says what happens on each connection.

Whatever goes on for ever ends when its client leaves; and, should the client be broken
and not leave, after a number of turns, so that a test fails and does not hang.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable, Iterator

#: Reached only when a test fails.
PATIENCE_S = 10.0
#: Between two drops of a drip; a whole drip takes `PATIENCE_S`.
DROP_S = 0.02
DROPS = round(PATIENCE_S / DROP_S)


@dataclass
class Connection:
    """One connection that a client has opened; its behaviour runs to the end of it."""

    socket: socket.socket
    server: Hostile

    def request(self) -> bytes:
        """Read one whole request."""
        text = b""
        while b"\r\n\r\n" not in text:
            text += self._some()
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", text)
        size = text.index(b"\r\n\r\n") + 4 + (int(length[1]) if length else 0)
        while len(text) < size:
            text += self._some()
        self.server.requests.append(text)
        return text

    def _some(self) -> bytes:
        chunk = self.socket.recv(65536)
        if not chunk:
            raise ConnectionError("the client has left")
        return chunk

    def send(self, data: bytes) -> None:
        """Send, and count."""
        self.socket.sendall(data)
        self.server.sent += len(data)

    def answer(self, data: bytes) -> None:
        """Read one request, and send."""
        self.request()
        self.send(data)

    def repeat(self, data: bytes, most: int) -> None:
        """Send the same again and again, as fast as it is taken."""
        for _ in range(most):
            self.send(data)

    def drip(self, data: bytes) -> None:
        """Send the same a little at a time, slowly."""
        for turn in range(DROPS):
            self.send(data[turn % len(data) :][:1])
            self.server.stopping.wait(DROP_S)

    def wait_left(self) -> None:
        """Wait until the client leaves, in whatever way."""
        try:
            while self.socket.recv(65536):
                pass
        except TimeoutError:
            self.server.gave_up.set()
        except OSError:
            return


@dataclass
class Hostile:
    """A server that runs."""

    port: int
    behave: Callable[[Connection], None]
    requests: list[bytes] = field(default_factory=list)
    #: Bytes, on all connections.
    sent: int = 0
    #: Set when a client has left before the behaviour was over.
    left: threading.Event = field(default_factory=threading.Event)
    #: Set when one that was to leave did not.
    gave_up: threading.Event = field(default_factory=threading.Event)
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"


@contextmanager
def hostile(
    behave: Callable[[Connection], None],
    *,
    tls: ssl.SSLContext | None = None,
    host: str = "127.0.0.1",
) -> Iterator[Hostile]:
    """Run `behave` on each connection until the block is left; no thread is left."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listener:
        listener.bind((host, 0))
        listener.listen(128)
        server = Hostile(listener.getsockname()[1], behave)
        threads: list[threading.Thread] = []
        sockets: list[socket.socket] = []

        def serve(connection: socket.socket) -> None:
            with contextlib.suppress(OSError):  # also of TLS
                if tls is not None:
                    connection = tls.wrap_socket(connection, server_side=True)
                with connection:
                    behave(Connection(connection, server))
                return
            server.left.set()

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    connection.settimeout(PATIENCE_S)
                    sockets.append(connection)
                    threads.append(threading.Thread(target=serve, args=(connection,)))
                    threads[-1].start()

        acceptor = threading.Thread(target=accept)
        acceptor.start()
        try:
            yield server
        finally:
            server.stopping.set()
            with contextlib.suppress(OSError):
                listener.shutdown(socket.SHUT_RDWR)
            acceptor.join()
            for each in sockets:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()


def http(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """An answer, by default of JSON and with its length."""
    kinds = {line.partition(":")[0].lower() for line in headers}
    lines = [f"HTTP/1.1 {status}", *headers]
    if "content-type" not in kinds:
        lines.append("Content-Type: application/json")
    if not kinds & {"content-length", "transfer-encoding"}:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


SSE_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
