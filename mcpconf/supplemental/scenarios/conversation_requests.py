"""Requests of the server in the handshake revisions, and the client's responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    Kind,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.looks import ended
from mcpconf.supplemental.scenario import (
    HANDSHAKE,
    CheckDefinition,
    Level,
    Scenario,
    call,
    connect,
)
from mcpconf.supplemental.scenarios.conversation_form import (
    BIG,
    HOST_WORDS,
    integer_fault,
    integers_are_shown,
    roots_fault,
    sampling_fault,
    says,
    undeclared,
)
from mcpconf.supplemental.scenarios.conversation_looks import during, is_same_id

if TYPE_CHECKING:
    from mcpconf.supplemental.scenarios.conversation_form import AnswerFault

    Json = Any

    from collections.abc import Callable

    from mcpconf.supplemental.observation import Observation, Seen

    Look = Callable[[Observation], Finding]
    #: What is wrong with a response; None: nothing.
    Fault = Callable[[Seen], str | None]

_FORMS = "client/elicitation"
_METHOD_NOT_FOUND = -32601


def _response(seen: Observation, request: Seen) -> Seen | None:
    """The client's response under the id of a request of the server."""
    for each in seen.subject.received:
        if (
            each.index > request.index
            and each.method is None
            and is_same_id(each.id, request.id)
        ):
            return each
    return None


def _responds(
    step_id: str,
    method: str,
    fault: Fault,
    good: str,
    *,
    declares: str | None = None,
    may_refuse: bool = False,
) -> Look:
    """A look at the response to the request of `method` that a step provokes."""

    def look(seen: Observation) -> Finding:
        step = seen.step(step_id)
        asked = [r for r in during(seen.subject.sent, step) if r.method == method]
        if not asked:
            if declares is not None and undeclared(seen, declares):
                return not_applicable(f"the client does not declare {declares}")
            return unobserved(f"the server did not get to send {method}")
        response = _response(seen, asked[0])
        if response is None:
            return broken(f"{method} was never answered; the call {ended(step)}")
        if may_refuse and isinstance(response.error, dict):
            return not_applicable(f"the client refused, as it may: {response.error}")
        problem = fault(response)
        return holds(good) if problem is None else broken(problem)

    return look


def _result(fault: AnswerFault) -> Fault:
    """A fault of the result of a response; an error is one, too."""

    def of(response: Seen) -> str | None:
        is_error = response.error is not None
        return fault(response.message if is_error else response.result)

    return of


def _ping_fault(response: Seen) -> str | None:
    result = response.result
    is_empty = isinstance(result, dict) and not (result.keys() - {"_meta"})
    return None if is_empty else f"not an empty result: {response.message}"


def _refusal_fault(response: Seen) -> str | None:
    is_error = isinstance(response.error, dict)
    return None if is_error else f"not an error: {response.message}"


def _code_fault(response: Seen) -> str | None:
    error = response.error
    code = error.get("code") if isinstance(error, dict) else None
    return None if code == _METHOD_NOT_FOUND else f"refused with {code}, not -32601"


def _ids_are_kept(seen: Observation) -> Finding:
    step = seen.step("numbered")
    asked = [
        each
        for each in during(seen.subject.sent, step)
        if each.method == "ping" and each.id in (7, "7")
    ]
    if {type(each.id) for each in asked} != {int, str}:
        return unobserved("the server did not get to ping under 7 and under '7'")
    for request in asked:
        if _response(seen, request) is None:
            return broken(f"nothing came back under the id {request.id!r}")
    return holds("responses came under 7 and under '7', each for its own request")


_responds_to_unknown = _responds(
    "unknown", "mcpconf/unknown", _code_fault, "it was refused with -32601"
)


def _unknown_is_not_found(seen: Observation) -> Finding:
    answered = _responds("unknown", "mcpconf/unknown", _refusal_fault, "")(seen)
    if answered.kind is Kind.BROKEN:  # said by the check beside this one
        return not_applicable("the request was not refused at all")
    return _responds_to_unknown(seen)


def _check(
    id: str,  # noqa: A002
    sentence: str,
    looks_for: str,
    *,
    page: str,
    look: Look,
    needs: str,
    broken: tuple[str, ...],
    level: Level = Level.MUST,
    provoked_by: tuple[str, ...] = (),
) -> CheckDefinition:
    return CheckDefinition(
        id=id,
        sentence=sentence,
        looks_for=looks_for,
        page=page,
        look=look,
        level=level,
        provoked_by=provoked_by,
        needs=(needs,),
        broken=broken,
    )


