"""
The servers of a supplemental scenario in Codex's configuration.

``config.toml`` holds the servers that are connected, and no other: Codex connects all
that it finds there, and ``config/mcpServer/reload`` makes a running thread follow what
was changed. By default the entries are written by hand, since each ``codex mcp`` takes
longer than a whole step; where the job asks for it they are made by ``codex mcp add``,
and only their time-outs are added.
"""

from __future__ import annotations

import json
import os

from mcpconf.client.codex.registration import (
    codex_home,
    lean_tables,
    run_codex,
    toml_string,
)
from mcpconf.client.job import ClientError, Unsupported

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from mcpconf.client.job import Record

#: Names of the scenario's servers in Codex.
NAMES = {"subject": "mcp_spec_fixture", "control": "mcp_spec_control"}
#: What Codex speaks to a stdio server is decided by this variable of the server.
OPT_IN = "CODEX_MCP_PROTOCOL_VERSION"
STATELESS = "2026-07-28"
#: In a handshake leg: any value must reach the server as it is.
SENTINEL = "review-legacy-protocol-environment"
_HANDSHAKES = frozenset({"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"})


class Servers:
    """The configuration file of one drive."""

    def __init__(self, record: Record, head: Sequence[str] = ()) -> None:
        """`head` are the first lines of the file: scalars, then tables."""
        self._record = record
        self._first = tuple(head)
        self._path = os.path.join(codex_home(record), "config.toml")
        #: Entries made by ``codex mcp add``, line by line; none where by hand.
        self._added: dict[str, list[str]] = {}
        self._connected: dict[str, dict[str, Any]] = {}
        #: Whether the stateless revision is switched on: for all servers or none.
        self.feature = record.job.is_stateless

    def __contains__(self, server: str) -> bool:
        return server in self._connected

    def add(self, server: str, offer: str | None) -> None:
        """
        Take a server up, to be spoken to in the leg's revision or the offered one.

        :raises Unsupported: Codex cannot be made to offer that.
        """
        if offer is not None:
            self._offer(server, offer)
        self._connected[server] = {
            "offer": offer,
            "tool_s": self._record.job.request_timeout_s,
        }

    def _offer(self, server: str, offer: str) -> None:
        if self._added:
            raise Unsupported("codex mcp add came before this offer")
        if offer not in _HANDSHAKES | {STATELESS} and self._is_http(server):
            raise Unsupported("Codex has no setting for a version over HTTP")
        # A value it does not know is an opt-in too, and a wrong one.
        self.feature = offer not in _HANDSHAKES

    def _is_http(self, server: str) -> bool:
        return "url" in self._record.job.servers[server]

    def remove(self, server: str) -> None:
        """Let a server go."""
        self._connected.pop(server, None)

    def clear(self) -> None:
        """Let every server go."""
        self._connected.clear()

    def limit_tools(self, server: str, seconds: float) -> bool:
        """Set the limit of a server's tool calls; whether that is a change."""
        entry = self._connected.get(server)
        if entry is None or entry["tool_s"] == seconds:
            return False
        entry["tool_s"] = seconds
        return True

    def write(self) -> None:
        """Write the file as it should now be."""
        lines = self._head()
        for server, entry in self._connected.items():
            lines += self._timed(self._entry(server, entry["offer"]), entry["tool_s"])
        self._store(lines)

    def _store(self, lines: list[str]) -> None:
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        with open(self._path, "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")

    def _head(self) -> list[str]:
        return [
            'mcp_oauth_credentials_store = "file"',
            *self._first,
            *lean_tables(stateless=self.feature),
        ]

    def _entry(self, server: str, offer: str | None) -> list[str]:
        if server in self._added:
            return self._added[server]
        name = NAMES[server]
        definition = self._record.job.servers[server]
        if "url" in definition:
            return [f"[mcp_servers.{name}]", f"url = {toml_string(definition['url'])}"]
        command, *words = definition["argv"]
        variables = self._variables(server, offer)
        return [
            f"[mcp_servers.{name}]",
            f"command = {toml_string(command)}",
            f"args = [{', '.join(toml_string(word) for word in words)}]",
            "",
            f"[mcp_servers.{name}.env]",
            *(
                f"{toml_string(key)} = {toml_string(value)}"
                for key, value in variables.items()
            ),
        ]

    def _variables(self, server: str, offer: str | None) -> dict[str, str]:
        default = STATELESS if self._record.job.is_stateless else SENTINEL
        definition = self._record.job.servers[server]
        return {**definition.get("env", {}), OPT_IN: offer or default}

    def _timed(self, entry: list[str], tool_s: float) -> list[str]:
        startup_s = self._record.job.request_timeout_s
        times = [
            f"startup_timeout_sec = {startup_s:g}",
            f"tool_timeout_sec = {tool_s:g}",
        ]
        return [entry[0], *times, *entry[1:], ""]

    def register(self, environment: Mapping[str, str]) -> None:
        """
        Have ``codex mcp add`` make every entry, and ``codex mcp get`` show it.

        :raises ClientError: one of them failed, or shows something else.
        """
        self.write()
        for server in self._record.job.servers:
            words = ["mcp", "add", NAMES[server], *self._words(server)]
            status, said = run_codex(self._record, environment, *words)
            self._record.require("mcp-add", status == 0, said)
            status, said = run_codex(
                self._record, environment, "mcp", "get", NAMES[server], "--json"
            )
            shown = status == 0 and self._registers(server, said)
            self._record.require("mcp-get", shown, said)
        with open(self._path, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
        for server in self._record.job.servers:
            self._added[server] = _tables(lines, f"mcp_servers.{NAMES[server]}")

    def _words(self, server: str) -> list[str]:
        definition = self._record.job.servers[server]
        if "url" in definition:
            return ["--url", definition["url"]]
        words = []
        for key, value in self._variables(server, None).items():
            words += ["--env", f"{key}={value}"]
        return [*words, "--", *definition["argv"]]

    def _registers(self, server: str, said: str) -> bool:
        definition = self._record.job.servers[server]
        try:
            config = json.loads(said)
            transport = config["transport"]
            named = config["name"] == NAMES[server] and config["enabled"] is True
            if "url" in definition:
                kind, url = transport["type"], transport["url"]
                return named and (kind, url) == ("streamable_http", definition["url"])
            argv = [transport["command"], *transport["args"]]
            return (
                named
                and transport["type"] == "stdio"
                and argv == list(definition["argv"])
                and transport["env"] == self._variables(server, None)
            )
        except (ValueError, KeyError, TypeError):
            return False

    def unregister(self, environment: Mapping[str, str]) -> None:
        """``codex mcp remove`` for every entry, after which none may be listed."""
        made = [line for entry in self._added.values() for line in entry]
        self._store([*self._head(), *made])
        try:
            for server in self._added:
                status, said = run_codex(
                    self._record, environment, "mcp", "remove", NAMES[server]
                )
                self._record.step("mcp-remove", said, ok=status == 0)
            status, said = run_codex(self._record, environment, "mcp", "list", "--json")
            self._record.step("mcp-list-empty", said, ok=status == 0 and said == "[]")
        except ClientError as problem:
            self._record.step("mcp-remove", str(problem), ok=False)


def _tables(lines: list[str], name: str) -> list[str]:
    """The lines of one TOML table and of those below it."""
    found, inside = [], False
    for line in lines:
        if line.startswith("["):
            inside = line == f"[{name}]" or line.startswith(f"[{name}.")
        if inside:
            found.append(line)
    return found
