"""Status codes, empty bodies, lost sessions."""

from __future__ import annotations

from mcpconf.supplemental.looks import got_text, taken_or_failed
from mcpconf.supplemental.scenario import (
    CONTROL,
    HANDSHAKE,
    HTTP,
    CheckDefinition,
    Level,
    Scenario,
    call,
    close,
    connect,
)
from mcpconf.supplemental.scenarios.http_looks import (
    goes_on,
    goes_on_in_its_session,
    is_bounded,
    names_session,
    no_probes,
    push_stream_may_be_closed,
    push_stream_may_be_refused,
    starts_anew,
    taken,
)

_HTTP = "basic/transports"
_STATELESS_HTTP = "basic/transports/streamable-http"
_TIMEOUTS = "basic/lifecycle"


def _acknowledgement(profile: str, what: str, client: str) -> Scenario:
    """
    One way to take notifications.

    A scenario of its own: a client that it drives to another attempt meets it again.
    """
    return Scenario(
        name=f"http-{profile}",
        title=f"notifications are acknowledged by {what}",
        profiles=(profile,),
        revisions=HANDSHAKE,
        transports=HTTP,
        has_control=True,
        request_timeout_s=2.0,
        steps=(*CONTROL, connect(), call("echo", {"text": profile})),
        checks=(
            CheckDefinition(
                id=f"http-{profile}",
                sentence=f"A notification is acknowledged by 202; {what} is as good. "
                "(No page demands it.)",
                page=_HTTP,
                level=Level.SHOULD,
                looks_for="the echo, in a session whose notifications/initialized was "
                "answered so",
                look=taken(profile),
                provoked_by=(profile,),
                needs=("connect",),
                broken=(client,),
            ),
        ),
    )


ACKNOWLEDGEMENTS = (
    _acknowledgement("ack-204", "no content at all (204)", "refuses_no_content"),
    _acknowledgement("ack-200", "200 and a length of 0", "parses_a_body_of_no_length"),
    _acknowledgement(
        "ack-200-chunked",
        "200 and an empty chunked body",
        "parses_an_empty_chunked_body",
    ),
    _acknowledgement(
        "ack-202-close", "202 that ends with its connection", "needs_a_length"
    ),
)

CONTENT_TYPES = Scenario(
    name="http-content-types",
    title="good answers under odd content types, and nobody asks for a login",
    profiles=(
        "content-type-charset",
        "content-type-stream-charset",
        "content-type-case",
        "content-type-missing",
    ),
    transports=HTTP,
    request_timeout_s=2.0,
    steps=(
        connect(),
        call("echo", {"text": "plain"}, id="plain"),
        call("content_type_charset", id="charset"),
        call("content_type_stream_charset", id="stream-charset"),
        call("content_type_case", id="case"),
        call("content_type_missing", id="missing"),
    ),
    checks=(
        CheckDefinition(
            id="http-no-authorization-probes",
            sentence="A client asks about authorization when a server requires it, "
            "and not before. (No page demands it.)",
            page="basic/authorization",
            level=Level.SHOULD,
            looks_for="no request for authorization metadata, a login or a token",
            look=no_probes,
            needs=("plain",),
            broken=("looks_for_authorization_first",),
        ),
        CheckDefinition(
            id="http-content-type-charset",
            sentence="A content type may have parameters.",
            page="https://www.rfc-editor.org/rfc/rfc9110#section-8.3.1",
            level=Level.MUST,
            looks_for="the result of an answer whose content type names its charset",
            look=got_text("charset", "done"),
            provoked_by=("content-type-charset",),
            needs=("charset",),
            broken=("compares_json_with_its_parameters",),
        ),
        CheckDefinition(
            id="http-stream-content-type-charset",
            sentence="The content type of an event stream may have parameters, too.",
            page="https://www.rfc-editor.org/rfc/rfc9110#section-8.3.1",
            level=Level.MUST,
            looks_for="the result of a stream whose content type names its charset",
            look=got_text("stream-charset", "done"),
            provoked_by=("content-type-stream-charset",),
            needs=("stream-charset",),
            broken=("compares_streams_with_their_parameters",),
        ),
        CheckDefinition(
            id="http-content-type-case",
            sentence="Capital and small letters mean the same in a content type.",
            page="https://www.rfc-editor.org/rfc/rfc9110#section-8.3.1",
            level=Level.MUST,
            looks_for="the result of an answer of the type Application/JSON",
            look=got_text("case", "done"),
            provoked_by=("content-type-case",),
            needs=("case",),
            broken=("compares_content_types_letter_by_letter",),
        ),
        CheckDefinition(
            id="http-content-type-missing",
            sentence="An answer without a content type is an error, or taken for "
            "JSON. (No page demands it.)",
            page=_HTTP,
            stateless_page=_STATELESS_HTTP,
            level=Level.SHOULD,
            looks_for="the result, or an error that is not the client's time-out",
            look=taken_or_failed("missing", "done"),
            provoked_by=("content-type-missing",),
            needs=("missing",),
            broken=("waits_for_a_content_type",),
        ),
    ),
)


