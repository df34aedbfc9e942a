"""A page that a check cites exists, at every revision at which the check is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mcpconf.revision import Revision
from mcpconf.supplemental.page import page_address
from mcpconf.supplemental.registry import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Iterator

SITE = "https://modelcontextprotocol.io"
SPECIFICATION = f"{SITE}/specification/"
_EVENTS = "https://html.spec.whatwg.org/multipage/server-sent-events.html"

#: The pages of both handshake revisions, as the specification's repository has them.
_HANDSHAKE = frozenset(
    {
        "architecture",
        "basic",
        "basic/authorization",
        "basic/lifecycle",
        "basic/transports",
        "basic/utilities/cancellation",
        "basic/utilities/ping",
        "basic/utilities/progress",
        "changelog",
        "client/elicitation",
        "client/roots",
        "client/sampling",
        "schema",
        "server",
        "server/prompts",
        "server/resources",
        "server/tools",
        "server/utilities/completion",
        "server/utilities/logging",
        "server/utilities/pagination",
    }
)
PAGES = {
    "2025-06-18": _HANDSHAKE,
    "2025-11-25": _HANDSHAKE | {"basic/utilities/tasks"},
    "2026-07-28": frozenset(
        {
            "architecture",
            "basic",
            "basic/authorization",
            "basic/authorization/authorization-server-discovery",
            "basic/authorization/client-registration",
            "basic/authorization/security-considerations",
            "basic/patterns",
            "basic/patterns/cancellation",
            "basic/patterns/mrtr",
            "basic/patterns/progress",
            "basic/patterns/subscriptions",
            "basic/transports",
            "basic/transports/stdio",
            "basic/transports/streamable-http",
            "basic/versioning",
            "changelog",
            "client/elicitation",
            "client/roots",
            "client/sampling",
            "deprecated",
            "schema",
            "server",
            "server/discover",
            "server/prompts",
            "server/resources",
            "server/tools",
            "server/utilities/caching",
            "server/utilities/completion",
            "server/utilities/logging",
            "server/utilities/pagination",
        }
    ),
}
#: Whole addresses that a check may cite.
OTHERS = frozenset(
    {
        f"{SITE}/docs/2025-11-25/tutorials/security/security_best_practices",
        f"{SITE}/docs/2026-07-28/tutorials/security/security_best_practices",
        f"{SITE}/seps/2663-tasks-extension",
        f"{_EVENTS}#event-stream-interpretation",
        f"{_EVENTS}#parsing-an-event-stream",
        "https://www.jsonrpc.org/specification",
        "https://www.jsonrpc.org/specification#response_object",
        "https://www.rfc-editor.org/rfc/rfc8259#section-2",
        "https://www.rfc-editor.org/rfc/rfc8259#section-6",
        "https://www.rfc-editor.org/rfc/rfc9110#section-8.3",
        "https://www.rfc-editor.org/rfc/rfc9110#section-8.3.1",
    }
)


def _is_known(address: str) -> bool:
    if address in OTHERS:
        return True
    revision, _, page = address.removeprefix(SPECIFICATION).partition("/")
    return address.startswith(SPECIFICATION) and page in PAGES.get(revision, ())


def _cited() -> Iterator[tuple[str, str, str]]:
    """Scenario, check and address, once for every revision."""
    for scenario in SCENARIOS.values():
        for check in scenario.checks:
            for revision in sorted(scenario.revisions & check.revisions):
                yield scenario.name, check.id, page_address(check, revision)


def test_every_revision_has_a_table_of_pages() -> None:
    assert set(PAGES) == {each.value for each in Revision}


def test_every_check_cites_pages_that_exist() -> None:
    unknown = [each for each in _cited() if not _is_known(each[2])]
    assert not unknown


def test_no_address_is_known_that_no_check_cites() -> None:
    assert {address for _, _, address in _cited()} >= OTHERS


@pytest.mark.parametrize(
    "address",
    [
        f"{SPECIFICATION}2026-07-28/basic/lifecycle",
        f"{SPECIFICATION}2025-11-25/basic/versioning",
        f"{SPECIFICATION}2024-11-05/basic/lifecycle",
        "https://www.rfc-editor.org/rfc/rfc8259#section-99",
    ],
)
def test_a_page_of_another_layout_is_found_out(address: str) -> None:
    assert not _is_known(address)
