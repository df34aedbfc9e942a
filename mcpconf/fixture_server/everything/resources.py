"""Resources: a text, an image, one to subscribe to, and a template."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server import results
from mcpconf.fixture_server.everything.content import PNG
from mcpconf.fixture_server.results import METHODS, page_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.server import Server

    Result = dict[str, Any]

WATCHED = "test://watched-resource"
TEMPLATE = "test://template/{id}/data"
_TEMPLATE = re.compile(r"test://template/([^/]+)/data")
_CONTENTS: Mapping[str, Mapping[str, str]] = {
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    WATCHED: {"mimeType": "text/plain", "text": "This resource can be watched."},
}
_LISTED = tuple(
    {
        "uri": uri,
        "name": uri.removeprefix("test://"),
        "description": "A resource of the fixture server.",
        "mimeType": contents["mimeType"],
    }
    for uri, contents in _CONTENTS.items()
)
_TEMPLATES = (
    {
        "uriTemplate": TEMPLATE,
        "name": "template-data",
        "description": "Data of the fixture server, by an id.",
        "mimeType": "application/json",
    },
)


class Resources:
    """These and the plain ones, in one list."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def listed(self, call: Call) -> Result:
        """Answer ``resources/list``, one resource to a page as without these."""
        items = (*results.RESOURCES, *_LISTED)
        page, cursor = page_of(self._server, call, items, 1)
        more = {} if cursor is None else {"nextCursor": cursor}
        return {"resources": list(page), **more}

    async def templates(self, call: Call) -> Result:
        """Answer ``resources/templates/list``."""
        items = (*results.TEMPLATES, *_TEMPLATES)
        page, _ = page_of(self._server, call, items, 0)
        return {"resourceTemplates": list(page)}

    async def read(self, call: Call) -> Result:
        """
        Answer ``resources/read``.

        :raises RpcError: there is no such resource.
        """
        uri = call.params.get("uri")
        contents = _contents(uri) if isinstance(uri, str) else None
        if contents is not None:
            return {"contents": [{"uri": uri, **contents}]}
        plain = await METHODS["resources/read"](self._server, call)
        return plain or {}


def _contents(uri: str) -> Mapping[str, str] | None:
    named = _TEMPLATE.fullmatch(uri)
    if named is None:
        return _CONTENTS.get(uri)
    data = {"id": named[1], "templateTest": True, "data": f"Data for ID: {named[1]}"}
    return {
        "mimeType": "application/json",
        "text": json.dumps(data, ensure_ascii=False, separators=(",", ":")),
    }
