"""Faults of what the server says of itself: wrong ids, types and times."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.fixture_server.call import Tool
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.fixture_server.results import text_result
from mcpconf.revision import Era

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.fixture_server.call import Call

#: In every answer that a client must not use: seen again where it was used.
PLANTED = "planted_by_a_wrong_answer"
#: Said of a request whose late answer the client did not wait for.
GIVEN_UP = "was given up before it was answered"
_SERVER_INFO = "io.modelcontextprotocol/serverInfo"
_SCHEMA = {"type": "object", "properties": {}}


def _other(request_id: str | int) -> str | int:
    if isinstance(request_id, str):
        return f"{request_id}-other"
    return request_id + 1_000_000


def _retyped(request_id: str | int) -> str | int:
    if isinstance(request_id, int):
        return str(request_id)
    return int(request_id) if request_id.isdecimal() else 0


def _planted(call: Call, result: Mapping[str, Any]) -> dict[str, Any]:
    """The result, changed so that it is known again wherever it turns up."""
    if call.method == "tools/list":
        tool = {"name": PLANTED, "description": "", "inputSchema": _SCHEMA}
        return {**result, "tools": [tool]}
    info = {"name": PLANTED, "version": "0"}
    if "serverInfo" in result:
        return {**result, "instructions": PLANTED, "serverInfo": info}
    return {**result, "instructions": PLANTED, "_meta": {_SERVER_INFO: info}}


class _OneMethod(Profile):
    """Concerns the opening, or the list of tools."""

    #: None: the opening of the revision's era.
    methods: ClassVar[frozenset[str] | None] = None

    @property
    def opening(self) -> str:
        """The request that asks a server what it is."""
        stateless = self.options.revision.era is Era.STATELESS
        return "server/discover" if stateless else "initialize"

    def concerns(self, call: Call) -> bool:
        """Whether this request is to be answered so."""
        return call.method in (self.methods or {self.opening})


class _WrongId(_OneMethod):
    """
    Answers, but not under the request's id.

    Over HTTP that is all, since the exchange is over. On stdio the right answer
    follows: who ignores the other one need not wait for a time-out.
    """

    async def answer(self, call: Call, result: dict[str, Any]) -> bool:
        """Answer under another id."""
        if not self.concerns(call):
            return False
        wrong = self.wrong(call.id)
        self.fault(f"{call.method} {call.id!r} answered under {wrong!r}", call)
        planted = _planted(call, result)
        await call.respond({"jsonrpc": "2.0", "id": wrong, "result": planted})
        return call.http is not None

    def wrong(self, request_id: str | int) -> str | int | None:
        """The id of the answer."""
        raise NotImplementedError


class OpeningOtherId(_WrongId):
    """Under the id of nothing that was asked."""

    name = "opening-other-id"
    title = "the opening is answered under another id"

    def wrong(self, request_id: str | int) -> str | int | None:
        """Another of the same type."""
        return _other(request_id)


class OpeningNullId(_WrongId):
    """Under no id at all."""

    name = "opening-null-id"
    title = "the opening is answered under the id null"

    def wrong(self, request_id: str | int) -> str | int | None:  # noqa: ARG002
        """Null."""
        return None


class OpeningTypedId(_WrongId):
    """``"1"`` is not ``1``."""

    name = "opening-typed-id"
    title = "the opening is answered under an id of another type"

    def wrong(self, request_id: str | int) -> str | int | None:
        """The same in the other type."""
        return _retyped(request_id)


class ListOtherId(OpeningOtherId):
    """As `OpeningOtherId`, for the tools."""

    name = "list-other-id"
    title = "tools/list is answered under another id"
    methods = frozenset({"tools/list"})


class ListNullId(OpeningNullId):
    """As `OpeningNullId`, for the tools."""

    name = "list-null-id"
    title = "tools/list is answered under the id null"
    methods = frozenset({"tools/list"})


class ListTypedId(OpeningTypedId):
    """As `OpeningTypedId`, for the tools."""

    name = "list-typed-id"
    title = "tools/list is answered under an id of another type"
    methods = frozenset({"tools/list"})


class AnswersTwice(_OneMethod):
    """The first answer is right; the second, under the same id, is one too many."""

    name = "answers-twice"
    title = "the opening and tools/list are answered twice"

    def concerns(self, call: Call) -> bool:
        """Both."""
        return call.method in {self.opening, "tools/list"}

    async def answer(self, call: Call, result: dict[str, Any]) -> bool:
        """Answer, and answer again."""
        if not self.concerns(call):
            return False
        self.fault(f"{call.method} {call.id!r} answered twice", call)
        await call.send({"jsonrpc": "2.0", "id": call.id, "result": result})
        await call.result(_planted(call, result))
        return True


class AnswersLate(_OneMethod):
    """Late, and within the client's limit."""

    name = "answers-late"
    title = "the opening and tools/list are answered late"

    def concerns(self, call: Call) -> bool:
        """Both."""
        return call.method in {self.opening, "tools/list"}

    async def answer(self, call: Call, result: dict[str, Any]) -> bool:  # noqa: ARG002
        """Wait, and let it be answered."""
        if self.concerns(call):
            self.fault(f"{call.method} answered {self.limits.delay_s:g} s late", call)
            await asyncio.gather(
                asyncio.sleep(self.limits.delay_s), self._tell_of_leaving(call)
            )
        return False

    async def _tell_of_leaving(self, call: Call) -> None:
        """Put on record that the client did not wait; over HTTP nothing else shows."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.delay_s):
                how = await call.cancelled()
                self.fault(f"{call.method} {GIVEN_UP}: {how}", call)


class NeverAnswersOpening(_OneMethod):
    """Nothing is ever answered, whatever the client tries instead."""

    name = "never-answers-opening"
    title = "the server takes requests and answers none"

    async def intercept(self, call: Call) -> bool:
        """Be silent."""
        self.fault(f"{call.method} is not answered", call)
        return True


class NeverAnswersList(_OneMethod):
    """All but the list of tools is answered."""

    name = "never-answers-list"
    title = "tools/list is never answered"
    methods = frozenset({"tools/list"})

    async def intercept(self, call: Call) -> bool:
        """Be silent, of tools."""
        if not self.concerns(call):
            return False
        self.fault(f"{call.method} is not answered", call)
        return True


class MalformedAnswers(Profile):
    """Tools whose answers have the right id, and are no responses."""

    name = "malformed-answers"
    title = "tools whose calls are answered by what is no JSON-RPC response"

    def tools(self) -> Sequence[Tool]:
        """One for each way."""
        return (
            self._tool("result_is_text", {"result": "a text"}),
            self._tool(
                "result_and_error",
                {
                    "result": self._good(),
                    "error": {"code": -32603, "message": "and an error"},
                },
            ),
            self._tool("no_jsonrpc", {"jsonrpc": None, "result": self._good()}),
        )

    def _good(self) -> dict[str, Any]:
        result = text_result(PLANTED)
        if self.options.revision.era is Era.STATELESS:
            result["resultType"] = "complete"
        return result

    def _tool(self, name: str, members: Mapping[str, Any]) -> Tool:
        async def answer(call: Call, _arguments: Mapping[str, Any]) -> None:
            whole = {"jsonrpc": "2.0", "id": call.id, **members}
            sent = {key: value for key, value in whole.items() if value is not None}
            self.fault(name, call)
            await call.respond(sent)

        return Tool(
            name=name,
            description="Is answered by what is no response.",
            input_schema=_SCHEMA,
            handler=answer,
        )


PROFILES: tuple[type[Profile], ...] = (
    OpeningOtherId,
    OpeningNullId,
    OpeningTypedId,
    ListOtherId,
    ListNullId,
    ListTypedId,
    AnswersTwice,
    AnswersLate,
    NeverAnswersOpening,
    NeverAnswersList,
    MalformedAnswers,
)
