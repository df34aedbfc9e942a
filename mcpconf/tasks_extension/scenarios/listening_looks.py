"""What is looked for in the streams that are listened to beside the main one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import Finding, broken, holds, unobserved, unsupported
from mcpconf.tasks_extension.looks import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    is_missing_capability,
    name_of,
    names_the_extension,
    not_taken,
    shown,
    told,
)
from mcpconf.tasks_extension.scenarios.notifications_looks import (
    agreed_ids,
    subscription_ids_on,
)

if TYPE_CHECKING:
    from mcpconf.server.exchange import Exchange
    from mcpconf.tasks_extension.observation import Observation

#: Requests to listen: by a text for an id, to an unknown task too, and undeclared.
TEXT, UNKNOWN, UNDECLARED = "listen-text", "listen-unknown", "listen-undeclared"
#: Of a form that servers use, and nobody's.
NO_TASK = "7d0c5a4e-0000-4000-8000-6d6370636f6e"


def look_at_a_text_id(seen: Observation) -> Finding:
    """A text is given back as that text, also one that could be a number."""
    return subscription_ids_on(seen, TEXT)


def look_at_an_unknown_task(seen: Observation) -> Finding:
    """Nothing is agreed to that cannot be told of; to refuse it all is no promise."""
    exchange = _asked(seen, UNKNOWN)
    if isinstance(exchange, Finding):
        return exchange
    if exchange.error_code == INVALID_PARAMS:
        return holds(f"{name_of(exchange)} was {told(exchange)}")
    agreed = agreed_ids(exchange)
    if agreed is None:
        return unobserved(f"{name_of(exchange)}: no acknowledgement came")
    if NO_TASK in agreed:
        return broken(f"the acknowledgement agrees to {NO_TASK}, which is no task")
    return holds(f"the acknowledgement agrees to {shown(agreed)}, of which all exist")


def look_at_undeclared(seen: Observation) -> Finding:
    """Listening without the declaration is refused by -32021 and 400."""
    exchange = _asked(seen, UNDECLARED)
    if isinstance(exchange, Finding):
        return exchange
    return is_missing_capability(exchange, 400)


def look_at_what_is_missing(seen: Observation) -> Finding:
    """The refusal names the extension."""
    exchange = _asked(seen, UNDECLARED)
    if isinstance(exchange, Finding):
        return exchange
    if exchange.error is None:
        return unobserved(f"{name_of(exchange)} was {told(exchange)}, not refused")
    return names_the_extension(exchange.error)


def _asked(seen: Observation, label: str) -> Exchange | Finding:
    exchange = seen[label]
    if exchange is None:
        return not_taken(label)
    if exchange.error_code == METHOD_NOT_FOUND:
        return unsupported(f"{name_of(exchange)} was {told(exchange)}")
    return exchange
