"""A server that is watched while a case runs, and what was seen of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mcpconf.process import Ended, EndKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpconf.decode import Json, Reader

#: So long a supervisor may take to tell of an end.
_SETTLE_S = 1.0
#: Of its stderr, this much is kept.
_TAIL_CHARS = 2000


class WatchedServer(Protocol):
    """A server that was started here."""

    @property
    def pid(self) -> int | None:
        """Its process; None where the system does not tell."""

    def wait_ended(self, timeout_s: float) -> bool:
        """Whether it ends within a time."""

    def ended(self) -> Ended | None:
        """How it ended; None while it runs."""

    def stderr_tail(self) -> str:
        """The last of what it wrote to stderr during the case, in whole lines."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSeen:
    """Which server it was, and how it fared; redacted already."""

    url: str
    #: None: it was not started here, or the system does not tell.
    pid: int | None = None
    #: How it ended during the case; None: it lived, or was not started here.
    ended: Ended | None = None
    #: The last of what it wrote to stderr.
    stderr: str | None = None

    @property
    def crash(self) -> str | None:
        """How it ended, in words; None where it lived."""
        if self.ended is None:
            return None
        how = f"exited with {self.ended.exit_code}"
        if self.ended.kind is EndKind.SIGNALLED:
            how = f"was killed by {self.ended.signal}"
        lines = [line.strip() for line in (self.stderr or "").splitlines()]
        said = next((line for line in reversed(lines) if line), None)
        return f"the server {how} during this scenario{f': {said}' if said else ''}"

    def to_json(self) -> dict[str, Json]:
        """The stored form."""
        return {
            "url": self.url,
            "pid": self.pid,
            "ended": self.ended.to_json() if self.ended else None,
            "stderr": self.stderr,
        }

    @classmethod
    def from_json(cls, reader: Reader) -> ServerSeen:
        """
        Read what `to_json` gives.

        :raises DecodeError: it is not of this form.
        """
        reader.only("url", "pid", "ended", "stderr")
        pid, ended = reader.get("pid"), reader.get("ended")
        stderr = reader.get("stderr")
        return cls(
            url=reader.key("url").string(),
            pid=pid.integer() if pid else None,
            ended=Ended.from_json(ended) if ended else None,
            stderr=stderr.string() if stderr else None,
        )


def seen_of(
    server: WatchedServer | None,
    *,
    url: str,
    hung_up: bool,
    cleared: Callable[[str], str],
) -> ServerSeen:
    """
    How a server fared during the case that ends now; `cleared` takes secrets out.

    Of one that hung up the supervisor may be about to tell its end: that is waited for,
    so that no crash is taken for a refusal.
    """
    if server is None:
        return ServerSeen(url=cleared(url))
    if hung_up:
        server.wait_ended(_SETTLE_S)
    ended = server.ended()
    return ServerSeen(
        url=cleared(url),
        pid=server.pid,
        ended=ended,
        # Cleared first: a secret that is cut in two is not known any more.
        stderr=cleared(server.stderr_tail()).strip()[-_TAIL_CHARS:] or None,
    )
