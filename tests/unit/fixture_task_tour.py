"""
Everything that the tasks extension can be asked, once: what a server answers, by label.

Two servers differ in just those labels where they behave differently. Ids and what is
random are replaced by their numbers, times are those of `fixture_tasks.MadeUpTime`.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from fixture_tasks import (
    EXTENSION,
    INFO,
    NONE,
    HttpCall,
    Json,
    Tasks,
    accept,
    task_id,
)

from mcpconf.fixture_server.results import URIS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

_FORMLESS: Json = {"extensions": {EXTENSION: {}}}
_LEGACY: Json = {"elicitation": {}, "tasks": {"requests": {"tools": {"call": {}}}}}
_STRANGER: Any = {"declare": NONE, "info": None}
_HINT = {"task": {"ttl": 60_000, "pollInterval": 10}}
_RESOURCE = next(iter(URIS))
_RANDOM = re.compile(r"[\w-]{32,}|[\w-]{16}\.[0-9a-f]{64}")
_ID_KEY = "io.modelcontextprotocol/subscriptionId"
_SHORT: Json = {"seconds": 1, "label": "a"}
_LONG: Json = {"seconds": 60, "label": "b"}


class Tour:
    """One server, and what it said."""

    def __init__(self, tasks: Tasks) -> None:
        self.tasks = tasks
        self.said: dict[str, Json] = {}

    async def note(self, label: str, asked: Awaitable[HttpCall]) -> Json:
        """Take note of all that is sent for a request; its result."""
        call = await asked
        self.keep(label, call)
        return call.given

    def keep(self, label: str, call: HttpCall) -> None:
        """Take note of what was sent so far."""
        self.said[label] = {
            "sent": [_without_id(each, call.id) for each in call.sent],
            "statuses": list(call.statuses),
        }

    async def begin(self) -> None:
        """Let the next full hundred of seconds begin, whatever was before."""
        await asyncio.sleep(100 - asyncio.get_running_loop().time() % 100)

    async def end(self, label: str, task: str) -> None:
        """Take note of how a task ends."""
        self.said[label] = await self.tasks.until(task)

    async def creation(self) -> None:
        """Tools, declared and not."""
        tasks, note = self.tasks, self.note
        await note("discover", tasks.ask("server/discover"))
        await note("greet", tasks.tool("greet", {"name": "a"}))
        await note("greet/hint", tasks.tool("greet", {"name": "a"}, beside=_HINT))
        other: Json = {"info": {"name": "other"}}
        await note(
            "greet/undeclared",
            tasks.tool("greet", {"name": "a"}, declare=NONE, **other),
        )
        await note("greet/declared", tasks.tool("failing_job", **other))
        await note("tools", tasks.ask("tools/list"))
        resource = {"uri": _RESOURCE}
        await note("resource", tasks.ask("resources/read", resource, name=_RESOURCE))
        prompt = {"name": "fixture.greeting", "arguments": {"name": "a"}}
        await note("prompt", tasks.ask("prompts/get", prompt))
        some = {"seconds": 0.1}
        await note("undeclared", tasks.tool("slow_compute", some, **_STRANGER))
        await note(
            "undeclared/hint",
            tasks.tool("slow_compute", some, beside=_HINT, **_STRANGER),
        )
        await note(
            "undeclared/legacy",
            tasks.tool("slow_compute", some, declare=_LEGACY, info=None),
        )
        await note(
            "undeclared/known",
            tasks.tool("slow_compute", some, declare=NONE, info=INFO),
        )
        await note("required", tasks.tool("failing_job", **_STRANGER))
        await note("formless", tasks.tool("multi_input", declare=_FORMLESS, info=None))
        await self.begin()
        await note("hint", tasks.tool("slow_compute", _SHORT, beside=_HINT))
        often: Json = {"seconds": 1, "label": "often"}
        many = [tasks.create("slow_compute", often) for _ in range(5)]
        self.said["parallel"] = len(set(await asyncio.gather(*many)))

    async def life(self) -> None:
        """A task from its creation to long after its end."""
        tasks, note = self.tasks, self.note
        task = task_id(await note("create", tasks.tool("slow_compute", _SHORT)))
        named = {"taskId": task}
        await note("get", tasks.ask("tasks/get", named))
        await note("get/later", tasks.ask("tasks/get", named))
        await note("get/named", tasks.ask("tasks/get", named, name=task))
        await asyncio.sleep(1)
        await self.end("completed", task)
        await note("completed/again", tasks.ask("tasks/get", named))
        await asyncio.sleep(0.5)
        await note("completed/late", tasks.ask("tasks/get", named))
        await note("completed/cancel", tasks.cancel(task))
        await note("completed/cancelled", tasks.ask("tasks/get", named))
        await note("result", tasks.ask("tasks/result", named))
        await note("list", tasks.ask("tasks/list", {}))
        for tool in ("failing_job", "protocol_error_job"):
            await self.begin()
            await self.end(tool, await tasks.create(tool))
        await self.begin()
        task = await tasks.create("slow_compute", _LONG)
        await note("cancel", tasks.cancel(task))
        await note("cancel/get", tasks.ask("tasks/get", {"taskId": task}))
        await asyncio.sleep(1)
        await note("cancel/late", tasks.ask("tasks/get", {"taskId": task}))

    async def ignored(self) -> None:
        """What means nothing to a task."""
        tasks = self.tasks
        call = await tasks.tool("slow_compute", _LONG)
        params = {"requestId": call.id}
        message = {"method": "notifications/cancelled", "params": params}
        await tasks.server.notified(call.session, message)
        named = {"taskId": task_id(call.given)}
        await self.note("notified", tasks.ask("tasks/get", named))
        tool = {"name": "slow_compute", "arguments": _LONG}
        call = tasks.call("tools/call", tool, progressToken="a")
        handling = asyncio.create_task(tasks.server.handle(call))
        await call.heard.wait()
        call.gone.set()
        await handling
        self.keep("create/token", call)
        named = {"taskId": task_id(call.given)}
        await self.note("closed", tasks.ask("tasks/get", named))
        level = {"io.modelcontextprotocol/logLevel": "emergency"}
        await self.note("create/level", tasks.tool("slow_compute", _SHORT, **level))

    async def refusals(self) -> None:
        """What is refused, and with what."""
        tasks, note = self.tasks, self.note
        task = await tasks.create("slow_compute", _LONG)
        known: Json = {"taskId": task, "inputResponses": {}}
        for method in ("get", "update", "cancel"):
            asked = {"taskId": "a", "inputResponses": {}}
            await note(f"unknown/{method}", tasks.ask(f"tasks/{method}", asked))
            await note(
                f"named/{method}",
                tasks.ask(f"tasks/{method}", {**known, "taskId": "b"}, name="c"),
            )
        await tasks.ask("tasks/update", known, name="c")
        await note("named/again", tasks.ask("tasks/update", known, name=task))
        del known["inputResponses"]
        await note("malformed/update", tasks.ask("tasks/update", known))
        known["inputResponses"] = {}
        await note("malformed", tasks.ask("tasks/get", {"taskId": 1}))
        strangers = {
            "gate": _STRANGER,
            "gate-legacy": {"declare": _LEGACY, "info": None},
            "gate-known": {"declare": NONE, "info": INFO},
        }
        for label, stranger in strangers.items():
            for method in ("get", "update", "cancel"):
                asked = known if method != "cancel" else {"taskId": "a"}
                await note(
                    f"{label}/{method}", tasks.ask(f"tasks/{method}", asked, **stranger)
                )
            self.keep(f"{label}/listen", await tasks.listen(task, **stranger))

    async def input(self) -> None:
        """Input during a task."""
        tasks, note = self.tasks, self.note
        task = await tasks.create("confirm_delete", {"filename": "f"})
        self.said["asks"] = shown = await tasks.until(task, "input_required")
        self.said["asks/again"] = await tasks.get(task)
        await note(
            "answer/unknown", tasks.update(task, {"nobody": accept(confirm=True)})
        )
        self.said["asks/still"] = await tasks.get(task)
        asked = shown.get("inputRequests")
        keys = list(asked) if isinstance(asked, dict) else []
        yes = accept(confirm=True)
        await note("answer", tasks.update(task, dict.fromkeys(keys, yes)))
        self.said["answered"] = await tasks.get(task)
        await asyncio.sleep(1)
        self.said["answered/end"] = await tasks.get(task)
        await self.begin()
        task = await tasks.create("confirm_delete", {"filename": "f"})
        await tasks.until(task, "input_required")
        await tasks.update(task, {"input-1": {"action": "decline"}})
        await self.end("declined", task)
        await self.begin()
        task = await tasks.create("confirm_delete", {"filename": "f"})
        await tasks.until(task, "input_required")
        await note("stop", tasks.cancel(task))
        self.said["stop/get"] = await tasks.get(task)

    async def inputs(self) -> None:
        """Two inputs of one task."""
        tasks, note = self.tasks, self.note
        task = await tasks.create("multi_input")
        await tasks.until(task, "input_required")
        first = {"input-1": accept(confirm=True, name="first")}
        again = {"input-1": accept(confirm=True, name="again")}
        second = {"input-2": accept(confirm=True, name="second")}
        await note("part", tasks.update(task, first))
        self.said["part/get"] = await tasks.get(task)
        self.said["part/get/again"] = await tasks.get(task)
        await note("part/again", tasks.update(task, again))
        await note("part/second", tasks.update(task, second))
        await self.end("part/end", task)
        await note("part/late", tasks.update(task, second))
        self.said["part/late/get"] = await tasks.get(task)

    async def rounds(self) -> None:
        """Input before a task."""
        tasks, note, tool = self.tasks, self.note, "test_tool_with_task"
        first = await note("round", tasks.tool(tool))
        if "requestState" not in first:
            return
        name = {"user_name": accept(name="Alice")}
        state = {"requestState": first["requestState"]}
        forged = {"requestState": "forged", "inputResponses": name}
        await note("round/forged", tasks.tool(tool, beside=forged))
        await note("round/again", tasks.tool(tool, beside=state))
        given = {**state, "inputResponses": name}
        task = task_id(await note("round/given", tasks.tool(tool, beside=given)))
        await self.end("round/end", task)

    async def subscriptions(self) -> None:
        """What is told without being asked."""
        tasks = self.tasks
        for tool, arguments in (
            ("slow_compute", _SHORT),
            ("protocol_error_job", {}),
            ("multi_input", {}),
        ):
            await self.begin()
            task = await tasks.create(tool, arguments)
            other = await tasks.create("slow_compute", _SHORT)
            for label, ids in ((tool, (task, "unknown")), ("other", (other,))):
                call = await tasks.listen(*ids)
                if label == tool:
                    told = call
            await asyncio.sleep(0.3)
            answers = {"input-1": accept(confirm=True), "input-2": {"action": "cancel"}}
            if tool == "multi_input":
                await tasks.update(task, answers)
            await asyncio.sleep(3)
            self.keep(f"told/{tool}", told)
            self.said[f"told/{tool}/get"] = await tasks.get(task)
        call = await tasks.listen("unknown", text_id="2663")
        self.keep("listen/text", call)
        missing = {"name": "confirm_delete", "arguments": {"filename": "f"}}
        await self.note("refused", tasks.ask("tools/call", missing, **_STRANGER))

    def normal(self) -> dict[str, Json]:
        """What was said, without what is random."""
        return {label: _plain(each, {}) for label, each in self.said.items()}


async def tour(tasks: Tasks) -> dict[str, Json]:
    """All that one server says, by label."""
    one = Tour(tasks)
    for part in (
        one.creation,
        one.life,
        one.ignored,
        one.refusals,
        one.input,
        one.inputs,
        one.rounds,
        one.subscriptions,
    ):
        await one.begin()
        await part()
    return one.normal()


def _without_id(message: Json, call_id: Json) -> Json:
    """A message without the id of its request, wherever it is."""
    left = {key: each for key, each in message.items() if key != "id"}
    meta = left.get("params", {}).get("_meta", {})
    if meta.get(_ID_KEY) == call_id:
        left["params"] = {**left["params"], "_meta": {**meta, _ID_KEY: "<id>"}}
    return left


def _plain(value: Json, names: dict[str, str]) -> Json:
    """`value` with the first of its random texts as <0>, the next as <1>, ..."""
    if isinstance(value, dict):
        return {key: _plain(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, names) for each in value]
    if isinstance(value, str) and _RANDOM.fullmatch(value):
        return names.setdefault(value, f"<{len(names)}>")
    return value


def differences(good: Json, bad: Json, path: str) -> Iterator[str]:
    """
    Where `bad` differs: ``+x`` is new, ``-x`` is missing, ``x`` is another.

    Of lists of messages that are not as long as each other, `x` is a method.
    """
    if isinstance(good, dict) and isinstance(bad, dict):
        for key in {**good, **bad}:
            if key in good and key in bad:
                yield from differences(good[key], bad[key], key)
            else:
                yield f"{'-' if key in good else '+'}{key}"
    elif isinstance(good, list) and isinstance(bad, list) and len(good) == len(bad):
        for one, other in zip(good, bad, strict=True):
            yield from differences(one, other, path)
    elif path == "sent":
        methods, others = (
            [each.get("method") for each in some] for some in (good, bad)
        )
        yield from (f"+{each}" for each in Counter(others) - Counter(methods))
        yield from (f"-{each}" for each in Counter(methods) - Counter(others))
    elif good != bad or type(good) is not type(bad):
        yield path
