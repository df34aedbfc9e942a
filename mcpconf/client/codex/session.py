"""
One thread of one app-server, and what a host does with it.

A host starts a thread, sees the server come up or fail, lists what it offers, calls
its tools and answers its elicitations. Nothing here knows a scenario.
"""

from __future__ import annotations

from mcpconf.client.codex.app_server import AdapterGap, AppServer, describe
from mcpconf.client.codex.registration import FEATURE, SERVER

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mcpconf.client.codex.app_server import Message
    from mcpconf.client.job import Record


def schema_defaults(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of a form's properties: what a host with a form would submit."""
    properties = schema.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {
        name: definition["default"]
        for name, definition in properties.items()
        if isinstance(definition, dict) and definition.get("default") is not None
    }


def answer_elicitation(
    params: Mapping[str, Any], fill: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> Message:
    """
    The host's answer to one elicitation, by its kind.

    A form is accepted with what `fill` makes of its schema; an approval of a tool call
    (a form without properties) is accepted as it is; a URL is declined, since there is
    nobody to visit it.

    :raises AdapterGap: a kind this driver does not know.
    """
    mode = params.get("mode")
    if mode == "url":
        return {"action": "decline", "content": None, "_meta": None}
    if mode in {"form", "openai/form", "openaiForm"}:
        schema = params.get("requestedSchema")
        content = fill(schema if isinstance(schema, dict) else {})
        return {"action": "accept", "content": content, "_meta": None}
    raise AdapterGap(f"elicitation of unknown mode {mode!r}")


class Session:
    """The app-server with its current thread."""

    def __init__(
        self, record: Record, server: AppServer, config: Mapping[str, Any]
    ) -> None:
        self.record = record
        self.server = server
        self.thread_id = ""
        self._config = dict(config)

    def open(self) -> None:
        """Initialise the app-server; switch the stateless revision on where wanted."""
        self.initialise()
        if self.record.job.is_stateless:
            self.switch_feature(on=True)

    def initialise(self) -> None:
        """Introduce the host."""
        self.server.result(
            "initialize",
            {
                "clientInfo": {"name": "mcpconf", "title": "mcpconf", "version": "1"},
                "capabilities": {
                    "experimentalApi": True,
                    "requestAttestation": False,
                    "mcpServerOpenaiFormElicitation": True,
                },
            },
        )
        self.server.notify("initialized")
        self.record.step("app-server-initialize")

    def switch_feature(self, *, on: bool) -> None:
        """Switch the stateless revision on or off, which the app-server confirms."""
        answer = self.server.result(
            "experimentalFeature/enablement/set", {"enablement": {FEATURE: on}}
        )
        enabled = answer.get("enablement")
        self.record.require(
            "feature-enablement",
            isinstance(enabled, dict) and enabled.get(FEATURE) is on,
            f"the app-server answered {enabled!r} for {FEATURE}",
        )

    def start_thread(self) -> str:
        """Start a thread; the start-up state of the server, mostly ``ready``."""
        since = len(self.server.events)
        self.new_thread()
        state = self.server.wait_for(
            "mcpServer/startupStatus/updated",
            lambda params: (
                params.get("name") == SERVER
                and params.get("threadId") in {None, self.thread_id}
                and params.get("status") not in {None, "starting"}
            ),
            since=since,
        )
        status = str(state.get("status"))
        self.record.step(
            "server-startup", f"{status} {state.get('error') or ''}".strip()
        )
        return status

    def new_thread(self) -> None:
        """Start a thread, and with it every registered server."""
        answer = self.server.result(
            "thread/start",
            # Under "never", Codex declines elicitations itself and asks no host.
            {
                "cwd": self.record.job.cwd,
                "ephemeral": True,
                "approvalPolicy": "on-request",
                "config": self._config,
            },
        )
        thread = answer.get("thread")
        identifier = thread.get("id") if isinstance(thread, dict) else None
        self.record.require("thread-start", isinstance(identifier, str))
        self.thread_id = str(identifier)

    def inventory(self) -> Mapping[str, Any]:
        """The server's own entry of ``mcpServerStatus/list``, on this thread."""
        answer = self.server.result(
            "mcpServerStatus/list",
            {"detail": "full", "serverName": SERVER, "threadId": self.thread_id},
        )
        entries = answer.get("data")
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and entry.get("name") == SERVER:
                tools = entry.get("tools")
                listed = isinstance(tools, dict)
                names = f"tools: {sorted(tools or ())}"
                self.record.require("inventory", listed, names)
                return entry
        self.record.require("inventory", ok=False, detail="the server is not listed")
        return {}

    def try_tool(self, tool: str, arguments: Mapping[str, Any]) -> Message:
        """Call a tool; the whole answer, an error included."""
        return self.server.request(
            "mcpServer/tool/call",
            {
                "threadId": self.thread_id,
                "server": SERVER,
                "tool": tool,
                "arguments": dict(arguments),
            },
        )

    def call_tool(self, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool that must answer; a tool's own ``isError`` is an answer."""
        answer = self.try_tool(tool, arguments)
        self.record.require(f"call {tool}", "result" in answer, describe(answer))

    def read_resource(self, uri: str) -> None:
        """Read a resource that must answer."""
        answer = self.server.request(
            "mcpServer/resource/read",
            {"threadId": self.thread_id, "server": SERVER, "uri": uri},
        )
        self.record.require("read resource", "result" in answer, describe(answer))
