"""
The wire log: every message in and out, as JSON lines, cleared of secrets.

One record a line, written with one system call, so that a server that is killed loses
nothing it had said. Members of every record: ``t`` (milliseconds of the monotonic
clock, the system's, so that the logs of several processes can be compared), ``pid``,
and ``type``:

``start``       ``revision``, ``transport``, ``profiles``; on stdio ``environment``: the
                *names* of its variables
``connection``  ``connection``, ``event`` (``opened``, ``closed``), ``by`` (``client``,
                ``server``, null). On stdio the process is the one connection, named by
                its pid, and ``closed`` by the client is the end of its input
``request``     HTTP: ``exchange``, ``connection``, ``http`` (version), ``method``,
                ``target``, ``headers`` (lower-case name → list of values)
``received``    a message, or what should have been one: ``exchange`` (null on stdio),
                ``connection``, ``bytes``, ``sha256`` (of the raw bytes), ``message``
                (JSON) or null, ``text`` (its beginning, where it is not JSON) or null,
                ``cut`` (true: too long to be kept)
``response``    HTTP: ``exchange``, ``status``, ``headers``
``sent``        like ``received``, and ``stream``: ``json``, ``sse`` (the answer of a
                POST), ``push`` (the GET stream), ``stdio``
``finished``    HTTP: ``exchange``, ``how``: ``complete``, ``client-closed``,
                ``server-cut``
``fault``       a profile really did what it is there for: ``profile``, ``detail``,
                ``exchange`` or null
``signal``      ``name``: a signal was received
``exit``        ``code``: the last record of an orderly end
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.clearing import cleared
from mcpconf.redaction import redact_headers, redact_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike
    from typing import IO

    Json = Any

#: A longer message is named by its digest and its beginning.
KEPT_BYTES = 64 * 1024
_TEXT = 200


@lru_cache(maxsize=128)  # a client sends the same headers again and again
def _cleared(pairs: tuple[tuple[str, str], ...]) -> Mapping[str, Any]:
    grouped: dict[str, str | list[str]] = {}
    for name, value in pairs:
        values = grouped.setdefault(name.lower(), [])
        if isinstance(values, list):
            values.append(value)
    return redact_headers(grouped)


def _sha256() -> Callable[[bytes], Any]:
    # Python's own (since 3.12, before): OpenSSL takes longer to load than most logs to
    # write. Not every build has it.
    for module in ("_sha2", "_sha256"):
        with suppress(ImportError):
            own: Callable[[bytes], Any] = import_module(module).sha256
            return own
    return _fast_sha256()


def _fast_sha256() -> Callable[[bytes], Any]:
    import hashlib  # noqa: PLC0415 (see above)

    return hashlib.sha256


_short_sha256 = _sha256()


def _digest(raw: bytes) -> str:
    sha256 = _short_sha256 if len(raw) <= KEPT_BYTES else _fast_sha256()
    return str(sha256(raw).hexdigest())


class Log:
    """The log of one server; without a file it takes everything and keeps nothing."""

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        """
        Open `path` for appending: several processes may share it.

        :raises OSError: it cannot be written.
        """
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        self._path = path
        self._fd = None if path is None else os.open(path, flags, 0o600)
        self._pid = os.getpid()

    @classmethod
    def to(cls, stream: IO[bytes]) -> Log:
        """A log into an open file, which may have no name."""
        log = cls()
        log._fd = os.dup(stream.fileno())
        return log

    def write(self, kind: str, **members: Json) -> None:
        """Append one record as it is: what may be secret was cleared by the caller."""
        if self._fd is None:
            return
        record = {
            "t": round(time.monotonic() * 1000, 3),
            "pid": self._pid,
            "type": kind,
            **members,
        }
        os.write(self._fd, json.dumps(record).encode() + b"\n")

    def headers(
        self, kind: str, pairs: Sequence[tuple[str, str]], **more: Json
    ) -> None:
        """A ``request`` or ``response`` with its headers."""
        if self._fd is not None:
            self.write(kind, **more, headers=_cleared(tuple(pairs)))

    def message(
        self,
        kind: str,
        raw: bytes,
        value: Json,
        *,
        connection: int,
        exchange: int | None = None,
        **more: Json,
    ) -> None:
        """
        A ``received`` or ``sent`` message.

        `raw` is what was on the wire, without the framing around it; `value` is what
        it decodes to, None when it is not JSON.
        """
        if self._fd is None:
            return
        cut = len(raw) > KEPT_BYTES
        text = None
        if cut or value is None:
            text = redact_text(raw[:KEPT_BYTES].decode("utf-8", "replace"))[:_TEXT]
        self.write(
            kind,
            exchange=exchange,
            connection=connection,
            bytes=len(raw),
            sha256=_digest(raw),
            message=None if cut else cleared(value),
            text=text,
            cut=cut,
            **more,
        )

    def start(self, members: Mapping[str, Any]) -> None:
        """
        Write the first record of a process.

        :raises OSError: it cannot be written; `filename` is the log's path.
        """
        try:
            self.write("start", **members)
        except OSError as error:
            raise OSError(error.errno, error.strerror, self._path) from error

    def fault(self, profile: str, detail: str, exchange: int | None = None) -> None:
        """A profile did what it is there for."""
        self.write("fault", profile=profile, detail=detail, exchange=exchange)

    def close(self) -> None:
        """Close the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
