"""Calls that become tasks: declared, accepted, polled in the server's time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import (
    Finding,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.looks import got_text
from mcpconf.supplemental.scenario import (
    HTTP,
    STATELESS,
    CheckDefinition,
    Level,
    Scenario,
    call,
    connect,
)
from mcpconf.supplemental.scenarios.tasks_looks import (
    CANCEL,
    EXTENSION,
    GET,
    PAGE,
    UPDATE,
    Handed,
    about,
    answered,
    declares,
    decoded,
    gives,
    has_headers,
    of_declaring,
    of_task,
)

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation

_REMOVED = ("tasks/result", "tasks/list")
#: A timer may ring a little early, and the server's clock is read a little late.
_PUNCTUAL = 0.9


def _is_declared(seen: Observation) -> Finding:
    requests = seen.subject.requests(GET, UPDATE, CANCEL)
    for each in requests:
        if not declares(each):
            return broken(f"{each.method} does not declare {EXTENSION}")
    if not requests:
        return unobserved("the client sent nothing about a task")
    return holds(f"all {len(requests)} requests about tasks declare {EXTENSION}")


def _only_methods_there_are(seen: Observation) -> Finding:
    removed = seen.subject.requests(*_REMOVED)
    if removed:
        return broken(f"the client sent {removed[0].method}")
    polls = seen.subject.requests(GET)
    if not polls:
        return unobserved("the client sent nothing about a task")
    return holds(f"the client sent tasks/get ({len(polls)}) and nothing of old")


def _is_patient(seen: Observation, task: Handed) -> Finding:
    gaps: list[tuple[float, float]] = []
    for before, after in pairwise(about(seen, task, GET)):
        answer = seen.subject.answer_to(before)
        asked = answered(seen, before).get("pollIntervalMs")
        if answer is not None and isinstance(asked, int):
            gaps.append((after.t_ms - answer.t_ms, asked))
    for waited, asked in gaps:
        if waited < asked * _PUNCTUAL:
            return broken(
                f"tasks/get came {waited:.0f} ms after an answer that asked for "
                f"{asked} ms"
            )
    if len({asked for _, asked in gaps}) < 2:  # noqa: PLR2004 (before it changes, and after)
        return unobserved("the client did not poll often enough to see the change")
    waits = ", ".join(f"{waited:.0f} of {asked}" for waited, asked in gaps)
    return holds(f"between the polls, in ms: {waits}")


def _is_encoded(seen: Observation, task: Handed) -> Finding:
    said = [
        exchange.header("mcp-name")
        for each in about(seen, task, GET)
        if (exchange := seen.subject.exchange_of(each)) is not None
    ]
    if not said:
        return unobserved("the client did not poll for the task")
    for name in said:
        if name is None:  # that it is left out is another check's affair
            return not_applicable("there is no Mcp-Name")
        if decoded(name) != task.id:
            return broken(f"Mcp-Name is {name!r}; the task is {task.id!r}")
    return holds(f"Mcp-Name of every poll stands for {task.id!r} ({len(said)})")


SCENARIOS = (
    Scenario(
        name="tasks",
        title="Calls that are answered with a task",
        revisions=STATELESS,
        profiles=("trusting-tasks",),
        steps=(
            connect(),
            call("task_plain", id="plain"),
            call("task_done", id="done"),
            call("task_seeded", id="seeded"),
            call("task_odd", id="odd"),
            call("task_untyped", id="untyped"),
            call("task_named", id="named"),
        ),
        checks=(
            CheckDefinition(
                id="task-extension-declared",
                sentence="Every request about a task declares the extension in its "
                "_meta: a server looks at nothing but the request.",
                page=PAGE,
                level=Level.MUST,
                looks_for=f"{EXTENSION} in clientCapabilities of every tasks/get",
                look=of_declaring(_is_declared),
                needs=("done",),
                broken=("forgets_the_tasks_extension",),
            ),
            CheckDefinition(
                id="task-plain-result-accepted",
                sentence="A client that declares the extension accepts a plain "
                "result: the server alone decides which calls become tasks.",
                page=PAGE,
                level=Level.MUST,
                looks_for="a plain result on the wire, and the same for the host",
                look=of_declaring(got_text("plain", "a plain result")),
                needs=("plain",),
                broken=("wants_a_task_for_every_call",),
            ),
            CheckDefinition(
                id="task-result-accepted",
                sentence="A client that declares the extension accepts a task in the "
                "place of a result, and polls until it has ended.",
                page=PAGE,
                level=Level.MUST,
                looks_for="a task on the wire that works for two polls, and its result "
                "for the host",
                look=gives("done", "task_done", "done by a task"),
                needs=("done",),
                broken=("asks_once_for_a_task",),
            ),
            CheckDefinition(
                id="task-of-any-status-accepted",
                sentence="A task may be handed out in any status; its result is in the "
                "answer to tasks/get and nowhere else.",
                page=PAGE,
                level=Level.MUST,
                looks_for="a task that is handed out as completed, and its result for "
                "the host",
                look=gives("seeded", "task_seeded", "done before it was told"),
                needs=("seeded",),
                broken=("takes_the_seed_for_the_end",),
            ),
            CheckDefinition(
                id="task-unknown-members-ignored",
                sentence="Members of a task that the client does not know do no harm. "
                "(No page demands it.)",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="a task with members of no version, and its result for the "
                "host",
                look=gives("odd", "task_odd", "done, oddly"),
                needs=("odd",),
                broken=("refuses_unknown_task_members",),
            ),
            CheckDefinition(
                id="task-untyped-result-accepted",
                sentence="The result inside a completed task is complete where it "
                "does not say its type, as in the examples of the extension.",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="a completed task whose result has no resultType, and that "
                "result for the host",
                look=gives("untyped", "task_untyped", "done, and no more"),
                needs=("untyped",),
                broken=("wants_a_type_in_a_task",),
            ),
            CheckDefinition(
                id="task-removed-methods-unused",
                sentence="There is no tasks/result and no tasks/list any more. (No "
                "page forbids a client to try.)",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="polls of tasks/get, and neither of the two",
                look=of_declaring(_only_methods_there_are),
                needs=("done",),
                broken=("asks_for_the_result_of_a_task",),
            ),
            CheckDefinition(
                id="task-get-headers",
                sentence="tasks/get names its method in Mcp-Method and its task in "
                "Mcp-Name.",
                page=PAGE,
                level=Level.MUST,
                looks_for="both headers of every tasks/get",
                look=has_headers(
                    GET, tools=("task_done", "task_seeded", "task_odd", "task_untyped")
                ),
                transports=HTTP,
                needs=("done",),
                broken=("forgets_the_name_of_a_task", "writes_methods_in_capitals"),
            ),
            CheckDefinition(
                id="task-name-encoded",
                sentence="The id of a task that is not plain ASCII goes into Mcp-Name "
                "in Base64, as other names do.",
                page="basic/transports/streamable-http",
                level=Level.MUST,
                looks_for="Mcp-Name of the polls for a task with an accent in its id",
                look=of_task("task_named", _is_encoded),
                transports=HTTP,
                needs=("named",),
                broken=("sends_task_ids_as_they_are",),
            ),
        ),
    ),
    Scenario(
        name="task-polling",
        title="A task that asks for another time between polls when it slows down",
        revisions=STATELESS,
        profiles=("trusting-tasks",),
        steps=(connect(), call("task_paced", id="paced")),
        checks=(
            CheckDefinition(
                id="task-poll-interval",
                sentence="A client polls no faster than pollIntervalMs says, which may "
                "change: the last one counts.",
                page=PAGE,
                level=Level.SHOULD,
                looks_for="the time between each answer of tasks/get and the next one, "
                "while 50 ms are asked for and then 400 (a tenth is forgiven)",
                look=of_task("task_paced", _is_patient),
                needs=("paced",),
                broken=("polls_at_its_own_pace", "keeps_the_first_poll_interval"),
            ),
        ),
    ),
)
