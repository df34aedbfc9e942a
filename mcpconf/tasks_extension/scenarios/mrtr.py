"""Input that is needed before there is a task: rounds of the call itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.tasks_extension.definition import (
    Level,
    TaskCheck,
    TaskScenario,
    sep,
    specification,
)
from mcpconf.tasks_extension.facts import (
    accepted,
    end_of,
    is_asking,
    requests_of,
    text_of,
)
from mcpconf.tasks_extension.looks import not_taken, result_of, shown, told
from mcpconf.tasks_extension.session import task_id_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.tasks_extension.observation import Observation
    from mcpconf.tasks_extension.session import Session

_TOOL = "test_tool_with_task"
_NAME = "Alice"
#: More rounds than any tool of this kind has.
_ROUNDS = 3
_SECTION = sep("composition-with-multi-round-trip-requests")


def _drive(session: Session) -> None:
    """Go through the rounds to a task; once with a state that is not theirs."""
    round_ = session.call("round-1", _TOOL)
    for number in range(2, _ROUNDS + 2):
        result = round_.result or {}
        if result.get("resultType") != "input_required":
            break
        retry = _retry(result)
        if number == 2 and "requestState" in retry:  # noqa: PLR2004 (the first retry)
            forged = {**retry, "requestState": _forged(retry["requestState"])}
            session.call("forged", _TOOL, params=forged)
        round_ = session.call(f"round-{number}", _TOOL, params=retry)
    session.poll("end", task_id_of(round_), is_asking)


def _retry(result: Mapping[str, Any]) -> dict[str, Any]:
    """What the call brings along when it is sent again."""
    answers = {key: accepted(each, _NAME) for key, each in requests_of(result).items()}
    state = result.get("requestState")
    return {
        "inputResponses": answers,
        **({"requestState": state} if isinstance(state, str) else {}),
    }


def _forged(state: str) -> str:
    """Another state of the same form: its middle is another one."""
    middle = len(state) // 2
    other = "A" if state[middle : middle + 1] != "A" else "B"
    return f"{state[:middle]}{other}{state[middle + 1 :]}"


def _first(seen: Observation) -> Mapping[str, Any] | Finding:
    return result_of(seen, "round-1")


def _created(seen: Observation) -> Mapping[str, Any] | Finding:
    """The result that handed out the task, or the finding that none did."""
    last = seen.last("round-")
    if last is None:
        return not_taken("tools/call")
    task = last.result
    if task is None or seen.task_id(last.label) is None:
        return unobserved(f"{last.label} was {told(last)}, and that is no task")
    return task


def _look_at_the_first_round(seen: Observation) -> Finding:
    """The call itself asks, and there is no task yet; the task asks no more."""
    first = _first(seen)
    if isinstance(first, Finding):
        return first
    if first.get("resultType") != "input_required":
        return _without_a_round(first, seen.task_id("round-1"))
    if "taskId" in first:
        return broken(f"the first round asks, and has a taskId: {shown(first)}")
    task = _created(seen)
    if isinstance(task, Finding):
        return task
    last = seen.last("end-")
    asking = requests_of(last.result if last is not None else None)
    if asking:
        return broken(f"the task asks again, for {', '.join(asking)}")
    return holds("input was asked for by the call, and the task came after it")


def _without_a_round(first: Mapping[str, Any], task_id: str | None) -> Finding:
    """A call that asks nothing, and is done, never came to need a task."""
    kind = first.get("resultType")
    if kind == "complete" and task_id is None:
        return unobserved(f"there was neither a round nor a task: {shown(first)}")
    return broken(f"the first answer is {shown(kind)}, not input_required")


def _after_rounds(seen: Observation) -> Mapping[str, Any] | Finding:
    """The result that handed out the task after at least one round."""
    first = _first(seen)
    if not isinstance(first, Finding) and first.get("resultType") == "task":
        return not_applicable("the first answer is a task: there were no rounds")
    return _created(seen)


def _look_at_the_creation(seen: Observation) -> Finding:
    """Nothing of the rounds is left in the answer that hands out the task."""
    task = _after_rounds(seen)
    if isinstance(task, Finding):
        return task
    left = [each for each in ("requestState", "inputRequests") if each in task]
    if left:
        return broken(f"the answer that hands out the task has {', '.join(left)}")
    return holds(f"neither is in {shown(task)}")


def _look_at_the_answer(seen: Observation) -> Finding:
    """The name that was given is in the result."""
    task = _after_rounds(seen)
    if isinstance(task, Finding):
        return task
    ended = end_of(seen, "end-")
    if isinstance(ended, Finding):
        return ended
    text = text_of(ended)
    if not text:
        return unobserved(f"the result has no text: {shown(ended.get('result'))}")
    if _NAME not in text:
        return broken(f"{_NAME} was answered; the result says {shown(text)}")
    return holds(f"the result says {shown(text)}")


def _look_at_the_forgery(seen: Observation) -> Finding:
    """With another state the call makes no task and has no result."""
    first = _first(seen)
    if isinstance(first, Finding):
        return first
    forged = seen["forged"]
    if forged is None:
        if first.get("resultType") == "input_required":
            return not_applicable("the first round gives no requestState")
        task = _after_rounds(seen)
        return task if isinstance(task, Finding) else not_taken("forged")
    if forged.result is None:
        said = f"forged was {told(forged)}"
        return unobserved(said) if forged.error is None else holds(said)
    kind = forged.result.get("resultType")
    if kind == "input_required":
        return holds("the call asked again, as if nothing had been answered")
    return broken(f"the call with a forged requestState went on: {shown(kind)}")


SCENARIOS = (
    TaskScenario(
        name="tasks/mrtr",
        title="a call asks for input, and makes a task once it has it",
        drive=_drive,
        tools=(_TOOL,),
        checks=(
            TaskCheck(
                id="input-before-the-task",
                requirements=("sep-2663-mrtr-synchronous-before-task-creation",),
                sentence="Input that is needed before there is a task is asked for by "
                "the call, in rounds that are over before the task is handed out.",
                page=sep("task-creation"),
                level=Level.SHOULD,
                looks_for="the resultType and a taskId in the first answer, a task in "
                "the last, and what that task asks for",
                look=_look_at_the_first_round,
                official=("sep-2663-mrtr-synchronous-before-task-creation",),
                broken=("tasks-mrtr-skipped",),
            ),
            TaskCheck(
                id="rounds-leave-nothing",
                requirements=("sep-2663-mrtr-synchronous-before-task-creation",),
                sentence="The answer that hands out the task has neither requestState "
                "nor inputRequests of the rounds before it.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="both members in the answer to the last round",
                look=_look_at_the_creation,
                official=("sep-2663-mrtr-synchronous-before-task-creation",),
                broken=("tasks-create-request-state", "tasks-create-with-requests"),
            ),
            TaskCheck(
                id="answer-reaches-the-task",
                requirements=("sep-2663-mrtr-synchronous-before-task-creation",),
                sentence="What was answered in the rounds counts for the task.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="the name that was answered, in the text of the result",
                look=_look_at_the_answer,
                official=("sep-2663-mrtr-synchronous-before-task-creation",),
                broken=("tasks-mrtr-answer-lost",),
            ),
            TaskCheck(
                id="forged-state-refused",
                sentence="A requestState that the server did not give out is not gone "
                "by. (A MUST where the state decides anything, which cannot be seen.)",
                page=specification("basic/patterns/mrtr"),
                level=Level.SHOULD,
                looks_for="the answer to the second round with one character of its "
                "state changed: an error, or the questions again",
                look=_look_at_the_forgery,
                broken=("tasks-mrtr-state-unchecked",),
            ),
        ),
    ),
)
