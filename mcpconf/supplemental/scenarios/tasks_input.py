"""Input that a task asks for, and input that comes before the task."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.looks import ended
from mcpconf.supplemental.scenario import (
    HTTP,
    STATELESS,
    CheckDefinition,
    Level,
    Scenario,
    call,
    connect,
)
from mcpconf.supplemental.scenarios.conversation_form import undeclared
from mcpconf.supplemental.scenarios.tasks_looks import (
    GET,
    PAGE,
    UPDATE,
    Handed,
    about,
    answered,
    gives,
    has_headers,
    of_declaring,
    of_task,
)

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation, Seen
    from mcpconf.supplemental.scenario import Look
    from mcpconf.supplemental.scenarios.tasks_looks import LookAtTask

    Json = Any


def _of_asked(look: Look) -> Look:
    """Look only at a client that may be asked for input."""

    def looked(seen: Observation) -> Finding:
        if undeclared(seen, "elicitation"):
            return not_applicable("the client does not declare elicitation")
        return look(seen)

    return of_declaring(looked)


def _of_input(tool: str, look: LookAtTask) -> Look:
    """Look at a task that asked for input."""

    def looked(seen: Observation, task: Handed) -> Finding:
        if not any(_asked(seen, each) for each in about(seen, task, GET)):
            return unobserved("the client did not get to hear that input is required")
        return look(seen, task)

    return _of_asked(of_task(tool, looked))


def _of_updates(tool: str, look: LookAtTask) -> Look:
    """Look at a task that was given input; that it was is another check's affair."""

    def looked(seen: Observation, task: Handed) -> Finding:
        if not about(seen, task, UPDATE):
            return not_applicable("the client sent no tasks/update")
        return look(seen, task)

    return _of_asked(of_task(tool, looked))


def _asked(seen: Observation, poll: Seen) -> dict[str, Any]:
    """What the answer of a poll asks for, by key."""
    requests = answered(seen, poll).get("inputRequests")
    return requests if isinstance(requests, dict) else {}


def _responses(update: Seen) -> dict[str, Any]:
    found = update.params.get("inputResponses")
    return found if isinstance(found, dict) else {}


def _is_given(seen: Observation, task: Handed) -> Finding:
    updates = about(seen, task, UPDATE)
    if updates:
        return holds(f"tasks/update brought input ({len(updates)} times)")
    return broken(
        "input was required, and no tasks/update came; the call "
        f"{ended(seen.step('input'))}"
    )


def _is_not_called_again(seen: Observation, task: Handed) -> Finding:
    for each in seen.subject.calls("task_input"):
        if each.index > task.created.index:
            return broken("tools/call was sent again after the call had become a task")
    return holds("the call was made once, and its task was updated")


def _is_keyed(seen: Observation, task: Handed) -> Finding:
    asked: dict[str, Any] = {}
    given: set[str] = set()
    for each in about(seen, task, GET, UPDATE):
        if each.method == GET:
            asked |= _asked(seen, each)
            continue
        responses = _responses(each)
        strange = responses.keys() - asked.keys()
        if strange or not responses:
            return broken(f"{sorted(asked)} was asked, and {sorted(responses)} given")
        for key, response in responses.items():
            problem = _answer_fault(asked[key], response)
            if problem is not None:
                return broken(f"the answer to {key!r} is not one to it: {problem}")
        given |= responses.keys()
    if given != asked.keys():
        return broken(f"{sorted(asked)} was asked, and {sorted(given)} given")
    return holds(f"each of {sorted(asked)} was given its own answer")


def _answer_fault(request: Json, response: Json) -> str | None:
    """What is wrong with the answer to a form; None: nothing."""
    if not isinstance(response, dict) or "action" not in response:
        return f"{response!r}"
    properties = request["params"]["requestedSchema"]["properties"]
    content = response.get("content") or {}
    return None if content.keys() <= properties.keys() else f"{content}"


