"""
One supplemental scenario with Codex: register, take the steps, leave in good order.

No account, and no model but a scripted one where a call is to be cancelled: every step
is a request to ``codex app-server``.
"""

from __future__ import annotations

from mcpconf.client.codex import registration
from mcpconf.client.codex.servers import Servers
from mcpconf.client.codex.verbs import Host
from mcpconf.client.steps import Results, StepTimedOut

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from mcpconf.client.codex.model import Model
    from mcpconf.client.job import Record


def drive(record: Record) -> None:
    """
    Have Codex take every step of the job.

    :raises StepTimedOut: it outlived a step's limit; the steps after it are not taken.
    :raises ClientError: it did not start, ended early, or failed its registration.
    """
    environment = registration.codex_environment(record)
    model = _model(record)
    servers = Servers(record, model.configuration() if model else ())
    results = Results(record)
    host = Host(record, results, servers, model)
    by_cli = record.job.options.get("registration") == "cli"
    if record.job.shared is not None:
        from mcpconf.client.codex import databases  # noqa: PLC0415

        databases.lay_out(record)
    servers.write()
    try:
        if by_cli:
            if record.job.is_stateless:
                on = registration.feature_is_on(record, environment)
                record.require("feature-listed", on, registration.FEATURE)
            servers.register(environment)
        _take(record, results, host)
    finally:
        if by_cli:
            servers.unregister(environment)
        if model is not None:
            model.close()
        results.finish()


def _model(record: Record) -> Model | None:
    """The model, where a step needs one."""
    if not any(step["verb"] == "cancel" for step in record.job.steps):
        return None
    from mcpconf.client.codex.model import Model  # noqa: PLC0415 (30 ms)

    return Model()


def _take(record: Record, results: Results, host: Host) -> None:
    try:
        for step in record.job.steps:
            results.take(step, host.act)
    except StepTimedOut:
        host.end()
        record.ended("timed-out")
        raise
    except BaseException:
        host.end()
        raise
    host.end()
