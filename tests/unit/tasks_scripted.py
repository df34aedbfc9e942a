"""A session over a client that answers from a script."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from mcpconf.server.exchange import Exchange, Form, How, Received
from mcpconf.tasks_extension.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcpconf.server.http import Client

ANSWER = Exchange(
    label="",
    t0_ms=0.0,
    t1_ms=1.0,
    method="POST",
    sent_headers={},
    sent={},
    status=200,
    headers={},
    form=Form.JSON,
    received=(),
    text=None,
    how=How.COMPLETE,
    problem=None,
)


class Scripted:
    """A client that answers from a script and notes what it was asked to send."""

    def __init__(self, answer: Callable[[Mapping[str, Any]], Any]) -> None:
        self._answer = answer
        self.sent: list[Mapping[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self.timeouts: list[float] = []

    def post(
        self, label: str, body: bytes, *, headers: Any, timeout_s: float
    ) -> Exchange:
        message = json.loads(body)
        self.sent.append(message)
        self.headers.append(headers)
        self.timeouts.append(timeout_s)
        answer = {"jsonrpc": "2.0", "id": message["id"], **self._answer(message)}
        return replace(
            ANSWER,
            label=label,
            sent_headers=headers,
            sent=message,
            status=200 if "result" in answer else 400,
            received=(Received(t_ms=1.0, message=answer),),
        )

    def methods(self) -> list[str]:
        return [each["method"] for each in self.sent]


def session_of(scripted: Scripted, **more: float) -> Session:
    return Session(cast("Client", scripted), **more)


def task(**members: Any) -> dict[str, Any]:
    return {"result": {"taskId": "t", "status": "working", **members}}


def working(message: Mapping[str, Any]) -> dict[str, Any]:
    is_call = message["method"] == "tools/call"
    return task(resultType="task" if is_call else "complete", pollIntervalMs=1)
