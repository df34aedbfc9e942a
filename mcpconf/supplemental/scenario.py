"""
What a supplemental scenario is: servers, steps for the client, and checks.

A scenario is data. The launcher starts its servers, the driver has the client take its
steps, and its checks then read what the wire log and the client's results say. Nothing
in a scenario knows a client.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from mcpconf.revision import Revision
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.supplemental.finding import Finding
    from mcpconf.supplemental.observation import Observation

    Look = Callable[[Observation], Finding]

HANDSHAKE = frozenset({Revision.V2025_06_18, Revision.V2025_11_25})
STATELESS = frozenset({Revision.V2026_07_28})
ALL = HANDSHAKE | STATELESS
STDIO = frozenset({Transport.STDIO})
HTTP = frozenset({Transport.HTTP})
BOTH = STDIO | HTTP


class Level(StrEnum):
    """How strongly the specification asks for something."""

    MUST = "MUST"
    SHOULD = "SHOULD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that the client is to do; see ``docs/launch.md`` for the verbs."""

    id: str
    verb: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


def connect(server: str = "subject", *, id: str = "connect", **more: Any) -> Step:  # noqa: A002
    """Open a connection to one of the scenario's servers."""
    return Step(id=id, verb="connect", arguments={"server": server, **more})


def listing(what: str = "tools", *, id: str = "list", **more: Any) -> Step:  # noqa: A002
    """List all ``tools``, ``resources``, ``resourceTemplates`` or ``prompts``."""
    return Step(id=id, verb="list", arguments={"what": what, **more})


def call(
    tool: str,
    arguments: Mapping[str, Any] | None = None,
    *,
    id: str = "call",  # noqa: A002
    **more: Any,
) -> Step:
    """Call a tool."""
    words = {"tool": tool, "arguments": dict(arguments or {}), **more}
    return Step(id=id, verb="call", arguments=words)


def read(uri: str, *, id: str = "read", **more: Any) -> Step:  # noqa: A002
    """Read a resource."""
    return Step(id=id, verb="read", arguments={"uri": uri, **more})


def close(*, id: str = "close") -> Step:  # noqa: A002
    """Close every connection that is open."""
    return Step(id=id, verb="close")


#: Shows that this client and this kind of server get on, before the fault is served.
CONTROL = (
    connect("control", id="control-connect"),
    call("echo", {"text": "control"}, id="control-call", server="control"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckDefinition:
    """One statement about the client, and how it is found out."""

    id: str
    #: What the specification says, in our words.
    sentence: str
    #: The page, below the specification's address and revision (``basic/lifecycle``);
    #: a whole address where it is another document.
    page: str
    level: Level
    #: What is looked for in the wire log and the results.
    looks_for: str
    look: Look
    #: The page of the stateless revision, where that is another one.
    stateless_page: str | None = None
    #: Revisions and transports it applies to, inside the scenario's.
    revisions: frozenset[Revision] = ALL
    transports: frozenset[Transport] = BOTH
    #: Profiles whose fault must be on record, or nothing was observed.
    provoked_by: tuple[str, ...] = ()
    #: Steps without whose result nothing can be said: one the client does not support
    #: makes the check unsupported, one that outlived its limit makes it time out.
    needs: tuple[str, ...] = ()
    #: Programs of ``fixtures/clients/`` that fail it, for this reason alone.
    broken: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One launch: what is served, what the client is asked to do, what is checked."""

    name: str
    title: str
    checks: tuple[CheckDefinition, ...]
    steps: tuple[Step, ...]
    revisions: frozenset[Revision] = ALL
    transports: frozenset[Transport] = BOTH
    profiles: tuple[str, ...] = ()
    #: Limits that differ from the defaults: name → value.
    limits: Mapping[str, float] = field(default_factory=dict)
    #: Revision that the subject server speaks instead of the leg's.
    server_revision: Mapping[Revision, Revision] = field(default_factory=dict)
    #: Whether a client that opens in another era is judged nevertheless.
    any_era: bool = False
    #: Whether there is a good server beside the faulty one.
    has_control: bool = False
    #: The time-out the client is asked to set for each of its own requests.
    request_timeout_s: float = 5.0
    #: Runs alone: it measures time.
    timing_sensitive: bool = False
    #: Variables added to what the client itself may see.
    client_environment: Mapping[str, str] = field(default_factory=dict)
    #: Variables the client is told to give to a stdio server.
    server_environment: Mapping[str, str] = field(default_factory=dict)
    #: Driver options that differ, as for official variants.
    options: Mapping[str, str] = field(default_factory=dict)
