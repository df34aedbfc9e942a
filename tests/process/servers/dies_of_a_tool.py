"""Serves the fixture with everything, until a tool is called: then it is gone."""

import os
import sys

from mcpconf.fixture_server.call import Call
from mcpconf.fixture_server.cli import main
from mcpconf.fixture_server.server import Server

tool, port = sys.argv[1:]
handle = Server.handle


async def deadly(self: Server, call: Call) -> None:
    if call.method == "tools/call" and call.params.get("name") == tool:
        sys.stderr.write(f"cannot go on after {tool}\n")
        sys.stderr.flush()
        os._exit(3)
    await handle(self, call)


Server.handle = deadly  # type: ignore[method-assign]
words = ["--everything", "--transport", "http", "--revision", "2026-07-28"]
sys.exit(main([*words, "--port", port]))
