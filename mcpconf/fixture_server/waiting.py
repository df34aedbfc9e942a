"""To wait for something, but no longer than the client wants it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from mcpconf.fixture_server.call import Call

_T = TypeVar("_T")


class CancelledByClientError(Exception):
    """The client cancelled the request: it gets no response."""


async def unless_cancelled(call: Call, work: Coroutine[object, object, _T]) -> _T:
    """
    What `work` comes to.

    :raises CancelledByClientError: the client cancelled `call` first; `work` is over.
    """
    working = asyncio.ensure_future(work)
    cancelled = asyncio.ensure_future(call.cancelled())
    try:
        await asyncio.wait((working, cancelled), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise CancelledByClientError
        return working.result()
    finally:
        working.cancel()
        cancelled.cancel()
