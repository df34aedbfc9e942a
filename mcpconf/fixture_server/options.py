"""
What one fixture server is told: a revision, a transport, profiles and their limits.

Every number a profile needs is a limit with a flag of its own, so that a client's own
bound can be measured and is never written down here as a constant.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcpconf.revision import Revision
    from mcpconf.transport import Transport


#: The greatest values: a server must be able to hold what it is told to make.
_COUNT, _BYTES, _SECONDS = 1_000_000, 2**30, 3600


def _limit(default: float, greatest: int, help_text: str, least: int = 0) -> Any:
    metadata = {"help": help_text, "least": least, "greatest": greatest}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes, counts and times (seconds) of the profiles; each is a flag."""

    catalogue_size: int = _limit(
        0, _COUNT, "pad the tools to this many (0: no padding)"
    )
    page_size: int = _limit(0, _COUNT, "tools on a page (0: one page)")
    pages: int = _limit(1000, _COUNT, "pages after which a list without an end ends", 1)
    cursor_bytes: int = _limit(65_537, _BYTES, "length of an over-long cursor", 1)
    input_requests: int = _limit(65, _COUNT, "input requests at once", 1)
    rounds: int = _limit(3, _COUNT, "rounds of input before the result", 1)
    comment_bytes: int = _limit(
        8_390_656, _BYTES, "bytes of comments before an event", 1
    )
    event_bytes: int = _limit(8_390_656, _BYTES, "bytes of an over-long event", 1)
    line_bytes: int = _limit(
        10_485_760, _BYTES, "bytes of an over-long line on stdout", 1
    )
    stderr_bytes: int = _limit(4_194_304, _BYTES, "bytes of noise on stderr", 1)
    calls: int = _limit(2, _COUNT, "tool calls before the server exits", 1)
    delay_s: float = _limit(1.0, _SECONDS, "seconds that a slow server takes")
    linger_s: float = _limit(
        20.0, _SECONDS, "seconds that a stubborn server or child stays"
    )
    task_second_s: float = _limit(
        1.0, _SECONDS, "seconds that a second of a task's work lasts"
    )
    task_poll_ms: int = _limit(50, _SECONDS * 1000, "pollIntervalMs of tasks", 1)
    task_ttl_ms: int = _limit(
        300_000, _SECONDS * 1000, "ttlMs of tasks (0: no limit, null)"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """One server, resolved."""

    revision: Revision
    transport: Transport
    #: Names of `mcpconf.fixture_server.profile.PROFILES`; empty: the plain server.
    profiles: tuple[str, ...] = ()
    #: HTTP: also have all that the official suite's server scenarios ask for.
    everything: bool = False
    limits: Limits = field(default_factory=Limits)
    host: str = "127.0.0.1"
    #: 0 lets the system choose.
    port: int = 0
    endpoint: str = "/mcp"
    allowed_origins: tuple[str, ...] = ()


LIMIT_NAMES = tuple(each.name for each in fields(Limits))
