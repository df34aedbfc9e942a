"""
Codex's own configuration: its home, the modern feature, the server's registration.

Plain servers go through ``codex mcp add``. A server with OAuth is written to
``config.toml`` by hand, because ``mcp add`` may start a login by itself, and so is one
that would keep ``mcp add`` waiting; either way ``codex mcp get`` must then show what
was meant, and ``codex mcp remove`` must leave nothing.
"""

from __future__ import annotations

import json
import os
import subprocess

from mcpconf.client.job import ClientError

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.client.job import Record

SERVER = "mcpconf_scenario"
FEATURE = "mcp_2026_07_28"
#: Configuration key of the pre-registered client's secret.
SECRET_KEY = f"mcp_servers.{SERVER}.oauth.client_secret"
#: What Codex does at every start of an app-server or a thread for a model or a person,
#: and what costs more than a scenario's messages: it asks a public repository for
#: plugins (``git ls-remote``), unpacks its own skills into the new home and reads them,
#: and runs a login shell to see its settings. None of it touches MCP.
_UNNEEDED = ("plugins", "shell_snapshot")
_BUNDLED_SKILLS_OFF = ("[skills.bundled]", "enabled = false")
#: Mocks that hold a GET open; `codex mcp add` and the inventory wait 5 s for them.
_HOLDS_GET = frozenset(
    {
        "sse-retry",
        "http-standard-headers",
        "http-custom-headers",
        "http-invalid-tool-headers",
    }
)


def codex_environment(record: Record) -> dict[str, str]:
    """The environment of every Codex process of this drive."""
    return {**record.job.environment, "CODEX_HOME": codex_home(record)}


def codex_home(record: Record) -> str:
    """Codex's isolated home inside the job's home."""
    return os.path.join(record.job.home, "codex")


def toml_string(value: str) -> str:
    """A TOML basic string: it takes JSON's escapes; non-ASCII stays as it is."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def is_written_by_hand(scenario: str) -> bool:
    """Whether the registration goes into ``config.toml`` without ``codex mcp add``."""
    return scenario.startswith("auth/") or scenario in _HOLDS_GET


def lean_tables(*, stateless: bool) -> list[str]:
    """Lines of TOML tables: what no drive needs off, the stateless revision as told."""
    return [
        *_BUNDLED_SKILLS_OFF,
        "",
        "[features]",
        *(f"{name} = false" for name in _UNNEEDED),
        *([f"{FEATURE} = true"] if stateless else []),
        "",
    ]


def write_config(record: Record, url: str, client_id: str | None) -> None:
    """
    Write ``config.toml``: credentials in a file, the modern feature, time-outs of ours.

    No secret is ever written: a pre-registered one goes over the app-server's pipe.
    """
    home = codex_home(record)
    os.makedirs(home, mode=0o700, exist_ok=True)
    lines = ['mcp_oauth_credentials_store = "file"', ""]
    lines += lean_tables(stateless=record.job.is_stateless)
    if is_written_by_hand(record.job.scenario):
        lines += [
            f"[mcp_servers.{SERVER}]",
            f"url = {toml_string(url)}",
            f"startup_timeout_sec = {record.job.request_s:g}",
            f"tool_timeout_sec = {record.job.request_s:g}",
        ]
    if client_id is not None:
        lines += ["", f"[mcp_servers.{SERVER}.oauth]"]
        lines += [f"client_id = {toml_string(client_id)}"]
    path = os.path.join(home, "config.toml")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("\n".join(lines) + "\n")


def run_codex(
    record: Record, environment: Mapping[str, str], *arguments: str
) -> tuple[int, str]:
    """
    One short Codex command: its exit status and what it said.

    :raises ClientError: it did not start, or outlived the request's budget.
    """
    try:
        done = subprocess.run(
            [*record.job.argv, *arguments],
            cwd=record.job.cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=record.budget_s(),
            check=False,
        )
    except OSError as error:
        raise ClientError(f"codex {arguments[0]} did not start: {error}") from None
    except subprocess.TimeoutExpired:
        raise ClientError(f"codex {' '.join(arguments[:2])} timed out") from None
    output = (done.stdout or done.stderr).decode("utf-8", "replace").strip()
    return done.returncode, output


def register(record: Record, environment: Mapping[str, str], url: str) -> None:
    """``codex mcp add`` (unless written by hand already) and ``codex mcp get``."""
    if not is_written_by_hand(record.job.scenario):
        status, said = run_codex(
            record, environment, "mcp", "add", SERVER, "--url", url
        )
        record.require("mcp-add", status == 0, said)
    status, said = run_codex(record, environment, "mcp", "get", SERVER, "--json")
    record.require("mcp-get", status == 0 and _registers(said, url), said)


def _registers(said: str, url: str) -> bool:
    try:
        config = json.loads(said)
        transport = config["transport"]
        return (
            config["name"] == SERVER
            and config["enabled"] is True
            and transport["type"] == "streamable_http"
            and transport["url"] == url
        )
    except (ValueError, KeyError, TypeError):
        return False


def unregister(record: Record, environment: Mapping[str, str]) -> None:
    """``codex mcp remove``, after which ``codex mcp list`` must be empty."""
    try:
        status, said = run_codex(record, environment, "mcp", "remove", SERVER)
        record.step("mcp-remove", said, ok=status == 0)
        status, said = run_codex(record, environment, "mcp", "list", "--json")
        record.step("mcp-list-empty", said, ok=status == 0 and said == "[]")
    except ClientError as problem:
        record.step("mcp-remove", str(problem), ok=False)


def feature_is_on(record: Record, environment: Mapping[str, str]) -> bool:
    """Whether ``codex features list`` shows the stateless revision switched on."""
    status, said = run_codex(record, environment, "features", "list")
    rows = [line.split() for line in said.splitlines()]
    return status == 0 and any(
        row and row[0] == FEATURE and row[-1] == "true" for row in rows
    )
