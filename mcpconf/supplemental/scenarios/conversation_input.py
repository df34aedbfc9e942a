"""Multi-round-trip requests of 2026-07-28: what the client's retries bring."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeAlias

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.looks import ended
from mcpconf.supplemental.scenario import (
    STATELESS,
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
    required,
    roots_fault,
    sampling_fault,
    says,
    undeclared,
)
from mcpconf.supplemental.scenarios.conversation_looks import during, is_same_id

if TYPE_CHECKING:
    Json = Any

    from collections.abc import Callable

    from mcpconf.supplemental.observation import Observation, Seen
    from mcpconf.supplemental.scenarios.conversation_form import AnswerFault

    #: A round: the request, the ``input_required`` result it got, and the retry.
    Round: TypeAlias = tuple[Seen, dict[str, Any], Seen]
    Look: TypeAlias = Callable[[Observation], Finding]
    #: What is found where there is no round.
    Absent: TypeAlias = Callable[[str], Finding]
    #: What is wrong with a round; None: nothing.
    Fault: TypeAlias = Callable[[Round], str | None]

_PAGE = "basic/patterns/mrtr"
_FORMS = "client/elicitation"
_OWN = ("inputResponses", "requestState", "_meta")


def _requests(seen: Observation, step_id: str) -> list[Seen]:
    tools = during(seen.subject.requests("tools/call"), seen.step(step_id))
    return [each for each in tools if str(each.params.get("name")).startswith("ask_")]


def _rounds(
    seen: Observation,
    step_id: str,
    declares: str = "elicitation",
    without: Absent = unobserved,
) -> list[Round] | Finding:
    """
    The rounds of one step that went on, or why there is none to look at.

    `without` says what it is that no retry came: servers may not count on one.
    """
    requests = _requests(seen, step_id)
    rounds = [
        (before, result, after)
        for before, after in pairwise(requests)
        if (result := required(seen, before))
    ]
    if rounds:
        return rounds
    if requests and required(seen, requests[0]):
        step = seen.step(step_id)
        return without(f"input was required, and no retry came; the call {ended(step)}")
    if undeclared(seen, declares):
        return not_applicable(f"the client does not declare {declares}")
    return unobserved("the server did not get to ask for input")


def _each_round(
    step_id: str,
    fault: Fault,
    good: str,
    *,
    declares: str = "elicitation",
    without: Absent = unobserved,
) -> Look:
    """A look at every round of a step; `fault` says what is wrong with one."""

    def look(seen: Observation) -> Finding:
        rounds = _rounds(seen, step_id, declares, without)
        if isinstance(rounds, Finding):
            return rounds
        for each in rounds:
            problem = fault(each)
            if problem is not None:
                return broken(problem)
        return holds(f"{good} (retries: {len(rounds)})")

    return look


def _id_fault(each: Round) -> str | None:
    before, _, after = each
    if is_same_id(before.id, after.id):
        return f"the retry has the id of the first request, {after.id!r}"
    return None


def _params_fault(each: Round) -> str | None:
    before, _, after = each
    kept, again = (
        {name: value for name, value in seen.params.items() if name not in _OWN}
        for seen in (before, after)
    )
    return None if kept == again else f"the retry is of {again}, not of {kept}"


def _keys_fault(each: Round) -> str | None:
    _, result, after = each
    asked, answers = result["inputRequests"], after.params.get("inputResponses")
    if not isinstance(answers, dict) or answers.keys() != asked.keys():
        keys = sorted(answers) if isinstance(answers, dict) else answers
        return f"{sorted(asked)} was asked, and {keys} was answered"
    for key, request in asked.items():
        properties = request["params"]["requestedSchema"]["properties"]
        content = answers[key].get("content")
        if isinstance(content, dict) and not content.keys() <= properties.keys():
            return f"the answer to {key!r} is that to another: {content}"
    return None


def _state_fault(each: Round) -> str | None:
    _, result, after = each
    given, brought = result["requestState"], after.params.get("requestState")
    if brought == given:
        return None
    return f"the state was {given!r}, and the retry brought {brought!r}"


def _no_state_fault(each: Round) -> str | None:
    params = each[2].params
    if "requestState" not in params:
        return None
    return f"there was no state; the retry brought {params['requestState']!r}"


def _rounds_fault(seen: Observation) -> Finding:
    rounds = _rounds(seen, "rounds")
    if isinstance(rounds, Finding):
        return rounds
    problems = [problem for each in rounds if (problem := _state_fault(each))]
    if problems:
        return broken(problems[0])
    if len(rounds) < 2:  # noqa: PLR2004 (one state shows no change of states)
        return unobserved(f"the client stopped after round {len(rounds)} of 3")
    return holds(f"each of {len(rounds)} retries brought the state given last")


def _answered(
    step_id: str,
    fault: AnswerFault,
    good: str,
    *,
    declares: str = "elicitation",
    without: Absent = unobserved,
) -> Look:
    """A look at the only answer that the retry of a step brings."""

    def of(each: Round) -> str | None:
        answers = each[2].params.get("inputResponses")
        values = list(answers.values()) if isinstance(answers, dict) else [None]
        return fault(values[0] if values else None)

    return _each_round(step_id, of, good, declares=declares, without=without)


def _check(
    id: str,  # noqa: A002
    sentence: str,
    looks_for: str,
    look: Look,
    **more: Json,
) -> CheckDefinition:
    return CheckDefinition(
        id=id,
        sentence=sentence,
        looks_for=looks_for,
        look=look,
        **{"page": _PAGE, "level": Level.MUST, **more},
    )


SCENARIOS = (
    Scenario(
        name="input-rounds",
        title="Input that a server requires before it answers",
        revisions=STATELESS,
        profiles=("trusting-input",),
        steps=(
            connect(),
            call("ask_pair", {"label": "first"}, id="pair"),
            call(
                "ask_choice",
                id="accept",
                answer={"action": "accept", "content": HOST_WORDS},
            ),
            call("ask_choice", id="decline", answer={"action": "decline"}),
            call("ask_choice", id="cancel", answer={"action": "cancel"}),
            call("ask_rounds", {"label": "second"}, id="rounds"),
            call("ask_with_state_only", id="state-only"),
            call("ask_without_state", id="no-state"),
            call(
                "ask_integer",
                id="integer",
                answer={"action": "accept", "content": {"large_integer": BIG}},
            ),
            call("ask_model", id="sampling"),
            call("ask_for_roots", id="roots"),
        ),
        checks=(
            _check(
                "input-retry-has-new-id",
                "A retry is an independent request: its id differs from the first's.",
                "the ids of the first request and of its retry",
                _each_round("pair", _id_fault, "the retry has an id of its own"),
                needs=("pair",),
                broken=("retries_under_the_same_id",),
            ),
            _check(
                "input-retry-is-same-request",
                "A retry is the original request: its params are the same but for the "
                "responses and the state.",
                "the params of the first request and of its retry",
                _each_round("pair", _params_fault, "the retry has the same params"),
                needs=("pair",),
                broken=("retries_without_arguments",),
            ),
            _check(
                "input-responses-keyed",
                "Every response is under the key of the request that it answers.",
                "the keys asked for and answered, and which form each answer fills",
                _each_round("pair", _keys_fault, "every key has its own answer"),
                needs=("pair",),
                broken=("renames_input_keys", "swaps_input_answers"),
            ),
            _check(
                "input-state-echoed",
                "The request state comes back exactly as it was given.",
                "a state with blanks, escapes and accents, and what the retry brought",
                _each_round("pair", _state_fault, "the state came back exactly"),
                needs=("pair",),
                broken=("tidies_request_state",),
            ),
            _check(
                "input-accepted",
                "What the host put into the form reaches the server as accepted: "
                "rounds of input are a pattern that every client supports.",
                "a retry after the host's answer, its action and its content",
                _answered(
                    "accept",
                    says("accept", HOST_WORDS),
                    "the server got the host's words",
                    without=broken,
                ),
                page=_FORMS,
                needs=("accept",),
                broken=("answers_with_its_own_words",),
            ),
            _check(
                "input-declined",
                "That the user declined reaches the server as such, where the call "
                "is retried.",
                "the action in the retry",
                _answered(
                    "decline",
                    says("decline"),
                    "the server was told",
                    without=not_applicable,
                ),
                page=_FORMS,
                level=Level.SHOULD,
                needs=("decline",),
                broken=("declines_as_cancel",),
            ),
            _check(
                "input-cancelled",
                "That the user dismissed the form reaches the server as such, where "
                "the call is retried.",
                "the action in the retry",
                _answered(
                    "cancel",
                    says("cancel"),
                    "the server was told",
                    without=not_applicable,
                ),
                page=_FORMS,
                level=Level.SHOULD,
                needs=("cancel",),
                broken=("cancels_as_decline",),
            ),
            _check(
                "input-latest-state-echoed",
                "Of several rounds, each retry brings the state of the last result.",
                "the state of every round and the one its retry brought",
                _rounds_fault,
                needs=("rounds",),
                broken=("keeps_the_first_state",),
            ),
            _check(
                "input-state-alone-retried",
                "A client may retry where there is a state and no input; the retry "
                "brings exactly that state.",
                "the state that the retry brought, where there was one",
                _each_round(
                    "state-only",
                    _state_fault,
                    "the retry brought the state alone",
                    without=not_applicable,
                ),
                needs=("state-only",),
                broken=("forgets_a_state_without_input",),
            ),
            _check(
                "input-no-state-invented",
                "Where no state was given, the retry brings none.",
                "the retry of a call that was asked for input without a state",
                _each_round("no-state", _no_state_fault, "the retry brought no state"),
                needs=("no-state",),
                broken=("invents_request_state",),
            ),
            _check(
                "input-form-shown-exactly",
                "A form reaches the host as it was sent, 64-bit integers included. "
                "(No page demands it.)",
                "the bounds and the default in the form that the host was shown",
                integers_are_shown,
                page=_FORMS,
                level=Level.SHOULD,
                needs=("integer",),
                broken=("shows_rounded_integers",),
            ),
            _check(
                "input-integer-returned-exactly",
                "An integer that the host put into a form reaches the server exactly. "
                "(No page demands it.)",
                "2^63-1 in the retry",
                _answered("integer", integer_fault, f"the server got {BIG}"),
                page=_FORMS,
                level=Level.SHOULD,
                needs=("integer",),
                broken=("returns_rounded_integers",),
            ),
            _check(
                "input-sampled",
                "A client that declares sampling answers with a message: role, "
                "content and model. (No page demands it.)",
                "the response to sampling/createMessage in the retry",
                _answered(
                    "sampling",
                    sampling_fault,
                    "the server got a message",
                    declares="sampling",
                ),
                page="client/sampling",
                level=Level.SHOULD,
                needs=("sampling",),
                broken=("samples_nothing",),
            ),
            _check(
                "input-roots",
                "A client that declares roots answers with file:// URIs.",
                "the response to roots/list in the retry",
                _answered(
                    "roots", roots_fault, "the server got the list", declares="roots"
                ),
                page="client/roots",
                needs=("roots",),
                broken=("roots_in_paths",),
            ),
        ),
    ),
)