def _form_check(
    id: str,  # noqa: A002
    sentence: str,
    step_id: str,
    fault: Fault,
    *,
    good: str,
    broken: str,
    level: Level = Level.MUST,
) -> CheckDefinition:
    method = "elicitation/create"
    look = _responds(step_id, method, fault, good, declares="elicitation")
    return _check(
        id,
        sentence,
        "the client's response to elicitation/create",
        page=_FORMS,
        look=look,
        level=level,
        needs=step_id,
        broken=(broken,),
    )


SCENARIOS = (
    Scenario(
        name="server-requests",
        title="Requests of the server during a call",
        revisions=HANDSHAKE,
        profiles=("numbered-requests",),
        request_timeout_s=3.0,
        steps=(
            connect(),
            call(
                "ask_elicitation",
                id="accept",
                answer={"action": "accept", "content": HOST_WORDS},
            ),
            call("ask_elicitation", id="decline", answer={"action": "decline"}),
            call("ask_elicitation", id="cancel", answer={"action": "cancel"}),
            call(
                "ask_integer",
                id="integer",
                answer={"action": "accept", "content": {"large_integer": BIG}},
            ),
            call("ask_sampling", id="sampling"),
            call("ask_roots", id="roots"),
            call("ask_ping", id="ping"),
            call("ask_numbered", id="numbered"),
            call("ask_unknown", id="unknown"),
        ),
        checks=(
            _form_check(
                "elicitation-accepted",
                "What the host put into the form reaches the server as accepted.",
                "accept",
                _result(says("accept", HOST_WORDS)),
                good="the server got the host's words",
                broken="answers_with_its_own_words",
            ),
            _form_check(
                "elicitation-declined",
                "That the user declined reaches the server as such.",
                "decline",
                _result(says("decline")),
                good="the server was told that the user declined",
                broken="declines_as_cancel",
            ),
            _form_check(
                "elicitation-cancelled",
                "That the user dismissed the form reaches the server as such.",
                "cancel",
                _result(says("cancel")),
                good="the server was told that the user dismissed the form",
                broken="cancels_as_decline",
            ),
            _check(
                "elicitation-form-shown-exactly",
                "A form reaches the host as it was sent, 64-bit integers included. "
                "(No page demands it.)",
                "the bounds and the default in the form that the host was shown",
                page=_FORMS,
                look=integers_are_shown,
                level=Level.SHOULD,
                needs="integer",
                broken=("shows_rounded_integers",),
            ),
            _form_check(
                "elicitation-integer-returned-exactly",
                "An integer that the host put into a form reaches the server exactly. "
                "(No page demands it.)",
                "integer",
                _result(integer_fault),
                good=f"the server got {BIG}",
                broken="returns_rounded_integers",
                level=Level.SHOULD,
            ),
            _check(
                "sampling-answered",
                "A client that declares sampling answers with a message, of role, "
                "content and model, or with an error. (No page demands it.)",
                "the client's response to sampling/createMessage",
                page="client/sampling",
                look=_responds(
                    "sampling",
                    "sampling/createMessage",
                    _result(sampling_fault),
                    "the server got a message",
                    declares="sampling",
                    may_refuse=True,
                ),
                level=Level.SHOULD,
                needs="sampling",
                broken=("samples_nothing",),
            ),
            _check(
                "roots-answered",
                "A client that declares roots answers with file:// URIs, or with an "
                "error.",
                "the client's response to roots/list",
                page="client/roots",
                look=_responds(
                    "roots",
                    "roots/list",
                    _result(roots_fault),
                    "the server got the list",
                    declares="roots",
                    may_refuse=True,
                ),
                needs="roots",
                broken=("roots_in_paths",),
            ),
            _check(
                "ping-answered",
                "A ping of the server is answered promptly with an empty result.",
                "the client's response to ping during a call",
                page="basic/utilities/ping",
                look=_responds("ping", "ping", _ping_fault, "the result was empty"),
                needs="ping",
                broken=("answers_pings_with_pong",),
            ),
            _check(
                "responses-keep-request-id",
                "A response has the id of its request, in value and in type.",
                'responses to pings under the ids 7 and "7"',
                page="basic",
                look=_ids_are_kept,
                provoked_by=("numbered-requests",),
                needs="numbered",
                broken=("answers_under_text_ids",),
            ),
            _check(
                "unknown-request-refused",
                "A request of a method the client does not know gets an error.",
                "the client's response to the request mcpconf/unknown",
                page="basic",
                look=_responds(
                    "unknown", "mcpconf/unknown", _refusal_fault, "it was refused"
                ),
                needs="unknown",
                broken=("answers_what_it_does_not_know",),
            ),
            _check(
                "unknown-request-not-found",
                "The error for a method the client does not know is -32601.",
                "the code of the client's response to mcpconf/unknown",
                page="https://www.jsonrpc.org/specification",
                look=_unknown_is_not_found,
                level=Level.SHOULD,
                needs="unknown",
                broken=("refuses_with_internal_error",),
            ),
        ),
    ),
)
