"""
The 2026-07-28 layer over a client of HTTP: envelopes, headers, tasks.

Every request is whole in itself: version, client and capabilities are in its ``_meta``,
and the routing headers say what the body says, unless a drive asks for something else.
A session never judges; what it returns is for the drive to go on with. A step that
needs a task which was never created is not taken.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import re
import threading
import time
from http import HTTPStatus
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mcpconf import __version__
from mcpconf.server.exchange import How
from mcpconf.tasks_extension.definition import EXTENSION, REVISION
from mcpconf.tasks_extension.pace import LONGEST_S, USUAL_S, Pace, interval_s

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from mcpconf.decode import Json
    from mcpconf.server.exchange import Exchange
    from mcpconf.server.http import Client, OpenStream

    Members = Mapping[str, Any]

_META = "io.modelcontextprotocol"
#: What a client can do that declares the extension; and one that does not.
DECLARED: Members = MappingProxyType(
    {"elicitation": {}, "sampling": {}, "extensions": {EXTENSION: {}}}
)
UNDECLARED: Members = MappingProxyType({"elicitation": {}, "sampling": {}})


def named(name: str) -> Members:
    """``meta`` of a request by a client of this name, which is not the usual one."""
    client = {"name": f"mcpconf-{name}", "version": __version__}
    return MappingProxyType({f"{_META}/clientInfo": client})


#: Of a client that never declares the extension.
STRANGER = named("stranger")

TERMINAL = frozenset({"completed", "failed", "cancelled"})

#: Which parameter ``Mcp-Name`` repeats.
_NAMED = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
_PLAIN = re.compile(r"[!-~](?:[ -~\t]*[!-~])?")
_MARKED = re.compile(r"=\?base64\?.*\?=")
#: Seconds of work of a task that is to outlive its drive; it is cancelled then.
LONG_S = 600
_TIDY_S = 2.0
_SETTLE_S = 1.0
#: For one whole answer, where a drive does not say.
ANSWER_S = 10.0


class OutOfTime(Exception):  # noqa: N818 (it is no error of anybody's yet)
    """The drive's time is over; `args` names the request it was over before."""


def is_terminal(task: Members) -> bool:
    """Whether a task, as ``tasks/get`` tells it, will not change any more."""
    status = task.get("status")
    return isinstance(status, str) and status in TERMINAL


def header_value(text: str) -> str:
    """A value as a routing header carries it: marked base64 where it must be."""
    if _PLAIN.fullmatch(text) and not _MARKED.fullmatch(text):
        return text
    coded = base64.b64encode(text.encode("utf-8", "surrogatepass")).decode("ascii")
    return f"=?base64?{coded}?="


