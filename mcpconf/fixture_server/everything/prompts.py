"""Prompts: of each kind of content, with arguments, and one that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server import results
from mcpconf.fixture_server.everything.content import IMAGE, embedded
from mcpconf.fixture_server.results import METHODS, invalid, page_of
from mcpconf.revision import Era

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.everything.rounds import Rounds
    from mcpconf.fixture_server.server import Server

    Result = dict[str, Any]
    Content = Mapping[str, Any]
    Arguments = Mapping[str, str]

WITH_ARGUMENTS = "test_prompt_with_arguments"


def _text(text: str) -> Content:
    return {"type": "text", "text": text}


#: Name → description, names of the arguments (all required), the messages' contents.
_PROMPTS: Mapping[
    str, tuple[str, tuple[str, ...], Callable[[Arguments], tuple[Content, ...]]]
] = {
    "test_simple_prompt": (
        "A text.",
        (),
        lambda _: (_text("This is a simple prompt for testing."),),
    ),
    WITH_ARGUMENTS: (
        "A text with two arguments in it.",
        ("arg1", "arg2"),
        lambda given: (
            _text(
                f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
            ),
        ),
    ),
    "test_prompt_with_embedded_resource": (
        "A resource and a text.",
        ("resourceUri",),
        lambda given: (
            embedded(given["resourceUri"], "Embedded resource content for testing."),
            _text("Please process the embedded resource above."),
        ),
    ),
    "test_prompt_with_image": (
        "An image and a text.",
        (),
        lambda _: (IMAGE, _text("Please analyze the image above.")),
    ),
}
_CHANGING = "test_changing_prompt"


class Prompts:
    """These and the plain ones, in one list."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._changes = 0
        #: At 2026-07-28: prompts that need input, by name.
        self._asking: dict[str, Rounds] = {}
        if server.era is Era.STATELESS:
            # The other era has no such thing.
            from mcpconf.fixture_server.everything.input_required import (  # noqa: PLC0415
                PROMPT,
                input_required_prompt,
            )

            self._asking[PROMPT] = input_required_prompt()

    def change(self) -> None:
        """Change what the list shows."""
        self._changes += 1

    def names(self) -> frozenset[str]:
        """The prompts' names."""
        return frozenset(each["name"] for each in self._items())

    async def listed(self, call: Call) -> Result:
        """Answer ``prompts/list``."""
        page, _ = page_of(self._server, call, self._items(), 0)
        return {"prompts": list(page)}

    async def get(self, call: Call) -> Result:
        """
        Answer ``prompts/get``.

        :raises RpcError: -32602: no such prompt, or an argument is missing.
        """
        name = call.params.get("name")
        if not isinstance(name, str):
            raise invalid("name is a string")
        if name in self._asking:
            return await self._asking[name].answer(call)
        if name == _CHANGING:
            return _result("A prompt.", _text(self._line()))
        if name not in _PROMPTS:
            plain = await METHODS["prompts/get"](self._server, call)
            return plain or {}
        description, arguments, contents = _PROMPTS[name]
        given = _given(arguments, call.params.get("arguments", {}))
        return _result(description, *contents(given))

    def _line(self) -> str:
        return f"Was changed {self._changes} times."

    def _items(self) -> tuple[Mapping[str, Any], ...]:
        ours = {name: (line, names) for name, (line, names, _) in _PROMPTS.items()}
        ours |= dict.fromkeys(self._asking, ("Needs input.", ()))
        if self._changes:
            ours[_CHANGING] = (self._line(), ())
        return (
            *results.PROMPTS,
            *(_shown(name, line, names) for name, (line, names) in ours.items()),
        )


def _shown(name: str, description: str, arguments: tuple[str, ...]) -> Content:
    shown: dict[str, Any] = {"name": name, "description": description}
    if arguments:
        shown["arguments"] = [
            {"name": each, "description": "A text.", "required": True}
            for each in arguments
        ]
    return shown


def _given(names: tuple[str, ...], arguments: object) -> Arguments:
    if not isinstance(arguments, dict):
        raise invalid("arguments is an object")
    for name in names:
        if not isinstance(arguments.get(name), str):
            raise invalid(f"the argument {name} is a string, and required")
    return arguments


def _result(description: str, *contents: Content) -> Result:
    messages = [{"role": "user", "content": dict(each)} for each in contents]
    return {"description": description, "messages": messages}
