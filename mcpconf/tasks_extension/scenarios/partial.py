"""A task that asks two things at once, and is answered one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.tasks_extension.definition import Level, TaskCheck, TaskScenario, sep
from mcpconf.tasks_extension.facts import accepted, requests_of
from mcpconf.tasks_extension.scenarios.partial_looks import (
    FIRST_ANSWER,
    REST_ANSWER,
    SECOND_ANSWER,
    UNKNOWN_KEY,
    changes_nothing,
    ignored,
    look_at_every_answer,
    look_at_meanings,
    look_at_reuse,
    look_at_the_end,
    look_at_the_first_answer,
    look_at_the_next_get,
    waits_after,
)
from mcpconf.tasks_extension.session import is_terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.tasks_extension.session import Session

_SECTION = sep("task-update-requests")
_TOOL = "multi_input"
_ASKING_S, _ENDING_S = 5.0, 10.0


def _asks_twice(task: Mapping[str, Any]) -> bool:
    return is_terminal(task) or len(requests_of(task)) > 1


def _drive(session: Session) -> None:
    """Answer one; then say nothing new, twice; then answer the rest."""
    task_id = session.create("create", _TOOL)
    asked = session.poll("asked", task_id, _asks_twice, at_most_s=_ASKING_S)
    requests = requests_of(asked.result if asked is not None else None)
    if len(requests) < 2:  # noqa: PLR2004 (a first and another)
        return
    first, *others = requests
    answer = accepted(requests[first], FIRST_ANSWER)
    session.update("update-first", task_id, {first: answer})
    for number in (1, 2, 3):
        session.get(f"after-first-{number}", task_id)
    left = _answer(requests[others[0]])
    session.update("update-unknown", task_id, {UNKNOWN_KEY: left})
    session.get("after-unknown", task_id)
    again = accepted(requests[first], SECOND_ANSWER)
    session.update("update-again", task_id, {first: again})
    session.get("after-again", task_id)
    rest = {key: _answer(requests[key]) for key in others}
    session.update("update-rest", task_id, rest)
    session.poll("end", task_id, at_most_s=_ENDING_S)


def _answer(request: object) -> dict[str, Any]:
    return accepted(request, REST_ANSWER)


_PARTIAL = ("tasks-mrtr-partial-fulfillment",)
_IGNORE = ("sep-2663-update-ignore-unknown-keys",)

SCENARIOS = (
    TaskScenario(
        name="tasks/partial",
        title="a task asks two things at once, and is answered one after the other",
        drive=_drive,
        tools=(_TOOL,),
        checks=(
            TaskCheck(
                id="rest-stays",
                requirements=("sep-2663-tasks-get-status-input-required",),
                sentence="A task goes on waiting, and goes on asking for what is left, "
                "until all is answered.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="status and inputRequests of three tasks/get after one of "
                "two questions was answered",
                look=waits_after("after-first-1", "after-first-2", "after-first-3"),
                official=_PARTIAL,
                broken=("tasks-partial-completes",),
            ),
            TaskCheck(
                id="answered-key-gone-at-once",
                sentence="The very next tasks/get does not ask again what was "
                "answered. (The text lets a server take its time.)",
                page=_SECTION,
                level=Level.POLICY,
                looks_for="inputRequests of the first tasks/get after the answer",
                look=look_at_the_next_get,
                official=_PARTIAL,
                broken=("tasks-key-kept", "tasks-update-lost"),
            ),
            TaskCheck(
                id="answered-key-not-offered-again",
                requirements=("sep-2663-no-key-reuse-after-response",),
                sentence="A key that was answered and is gone does not come back.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="the answered key in every tasks/get after it was gone once",
                look=look_at_reuse,
                broken=("tasks-key-returns",),
            ),
            TaskCheck(
                id="one-question-per-key",
                requirements=("sep-2663-input-request-key-unique-per-task",),
                sentence="A key stands for one and the same question, as long as the "
                "task lives.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="method and params under each key, in every tasks/get",
                look=look_at_meanings,
                broken=("tasks-key-two-requests",),
            ),
            TaskCheck(
                id="unknown-key-acknowledged",
                requirements=_IGNORE,
                sentence="An answer under a key that was never issued is ignored, not "
                "refused.",
                page=_SECTION,
                level=Level.SHOULD,
                looks_for="the answer to a tasks/update with such a key",
                look=ignored("update-unknown"),
                official=("tasks-result-type-complete-on-non-task-responses",),
                broken=("tasks-unknown-key-refused",),
            ),
            TaskCheck(
                id="unknown-key-changes-nothing",
                requirements=_IGNORE,
                sentence="An answer under a key that was never issued answers nothing.",
                page=_SECTION,
                level=Level.SHOULD,
                looks_for="the task, before and after such a tasks/update",
                look=changes_nothing(
                    "update-unknown", "after-first-3", "after-unknown"
                ),
                broken=("tasks-unknown-key-counts",),
            ),
            TaskCheck(
                id="answered-key-acknowledged",
                requirements=_IGNORE,
                sentence="A second answer to the same key is ignored, not refused.",
                page=_SECTION,
                level=Level.SHOULD,
                looks_for="the answer to a tasks/update with a key that was answered",
                look=ignored("update-again"),
                broken=("tasks-answered-key-refused",),
            ),
            TaskCheck(
                id="first-answer-counts",
                requirements=_IGNORE,
                sentence="A second answer to the same key changes nothing.",
                page=_SECTION,
                level=Level.SHOULD,
                looks_for="which of two answers the result repeats, if any",
                look=look_at_the_first_answer,
                broken=("tasks-answer-overwritten",),
            ),
            TaskCheck(
                id="every-answer-counts",
                sentence="Answers count, in however many updates they come.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="the answers of two updates in the result, where it repeats "
                "those of the last",
                look=look_at_every_answer,
                broken=("tasks-partial-lost",),
            ),
            TaskCheck(
                id="rest-completes",
                requirements=("sep-2663-tasks-get-status-completed",),
                sentence="When the last question is answered too, the task goes on, "
                "and completes.",
                page=_SECTION,
                level=Level.MUST,
                looks_for="the status within 10 s of the last answer",
                look=look_at_the_end,
                official=_PARTIAL,
                broken=("tasks-update-lost",),
            ),
        ),
    ),
)
