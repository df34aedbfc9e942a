"""The tasks extension over HTTP, where connections, statuses and streams are real."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any

import pytest
from fixture_tasks import EXTENSION, FULL, INFO, NONE, PREFIX, Json, Kept, accept

from mcpconf.fixture_server.inprocess import Running, serving
from mcpconf.fixture_server.options import Limits, Options
from mcpconf.revision import Revision
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from http.client import HTTPResponse

LONG: Json = {"name": "slow_compute", "arguments": {"seconds": 3000}}
QUICK: Json = {"name": "slow_compute", "arguments": {"seconds": 2}}
LISTEN = "subscriptions/listen"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


@contextmanager
def server(*profiles: str, log: Kept | None = None) -> Iterator[Running]:
    """A server whose seconds are short."""
    options = Options(
        revision=Revision.V2026_07_28,
        transport=Transport.HTTP,
        profiles=("tasks", *profiles),
        limits=Limits(task_second_s=0.02),
    )
    with serving(options, log) as running:
        yield running


class Client:
    """One connection, for one request after the other."""

    def __init__(self, running: Running, request_id: Json = 1) -> None:
        self._connection = HTTPConnection("127.0.0.1", running.port, timeout=20)
        self.id = request_id

    def post(
        self,
        method: str,
        params: Mapping[str, Json],
        *,
        name: str | None = None,
        declare: Mapping[str, Json] = FULL,
        called: str | None = None,
        **meta: Json,
    ) -> HTTPResponse:
        """Send a request; the answer's head has come."""
        told = {
            f"{PREFIX}protocolVersion": "2026-07-28",
            f"{PREFIX}clientCapabilities": declare,
            f"{PREFIX}clientInfo": INFO,
            **meta,
        }
        message = {"jsonrpc": "2.0", "id": self.id, "method": method}
        body = {**message, "params": {**params, "_meta": told}}
        name = name or params.get("name") or params.get("taskId")
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": called or method,
            **({"Mcp-Name": name} if name else {}),
        }
        self._connection.request("POST", "/mcp", json.dumps(body), headers)
        return self._connection.getresponse()

    def ask(self, method: str, params: Mapping[str, Json], **more: Json) -> Json:
        """HTTP's status and the response, which is not on a stream."""
        answer = self.post(method, params, **more)
        assert answer.headers["Content-Type"] == "application/json"
        return answer.status, json.loads(answer.read())

    def create(self, params: Json, **more: Json) -> str:
        """The id of a new task."""
        _, answer = self.ask("tools/call", params, **more)
        return str(answer["result"]["taskId"])

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def events(stream: HTTPResponse) -> Iterator[Json]:
    """The messages of an event stream, as they come."""
    assert stream.headers["Content-Type"] == "text/event-stream"
    for line in stream:
        if line.startswith(b"data:"):
            yield json.loads(line[5:])


def told(stream: HTTPResponse) -> Iterator[Json]:
    """The params of notifications up to that of the task's end."""
    for message in events(stream):
        yield message["params"]
        if message["params"].get("status") in ("completed", "failed", "cancelled"):
            return


def listening(client: Client, *ids: str) -> Iterator[Json]:
    """What a subscription is told; it is acknowledged."""
    stream = client.post(LISTEN, {"notifications": {"taskIds": list(ids)}})
    heard = told(stream)
    first = next(heard)
    assert first["notifications"] == {"taskIds": list(ids)}
    return heard


@pytest.mark.parametrize(
    ("method", "declare", "name", "expected"),
    [
        ("tasks/get", FULL, "other", (400, -32020)),
        ("tasks/get", FULL, None, (400, -32602)),
        ("tasks/get", NONE, None, (400, -32021)),
        ("tasks/update", NONE, None, (400, -32021)),
        ("tasks/cancel", NONE, None, (400, -32021)),
        ("tasks/result", FULL, None, (404, -32601)),
        ("tasks/list", FULL, None, (404, -32601)),
    ],
)
def test_a_refusal_has_its_status(
    method: str, declare: Json, name: str | None, expected: tuple[int, int]
) -> None:
    with server() as running, closing(Client(running)) as client:
        params = {"taskId": "a", "inputResponses": {}}
        status, answer = client.ask(method, params, declare=declare, name=name)
        assert (status, answer["error"]["code"]) == expected


@pytest.mark.parametrize("request_id", [7, "7"])
def test_a_subscription_hears_of_a_task_to_its_end(request_id: Json) -> None:
    with (
        server() as running,
        closing(Client(running)) as client,
        closing(Client(running, request_id)) as listener,
    ):
        task = client.create({"name": "multi_input", "arguments": {}})
        heard = listening(listener, task)
        statuses = []
        for each in heard:
            statuses.append(each["status"])
            assert each["_meta"] == {f"{PREFIX}subscriptionId": request_id}
            if each["status"] == "input_required":
                (key, *_) = each["inputRequests"]
                answers = {key: accept(confirm=True)}
                params = {"taskId": task, "inputResponses": answers}
                assert client.ask("tasks/update", params)[0] == 200
        assert statuses == ["input_required", "input_required", "working", "completed"]
        _, answer = client.ask("tasks/get", {"taskId": task})
        assert answer["result"]["result"] == each["result"]