def _is_given_once(seen: Observation, task: Handed) -> Finding:
    given: Counter[str] = Counter()
    asked: set[str] = set()
    has_lingered = False
    for each in about(seen, task, GET, UPDATE):
        if each.method == UPDATE:
            given.update(asked & _responses(each).keys())
        else:
            asked |= _asked(seen, each).keys()
            has_lingered |= bool(given.keys() & _asked(seen, each).keys())
    if not given:
        return not_applicable("the client answered under no key of the task")
    again = [key for key, times in given.items() if times > 1]
    if again:
        return broken(f"{again[0]!r} was answered {given[again[0]]} times")
    shown = _shown(seen)
    twice = [each for each, times in shown.items() if times > 1]
    if twice:
        return broken(f"the host was asked {shown[twice[0]]} times: {twice[0]!r}")
    if not has_lingered:
        return unobserved("the client saw no request again that it had answered")
    return holds(f"each of {sorted(given)} was asked and answered once")


def _shown(seen: Observation) -> Counter[str]:
    """The forms that the host was shown, by their message."""
    value = seen.step("input").value
    forms = value.get("elicitations") if isinstance(value, dict) else None
    return Counter(str(each.get("message")) for each in forms or ())


def _has_no_state(seen: Observation, task: Handed) -> Finding:
    for each in about(seen, task):
        if "requestState" in each.params:
            return broken(
                f"{each.method} brought a requestState: {each.params['requestState']!r}"
            )
    return holds("no request about the task brought a state")


SCENARIOS = (
    Scenario(
        name="task-input",
        title="Tasks that ask for input, and calls that do before they become one",
        revisions=STATELESS,
        profiles=("trusting-tasks",),
        steps=(
            connect(),
            call("task_input", id="input"),
            call("task_after_input", id="after-input"),
            call("task_between_inputs", id="between-inputs"),
        ),
        checks=(
            CheckDefinition(
                id="task-input-given",
                sentence="Where a task requires input the client gives it, by "
                "tasks/update.",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="tasks/update after a task has asked",
                look=_of_input("task_input", _is_given),
                needs=("input",),
                broken=("gives_a_task_no_input",),
            ),
            CheckDefinition(
                id="task-input-not-by-retry",
                sentence="Input for a task is not given by making the call again: that "
                "is for a call that is not a task yet.",
                page=PAGE,
                level=Level.MUST,
                looks_for="tasks/update, and no second tools/call",
                look=_of_updates("task_input", _is_not_called_again),
                needs=("input",),
                broken=("answers_a_task_by_calling_again",),
            ),
            CheckDefinition(
                id="task-input-keyed",
                sentence="Every response is under the key of a request that is "
                "outstanding, and answers that one.",
                page=PAGE,
                level=Level.MUST,
                looks_for="the keys that the task asked for and those of tasks/update, "
                "and which form each answer fills",
                look=_of_updates("task_input", _is_keyed),
                needs=("input",),
                broken=("renames_the_keys_of_a_task", "swaps_the_answers_of_a_task"),
            ),
            CheckDefinition(
                id="task-input-once",
                sentence="A request for input is shown to the user and answered once, "
                "however often the task still shows it.",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="a request that is there again after its answer, one answer "
                "to it, and one form for the host",
                look=_of_updates("task_input", _is_given_once),
                needs=("input",),
                broken=("answers_a_task_again", "shows_again_what_was_answered"),
            ),
            CheckDefinition(
                id="task-input-without-state",
                sentence="There is no requestState in anything about a task; that of "
                "the rounds before it ends with them.",
                page=PAGE,
                level=Level.MUST,
                looks_for="requests about a task that came after a round with a state",
                look=_of_updates("task_between_inputs", _has_no_state),
                needs=("between-inputs",),
                broken=("brings_the_state_into_the_task",),
            ),
            CheckDefinition(
                id="task-after-rounds-accepted",
                sentence="A call may ask for input first and become a task then.",
                page=PAGE,
                level=Level.MUST,
                looks_for="a task in answer to a retry, and its result for the host",
                look=_of_asked(
                    gives("after-input", "task_after_input", "had its input before")
                ),
                needs=("after-input",),
                broken=("expects_no_task_after_rounds",),
            ),
            CheckDefinition(
                id="task-update-headers",
                sentence="tasks/update names its method in Mcp-Method and its task in "
                "Mcp-Name.",
                page=PAGE,
                level=Level.MUST,
                looks_for="both headers of every tasks/update",
                look=_of_updates(
                    "task_input",
                    lambda seen, _task: has_headers(UPDATE, tools=("task_input",))(
                        seen
                    ),
                ),
                transports=HTTP,
                needs=("input",),
                broken=("forgets_the_name_of_a_task", "writes_methods_in_capitals"),
            ),
        ),
    ),
)
