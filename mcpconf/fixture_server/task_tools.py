"""
The tools that the official scenarios of the tasks extension ask for.

What a tool does takes some seconds of its own, each as long as the limit
``task_second_s`` says. Only ``greet`` never makes a task; ``slow_compute`` makes one
where the client declares the extension; the others can be had as tasks only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import INTERNAL_ERROR
from mcpconf.fixture_server.asking import has_form
from mcpconf.fixture_server.call import RpcError, Tool
from mcpconf.fixture_server.results import text_result
from mcpconf.fixture_server.schema import check, check_names, is_number, strict_object
from mcpconf.fixture_server.task_conduct import EXTENSION, missing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.task import Task
    from mcpconf.fixture_server.task_engine import Engine, Work

    Arguments = Mapping[str, Any]
    Result = dict[str, Any]

_NOTHING = strict_object()
_NAME = strict_object({"name": {"type": "string"}})
_FILE = strict_object({"filename": {"type": "string"}})
_COMPUTE: Mapping[str, Any] = {
    **strict_object(
        {
            "seconds": {"type": "number", "minimum": 0, "maximum": 3600},
            "label": {"type": "string"},
        }
    ),
    "required": ["seconds"],
}
_CONFIRM: Mapping[str, Any] = {
    "type": "object",
    "properties": {"confirm": {"type": "boolean"}, "name": {"type": "string"}},
    "required": ["confirm"],
}
_LONGEST = 3600
#: In seconds of the tools: until input is asked for, and until all is done.
_SOON, _LATER = 0.2, 0.5


def form(message: str, schema: Mapping[str, Any] = _CONFIRM) -> dict[str, Any]:
    """A request of a form."""
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    return {"method": "elicitation/create", "params": params}


def need(engine: Engine, call: Call, *, task: bool, asks: bool) -> None:
    """
    Hold a call to what its tool cannot do without.

    :raises RpcError: -32021: the request does not declare it.
    """
    conduct, required = engine.conduct, dict[str, Any]()
    if task and not engine.makes_task(call) and conduct.refuses_undeclared(call):
        required["extensions"] = {EXTENSION: {}}
    is_able = has_form(call.session.client_capabilities)
    if asks and not is_able and conduct.respects_input(call):
        required["elicitation"] = {"form": {}}
    if required:
        raise missing(required)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tool:
    """A tool that can work in a task; `work` gives the work of some arguments."""

    engine: Engine
    name: str
    line: str
    work: Callable[[Arguments], Work]
    schema: Mapping[str, Any]
    is_required: bool = True
    asks: bool = False

    def tool(self) -> Tool:
        return Tool(
            name=self.name,
            description=self.line,
            input_schema=self.schema,
            handler=self._handle,
        )

    async def _handle(self, call: Call, arguments: Arguments) -> Result:
        need(self.engine, call, task=self.is_required, asks=self.asks)
        check_names(self.schema, arguments)
        work = self.work(arguments)
        if self.engine.makes_task(call):
            return await self.engine.create(work)
        return await self.engine.run_here(call, work)


def task_tools(engine: Engine) -> list[Tool]:
    """The tools but for ``test_tool_with_task``, in no particular order."""
    wait = engine.wait
    one = partial(_Tool, engine=engine)
    greet = Tool(
        name="greet",
        description="Greets somebody, at once.",
        input_schema=_NAME,
        handler=_greet,
    )
    tools = [
        one(
            name="slow_compute",
            line="Takes some seconds, in a task if it may.",
            work=partial(_compute, wait),
            schema=_COMPUTE,
            is_required=False,
        ),
        one(
            name="failing_job",
            line="Fails in a task, as a tool does.",
            work=lambda _: partial(_failing, wait),
            schema=_NOTHING,
        ),
        one(
            name="protocol_error_job",
            line="Ends a task with a JSON-RPC error.",
            work=lambda _: partial(_broken, wait),
            schema=_NOTHING,
        ),
        one(
            name="confirm_delete",
            line="Asks in a task whether a file is to be deleted.",
            work=partial(_confirm, wait),
            schema=_FILE,
            asks=True,
        ),
        one(
            name="multi_input",
            line="Asks in a task for two inputs at once.",
            work=lambda _: partial(_two, wait),
            schema=_NOTHING,
            asks=True,
        ),
    ]
    return [greet, *(each.tool() for each in tools)]


async def _greet(_call: Call, arguments: Arguments) -> Result:
    check_names(_NAME, arguments)
    name = arguments["name"]
    check(arguments, "name", is_sound=isinstance(name, str))
    return text_result(f"Hello, {name}!")


def _compute(wait: Any, arguments: Arguments) -> Work:
    seconds, label = arguments["seconds"], arguments.get("label", "")
    is_sound = is_number(seconds) and 0 <= seconds <= _LONGEST
    check(arguments, "seconds", is_sound=is_sound)
    check(arguments, "label", is_sound=isinstance(label, str))

    async def work(_: Task) -> Result:
        await wait(seconds)
        return text_result(f"Computed {label or 'nothing'} in {seconds} s.")

    return work


async def _failing(wait: Any, _: Task) -> Result:
    await wait(_LATER)
    return text_result("The job failed, as it was made to.", isError=True)


async def _broken(wait: Any, _: Task) -> Result:
    await wait(_LATER)
    raise RpcError(INTERNAL_ERROR, "The job broke, as it was made to.")


def _confirm(wait: Any, arguments: Arguments) -> Work:
    name = arguments["filename"]
    check(arguments, "filename", is_sound=isinstance(name, str))

    async def work(task: Task) -> Result:
        await wait(_SOON)
        key = task.new_key()
        answers = await task.ask({key: form(f"Delete {name}?")})
        await wait(_LATER)
        done = "Deleted" if _is_yes(answers.get(key)) else "Kept"
        return text_result(f"{done} {name}.")

    return work


async def _two(wait: Any, task: Task) -> Result:
    await wait(_SOON)
    keys = (task.new_key(), task.new_key())
    answers = await task.ask({key: form(f"Please answer {key}.") for key in keys})
    await wait(_LATER)
    told = {key: answers.get(key) for key in keys}
    words = ", ".join(f"{key} {_word(each)}" for key, each in told.items())
    return text_result(f"Answered: {words}.", structuredContent={"answers": told})


def _is_yes(answer: Any) -> bool:
    content = answer.get("content") if isinstance(answer, dict) else None
    return (
        isinstance(content, dict)
        and answer.get("action") == "accept"
        and content.get("confirm") is True
    )


def _word(answer: Any) -> str:
    return str(answer["action"]) if isinstance(answer, dict) else "not at all"
