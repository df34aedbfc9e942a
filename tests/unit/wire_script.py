"""Writes the witness's log as the witness does, exchange by exchange."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from mcpconf.wire import WireLog, parse_wire

META = "io.modelcontextprotocol/"
JSON_TYPE = {"content-type": "application/json"}
STREAM_TYPE = {"content-type": "text/event-stream; charset=utf-8"}


def request(method: str, number: object = 1, **params: object) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "id": number, "method": method}
    return {**message, "params": params} if params else message


def notification(method: str, **params: object) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "method": method}
    return {**message, "params": params} if params else message


def result(number: object = 1, **members: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": members}


def error(
    number: object = 1, code: object = -32601, text: object = "no"
) -> dict[str, Any]:
    fault = {"code": code, "message": text}
    return {"jsonrpc": "2.0", "id": number, "error": fault}


def stateless(method: str, number: object = 1, **params: object) -> dict[str, Any]:
    """A request of 2026-07-28."""
    version = params.pop("version", "2026-07-28")
    meta = {f"{META}protocolVersion": version, f"{META}clientCapabilities": {}}
    return request(method, number, _meta=meta, **params)


def initialize(version: str, number: object = 1) -> dict[str, Any]:
    return request(
        "initialize",
        number,
        protocolVersion=version,
        capabilities={},
        clientInfo={"name": "a client", "version": "1"},
    )


def event(*messages: object) -> str:
    return "".join(f"data: {json.dumps(message)}\n\n" for message in messages)


def _body(value: object) -> str:
    return "" if value is None else json.dumps(value)


@dataclass
class Script:
    """A log in the making; each exchange comes after the one before it."""

    records: list[dict[str, Any]] = field(default_factory=list)
    clock: float = 0.0
    count: int = 0

    def put(self, kind: str, **members: object) -> Script:
        self.clock += 1
        self.records.append({"type": kind, "t": self.clock, **members})
        return self

    def listen(self, port: int = 1) -> Script:
        return self.put("listen", port=port)

    def exchange(
        self,
        body: object = "",
        answer: object = None,
        *,
        method: str = "POST",
        url: str = "/mcp",
        port: int = 1,
        headers: dict[str, Any] | None = None,
        status: int | None = 200,
        response_headers: dict[str, Any] | None = None,
        ended: str | None = "finished",
        **request_members: object,
    ) -> Script:
        """
        One exchange. An `answer` that is text is a stream, any other is JSON.

        `status` None: no head was written. `ended` None: the log stops before the end.
        """
        self.count += 1
        text = body if isinstance(body, str) else json.dumps(body)
        members = {
            "remote_port": 2,
            "http": "1.1",
            "method": method,
            "url": url,
            "headers": {**JSON_TYPE, **(headers or {})},
            "body": text,
            "bytes": len(text),
            "truncated": False,
            "aborted": False,
            **request_members,
        }
        self.put("request", id=self.count, port=port, **members)
        if status is not None:
            is_stream = isinstance(answer, str)
            kind = STREAM_TYPE if is_stream else JSON_TYPE if answer else {}
            heads = {**kind, **(response_headers or {})}
            self.put("response-start", id=self.count, status=status, headers=heads)
        if ended is not None:
            text = answer if isinstance(answer, str) else _body(answer)
            self.put(
                "response",
                id=self.count,
                body=text,
                bytes=len(text),
                truncated=False,
                ended=ended,
            )
        return self

    def text(self) -> str:
        return "".join(json.dumps(record) + "\n" for record in self.records)

    def log(self) -> WireLog:
        return parse_wire(self.text(), "wire.jsonl")
