"""A stdio server that is noisy, stubborn, slow or gone."""

from __future__ import annotations

from mcpconf.supplemental.looks import failed, got_text, taken_or_failed
from mcpconf.supplemental.scenario import (
    CONTROL,
    STDIO,
    CheckDefinition,
    Level,
    Scenario,
    call,
    close,
    connect,
)
from mcpconf.supplemental.scenarios import stdio_life
from mcpconf.supplemental.scenarios.leftovers import LEFTOVERS
from mcpconf.supplemental.scenarios.stdio_looks import (
    fails_soon_after_exit,
    no_undecodable_result,
    survives_exit,
    waits_for_start,
    works,
    works_or_fails,
)

_TRANSPORT, _STATELESS = "basic/transports", "basic/transports/stdio"
_LIFECYCLE = "basic/lifecycle"

NOISE = Scenario(
    name="stdio-noise",
    title="lines on stdout that are no messages",
    profiles=("stdout-noise",),
    transports=STDIO,
    has_control=True,
    request_timeout_s=2.0,
    steps=(*CONTROL, connect(), call("echo", {"text": "heard"})),
    checks=(
        CheckDefinition(
            id="stdio-noise",
            sentence="Lines that are no messages are passed over, or refused clearly. "
            "(No page demands it.)",
            page=_TRANSPORT,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="the echo, or an error that is not the client's time-out",
            look=works_or_fails("heard"),
            provoked_by=("stdout-noise",),
            needs=("connect",),
            broken=("goes_deaf_at_noise",),
        ),
    ),
)

STDERR = Scenario(
    name="stdio-stderr-flood",
    title="4 MiB on stderr before the answer of a call",
    profiles=("stderr-flood",),
    transports=STDIO,
    request_timeout_s=3.0,
    steps=(connect(), call("echo", {"text": "heard"})),
    checks=(
        CheckDefinition(
            id="stdio-stderr-flood",
            sentence="What a server writes on stderr is no error, and is read on.",
            page=_TRANSPORT,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="the echo, from behind more than a pipe holds",
            look=works("heard", "stderr-flood"),
            provoked_by=("stderr-flood",),
            needs=("call",),
            broken=("never_reads_stderr",),
        ),
    ),
)

SLOW_START = Scenario(
    name="stdio-slow-start",
    title="a server that reads nothing for a second",
    profiles=("slow-start",),
    transports=STDIO,
    limits={"delay_s": 1.0},
    steps=(connect(), call("echo", {"text": "heard"})),
    checks=(
        CheckDefinition(
            id="stdio-slow-start",
            sentence="A server may take its time to start; a client waits its limit. "
            "(No page demands it.)",
            page=_LIFECYCLE,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="the echo, though the first answer takes a second; nothing is "
            "asked twice before it",
            look=waits_for_start("heard"),
            provoked_by=("slow-start",),
            needs=("connect",),
            broken=("gives_a_server_a_moment", "asks_a_slow_server_again"),
        ),
    ),
)

EARLY_EXIT = Scenario(
    name="stdio-early-exit",
    title="a server that exits before its first answer",
    profiles=("early-exit",),
    transports=STDIO,
    has_control=True,
    # Half of it is what a client may wait for a discovery: more than is allowed after
    # the last exit. A client may start the server again a few times before.
    request_timeout_s=6.0,
    steps=(*CONTROL, connect()),
    checks=(
        CheckDefinition(
            id="stdio-early-exit",
            sentence="A server that exits during the opening is an error, at once. "
            "(No page demands it.)",
            page=_LIFECYCLE,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="an error of the opening within 2.5 s of the server's last exit",
            look=fails_soon_after_exit("connect", 2.5),
            provoked_by=("early-exit",),
            needs=("connect",),
            broken=("waits_for_a_dead_server",),
        ),
    ),
)

