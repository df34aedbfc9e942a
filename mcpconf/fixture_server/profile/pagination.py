"""Faults of lists: cursors that repeat, never end or are too long; empty pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server.admission import INVALID_PARAMS
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.profile.base import Profile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.log import Log
    from mcpconf.fixture_server.options import Options

    Items = Sequence[Mapping[str, Any]]
    Page = tuple[Items, str | None]

#: Cursors that a client has to send back as they are: decomposed and full-width
#: letters, escapes of URLs and of JSON, blanks at the ends, and some length.
ODD_CURSORS = (
    'page-2 e\u0301 \uff30\uff21 こんにちは 🧭 %2F+& "\\ \u2028',
    " page-3\t ",
    "page-4 " + "0123456789abcdef" * 256,
)
_NUMBER = re.compile(r"page-(\d+)")
BAD_CURSOR = "page-2 has gone"
REPEATED_CURSOR = "again"
_FIRST_ENDLESS = 2


class _Paging(Profile):
    """A list that is cut into pages here."""

    methods: frozenset[str] = frozenset({"tools/list"})

    def page(self, method: str, cursor: str | None, items: Items) -> Page | None:
        """One page, where the list is one of ours."""
        return self.cut(method, cursor, items) if method in self.methods else None

    def cut(self, method: str, cursor: str | None, items: Items) -> Page:
        """One page."""
        raise NotImplementedError

    async def answer(self, call: Call, result: dict[str, Any]) -> bool:
        """Let nothing be kept: every page that is used is asked for on the wire."""
        if call.method in self.methods and "ttlMs" in result:
            result["ttlMs"] = 0
        return False


class OddCursors(_Paging):
    """A cursor that was changed on the way still finds its page: the log tells."""

    name = "odd-cursors"
    title = "pages whose cursors are of unusual characters and length"
    methods = frozenset({"tools/list", "resources/list"})

    def cut(self, method: str, cursor: str | None, items: Items) -> Page:
        """Page 1 to 4 of tools, 1 and 2 of resources."""
        pages = len(ODD_CURSORS) + 1 if method == "tools/list" else 2
        size = -(-len(items) // pages)
        found = _NUMBER.search(cursor or "page-1")
        if found is None or not 1 <= int(found[1]) <= pages:
            raise _unknown()
        number = int(found[1])
        following = ODD_CURSORS[number - 1] if number < pages else None
        if following is not None:
            self.fault(f"{method}: page {number} of {pages} with another cursor")
        return items[(number - 1) * size : number * size], following


class EmptyPage(_Paging):
    """An empty page is no end; only a missing cursor is."""

    name = "empty-page"
    title = "the second of three pages of tools is empty"

    def cut(self, method: str, cursor: str | None, items: Items) -> Page:  # noqa: ARG002
        """Half of the items, none, the other half."""
        half = len(items) // 2
        if cursor is None:
            return items[:half], "after-1"
        if cursor == "after-1":
            self.fault("an empty page with a cursor")
            return (), "after-2"
        if cursor == "after-2":
            return items[half:], None
        raise _unknown()


class EmptyCursor(_Paging):
    """
    The empty string is a cursor like any other.

    Only a client that pages at all meets it: a page with a usual cursor comes first.
    """

    name = "empty-cursor"
    title = "the cursor of the third page of resources is the empty string"
    methods = frozenset({"resources/list"})

    def cut(self, method: str, cursor: str | None, items: Items) -> Page:  # noqa: ARG002
        """The first item; the others; one that is listed here alone."""
        if cursor is None:
            return items[:1], "page-2"
        if cursor == "page-2":
            self.fault("a page whose nextCursor is the empty string")
            return items[1:], ""
        if not cursor:
            return ({"uri": "test://fixture/last", "name": "last"},), None
        raise _unknown()


class RepeatedCursor(_Paging):
    """
    Ends after `pages`, so that a client that loops is seen to have looped.

    They are counted in one list: one that is begun anew is as long as the first.
    """

    name = "repeated-cursor"
    title = "every page of tools names the same next cursor"

    def __init__(self, options: Options, log: Log) -> None:
        super().__init__(options, log)
        self._served = 0

    def cut(self, method: str, cursor: str | None, items: Items) -> Page:  # noqa: ARG002
        """The list, and then its first tool, over and over."""
        if cursor not in {None, REPEATED_CURSOR}:
            raise _unknown()
        self._served = 0 if cursor is None else self._served + 1
        items = items if cursor is None else items[:1]
        if self._served >= self.limits.pages:
            return items, None
        if cursor is not None and self._served == 1:
            self.fault("a page whose nextCursor is the cursor it was asked for by")
        return items, REPEATED_CURSOR


class EndlessCursor(_Paging):
    """Ends after `pages`, so that a client without a bound is seen to have none."""

    name = "endless-cursor"
    title = "every page of tools names a next one, with a new cursor"

    def cut(self, method: str, cursor: str | None, items: Items) -> Page:  # noqa: ARG002
        """One tool a page."""
        found = _NUMBER.fullmatch(cursor or "page-1")
        if found is None:
            raise _unknown()
        number = int(found[1])
        if number == _FIRST_ENDLESS:
            self.fault("a second page that names a third, and so on")
        more = f"page-{number + 1}" if number < self.limits.pages else None
        if cursor is None:
            return items, more
        schema = {"type": "object", "properties": {}}
        tool = {"name": f"endless_{number}", "description": "", "inputSchema": schema}
        return (tool,), more


class LongCursor(_Paging):
    """What comes back may be too long for the log, so it is compared here."""

    name = "long-cursor"
    title = "the cursor of the second page of tools is over-long"

    def cut(self, method: str, cursor: str | None, items: Items) -> Page:  # noqa: ARG002
        """Half of the items and a long cursor; the other half."""
        size = self.limits.cursor_bytes
        whole = ("0123456789abcdef" * (size // 16 + 1))[:size]
        half = len(items) // 2
        if cursor is None:
            self.fault(f"served: a cursor of {size} bytes")
            return items[:half], whole
        how = "whole" if cursor == whole else "altered"
        self.fault(f"{how}: a cursor of {len(cursor.encode())} bytes came back")
        return items[half:], None


class BadCursor(_Paging):
    """The server does not know the cursor that it gave out."""

    name = "bad-cursor"
    title = "the cursor of the second page of tools is refused"

    def cut(self, method: str, cursor: str | None, items: Items) -> Page:  # noqa: ARG002
        """A page; then an error."""
        if cursor is None:
            return items, BAD_CURSOR
        self.fault("-32602 for a cursor that was given out")
        raise _unknown()


class CountedCatalogue(_Paging):
    """
    A long list is cut in the log; its length is put there by itself.

    That of the list up to this page: what several lists hold is not added up.
    """

    name = "counted-catalogue"
    title = "the tools of each page are counted in the log"

    def __init__(self, options: Options, log: Log) -> None:
        super().__init__(options, log)
        #: Cursor → how many tools are on the pages before it.
        self._before: dict[str | None, int] = {}

    def page(self, method: str, cursor: str | None, items: Items) -> Page | None:  # noqa: ARG002
        """As usual."""
        return None

    async def answer(self, call: Call, result: dict[str, Any]) -> bool:
        """Count."""
        if call.method in self.methods:
            count = self._before.get(call.params.get("cursor"), 0)
            count += len(result["tools"])
            following = result.get("nextCursor")
            if following is not None:
                self._before[following] = count
            last = "last" if following is None else "more"
            self.fault(f"{count} tools, {last}", call)
        return await super().answer(call, result)


def _unknown() -> RpcError:
    return RpcError(INVALID_PARAMS, "Invalid params: unknown cursor")


PROFILES: tuple[type[Profile], ...] = (
    OddCursors,
    EmptyPage,
    EmptyCursor,
    RepeatedCursor,
    EndlessCursor,
    LongCursor,
    BadCursor,
    CountedCatalogue,
)
