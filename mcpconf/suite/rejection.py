"""
Scenarios that a conformant client must refuse, and where the refusal must show.

"It failed" is not "it refused": an unrelated error, a crash or a time-out look the
same from the outside. A refusal counts only when the wire shows that the client came
as far as the thing to refuse, and went no further.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from mcpconf.suite.catalogue import ScenarioEntry
    from mcpconf.wire import Exchange, WireLog

_OK = 200


class Stage(StrEnum):
    """The stages of an authorization, as the wire shows them."""

    RESOURCE_METADATA = "the protected-resource metadata was fetched"
    SERVER_METADATA = "the authorization server's metadata was fetched"
    AUTHORIZATION = "an authorization request was made"
    TOKEN = "a token request was made"  # noqa: S105 (a sentence)


@dataclass(frozen=True, slots=True)
class Rejection:
    """How far a flow must come, and what must not follow."""

    reached: Stage
    forbidden: tuple[Stage, ...]


_BEFORE_AUTHORIZATION = (Stage.AUTHORIZATION, Stage.TOKEN)
_AT_REDIRECT = Rejection(Stage.AUTHORIZATION, (Stage.TOKEN,))

#: RFC 9728 section 3.3 (resource), RFC 8414 section 3.3 (issuer), RFC 9207 (``iss``).
REJECTIONS = {
    "auth/resource-mismatch": Rejection(Stage.RESOURCE_METADATA, _BEFORE_AUTHORIZATION),
    "auth/metadata-issuer-mismatch": Rejection(
        Stage.SERVER_METADATA, _BEFORE_AUTHORIZATION
    ),
    "auth/iss-supported-missing": _AT_REDIRECT,
    "auth/iss-wrong-issuer": _AT_REDIRECT,
    "auth/iss-unexpected": _AT_REDIRECT,
    "auth/iss-normalized": _AT_REDIRECT,
    # What is refused here is to try for ever, and that begins with a token.
    "auth/scope-retry-limit": Rejection(Stage.TOKEN, ()),
}


def is_to_let_in(entry: ScenarioEntry) -> bool:
    """Whether a scenario is about an authorization that is to succeed."""
    return entry.auth and entry.scenario not in REJECTIONS


def stage_of(exchange: Exchange) -> Stage | None:
    """The stage one exchange belongs to, by the paths of the suite's mock servers."""
    path = urlsplit(exchange.url).path
    if path.endswith("/authorize"):  # GET or POST, RFC 6749 section 3.1
        return Stage.AUTHORIZATION
    if exchange.method == "POST":
        return Stage.TOKEN if path.endswith("/token") else None
    if exchange.status != _OK or "/.well-known/" not in path:
        return None
    if "oauth-protected-resource" in path:
        return Stage.RESOURCE_METADATA
    return Stage.SERVER_METADATA


def went_on(scenario: str, log: WireLog) -> str | None:
    """What followed where an expected refusal should have ended the flow."""
    rejection = REJECTIONS.get(scenario)
    seen = {stage_of(exchange) for exchange in log.exchanges}
    for stage in rejection.forbidden if rejection else ():
        if stage in seen:
            return f"{stage}, although the flow had to stop before it"
    return None


def not_reached(scenario: str, log: WireLog) -> str | None:
    """What is missing before there was anything to refuse."""
    rejection = REJECTIONS.get(scenario)
    seen = {stage_of(exchange) for exchange in log.exchanges}
    if rejection is None or rejection.reached in seen:
        return None
    return f"nothing shows that {rejection.reached}, so nothing was refused"


def rejection_problem(scenario: str, log: WireLog) -> tuple[str | None, bool]:
    """
    Why an expected refusal does not count, and whether the client is to blame.

    ``(None, False)`` where it counts, or where the scenario expects none.
    """
    further = went_on(scenario, log)
    if further is not None:
        return further, True
    missing = not_reached(scenario, log)
    if missing is not None:
        return missing, False
    if scenario in REJECTIONS and log.truncated:
        return "the wire log is cut short: it cannot show that nothing followed", False
    return None, False