EXIT_AFTER_CALLS = Scenario(
    name="stdio-exit-after-calls",
    title="a server that exits in the middle of a call",
    profiles=("exit-after-calls",),
    transports=STDIO,
    limits={"calls": 1},
    has_control=True,
    request_timeout_s=2.0,
    steps=(
        *CONTROL,
        connect(),
        call("echo", {"text": "one"}, id="one"),
        call("echo", {"text": "two"}, id="two"),
        call("echo", {"text": "three"}, id="three"),
    ),
    checks=(
        CheckDefinition(
            id="stdio-exit-during-call",
            sentence="A call that the server's end cuts short fails, or is made again.",
            page=_LIFECYCLE,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="an error, or the echo, and not the client's time-out",
            look=survives_exit("two"),
            provoked_by=("exit-after-calls",),
            needs=("one", "two"),
            broken=("waits_for_a_dead_server",),
        ),
        CheckDefinition(
            id="stdio-call-after-exit",
            sentence="A call after the server's end fails, or starts it again.",
            page=_LIFECYCLE,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="an error, or the echo, and not the client's time-out",
            look=survives_exit("three", earlier=True),
            provoked_by=("exit-after-calls",),
            needs=("three",),
            broken=("writes_to_a_dead_server",),
        ),
    ),
)

LINES = Scenario(
    name="stdio-lines",
    title="lines that are long, cut, ended or encoded in another way",
    profiles=("crlf-line", "long-line", "invalid-utf8", "partial-line", "unended-line"),
    transports=STDIO,
    has_control=True,
    request_timeout_s=2.0,
    steps=(
        *CONTROL,
        connect(),
        call("crlf_line", id="crlf-line"),
        call("long_line", id="long-line", timeout_s=6.0),
        close(id="close-long-line"),
        connect(id="connect-invalid-utf8"),
        call("invalid_utf8", id="invalid-utf8"),
        call("echo", {"text": "after"}, id="after-invalid-utf8"),
        close(id="close-invalid-utf8"),
        connect(id="connect-partial-line"),
        call("partial_line", id="partial-line"),
        close(id="close-partial-line"),
        connect(id="connect-unended-line"),
        call("unended_line", id="unended-line"),
    ),
    checks=(
        CheckDefinition(
            id="stdio-crlf-line",
            sentence="White space round a message means nothing, CR before LF neither.",
            page="https://www.rfc-editor.org/rfc/rfc8259#section-2",
            level=Level.SHOULD,
            looks_for="the result of an answer whose line ends with CR LF",
            look=got_text("crlf-line", "done"),
            provoked_by=("crlf-line",),
            needs=("crlf-line",),
            broken=("refuses_crlf",),
        ),
        CheckDefinition(
            id="stdio-long-line",
            sentence="An over-long line is taken whole or refused, never hung on. (No "
            "page demands it.)",
            page=_TRANSPORT,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="the result, or an error that is not the client's time-out",
            look=taken_or_failed("long-line", "done"),
            provoked_by=("long-line",),
            needs=("long-line",),
            broken=("drops_long_lines",),
        ),
        CheckDefinition(
            id="stdio-invalid-utf8",
            sentence="A message is UTF-8; what is not is no message.",
            page=_TRANSPORT,
            level=Level.SHOULD,
            looks_for="no result from such a line, and a client that goes on",
            look=no_undecodable_result,
            provoked_by=("invalid-utf8",),
            needs=("invalid-utf8", "after-invalid-utf8"),
            broken=("replaces_invalid_utf8",),
        ),
        CheckDefinition(
            id="stdio-partial-line",
            sentence="Half a line is no message; a server that ends in it has failed. "
            "(No page demands it.)",
            page=_TRANSPORT,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="an error that is not the client's time-out",
            look=failed("partial-line"),
            provoked_by=("partial-line",),
            needs=("partial-line",),
            broken=("completes_half_a_line",),
        ),
        CheckDefinition(
            id="stdio-unended-line",
            sentence="A last message without its line end is taken, or is an error. "
            "(No page demands it.)",
            page=_TRANSPORT,
            stateless_page=_STATELESS,
            level=Level.SHOULD,
            looks_for="the result, or an error that is not the client's time-out",
            look=taken_or_failed("unended-line", "done"),
            provoked_by=("unended-line",),
            needs=("unended-line",),
            broken=("waits_for_the_end_of_a_line",),
        ),
    ),
)


SCENARIOS: tuple[Scenario, ...] = (
    *stdio_life.SCENARIOS,
    NOISE,
    STDERR,
    SLOW_START,
    EARLY_EXIT,
    EXIT_AFTER_CALLS,
    LINES,
    LEFTOVERS,
)
