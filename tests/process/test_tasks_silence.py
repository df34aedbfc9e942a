"""A server that hands out tasks and then says nothing passes no check of ours."""

from __future__ import annotations

import itertools
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from mcpconf.supplemental.finding import Kind
from mcpconf.tasks_extension.definition import EXTENSION, REVISION
from mcpconf.tasks_extension.drive import run_scenario
from mcpconf.tasks_extension.observation import Observation
from mcpconf.tasks_extension.registry import SCENARIOS
from mcpconf.tasks_extension.rule import finding_of
from mcpconf.tasks_extension.traceability import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcpconf.server.exchange import Exchange
    from mcpconf.tasks_extension.definition import TaskScenario

#: What these look at is what becomes of tasks; the others look at how they begin.
OF_TASKS = [
    "tasks/notifications",
    "tasks/call-stream",
    "tasks/input",
    "tasks/partial",
    "tasks/cancellation",
    "tasks/immutability",
    "tasks/ttl",
    "tasks/consistency",
    "tasks/mrtr",
]
#: All that is needed for this is there.
_OF_CREATION = {"ids-are-distinct"}
_DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": [REVISION.value],
    "capabilities": {"tools": {}, "extensions": {EXTENSION: {}}},
}
_TIME = "2026-07-28T00:00:00Z"


class _Silent(BaseHTTPRequestHandler):
    """Says what it can do, makes tasks where it is asked to, and answers no more."""

    protocol_version = "HTTP/1.1"
    #: Of whatever else is asked; None: the connection is closed.
    status: int | None = None
    makes_tasks = True
    numbers: ClassVar[Iterator[int]] = itertools.count(1)

    def log_message(self, *_: object) -> None:
        """Say nothing here either."""

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        message = json.loads(self.rfile.read(length))
        result = self._result(message["method"])
        if result is None and self.status is None:
            self.close_connection = True
            return
        response = {"jsonrpc": "2.0", "id": message.get("id"), "result": result}
        body = b"" if result is None else json.dumps(response).encode()
        self.send_response(200 if result is not None else self.status or 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _result(self, method: str) -> dict[str, Any] | None:
        if method == "server/discover":
            return _DISCOVERED
        if method == "tools/list":
            return {
                "resultType": "complete",
                "tools": [{"name": each} for each in TOOLS],
            }
        if method != "tools/call" or not self.makes_tasks:
            return None
        times = {"createdAt": _TIME, "lastUpdatedAt": _TIME, "ttlMs": None}
        task = {
            "taskId": f"task-of-silence-{next(self.numbers)}",
            "status": "working",
            **times,
        }
        return {"resultType": "task", **task}


@contextmanager
def _serving(**members: object) -> Iterator[str]:
    handler = type("_Handler", (_Silent,), members)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/mcp"
        finally:
            server.shutdown()
            thread.join()


def _observed(scenario: TaskScenario, url: str) -> Observation:
    exchanges: list[Exchange] = []
    run_scenario(scenario, url, exchanges.append)
    return Observation(exchanges=tuple(exchanges))


SERVERS: Mapping[str, Mapping[str, object]] = {
    "closes": {"status": None},
    "answers-nothing": {"status": 200},
    "breaks": {"status": 500},
    "makes-no-task": {"status": 200, "makes_tasks": False},
}


@pytest.fixture(scope="module")
def held() -> Mapping[str, Mapping[str, str]]:
    """What holds all the same, by server; they are asked beside one another."""
    with ThreadPoolExecutor(len(SERVERS)) as pool:
        return dict(zip(SERVERS, pool.map(_held, SERVERS.values()), strict=True))


def _held(members: Mapping[str, object]) -> Mapping[str, str]:
    with _serving(**members) as url, ThreadPoolExecutor(len(OF_TASKS)) as pool:
        runs = {name: pool.submit(_observed, SCENARIOS[name], url) for name in OF_TASKS}
        seen = {name: run.result() for name, run in runs.items()}
    return {
        f"{name}:{check.id}": finding.detail
        for name in OF_TASKS
        for check in SCENARIOS[name].checks
        if check.id not in _OF_CREATION
        and (finding := finding_of(SCENARIOS[name], check, seen[name])).kind
        is Kind.HOLDS
    }


@pytest.mark.parametrize("server", SERVERS)
def test_silence_passes_nothing(
    server: str, held: Mapping[str, Mapping[str, str]]
) -> None:
    assert not held[server], held[server]
