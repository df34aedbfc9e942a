"""Answers to the opening and to lists that are not what was asked for."""

from __future__ import annotations

from mcpconf.supplemental.scenario import (
    CONTROL,
    HTTP,
    STATELESS,
    CheckDefinition,
    Level,
    Scenario,
    call,
    connect,
    listing,
)
from mcpconf.supplemental.scenarios.discovery_looks import (
    look_at_late,
    look_at_silent_list,
    look_at_silent_opening,
    look_at_twice,
    malformed,
    no_downgrade,
    wrong_list,
    wrong_opening,
)

_IDS_PAGE = "basic"
_TIMEOUTS_PAGE = "basic/lifecycle"
_STATELESS_TIMEOUTS_PAGE = "basic/patterns/cancellation"
_JSON_RPC = "https://www.jsonrpc.org/specification"
#: How a wrong id differs from the request's, how strong the demand is, and the client
#: that takes it all the same. The pages tell servers to repeat the id, type included;
#: that a client may not guess which request "1" was for is good sense alone.
_WRONG_IDS = {
    "other-id": ("another id", Level.MUST, "accepts_wrong_id"),
    "null-id": ("the id null", Level.MUST, "accepts_null_id"),
    "typed-id": ("an id of another type", Level.SHOULD, "compares_ids_as_text"),
}
_REFUSAL = (*CONTROL, connect(), listing())


def _opening(name: str) -> Scenario:
    how, level, sin = _WRONG_IDS[name]
    profile = f"opening-{name}"
    return Scenario(
        name=f"discovery-{name}",
        title=f"the opening is answered under {how}",
        profiles=(profile,),
        has_control=True,
        request_timeout_s=2.0,
        steps=_REFUSAL,
        checks=(
            CheckDefinition(
                id=f"opening-{name}-is-not-used",
                sentence="A response has the id of its request. What comes under "
                f"{how} answers nothing and is not used. On stdio the right answer "
                "follows and may be; over HTTP there is none, and so no connection.",
                page=_IDS_PAGE,
                level=level,
                looks_for="nothing of the answer for the host; over HTTP nothing on "
                "the wire that presupposes it, and an error of connect or list",
                look=wrong_opening(profile),
                needs=("connect",),
                broken=(sin,),
            ),
            CheckDefinition(
                id=f"opening-{name}-is-no-downgrade",
                sentence="Over HTTP a client falls back to initialize when a request "
                "is refused by 400 without an error of the stateless era, not when "
                "the answer is unusable. (Arguable: the page on versioning takes a "
                "server for a legacy one by whatever is no error of that era.)",
                page="basic/transports/streamable-http",
                level=Level.SHOULD,
                looks_for="no initialize after the answer to server/discover",
                look=no_downgrade(profile),
                revisions=STATELESS,
                transports=HTTP,
                needs=("connect",),
                broken=("downgrades_over_http",),
            ),
        ),
    )


def _list(name: str) -> Scenario:
    how, level, sin = _WRONG_IDS[name]
    profile = f"list-{name}"
    return Scenario(
        name=f"tools-list-{name}",
        title=f"tools/list is answered under {how}",
        profiles=(profile,),
        has_control=True,
        request_timeout_s=2.0,
        steps=_REFUSAL,
        checks=(
            CheckDefinition(
                id=f"list-{name}-is-not-used",
                sentence="A response has the id of its request. Tools that come under "
                f"{how} are not the server's answer, and not surfaced. On stdio the "
                "right answer follows; over HTTP there is none, which is reported.",
                page=_IDS_PAGE,
                level=level,
                looks_for="no planted tool for the host; on stdio the right tools, or "
                "an error; over HTTP an error of connect or list",
                look=wrong_list(profile),
                provoked_by=(profile,),
                needs=("list",),
                broken=(sin,),
            ),
        ),
    )


_TWICE = Scenario(
    name="answers-twice",
    title="the opening and tools/list are answered twice",
    profiles=("answers-twice",),
    steps=(connect(), listing(), call("echo", {"text": "after"})),
    checks=(
        CheckDefinition(
            id="second-answer-is-ignored",
            sentence="A request has one response; another one under its id answers "
            "nothing, and does no harm. (No page demands it.)",
            page=_IDS_PAGE,
            level=Level.SHOULD,
            looks_for="nothing of the second answers for the host, the tools of the "
            "first once each, and a call that succeeds afterwards",
            look=look_at_twice,
            provoked_by=("answers-twice",),
            needs=("connect", "list", "call"),
            broken=("chokes_on_second_answer",),
        ),
    ),
)