class Session:
    """Requests to one server; any thread may send them."""

    def __init__(self, client: Client, *, deadline_s: float = 60.0) -> None:
        """The drive is to be over `deadline_s` seconds from now."""
        self._client = client
        self._over_at = time.monotonic() + deadline_s
        self._ids = itertools.count(1)
        self._labels: set[str] = set()
        self._open: dict[str, None] = {}
        self._pause = threading.Event()
        self._pace = Pace()
        self._works_in_the_call = False

    def request(
        self,
        label: str,
        method: str,
        params: Members | None = None,
        *,
        declare: Members = DECLARED,
        headers: Mapping[str, str | None] | None = None,
        meta: Members | None = None,
        timeout_s: float = ANSWER_S,
    ) -> Exchange:
        """
        Send one request and read its whole answer.

        `headers` overrides by name (lower case); None leaves a header out. `meta` is
        added to ``_meta``.

        :raises OutOfTime: nothing was sent, the drive's time is over.
        """
        message = self._message(method, params, declare, meta)
        exchange = self._client.post(
            self._unused(label),
            _encoded(message),
            headers=self._headers(message, headers),
            timeout_s=self._within(label, timeout_s),
        )
        self._note(message, exchange)
        return exchange

    def call(
        self, label: str, tool: str, arguments: Members | None = None, **more: Any
    ) -> Exchange:
        """``tools/call``; `more` as for `request`, and `params` beside the tool."""
        params = {"name": tool, "arguments": dict(arguments or {})}
        return self.request(
            label, "tools/call", {**params, **more.pop("params", {})}, **more
        )

    def create(
        self, label: str, tool: str, arguments: Members | None = None, **more: Any
    ) -> str | None:
        """
        Call a tool; the id of the task it made, None where it made none.

        Where a tool is not done in time, it is asked once for no work at all: a server
        that does that in the call makes no tasks, and is given no more long work.
        """
        members = arguments or {}
        is_long = members.get("seconds", 0) > ANSWER_S
        if is_long and self._works_in_the_call:
            return None
        exchange = self.call(label, tool, members, **more)
        if is_long and exchange.how is How.TIMED_OUT and not self._works_in_the_call:
            short = self.call(f"{label}-short", tool, {**members, "seconds": 0}, **more)
            self._works_in_the_call = "content" in (result_in(short) or {})
        return task_id_of(exchange)

    def get(self, label: str, task_id: str | None, **more: Any) -> Exchange | None:
        """
        ``tasks/get``, not before the task's ``pollIntervalMs`` since the last is over.

        The first is sent at once; without an id nothing is sent.
        """
        while task_id is not None and (left_s := self._pace.left_s(task_id)) > 0:
            if time.monotonic() >= self._over_at:
                break  # what is sent now finds that itself
            self.wait(left_s)
        return self._of_task(label, "tasks/get", task_id, {}, more)

    def cancel(self, label: str, task_id: str | None, **more: Any) -> Exchange | None:
        """``tasks/cancel``; without an id nothing is sent."""
        return self._of_task(label, "tasks/cancel", task_id, {}, more)

    def update(
        self, label: str, task_id: str | None, responses: Members, **more: Any
    ) -> Exchange | None:
        """``tasks/update`` with these responses; without an id nothing is sent."""
        params = {"inputResponses": dict(responses)}
        return self._of_task(label, "tasks/update", task_id, params, more)

    def poll(
        self,
        label: str,
        task_id: str | None,
        until: Callable[[Members], bool] = is_terminal,
        *,
        at_most_s: float = 10.0,
    ) -> Exchange | None:
        """
        Ask for a task at its ``pollIntervalMs`` until it is as wanted; the last answer.

        Labels are ``<label>-1``, ``<label>-2`` and so on. It ends early at an answer
        that is no task, and else with the first answer after `at_most_s` seconds.
        """
        over_at = time.monotonic() + at_most_s
        for number in itertools.count(1):
            exchange = self.get(f"{label}-{number}", task_id)
            task = task_in(exchange)
            if task is None or until(task):
                return exchange
            left_s = over_at - time.monotonic()
            if left_s <= 0:
                return exchange
            self.wait(min(interval_s(task), left_s, LONGEST_S))
        raise AssertionError  # count() does not end

    def settle(self, label: str, task_id: str | None) -> Exchange | None:
        """
        Ask for a new task until it is known, for a second at the most; the last answer.

        That it is known at once is one scenario's affair; the others go on from here.
        """
        over_at = time.monotonic() + _SETTLE_S
        for number in itertools.count(1):
            exchange = self.get(f"{label}-{number}", task_id)
            if exchange is None or result_in(exchange) is not None:
                return exchange
            if time.monotonic() >= over_at:
                return exchange
            self.wait(USUAL_S)
        raise AssertionError  # count() does not end

    def listen(
        self,
        label: str,
        task_ids: Iterable[str],
        *,
        declare: Members = DECLARED,
        more: Members | None = None,
        name: str | None = None,
    ) -> OpenStream:
        """
        Open a ``subscriptions/listen`` stream for these tasks; `more` of its filter.

        `name` is a text to be the request's id, in place of the next number.

        :raises OutOfTime: nothing was sent, the drive's time is over.
        """
        wanted = {"taskIds": list(task_ids), **(more or {})}
        params = {"notifications": wanted}
        message = self._message("subscriptions/listen", params, declare, None)
        if name is not None:
            message["id"] = name
        return self._client.open(
            self._unused(label),
            _encoded(message),
            headers=self._headers(message, None),
            timeout_s=self._within(label, math.inf),
        )

    def notify(self, label: str, method: str, params: Members) -> Exchange:
        """
        Send a message that wants no answer, with the envelope of a request.

        :raises OutOfTime: nothing was sent, the drive's time is over.
        """
        message = self._message(method, params, DECLARED, None)
        del message["id"]
        return self._client.post(
            self._unused(label),
            _encoded(message),
            headers=self._headers(message, None),
            timeout_s=self._within(label, ANSWER_S),
        )

    def wait(self, seconds: float) -> None:
        """Let time pass that a rule is about; a bounded wait for nothing."""
        self._pause.wait(max(0.0, min(seconds, self._over_at - time.monotonic())))

    def tidy(self) -> None:
        """Cancel every task that was created and not seen to end."""
        for number, task_id in enumerate(tuple(self._open), 1):
            self.cancel(f"tidy-{number}", task_id, timeout_s=_TIDY_S)

    def _of_task(
        self,
        label: str,
        method: str,
        task_id: str | None,
        params: Members,
        more: Mapping[str, Any],
    ) -> Exchange | None:
        if task_id is None:
            return None
        return self.request(label, method, {"taskId": task_id, **params}, **more)

    def _unused(self, label: str) -> str:
        if label in self._labels:
            raise ValueError(f"{label}: two exchanges of a drive have this label")
        self._labels.add(label)
        return label

    def _within(self, label: str, timeout_s: float) -> float:
        left_s = self._over_at - time.monotonic()
        if left_s <= 0:
            raise OutOfTime(label)
        return min(timeout_s, left_s)

    def _message(
        self,
        method: str,
        params: Members | None,
        declare: Members,
        meta: Members | None,
    ) -> dict[str, Json]:
        return {
            "jsonrpc": "2.0",
            "id": next(self._ids),
            "method": method,
            "params": {
                **(params or {}),
                "_meta": {
                    f"{_META}/protocolVersion": REVISION.value,
                    f"{_META}/clientInfo": {"name": "mcpconf", "version": __version__},
                    f"{_META}/clientCapabilities": dict(declare),
                    **(meta or {}),
                },
            },
        }

    def _headers(
        self, message: Mapping[str, Any], changes: Mapping[str, str | None] | None
    ) -> dict[str, str]:
        method, params = message["method"], message["params"]
        headers: dict[str, str | None] = {
            "mcp-protocol-version": REVISION.value,
            "mcp-method": method,
        }
        name = params.get(_NAMED.get(method, ""))
        if isinstance(name, str):
            headers["mcp-name"] = header_value(name)
        headers |= changes or {}
        return {key: value for key, value in headers.items() if value is not None}

    def _note(self, message: Mapping[str, Any], exchange: Exchange) -> None:
        """Remember the tasks that are there, and when they can be asked for again."""
        method, result = message["method"], task_in(exchange)
        asked = message["params"].get("taskId")
        named = task_id_of(exchange) if method == "tools/call" else asked
        if isinstance(named, str):
            self._pace.told(named, result or {})
            if method == "tasks/get":
                self._pace.asked(named)
        if method == "tools/call" and (task_id := task_id_of(exchange)) is not None:
            if not is_terminal(result or {}):
                self._open[task_id] = None
        elif result is None or not isinstance(asked, str):
            return
        elif method == "tasks/cancel" or is_terminal(result):
            self._open.pop(asked, None)


