"""``python -m mcpconf``."""

from mcpconf.cli import run

run()
