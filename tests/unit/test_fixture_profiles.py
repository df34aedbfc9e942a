"""What a profile can do to the core, and what the command line asks of it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fixture_call import STATELESS, Fixture, Json

from mcpconf.errors import UsageError
from mcpconf.fixture_server.call import Call, RpcError, Tool
from mcpconf.fixture_server.cli import options_from
from mcpconf.fixture_server.profile import PROFILES
from mcpconf.fixture_server.profile.base import Profile
from mcpconf.transport import Transport


class _Narrow(Profile):
    name, title = "narrow-for-tests", "Serves two tools a page, and one of its own."
    transports = frozenset({Transport.STDIO})
    revisions = frozenset({STATELESS})

    def tools(self) -> tuple[Tool, ...]:
        schema = {"type": "object"}
        return (
            Tool(name="own", description="", input_schema=schema, handler=self._own),
        )

    async def _own(self, call: Call, _arguments: Json) -> Json:
        self.fault("called", call)
        raise RpcError(-32602, "as told")

    def capabilities(self, capabilities: dict[str, Any]) -> None:
        del capabilities["logging"]

    def page(self, method: str, cursor: str | None, items: Json) -> Json:
        return (items[:2], "again") if method == "tools/list" and not cursor else None

    async def intercept(self, call: Call) -> bool:
        if call.method != "ping":
            return False
        await call.result({})
        return True


def test_a_profile_departs_at_its_own_places_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(PROFILES, _Narrow.name, _Narrow)
    fixture = Fixture(profiles=(_Narrow.name,))
    first = fixture.ask("tools/list")["result"]
    assert (len(first["tools"]), first["nextCursor"]) == (2, "again")
    assert fixture.refused("tools/list", {"cursor": "again"}) == (-32602, 200)
    assert "logging" not in fixture.ask("server/discover")["result"]["capabilities"]
    assert fixture.tool("own")["error"]["message"] == "as told"
    assert fixture.tool("echo", {"text": "a"})["result"]["content"]
    call = fixture.call("ping")
    asyncio.run(fixture.server.handle(call))
    assert call.sent[0]["result"] == {}


def test_a_profile_is_held_to_its_transports_and_revisions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(PROFILES, _Narrow.name, _Narrow)
    with pytest.raises(UsageError, match="closest: narrow-for-tests"):
        options_from(("--profile", "narow-for-tests"))
    narrow = ("--profile", _Narrow.name)
    with pytest.raises(UsageError, match="not for transport http; it is for stdio"):
        options_from((*narrow, "--transport", "http"))
    with pytest.raises(UsageError, match="not for revision 2025-11-25"):
        options_from((*narrow, "--revision", "2025-11-25"))
    options, log = options_from((*narrow, *narrow, "--calls", "7", "--linger-s", "0.5"))
    assert (options.profiles, log) == ((_Narrow.name,), None)
    assert (options.limits.calls, options.limits.linger_s) == (7, 0.5)
