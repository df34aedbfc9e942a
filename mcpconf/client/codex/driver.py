"""
One scenario with Codex: configure, register, drive, unregister, look for secrets.

No model, no account and no browser: the app-server is asked for everything a user
would do. The suite's context never reaches Codex. A pre-registered secret does, in a
thread's configuration over the app-server's pipe (Codex 0.171.0 reads it from no
environment variable, only from there or from a file), and whether the login succeeded
or not it is then searched for in every file of the home.
"""

from __future__ import annotations

import json
import os

from mcpconf.client.codex import authorized, plain, registration
from mcpconf.client.codex.app_server import AppServer
from mcpconf.client.codex.session import Session, answer_elicitation
from mcpconf.client.job import Unsupported

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from mcpconf.client.job import Record

_CONTEXT = "MCP_CONFORMANCE_CONTEXT"
#: Bytes searched at a time, and how far they overlap: more than any encoded secret.
_CHUNK, _OVERLAP = 1 << 20, 1 << 14


def _context() -> dict[str, Any]:
    context = json.loads(os.environ.get(_CONTEXT) or "{}")
    if not isinstance(context, dict):
        raise TypeError(f"{_CONTEXT} is not an object")
    return context


def files_with(directory: str, secret: str) -> list[str]:
    """Files below `directory` (relative) that hold `secret`, plain or encoded."""
    from mcpconf.redaction import Secrets  # noqa: PLC0415 (50 ms, one scenario needs it)

    needle = Secrets.of([secret])
    if not needle:
        raise ValueError("the secret is too short to be searched for")
    found = []
    for folder, _, names in os.walk(directory):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as stream:
                tail = b""
                while chunk := stream.read(_CHUNK):
                    if needle.find_in(tail + chunk):
                        found.append(os.path.relpath(path, directory))
                        break
                    tail = chunk[-_OVERLAP:]
    return sorted(found)


def drive(record: Record, url: str) -> None:
    """
    Do one scenario.

    :raises Unsupported: Codex has no way to do it.
    :raises ClientError: Codex refused or failed something it should have done.
    """
    scenario = record.job.scenario
    if scenario not in authorized.SCENARIOS and scenario not in plain.SCENARIOS:
        raise Unsupported(f"the Codex driver has no steps for {scenario}")
    context = _context()
    client = authorized.client_of(scenario, context)
    environment = registration.codex_environment(record)
    registration.write_config(record, url, client.client_id)
    try:
        if record.job.is_stateless:
            on = registration.feature_is_on(record, environment)
            record.require("feature-listed", on, registration.FEATURE)
        registration.register(record, environment, url)
        _talk(record, environment, context, client.client_secret)
    finally:
        registration.unregister(record, environment)
        if client.client_secret is not None:
            _search(record, client.client_secret)


def _talk(
    record: Record,
    environment: Mapping[str, str],
    context: Mapping[str, Any],
    secret: str | None,
) -> None:
    scenario = record.job.scenario
    fill = plain.form_answer(scenario, record.job.options.get("defaults") or "client")
    config = {} if secret is None else {registration.SECRET_KEY: secret}
    with AppServer(
        record, environment, lambda params: answer_elicitation(params, fill)
    ) as server:
        session = Session(record, server, config)
        session.open()
        status = session.start_thread()
        if scenario in authorized.SCENARIOS:
            login = authorized.Login(session)
            authorized.SCENARIOS[scenario](session, login)
        else:
            record.require("server-ready", status == "ready", status)
            plain.SCENARIOS[scenario](session, context)


def _search(record: Record, secret: str) -> None:
    found = files_with(record.job.home, secret)
    # The record names files, never the secret.
    record.require("client-secret-not-persisted", not found, ", ".join(found))
