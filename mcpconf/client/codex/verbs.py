"""
The verbs of ``docs/launch.md``, each done by requests to one ``codex app-server``.

One app-server and one thread serve the whole drive. A server is connected by putting it
into the configuration, and closed by taking it out again, while the app-server lives.
"""

from __future__ import annotations

import time

from mcpconf.client import residue
from mcpconf.client.codex.app_server import AdapterGap, AppServer, Silence, describe
from mcpconf.client.codex.failure import step_error
from mcpconf.client.codex.registration import codex_environment
from mcpconf.client.codex.servers import NAMES
from mcpconf.client.codex.session import Session, schema_defaults
from mcpconf.client.job import Unsupported
from mcpconf.client.steps import StepError, StepTimedOut

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mcpconf.client.codex.app_server import Message
    from mcpconf.client.codex.model import Model
    from mcpconf.client.codex.servers import Servers
    from mcpconf.client.job import Record
    from mcpconf.client.steps import Results, Step

#: What the app-server of 0.171.0 has no request for.
_LACKS = {
    "prompt": "Codex's app-server has no request that gets a prompt",
    "listen": "Codex's app-server streams the events of hosted apps alone",
    "await": "Codex's app-server passes no notification of a server on to its host",
}
_LOG_LEVEL = "io.modelcontextprotocol/logLevel"
_STARTUP = "mcpServer/startupStatus/updated"
#: The events that would carry a server's own notifications.
_PROGRESS = "item/mcpToolCall/progress"
_STREAM = "mcpServer/event/stream/notification"
_SETTLE_S, _POLL_S = 1.0, 0.01
_FORMS = frozenset({"form", "openai/form", "openaiForm"})


