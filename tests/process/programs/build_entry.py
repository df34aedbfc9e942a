"""
Ensures one cache entry; its build waits in the middle for a line on standard input.

Prints "building" when half of the entry is written, and the entry's path at the end.
"""

# ruff: noqa: T201  printing is how a program speaks
import logging
import sys
from pathlib import Path

from mcpconf import cache


def build(directory: Path) -> None:
    (directory / "first").write_bytes(b"first")
    print("building", flush=True)
    sys.stdin.readline()
    (directory / "second").write_bytes(b"second")


logging.basicConfig(level=logging.INFO, format="%(message)s")
print(cache.ensure("kind", cache.key_of("key"), build, lambda _: None), flush=True)
