"""A stdio server's environment, and its end: in good order, or against its will."""

from __future__ import annotations

from mcpconf.supplemental.scenario import (
    STDIO,
    CheckDefinition,
    Level,
    Scenario,
    call,
    close,
    connect,
)
from mcpconf.supplemental.scenarios.stdio_looks import (
    SECRET,
    SETTING,
    children_are_gone,
    closes_input_first,
    has_no_secret,
    has_setting,
    may_leave_by_itself,
    nothing_survives,
    terminates_first,
)

_LIFECYCLE, _STATELESS = "basic/lifecycle", "basic/transports/stdio"
_DOCS = "https://modelcontextprotocol.io/docs"
_SECURITY = "tutorials/security/security_best_practices"

LIFE = Scenario(
    name="stdio-life",
    title="a server's environment, and the moment it needs to exit",
    profiles=("slow-exit",),
    transports=STDIO,
    limits={"delay_s": 0.4},
    client_environment={SECRET: "mcpconf-canary-token"},
    server_environment={SETTING: "on"},
    steps=(connect(), call("echo", {"text": "heard"}), close()),
    checks=(
        CheckDefinition(
            id="stdio-configured-environment",
            sentence="A server, which finds its credentials in its environment, is "
            "given the variables that are configured for it.",
            page="basic",
            level=Level.SHOULD,
            looks_for=f"{SETTING} among the names of the server's variables",
            look=has_setting,
            needs=("call",),
            broken=("ignores_configured_environment",),
        ),
        CheckDefinition(
            id="stdio-secrets-kept",
            sentence="A server runs with few privileges, and so without secrets of "
            "the client's own. (No page names variables.)",
            page=f"{_DOCS}/2025-11-25/{_SECURITY}",
            stateless_page=f"{_DOCS}/2026-07-28/{_SECURITY}",
            level=Level.SHOULD,
            looks_for=f"no {SECRET} among the names of the server's variables",
            look=has_no_secret,
            needs=("call",),
            broken=("passes_its_whole_environment",),
        ),
        CheckDefinition(
            id="stdio-time-to-exit",
            sentence="After closing a server's input a client waits for it to exit.",
            page=_LIFECYCLE,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="an exit of the server's own, with no signal before it",
            look=may_leave_by_itself,
            needs=("close",),
            broken=("hurries_a_leaving_server",),
        ),
        CheckDefinition(
            id="stdio-closed-means-gone",
            sentence="A connection is closed when its server has ended.",
            page=_LIFECYCLE,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="no child of the client's after its close",
            look=children_are_gone,
            needs=("close",),
            broken=("does_not_wait_for_its_server",),
        ),
    ),
)


STUBBORN = Scenario(
    name="stdio-stubborn-server",
    title="a server that neither the end of its input nor SIGTERM ends",
    profiles=("ignores-eof", "ignores-sigterm"),
    transports=STDIO,
    limits={"linger_s": 30.0},
    request_timeout_s=8.0,
    steps=(connect(), call("echo", {"text": "heard"}), close()),
    checks=(
        CheckDefinition(
            id="stdio-stubborn-server-gone",
            sentence="A server that does not exit in a reasonable time is ended.",
            page=_LIFECYCLE,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="no process left when the client has ended",
            look=nothing_survives,
            needs=("call",),
            broken=("leaves_stubborn_servers", "goes_no_further_than_sigterm"),
        ),
        CheckDefinition(
            id="stdio-sigterm-first",
            sentence="SIGTERM is tried before SIGKILL (from 2026-07-28 on: typically).",
            page=_LIFECYCLE,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="SIGTERM in the log of every server",
            look=terminates_first,
            needs=("call",),
            broken=("kills_without_sigterm",),
        ),
        CheckDefinition(
            id="stdio-input-closed-first",
            sentence="A client ends a server by closing its input, before any signal.",
            page=_LIFECYCLE,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="the end of the server's input, earlier than a signal",
            look=closes_input_first,
            needs=("call",),
            broken=("terminates_before_closing_input",),
        ),
    ),
)


CHILD = Scenario(
    name="stdio-child-left",
    title="a server that leaves a child in its process group",
    profiles=("leaves-child",),
    transports=STDIO,
    steps=(connect(), call("echo", {"text": "heard"}), close()),
    checks=(
        CheckDefinition(
            id="stdio-child-left",
            sentence="What a server leaves in its process group ends with it. (No "
            "page demands it.)",
            page=_LIFECYCLE,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="no process left when the client has ended",
            look=nothing_survives,
            provoked_by=("leaves-child",),
            needs=("close",),
            broken=("leaves_grandchildren",),
        ),
    ),
)


SCENARIOS: tuple[Scenario, ...] = (LIFE, STUBBORN, CHILD)
