"""One scenario driven against a server, each exchange recorded; nothing is decided."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from mcpconf.server.http import Client, HttpLimits
from mcpconf.tasks_extension.observation import DISCOVER, TOOLS, Observation
from mcpconf.tasks_extension.session import (
    ANSWER_S,
    STRANGER,
    UNDECLARED,
    OutOfTime,
    Session,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpconf.server.exchange import Exchange
    from mcpconf.tasks_extension.definition import TaskScenario

#: No answer on this surface comes near; a server that sends more is cut off, and said.
_BODY_BYTES = 1024 * 1024
#: Pages of tools that are read; the tools we want are not hidden behind more.
_PAGES = 20


def run_scenario(
    scenario: TaskScenario,
    url: str,
    record: Callable[[Exchange], None],
    *,
    deadline_s: float = 60.0,
) -> None:
    """
    Drive one scenario against the server at `url`; `record` gets each exchange.

    Every drive begins with ``server/discover`` and the list of tools. Where the first
    has no result, or does not name the extension, nothing else is sent, unless the
    scenario is about such servers too. Tasks that were left working are cancelled.

    :raises OutOfTime: the drive took longer than `deadline_s` seconds.
    """
    limits = HttpLimits(answer_s=ANSWER_S, body_bytes=_BODY_BYTES)
    with Client(url, record=record, limits=limits) as client:
        session = Session(client, deadline_s=deadline_s)
        discovered = _ask(session, DISCOVER, "server/discover")
        advertises = Observation(exchanges=(discovered,)).advertises_tasks
        if advertises or (advertises is False and scenario.is_for_any_server):
            _list_tools(session)
            try:
                scenario.drive(session)
            finally:
                with suppress(OutOfTime):
                    session.tidy()


def _ask(session: Session, label: str, method: str, **params: str) -> Exchange:
    """By a client that declares nothing: a drive may be the first to declare."""
    return session.request(label, method, params, declare=UNDECLARED, meta=STRANGER)


def _list_tools(session: Session) -> None:
    params: dict[str, str] = {}
    for number in range(1, _PAGES + 1):
        page = _ask(session, f"{TOOLS}{number}", "tools/list", **params).result or {}
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str):
            return
        params = {"cursor": cursor}
