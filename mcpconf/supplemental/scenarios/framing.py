"""Server-sent events, cut and spelled in every way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcpconf.revision import Revision
from mcpconf.supplemental.finding import Finding, broken, holds, unobserved
from mcpconf.supplemental.looks import (
    ended,
    failed,
    got_text,
    has_error_result,
    taken_or_failed,
    text_of,
)
from mcpconf.supplemental.observation import StepState
from mcpconf.supplemental.scenario import (
    ALL,
    CONTROL,
    HTTP,
    CheckDefinition,
    Level,
    Scenario,
    call,
    close,
    connect,
)
from mcpconf.supplemental.scenarios.http_looks import shares_session

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation

_EVENT_STREAM = "https://html.spec.whatwg.org/multipage/server-sent-events.html"
_PARSING = f"{_EVENT_STREAM}#parsing-an-event-stream"
_INTERPRETING = f"{_EVENT_STREAM}#event-stream-interpretation"
_HTTP = "basic/transports"
_STATELESS_HTTP = "basic/transports/streamable-http"
_TIMEOUTS, _STATELESS_TIMEOUTS = "basic/lifecycle", "basic/patterns/cancellation"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spelling:
    """One way to write an event that means the same as any other."""

    #: The profile; its tool, the step and the check are named alike.
    profile: str
    sentence: str
    client: str
    page: str = _INTERPRETING
    text: str = "framed"
    revisions: frozenset[Revision] = ALL

    @property
    def tool(self) -> str:
        return self.profile.replace("-", "_")

    def check(self) -> CheckDefinition:
        return CheckDefinition(
            id=self.profile,
            sentence=self.sentence,
            page=self.page,
            level=Level.MUST,
            looks_for="the tool's text in the result, after its event was sent so",
            look=got_text(self.profile, self.text),
            provoked_by=(self.profile,),
            needs=(self.profile,),
            revisions=self.revisions,
            broken=(self.client,),
        )


_SPELLINGS = (
    _Spelling(
        profile="sse-cr",
        sentence="Lines may end with a carriage return alone.",
        page=_PARSING,
        client="knows_no_bare_cr",
    ),
    _Spelling(
        profile="sse-crlf",
        sentence="Lines may end with a carriage return and a line feed.",
        page=_PARSING,
        client="keeps_the_cr_of_crlf",
    ),
    _Spelling(
        profile="sse-comments",
        sentence="A line that begins with a colon is ignored, inside an event too.",
        client="forgets_an_event_at_a_comment",
    ),
    _Spelling(
        profile="sse-empty-blocks",
        sentence="A block without data, such as a keep-alive comment, is no event.",
        client="dispatches_empty_events",
    ),
    _Spelling(
        profile="sse-multi-line",
        sentence="The data lines of an event are joined with line feeds.",
        client="takes_the_last_data_line",
    ),
    _Spelling(
        profile="sse-fields",
        sentence="An event may have a type (here the default), an id and a retry.",
        client="drops_typed_events",
    ),
    _Spelling(
        profile="sse-unknown-fields",
        sentence="Fields of another name are ignored; capitals make another name.",
        client="refuses_unknown_fields",
    ),
    _Spelling(
        profile="sse-no-colon",
        sentence="A line without a colon is a field with an empty value.",
        client="refuses_lines_without_a_colon",
    ),
    _Spelling(
        profile="sse-priming",
        sentence="A stream may begin with an event that has an id and empty data.",
        page=_HTTP,
        client="reads_a_message_from_empty_data",
        revisions=frozenset({Revision.V2025_11_25}),
    ),
    _Spelling(
        profile="sse-no-space",
        sentence="The space after a field's colon may be missing.",
        client="needs_a_space_after_the_colon",
    ),
    _Spelling(
        profile="sse-bom",
        sentence="A byte order mark at the beginning of the stream is ignored.",
        page=_PARSING,
        client="reads_the_byte_order_mark",
    ),
    _Spelling(
        profile="sse-bytewise",
        sentence="An event may arrive in pieces, cut anywhere.",
        page=_PARSING,
        client="needs_both_line_ends_at_once",
    ),
    _Spelling(
        profile="sse-split-character",
        sentence="The stream is UTF-8 as a whole, wherever it is cut.",
        page=_PARSING,
        text="nihongo 日本語",
        client="decodes_every_piece_by_itself",
    ),
    _Spelling(
        profile="sse-separators",
        sentence="Only CR, LF and CR LF end a line; no other separator does.",
        page=_PARSING,
        text="one\u0085two\u2028three\u2029four",
        client="splits_lines_at_unicode_separators",
    ),
)

FRAMING = Scenario(
    name="sse-framing",
    title="answers on event streams, framed in every way there is",
    profiles=tuple(each.profile for each in _SPELLINGS),
    transports=HTTP,
    steps=(connect(), *(call(each.tool, id=each.profile) for each in _SPELLINGS)),
    checks=tuple(each.check() for each in _SPELLINGS),
)

COMMENT_FLOOD = Scenario(
    name="sse-comment-flood",
    title="8 MiB of comments before an answer",
    profiles=("sse-comment-flood",),
    transports=HTTP,
    steps=(connect(), call("sse_comment_flood")),
    checks=(
        CheckDefinition(
            id="sse-comment-flood",
            sentence="Comments are ignored; they do not make the next event too long.",
            page=_INTERPRETING,
            level=Level.SHOULD,
            looks_for="the tool's text in the result, after the comments were sent",
            look=got_text("call", "framed"),
            provoked_by=("sse-comment-flood",),
            needs=("call",),
            broken=("counts_comments",),
        ),
    ),
)


LONG_EVENT = Scenario(
    name="sse-long-event",
    title="one event of over 8 MiB",
    profiles=("sse-long-event",),
    transports=HTTP,
    has_control=True,
    request_timeout_s=3.0,
    steps=(*CONTROL, connect(), call("sse_long_event")),
    checks=(
        CheckDefinition(
            id="sse-long-event",
            sentence="An over-long event is taken whole or refused, never hung on. "
            "(No page demands it.)",
            page=_TIMEOUTS,
            stateless_page=_STATELESS_TIMEOUTS,
            level=Level.SHOULD,
            looks_for="the whole result, or an error that is not the client's time-out",
            look=taken_or_failed("call", "framed"),
            provoked_by=("sse-long-event",),
            needs=("call",),
            broken=("waits_after_a_long_event",),
        ),
    ),
)


def _no_half_event(seen: Observation) -> Finding:
    step = seen.step("unfinished")
    if step.state is StepState.OK and not has_error_result(step):
        return broken(f"the unfinished event was dispatched: {text_of(step)!r}")
    return holds(f"nothing of it was dispatched; the call {ended(step)}")


def _first_answer(seen: Observation) -> Finding:
    step = seen.step("two-answers")
    if step.state is StepState.OK and text_of(step) == "second":
        return broken("the second response replaced the first")
    return got_text("two-answers", "first")(seen)


def _own_answer(seen: Observation) -> Finding:
    step, text = seen.step("after-two-answers"), "progress complete"
    if step.state is not StepState.OK or has_error_result(step):
        # It was answered wrongly to nobody.
        return unobserved(f"the next call {ended(step)}")
    if text_of(step) != text:
        return broken(f"the host got {text_of(step)!r}, not {text!r}")
    if not shares_session(seen, "sse_two_answers", "progress"):
        return unobserved("the next call was made in another session")
    return holds(f"the host got {text!r}")


ENDINGS = Scenario(
    name="sse-endings",
    title="streams that end too early, or too late",
    profiles=("sse-cut", "sse-unfinished", "sse-no-answer", "sse-two-answers"),
    transports=HTTP,
    has_control=True,
    request_timeout_s=1.5,
    steps=(
        *CONTROL,
        connect(),
        call("sse_two_answers", id="two-answers"),
        # It promises no structured content, for want of which a client might refuse
        # another's answer.
        call("progress", id="after-two-answers"),
        call("sse_unfinished", id="unfinished"),
        close(id="close-unfinished"),
        connect(id="connect-no-answer"),
        call("sse_no_answer", id="no-answer"),
        close(id="close-no-answer"),
        connect(id="connect-cut"),
        call("sse_cut", id="cut"),
    ),
    checks=(
        CheckDefinition(
            id="sse-second-answer-ignored",
            sentence="A request has one response; more under its id is ignored. (No "
            "page demands it.)",
            page="https://www.jsonrpc.org/specification#response_object",
            level=Level.SHOULD,
            looks_for="the first of two responses in the result",
            look=_first_answer,
            provoked_by=("sse-two-answers",),
            needs=("two-answers",),
            broken=("takes_the_last_answer",),
        ),
        CheckDefinition(
            id="sse-next-call-has-its-own-answer",
            sentence="A response is the one of the request whose id it has.",
            page="basic",
            level=Level.MUST,
            looks_for="its own text in the result of the call after the one that was "
            "answered twice",
            look=_own_answer,
            provoked_by=("sse-two-answers",),
            needs=("after-two-answers",),
            broken=("keeps_a_stray_answer_for_the_next_request",),
        ),
        CheckDefinition(
            id="sse-unfinished-event-discarded",
            sentence="An event that the end of the stream cuts off is not dispatched.",
            page=_INTERPRETING,
            level=Level.MUST,
            looks_for="no result of a call whose only event had no empty line after it",
            look=_no_half_event,
            provoked_by=("sse-unfinished",),
            needs=("unfinished",),
            broken=("dispatches_at_the_end_of_the_stream",),
        ),
        CheckDefinition(
            id="sse-end-without-answer",
            sentence="A stream that ends without a response is an error of the call. "
            "(No page demands it.)",
            page=_TIMEOUTS,
            stateless_page=_STATELESS_HTTP,
            level=Level.SHOULD,
            looks_for="an error of the call other than the client's time-out",
            look=failed("no-answer"),
            provoked_by=("sse-no-answer",),
            needs=("no-answer",),
            broken=("waits_after_the_end_of_the_stream",),
        ),
        CheckDefinition(
            id="sse-cut",
            sentence="A connection that breaks inside an event fails its call. (No "
            "page demands it.)",
            page=_HTTP,
            stateless_page=_STATELESS_HTTP,
            level=Level.SHOULD,
            looks_for="an error of the call other than the client's time-out",
            look=failed("cut"),
            provoked_by=("sse-cut",),
            needs=("cut",),
            broken=("takes_a_broken_stream_for_an_empty_result",),
        ),
    ),
)

SCENARIOS: tuple[Scenario, ...] = (FRAMING, COMMENT_FLOOD, LONG_EVENT, ENDINGS)
