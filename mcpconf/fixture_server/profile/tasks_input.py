"""Faults in asking for input, during a task and before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.asking import has_form
from mcpconf.fixture_server.call import Tool
from mcpconf.fixture_server.profile.tasks_fault import TaskFault
from mcpconf.fixture_server.results import text_result
from mcpconf.fixture_server.schema import strict_object
from mcpconf.fixture_server.task import Status
from mcpconf.fixture_server.task_conduct import invalid_task
from mcpconf.fixture_server.task_rounds import KEY, NAME
from mcpconf.fixture_server.task_tools import form, need

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.profile.base import Profile
    from mcpconf.fixture_server.task import Task
    from mcpconf.fixture_server.task_conduct import Conduct

    Result = dict[str, Any]
    Answers = Mapping[str, Any]


class _Updating(TaskFault):
    """The responses of a ``tasks/update`` are not taken as they should."""

    def arm(self, conduct: Conduct) -> None:
        """Take them."""
        self.good = conduct.update
        conduct.update = self.update

    def update(self, task: Task, responses: Answers) -> None:
        """Do as the good server does, and more or less than that."""
        raise NotImplementedError


class KeyKept(_Updating):
    """A request that is answered is not outstanding any more."""

    name = "tasks-key-kept"
    title = "inputRequests has answered ones until all are answered"

    def arm(self, conduct: Conduct) -> None:
        """Keep what was asked."""
        super().arm(conduct)
        self._asked: dict[str, Result] = {}
        conduct.touch_details.append(self._touch)

    def update(self, task: Task, responses: Answers) -> None:
        """Remember what it was about."""
        self._asked.setdefault(task.id, {}).update(task.asked)
        self.good(task, responses)

    def _touch(self, task: Task, shown: Result) -> None:
        kept = self._asked.get(task.id, {})
        if (
            task.status is Status.INPUT_REQUIRED
            and not kept.keys() <= task.asked.keys()
        ):
            self.fault(self.title)
            shown["inputRequests"] = {**kept, **shown["inputRequests"]}


class KeyReused(TaskFault):
    """A key is not used again, not even when it is answered."""

    name = "tasks-key-reused"
    title = "confirm_delete asks again, under the key that was answered"

    def arm(self, conduct: Conduct) -> None:
        """Ask again before the end."""
        self._good = conduct.finish
        conduct.finish = self._finish

    async def _finish(self, task: Task, result: Mapping[str, Any]) -> None:
        if len(task.answers) == 1:
            self.fault(self.title)
            (key,) = task.answers
            await task.ask({key: form("Are you quite sure?")})
        await self._good(task, result)


class KeyTwoRequests(TaskFault):
    """A key names one request."""

    name = "tasks-key-two-requests"
    title = "every second tasks/get shows another request under a key"

    def arm(self, conduct: Conduct) -> None:
        """Count."""
        del conduct
        self._shown: dict[str, int] = {}

    async def answer(self, call: Call, result: Result) -> bool:
        """Show the other request."""
        if call.method != "tasks/get" or "inputRequests" not in result:
            return False
        count = self._shown[result["taskId"]] = self._shown.get(result["taskId"], 0) + 1
        if count % 2 == 0:
            self.fault(self.title, call)
            result["inputRequests"] = {
                key: form("Something else entirely?") for key in result["inputRequests"]
            }
        return False


class PartialCompletes(_Updating):
    """A task needs input until all of it is there."""

    name = "tasks-partial-completes"
    title = "one answer is enough for a task that asked for two"

    def update(self, task: Task, responses: Answers) -> None:
        """Do without the rest."""
        before = len(task.asked)
        self.good(task, responses)
        if 0 < len(task.asked) < before:
            self.fault(self.title)
            task.asked = {}
            task.go_on()


class PartialLost(_Updating):
    """The answers of all updates count."""

    name = "tasks-partial-lost"
    title = "only the answers of the last tasks/update reach the tool"

    def update(self, task: Task, responses: Answers) -> None:
        """Forget the earlier ones."""
        if task.answers and any(key in task.asked for key in responses):
            self.fault(self.title)
            task.answers = dict.fromkeys(task.answers)
        self.good(task, responses)


class AnswerOverwritten(_Updating):
    """The response to a request that is answered is ignored."""

    name = "tasks-answer-overwritten"
    title = "a second response to a request counts, not the first"

    def update(self, task: Task, responses: Answers) -> None:
        """Take it."""
        again = {key: each for key, each in responses.items() if key in task.answers}
        if again:
            self.fault(self.title)
            task.answers |= again
        self.good(task, responses)


class AnsweredKeyRefused(_Updating):
    """The response to a request that is answered is no mistake."""

    name = "tasks-answered-key-refused"
    title = "a second response to a request is refused"

    def update(self, task: Task, responses: Answers) -> None:
        """Refuse it."""
        if any(key in task.answers for key in responses):
            self.fault(self.title)
            raise invalid_task("this input request is answered")
        self.good(task, responses)


class UnknownKeyRefused(_Updating):
    """The response to a request that there never was is no mistake."""

    name = "tasks-unknown-key-refused"
    title = "a response under an unknown key is refused"

    def update(self, task: Task, responses: Answers) -> None:
        """Refuse it."""
        if any(key not in {*task.asked, *task.answers} for key in responses):
            self.fault(self.title)
            raise invalid_task("there is no such input request")
        self.good(task, responses)


class AsksUndeclared(TaskFault):
    """A client is asked only for what it declares."""

    name = "tasks-asks-undeclared"
    title = "asks clients for forms that do not declare elicitation"

    def arm(self, conduct: Conduct) -> None:
        """Ask anybody."""
        conduct.respects_input = self._respects

    def _respects(self, call: Call) -> bool:
        if not has_form(call.session.client_capabilities):
            self.fault(self.title, call)
        return False


class MrtrSkipped(TaskFault):
    """Input that is needed before a task is asked for before it."""

    name = "tasks-mrtr-skipped"
    title = "test_tool_with_task makes its task at once, and asks in it"

    def tools(self) -> Sequence[Tool]:
        """The tool, in the place of the good one."""
        return (
            Tool(
                name=NAME,
                description="Asks for a name in a task, and greets it.",
                input_schema=strict_object(),
                handler=self._handle,
            ),
        )

    async def _handle(self, call: Call, _: Answers) -> Result:
        need(self.engine, call, task=True, asks=True)
        self.fault(self.title, call)
        return await self.engine.create(self._work)

    async def _work(self, task: Task) -> Result:
        answers = await task.ask({KEY: form("What is your name?")})
        answer = answers.get(KEY)
        content = answer.get("content") if isinstance(answer, dict) else None
        name = content.get("name") if isinstance(content, dict) else None
        return text_result(f"Hello, {name or 'nobody'}!")


class MrtrStateUnchecked(TaskFault):
    """A ``requestState`` is refused that was not given out."""

    name = "tasks-mrtr-state-unchecked"
    title = "test_tool_with_task takes any requestState"

    def arm(self, conduct: Conduct) -> None:
        """Look at none."""
        conduct.refuses_state = self._refuses

    def _refuses(self, call: Call) -> bool:
        self.fault(self.title, call)
        return False


class MrtrAnswerLost(TaskFault):
    """The task knows what was answered before it."""

    name = "tasks-mrtr-answer-lost"
    title = "the task of test_tool_with_task greets nobody"

    def arm(self, conduct: Conduct) -> None:
        """Greet nobody."""
        self._good = conduct.finish
        conduct.finish = self._finish

    async def _finish(self, task: Task, result: Mapping[str, Any]) -> None:
        if result["content"][0]["text"].startswith("Hello, "):
            self.fault(self.title)
            result = text_result("Hello, nobody!")
        await self._good(task, result)


PROFILES: tuple[type[Profile], ...] = (
    KeyKept,
    KeyReused,
    KeyTwoRequests,
    PartialCompletes,
    PartialLost,
    AnswerOverwritten,
    AnsweredKeyRefused,
    UnknownKeyRefused,
    AsksUndeclared,
    MrtrSkipped,
    MrtrStateUnchecked,
    MrtrAnswerLost,
)
