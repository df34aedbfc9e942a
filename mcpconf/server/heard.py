"""
What a server did for the suite to say anything of it at all: pure, from the wire.

The suite takes any result for the right one in more than one scenario, and follows a
redirect to whoever answers there.
"""

from __future__ import annotations

import json
import re
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mcpconf.wire_message import Dialogue, Kind, Side

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from mcpconf.decode import Json
    from mcpconf.wire import WireLog
    from mcpconf.wire_message import Message

_INVALID_PARAMS = -32602
_OPENING = frozenset({"initialize", "server/discover"})
_IS_ABSENT = re.compile(r"unknown|not found|no such|does not exist", re.IGNORECASE)
#: What a complete result of a method cannot be without.
_MEMBERS = {
    "initialize": "protocolVersion",
    "server/discover": "supportedVersions",
    "tools/list": "tools",
    "tools/call": "content",
    "resources/list": "resources",
    "resources/read": "contents",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
    "prompts/get": "messages",
    "completion/complete": "completion",
}
#: Results that are whole by themselves, whatever was asked.
_OTHER_RESULTS = frozenset({"input_required", "task"})
_ANY_METHOD = frozenset({"_meta", "resultType"})


def redirected(log: WireLog) -> str | None:
    """Where the server sent the suite instead of answering; None: nowhere."""
    for each in log.exchanges:
        if each.status is None or not _is_redirect(each.status):
            continue
        target = each.response_header("location")
        if target is not None:
            place = urlsplit(target)
            shown = f"{place.scheme}://{place.netloc}{place.path}"
            return f"{each.method} is answered with {each.status} to {shown}"
    return None


def _is_redirect(status: int) -> bool:
    return HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST


def is_heard(log: WireLog) -> bool:
    """
    Whether the server did as it was asked once, or found fault with how.

    To open a conversation is not enough where more was asked for.
    """
    pairs = [pair for pair in _answered(log) if pair[0].method not in _OPENING]
    return any(_is_sense(*pair) for pair in pairs or _answered(log))


def absent_tools(log: WireLog) -> str | None:
    """The tools that were called, where all of them are told not to be there."""
    named = _by_tool(log, _tells_absence)
    return ", ".join(named) if named and all(named.values()) else None


def lacking_tools(log: WireLog) -> str | None:
    """The tools that were called and are told not to be there."""
    named = _by_tool(log, _tells_absence)
    return ", ".join(name for name, is_absent in named.items() if is_absent) or None


def failing_tools(log: WireLog) -> str | None:
    """The tools that were called, where every answer says that they failed."""
    named = _by_tool(log, lambda _, answer: _result_of(answer).get("isError") is True)
    return ", ".join(named) if named and all(named.values()) else None


def _by_tool(log: WireLog, holds: Callable[[str, Message], bool]) -> dict[str, bool]:
    """For every tool that was called: whether something holds of all its answers."""
    named: dict[str, bool] = {}
    for request, answer in _answered(log):
        if request.method == "tools/call":
            name = str(request.params.get("name"))
            named[name] = named.get(name, True) and holds(name, answer)
    return named


def _answered(log: WireLog) -> Iterator[tuple[Message, Message]]:
    """The suite's requests that have an answer, each with it."""
    dialogue = Dialogue(log)
    for each in dialogue.messages:
        if each.direction is Side.CLIENT and each.kind is Kind.REQUEST:
            answer = dialogue.answer_to(each)
            if answer is not None:
                yield each, answer


def _is_sense(request: Message, answer: Message) -> bool:
    """A result of the method, or a refusal of parameters; not of an absent tool."""
    if answer.kind is Kind.RESPONSE:
        return _is_result_of(str(request.method), _result_of(answer))
    error = answer.payload.get("error")
    if not isinstance(error, dict) or error.get("code") != _INVALID_PARAMS:
        return False
    return not _IS_ABSENT.search(str(error.get("message")))


def _is_result_of(method: str, result: Mapping[str, Json]) -> bool:
    if result.get("resultType") in _OTHER_RESULTS:
        return True
    member = _MEMBERS.get(method)
    return member in result if member else set(result) <= _ANY_METHOD


def _tells_absence(tool: str, answer: Message) -> bool:
    """Whether an answer says, by its name, that a tool is unknown."""
    result = _result_of(answer)
    said: object = result.get("content") if result.get("isError") is True else None
    if answer.kind is Kind.ERROR:
        said = answer.payload.get("error")
    text = json.dumps(said, ensure_ascii=False)
    return tool in text and _IS_ABSENT.search(text) is not None


def _result_of(message: Message) -> dict[str, Json]:
    result = message.payload.get("result")
    return dict(result) if isinstance(result, dict) else {}
