"""The specification's pages, as checks cite them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcpconf.revision import Era

if TYPE_CHECKING:
    from mcpconf.revision import Revision
    from mcpconf.supplemental.scenario import CheckDefinition

_SPECIFICATION = "https://modelcontextprotocol.io/specification"


def page_address(check: CheckDefinition, revision: Revision) -> str:
    """The address of the page that asks for what a check looks at."""
    page = check.page
    if revision.era is Era.STATELESS and check.stateless_page is not None:
        page = check.stateless_page
    return page if "://" in page else f"{_SPECIFICATION}/{revision.value}/{page}"
