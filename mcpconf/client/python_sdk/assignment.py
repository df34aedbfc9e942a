"""What the suite asks of one start of a client program; standard library only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The dated revisions this program can open a connection at, oldest first.
REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")

#: The first revision without a handshake; dates compare as text.
FIRST_STATELESS = "2026-07-28"


class Unsupported(Exception):  # noqa: N818 (a fact about the client, not an error)
    """The client cannot do what the suite asks; the text says why."""


class Assignment(NamedTuple):
    """One scenario against one server."""

    url: str
    scenario: str
    revision: str
    #: What the scenario hands to the client: credentials, tool calls.
    context: Mapping[str, Any]

    @property
    def is_stateless(self) -> bool:
        """Whether the revision has no handshake."""
        return self.revision >= FIRST_STATELESS


def parse_assignment(url: str, environment: Mapping[str, str]) -> Assignment:
    """
    Take the server's URL and the suite's variables together.

    :raises Unsupported: the revision is not one this program knows.
    :raises ValueError: the context is not a JSON object.
    """
    revision = environment.get("MCP_CONFORMANCE_PROTOCOL_VERSION", "")
    if revision not in REVISIONS:
        raise Unsupported(f"revision {revision!r} is not one of {', '.join(REVISIONS)}")
    context = json.loads(environment.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    if not isinstance(context, dict):
        raise ValueError("MCP_CONFORMANCE_CONTEXT is not a JSON object")  # noqa: TRY004 (a fault of its text)
    return Assignment(
        url=url,
        scenario=environment.get("MCP_CONFORMANCE_SCENARIO", ""),
        revision=revision,
        context=context,
    )
