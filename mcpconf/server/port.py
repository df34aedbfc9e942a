"""Ports of this machine: a free one for a server, and who takes connections at one."""

from __future__ import annotations

import contextlib
import socket
import threading

#: Ports that were given away; between that and the server's listening they are free.
_given: set[int] = set()
_given_lock = threading.Lock()


def free_port() -> int:
    """A port on which nobody listens now, and that nobody in this process was given."""
    while True:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = int(one.getsockname()[1])
        with _given_lock:
            if port not in _given:
                _given.add(port)
                return port


def host_of(port: int) -> str | None:
    """The host at which a port of this machine takes connections, if any."""
    is_at_six = _takes("::1", port)
    # Looked at last: a server that listens at both must not seem to be at ::1 alone.
    if _takes("127.0.0.1", port):
        return "127.0.0.1"
    # Not localhost, which on many machines is no name of it.
    return "[::1]" if is_at_six else None


def _takes(address: str, port: int) -> bool:
    with contextlib.suppress(OSError):  # refused, or no such protocol here
        socket.create_connection((address, port), timeout=2.0).close()
        return True
    return False