def test_a_task_is_found_at_once_however_many_are_made() -> None:
    def one(running: Running) -> str:
        with closing(Client(running)) as client:
            task = client.create(LONG)
            status, answer = client.ask("tasks/get", {"taskId": task})
            assert (status, answer["result"]["taskId"]) == (200, task)
            return task

    with server() as running, ThreadPoolExecutor(50) as pool:
        tasks = set(pool.map(one, [running] * 50))
    assert len(tasks) == 50


def test_tasks_made_at_the_same_time_share_an_id_with_the_fault() -> None:
    with server("tasks-ids-collide") as running, ThreadPoolExecutor(20) as pool:
        clients = [Client(running) for _ in range(20)]
        tasks = set(pool.map(lambda each: each.create(LONG), clients))
        for each in clients:
            each.close()
    assert len(tasks) < 20


def test_a_task_outlives_the_connection_that_made_it() -> None:
    with server() as running, closing(Client(running)) as listener:
        with closing(Client(running)) as client:
            task = client.create({**LONG, "arguments": {"seconds": 50}})
            heard = listening(listener, task)
        assert [each["status"] for each in heard] == ["completed"]


def test_the_end_of_its_stream_ends_a_task_with_the_fault() -> None:
    log = Kept()
    with (
        server("tasks-close-cancels", log=log) as running,
        closing(Client(running)) as listener,
        closing(Client(running)) as client,
    ):
        stream = client.post("tools/call", LONG, progressToken="a")
        created = next(events(stream))
        heard = listening(listener, created["result"]["taskId"])
        stream.close()
        client.close()
        assert [each["status"] for each in heard] == ["cancelled"]
    assert [profile for profile, _ in log.faults] == ["tasks-close-cancels"]


@pytest.mark.parametrize("profiles", [(), ("tasks-method-unchecked",)])
def test_mcp_method_is_the_method_but_with_the_fault(profiles: tuple[str, ...]) -> None:
    log = Kept()
    with server(*profiles, log=log) as running, closing(Client(running)) as client:
        asked = {"taskId": client.create(LONG)}
        status, answer = client.ask("tasks/get", asked, called="tasks/cancel")
        if profiles:
            assert (status, answer["result"]["status"]) == (200, "working")
        else:
            assert (status, answer["error"]["code"]) == (400, -32020)
        status, answer = client.ask("tasks/get", asked, name="other")
        assert (status, answer["error"]["code"]) == (400, -32020), "the name is checked"
        assert client.ask("tasks/get", asked)[0] == 200
    assert [profile for profile, _ in log.faults] == list(profiles)


def test_a_result_comes_on_a_stream_where_a_fault_sends_something_first() -> None:
    with server("tasks-progress-on-create") as running:
        with closing(Client(running)) as client:
            stream = client.post("tools/call", QUICK, progressToken="a")
            first, second = events(stream)
        assert first["method"] == "notifications/progress"
        assert second["result"]["resultType"] == "task"


def test_a_call_that_wants_progress_gets_its_task_alone_on_a_stream() -> None:
    """And neither who wants none, nor a call that makes no task."""
    hello: Json = {"name": "greet", "arguments": {"name": "a"}}
    with server() as running, closing(Client(running)) as client:
        (only,) = events(client.post("tools/call", QUICK, progressToken="a"))
        assert only["result"]["resultType"] == "task"
        assert client.create(QUICK)
        assert client.ask("tools/call", hello, progressToken="a")[0] == 200
        quick: Json = {"declare": NONE, "progressToken": "a"}
        assert client.ask("tools/call", QUICK, **quick)[0] == 200


def test_a_subscription_ends_after_its_acknowledgement_with_the_fault() -> None:
    log = Kept()
    with (
        server("tasks-listen-closes", log=log) as running,
        closing(Client(running)) as client,
        closing(Client(running)) as listener,
    ):
        asked = {"notifications": {"taskIds": [client.create(LONG)]}}
        (only,) = events(listener.post(LISTEN, asked))
        assert only["method"] == ACKNOWLEDGED
    assert [profile for profile, _ in log.faults] == ["tasks-listen-closes"]


def test_a_closed_subscription_leaves_the_server_in_order() -> None:
    with server() as running, closing(Client(running)) as client:
        task = client.create(LONG)
        with closing(Client(running)) as listener:
            listening(listener, task)
        with closing(Client(running)) as other:
            heard = listening(other, task)
            client.ask("tasks/cancel", {"taskId": task})
            assert [each["status"] for each in heard] == ["cancelled"]


def test_the_extension_is_advertised() -> None:
    with server() as running, closing(Client(running)) as client:
        _, answer = client.ask("server/discover", {})
        capabilities: Mapping[str, Any] = answer["result"]["capabilities"]
        assert capabilities["extensions"][EXTENSION] == {}
