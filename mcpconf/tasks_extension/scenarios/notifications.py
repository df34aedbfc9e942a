"""What is told of tasks on a ``subscriptions/listen`` stream."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

from mcpconf.tasks_extension.definition import (
    Level,
    TaskCheck,
    TaskScenario,
    sep,
    specification,
)
from mcpconf.tasks_extension.facts import accepted, is_asking, requests_of
from mcpconf.tasks_extension.good_use import given
from mcpconf.tasks_extension.scenarios.listening_looks import (
    NO_TASK,
    TEXT,
    UNKNOWN,
    look_at_a_text_id,
    look_at_an_unknown_task,
    look_at_undeclared,
    look_at_what_is_missing,
)
from mcpconf.tasks_extension.scenarios.listening_looks import (
    UNDECLARED as UNDECLARED_LISTEN,
)
from mcpconf.tasks_extension.scenarios.notifications_looks import (
    LISTEN,
    RUNNING,
    STRANGER,
    WAITING,
    is_about_a_task,
    look_at_agreed_ids,
    look_at_equality,
    look_at_method_names,
    look_at_request_state,
    look_at_strangers,
    look_at_subscription_ids,
    look_at_the_end_told,
    look_at_the_first,
    look_at_whole_tasks,
    never_on_the_stream,
    params_of,
    was_acknowledged,
)
from mcpconf.tasks_extension.session import UNDECLARED, is_terminal, result_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.tasks_extension.session import Session

_SECTION = sep("task-status-notifications")
_SUBSCRIPTIONS = specification("basic/patterns/subscriptions")
_TASKS = sep("tasks")

_ASKER, _RUNNER = "confirm_delete", "slow_compute"
_RUNNERS = {"seconds": 1, "label": "listened"}
#: For the acknowledgement, and for what is told after an event.
_FIRST_S, _TELLING_S = 5.0, 2.0
#: A text that a careless server takes for a number.
_TEXT_ID = "2663"
#: The stream is read on after the last end: a message that trails is a fault too.
_QUIET_S, _QUIET_AT_MOST_S = 1.0, 3.0
#: Until a task asks, and until it ends.
_ASKING_S, _ENDING_S = 5.0, 5.0


def _anything(_: Mapping[str, Any]) -> bool:
    return True


def _tells_the_end(task_id: str) -> Callable[[Mapping[str, Any]], bool]:
    def is_it(message: Mapping[str, Any]) -> bool:
        task = params_of(message)
        told = is_about_a_task(message) and is_terminal(task)
        return told and task.get("taskId") == task_id

    return is_it


def _drive(session: Session) -> None:
    """
    Listen to one task that waits for input and to one that runs; leave a third out.

    A task that waits changes when it is answered and not before, so none of its
    changes can come before the stream is open.
    """
    waiting = session.create(f"create-{WAITING}", _ASKER, {"filename": "heard.txt"})
    stranger = session.create(f"create-{STRANGER}", _ASKER, {"filename": "unheard.txt"})
    answers = {
        WAITING: (waiting, _answers(session, WAITING, waiting)),
        STRANGER: (stranger, _answers(session, STRANGER, stranger)),
    }
    if waiting is not None:
        _listen_aside(session, waiting)
    running = session.create(f"create-{RUNNING}", _RUNNER, _RUNNERS)
    listened = [each for each in (waiting, running) if each is not None]
    if listened:
        with closing(session.listen(LISTEN, listened)) as stream:
            stream.wait(_anything, _FIRST_S)
            for name in (STRANGER, WAITING):
                session.update(f"update-{name}", *answers[name])
            for name, task_id in (
                (STRANGER, stranger),
                (WAITING, waiting),
                (RUNNING, running),
            ):
                session.poll(f"end-{name}", task_id, at_most_s=_ENDING_S)
            for task_id in listened:
                stream.wait(_tells_the_end(task_id), _TELLING_S)
            stream.wait_quiet(_QUIET_S, _QUIET_AT_MOST_S)
    asked = [waiting or "no-such-task"]
    refused = session.listen(UNDECLARED_LISTEN, asked, declare=UNDECLARED)
    with closing(refused):
        refused.wait(_anything, _FIRST_S)


def _listen_aside(session: Session, waiting: str) -> None:
    """Listen for no longer than the acknowledgement takes."""
    with closing(session.listen(TEXT, [waiting], name=_TEXT_ID)) as stream:
        stream.wait(_anything, _FIRST_S)
    with closing(session.listen(UNKNOWN, [waiting, NO_TASK])) as stream:
        stream.wait(_anything, _FIRST_S)


def _answers(session: Session, name: str, task_id: str | None) -> dict[str, Any]:
    """The answers to all that a task asks for."""
    asked = session.poll(f"asked-{name}", task_id, is_asking, at_most_s=_ASKING_S)
    requests = requests_of(result_in(asked))
    return {key: accepted(each, name) for key, each in requests.items()}


_UPSTREAM = ("tasks-status-notifications",)

_CHECKS = (
    TaskCheck(
        id="acknowledged-first",
        sentence="The first message on a listen stream is the acknowledgement.",
        page=_SUBSCRIPTIONS,
        level=Level.MUST,
        looks_for="the first message after subscriptions/listen with two taskIds",
        look=look_at_the_first,
        broken=("tasks-notified-first",),
    ),
    TaskCheck(
        id="acknowledged-ids",
        sentence="The acknowledgement lists the tasks that will be told of: only such "
        "as were asked for, and all that are told of.",
        page=_SECTION,
        level=Level.MUST,
        looks_for="notifications.taskIds of the acknowledgement, against the ids sent "
        "and the ids told of",
        look=look_at_agreed_ids,
        broken=("tasks-ack-no-ids", "tasks-ack-other-ids"),
    ),
    TaskCheck(
        id="subscription-id",
        sentence="Every message on a listen stream carries the id of the request that "
        "opened it, a number as a number and a text as a text.",
        page=_SUBSCRIPTIONS,
        level=Level.MUST,
        looks_for="_meta.io.modelcontextprotocol/subscriptionId of every message",
        look=look_at_subscription_ids,
        broken=("tasks-notified-no-id", "tasks-notified-id-type"),
    ),
    TaskCheck(
        id="subscription-id-text",
        sentence="Where the id of the request that opened the stream is a text, it is "
        "that text, whatever it looks like.",
        page=_SUBSCRIPTIONS,
        level=Level.MUST,
        looks_for=f"the subscriptionId of the acknowledgement, where the id of the "
        f'request is the text "{_TEXT_ID}"',
        look=look_at_a_text_id,
        broken=("tasks-listen-text-id",),
        tools=(_ASKER,),
    ),
    TaskCheck(
        id="acknowledged-known",
        sentence="The acknowledgement agrees to no task that does not exist. (No page "
        "says so in as many words: it lists what will be told of.)",
        page=_SECTION,
        level=Level.POLICY,
        looks_for="the unknown id among the taskIds of the acknowledgement, where it "
        "was asked for beside a real one; or a refusal by -32602",
        look=given(was_acknowledged, look_at_an_unknown_task),
        broken=("tasks-ack-unknown-id",),
        tools=(_ASKER,),
    ),
    TaskCheck(
        id="method-name",
        sentence="The notification is called notifications/tasks. (Until 2025-11-25 it "
        "was notifications/tasks/status.)",
        page=_SECTION,
        level=Level.MUST,
        looks_for="the methods of the messages that tell of tasks",
        look=look_at_method_names,
        official=_UPSTREAM,
        broken=("tasks-notified-old-name",),
    ),
    TaskCheck(
        id="whole-task",
        sentence="A notification carries the whole task, with what belongs to its "
        "status: the result, the error, or what is asked for.",
        page=_SECTION,
        level=Level.MUST,
        looks_for="the members of every notification, whatever the status",
        look=look_at_whole_tasks,
        official=_UPSTREAM,
        broken=("tasks-notified-no-payload",),
    ),
    TaskCheck(
        id="equal-to-get",
        sentence="A notification says exactly what tasks/get would say then.",
        page=_SECTION,
        level=Level.MUST,
        looks_for="the notification of an end, member by member, against tasks/get of "
        "the same task after its end; without ttlMs and pollIntervalMs where they "
        "change from answer to answer",
        look=look_at_equality,
        broken=("tasks-notified-stale",),
    ),
    TaskCheck(
        id="no-request-state",
        sentence="Tasks have no requestState, in notifications neither.",
        page=_TASKS,
        level=Level.MUST,
        looks_for="a requestState in any notification",
        look=look_at_request_state,
        broken=("tasks-notified-state",),
    ),
    TaskCheck(
        id="no-progress",
        requirements=("sep-2663-no-progress-or-message-on-task-stream",),
        sentence="No notifications/progress for a task on the listen stream.",
        page=_SECTION,
        level=Level.MUST,
        looks_for="any such message, until the stream was quiet for 1 s after the end "
        "of the tasks; a stream that is over before shows nothing",
        look=never_on_the_stream("notifications/progress"),
        broken=("tasks-progress-on-listen", "tasks-trailing-progress"),
    ),
    TaskCheck(
        id="no-message",
        requirements=("sep-2663-no-progress-or-message-on-task-stream",),
        sentence="No notifications/message for a task on the listen stream.",
        page=_SECTION,
        level=Level.MUST,
        looks_for="any such message, until the stream was quiet for 1 s after the end "
        "of the tasks; a stream that is over before shows nothing",
        look=never_on_the_stream("notifications/message"),
        broken=("tasks-message-on-listen",),
    ),
    TaskCheck(
        id="only-asked-for",
        sentence="A listen stream tells of nothing that was not asked for.",
        page=_SUBSCRIPTIONS,
        level=Level.MUST,
        looks_for="the ids told of, while a task that nobody listens to ends; and "
        "messages of other kinds, such as notifications/tools/list_changed",
        look=look_at_strangers,
        broken=("tasks-notified-stranger", "tasks-list-changed-on-listen"),
    ),
    TaskCheck(
        id="end-told",
        sentence="Of a task that the acknowledgement names, the end is told.",
        page=_SECTION,
        level=Level.SHOULD,
        looks_for="a notification of the end, within 2 s of tasks/get showing it",
        look=look_at_the_end_told,
        broken=("tasks-notified-no-end", "tasks-listen-closes"),
    ),
    TaskCheck(
        id="undeclared-refused",
        requirements=("sep-2663-subscribe-missing-capability-non-declaring",),
        sentence="To listen to tasks without declaring the extension is refused with "
        "-32021, by HTTP 400. (The draft said -32003; that is a failure now.)",
        page=_SECTION,
        level=Level.MUST,
        looks_for="the first answer to subscriptions/listen with taskIds, sent without "
        "the declaration; of a server that acknowledges it with the declaration",
        look=given(was_acknowledged, look_at_undeclared),
        broken=(
            "tasks-listen-ungated",
            "tasks-session-memory",
            "tasks-missing-32003",
            "tasks-missing-status-200",
        ),
        tools=(),
    ),
    TaskCheck(
        id="undeclared-told-why",
        requirements=("sep-2663-subscribe-missing-capability-non-declaring",),
        sentence="That refusal names the extension in data.requiredCapabilities.",
        page=_SECTION,
        level=Level.MUST,
        looks_for="data of the error",
        look=given(was_acknowledged, look_at_what_is_missing),
        broken=("tasks-missing-no-data", "tasks-missing-data-list"),
        tools=(),
    ),
)

SCENARIOS = (
    TaskScenario(
        name="tasks/notifications",
        title="two tasks are listened to until they end, a third is not",
        drive=_drive,
        tools=(_ASKER, _RUNNER),
        checks=_CHECKS,
    ),
)
