"""Lists in pages, good and bad."""

from __future__ import annotations

from dataclasses import replace

from mcpconf.supplemental.scenario import (
    HANDSHAKE,
    STATELESS,
    CheckDefinition,
    Level,
    Scenario,
    connect,
    listing,
)
from mcpconf.supplemental.scenarios.pagination_looks import (
    look_at_bad_cursor,
    look_at_cursors,
    look_at_empty_cursor,
    look_at_endless,
    look_at_long_cursor,
    look_at_repeats,
    whole_catalogue,
    whole_list,
)

_PAGE = "server/utilities/pagination"
#: No page of the specification bounds a list; its pages on tools ask hosts to be wary.
_TOOLS_PAGE = "server/tools"
_RESOURCES = listing("resources", id="list-resources")


def _as_worded(check: CheckDefinition) -> tuple[CheckDefinition, CheckDefinition]:
    """That an empty cursor is no end is a SHOULD, and from 2026-07-28 on a MUST."""
    return (
        replace(check, revisions=HANDSHAKE, level=Level.SHOULD),
        replace(check, revisions=STATELESS),
    )


_CURSORS = Scenario(
    name="pagination-cursors",
    title="cursors of unusual characters and length, for tools and for resources",
    profiles=("odd-cursors",),
    steps=(connect(), listing(), _RESOURCES),
    checks=(
        CheckDefinition(
            id="cursor-is-opaque",
            sentence="A client sends a cursor back exactly as it was given.",
            page=_PAGE,
            level=Level.MUST,
            looks_for="the cursors of the tools/list requests, character by character",
            look=look_at_cursors,
            provoked_by=("odd-cursors",),
            needs=("list",),
            broken=("normalises_cursors",),
        ),
        CheckDefinition(
            id="tools-of-all-pages",
            sentence="A client supports paginated lists: it follows nextCursor to the "
            "end and has the tools of all pages.",
            page=_PAGE,
            level=Level.SHOULD,
            looks_for="a request for every page, and every tool served among those "
            "that the host was given",
            look=whole_list("tools/list"),
            provoked_by=("odd-cursors",),
            needs=("list",),
            broken=("drops_page_two",),
        ),
        CheckDefinition(
            id="resources-of-all-pages",
            sentence="A client follows nextCursor for resources as it does for tools.",
            page=_PAGE,
            level=Level.SHOULD,
            looks_for="a request for the second page, and both resources among those "
            "that the host was given",
            look=whole_list("resources/list"),
            provoked_by=("odd-cursors",),
            needs=("list-resources",),
            broken=("pages_tools_only",),
        ),
    ),
)

_EMPTY = Scenario(
    name="pagination-empty",
    title="an empty page of tools, and an empty cursor on page 2 of resources",
    profiles=("empty-page", "empty-cursor"),
    steps=(connect(), listing(), _RESOURCES),
    checks=(
        CheckDefinition(
            id="empty-page-is-no-end",
            sentence="Only a missing nextCursor ends a list; the page size is the "
            "server's affair, and may be none.",
            page=_PAGE,
            level=Level.SHOULD,
            looks_for="a request for the page after the empty one, and its tools "
            "among those that the host was given",
            look=whole_list("tools/list"),
            provoked_by=("empty-page",),
            needs=("list",),
            broken=("stops_at_empty_page",),
        ),
        *_as_worded(
            CheckDefinition(
                id="empty-cursor-is-no-end",
                sentence="Only a missing nextCursor ends a list; the empty string is "
                "a cursor.",
                page=_PAGE,
                level=Level.MUST,
                looks_for='a resources/list request with "cursor": "" after the page '
                "that names it, which is the second",
                look=look_at_empty_cursor,
                provoked_by=("empty-cursor",),
                needs=("list-resources",),
                broken=("takes_empty_cursor_for_the_end",),
            ),
        ),
    ),
)