def _status(number: int, words: str, client: str, most: int = 10) -> CheckDefinition:
    return CheckDefinition(
        id=f"http-{number}",
        sentence=f"A call that is answered {number} ({words}) fails, and ends. "
        "(No page demands it.)",
        page=_HTTP,
        stateless_page=_STATELESS_HTTP,
        level=Level.SHOULD,
        looks_for=f"an error for the host in time, and at most {most} requests",
        look=is_bounded(f"status-{number}", most),
        provoked_by=(f"status-{number}",),
        needs=(f"status-{number}",),
        broken=(client,),
    )


STATUSES = Scenario(
    name="http-statuses",
    title="calls answered with a status of failure and a page for people",
    profiles=("status-429", "status-500", "status-503", "status-403", "status-401"),
    transports=HTTP,
    has_control=True,
    request_timeout_s=2.0,
    steps=(
        *CONTROL,
        connect(),
        call("status_429", id="status-429"),
        call("status_500", id="status-500"),
        call("status_503", id="status-503"),
        call("echo", {"text": "again"}, id="again"),
        close(id="close-503"),
        connect(id="connect-403"),
        call("status_403", id="status-403"),
        close(id="close-403"),
        connect(id="connect-401"),
        call("status_401", id="status-401"),
    ),
    checks=(
        _status(429, "too many requests", "ignores_retry_after"),
        _status(500, "server error", "takes_a_server_error_for_an_answer"),
        _status(503, "unavailable", "waits_for_a_busy_server"),
        CheckDefinition(
            id="http-next-call",
            sentence="A call that failed for the moment does not end the connection. "
            "(No page demands it.)",
            page=_TIMEOUTS,
            stateless_page=_STATELESS_HTTP,
            level=Level.SHOULD,
            looks_for="the echo of a call after one that was answered 503, in the same "
            "session where there are sessions",
            look=goes_on_in_its_session("again", "status_503"),
            provoked_by=("status-503",),
            needs=("again",),
            broken=("gives_up_a_busy_server",),
        ),
        _status(403, "forbidden", "repeats_a_forbidden_call"),
        _status(401, "unauthorized", "asks_for_ever_how_to_log_in", 25),
    ),
)

SESSION = Scenario(
    name="http-session-lost",
    title="the server forgets the session",
    profiles=("session-dropped",),
    revisions=HANDSHAKE,
    transports=HTTP,
    request_timeout_s=2.0,
    steps=(
        connect(),
        call("echo", {"text": "before"}, id="before"),
        call("session_dropped", id="drop"),
        call("echo", {"text": "lost"}, id="lost"),
        call("echo", {"text": "after"}, id="after"),
    ),
    checks=(
        CheckDefinition(
            id="http-session-id-everywhere",
            sentence="Every request after the opening names the session it was given.",
            page=_HTTP,
            level=Level.MUST,
            looks_for="Mcp-Session-Id on every POST and GET after initialize",
            look=names_session,
            needs=("before",),
            broken=("listens_without_its_session",),
        ),
        CheckDefinition(
            id="http-new-session-after-404",
            sentence="After a 404 for its session a client opens a new one, unnamed.",
            page=_HTTP,
            level=Level.MUST,
            looks_for="an initialize without Mcp-Session-Id after the 404",
            look=starts_anew,
            provoked_by=("session-dropped",),
            needs=("lost",),
            broken=("never_begins_a_new_session", "names_the_lost_session"),
        ),
        CheckDefinition(
            id="http-goes-on-in-new-session",
            sentence="After that the client's requests name the new session.",
            page=_HTTP,
            level=Level.MUST,
            looks_for="the echo of a later call, answered in the new session",
            look=goes_on,
            provoked_by=("session-dropped",),
            needs=("after",),
            broken=("goes_back_to_the_lost_session",),
        ),
    ),
)


def _push_stream(name: str, title: str, check: CheckDefinition) -> Scenario:
    """One way to have no push stream, for every session."""
    return Scenario(
        name=f"http-push-stream-{name}",
        title=title,
        profiles=(f"push-{name}",),
        revisions=HANDSHAKE,
        transports=HTTP,
        limits={"delay_s": 0.6},
        has_control=True,
        request_timeout_s=2.0,
        steps=(*CONTROL, connect(), call("slow")),
        checks=(check,),
    )


PUSH_STREAMS = (
    _push_stream(
        "refused",
        "a push stream is refused",
        CheckDefinition(
            id="http-push-stream-refused",
            sentence="A server need not offer a push stream; 405 says it has none.",
            page=_HTTP,
            level=Level.MUST,
            looks_for="the result of a call, in a session whose GET was answered 405",
            look=push_stream_may_be_refused,
            needs=("call",),
            broken=("needs_a_push_stream",),
        ),
    ),
    _push_stream(
        "closed",
        "a push stream ends at once",
        CheckDefinition(
            id="http-push-stream-closed",
            sentence="A push stream that ends is opened again later, if at all. (No "
            "page demands it.)",
            page=_HTTP,
            level=Level.SHOULD,
            looks_for="the result of a call in a session whose push stream ended, and "
            "few GETs",
            look=push_stream_may_be_closed,
            needs=("call",),
            broken=("reopens_the_push_stream_at_once",),
        ),
    ),
)

SCENARIOS: tuple[Scenario, ...] = (
    *ACKNOWLEDGEMENTS,
    CONTENT_TYPES,
    STATUSES,
    SESSION,
    *PUSH_STREAMS,
)
