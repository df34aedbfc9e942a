"""
One ``codex app-server`` and the JSON lines spoken with it.

Requests carry ids from 1 and no ``jsonrpc`` member. While an answer is awaited,
notifications are kept in order and requests of the server are answered by kind; a
request of an unknown kind is our gap, not the client's, and ends the drive.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
import time

from mcpconf.client.job import ClientError, signal_name

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import IO, Any, Self

    from mcpconf.client.job import Record

    Message = dict[str, Any]

#: A longer line is cut and then refused as JSON; honest ones stay under 1 MiB.
_MAX_LINE = 32 * 1024 * 1024
_TERM_S = 1.0


class AdapterGap(Exception):  # noqa: N818 (names our gap, not an error of the client)
    """The app-server asked for something this driver does not know."""


class Silence(ClientError):  # noqa: N818 (what happened, and to many not an error)
    """The app-server did not say in time what was awaited of it."""


class AppServer:
    """A running app-server; use as a context manager."""

    def __init__(
        self,
        record: Record,
        environment: Mapping[str, str],
        elicit: Callable[[Message], Message],
        budget_s: Callable[[], float] | None = None,
    ) -> None:
        """
        Start it; `budget_s` tells how long one request may take, else the record does.

        :raises ClientError: it cannot be started.
        """
        self._record = record
        self._elicit = elicit
        self._budget_s = budget_s or record.budget_s
        self._next_id = 1
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.events: list[Message] = []
        stderr_path = os.path.join(record.job.home, "app-server-stderr.txt")
        with open(stderr_path, "wb") as stderr:
            try:
                self._process = subprocess.Popen(
                    [*record.job.argv, "app-server"],
                    cwd=record.job.cwd,
                    env=dict(environment),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                )
            except OSError as error:
                record.ended("failed-to-start")
                raise ClientError(f"app-server did not start: {error}") from None
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:  # both are pipes: asked for just above
            raise AdapterGap("the app-server has no pipes")
        self._stdin: IO[bytes] = stdin
        self._stdout: IO[bytes] = stdout
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    def notify(self, method: str) -> None:
        """Send a notification without parameters."""
        self._send({"method": method})

    def request(self, method: str, params: Mapping[str, Any]) -> Message:
        """
        Send a request and return its whole answer (``result`` or ``error``).

        :raises Silence: no answer within the request's budget.
        :raises ClientError: a closed pipe.
        """
        request_id = self._next_id
        self._next_id += 1
        self._send({"id": request_id, "method": method, "params": dict(params)})
        deadline = time.monotonic() + self._budget_s()
        while True:
            message = self._receive(deadline, f"an answer to {method}")
            if message.get("id") == request_id and "method" not in message:
                return message
            self._other(message)

    def result(self, method: str, params: Mapping[str, Any]) -> Message:
        """
        Like `request`, but an error answer is the client's failure.

        :raises ClientError: as `request`, and for an error answer.
        """
        answer = self.request(method, params)
        result = answer.get("result")
        if not isinstance(result, dict):
            raise ClientError(f"{method}: {describe(answer)}")
        return result

    def wait_for(
        self,
        method: str,
        accept: Callable[[Message], bool],
        *,
        since: int,
        limit_s: float | None = None,
    ) -> Message:
        """
        The parameters of the first accepted notification after event `since`.

        :raises Silence: none came within the request's budget, or within `limit_s`.
        """
        budget_s = self._budget_s()
        deadline = time.monotonic() + min(budget_s, limit_s or budget_s)
        seen = since
        while True:
            while seen < len(self.events):
                event = self.events[seen]
                seen += 1
                params = event.get("params")
                if event.get("method") != method or not isinstance(params, dict):
                    continue
                if accept(params):
                    return params
            self._other(self._receive(deadline, method))

    def _other(self, message: Message) -> None:
        if "id" in message and "method" in message:
            self._answer(message)
        else:
            self.events.append(message)

    def _answer(self, request: Message) -> None:
        method = request["method"]
        params = request.get("params")
        if method == "mcpServer/elicitation/request" and isinstance(params, dict):
            self.events.append(request)
            self._send({"id": request["id"], "result": self._elicit(params)})
            return
        raise AdapterGap(f"app-server asked for {method}, which this driver lacks")

    def _send(self, message: Message) -> None:
        line = json.dumps(message, ensure_ascii=False).encode("utf-8") + b"\n"
        try:
            self._stdin.write(line)
            self._stdin.flush()
        except OSError as error:
            raise ClientError(f"app-server closed its stdin: {error}") from None

    def _receive(self, deadline: float, awaited: str) -> Message:
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise Silence(f"timed out waiting for {awaited}") from None
            if not line:
                self._lines.put(line)  # the end stays the end for later readers
                raise ClientError(f"app-server closed its stdout before {awaited}")
            if not line.strip():
                continue
            try:
                message = json.loads(line)
            except ValueError:
                raise ClientError(
                    f"app-server wrote a line that is not JSON: {line[:200]!r}"
                ) from None
            if isinstance(message, dict):
                return message

    def _read(self) -> None:
        """Queue every line of stdout, then an empty one for its end."""
        while True:
            line = self._stdout.readline(_MAX_LINE)
            self._lines.put(line)
            if not line:
                return

    def close(self) -> None:
        """Close stdin and see the app-server leave by itself."""
        process, record = self._process, self._record
        with contextlib.suppress(OSError):
            self._stdin.close()
        try:
            status = process.wait(max(1.0, min(5.0, record.remaining_s())))
        except subprocess.TimeoutExpired:
            # Told first: it is the last chance for it to end its own servers.
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_TERM_S)
            process.kill()
            process.wait()
            record.step("app-server-exit", "did not leave at end of input", ok=False)
            record.ended("timed-out")
            return
        if status < 0:
            name = signal_name(-status)
            record.step("app-server-exit", f"killed by {name}", ok=False)
            record.ended("signalled", signal=name)
            return
        record.step("app-server-exit", f"exit {status}", ok=status == 0)
        record.ended("exited", exit_code=status)


def describe(answer: Message) -> str:
    """An answer in one bounded line, for a step's detail."""
    return json.dumps(answer.get("error", answer.get("result")), ensure_ascii=False)[
        :1000
    ]