_REPEATED = Scenario(
    name="pagination-repeated-cursor",
    title="every page names the same next cursor",
    profiles=("repeated-cursor",),
    limits={"pages": 150},
    steps=(connect(), listing()),
    checks=(
        CheckDefinition(
            id="repeated-cursor-ends-list",
            sentence="A client that meets the same cursor again does not follow it "
            "for ever. (No page demands it.)",
            page=_PAGE,
            level=Level.SHOULD,
            looks_for="how often the cursor was sent (at most 100 times), and that "
            "the client itself came to an end",
            look=look_at_repeats,
            provoked_by=("repeated-cursor",),
            needs=("list",),
            broken=("loops_on_repeated_cursor",),
        ),
    ),
)

_ENDLESS = Scenario(
    name="pagination-endless",
    title="every page names another one, with a new cursor",
    profiles=("endless-cursor",),
    limits={"pages": 600},
    request_timeout_s=8.0,
    steps=(connect(), listing()),
    checks=(
        CheckDefinition(
            id="endless-list-is-bounded",
            sentence="A client bounds how many pages of one list it asks for. (No "
            "page demands it.)",
            page=_PAGE,
            level=Level.SHOULD,
            looks_for="after how many pages the client stopped, of the 600 that "
            "the server would serve",
            look=look_at_endless,
            provoked_by=("endless-cursor",),
            needs=("list",),
            broken=("never_stops_paging",),
        ),
    ),
)

_LONG = Scenario(
    name="pagination-long-cursor",
    title="a cursor of 65,537 bytes",
    profiles=("long-cursor",),
    steps=(connect(), listing()),
    checks=(
        CheckDefinition(
            id="long-cursor-is-whole",
            sentence="A client does not modify a cursor, however long it is. It may "
            "follow it or refuse the list.",
            page=_PAGE,
            level=Level.MUST,
            looks_for="the cursor that came back, byte by byte, or an error of the "
            "client's own",
            look=look_at_long_cursor,
            provoked_by=("long-cursor",),
            needs=("list",),
            broken=("truncates_cursors",),
        ),
    ),
)

_BAD = Scenario(
    name="pagination-bad-cursor",
    title="the cursor of the second page is refused by -32602",
    profiles=("bad-cursor",),
    request_timeout_s=2.0,
    steps=(connect(), listing()),
    checks=(
        CheckDefinition(
            id="bad-cursor-is-reported",
            sentence="An invalid cursor is an error, -32602; a client reports it, or "
            "what it has so far, and does not ask for ever. (No page demands it.)",
            page=_PAGE,
            level=Level.SHOULD,
            looks_for="how often the refused cursor was sent (at most 100 times), and "
            "an error or the first page's tools for the host",
            look=look_at_bad_cursor,
            provoked_by=("bad-cursor",),
            needs=("list",),
            broken=("retries_a_bad_cursor",),
        ),
    ),
)


def _catalogue(size: int, page_size: int = 0) -> Scenario:
    paged = f", {page_size} on a page" if page_size else " on one page"
    return Scenario(
        name=f"catalogue-{size}",
        title=f"a catalogue of {size} tools{paged}",
        profiles=("counted-catalogue",),
        limits={"catalogue_size": size, "page_size": page_size},
        steps=(connect(), listing()),
        checks=(
            CheckDefinition(
                id=f"catalogue-{size}-is-whole",
                sentence="A client that bounds its catalogue refuses what is over its "
                "bound; it never has a part pass for the whole. (No page demands it.)",
                page=_TOOLS_PAGE,
                level=Level.SHOULD,
                looks_for=f"{size} tools for the host, or an error; the number of "
                "tools that were served is in the log",
                look=whole_catalogue(size),
                provoked_by=("counted-catalogue",),
                needs=("list",),
                broken=("truncates_catalogue",),
            ),
        ),
    )


SCENARIOS: tuple[Scenario, ...] = (
    _CURSORS,
    _EMPTY,
    _REPEATED,
    _ENDLESS,
    _LONG,
    _BAD,
    _catalogue(1024),
    _catalogue(1025),
    # Crosses a bound of 2,048 on its last page.
    _catalogue(2049, page_size=512),
)