def _encoded(message: Mapping[str, Json]) -> bytes:
    """As bytes: a server's own text may come back that UTF-8 cannot write."""
    return json.dumps(message).encode("ascii")


def result_in(exchange: Exchange | None) -> Members | None:
    """The result of an answer; a refusal by HTTP status has none, whatever it holds."""
    if exchange is None or exchange.status != HTTPStatus.OK:
        return None
    return exchange.result


def task_in(exchange: Exchange | None) -> Members | None:
    """The task that an answer tells of, also where it is nested; None: no result."""
    result = result_in(exchange)
    nested = (result or {}).get("task")
    is_nested = isinstance(nested, dict) and "taskId" not in (result or {})
    return nested if is_nested else result


def tells_of_task(exchange: Exchange | None) -> bool:
    """Whether an answer has a task, right or wrong, and is not just an object."""
    return not {"taskId", "status"}.isdisjoint(task_in(exchange) or {})


def task_id_of(exchange: Exchange | None) -> str | None:
    """
    The id of the task that an answer hands out; None where it hands out none.

    Also of one that is not handed out as it must be, under ``task`` or without its
    ``resultType``: that is one check's affair, and the others go on.
    """
    task_id = (task_in(exchange) or {}).get("taskId")
    return task_id if isinstance(task_id, str) and task_id else None
