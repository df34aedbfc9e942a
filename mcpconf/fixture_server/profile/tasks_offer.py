"""Faults of the tasks extension that only its own checks look for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import INVALID_PARAMS
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.headers import check_mirrors, mismatch
from mcpconf.fixture_server.profile.tasks_fault import (
    HTTP_ONLY,
    METHODS,
    Refused,
    TaskFault,
    is_tool,
    reshaped,
)
from mcpconf.fixture_server.stateless import CAPABILITIES, CLIENT_INFO, finish
from mcpconf.fixture_server.task_conduct import EXTENSION, extension_declared

if TYPE_CHECKING:
    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.profile.base import Profile
    from mcpconf.fixture_server.task import Task
    from mcpconf.fixture_server.task_conduct import Conduct

    Result = dict[str, Any]

#: What the drafts had for a task that is not there.
_DRAFT_NOT_FOUND = -32001


class NotAdvertised(TaskFault):
    """A server that hands out tasks says that it has the extension."""

    name = "tasks-not-advertised"
    title = "server/discover does not name the extension; tasks are made all the same"

    def capabilities(self, capabilities: dict[str, Any]) -> None:
        """Leave it out."""
        self.fault(self.title)
        del capabilities["extensions"][EXTENSION]


class GreetMade(TaskFault):
    """What is done at once is answered at once (suite policy)."""

    name, title = "tasks-greet-made", "makes a task of greet"

    async def answer(self, call: Call, result: Result) -> bool:
        """Put the result into a task, unless it is asked for in the old way."""
        if not is_tool(call, "greet") or "task" in call.params:
            return False
        if not self.engine.makes_task(call):
            return False
        good = {key: each for key, each in result.items() if key == "content"}

        async def work(_: Task) -> Result:
            return good

        self.fault(self.title, call)
        created = finish(call, await self.engine.create(work))
        result.clear()
        result.update(created)
        return False


class HintNeeded(TaskFault):
    """A declaration is all that a task needs (suite policy)."""

    name = "tasks-hint-needed"
    title = "runs failing_job in the call unless it has params.task"

    def arm(self, conduct: Conduct) -> None:
        """Want the hint."""
        good = conduct.declares

        def lacks(call: Call) -> bool:
            return good(call) and is_tool(call, "failing_job") and _has_no_hint(call)

        def declares(call: Call) -> bool:
            if lacks(call):
                self.fault(self.title, call)
                return False
            return good(call)

        conduct.declares = declares
        conduct.refuses_undeclared = lambda call: not lacks(call)


class UndeclaredMemory(TaskFault):
    """A request's own declaration is enough, whatever was not declared before."""

    name = "tasks-undeclared-memory"
    title = "makes no task for a clientInfo that has called greet without declaring"

    def arm(self, conduct: Conduct) -> None:
        """Remember."""
        self._known = set[str]()
        good = conduct.declares

        def declares(call: Call) -> bool:
            if is_tool(call) and _client(call) in self._known:
                self.fault(self.title, call)
                return False
            return good(call)

        conduct.declares = declares

    async def intercept(self, call: Call) -> bool:
        """See who does not declare."""
        capabilities = call.meta.get(CAPABILITIES)
        is_declared = isinstance(capabilities, dict) and extension_declared(
            capabilities
        )
        if is_tool(call, "greet") and not is_declared:
            self._known.add(_client(call))
        return False


class MalformedAccepted(TaskFault):
    """A ``tasks/update`` has ``inputResponses``."""

    name = "tasks-malformed-accepted"
    title = "acknowledges a tasks/update without inputResponses"

    async def intercept(self, call: Call) -> bool:
        """Take it for one with none."""
        if call.method == "tasks/update" and "inputResponses" not in call.params:
            self.fault(self.title, call)
            call.params["inputResponses"] = {}
        return False


class MatchingNameRefused(TaskFault):
    """``Mcp-Name`` that is the task's id is right."""

    name = "tasks-matching-name-refused"
    title = "refuses every Mcp-Name for a task that was once asked for under another"
    transports = HTTP_ONLY

    def arm(self, conduct: Conduct) -> None:
        """Bear a grudge."""
        known = set[str]()
        good = conduct.check_name

        def check(call: Call, task_id: str) -> None:
            try:
                good(call, task_id)
            except RpcError:
                known.add(task_id)
                raise
            if task_id in known and "mcp-name" in call.http.headers:
                self.fault(self.title, call)
                raise mismatch("Mcp-Name was not what the body named, once")

        conduct.check_name = check


class MethodUnchecked(TaskFault):
    """``Mcp-Method`` is the method."""

    name, title = "tasks-method-unchecked", "takes any Mcp-Method"
    transports = HTTP_ONLY
    checks_headers = False

    async def intercept(self, call: Call) -> bool:
        """Check all the other headers, which the server does not do for this fault."""
        headers = dict(call.http.headers)
        if list(headers.get("mcp-method", ())) != [call.method]:
            self.fault(self.title, call)
        headers["mcp-method"] = [call.method]
        check_mirrors(
            call.message,
            headers,
            served=self.options.revision.value,
            schema_of=lambda _: None,
        )
        task_id = call.params.get("taskId")
        if call.method in METHODS and isinstance(task_id, str):
            self.engine.conduct.check_name(call, task_id)
        return False


class Unknown32001(Refused):
    """An unknown id on ``tasks/update`` is -32602."""

    name = "tasks-unknown-32001"
    title = "-32001 for tasks/update of a task that is not there"

    def change_error(self, call: Call, error: RpcError) -> RpcError | Result:
        """The code of the drafts."""
        is_about_task = call.method == "tasks/update" and self.task_of(call) is None
        if not is_about_task or error.code != INVALID_PARAMS:
            return error
        return RpcError(_DRAFT_NOT_FOUND, error.message, status=error.status)


def _has_no_hint(call: Call) -> bool:
    return "task" not in call.params


def _client(call: Call) -> str:
    return json.dumps(call.meta.get(CLIENT_INFO), sort_keys=True)


PROFILES: tuple[type[Profile], ...] = (
    NotAdvertised,
    GreetMade,
    HintNeeded,
    UndeclaredMemory,
    MalformedAccepted,
    MatchingNameRefused,
    MethodUnchecked,
    Unknown32001,
    reshaped(
        "tasks/get",
        "tasks-get-nested",
        "tasks/get gives the task a second time, under a member task",
        lambda result: result.update(task={"taskId": result.get("taskId")}),
    ),
)