_LATE = Scenario(
    name="answers-late",
    title="the opening and tools/list are answered late, within the client's limit",
    profiles=("answers-late",),
    limits={"delay_s": 0.6},
    request_timeout_s=4.0,
    steps=(connect(), listing()),
    checks=(
        CheckDefinition(
            id="late-answer-is-accepted",
            sentence="A client waits for an answer until its time-out; one that comes "
            "before is as good as any. (No page demands it.)",
            page=_TIMEOUTS_PAGE,
            stateless_page=_STATELESS_TIMEOUTS_PAGE,
            level=Level.SHOULD,
            looks_for="a connection, and tools for the host, after answers that came "
            "0.6 s late of 4 s to requests that were neither given up nor asked again",
            look=look_at_late,
            provoked_by=("answers-late",),
            needs=("connect", "list"),
            broken=("gives_up_early", "gives_up_and_asks_again"),
        ),
    ),
)

_NEVER = Scenario(
    name="discovery-never",
    title="nothing is ever answered",
    profiles=("never-answers-opening",),
    has_control=True,
    request_timeout_s=1.5,
    steps=_REFUSAL,
    checks=(
        CheckDefinition(
            id="silent-server-is-reported",
            sentence="A client has a time-out for every request; a server that "
            "answers nothing, fallback included, is reported as an error.",
            page=_TIMEOUTS_PAGE,
            stateless_page=_STATELESS_TIMEOUTS_PAGE,
            level=Level.SHOULD,
            looks_for="requests that are not answered, at most 20, and an error of "
            "connect or list within the client's own limit",
            look=look_at_silent_opening,
            provoked_by=("never-answers-opening",),
            needs=("connect",),
            broken=("connects_to_silence",),
        ),
    ),
)

_NEVER_LIST = Scenario(
    name="tools-list-never",
    title="tools/list is never answered",
    profiles=("never-answers-list",),
    has_control=True,
    request_timeout_s=1.5,
    steps=_REFUSAL,
    checks=(
        CheckDefinition(
            id="silent-list-is-reported",
            sentence="A client has a time-out for every request; a list that is not "
            "answered is an error and not an empty list.",
            page=_TIMEOUTS_PAGE,
            stateless_page=_STATELESS_TIMEOUTS_PAGE,
            level=Level.SHOULD,
            looks_for="tools/list without an answer, at most 20 times, and an error "
            "of connect or list within the client's own limit",
            look=look_at_silent_list,
            provoked_by=("never-answers-list",),
            needs=("list",),
            broken=("takes_silence_for_no_tools",),
        ),
    ),
)


def _malformed(tool: str, what: str, sin: str) -> CheckDefinition:
    return CheckDefinition(
        id=f"{tool.replace('_', '-')}-is-no-response",
        sentence=f"{what} An answer that is otherwise is not passed on as a result.",
        page=_JSON_RPC,
        level=Level.SHOULD,
        looks_for="the malformed answer on the wire, and an error for the host",
        look=malformed(tool),
        provoked_by=("malformed-answers",),
        needs=(tool,),
        broken=(sin,),
    )


_MALFORMED = Scenario(
    name="malformed-answers",
    title="three calls are answered by what is no JSON-RPC response",
    profiles=("malformed-answers",),
    has_control=True,
    request_timeout_s=1.5,
    steps=(
        *CONTROL,
        connect(),
        call("result_is_text", id="result_is_text"),
        call("result_and_error", id="result_and_error"),
        call("no_jsonrpc", id="no_jsonrpc"),
    ),
    checks=(
        _malformed(
            "result_is_text",
            "The result of a response is an object.",
            "takes_text_for_a_result",
        ),
        _malformed(
            "result_and_error",
            "A response has either a result or an error, and never both.",
            "prefers_result_to_error",
        ),
        _malformed(
            "no_jsonrpc",
            'Every response has the member "jsonrpc", which is "2.0".',
            "ignores_jsonrpc_member",
        ),
    ),
)

SCENARIOS: tuple[Scenario, ...] = (
    *(_opening(name) for name in _WRONG_IDS),
    _NEVER,
    *(_list(name) for name in _WRONG_IDS),
    _NEVER_LIST,
    _LATE,
    _TWICE,
    _MALFORMED,
)
