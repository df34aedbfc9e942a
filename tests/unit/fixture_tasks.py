"""A client of the tasks extension without a transport, in a time that is made up."""

from __future__ import annotations

import asyncio
import selectors
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias

from fixture_call import FakeCall

from mcpconf.fixture_server import task as task_module
from mcpconf.fixture_server.log import Log
from mcpconf.fixture_server.options import Limits, Options
from mcpconf.fixture_server.server import Server
from mcpconf.fixture_server.session import Session
from mcpconf.revision import Revision
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    import pytest

Json: TypeAlias = Any
EXTENSION = "io.modelcontextprotocol/tasks"
PREFIX = "io.modelcontextprotocol/"
FULL: Mapping[str, Json] = {"elicitation": {}, "extensions": {EXTENSION: {}}}
NONE: Mapping[str, Json] = {}
INFO = {"name": "test", "version": "1"}
TERMINAL = ("completed", "failed", "cancelled")
_BIRTH = datetime(2026, 7, 28, tzinfo=UTC)


class _Selector(selectors.SelectSelector):
    """Waits for nothing: the time that would pass has passed."""

    def __init__(self, skip: Callable[[float], None]) -> None:
        super().__init__()
        self._skip = skip

    def select(self, timeout: float | None = None) -> Json:
        ready = super().select(0)
        if not ready:
            assert timeout is not None, "everybody waits, and nothing will happen"
            self._skip(timeout)
        return ready


class MadeUpTime(asyncio.SelectorEventLoop):
    """A loop whose clock stands still while anything is to be done."""

    def __init__(self) -> None:
        self._passed = 0.0
        super().__init__(_Selector(self._skip))

    def _skip(self, seconds: float) -> None:
        self._passed += seconds

    def time(self) -> float:
        return self._passed


def run(work: Coroutine[Any, Any, Json], patch: pytest.MonkeyPatch) -> Json:
    """What `work` comes to; it takes no time."""
    with asyncio.Runner(loop_factory=MadeUpTime) as runner:
        loop = runner.get_loop()
        passed = lambda: _BIRTH + timedelta(seconds=loop.time())  # noqa: E731
        patch.setattr(task_module, "now", passed)
        return runner.run(work)


class Kept(Log):
    """A log that keeps the faults."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[tuple[str, str]] = []

    def fault(self, profile: str, detail: str, exchange: int | None = None) -> None:
        del exchange
        self.faults.append((profile, detail))


class HttpCall(FakeCall):
    """A call that came with headers."""

    def __init__(
        self, message: dict[str, Any], session: Session, headers: Mapping[str, Json]
    ) -> None:
        super().__init__(message, session)
        self.http = SimpleNamespace(headers=headers)  # type: ignore[assignment]

    @property
    def given(self) -> Json:
        """The result of the response; empty where it is an error."""
        answers = [each for each in self.sent if "id" in each]
        assert len(answers) == 1, "one response"
        return answers[0].get("result", {})

    @property
    def refusal(self) -> tuple[int, int] | None:
        """The code of the response's error, and HTTP's status."""
        answers = [each["error"] for each in self.sent if "error" in each]
        return (answers[0]["code"], self.statuses[-1]) if answers else None


class Tasks:
    """A server with tasks, and one client of it."""

    def __init__(self, *profiles: str, **limits: Json) -> None:
        self.log = Kept()
        options = Options(
            revision=Revision.V2026_07_28,
            transport=Transport.HTTP,
            profiles=("tasks", *profiles),
            limits=Limits(**limits),
        )
        self.server = Server(options, self.log)
        self._ids = 100
        self.listening: set[asyncio.Task[None]] = set()

    def call(
        self,
        method: str,
        params: Mapping[str, Json] | None = None,
        *,
        declare: Mapping[str, Json] = FULL,
        name: str | None = None,
        info: Json = INFO,
        **meta: Json,
    ) -> HttpCall:
        """A request that nobody has handled yet."""
        self._ids += 1
        told = {
            f"{PREFIX}protocolVersion": "2026-07-28",
            f"{PREFIX}clientCapabilities": dict(declare),
            **meta,
        }
        if info is not None:
            told[f"{PREFIX}clientInfo"] = info
        given = {"_meta": told, **(params or {})}
        message = {"jsonrpc": "2.0", "id": self._ids, "method": method}
        headers = {
            "accept": ["application/json, text/event-stream"],
            "mcp-protocol-version": ["2026-07-28"],
            "mcp-method": [method],
        }
        name = name or given.get("name")
        if name is not None:
            headers["mcp-name"] = [name]
        return HttpCall({**message, "params": given}, Session(), headers)

    async def ask(self, method: str, params: Json = None, **more: Json) -> HttpCall:
        """A request that was answered."""
        call = self.call(method, params, **more)
        await self.server.handle(call)
        return call

    async def tool(
        self,
        name: str,
        arguments: Json = None,
        *,
        beside: Json = None,
        **more: Json,
    ) -> HttpCall:
        """A call of a tool; `beside` goes beside its arguments."""
        params = {"name": name, "arguments": arguments or {}, **(beside or {})}
        return await self.ask("tools/call", params, **more)

    async def create(self, name: str, arguments: Json = None, **more: Json) -> str:
        """The id of a new task."""
        return task_id((await self.tool(name, arguments, **more)).given)

    async def get(self, task_id: str, **more: Json) -> Json:
        """What ``tasks/get`` gives."""
        call = await self.ask("tasks/get", {"taskId": task_id}, **more)
        return call.given

    async def until(self, task_id: str, *wanted: str, at_most: int = 100) -> Json:
        """The task in one of these states, or what it is after so many polls."""
        shown: Json = {}
        for _ in range(at_most):
            shown = await self.get(task_id)
            if shown.get("status") in (wanted or TERMINAL):
                break
            await asyncio.sleep(0.05)
        return shown

    async def update(self, task_id: str, answers: Json, **more: Json) -> HttpCall:
        """A ``tasks/update``."""
        params = {"taskId": task_id, "inputResponses": answers}
        return await self.ask("tasks/update", params, **more)

    async def cancel(self, task_id: str, **more: Json) -> HttpCall:
        """A ``tasks/cancel``."""
        return await self.ask("tasks/cancel", {"taskId": task_id}, **more)

    async def listen(
        self, *ids: str, text_id: str | None = None, **more: Json
    ) -> HttpCall:
        """A subscription, acknowledged or refused; `text_id`: the id of its request."""
        params = {"notifications": {"taskIds": list(ids)}}
        call = self.call("subscriptions/listen", params, **more)
        if text_id is not None:
            call.message = {**call.message, "id": text_id}
        task = asyncio.create_task(self.server.handle(call))
        self.listening.add(task)
        task.add_done_callback(self.listening.discard)
        await call.heard.wait()
        return call


def task_id(created: Json) -> str:
    """The id of a CreateTaskResult, nested or not; none where there is none."""
    return str(created.get("task", created).get("taskId", "none"))


def accept(**content: Json) -> dict[str, Json]:
    """An answer to a form."""
    return {"action": "accept", "content": content}
