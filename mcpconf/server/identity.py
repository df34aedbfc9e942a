"""
Where a server is, and who it says it is.

`mcpconf.server.asking` does the asking, and is imported when someone asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from mcpconf.errors import UsageError
from mcpconf.redaction import redact_text

if TYPE_CHECKING:
    from mcpconf.decode import Json
    from mcpconf.revision import Revision

#: A server may call itself anything; a report shows this much of it.
_CHARS = 200


class IdentityError(UsageError):
    """What answers at a URL, if anything does, is no MCP server that can be tested."""

    def __init__(self, problem: str, *, is_early: bool = False) -> None:
        """`is_early`: it may be different once the server has started."""
        # A URL may hold a password, and a server may say anything.
        super().__init__(redact_text(problem))
        self.is_early = is_early


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerIdentity:
    """What a server says of itself. Its own words: bounded, not yet redacted."""

    name: str | None
    version: str | None
    title: str | None
    #: Those it supports, or the one it agreed to; in its own order.
    revisions: tuple[str, ...]
    #: Names of the extensions it advertises, sorted.
    extensions: tuple[str, ...]

    def to_json(self) -> dict[str, Json]:
        """As reports hold it, cleared of secrets."""
        return {
            "name": self.name and redact_text(self.name),
            "version": self.version and redact_text(self.version),
            "title": self.title and redact_text(self.title),
            "revisions": [redact_text(each) for each in self.revisions],
            "extensions": [redact_text(each) for each in self.extensions],
        }


def check_url(url: str) -> str:
    """
    The URL of a server, in its normal form.

    :raises UsageError: not HTTP, no host, or more than a server's address.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        shown = redact_text(f"{shortened(url)!r} is no URL: {error}")
        raise UsageError(shown) from None
    problem = _url_problem(url, parts)
    if problem:
        # The text may hold the password that it is refused for.
        raise UsageError(f"the server's URL {problem}, as in http://127.0.0.1:3000/mcp")
    host = (parts.hostname or "").lower()
    if ":" in host:
        host = f"[{host}]"
    place = host if port is None else f"{host}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme.lower()}://{place}{parts.path or '/'}{query}"


def _url_problem(url: str, parts: SplitResult) -> str | None:
    problems = {
        "must be printable and hold no space": not url.isprintable() or " " in url,
        "must begin with http:// or https://": parts.scheme not in ("http", "https"),
        "must name a host": not parts.hostname,
        "must name a port that can be reached": parts.port == 0,
        "must hold no user name or password": "@" in parts.netloc,
        "must hold no fragment": "#" in url,
    }
    return next((problem for problem, is_so in problems.items() if is_so), None)


def identify(
    url: str, *, revision: Revision, timeout_s: float = 10.0
) -> ServerIdentity:
    """
    Ask the server at `url` who it is; leaves no session and no connection.

    :raises UsageError: one sentence: nobody answers, what answers is no MCP server, or
        it cannot be tested as it is. Never later than `timeout_s`, apart from the
        system's own search for a host's address.
    """
    from mcpconf.server.asking import ask  # noqa: PLC0415 (requests)

    return ask(check_url(url), revision, timeout_s)


def shortened(text: str) -> str:
    """On one line, and not longer than a report shows."""
    shown = "".join(each if each.isprintable() else " " for each in text[:_CHARS])
    return " ".join(shown.split())
