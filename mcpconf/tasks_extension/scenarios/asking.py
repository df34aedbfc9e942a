"""A task that asks for input, and is answered in each of the three ways."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from mcpconf.tasks_extension.definition import (
    EXTENSION,
    Level,
    TaskCheck,
    TaskScenario,
    sep,
    specification,
)
from mcpconf.tasks_extension.facts import accepted, is_asking, requests_of
from mcpconf.tasks_extension.looks import acknowledged
from mcpconf.tasks_extension.pace import interval_s
from mcpconf.tasks_extension.scenarios.asking_looks import (
    ACCEPTED,
    CANCELLED,
    SILENT,
    asks_without,
    ends,
    look_at_kinds,
    look_at_map,
    look_at_requests,
    look_at_reuse,
    look_at_the_cancel,
)
from mcpconf.tasks_extension.session import (
    is_terminal,
    result_in,
    task_id_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpconf.tasks_extension.session import Members, Session

_SECTION = sep("task-update-requests")
_MRTR = specification("basic/patterns/mrtr")
_TOOL = "confirm_delete"
#: Only the extension: such a client cannot be asked for anything.
_EXTENSION_ALONE: Members = {"extensions": {EXTENSION: {}}}

#: Until a task asks; until it ends; how long one is watched that may not ask.
_ASKING_S, _ENDING_S, _SILENT_S = 5.0, 10.0, 1.0
#: Questions of one task that are answered.
_ROUNDS = 2

_REFUSALS = {"decline": {"action": "decline"}, "cancel": {"action": "cancel"}}


def _drive(session: Session) -> None:
    """
    Three tasks, answered by accept, decline and cancel; and two that are not answered.

    One is cancelled while it waits, the other may not ask.
    """
    with ThreadPoolExecutor() as pool:
        names = (ACCEPTED, *_REFUSALS)
        runs = [pool.submit(_answer, session, name) for name in names]
        runs.append(pool.submit(_cancel, session))
        runs.append(pool.submit(_watch, session))
        for run in runs:
            run.result()


def _file(name: str) -> Members:
    return {"filename": f"{name}.txt"}


def _answer(session: Session, name: str) -> None:
    """
    Answer what a task asks for, and what it asks for afterwards, until it has ended.

    A question that is still there right after its answer is no new one: the server may
    take its time (SEP-2663, Task Update Requests).
    """
    task_id = session.create(f"create-{name}", _TOOL, _file(name))
    until: Callable[[Members], bool] = is_asking
    at_most_s = _ASKING_S
    for number in range(1, _ROUNDS + 1):
        last = session.poll(f"{name}-{number}", task_id, until, at_most_s=at_most_s)
        requests = requests_of(result_in(last))
        if not requests:
            return
        answers = {
            key: _REFUSALS.get(name) or accepted(request, name)
            for key, request in requests.items()
        }
        session.update(f"update-{name}-{number}", task_id, answers)
        until, at_most_s = _moved_on(requests), _ENDING_S
    session.poll(f"{name}-{_ROUNDS + 1}", task_id, until, at_most_s=_ENDING_S)


def _moved_on(answered: Members) -> Callable[[Members], bool]:
    """Whether a task has ended, or asks again, having asked for `answered` before."""
    was_gone = False

    def is_it(task: Members) -> bool:
        nonlocal was_gone
        requests = requests_of(task)
        was_gone = was_gone or not requests
        asks_again = bool(requests) and (was_gone or requests != answered)
        return is_terminal(task) or asks_again

    return is_it


def _cancel(session: Session) -> None:
    """Cancel a task that waits for input, and only such a one."""
    task_id = session.create(f"create-{CANCELLED}", _TOOL, _file(CANCELLED))
    last = session.poll(f"{CANCELLED}-1", task_id, is_asking, at_most_s=_ASKING_S)
    if (result_in(last) or {}).get("status") == "input_required":
        session.cancel(f"stop-{CANCELLED}", task_id)


def _watch(session: Session) -> None:
    """Call without declaring any kind of input, and see what the task asks for."""
    declare = _EXTENSION_ALONE
    exchange = session.call(f"{SILENT}-0", _TOOL, _file(SILENT), declare=declare)
    task_id = task_id_of(exchange)
    over_at = time.monotonic() + _SILENT_S
    for number in range(1, 100):
        got = session.get(f"{SILENT}-{number}", task_id, declare=declare)
        task = result_in(got)
        if task is None or is_asking(task) or time.monotonic() > over_at:
            return
        session.wait(interval_s(task))


_CHECKS = (
    TaskCheck(
        id="requests-in-a-map",
        requirements=("sep-2663-tasks-get-status-input-required",),
        sentence="A task that waits for input says what for: inputRequests is a map, "
        "and not empty.",
        page=sep("task-polling"),
        level=Level.MUST,
        looks_for="inputRequests in the tasks/get that first says input_required",
        look=look_at_map,
        official=("sep-2663-tasks-get-status-input-required",),
        broken=("tasks-input-no-requests", "tasks-input-list"),
    ),
    TaskCheck(
        id="requests-are-requests",
        sentence="Each of them is a request for one of the three kinds of input, with "
        "its parameters.",
        page=_MRTR,
        level=Level.MUST,
        looks_for="method and params of each member of inputRequests",
        look=look_at_requests,
        official=("sep-2663-tasks-get-status-input-required",),
        broken=("tasks-input-method-unknown",),
    ),
    TaskCheck(
        id="asking-has-no-end",
        requirements=("sep-2663-tasks-get-status-input-required",),
        sentence="A task that waits for input has neither result nor error.",
        page=sep("task-polling"),
        level=Level.MUST,
        looks_for="the members of every task that is input_required",
        look=asks_without("result", "error"),
        broken=("tasks-input-result", "tasks-input-error"),
    ),
    TaskCheck(
        id="asking-has-no-request-state",
        sentence="A task that waits for input has no requestState: its answers go to "
        "tasks/update.",
        page=sep("tasks"),
        level=Level.MUST,
        looks_for="the members of every task that is input_required",
        look=asks_without("requestState"),
        broken=("tasks-input-request-state", "tasks-get-request-state"),
    ),
    TaskCheck(
        id="waiting-cancel-acknowledged",
        requirements=("sep-2663-cancel-ack-empty-result",),
        sentence="tasks/cancel of a task that waits for input is acknowledged, as that "
        "of any other.",
        page=sep("task-cancellation"),
        level=Level.MUST,
        looks_for="the answer to tasks/cancel of a task that is input_required",
        look=look_at_the_cancel,
        broken=("tasks-cancel-waiting-refused", "tasks-cancel-refused"),
    ),
    TaskCheck(
        id="only-declared-kinds",
        sentence="A client is asked only for kinds of input that it declares.",
        page=_MRTR,
        level=Level.MUST,
        looks_for="what is asked for where the call declares the extension and no kind "
        "of input: an error, or a task that asks for nothing, is right",
        look=look_at_kinds,
        broken=("tasks-asks-undeclared",),
    ),
    TaskCheck(
        id="update-acknowledged",
        requirements=(
            "sep-2663-update-ack-empty-result",
            "sep-2663-result-type-complete-on-tasks-update",
        ),
        sentence="tasks/update is acknowledged by an empty result.",
        page=_SECTION,
        level=Level.MUST,
        looks_for="the answer to a tasks/update that answers all that is asked for",
        look=acknowledged(f"update-{ACCEPTED}-1"),
        official=(
            "tasks-mrtr-tasks-update-resumes",
            "tasks-result-type-complete-on-non-task-responses",
        ),
        broken=(
            "tasks-update-ack-task",
            "tasks-update-no-result-type",
            "tasks-update-type-task",
        ),
    ),
    TaskCheck(
        id="accepting-completes",
        requirements=("sep-2663-tasks-get-status-completed",),
        sentence="A task whose questions were all answered goes on, and completes.",
        page=_SECTION,
        level=Level.MUST,
        looks_for="the status within 10 s of accepting",
        look=ends(ACCEPTED, frozenset({"completed"})),
        official=("tasks-mrtr-tasks-update-resumes",),
        broken=("tasks-update-lost",),
    ),
    TaskCheck(
        id="declining-ends",
        sentence="A task whose question is declined comes to an end. (No page demands "
        "it.)",
        page=_SECTION,
        level=Level.POLICY,
        looks_for="a terminal status within 10 s of declining",
        look=ends("decline"),
        broken=("tasks-decline-hangs", "tasks-update-lost"),
    ),
    TaskCheck(
        id="dismissing-ends",
        sentence="A task whose question is dismissed (action cancel) comes to an end. "
        "(No page demands it.)",
        page=_SECTION,
        level=Level.POLICY,
        looks_for="a terminal status within 10 s of dismissing",
        look=ends("cancel"),
        broken=("tasks-dismiss-hangs", "tasks-update-lost"),
    ),
    TaskCheck(
        id="answered-key-not-reused",
        requirements=("sep-2663-no-key-reuse-after-response",),
        sentence="A key that was answered is not used for another question.",
        page=_SECTION,
        level=Level.MUST,
        looks_for="the keys and questions of each task, before and after its answers",
        look=look_at_reuse,
        broken=("tasks-key-reused",),
    ),
)

SCENARIOS = (
    TaskScenario(
        name="tasks/input",
        title="a task asks for input, and is answered by accept, decline or cancel",
        drive=_drive,
        tools=(_TOOL,),
        checks=_CHECKS,
    ),
)
