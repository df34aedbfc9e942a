"""``completion/complete``: words for an argument of a prompt or a template."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcpconf.fixture_server import results
from mcpconf.fixture_server.everything.resources import TEMPLATE
from mcpconf.fixture_server.results import invalid

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.everything.prompts import Prompts

    Json = Any

_WORDS = ("paris", "park", "party", "test")
_TEMPLATES = frozenset(
    {TEMPLATE, *(str(each["uriTemplate"]) for each in results.TEMPLATES)}
)


class Completion:
    """The same few words for every argument."""

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts

    async def complete(self, call: Call) -> dict[str, Any]:
        """
        Answer ``completion/complete``.

        :raises RpcError: -32602: of what, or of which argument, is not said or unknown.
        """
        reference = call.params.get("ref")
        if not isinstance(reference, dict) or not self._is_known(reference):
            raise invalid("ref names a prompt or a resource template of this server")
        argument = call.params.get("argument")
        given = argument if isinstance(argument, dict) else {}
        name, value = given.get("name"), given.get("value")
        if not isinstance(name, str) or not isinstance(value, str):
            raise invalid("argument has a name and a value, which are strings")
        words = [each for each in _WORDS if each.startswith(value)]
        return {"completion": {"values": words, "total": len(words), "hasMore": False}}

    def _is_known(self, reference: dict[str, Json]) -> bool:
        kinds: dict[str, tuple[str, Callable[[], frozenset[str]]]] = {
            "ref/prompt": ("name", self._prompts.names),
            "ref/resource": ("uri", lambda: _TEMPLATES),
        }
        kind = reference.get("type")
        if not isinstance(kind, str) or kind not in kinds:
            return False
        member, known = kinds[kind]
        named = reference.get(member)
        return isinstance(named, str) and named in known()