class Host:
    """What a user's program does with Codex."""

    def __init__(
        self,
        record: Record,
        results: Results,
        servers: Servers,
        model: Model | None,
    ) -> None:
        """`model` is who makes the calls that are cancelled; None: there are none."""
        self._record, self._results, self._servers = record, results, servers
        self._model = model
        self._app: AppServer | None = None
        self._session: Session | None = None
        self._last: str | None = None
        #: Servers that the app-server was told of, whether they came up or not.
        self._known: set[str] = set()
        #: Why a server could not be connected at all.
        self._unable: dict[str, str] = {}
        self._switched = False
        self._answer: Mapping[str, Any] = {}
        self._elicitations: list[Message] = []
        self._verbs = {
            "connect": self._connect,
            "list": self._list,
            "call": self._call,
            "read": self._read,
            "cancel": self._cancel,
            "close": self._close,
        }

    def act(self, step: Step) -> dict[str, Any]:
        """
        Do one step; its value.

        :raises StepError: Codex says that it failed.
        :raises Unsupported: Codex has no way to do it.
        :raises StepTimedOut: Codex said nothing for as long as a step may take.
        """
        verb = step["verb"]
        if verb in _LACKS:
            raise Unsupported(_LACKS[verb])
        if verb not in self._verbs:
            raise AdapterGap(f"a step with the unknown verb {verb!r}")
        try:
            return self._verbs[verb](step)
        except Silence as problem:
            raise StepTimedOut(f"{step['id']}: {problem}") from None

    def end(self) -> None:
        """Let the app-server leave."""
        if self._app is not None:
            self._app.close()

    def _connect(self, step: Step) -> dict[str, Any]:
        server = step["server"]
        if server in self._known:  # anew: what there was is closed first
            self._servers.remove(server)
            self._follow()
        self._last = server
        self._take_up(server, step.get("offer"))
        self._servers.write()
        session = self._opened()
        since = len(session.server.events)
        self._switch(session)
        self._known.add(server)
        if session.thread_id:
            session.server.result("config/mcpServer/reload", {})
        else:
            session.new_thread()
        state = self._startup(session, NAMES[server], since)
        if state["status"] != "ready":
            # Else every later reload would start it once more.
            self._servers.remove(server)
            raise step_error(str(state.get("error") or state["status"]))
        return self._introduction(session, server)

    def _take_up(self, server: str, offer: str | None) -> None:
        self._unable.pop(server, None)
        try:
            self._servers.add(server, offer)
        except Unsupported as why:
            self._unable[server] = str(why)
            raise

    def _opened(self) -> Session:
        if self._session is None:
            self._app = AppServer(
                self._record,
                codex_environment(self._record),
                self._elicit,
                self._results.remaining_s,
            )
            self._results.pid = self._app.pid
            self._session = Session(self._record, self._app, {})
            self._session.initialise()
        return self._session

    def _switch(self, session: Session) -> None:
        if self._servers.feature is not self._switched:
            session.switch_feature(on=self._servers.feature)
            self._switched = self._servers.feature

    def _startup(self, session: Session, name: str, since: int) -> Message:
        # A server that was already there is said to be ready again at every reload.
        started = []

        def is_settled(params: Message) -> bool:
            if params.get("name") != name:
                return False
            if params.get("status") == "starting":
                started.append(params)
                return False
            return bool(started)

        return session.server.wait_for(_STARTUP, is_settled, since=since)

    def _follow(self) -> None:
        self._servers.write()
        session = self._session
        if session is not None and session.thread_id:
            session.server.result("config/mcpServer/reload", {})

    def _introduction(self, session: Session, server: str) -> dict[str, Any]:
        entry: Mapping[str, Any] = {}
        # Over HTTP the inventory looks for authorization: traffic nobody asked for.
        if "argv" in self._record.job.servers[server]:
            entry = self._inventory(session, server, "toolsAndAuthOnly")
        return {
            "protocolVersion": None,
            "serverInfo": entry.get("serverInfo"),
            "capabilities": entry.get("serverCapabilities"),
            "instructions": None,
        }

    def _target(self, step: Step) -> tuple[Session, str]:
        server = step.get("server") or self._last
        if server in self._unable:
            raise Unsupported(f"not connected: {self._unable[server]}")
        if server is None or self._session is None:
            raise AdapterGap(f"{step['id']} comes before any connect")
        return self._session, server

    def _inventory(
        self, session: Session, server: str, detail: str
    ) -> Mapping[str, Any]:
        params = {
            "detail": detail,
            "serverName": NAMES[server],
            "threadId": session.thread_id,
        }
        answer = _result(session.server.request("mcpServerStatus/list", params))
        for entry in answer.get("data", ()):
            if entry.get("name") == NAMES[server]:
                found: Mapping[str, Any] = entry
                return found
        raise StepError("other", f"{NAMES[server]} is not in the inventory")

    def _list(self, step: Step) -> dict[str, Any]:
        session, server = self._target(step)
        what = step["what"]
        if what == "prompts":
            raise Unsupported("Codex's app-server lists no prompts")
        detail = "toolsAndAuthOnly" if what == "tools" else "full"
        entry = self._inventory(session, server, detail)
        problem = entry.get("toolsError")
        if problem and (what == "tools" or entry.get("runtimeStatus") == "failed"):
            raise step_error(str(problem))
        found = entry.get(what) or ()
        return {"items": list(found.values() if isinstance(found, dict) else found)}

    def _call(self, step: Step) -> dict[str, Any]:
        session, server = self._target(step)
        limit_s = step.get("timeout_s") or self._record.job.request_timeout_s
        if self._servers.limit_tools(server, limit_s):
            self._follow()
        meta = dict(step.get("meta") or {})
        if step.get("progress"):
            meta["progressToken"] = step["id"]
        if step.get("log_level"):
            meta[_LOG_LEVEL] = step["log_level"]
        params: dict[str, Any] = {
            "threadId": session.thread_id,
            "server": NAMES[server],
            "tool": step["tool"],
            "arguments": step["arguments"],
        }
        if meta:
            params["_meta"] = meta
        self._answer = step.get("answer") or {}
        self._elicitations = []
        since = len(session.server.events)
        result = _result(session.server.request("mcpServer/tool/call", params))
        return {
            "result": result,
            "notifications": _surfaced(session.server.events[since:]),
            "elicitations": self._elicitations,
        }

    def _read(self, step: Step) -> dict[str, Any]:
        session, server = self._target(step)
        params = {
            "threadId": session.thread_id,
            "server": NAMES[server],
            "uri": step["uri"],
        }
        result = _result(session.server.request("mcpServer/resource/read", params))
        return {"contents": result.get("contents")}

    def _cancel(self, step: Step) -> dict[str, Any]:
        """
        Interrupt a turn in which the model calls the tool.

        ``mcpServer/tool/call`` cannot be interrupted: a turn is what a user can stop.
        """
        session, server = self._target(step)
        if self._model is None:
            raise AdapterGap("a call to be cancelled, and no model to make it")
        # The client's own time-out must not come first.
        limit_s = step["after_s"] + self._record.job.request_timeout_s
        if self._servers.limit_tools(server, limit_s):
            self._follow()
        self._answer, self._elicitations = {}, []
        self._model.script(NAMES[server], step["tool"], step["arguments"])
        app, thread = session.server, session.thread_id
        since = len(app.events)
        turn = {"input": [{"type": "text", "text": "go"}], "threadId": thread}
        begun = _result(app.request("turn/start", turn))
        app.wait_for("item/started", _is_tool_call, since=since)
        try:
            app.wait_for(
                "turn/completed", _always, since=since, limit_s=step["after_s"]
            )
        except Silence:
            ids = {"threadId": thread, "turnId": begun["turn"]["id"]}
            _result(app.request("turn/interrupt", ids))
            app.wait_for("turn/completed", _always, since=since)
            return {}
        raise StepError("other", "the call had ended before it was to be cancelled")

    def _close(self, _step: Step) -> dict[str, Any]:
        self._servers.clear()
        self._known.clear()
        self._follow()
        self._settle()
        return {}

    def _settle(self) -> None:
        """Give the servers a moment to end, so that what stays is what was left."""
        deadline = time.monotonic() + min(_SETTLE_S, self._results.remaining_s())
        pid = self._results.pid
        while pid is not None and time.monotonic() < deadline:
            if not residue.descendants(pid):
                return
            time.sleep(_POLL_S)

    def _elicit(self, params: Message) -> Message:
        """
        The host's answer, as the step says; else a form is accepted with its defaults.

        :raises AdapterGap: a kind this driver does not know.
        """
        mode = params.get("mode")
        if mode not in _FORMS | {"url"}:
            raise AdapterGap(f"elicitation of unknown mode {mode!r}")
        self._elicitations.append(params)
        # Nobody is there to visit an address.
        action = self._answer.get("action", "decline" if mode == "url" else "accept")
        content = self._answer.get("content", "defaults")
        if action != "accept" or mode == "url":
            content = None
        elif content == "defaults":
            schema = params.get("requestedSchema")
            content = schema_defaults(schema if isinstance(schema, dict) else {})
        return {"action": action, "content": content, "_meta": None}


def _is_tool_call(params: Message) -> bool:
    item = params.get("item")
    return isinstance(item, dict) and item.get("type") == "mcpToolCall"


def _always(_params: Message) -> bool:
    return True


def _result(answer: Message) -> Message:
    """
    The result of an answer.

    :raises StepError: there is none.
    """
    result = answer.get("result")
    if isinstance(result, dict):
        return result
    error = answer.get("error")
    if not isinstance(error, dict):
        raise step_error(describe(answer))
    raise step_error(str(error.get("message")), error.get("code"))


def _surfaced(events: list[Message]) -> list[Message]:
    """What of these events a server had said, in the protocol's own words."""
    found = []
    for event in events:
        params = event.get("params")
        if not isinstance(params, dict):
            continue
        if event.get("method") == _PROGRESS:
            found.append({"method": "notifications/progress", "params": params})
        elif event.get("method") == _STREAM and isinstance(
            params.get("notification"), dict
        ):
            found.append(params["notification"])
    return found
