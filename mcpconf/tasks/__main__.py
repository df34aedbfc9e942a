"""The tasks where there is no ``tasks.py``: ``python -m mcpconf.tasks --list``."""

from __future__ import annotations

from invoke.program import Program

from mcpconf.tasks import namespace

if __name__ == "__main__":
    Program(namespace=namespace, name="mcpconf.tasks", binary="mcpconf.tasks").run()
