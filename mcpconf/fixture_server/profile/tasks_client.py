"""
Tasks by which a client shows what it does with them (SEP-2663), and nothing is judged.

The server takes whatever it is sent; one that refused a bad request would hide what the
client does in the requests to come. The wire log is there for the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.fixture_server.asking import has_form
from mcpconf.fixture_server.call import Tool
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.fixture_server.profile.tasks_script import (
    SCRIPTS,
    WORKING,
    Script,
    ScriptedTask,
    form,
)
from mcpconf.fixture_server.results import text_result
from mcpconf.fixture_server.schema import strict_object
from mcpconf.fixture_server.stateless import finish
from mcpconf.fixture_server.task_conduct import (
    EXTENSION,
    extension_declared,
    invalid_task,
)
from mcpconf.revision import Revision

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.log import Log
    from mcpconf.fixture_server.options import Options

    Result = dict[str, Any]

_NOTHING = strict_object()
_REQUEST_STATE = "fixture-state:before-the-task"


class _Tasks(Profile):
    """Declares the extension, and answers its three methods."""

    revisions: ClassVar[frozenset[Revision]] = frozenset({Revision.V2026_07_28})
    checks_headers = False

    def __init__(self, options: Options, log: Log) -> None:
        super().__init__(options, log)
        self._tasks: dict[str, ScriptedTask] = {}

    def capabilities(self, capabilities: dict[str, Any]) -> None:
        """Declare the extension."""
        capabilities.setdefault("extensions", {})[EXTENSION] = {}

    def own_methods(self) -> Mapping[str, Callable[[Call], Awaitable[Result]]]:
        """The three of the extension."""
        return {
            "tasks/get": self._get,
            "tasks/update": self._update,
            "tasks/cancel": self._cancel,
        }

    def create(self, script: Script) -> Result:
        """Begin a task; the result that hands it out."""
        task = ScriptedTask(script)
        self._tasks[task.id] = task
        return {"resultType": "task", **task.said(script.seed)}

    def _of(self, call: Call) -> ScriptedTask:
        name = call.params.get("taskId")
        task = self._tasks.get(name) if isinstance(name, str) else None
        if task is None:
            raise invalid_task("there is no such task")
        return task

    async def _get(self, call: Call) -> Result:
        task = self._of(call)
        state = task.next()
        if state is None:
            del self._tasks[task.id]
            self.fault("the task is unknown from now on", call)
            raise invalid_task("there is no such task")
        return task.said(state)

    async def _update(self, call: Call) -> Result:
        self._of(call).update()
        return {}

    async def _cancel(self, call: Call) -> Result:
        self._of(call).cancel()
        return {}


class TrustingTasks(_Tasks):
    """Tools that become tasks, where the client declares that it takes them."""

    name = "trusting-tasks"
    title = "answers calls with tasks, and takes whatever is sent about them"

    def tools(self) -> Sequence[Tool]:
        """One tool for every script, and one that is answered at once."""
        plain = self._tool("task_plain", Script(states=()), self._plain)
        return [plain, *(self._tool(*each, self._begin) for each in SCRIPTS.items())]

    def _tool(self, name: str, script: Script, answer: Any) -> Tool:
        async def handler(call: Call, _arguments: Mapping[str, Any]) -> Result:
            declared = call.session.client_capabilities
            if not extension_declared(declared):
                return text_result("answered without a task")
            if script.needs_form and not has_form(declared):
                return text_result("the client did not declare elicitation")
            result: Result = answer(call, script)
            return result

        return Tool(
            name=name,
            description="May be answered by a task.",
            input_schema=_NOTHING,
            handler=handler,
        )

    def _plain(self, _call: Call, _script: Script) -> Result:
        return text_result("a plain result")

    def _begin(self, call: Call, script: Script) -> Result:
        if script.has_rounds and "inputResponses" not in call.params:
            return {
                "resultType": "input_required",
                "inputRequests": {"confirmation": form("confirmation")},
                "requestState": _REQUEST_STATE,
            }
        self.fault(f"{call.params['name']} became a task", call)
        return self.create(script)


class _TaskElsewhere(_Tasks):
    """Answers a request with a task that no task may answer."""

    method: ClassVar[str]

    async def answer(self, call: Call, result: dict[str, Any]) -> bool:
        """Hand out a task; whoever follows it is given what was asked for."""
        if call.method != self.method:
            return False
        self.fault(f"{call.method} was answered by a task", call)
        task = self.create(
            Script(states=({"status": "completed", "result": dict(result)},))
        )
        await call.result(finish(call, task))
        return True


class TaskForList(_TaskElsewhere):
    """``tools/list``."""

    name = "task-for-list"
    title = "answers tools/list with a task"
    method = "tools/list"


class TaskForResource(_TaskElsewhere):
    """``resources/read``."""

    name = "task-for-resource"
    title = "answers resources/read with a task"
    method = "resources/read"


class UnnegotiatedResults(Profile):
    """Results of types that the client has not said it knows."""

    name = "unnegotiated-results"
    title = "answers calls with results of types that were not agreed on"
    revisions: ClassVar[frozenset[Revision]] = frozenset({Revision.V2026_07_28})

    def tools(self) -> Sequence[Tool]:
        """``partial_result``, and ``undeclared_task``."""
        return [
            self._tool("partial_result", self._partial),
            self._tool("undeclared_task", self._undeclared),
        ]

    def _tool(self, name: str, answer: Any) -> Tool:
        async def handler(call: Call, _arguments: Mapping[str, Any]) -> Result:
            result: Result = answer(call)
            self.fault(f"a result of the type {result['resultType']}", call)
            return result

        return Tool(
            name=name,
            description="Is answered in a way that was not agreed on.",
            input_schema=_NOTHING,
            handler=handler,
        )

    def _partial(self, _call: Call) -> Result:
        return text_result("a part of a result", resultType="com.example/partial")

    def _undeclared(self, call: Call) -> Result:
        if extension_declared(call.session.client_capabilities):
            return text_result("on its way", resultType="com.example/undeclared")
        return {"resultType": "task", **ScriptedTask(Script(states=())).said(WORKING)}


PROFILES: tuple[type[Profile], ...] = (
    TrustingTasks,
    TaskForList,
    TaskForResource,
    UnnegotiatedResults,
)
